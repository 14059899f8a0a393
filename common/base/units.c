// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/units.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* strtoull() skips blanks and takes a sign; a number here starts with a digit. */
static int parse_prefix(const char *text, uint64_t *value, const char **rest)
{
	unsigned long long v;
	char *end;

	if (!isdigit((unsigned char)text[0]))
		return -EINVAL;
	errno = 0;
	v = strtoull(text, &end, text[0] == '0' && (text[1] | 0x20) == 'x' ? 16 : 10);
	if (errno == ERANGE)
		return -ERANGE;
	*value = v;
	*rest = end;
	return 0;
}

int units_parse_u64(const char *text, uint64_t *value)
{
	const char *rest;
	uint64_t v;
	int rc = parse_prefix(text, &v, &rest);

	if (rc)
		return rc;
	if (*rest)
		return -EINVAL;
	*value = v;
	return 0;
}

int units_parse_size(const char *text, uint64_t *bytes)
{
	static const char prefix[] = "kmgt";
	unsigned shift = 0;
	const char *rest;
	uint64_t v;
	int rc = parse_prefix(text, &v, &rest);

	if (rc)
		return rc;
	if (*rest) {
		const char *at = strchr(prefix, tolower((unsigned char)*rest));

		if (!at)
			return -EINVAL;
		shift = 10 * (unsigned)(at - prefix + 1);
		rest++;
		if (tolower((unsigned char)*rest) == 'i')
			rest++;
		if (*rest)
			return -EINVAL;
	}
	if (shift && v > UINT64_MAX >> shift)
		return -ERANGE;
	*bytes = v << shift;
	return 0;
}

int units_parse_seconds(const char *text, uint64_t *ns)
{
	static const struct {
		const char *name;
		double ns;
	} unit[] = {{"", 1e9}, {"s", 1e9},  {"ms", 1e6},  {"us", 1e3},
		    {"ns", 1}, {"m", 60e9}, {"h", 3600e9}};
	size_t digits = strspn(text, "0123456789.");
	char *end;
	double v;

	if (!isdigit((unsigned char)text[0]))
		return -EINVAL;
	v = strtod(text, &end);
	if (end != text + digits) /* also takes 1e3 and 0x10 */
		return -EINVAL;
	for (size_t i = 0; i < sizeof(unit) / sizeof(unit[0]); i++) {
		if (strcasecmp(text + digits, unit[i].name) != 0)
			continue;
		v *= unit[i].ns;
		if (v >= 9.2e18)
			return -ERANGE;
		*ns = (uint64_t)(v + 0.5);
		return 0;
	}
	return -EINVAL;
}

/* strtod() also takes signs, blanks, exponents and hexadecimal. */
static int decimal_prefix(const char *text, double *value, const char **rest)
{
	size_t digits = strspn(text, "0123456789.");
	char *end;
	double v;

	if (!isdigit((unsigned char)text[0]))
		return -EINVAL;
	v = strtod(text, &end);
	if (end != text + digits)
		return -EINVAL;
	if (v > 1e18)
		return -ERANGE;
	*value = v;
	*rest = end;
	return 0;
}

/* The power of THOUSAND that the prefix at *REST stands for, which is stepped over; 1: none. */
static double take_prefix(const char **rest, double thousand)
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

int units_parse_decimal(const char *text, double *value)
{
	const char *rest;
	double v;
	int rc = decimal_prefix(text, &v, &rest);

	if (rc || *rest)
		return rc ? rc : -EINVAL;
	*value = v;
	return 0;
}

int units_parse_count(const char *text, double *value)
{
	const char *rest;
	double v;
	int rc = decimal_prefix(text, &v, &rest);

	if (rc)
		return rc;
	v *= take_prefix(&rest, 1000);
	if (*rest)
		return -EINVAL;
	*value = v;
	return 0;
}

/* What stands behind the number of a rate, in bits a second; 0: it is no such thing. */
static double rate_unit(const char *text)
{
	static const struct {
		const char *name;
		double bits;
	} unit[] = {{"b/s", 1},     {"b/sec", 1}, {"bit/s", 1},
		    {"bit/sec", 1}, {"B/s", 8},   {"B/sec", 8}};
	const char *rest = text;
	double factor;

	if (!*text)
		return 1e9;
	factor = take_prefix(&rest, 1000);
	if (rest != text && !*rest)
		return factor;
	if (rest != text && strncmp(rest, "iB", 2) == 0) {
		rest = text;
		factor = take_prefix(&rest, 1024);
		rest++;
	}
	for (size_t i = 0; i < sizeof(unit) / sizeof(unit[0]); i++)
		if (strcmp(rest, unit[i].name) == 0)
			return factor * unit[i].bits;
	return 0;
}

int units_parse_rate(const char *text, double *bits_per_s)
{
	const char *rest;
	double v, unit;
	int rc = decimal_prefix(text, &v, &rest);

	if (rc)
		return rc;
	unit = rate_unit(rest);
	if (unit == 0)
		return -EINVAL;
	*bits_per_s = v * unit;
	return 0;
}

const char *units_format_size(uint64_t bytes, char *buf, size_t size)
{
	static const char *const name[] = {"B", "KiB", "MiB", "GiB", "TiB"};
	double v = (double)bytes;
	unsigned i = 0;

	while (bytes >= 1024 && bytes % 1024 == 0 && i < 4) {
		bytes /= 1024;
		i++;
	}
	if (i || bytes < 10240) {
		snprintf(buf, size, "%llu %s", (unsigned long long)bytes, name[i]);
		return buf;
	}
	for (i = 0; v >= 1023.995 && i < 4; i++) /* what would be written as 1024.00 */
		v /= 1024;
	snprintf(buf, size, "%.2f %s", v, name[i]);
	return buf;
}

const char *units_format_ns(uint64_t ns, char *buf, size_t size)
{
	if (ns >= UINT64_C(100000) * UNITS_NS_PER_S)
		snprintf(buf, size, "%.0f s", (double)ns / 1e9); /* %g would turn to 1e+06 */
	else if (ns >= UNITS_NS_PER_S)
		snprintf(buf, size, "%.6g s", (double)ns / 1e9);
	else if (ns >= 1000000)
		snprintf(buf, size, "%.6g ms", (double)ns / 1e6);
	else if (ns >= 1000)
		snprintf(buf, size, "%.6g us", (double)ns / 1e3);
	else
		snprintf(buf, size, "%llu ns", (unsigned long long)ns);
	return buf;
}
