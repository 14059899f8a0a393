// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "cell.h"

#include "stat/series.h"

unsigned gdr_cell_kind(const struct gdr_cell *c)
{
	return c->staged ? GDR_KINDS : 1 + c->from_gpu + 2u * c->into_gpu;
}

void gdr_cell_of_kind(struct gdr_cell *c, unsigned kind)
{
	c->staged = kind == GDR_KINDS;
	c->from_gpu = (kind - 1) & 1;
	c->into_gpu = (kind - 1) & 2;
}

unsigned gdr_results(struct gdr_result r[GDR_CELLS_MAX], const bool direct[2], bool staged)
{
	static const struct gdr_cell all[] = {
		{false, false}, {true, false}, {false, true}, {true, true}};
	const struct gdr_result *host[2];
	unsigned count = 0;

	for (int end = 0; end < 2; end++) {
		host[end] = &r[count];
		for (unsigned i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
			if ((all[i].from_gpu && !direct[end]) || (all[i].into_gpu && !direct[!end]))
				continue;
			r[count] = (struct gdr_result){.cell = all[i], .host = host[end]};
			r[count++].cell.reverse = end;
		}
	}
	for (int end = 0; staged && end < 2; end++)
		r[count++] = (struct gdr_result){.cell = {.staged = true, .reverse = end},
						 .host = host[end]};
	return count;
}

const char *gdr_cell_name(const struct gdr_cell *c)
{
	if (c->staged)
		return "staged";
	if (c->from_gpu)
		return c->into_gpu ? "gdr" : "read";
	return c->into_gpu ? "write" : "host";
}

const char *gdr_cell_words(const struct gdr_cell *c)
{
	if (c->from_gpu)
		return c->into_gpu ? "GPU to GPU" : "GPU to host";
	return c->into_gpu ? "host to GPU" : "host to host";
}

const char *gdr_cell_direction(const struct gdr_cell *c)
{
	return c->reverse ? "server->client" : "client->server";
}

bool gdr_cell_is_direct(const struct gdr_cell *c)
{
	return c->from_gpu || c->into_gpu;
}

void gdr_turn_order(unsigned *order, unsigned cells, unsigned turn)
{
	/* None has a divisor in common with CELLS. */
	const unsigned step[] = {1, cells - 1, cells % 5 ? 5 : 1, cells % 7 ? 7 : 1};

	for (unsigned i = 0; i < cells; i++)
		order[i] = (turn + i * step[turn % 4]) % cells;
}

double gdr_least(double a, double b)
{
	return a > 0 && (b <= 0 || a < b) ? a : b;
}

void gdr_result_summarize(struct gdr_result *r, double *scratch)
{
	struct series s;
	size_t n = 0;

	for (unsigned i = 0; i < r->turns; i++)
		if (r->gbps[i] > 0)
			scratch[n++] = r->gbps[i];
	series_measure(&s, scratch, scratch + n, n);
	r->min = s.min;
	r->max = s.max;
	r->median = s.median;
}
