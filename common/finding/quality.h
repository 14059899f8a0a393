/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * quality: the conditions under which one end measured, and whether they disturbed the result.
 * Pure: it measures nothing and prints nothing.
 *
 * An unknown value is NaN, never 0, and is not judged. A quiet host, whose thread spins alone on a
 * CPU, exceeds none of the thresholds (finding/thresholds.h). A condition above its threshold
 * changes the result by about a percent, or changes a percentile (of a device in software it may limit
 * the run: it sends again what it lost, and no more): a thread that lacked its CPU,
 * page faults, a hypervisor that took it, messages that were sent again or lost, ACKs that came too
 * late, directions of -b that did not run together, a rate that no link carries.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The conditions of one end; of its threads, the worst. All are doubles. */
/* The members are explained in quality.def. observed_s is 0 if nothing was observed. */
struct quality {
#define QUALITY(type, member, ...) type member;
#include "finding/quality.def"
	double above_percent;   /* of the link's rate, where the rate is above it */
	double software;        /* 1: the device is; not told to the peer */
};

/* True if the CPU limit of its cgroup, not other tasks, kept Q's thread from its CPU. */
bool quality_is_stopped(const struct quality *q);

/* All values unknown. */
struct quality quality_unknown(void);

/* Set each value of SUM to the worse one of SUM and BY. */
void quality_add(struct quality *sum, const struct quality *by);

/*
 * The reasons why a latency test (LATENCY) or another one of MESSAGES was disturbed: bits 1 << N of
 * quality_reason(N).
 */
unsigned quality_judge(const struct quality *q, bool latency, uint64_t messages);

/*
 * Write the REASONS with their values, separated by commas: "the thread had 37 % of its CPU, …".
 * Returns BUF.
 */
const char *quality_text(const struct quality *q, unsigned reasons, char *buf, size_t size);

/* Write what to do about the first of the REASONS. Returns BUF. */
const char *quality_next(const struct quality *q, unsigned reasons, char *buf, size_t size);
