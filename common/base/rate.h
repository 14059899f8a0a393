/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rate: how fast, as a user writes it: "10" or "2.5g" is Gb/s (10^9 bits), "800M" MiB/s, "1000000p"
 * messages a second, "max" as fast as it goes.
 *
 * One uint64_t holds number and unit, so that a rate is an option's value like any other: 0 is no
 * rate. The number is kept in millionths, so a rate of 1 kb/s can be had. What a rate means in
 * messages depends on their size.
 */
#ifndef RDMARK_BASE_RATE_H
#define RDMARK_BASE_RATE_H

#include <stddef.h>
#include <stdint.h>

enum rate_unit {
	RATE_MIBPS,
	RATE_GBPS,
	RATE_MESSAGES,
	RATE_UNSAID /* none was given with the number */
};

#define RATE_NONE      UINT64_C(0)
#define RATE_UNLIMITED ((uint64_t)INT64_MAX) /* as fast as it goes */

/* Read TEXT as above. Returns 0, -EINVAL or -ERANGE; *RATE is changed only with 0. */
int rate_parse(const char *text, uint64_t *rate);

/* RATE, in UNIT if none was given with it. */
uint64_t rate_in(uint64_t rate, enum rate_unit unit);

/* As units a second of messages of MESSAGE_BYTES each; a unit not said is Gb/s. Not RATE_UNLIMITED.
 */
double rate_messages_per_s(uint64_t rate, uint64_t message_bytes);
double rate_gbps(uint64_t rate, uint64_t message_bytes);

/* As rate_parse() would read it: "2.5g". Returns BUF. */
const char *rate_format(uint64_t rate, char *buf, size_t size);

#endif
