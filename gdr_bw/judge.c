// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "judge.h"

#include "base/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Texts that the facts point to. */
struct texts {
	char absent[1100], wrong[160], status[64], flush[160];
};

static double ratio(const struct gdr *g, const struct gdr_result *r)
{
	const struct gdr_result *host = gdr_result_host(g->result, g->results, r);

	return host && host->median > 0 ? r->median / host->median : 0;
}

static bool same_but_route(const struct gdr_result *a, const struct gdr_result *b)
{
	return a->cell.reverse == b->cell.reverse && a->size_bytes == b->size_bytes &&
	       strcmp(gdr_cell_name(&a->cell), gdr_cell_name(&b->cell)) == 0;
}

/* Another route does the same faster: this one need not be judged. */
static bool outdone(const struct gdr *g, const struct gdr_result *r)
{
	for (unsigned i = 0; i < g->results; i++)
		if (same_but_route(&g->result[i], r) && g->result[i].median > r->median)
			return true;
	return false;
}

/* A sweep is judged by its largest size. */
static uint64_t judged_size(const struct gdr *g)
{
	uint64_t size = 0;

	for (unsigned i = 0; i < g->results; i++)
		if (g->result[i].size_bytes > size)
			size = g->result[i].size_bytes;
	return size;
}

/* Wrong data first; then the direct cell that is worst beside host memory; else NULL. */
static const struct gdr_result *choose(const struct gdr *g)
{
	uint64_t size = judged_size(g);
	const struct gdr_result *worst = NULL;

	for (unsigned i = 0; i < g->results; i++)
		if (g->result[i].wrong_bytes)
			return &g->result[i];
	for (unsigned i = 0; i < g->results; i++) {
		const struct gdr_result *r = &g->result[i];

		if (!gdr_cell_is_direct(&r->cell) || !r->windows || r->size_bytes != size ||
		    outdone(g, r))
			continue;
		if (!worst || ratio(g, r) < ratio(g, worst))
			worst = r;
	}
	return worst;
}

static double least(double a, double b)
{
	return a > 0 && (b <= 0 || a < b) ? a : b;
}

/* What is unknown is nothing to blame. */
static int further(enum path_class c)
{
	return c == PATH_UNKNOWN ? -1 : (int)c;
}

/* The end whose GPU the cell uses; if both do, the one that is further from its NIC. */
static void take_path(const struct gdr *g, const struct gdr_cell *c, struct verdict_facts *f)
{
	const struct gdr_side *source = c->reverse ? &g->theirs : &g->mine;
	const struct gdr_side *sink = c->reverse ? &g->mine : &g->theirs;
	const struct gdr_side *side = c->from == GDR_HOST ? sink : source;
	const struct gdr_side *other = side == sink ? source : sink;

	if (c->from != GDR_HOST && c->into != GDR_HOST) {
		if (further(sink->path.class) > further(source->path.class)) {
			side = sink;
			other = source;
		}
		f->peer_ceiling_gbps =
			least(other->path.ceiling_read_gbps, other->path.ceiling_write_gbps);
	}
	f->path = side->path;
	f->better_gpu = side->better_gpu[0] ? side->better_gpu : NULL;
	f->relaxed_ordering =
		(c->from == GDR_HOST || source->relaxed) && (c->into == GDR_HOST || sink->relaxed);
}

static void take_kind(const struct gdr_cell *c, struct verdict_facts *f)
{
	f->host_only = !gdr_cell_is_direct(c);
	f->cell = c->from == GDR_HOST   ? VERDICT_WRITE
		  : c->into == GDR_HOST ? VERDICT_READ
					: VERDICT_GDR;
}

static void take_cell(const struct gdr *g, const struct gdr_result *r, struct verdict_facts *f,
		      struct texts *t)
{
	const struct gdr_result *host = gdr_result_host(g->result, g->results, r);
	const struct gdr_side *sink = r->cell.reverse ? &g->mine : &g->theirs;

	take_kind(&r->cell, f);
	f->direction = gdr_cell_direction(&r->cell);
	f->gbps = r->median;
	f->host_gbps = host ? host->median : 0;
	f->verified = r->verified;
	if (r->wrong_bytes) {
		snprintf(t->wrong, sizeof(t->wrong),
			 "%s %s: %" PRIu64 " of %" PRIu64 " bytes, the first at offset %" PRIu64,
			 gdr_cell_name(&r->cell), f->direction, r->wrong_bytes, r->checked_bytes,
			 r->first_wrong);
		f->wrong_data = t->wrong;
	}
	if (r->cell.into != GDR_HOST && sink->gpu && sink->ordering >= 0 && sink->ordering < 100) {
		snprintf(
			t->flush, sizeof(t->flush),
			"The GPU does not order a NIC's writes, so its kernels must flush (%.2f us)",
			sink->flush_us);
		f->flush_note = t->flush;
	}
	take_path(g, &r->cell, f);
	for (unsigned i = 0; i < g->results; i++)
		if (g->result[i].cell.method == GDR_STAGED_PIPE &&
		    g->result[i].cell.reverse == r->cell.reverse)
			f->staged_gbps = g->result[i].median;
}

