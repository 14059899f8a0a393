// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "cell.h"

#include <stdio.h>

#include "stat/series.h"

unsigned gdr_cell_kind(const struct gdr_cell *c)
{
	return 1 + ((unsigned)c->method * GDR_MEMORIES + c->from) * GDR_MEMORIES + c->into;
}

void gdr_cell_of_kind(struct gdr_cell *c, unsigned kind)
{
	kind--;
	c->into = kind % GDR_MEMORIES;
	c->from = kind / GDR_MEMORIES % GDR_MEMORIES;
	c->method = kind / (GDR_MEMORIES * GDR_MEMORIES) % GDR_METHODS;
}

static bool has_memory(unsigned set, enum gdr_memory m)
{
	return set >> m & 1;
}

/* The route WANTED, which the other end uses, if SET has it; else the first route of SET. */
static enum gdr_memory route_or_first(unsigned set, enum gdr_memory wanted)
{
	if (has_memory(set, wanted))
		return wanted;
	for (wanted = GDR_DMABUF; wanted < GDR_DATA_DIRECT && !has_memory(set, wanted);)
		wanted++;
	return wanted;
}

static bool has_route(unsigned set)
{
	return has_memory(set, GDR_DMABUF) || has_memory(set, GDR_PEERMEM) ||
	       has_memory(set, GDR_DATA_DIRECT);
}

struct list {
	struct gdr_cell *cell;
	unsigned count;
	bool reverse;
};

/* Add a cell, unless it equals the last one: two ends with one route each make one cell. */
static void add_cell(struct list *l, enum gdr_method method, enum gdr_memory from,
		     enum gdr_memory into)
{
	const struct gdr_cell *last = l->count ? &l->cell[l->count - 1] : NULL;

	if (last && last->method == method && last->from == from && last->into == into &&
	    last->reverse == l->reverse)
		return;
	l->cell[l->count++] = (struct gdr_cell){method, from, into, l->reverse};
}

/* Add the cells of one direction; SOURCE and SINK are the sets of memories of the two ends. */
static void add_direction(struct list *l, unsigned source, unsigned sink)
{
	enum gdr_memory from = has_memory(source, GDR_COPIED) ? GDR_COPIED : GDR_HOST;
	enum gdr_memory into = has_memory(sink, GDR_COPIED) ? GDR_COPIED : GDR_HOST;

	add_cell(l, GDR_DIRECT, GDR_HOST, GDR_HOST);
	for (enum gdr_memory m = GDR_DMABUF; m <= GDR_DATA_DIRECT; m++)
		if (has_memory(source, m))
			add_cell(l, GDR_DIRECT, m, GDR_HOST);
	for (enum gdr_memory m = GDR_DMABUF; m <= GDR_DATA_DIRECT; m++)
		if (has_memory(sink, m))
			add_cell(l, GDR_DIRECT, GDR_HOST, m);
	for (enum gdr_memory m = GDR_DMABUF; m <= GDR_DATA_DIRECT; m++)
		if (has_route(source) && has_route(sink) &&
		    (has_memory(source, m) || has_memory(sink, m)))
			add_cell(l, GDR_DIRECT, route_or_first(source, m), route_or_first(sink, m));
	if (from == GDR_HOST && into == GDR_HOST)
		return;
	add_cell(l, GDR_STAGED_SYNC, from, into);
	add_cell(l, GDR_STAGED_PIPE, from, into);
}

unsigned gdr_cells(struct gdr_cell cells[GDR_CELLS_MAX], const unsigned set[2])
{
	struct list l = {.cell = cells};

	add_direction(&l, set[0], set[1]);
	l.reverse = true;
	add_direction(&l, set[1], set[0]);
	return l.count;
}

const char *gdr_cell_name(const struct gdr_cell *c)
{
	if (c->method != GDR_DIRECT)
		return c->method == GDR_STAGED_SYNC ? "staged-sync" : "staged-pipe";
	if (c->from == GDR_HOST)
		return c->into == GDR_HOST ? "host" : "write";
	return c->into == GDR_HOST ? "read" : "gdr";
}

const char *gdr_cell_direction(const struct gdr_cell *c)
{
	return c->reverse ? "server->client" : "client->server";
}

const char *gdr_cell_route(const struct gdr_cell *c, char *buf, size_t size)
{
	static const char *const name[GDR_MEMORIES] = {"host", "dma-buf", "peermem", "data-direct",
						       "copy"};
	enum gdr_memory one = c->from == GDR_HOST ? c->into : c->from;

	if (c->from == GDR_HOST || c->into == GDR_HOST || c->from == c->into)
		snprintf(buf, size, "%s", name[one]);
	else
		snprintf(buf, size, "%s/%s", name[c->from], name[c->into]);
	return buf;
}

const char *gdr_cell_words(const struct gdr_cell *c)
{
	if (c->from == GDR_HOST)
		return "host to GPU";
	return c->into == GDR_HOST ? "GPU to host" : "GPU to GPU";
}

bool gdr_cell_is_direct(const struct gdr_cell *c)
{
	return c->method == GDR_DIRECT && (c->from != GDR_HOST || c->into != GDR_HOST);
}

/* True if C is direct, and each end uses its first route, which is also --gpu-path's default. */
static bool is_default_route(const struct gdr_cell *c, const unsigned set[2])
{
	unsigned source = set[c->reverse], sink = set[!c->reverse];

	return gdr_cell_is_direct(c) &&
	       (c->from == GDR_HOST || c->from == route_or_first(source, GDR_DMABUF)) &&
	       (c->into == GDR_HOST || c->into == route_or_first(sink, GDR_DMABUF));
}

unsigned gdr_results(struct gdr_result r[GDR_CELLS_MAX], const unsigned set[2], uint64_t size_bytes,
		     uint64_t chunk_bytes)
{
	struct gdr_cell cell[GDR_CELLS_MAX];
	unsigned cells = gdr_cells(cell, set), n = 0;
	const struct gdr_result *host = NULL;

	for (unsigned i = 0; i < cells; i++) {
		bool staged = cell[i].method != GDR_DIRECT;

		if (staged && !chunk_bytes)
			continue;
		if (!staged && !gdr_cell_is_direct(&cell[i]))
			host = &r[n];
		r[n++] = (struct gdr_result){.cell = cell[i],
					     .host = host,
					     .judged =
						     chunk_bytes && is_default_route(&cell[i], set),
					     .size_bytes = size_bytes,
					     .message_bytes = staged ? chunk_bytes : size_bytes};
	}
	return n;
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
