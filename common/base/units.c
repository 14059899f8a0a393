// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/units.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define MIB_GBPS (1048576 * 8 / 1e9) /* MiB/s in Gb/s */

/* True if TEXT is like "0x1p4" or "0x1.8", which strtold() would accept. */
static bool is_hexadecimal_float(const char *text)
{
	const char *x = text + 2;

	return text[0] == '0' && (text[1] | 0x20) == 'x' &&
	       strchr(".pP", x[strspn(x, "0123456789abcdefABCDEF")]) &&
	       x[strspn(x, "0123456789abcdefABCDEF")];
}

/* Parse the number at TEXT; *REST points after it. Returns 0, -EINVAL or -ERANGE. The first test
 * refuses blanks, signs, "inf" and "nan", which strtold() would accept. */
static int parse_number(const char *text, long double *value, const char **rest)
{
	char *end;

	if (!isdigit((unsigned char)text[*text == '.']) || is_hexadecimal_float(text))
		return -EINVAL;
	errno = 0;
	*value = strtold(text, &end);
	*rest = end;
	return errno == ERANGE ? -ERANGE : 0;
}

/*
 * Returns the factor of the prefix k, M, G or T at *REST, a power of THOUSAND (1000 or 1024), or 1
 * without a prefix. Advances *REST.
 */
static double parse_prefix(const char **rest, double thousand)
{
	static const char prefix[] = "kmgt";
	const char *at = **rest ? strchr(prefix, tolower((unsigned char)**rest)) : NULL;
	double factor = 1;

	if (!at)
		return 1;
	for (const char *p = prefix; p <= at; p++)
		factor *= thousand;
	++*rest;
	return factor;
}

/* Store V if it is a whole number and REST, the text after it, is empty. Returns 0, -EINVAL or
 * -ERANGE. */
static int store_whole(long double v, const char *rest, uint64_t *value)
{
	long double whole = roundl(v);

	/* 8.1 * 1000 may differ from 8100 in the last bit. */
	if (*rest || fabsl(v - whole) > v * 0x1p-62L)
		return -EINVAL;
	if (whole >= 0x1p64L)
		return -ERANGE;
	*value = (uint64_t)whole;
	return 0;
}

int units_parse_u64(const char *text, uint64_t *value)
{
	const char *rest;
	long double v;
	int rc = parse_number(text, &v, &rest);

	if (rc)
		return rc;
	v *= parse_prefix(&rest, 1000);
	return store_whole(v, rest, value);
}

int units_parse_size(const char *text, uint64_t *bytes)
{
	const char *rest, *unit;
	long double v;
	double factor;
	int rc = parse_number(text, &v, &rest);

	if (rc)
		return rc;
	unit = rest;
	factor = parse_prefix(&rest, 1024);
	if (rest > unit && tolower((unsigned char)*rest) == 'i')
		rest++;
	else if (rest > unit && tolower((unsigned char)*rest) == 'b') {
		rest = unit;
		factor = parse_prefix(&rest, 1000);
	}
	rest += tolower((unsigned char)*rest) == 'b';
	return store_whole(v * factor, rest, bytes);
}

/* Parse a time in nanoseconds; a number without a unit is in units of ALONE_NS. Returns 0, -EINVAL
 * or -ERANGE. */
static int parse_time(const char *text, double alone_ns, long double *ns)
{
	static const struct {
		const char *name;
		double ns;
	} unit[] = {{"ns", 1},    {"us", 1e3}, {"ms", 1e6},   {"s", 1e9},
		    {"sec", 1e9}, {"m", 60e9}, {"min", 60e9}, {"h", 3600e9}};
	const char *rest;
	int rc = parse_number(text, ns, &rest);

	if (rc)
		return rc;
	for (size_t i = 0; *rest && i < sizeof(unit) / sizeof(unit[0]); i++)
		if (strcasecmp(rest, unit[i].name) == 0) {
			alone_ns = unit[i].ns;
			rest = "";
		}
	*ns *= alone_ns;
	return *rest ? -EINVAL : *ns >= 9.2e18 ? -ERANGE : 0;
}

int units_parse_seconds(const char *text, uint64_t *ns)
{
	long double v;
	int rc = parse_time(text, 1e9, &v);

	if (rc == 0)
		*ns = (uint64_t)(v + 0.5L);
	return rc;
}

int units_parse_us(const char *text, double *us)
{
	long double v;
	int rc = parse_time(text, 1e3, &v);

	if (rc == 0)
		*us = (double)(v / 1e3L);
	return rc;
}

/* Store V if it is at most 10^18 and REST, the text after it, is empty. Returns 0, -EINVAL or
 * -ERANGE. */
static int store_decimal(long double v, const char *rest, double *value)
{
	if (*rest)
		return -EINVAL;
	if (v > 1e18)
		return -ERANGE;
	*value = (double)v;
	return 0;
}

int units_parse_decimal(const char *text, double *value)
{
	const char *rest;
	long double v;
	int rc = parse_number(text, &v, &rest);

	return rc ? rc : store_decimal(v, rest, value);
}

int units_parse_percent(const char *text, double *percent)
{
	const char *rest;
	long double v;
	double all = 100;
	int rc = parse_number(text, &v, &rest);

	if (!rc && *rest == '/')
		rc = units_parse_decimal(rest + 1, &all);
	else if (!rc && *rest && strcmp(rest, "%") != 0)
		rc = -EINVAL;
	*percent = rc || !(all > 0) ? NAN : (double)v * 100 / all;
	return *percent <= 100 ? 0 : -EINVAL;
}

