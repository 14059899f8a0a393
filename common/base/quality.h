/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * quality: the conditions under which one end measured, and whether they disturbed the result.
 * Pure: it measures nothing and prints nothing.
 *
 * An unknown value is NaN, never 0, and is not judged. A quiet host, whose thread spins alone on a
 * CPU, exceeds none of the thresholds. A condition above its threshold changes the result by about
 * a percent, or changes a percentile:
 *
 *   cpu             the thread had less than 98 % of its CPU, and lacked at least 100 us. The
 *                   kernel's own work (a timer tick, a worker thread) takes 0.1 to 0.5 %, and 50 us
 *                   at a time: in a run of a few milliseconds that alone may be 1 %.
 *   major_faults    any: each waits for a disk, for 0.1 to 10 ms.
 *
 *   page_faults     more than 1 % of the time, at 1 us for each (0.5 to 2 us to find, clear and map
 *                   a page of 4 KiB); in a latency test more than one for every 1000 messages and
 *                   more than 10, since p99.9 depends on that many.
 *
 *   steal           more than 1 % of the CPU's time went to other machines of the host.
 *
 *   retransmissions  more than 0.1 % of the messages. Traffic between two ends alone has none; a
 *                   go-back-N retransmission with 100 packets in flight sends 10 % of them twice.
 *
 *   ack_timeouts    waiting for them took at least 1 % of the run.
 *
 *   receiver_not_ready  more than 0.1 % of the messages found no receive posted: each waits for the
 *                   RNR timer.
 *
 *   losses          packets that the port dropped or could not read, more than 0.1 % of the
 *                   messages.
 *
 *   overlap         the directions of -b ran together for less than 90 % of the time, so the sum of
 *                   their rates is not the rate of both together.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define QUALITY_CPU_LEAST_PERCENT     98.0
#define QUALITY_CPU_LACK_S            1e-4
#define QUALITY_FAULT_S               1e-6
#define QUALITY_FAULTS_MOST_PERCENT   1.0
#define QUALITY_FAULTS_PER_MESSAGE    1e-3
#define QUALITY_FAULTS_FEW            10
#define QUALITY_STEAL_MOST_PERCENT    1.0
#define QUALITY_AGAIN_MOST_PERCENT    0.1
#define QUALITY_TIMEOUT_MOST_PERCENT  1.0
#define QUALITY_OVERLAP_LEAST_PERCENT 90.0

/* The conditions of one end; of its threads, the worst. */
struct quality {
	double observed_s;     /* the observed time; 0: nothing was observed */
	double on_cpu_percent; /* of a spinning loop */
	double preempted;      /* involuntary context switches */
	double minor_faults, major_faults;
	double steal_percent;
	/*
	 * of this end's ports, including other traffic; percent of the round's messages, or packets
	 */
	double retransmissions, retransmitted_percent;
	double ack_timeouts, ack_timeout_percent; /* percent of the time, a lower bound */
	double receiver_not_ready, receiver_not_ready_percent;
	double losses, lost_percent;
	double out_of_order;    /* packets; not judged: multipath networks reorder packets */
	double overlap_percent; /* percent of the time during which both directions ran */
};

enum quality_reason {
	QUALITY_CPU,
	QUALITY_MAJOR_FAULTS,
	QUALITY_PAGE_FAULTS,
	QUALITY_STEAL,
	QUALITY_RETRANSMISSIONS,
	QUALITY_ACK_TIMEOUTS,
	QUALITY_RECEIVER_NOT_READY,
	QUALITY_LOSSES,
	QUALITY_OVERLAP,
	QUALITY_REASONS
};

/* All values unknown. */
struct quality quality_unknown(void);

/* Set each value of SUM to the worse one of SUM and BY. */
void quality_add(struct quality *sum, const struct quality *by);

/*
 * The reasons why a latency test (LATENCY) or another one of MESSAGES was disturbed: bits 1 << enum
 * quality_reason.
 */
unsigned quality_judge(const struct quality *q, bool latency, uint64_t messages);

/* The key of REASON in the JSON document: "cpu", "page_faults". */
const char *quality_word(enum quality_reason reason);

/* What the user can do about REASON: the fix of a fault. */
const char *quality_advice(enum quality_reason reason);

/*
 * Write the REASONS with their values, separated by commas: "the thread had 37 % of its CPU, …".
 * Returns BUF.
 */
const char *quality_text(const struct quality *q, unsigned reasons, char *buf, size_t size);
