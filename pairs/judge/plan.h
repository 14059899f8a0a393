/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * plan: what to measure next, for `rdmark-pairs run --plan`: lines "SLOT FROM TO PART". Nothing if
 * all is decided, or no measurement would decide it.
 */
#pragma once

#include "judgement.h"

void judge_plan(FILE *to, const struct judgement *j);
