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

#define ROUTES (1u << GDR_DMABUF | 1u << GDR_PEERMEM | 1u << GDR_DATA_DIRECT)

static bool has(unsigned set, enum gdr_memory m)
{
	return set >> m & 1;
}

/* The route WANTED, which the other end uses, if SET has it; else the first route of SET. */
static enum gdr_memory route_or_first(unsigned set, enum gdr_memory wanted)
{
	if (has(set, wanted))
		return wanted;
	for (wanted = GDR_DMABUF; wanted < GDR_DATA_DIRECT && !has(set, wanted);)
		wanted++;
	return wanted;
}

/* The results of one direction, between ends with the memories SOURCE and SINK. */
struct list {
	struct gdr_result *result;
	unsigned count, source, sink;
	bool reverse;
	const struct gdr_result *host;
	uint64_t size_bytes, chunk_bytes;
};

/* Add a cell, unless it equals the last one: two ends with one route each make one cell. */
static void add_cell(struct list *l, enum gdr_method method, enum gdr_memory from,
		     enum gdr_memory into)
{
	struct gdr_result *r = &l->result[l->count];
	const struct gdr_cell *last = l->count ? &r[-1].cell : NULL;

	if (last && last->method == method && last->from == from && last->into == into &&
	    last->reverse == l->reverse)
		return;
	*r = (struct gdr_result){
		.cell = {method, from, into, l->reverse},
		.size_bytes = l->size_bytes,
		.message_bytes = method == GDR_DIRECT ? l->size_bytes : l->chunk_bytes,
	};
	if (from == GDR_HOST && into == GDR_HOST)
		l->host = r;
	r->host = l->host;
	/* By the routes that are also --gpu-path's default. */
	r->judged = l->chunk_bytes && gdr_cell_is_direct(&r->cell) &&
		    (from == GDR_HOST || from == route_or_first(l->source, GDR_DMABUF)) &&
		    (into == GDR_HOST || into == route_or_first(l->sink, GDR_DMABUF));
	l->count++;
}

static void add_direction(struct list *l)
{
	enum gdr_memory from = has(l->source, GDR_COPIED) ? GDR_COPIED : GDR_HOST;
	enum gdr_memory into = has(l->sink, GDR_COPIED) ? GDR_COPIED : GDR_HOST;

	add_cell(l, GDR_DIRECT, GDR_HOST, GDR_HOST);
	for (enum gdr_memory m = GDR_DMABUF; m <= GDR_DATA_DIRECT; m++)
		if (has(l->source, m))
			add_cell(l, GDR_DIRECT, m, GDR_HOST);
	for (enum gdr_memory m = GDR_DMABUF; m <= GDR_DATA_DIRECT; m++)
		if (has(l->sink, m))
			add_cell(l, GDR_DIRECT, GDR_HOST, m);
	for (enum gdr_memory m = GDR_DMABUF; m <= GDR_DATA_DIRECT; m++)
		if (l->source & ROUTES && l->sink & ROUTES && has(l->source | l->sink, m))
			add_cell(l, GDR_DIRECT, route_or_first(l->source, m),
				 route_or_first(l->sink, m));
	if (l->chunk_bytes && (from != GDR_HOST || into != GDR_HOST))
		add_cell(l, GDR_STAGED, from, into);
}

unsigned gdr_results(struct gdr_result r[GDR_CELLS_MAX], const unsigned set[2], uint64_t size_bytes,
		     uint64_t chunk_bytes)
{
	struct list l = {.result = r, .size_bytes = size_bytes, .chunk_bytes = chunk_bytes};

	for (int end = 0; end < 2; end++) {
		l.source = set[end];
		l.sink = set[!end];
		l.reverse = end;
		add_direction(&l);
	}
	return l.count;
}

const char *gdr_cell_name(const struct gdr_cell *c)
{
	if (c->method != GDR_DIRECT)
		return "staged-pipe";
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
