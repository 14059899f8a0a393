/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * gdr_windows: results of gdr_bw's cells with windows made by hand, for the tests of ratio and
 * verdict. GPUs at both ends. Include it after <cmocka.h>.
 */
#ifndef RDMARK_TESTS_UNIT_GDR_WINDOWS_H
#define RDMARK_TESTS_UNIT_GDR_WINDOWS_H

#include <string.h>

#include "../../gdr_bw/verdict.h"

#define MADE_TURNS 56

struct made {
	struct gdr_result result[GDR_CELLS_MAX];
	double gbps[GDR_CELLS_MAX][MADE_TURNS];
	double scratch[MADE_TURNS * (2 + GDR_CELLS_MAX)];
	struct ratio_attr attr;
};

/* A value between -1 and 1 that neither lasts nor is the same in two cells. */
static inline double made_noise(unsigned cell, unsigned turn)
{
	unsigned x = (cell + 1) * 2654435761u + turn * 2246822519u;

	x = (x ^ x >> 15) * 2246822519u;
	x = (x ^ x >> 13) * 3266489917u;
	return (x >> 8) / 8388608.0 - 1;
}

/* Set cell I's windows: TURNS of them at GBPS, each more or less by up to SPREAD of it. */
static inline void made_windows(struct made *m, unsigned i, unsigned turns, double gbps,
				double spread)
{
	struct gdr_result *r = &m->result[i];

	r->turns = r->windows = turns;
	r->median = gbps;
	for (unsigned t = 0; t < turns; t++)
		m->gbps[i][t] = gbps * (1 + spread * made_noise(i, t));
}

/* All cells have TURNS windows: host memory at HOST, GPU memory at GPU. */
static inline void made_results(struct made *m, unsigned turns, double host, double gpu,
				double spread)
{
	memset(m, 0, sizeof(*m));
	m->attr = (struct ratio_attr){
		.result = m->result, .within = 0.05, .first = 7, .scratch = m->scratch};
	m->attr.results = gdr_results(m->result, (const bool[]){true, true}, true);
	for (unsigned i = 0; i < m->attr.results; i++) {
		m->result[i].gbps = m->gbps[i];
		m->result[i].expected_from = "line rate";
		made_windows(m, i, turns, gdr_cell_is_direct(&m->result[i].cell) ? gpu : host,
			     spread);
	}
}

/* The cell of that name, from client to server. */
static inline unsigned made_cell(const struct made *m, const char *name)
{
	for (unsigned i = 0; i < m->attr.results; i++)
		if (!m->result[i].cell.reverse && !strcmp(gdr_cell_name(&m->result[i].cell), name))
			return i;
	fail_msg("no cell %s", name);
	return 0;
}

#endif
