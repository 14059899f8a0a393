// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What the client of gdr_bw has done in which order: learn what both ends have, warm up and check
 * every cell, measure all of them window by window in turn, show.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "gdr.h"
#include "session/plan.h"
#include "wire/message.h"

#define CELL_NS    UINT64_C(7000000000) /* where neither -n nor -D is given */
#define WARMUP_NS  UINT64_C(500000000)
#define PAGE_BYTES 4096 /* small messages walk through one */

static json_t *task(const char *name)
{
	return json_pack("{s:s}", "task", name);
}

/* Where things are: here, there, and each end hears of the other's. */
static int exchange_places(struct session *s, struct gdr *g)
{
	json_t *what = task("places"), *result;
	int rc;

	json_object_set_new(what, "places", gdr_places_json(g));
	if (session_task(s, true, what, &result))
		return -1;
	rc = gdr_read_places(g, json_object_get(result, "places"));
	json_decref(result);
	return rc;
}

static int measure_copies(struct session *s, struct gdr *g)
{
	json_t *result;
	int rc;

	if (session_task(s, false, task("copy"), &result))
		return -1;
	json_decref(result);
	if (session_task(s, true, task("copy"), &result))
		return -1;
	rc = gdr_read_side(&g->theirs, json_object_get(result, "side"), g->parts.fault);
	json_decref(result);
	return rc;
}

static unsigned memories(const struct gdr_places *p, bool remote)
{
	unsigned set = 0;

	for (unsigned m = GDR_HOST; m <= GDR_DATA_DIRECT; m++)
		if (remote ? p->memory[m].rkey : p->memory[m].lkey)
			set |= 1u << m;
	return p->memory[GDR_COPIED].addr ? set | 1u << GDR_COPIED : set;
}

/* The ceiling of what R moves: of both ends' PCIe paths, as far as it uses them, and the link's. */
static double ceiling(const struct gdr *g, const struct gdr_cell *c)
{
	const struct gdr_side *source = c->reverse ? &g->theirs : &g->mine;
	const struct gdr_side *sink = c->reverse ? &g->mine : &g->theirs;
	double best = g->parts.my_end->rate_gbps, peer = g->parts.their_end->rate_gbps;
	double read = c->from == GDR_HOST ? 0 : source->path.ceiling_read_gbps;
	double write = c->into == GDR_HOST ? 0 : sink->path.ceiling_write_gbps;

	if (c->method != GDR_DIRECT)
		read = write = 0;
	if (peer > 0 && (best <= 0 || peer < best))
		best = peer;
	if (read > 0 && (best <= 0 || read < best))
		best = read;
	if (write > 0 && (best <= 0 || write < best))
		best = write;
	return best > 0 ? best : 0;
}

static int add_result(struct gdr *g, const struct gdr_cell *c, uint64_t size)
{
	const struct experiment *e = &g->parts.options->experiment;
	struct gdr_result *r = &g->result[g->results++];

	r->cell = *c;
	r->size_bytes = size;
	r->message_bytes = c->method == GDR_DIRECT ? size : e->staged_chunk_bytes;
	r->ceiling_gbps = ceiling(g, c);
	r->gbps = calloc(e->windows, sizeof(*r->gbps));
	return r->gbps ? 0 : fault_raise(g->parts.fault, FAULT_LOCAL, ENOMEM, "windows of a cell");
}

/* Direct cells of every size, staged ones, whose messages are their chunks, of the last one. */
static int make_results(struct gdr *g)
{
	const struct experiment *e = &g->parts.options->experiment;
	uint64_t last = plan_last_size(e, g->parts.hca->info.port_attr.max_msg_sz);
	unsigned has[2] = {memories(&g->here, false), memories(&g->there, true)};
	struct gdr_cell cells[GDR_CELLS_MAX];
	unsigned count = gdr_cells(cells, has), sizes = 0;

	for (uint64_t size = plan_first_size(e); size <= last; size *= 2)
		sizes++;
	g->result = calloc((size_t)count * sizes, sizeof(*g->result));
	for (uint64_t size = plan_first_size(e); g->result && size <= last; size *= 2)
		for (unsigned i = 0; i < count; i++) {
			if (cells[i].method != GDR_DIRECT && size != last)
				continue;
			if (add_result(g, &cells[i], size))
				return -1;
		}
	return g->result ? 0 : fault_raise(g->parts.fault, FAULT_LOCAL, ENOMEM, "cells");
}

static uint64_t window_ns(const struct gdr *g)
{
	const struct experiment *e = &g->parts.options->experiment;

	if (!e->duration_ns && options_given(g->parts.options, "iters"))
		return 0;
	return (e->duration_ns ? e->duration_ns : CELL_NS) / e->windows;
}

/* -n is a number of messages on each QP; a staged cell moves as many bytes on one, in chunks. */
static uint64_t window_messages(const struct gdr *g, const struct gdr_result *r)
{
	const struct experiment *e = &g->parts.options->experiment;
	uint64_t n = e->iters;

	if (r->cell.method != GDR_DIRECT)
		n = n * e->qps * r->size_bytes / r->message_bytes;
	return n ? n : 1;
}

