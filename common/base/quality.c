// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/quality.h"

#include <math.h>

#include "base/text.h"

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
	if (q->minor_faults * QUALITY_FAULT_S > q->observed_s * QUALITY_FAULTS_MOST_PERCENT / 100)
		return true;
	return latency && q->minor_faults > QUALITY_FAULTS_FEW &&
	       q->minor_faults > (double)messages * QUALITY_FAULTS_PER_MESSAGE;
}

/* An unknown value is NaN, and no comparison with NaN is true. */
unsigned quality_judge(const struct quality *q, bool latency, uint64_t messages)
{
	double lack_s = q->observed_s * (1 - q->on_cpu_percent / 100);
	const bool is[QUALITY_REASONS] = {
		[QUALITY_CPU] = q->on_cpu_percent < QUALITY_CPU_LEAST_PERCENT &&
				lack_s >= QUALITY_CPU_LACK_S,
		[QUALITY_MAJOR_FAULTS] = q->major_faults > 0,
		[QUALITY_PAGE_FAULTS] = has_many_faults(q, latency, messages),
		[QUALITY_STEAL] = q->steal_percent > QUALITY_STEAL_MOST_PERCENT,
		[QUALITY_RETRANSMISSIONS] = q->retransmitted_percent > QUALITY_AGAIN_MOST_PERCENT,
		[QUALITY_ACK_TIMEOUTS] = q->ack_timeout_percent > QUALITY_TIMEOUT_MOST_PERCENT,
		[QUALITY_RECEIVER_NOT_READY] =
			q->receiver_not_ready_percent > QUALITY_AGAIN_MOST_PERCENT,
		[QUALITY_LOSSES] = q->lost_percent > QUALITY_AGAIN_MOST_PERCENT,
		[QUALITY_OVERLAP] = q->overlap_percent < QUALITY_OVERLAP_LEAST_PERCENT,
	};
	unsigned reasons = 0;

	for (unsigned i = 0; i < QUALITY_REASONS; i++)
		reasons |= (unsigned)is[i] << i;
	return q->observed_s > 0 ? reasons : 0;
}

const char *quality_word(enum quality_reason reason)
{
	static const char *const word[] = {
		"cpu",          "major_faults",       "page_faults", "steal",  "retransmissions",
		"ack_timeouts", "receiver_not_ready", "losses",      "overlap"};

	return word[reason];
}

const char *quality_advice(enum quality_reason reason)
{
	static const char *const network =
		"check the flow control (PFC, ECN) and the cables on the path between the two "
		"hosts; --report-counters all shows the port's counters; see rdmark(7), WHEN A "
		"NUMBER IS LOW";
	static const char *const advice[QUALITY_REASONS] = {
		[QUALITY_CPU] = "free this program's CPU: stop the other tasks on it, or move them "
				"to other CPUs with taskset(1)",
		[QUALITY_MAJOR_FAULTS] = "free some memory: pages of the program were read from "
					 "disk",
		[QUALITY_PAGE_FAULTS] =
			"measure for longer (-D), without -U and -H, and free some memory",
		[QUALITY_STEAL] = "measure on a machine that does not share its CPUs",
		[QUALITY_RECEIVER_NOT_READY] =
			"give the receiver a longer queue (-r), more threads "
			"(--threads) or a CPU of its own",
		[QUALITY_OVERLAP] = "measure for longer: -D 1",
	};

	return advice[reason] ? advice[reason] : network;
}

/* Append to BUF the words and figures for REASON. */
static void describe_reason(const struct quality *q, enum quality_reason reason, char *buf,
			    size_t size)
{
	switch (reason) {
	case QUALITY_CPU:
		text_add(buf, size,
			 "the thread got %.3g %% of its CPU (other tasks preempted it %.0f time%s)",
			 q->on_cpu_percent, q->preempted, q->preempted == 1 ? "" : "s");
		break;
	case QUALITY_MAJOR_FAULTS:
		text_add(buf, size, "%.0f page faults waited for the disk", q->major_faults);
		break;
	case QUALITY_PAGE_FAULTS:
		text_add(buf, size, "%.0f page faults in %.3g s", q->minor_faults, q->observed_s);
		break;
	case QUALITY_STEAL:
		text_add(buf, size, "other virtual machines on the host used %.3g %% of the CPU",
			 q->steal_percent);
		break;
	case QUALITY_RETRANSMISSIONS:
		text_add(buf, size, "%.0f retransmissions, %.3g %%", q->retransmissions,
			 q->retransmitted_percent);
		break;
	case QUALITY_ACK_TIMEOUTS:
		text_add(buf, size, "%.0f ACK timeouts, %.3g %% of the time", q->ack_timeouts,
			 q->ack_timeout_percent);
		break;
	case QUALITY_RECEIVER_NOT_READY:
		text_add(buf, size, "the receiver was not ready for %.0f messages, %.3g %%",
			 q->receiver_not_ready, q->receiver_not_ready_percent);
		break;
	case QUALITY_LOSSES:
		text_add(buf, size, "the port lost %.0f packets, %.3g %%", q->losses,
			 q->lost_percent);
		break;
	default:
		text_add(buf, size, "both directions ran together for %.3g %% of the time",
			 q->overlap_percent);
	}
}

const char *quality_text(const struct quality *q, unsigned reasons, char *buf, size_t size)
{
	buf[0] = '\0';
	for (unsigned i = 0; i < QUALITY_REASONS; i++) {
		if (!(reasons >> i & 1))
			continue;
		if (buf[0])
			text_add(buf, size, ", ");
		describe_reason(q, i, buf, size);
	}
	return buf;
}
