/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * explained: what limits a row of a bandwidth test, and what went wrong during any: from both ends'
 * facts (explain/limit.h).
 */
#pragma once

#include "measure/measure.h"

/*
 * Explain ROW of the round MEAS, which is of all threads, into E. Returns whether it can: it is of
 * one direction of a bandwidth test and has a rate, or of round trips, which have no limit.
 */
bool explained_row(const struct measurement *meas, const struct result_row *row,
		   struct explained *e);
