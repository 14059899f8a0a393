/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* judge: from the results of all cells to the one that the verdict is about, and its facts. */
#ifndef GDR_BW_JUDGE_H
#define GDR_BW_JUDGE_H

#include "gdr.h"
#include "verdict.h"

/* Reach V, and set g->verdict to the fault that it calls for, if any. Results must be settled. */
void gdr_reach_verdict(struct gdr *g, struct verdict *v);

#endif
