// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/unit.h"

#include <stdio.h>

#define MIB_GBPS (1048576 * 8 / 1e9) /* MiB/s in Gb/s */

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
