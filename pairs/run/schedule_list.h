/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* schedule_list: schedules that consist of pairs, one by one. */
#pragma once

#include "pairs/schedule.h"

/* An empty list for so many HOSTS. */
void schedule_list_init(struct schedule *s, uint32_t hosts);

/* Add a pair of two hosts. Returns 0, or -1 with FAULT_USAGE (too many) or FAULT_LOCAL. */
int schedule_list_add(struct schedule *s, uint32_t round, uint32_t a, uint32_t b, struct fault *f);

/*
 * Fill S with those pairs of WHOLE of which a host is CHOSEN (NULL: all), in the rounds that still
 * have pairs, and with the pairs of EXTRA that are not among them. A round with more than AT_ONCE
 * pairs becomes several.
 */
int schedule_list_limit(struct schedule *s, struct schedule *whole, const bool *chosen,
			const struct schedule *extra, uint32_t at_once, struct fault *f);

/*
 * After the last pair: sort them. Raises FAULT_USAGE, with FROM as its source, if there is none, or
 * if a host is in two pairs of a round.
 */
int schedule_list_complete(struct schedule *s, const char *from, struct fault *f);
