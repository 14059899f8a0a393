/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * units: numbers with units, read strictly and written readably.
 *
 * Sizes are 1024-based whether written k or Ki; rates are decimal bits (Gb = 10^9). Readers take
 * the whole string or refuse it: -EINVAL for anything that is not a number of the form, -ERANGE
 * for one that does not fit. They never change the output on failure.
 */
#ifndef RDMARK_BASE_UNITS_H
#define RDMARK_BASE_UNITS_H

#include <stddef.h>
#include <stdint.h>

#define UNITS_NS_PER_S UINT64_C(1000000000)

/* Decimal or 0x-hexadecimal, no sign, no blanks. */
int units_parse_u64(const char *text, uint64_t *value);

/* A number with k m g t, or Ki Mi Gi Ti, in any case: bytes. */
int units_parse_size(const char *text, uint64_t *bytes);

/* Seconds, with a fraction if wanted, or with a unit ns us ms s m h: nanoseconds. */
int units_parse_seconds(const char *text, uint64_t *ns);

/* Digits, with a fraction if wanted; and the same with k M G T, in any case: thousands. */
int units_parse_decimal(const char *text, double *value);
int units_parse_count(const char *text, double *value);

/*
 * A bandwidth: a number alone is Gb/s; with k M G T alone bits a second ("90G"), thousands as all
 * that follow; with b/s or bit/s ("500Mb/s"); with B/s bytes a second ("12.5GB/s"), and with KiB/s
 * MiB/s GiB/s TiB/s 1024-based. The prefix in any case, b and B as they are; /sec is /s.
 */
int units_parse_rate(const char *text, double *bits_per_s);

/* "64 KiB", "8 MiB", "1000 B": the largest unit that divides evenly, else two decimals. Returns
 * BUF. */
const char *units_format_size(uint64_t bytes, char *buf, size_t size);

/* "10 s", "2.5 s", "50 ms": nanoseconds in the unit that reads best. Returns BUF. */
const char *units_format_ns(uint64_t ns, char *buf, size_t size);

#endif