int units_parse_count(const char *text, double *value)
{
	const char *rest;
	long double v;
	int rc = parse_number(text, &v, &rest);

	if (rc)
		return rc;
	v *= parse_prefix(&rest, 1000);
	return store_decimal(v, rest, value);
}

/*
 * Returns the unit TEXT of a rate in bits per second; 0 if it is invalid. Without a unit it is
 * Gb/s.
 */
static double parse_rate_unit(const char *text)
{
	static const char *const per_second[] = {"", "/s", "/sec", "ps"};
	const char *rest = text;
	double factor = parse_prefix(&rest, 1000), bits = 1;

	if (!*rest)
		return rest == text ? 1e9 : factor;
	if (rest != text && strncmp(rest, "iB", 2) == 0) {
		rest = text;
		factor = parse_prefix(&rest, 1024);
		rest++;
	}
	if (*rest == 'B')
		bits = 8;
	else if (*rest != 'b')
		return 0;
	rest += strncmp(rest, "bit", 3) == 0 ? 3 : 1;
	for (size_t i = 0; i < sizeof(per_second) / sizeof(per_second[0]); i++)
		if (strcmp(rest, per_second[i]) == 0)
			return factor * bits;
	return 0;
}

int units_parse_rate(const char *text, double *bits_per_s)
{
	const char *rest;
	long double v;
	int rc = parse_number(text, &v, &rest);
	double unit = rc ? 0 : parse_rate_unit(rest);

	if (rc || unit == 0)
		return rc ? rc : -EINVAL;
	return store_decimal(v * unit, "", bits_per_s);
}

struct units_text units_size(uint64_t bytes)
{
	static const char *const name[] = {"B", "KiB", "MiB", "GiB", "TiB"};
	struct units_text t;
	double v = (double)bytes;
	unsigned i = 0;

	while (bytes >= 1024 && bytes % 1024 == 0 && i < 4) {
		bytes /= 1024;
		i++;
	}
	if (bytes < 10240 || i == 4) {
		snprintf(t.text, sizeof(t.text), "%llu %s", (unsigned long long)bytes, name[i]);
		return t;
	}
	for (i = 0; v >= 1023.995 && i < 4; i++) /* would print as 1024.00 */
		v /= 1024;
	snprintf(t.text, sizeof(t.text), "%.2f %s", v, name[i]);
	return t;
}

struct units_text units_ns(uint64_t ns)
{
	struct units_text t;

	if (ns >= UINT64_C(100000) * UNITS_NS_PER_S) /* %g would print 1e+06 */
		snprintf(t.text, sizeof(t.text), "%.0f s", (double)ns / 1e9);
	else if (ns >= UNITS_NS_PER_S)
		snprintf(t.text, sizeof(t.text), "%.6g s", (double)ns / 1e9);
	else if (ns >= 1000000)
		snprintf(t.text, sizeof(t.text), "%.6g ms", (double)ns / 1e6);
	else if (ns >= 1000)
		snprintf(t.text, sizeof(t.text), "%.6g us", (double)ns / 1e3);
	else
		snprintf(t.text, sizeof(t.text), "%llu ns", (unsigned long long)ns);
	return t;
}

struct units_text units_about_ns(double ns)
{
	double step = ns >= 100 ? pow(10, floor(log10(ns)) - 1) : 1;

	return units_ns((uint64_t)(round(ns / step) * step));
}

double unit_of(bool gbits, double gbps)
{
	return gbits ? gbps : gbps / MIB_GBPS;
}

double unit_to_gbps(bool gbits, double value)
{
	return gbits ? value : value * MIB_GBPS;
}

const char *unit_name(bool gbits)
{
	return gbits ? "Gb/s" : "MiB/s";
}

/* Two decimals, as in the table; more for small values, to print four digits. */
static int decimals_of(double v)
{
	return v == 0 || v >= 10 ? 2 : v >= 1 ? 3 : v >= 0.1 ? 4 : 6;
}

struct units_text unit_number(bool gbits, double gbps)
{
	double v = unit_of(gbits, gbps);
	struct units_text t;

	snprintf(t.text, sizeof(t.text), "%.*f", decimals_of(v), v);
	return t;
}

struct units_text unit_rate(bool gbits, double gbps)
{
	double v = unit_of(gbits, gbps);
	struct units_text t;

	snprintf(t.text, sizeof(t.text), "%.*f %s", decimals_of(v), v, unit_name(gbits));
	return t;
}

struct units_text unit_messages(double messages_per_s)
{
	double v = messages_per_s / 1e6;
	struct units_text t;

	snprintf(t.text, sizeof(t.text), "%.*f M messages/s", decimals_of(v), v);
	return t;
}

struct units_text unit_percent(double percent)
{
	int whole = percent >= 1 ? (int)log10(percent) + 1 : percent >= 0.1 || percent <= 0 ? 0 : -1;
	struct units_text text = {"more than 100"};

	if (percent <= 100)
		snprintf(text.text, sizeof(text.text), "%.*f", whole < 2 ? 2 - whole : 0, percent);
	return text;
}