/* A failed completion, here or at the peer, is a finding; its one text carries status and code. */
static void take_failure(const struct gdr *g, struct verdict_facts *f, struct texts *t)
{
	const char *quote = strchr(g->parts.fault->call, '"');

	if (!quote || !strstr(g->parts.fault->call, "completed with") || !g->running ||
	    !gdr_cell_is_direct(&g->running->cell))
		return; /* whatever failed, it was not the way to GPU memory */
	if (sscanf(quote, "\"%63[^\"]\" (status %*d, vendor error 0x%x)", t->status,
		   &f->wc_vendor) < 1)
		return;
	f->wc_status = t->status;
	take_path(g, &g->running->cell, f);
	take_kind(&g->running->cell, f);
	f->direction = gdr_cell_direction(&g->running->cell);
}

/* What is so at the client and at the server; NULL: nothing is. Once, if it is the same. */
static const char *both(char *buf, size_t size, const char *client, const char *server)
{
	if (client && server && strcmp(client, server) == 0)
		snprintf(buf, size, "both ends: %s", client);
	else
		snprintf(buf, size, "%s%s%s%s%s", client ? "client: " : "", client ? client : "",
			 client && server ? "; " : "", server ? "server: " : "",
			 server ? server : "");
	return buf;
}

static bool lacks_route(const struct gdr_side *side)
{
	return side->gpu && !side->direct;
}

static void take_absence(const struct gdr *g, struct verdict_facts *f, struct texts *t)
{
	const struct gdr_side *mine = &g->mine, *theirs = &g->theirs;

	f->gpudirect = (!mine->gpu || mine->gpudirect) && (!theirs->gpu || theirs->gpudirect);
	if (!mine->gpu && !theirs->gpu)
		f->no_gpu = both(t->absent, sizeof(t->absent), mine->absent, theirs->absent);
	else if (lacks_route(mine) || lacks_route(theirs))
		f->no_route =
			both(t->absent, sizeof(t->absent), lacks_route(mine) ? mine->route : NULL,
			     lacks_route(theirs) ? theirs->route : NULL);
}

/* With no GPU cell to judge, what else there is in the client's direction. */
static void take_others(const struct gdr *g, struct verdict_facts *f)
{
	for (unsigned i = 0; i < g->results; i++) {
		const struct gdr_result *r = &g->result[i];

		if (r->cell.reverse || !r->windows)
			continue;
		if (r->cell.method == GDR_STAGED_PIPE)
			f->staged_gbps = r->median;
		else if (r->cell.method == GDR_DIRECT && !gdr_cell_is_direct(&r->cell))
			f->host_gbps = r->median;
	}
}

/* How to get what is missing, as the end that misses it says. */
static void add_fix(const struct gdr *g, const struct verdict_facts *f, struct verdict *v)
{
	const char *fix = g->mine.fix[0] ? g->mine.fix : g->theirs.fix;

	if ((f->no_gpu || f->no_route) && v->exit_status == FAULT_UNAVAILABLE && fix[0])
		text_add(v->next, sizeof(v->next), "%s%s.", v->next[0] ? " To have it: " : "", fix);
}

/* Every cell has been measured at least once. */
static bool finished(const struct gdr *g)
{
	for (unsigned i = 0; i < g->results; i++)
		if (!g->result[i].windows)
			return false;
	return true;
}

static void raise_verdict(struct gdr *g, const struct verdict *v)
{
	fault_phase(&g->verdict, "judging the result");
	if (v->exit_status == 0)
		return;
	fault_raise(&g->verdict, (enum fault_code)v->exit_status, 0, "the verdict is %s",
		    verdict_level_name(v->level));
	if (v->next[0])
		fault_fix(&g->verdict, "%s", v->next);
}

void gdr_reach_verdict(struct gdr *g, struct verdict *v)
{
	const struct output_options *o = &g->parts.options->output;
	const struct gdr_result *r = choose(g);
	struct texts t = {0};
	struct verdict_facts f = {
		.unfinished = !finished(g),
		.within = (double)o->within_percent / 100,
		.within_given = options_given(g->parts.options, "within"),
		.line_gbps = least(g->parts.my_end->rate_gbps, g->parts.their_end->rate_gbps),
	};

	take_absence(g, &f, &t);
	if (r)
		take_cell(g, r, &f, &t);
	else
		take_others(g, &f);
	if (fault_is(g->parts.fault))
		take_failure(g, &f, &t);
	verdict_reach(&f, v);
	add_fix(g, &f, v);
	raise_verdict(g, v);
}
