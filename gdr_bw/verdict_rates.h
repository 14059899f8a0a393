/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * verdict_rates: the text about the measured rates: how fast, how certain, what prevents a pass,
 * and what to do. For verdict.c.
 */
#pragma once

#include "verdict.h"

/* Append (printf) to V's line; or to `next`, as a sentence. */
void verdict_append(struct verdict *v, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void verdict_advise(struct verdict *v, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Append the cell and its direction to V's line. */
void verdict_append_cell(const struct verdict_facts *x, struct verdict *v);

/* Set V's cause from X->stats, and append to its line and to `next`. */
void verdict_rates(const struct verdict_facts *x, struct verdict *v);
