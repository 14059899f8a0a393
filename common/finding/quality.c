// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "finding/quality.h"

#include <math.h>
#include <stdio.h>

#include "base/text.h"
#include "finding/finding.h"
#include "finding/thresholds.h"

#define VALUES (sizeof(struct quality) / sizeof(double))

struct quality quality_unknown(void)
{
	struct quality q;

	for (size_t i = 0; i < VALUES; i++)
		((double *)&q)[i] = NAN;
	q.observed_s = 0;
	return q;
}

/* fmin() and fmax() ignore a NaN. */
void quality_add(struct quality *sum, const struct quality *by)
{
	double on_cpu = fmin(sum->on_cpu_percent, by->on_cpu_percent);
	double overlap = fmin(sum->overlap_percent, by->overlap_percent);

	if (!(by->observed_s > 0))
		return;
	if (!(sum->observed_s > 0)) {
		*sum = *by;
		return;
	}
	for (size_t i = 0; i < VALUES; i++)
		((double *)sum)[i] = fmax(((double *)sum)[i], ((const double *)by)[i]);
	sum->on_cpu_percent = on_cpu;
	sum->overlap_percent = overlap;
}

/* True if minor page faults take too much time, or in a latency test disturb too many messages. */
static bool has_many_faults(const struct quality *q, bool latency, uint64_t messages)
{
	return q->minor_faults * FAULT_TAKES_S > q->observed_s * TIME_SAID ||
	       (latency && q->minor_faults > FAULTS_FEW &&
		q->minor_faults > (double)messages * FAULTS_PER_MESSAGE);
}

/*
 * Other tasks had its CPU for less than its cgroup's limit kept it from it. Of a thread that sleeps
 * it is not known how much of its CPU it lacked.
 */
bool quality_is_stopped(const struct quality *q)
{
	double lack_s = q->observed_s * (1 - q->on_cpu_percent / 100);

	return !(q->on_cpu_percent >= 100 * CPU_LEAST) &&
	       q->stopped_s > TIME_SAID * q->observed_s &&
	       !(q->stopped_s < lack_s - q->stopped_s);
}

/* An unknown value is NaN, and no comparison with NaN is true. */
unsigned quality_judge(const struct quality *q, bool latency, uint64_t messages)
{
	double lack_s = q->observed_s * (1 - q->on_cpu_percent / 100);
	double again = q->software > 0 ? TIME_COUNTS : AGAIN_COUNTS;
	bool stopped = quality_is_stopped(q);
	const bool is[FINDING_CODES] = {
		[DISTURBED_CPU] = !stopped && q->on_cpu_percent < 100 * CPU_LEAST &&
				  lack_s >= CPU_LACK_S,
		[DISTURBED_CPU_LIMIT] = stopped,
		[DISTURBED_MAJOR_FAULTS] = q->major_faults > 0,
		[DISTURBED_PAGE_FAULTS] = has_many_faults(q, latency, messages),
		[DISTURBED_STEAL] = q->steal_percent > 100 * STEAL_COUNTS,
		[DISTURBED_RETRANSMISSIONS] = q->retransmitted_percent > 100 * again,
		/* more than this run's own QPs can have waited for: their share is not known */
		[DISTURBED_ACK_TIMEOUTS] = q->ack_timeout_percent > 100 * TIME_SAID ||
					   (isnan(q->ack_timeout_percent) && q->ack_timeouts > 0),
		[DISTURBED_RECEIVER_NOT_READY] = q->receiver_not_ready_percent > 100 * AGAIN_COUNTS,
		[DISTURBED_LOSSES] = q->lost_percent > 100 * AGAIN_COUNTS,
		[DISTURBED_ABOVE_LINK] = q->above_percent > 100 * ABOVE_LINK,
		[DISTURBED_OVERLAP] = 100 * OVERLAP_LEAST > q->overlap_percent,
	};
	unsigned reasons = 0;

	for (unsigned i = 0; i < QUALITY_REASONS; i++)
		reasons |= (unsigned)is[quality_reason(i)] << i;
	return q->observed_s > 0 ? reasons : 0;
}

/* Make Q the finding of one of its reasons. */
static void quality_finding(const struct quality *q, enum finding_code reason, struct finding *to)
{
	const struct {
		double count, percent;
	} of[FINDING_CODES] = {
		[DISTURBED_CPU] = {q->preempted, q->on_cpu_percent},
		[DISTURBED_CPU_LIMIT] = {q->stopped, q->on_cpu_percent},
		[DISTURBED_MAJOR_FAULTS] = {q->major_faults, NAN},
		[DISTURBED_PAGE_FAULTS] = {q->minor_faults, NAN},
		[DISTURBED_STEAL] = {NAN, q->steal_percent},
		[DISTURBED_RETRANSMISSIONS] = {q->retransmissions, q->retransmitted_percent},
		[DISTURBED_ACK_TIMEOUTS] = {q->ack_timeouts, q->ack_timeout_percent},
		[DISTURBED_RECEIVER_NOT_READY] = {q->receiver_not_ready,
						  q->receiver_not_ready_percent},
		[DISTURBED_LOSSES] = {q->losses, q->lost_percent},
		[DISTURBED_OVERLAP] = {NAN, q->overlap_percent},
		[DISTURBED_ABOVE_LINK] = {NAN, q->above_percent},
	};
	const struct finding_facts facts = {
		.code = reason,
		.level = FINDING_WARN,
		.value = {FINDING_NUMBER("count", of[reason].count, ""),
			  FINDING_NUMBER("percent", of[reason].percent / 100, "share"),
			  FINDING_NUMBER("observed", q->observed_s, "s"),
			  FINDING_NUMBER("stopped", q->stopped_s, "s"),
			  FINDING_WORD(q->software > 0 ? "software" : "switched", ""),
			  FINDING_WORD("s", of[reason].count == 1 ? "" : "s"),
			  FINDING_WORD(isnan(of[reason].percent) ? "no_share" : "shared", "")},
	};

	finding_make(to, &facts);
}

const char *quality_text(const struct quality *q, unsigned reasons, char *buf, size_t size)
{
	struct finding f;

	buf[0] = '\0';
	for (unsigned i = 0; i < QUALITY_REASONS; i++) {
		if (!(reasons >> i & 1))
			continue;
		quality_finding(q, quality_reason(i), &f);
		text_add(buf, size, "%s%s", buf[0] ? ", " : "", f.text);
	}
	return buf;
}

const char *quality_next(const struct quality *q, unsigned reasons, char *buf, size_t size)
{
	struct finding f = {.next = ""};

	if (reasons)
		quality_finding(q, quality_reason((unsigned)__builtin_ctz(reasons)), &f);
	snprintf(buf, size, "%s", f.next);
	return buf;
}
