// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Writes the matrix: a row for each sender, a column for each receiver. */
#include <math.h>

#include "judge.h"

void judge_matrix(FILE *to, const struct judgement *j)
{
	const struct matrix *m = &j->m;

	fprintf(to, "from\\to");
	for (uint32_t i = 0; i < m->players; i++)
		fprintf(to, ",%s", j->body->names.text[i]);
	fprintf(to, "\n");
	for (uint32_t i = 0; i < m->players; i++) {
		uint32_t cell = m->row[i];

		fprintf(to, "%s", j->body->names.text[i]);
		for (uint32_t k = 0; k < m->players; k++) {
			const struct matrix_cell *c = &m->cell[cell];
			bool here = cell < m->row[i + 1] && c->to == k;
			float v = here ? (isnan(c->loaded) ? c->alone : c->loaded) : NAN;

			fprintf(to, isnan(v) ? "," : ",%.4g", (double)v);
			cell += here;
		}
		fprintf(to, "\n");
	}
}
