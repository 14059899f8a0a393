// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "finding/quality.h"

#include <math.h>

#include "base/text.h"
#include "finding/thresholds.h"

/*
 * All values of struct quality but observed_s, and which of two threads' or ends' values is worse.
 */
static const struct {
	size_t offset;
	double (*worse)(double, double); /* ignores a NaN */
} quality_values[] = {
	{offsetof(struct quality, on_cpu_percent), fmin},
	{offsetof(struct quality, preempted), fmax},
	{offsetof(struct quality, minor_faults), fmax},
	{offsetof(struct quality, major_faults), fmax},
	{offsetof(struct quality, steal_percent), fmax},
	{offsetof(struct quality, retransmissions), fmax},
	{offsetof(struct quality, retransmitted_percent), fmax},
	{offsetof(struct quality, ack_timeouts), fmax},
	{offsetof(struct quality, ack_timeout_percent), fmax},
	{offsetof(struct quality, receiver_not_ready), fmax},
	{offsetof(struct quality, receiver_not_ready_percent), fmax},
	{offsetof(struct quality, losses), fmax},
	{offsetof(struct quality, lost_percent), fmax},
	{offsetof(struct quality, out_of_order), fmax},
	{offsetof(struct quality, overlap_percent), fmin},
	{offsetof(struct quality, above_percent), fmax},
};

#define VALUES (sizeof(quality_values) / sizeof(quality_values[0]))

/* Value I of quality_values[] in Q. */
static double *quality_value(struct quality *q, size_t i)
{
	return (double *)((char *)q + quality_values[i].offset);
}

struct quality quality_unknown(void)
{
	struct quality q = {0};

	for (size_t i = 0; i < VALUES; i++)
		*quality_value(&q, i) = NAN;
	return q;
}

void quality_add(struct quality *sum, const struct quality *by)
{
	struct quality other = *by;

	if (!(by->observed_s > 0))
		return;
	if (!(sum->observed_s > 0))
		*sum = *by;
	sum->observed_s = fmax(sum->observed_s, by->observed_s);
	for (size_t i = 0; i < VALUES; i++)
		*quality_value(sum, i) =
			quality_values[i].worse(*quality_value(sum, i), *quality_value(&other, i));
}

/* True if minor page faults take too much time, or in a latency test disturb too many messages. */
static bool has_many_faults(const struct quality *q, bool latency, uint64_t messages)
{
	if (q->minor_faults * FAULT_TAKES_S > q->observed_s * TIME_SAID)
		return true;
	return latency && q->minor_faults > FAULTS_FEW &&
	       q->minor_faults > (double)messages * FAULTS_PER_MESSAGE;
}

/* An unknown value is NaN, and no comparison with NaN is true. */
unsigned quality_judge(const struct quality *q, bool latency, uint64_t messages)
{
	double lack_s = q->observed_s * (1 - q->on_cpu_percent / 100);
	const bool is[FINDING_CODES] = {
		[DISTURBED_CPU] = q->on_cpu_percent < 100 * CPU_LEAST && lack_s >= CPU_LACK_S,
		[DISTURBED_MAJOR_FAULTS] = q->major_faults > 0,
		[DISTURBED_PAGE_FAULTS] = has_many_faults(q, latency, messages),
		[DISTURBED_STEAL] = q->steal_percent > 100 * STEAL_COUNTS,
		[DISTURBED_RETRANSMISSIONS] = q->retransmitted_percent > 100 * AGAIN_COUNTS,
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

void quality_finding(const struct quality *q, enum finding_code reason, struct finding *to)
{
	const struct {
		double count, percent;
	} of[FINDING_CODES] = {
		[DISTURBED_CPU] = {q->preempted, q->on_cpu_percent},
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
