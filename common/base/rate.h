/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rate: a rate as a user writes it: "10", "2.5g" or "2.5Gb/s" is Gb/s (10^9 bits), "800M" is MiB/s,
 * "1000000p" is messages per second.
 *
 * One uint64_t holds number and unit, so a rate is an option's value like any other: 0 is no rate.
 * The number is stored in millionths, so the smallest rates are around 1 kb/s. A rate in Gb/s or
 * MiB/s becomes messages per second only together with the message size.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum rate_unit {
	RATE_MIBPS,
	RATE_GBPS,
	RATE_MESSAGES,
	RATE_UNSAID /* the number had no unit */
};

#define RATE_NONE UINT64_C(0)
#define RATE_MAX  ((uint64_t)INT64_MAX)

/* Parse TEXT as above. Returns 0, -EINVAL or -ERANGE; *RATE changes only if 0. */
int rate_parse(const char *text, uint64_t *rate);

/* RATE with its unit, or with UNIT if it has none. */
uint64_t rate_in(uint64_t rate, enum rate_unit unit);

/*
 * Convert RATE, for messages of MESSAGE_BYTES, to messages per second or to Gb/s. A rate without a
 * unit is in Gb/s.
 */
double rate_messages_per_s(uint64_t rate, uint64_t message_bytes);
double rate_gbps(uint64_t rate, uint64_t message_bytes);

/* Write RATE as rate_parse() reads it: "2.5g". Returns BUF. */
const char *rate_format(uint64_t rate, char *buf, size_t size);