static int one_window(struct session *s, struct gdr *g, struct gdr_result *r, bool warmup)
{
	uint64_t ns = window_ns(g);
	struct session_window w = {
		.way = gdr_cell_way(&r->cell),
		.reverse = r->cell.reverse,
		.warmup = warmup,
		.message_bytes = r->message_bytes,
		.target = ns ? 0 : window_messages(g, r),
		.duration_ns = warmup && ns > WARMUP_NS ? WARMUP_NS : ns,
	};
	struct record rec;
	int rc;

	g->running = r;
	rc = session_window(s, &w, &rec);
	if (rc || warmup || !rec.bandwidth_gbps)
		return rc;
	session_measured(s);
	r->gbps[r->windows++] = rec.bandwidth_gbps;
	r->messages += rec.messages;
	r->seconds += rec.seconds;
	return 0;
}

/* One message fills all of its slice that is ever used. */
static uint64_t verify_bytes(const struct gdr_result *r)
{
	return r->message_bytes > PAGE_BYTES ? r->message_bytes : PAGE_BYTES;
}

/* A task for the data of R at one end. EPOCH is the messages', the next one the poison's. */
static json_t *image_task(const char *name, const struct gdr_result *r, bool sink, unsigned epoch)
{
	json_t *what = task(name);
	bool holds = !sink || strcmp(name, "check") == 0; /* the messages */

	json_object_set_new(what, "memory", json_integer(sink ? r->cell.into : r->cell.from));
	json_object_set_new(what, "epoch", json_integer(epoch));
	json_object_set_new(what, "poison_epoch", json_integer(epoch + sink));
	json_object_set_new(what, "message_bytes",
			    json_integer(holds ? (json_int_t)verify_bytes(r) : 0));
	json_object_set_new(what, "staged", json_boolean(r->cell.method != GDR_DIRECT));
	return what;
}

static int do_image(struct session *s, const struct gdr_result *r, const char *name, bool sink,
		    unsigned epoch, json_t **result)
{
	return session_task(s, sink != r->cell.reverse, image_task(name, r, sink, epoch), result);
}

static int take_check(struct session *s, struct gdr *g, struct gdr_result *r, const json_t *result)
{
	struct fault *f = g->parts.fault;

	if (message_u64(result, "checked_bytes", INT64_MAX, &r->checked_bytes, f) ||
	    message_u64(result, "wrong_bytes", INT64_MAX, &r->wrong_bytes, f) ||
	    message_u64(result, "first_wrong", INT64_MAX, &r->first_wrong, f))
		return -1;
	r->verified = true;
	if (r->wrong_bytes)
		session_measured(s);
	return 0;
}

/* Fill the source, poison the sink, move one message on each QP, compare. Not timed. */
static int verify(struct session *s, struct gdr *g, struct gdr_result *r, unsigned epoch)
{
	struct session_window w = {
		.way = gdr_cell_way(&r->cell),
		.reverse = r->cell.reverse,
		.warmup = true,
		.message_bytes = verify_bytes(r),
		.target = 1,
	};
	struct record rec;
	json_t *result = NULL;
	int rc;

	g->running = r;
	if (do_image(s, r, "fill", false, epoch, &result))
		return -1;
	json_decref(result);
	if (do_image(s, r, "fill", true, epoch, &result))
		return -1;
	json_decref(result);
	if (session_window(s, &w, &rec) || do_image(s, r, "check", true, epoch, &result))
		return -1;
	rc = take_check(s, g, r, result);
	json_decref(result);
	return rc;
}

/* Check and warm up every cell, host memory's too: it is what all others are compared with. */
static int prepare(struct session *s, struct gdr *g)
{
	for (unsigned i = 0; i < g->results && !session_interrupted(s); i++)
		if (verify(s, g, &g->result[i], 2 * i) || one_window(s, g, &g->result[i], true))
			return -1;
	return 0;
}

static int measure(struct session *s, struct gdr *g)
{
	uint64_t windows = g->parts.options->experiment.windows;

	for (uint64_t w = 0; w < windows; w++)
		for (unsigned i = 0; i < g->results; i++) {
			if (session_interrupted(s))
				return 0;
			if (one_window(s, g, &g->result[i], false))
				return -1;
		}
	return 0;
}

static void announce(const struct gdr *g)
{
	uint64_t windows = g->parts.options->experiment.windows, ns = window_ns(g);
	uint64_t warmup = ns < WARMUP_NS ? ns : WARMUP_NS;
	double seconds = (double)((ns * windows + warmup) * g->results) / 1e9;

	if (ns)
		report_note(g->parts.report, "%u cells, %llu windows of %g s each: about %.0f s",
			    g->results, (unsigned long long)windows, (double)ns / 1e9, seconds);
}

int gdr_schedule(struct session *s)
{
	struct session_parts parts = session_parts(s);
	struct gdr *g = parts.own;
	int rc;

	if (parts.options->experiment.plain)
		return session_sizes(s);
	g->parts = parts;
	if (exchange_places(s, g) || measure_copies(s, g) || make_results(g))
		return -1;
	announce(g);
	rc = prepare(s, g) || measure(s, g) ? -1 : 0;
	/* Whatever went wrong: what was measured, and what it means, is shown. */
	gdr_show(g);
	return rc;
}

int gdr_judge(struct session *s)
{
	struct session_parts parts = session_parts(s);
	const struct gdr *g = parts.own;

	if (!g || !fault_is(&g->verdict))
		return 0;
	/* Wrong data are wrong, however short the run. */
	if (session_interrupted(s) && g->verdict.code != FAULT_DATA)
		return 0;
	*parts.fault = g->verdict;
	return -1;
}
