/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * show: passes both ends' records of a round to the report. The client checks the rows of its table
 * against the thresholds.
 */
#pragma once

#include "measure/measure.h"

void round_show(struct measurement *meas);
void round_judge(struct measure *ms, const struct report_result *result);
