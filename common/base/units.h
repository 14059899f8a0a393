/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * units: parsing and formatting of numbers with units.
 *
 * A number is digits with a fraction, an exponent or neither ("64", "1.5", "1e6"), or hexadecimal
 * ("0x10"), without sign and blanks. A prefix k M G T may follow, in any case. For sizes k and Ki
 * are both 1024; for counts and rates k is 1000 and Ki is 1024. Parsers accept the whole string or
 * nothing: -EINVAL if it does not have this form, -ERANGE if the value does not fit. They change
 * the output only on success.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define UNITS_NS_PER_S UINT64_C(1000000000)

/* Parse a count that is a whole number: "1000", "1k", "1e3". */
int units_parse_u64(const char *text, uint64_t *value);

/* Parse a number of bytes that is whole: "65536", "64k" or "64KiB", "1.5m"; "64KB" is 64000. */
int units_parse_size(const char *text, uint64_t *bytes);

/*
 * Parse a time with a unit: ns us ms s sec m min h. Without one it is in seconds, or in
 * microseconds.
 */
int units_parse_seconds(const char *text, uint64_t *ns);
int units_parse_us(const char *text, double *us);

/* Parse "0.1", "0.1%" or "1/1000" into percent, at most 100. Returns 0, or -EINVAL. */
int units_parse_percent(const char *text, double *percent);

/* Parse a number up to 10^18, without a prefix; and with one. */
int units_parse_decimal(const char *text, double *value);
int units_parse_count(const char *text, double *value);

/*
 * Parse a bandwidth into bits per second. A number alone is Gb/s; with only a prefix it is bits per
 * second ("90G"); with b, bit or B, optionally followed by /s, /sec or ps, it is bits or bytes
 * ("500Mb/s", "90Gbps", "12.5GB/s"); KiB, MiB and so on are 1024-based. b (bit) and B (byte) are
 * case-sensitive.
 */
int units_parse_rate(const char *text, double *bits_per_s);

/* Use it in the same statement, as in units_size(n).text: it lives no longer. */
struct units_text {
	char text[32];
};

/*
 * Format as "64 KiB", "8 MiB", "1000 B": in the largest unit that divides evenly, or, where that
 * takes more than four digits, with two decimals: "139.80 GiB".
 */
struct units_text units_size(uint64_t bytes);

/* Format nanoseconds as "10 s", "2.5 s", "50 ms", in the most readable unit. */
struct units_text units_ns(uint64_t ns);

/* The same, rounded to two significant digits: "6.6 ms". */
struct units_text units_about_ns(double ns);

/*
 * All rates for the user, so that the table, progress, notes and errors of a run have the same
 * unit: MiB/s, or Gb/s with --report_gbits. Internally, and in JSON and CSV, bandwidth is in Gb/s.
 * Message rates are in millions, as in the table.
 */

/* Convert GBPS to the unit, and back; and the unit's name: "MiB/s". Static storage. */
double unit_of(bool gbits, double gbps);
double unit_to_gbps(bool gbits, double value);
const char *unit_name(bool gbits);

/*
 * Format: "4391.37", with the digits of the table, or more for a small number; "4391.37 MiB/s";
 * "0.070262 M messages/s".
 */
struct units_text unit_number(bool gbits, double gbps);
struct units_text unit_rate(bool gbits, double gbps);
struct units_text unit_messages(double messages_per_s);

/* "0.87", "12": two digits; an interval as wide as the value says that there is no telling. */
struct units_text unit_percent(double percent);
