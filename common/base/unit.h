/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * unit: formats all rates for the user, so that the table, progress, notes and errors of a run have
 * the same unit.
 *
 * Bandwidth is in the table's unit: MiB/s, or Gb/s with --report_gbits. Internally, and in JSON and
 * CSV, it is in Gb/s. Message rates are in millions, as in the table.
 */
#pragma once

#include <stdbool.h>

#include "base/units.h"

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
