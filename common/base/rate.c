// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/rate.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"

#define UNIT_BITS 2
#define MILLION   1e6
#define MIB_BITS  (8.0 * (1 << 20))

static const char letters[] = "Mgp"; /* perftest's, in the order of enum rate_unit */

static enum rate_unit unit_in(uint64_t rate)
{
	return (enum rate_unit)(rate & ((1u << UNIT_BITS) - 1));
}

static double rate_number(uint64_t rate)
{
	return (double)(rate >> UNIT_BITS) / MILLION;
}

/* The unit that perftest's LETTER means; RATE_UNSAID for any other letter. */
static enum rate_unit unit_of_letter(char letter)
{
	for (unsigned i = 0; i < RATE_UNSAID; i++)
		if (tolower((unsigned char)letter) == tolower((unsigned char)letters[i]))
			return (enum rate_unit)i;
	return RATE_UNSAID;
}

int rate_parse(const char *text, uint64_t *rate)
{
	size_t n = strlen(text);
	enum rate_unit unit = n ? unit_of_letter(text[n - 1]) : RATE_UNSAID;
	char number[40] = "";
	uint64_t millionths;
	double v = 0;
	int rc;

	if (n < sizeof(number))
		memcpy(number, text, n - (unit != RATE_UNSAID));
	rc = units_parse_decimal(number, &v);
	if (rc == -EINVAL && strpbrk(text, "bB")) {
		rc = units_parse_rate(text, &v);
		v /= 1e9;
		unit = RATE_GBPS;
	}
	if (rc)
		return rc;
	if (v * MILLION >= (double)(RATE_MAX >> UNIT_BITS))
		return -ERANGE;
	millionths = (uint64_t)(v * MILLION + 0.5);
	if (v > 0 && !millionths)
		return -ERANGE;
	*rate = millionths ? millionths << UNIT_BITS | unit : RATE_NONE;
	return 0;
}

uint64_t rate_in(uint64_t rate, enum rate_unit unit)
{
	if (rate == RATE_NONE || unit_in(rate) != RATE_UNSAID)
		return rate;
	return rate >> UNIT_BITS << UNIT_BITS | unit;
}

double rate_messages_per_s(uint64_t rate, uint64_t message_bytes)
{
	double v = rate_number(rate), bits = 8.0 * (double)message_bytes;

	switch (unit_in(rate)) {
	case RATE_MESSAGES:
		return v;
	case RATE_MIBPS:
		return v * MIB_BITS / bits;
	default:
		return v * 1e9 / bits;
	}
}

double rate_gbps(uint64_t rate, uint64_t message_bytes)
{
	return rate_messages_per_s(rate, message_bytes) * 8.0 * (double)message_bytes / 1e9;
}

const char *rate_format(uint64_t rate, char *buf, size_t size)
{
	enum rate_unit unit = unit_in(rate);
	const char letter[] = {unit == RATE_UNSAID ? '\0' : letters[unit], '\0'};

	if (rate == RATE_NONE)
		snprintf(buf, size, "none");
	else
		snprintf(buf, size, "%.15g%s", rate_number(rate), letter);
	return buf;
}
