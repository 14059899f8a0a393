/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* why: the causes and fixes that faults have, in the words of why.def. */
#pragma once

#include "base/fault.h"
#include "finding/finding.h"

enum why {
#define WHY(symbol, ...) WHY_##symbol,
#include "finding/why.def"
#undef WHY
	WHYS
};

/*
 * Add cause and fix of WHY to the fault just raised; VALUES are what their {names} stand for, the
 * first without a name ends them. Returns -1.
 */
int why_explain(struct fault *f, enum why why, const struct finding_value *values);

#define WHY_VALUES(...) (const struct finding_value[FINDING_VALUES]){__VA_ARGS__}

/* The same of values: EXPLAIN(f, CM_REMOVED, {"device", device}). */
#define EXPLAIN(f, symbol, ...) why_explain(f, WHY_##symbol, WHY_VALUES(__VA_ARGS__))
