// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "cell.h"

#include <stdio.h>
#include <stdlib.h>

unsigned gdr_cell_way(const struct gdr_cell *c)
{
	return 1 + ((unsigned)c->method * GDR_MEMORIES + c->from) * GDR_MEMORIES + c->into;
}

void gdr_cell_of_way(struct gdr_cell *c, unsigned way)
{
	way--;
	c->into = way % GDR_MEMORIES;
	c->from = way / GDR_MEMORIES % GDR_MEMORIES;
	c->method = way / (GDR_MEMORIES * GDR_MEMORIES) % GDR_METHODS;
}

static bool has(unsigned set, enum gdr_memory m)
{
	return set >> m & 1;
}

/* The route to use where the other end goes by WISH. */
static enum gdr_memory route_like(unsigned set, enum gdr_memory wish)
{
	if (has(set, wish))
		return wish;
	for (wish = GDR_DMABUF; wish < GDR_DATA_DIRECT && !has(set, wish);)
		wish++;
	return wish;
}

static bool has_route(unsigned set)
{
	return has(set, GDR_DMABUF) || has(set, GDR_PEERMEM) || has(set, GDR_DATA_DIRECT);
}

struct list {
	struct gdr_cell *cell;
	unsigned count;
	bool reverse;
};

/* Unless it is the last one already: ends with one route each meet in one way only. */
static void add(struct list *l, enum gdr_method method, enum gdr_memory from, enum gdr_memory into)
{
	const struct gdr_cell *last = l->count ? &l->cell[l->count - 1] : NULL;

	if (last && last->method == method && last->from == from && last->into == into &&
	    last->reverse == l->reverse)
		return;
	l->cell[l->count++] = (struct gdr_cell){method, from, into, l->reverse};
}

/* One direction: from an end with SOURCE to one with SINK. */
static void add_direction(struct list *l, unsigned source, unsigned sink)
{
	enum gdr_memory from = has(source, GDR_COPIED) ? GDR_COPIED : GDR_HOST;
	enum gdr_memory into = has(sink, GDR_COPIED) ? GDR_COPIED : GDR_HOST;

	add(l, GDR_DIRECT, GDR_HOST, GDR_HOST);
	for (enum gdr_memory m = GDR_DMABUF; m <= GDR_DATA_DIRECT; m++)
		if (has(source, m))
			add(l, GDR_DIRECT, m, GDR_HOST);
	for (enum gdr_memory m = GDR_DMABUF; m <= GDR_DATA_DIRECT; m++)
		if (has(sink, m))
			add(l, GDR_DIRECT, GDR_HOST, m);
	for (enum gdr_memory m = GDR_DMABUF; m <= GDR_DATA_DIRECT; m++)
		if (has_route(source) && has_route(sink) && (has(source, m) || has(sink, m)))
			add(l, GDR_DIRECT, route_like(source, m), route_like(sink, m));
	if (from == GDR_HOST && into == GDR_HOST)
		return;
	add(l, GDR_STAGED_SYNC, from, into);
	add(l, GDR_STAGED_PIPE, from, into);
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

bool gdr_cell_is_direct(const struct gdr_cell *c)
{
	return c->method == GDR_DIRECT && (c->from != GDR_HOST || c->into != GDR_HOST);
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

void gdr_result_settle(struct gdr_result *r)
{
	unsigned n = r->windows;

	if (!n)
		return;
	qsort(r->gbps, n, sizeof(*r->gbps), by_value);
	r->min = r->gbps[0];
	r->max = r->gbps[n - 1];
	r->median = n % 2 ? r->gbps[n / 2] : (r->gbps[n / 2 - 1] + r->gbps[n / 2]) / 2;
}

const struct gdr_result *gdr_result_host(const struct gdr_result *all, unsigned count,
					 const struct gdr_result *r)
{
	for (unsigned i = 0; i < count; i++) {
		const struct gdr_cell *c = &all[i].cell;

		if (c->method == GDR_DIRECT && c->from == GDR_HOST && c->into == GDR_HOST &&
		    c->reverse == r->cell.reverse && all[i].size_bytes == r->size_bytes &&
		    all[i].windows)
			return &all[i];
	}
	return NULL;
}
