// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Collects the facts for the verdict from the results of all cells. (A cell is one test case: a
 * direction, the memory at each end, and how the data are moved; see cell.h.)
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "gdr.h"

/* Texts that the facts point to. */
struct texts {
	char absent[1100], wrong[160], flush[160];
};

#define EXPECT_BYTES 16384 /* smaller messages may be limited by their number, not by their bytes \
			    */
#define ROUTE_BETTER 1.05

static const struct gdr_result *first_wrong_cell(const struct gdr *g)
{
	for (unsigned i = 0; i < g->results; i++)
		if (g->result[i].wrong_bytes)
			return &g->result[i];
	return NULL;
}

/* An unknown path counts as the nearest, so that it is never chosen over a known one. */
static int path_distance(enum path_class c)
{
	return c == PATH_UNKNOWN ? -1 : (int)c;
}

/*
 * Fill f->route from the end whose GPU this cell uses; if both ends use one, from the end whose GPU
 * is farther from its NIC.
 */
static void set_route_facts(const struct gdr *g, struct verdict_facts *f)
{
	const struct gdr_cell *c = f->cell;
	const struct gdr_side *source = c->reverse ? &g->theirs : &g->mine;
	const struct gdr_side *sink = c->reverse ? &g->mine : &g->theirs;
	const struct gdr_side *side = c->from == GDR_HOST ? sink : source;
	const struct gdr_side *other = side == sink ? source : sink;

	if (c->from != GDR_HOST && c->into != GDR_HOST) {
		if (path_distance(sink->path.class) > path_distance(source->path.class)) {
			side = sink;
			other = source;
		}
		f->route.peer_ceiling_gbps =
			gdr_least(other->path.ceiling_read_gbps, other->path.ceiling_write_gbps);
	}
	f->route.path = side->path;
	f->route.better_gpu = side->better_gpu[0] ? side->better_gpu : NULL;
	f->route.relaxed_ordering = (c->from == GDR_HOST || source->relaxed_ordering) &&
				    (c->into == GDR_HOST || sink->relaxed_ordering);
}

/* The facts that are the same for all cells. */
static struct verdict_facts common_facts(const struct gdr *g)
{
	const struct output_options *o = &g->run.options->output;

	return (struct verdict_facts){
		.within = (double)o->within_percent / 100,
		.within_given = options_given(g->run.options, "within"),
		.line_gbps =
			gdr_least(g->run.my_end->nic.rate_gbps, g->run.their_end->nic.rate_gbps),
		.given = options_given(g->run.options, "expected-gbps"),
		.given_gbps = (double)o->expected_gbps,
	};
}

/* For host memory the NICs' PCIe links set the ceiling: the only known links on the data's path. */
static void set_host_ceiling(const struct gdr *g, struct verdict_facts *f)
{
	const struct path *mine = &g->mine.path, *theirs = &g->theirs.path;

	f->route.path.ceiling_write_gbps =
		gdr_least(pci_link_gbps(&mine->nic, mine->payload_bytes, false),
			  pci_link_gbps(&theirs->nic, theirs->payload_bytes, false));
	f->route.path.ceiling_read_gbps = f->route.path.ceiling_write_gbps;
}

/* The lowest of the line rate and of the GPUs' PCIe ceilings on the path of C's data; in Gb/s. */
static double cell_ceiling(const struct gdr *g, const struct gdr_cell *c, double line_gbps)
{
	const struct gdr_side *source = c->reverse ? &g->theirs : &g->mine;
	const struct gdr_side *sink = c->reverse ? &g->mine : &g->theirs;
	bool direct = c->method == GDR_DIRECT;
	double read = direct && c->from != GDR_HOST ? source->path.ceiling_read_gbps : 0;
	double write = direct && c->into != GDR_HOST ? sink->path.ceiling_write_gbps : 0;

	return gdr_least(line_gbps, gdr_least(read, write));
}

void gdr_expect(struct gdr *g)
{
	for (unsigned i = 0; i < g->results; i++) {
		struct gdr_result *r = &g->result[i];
		struct verdict_facts f = common_facts(g);

		r->ceiling_gbps = cell_ceiling(g, &r->cell, f.line_gbps);
		f.cell = &r->cell;
		if (gdr_cell_is_direct(&r->cell))
			set_route_facts(g, &f);
		else
			set_host_ceiling(g, &f);
		r->expected_gbps = verdict_expect(&f, &r->expected_from);
		if (r->message_bytes < EXPECT_BYTES && !f.given)
			r->expected_gbps = 0;
	}
}

/*
 * Of the cells that differ from R only in how GPU memory is registered, find the fastest that is
 * clearly faster, and name the registration that differs.
 */
static void find_faster_route(const struct gdr *g, const struct gdr_result *r,
			     struct verdict_facts *f)
{
	static const char *const words[GDR_MEMORIES] = {
		[GDR_DMABUF] = "--gpu-path dmabuf",
		[GDR_PEERMEM] = "--gpu-path peermem",
		[GDR_DATA_DIRECT] = "Data Direct",
	};

	for (unsigned i = 0; i < g->results; i++) {
		const struct gdr_result *x = &g->result[i];

		if (x == r || x->cell.reverse != r->cell.reverse ||
		    x->size_bytes != r->size_bytes ||
		    strcmp(gdr_cell_name(&x->cell), gdr_cell_name(&r->cell)) != 0 ||
		    !(x->median > ROUTE_BETTER * r->median && x->median > f->other_gbps))
			continue;
		f->other_gbps = x->median;
		f->other_route = words[x->cell.from != r->cell.from ? x->cell.from : x->cell.into];
	}
}

/* The facts of cell R, which the verdict is about; texts that they point to are made in T. */
static void set_cell_facts(const struct gdr *g, const struct gdr_result *r, struct verdict_facts *f,
		      struct texts *t)
{
	const struct gdr_side *sink = r->cell.reverse ? &g->mine : &g->theirs;

	f->cell = &r->cell;
	f->verified = r->verified;
	find_faster_route(g, r, f);
	set_route_facts(g, f);
	if (r->wrong_bytes) {
		snprintf(t->wrong, sizeof(t->wrong),
			 "%s %s: %" PRIu64 " of %" PRIu64 " bytes, the first at offset %" PRIu64,
			 gdr_cell_name(f->cell), gdr_cell_direction(f->cell), r->wrong_bytes,
			 r->checked_bytes, r->first_wrong);
		f->wrong_data = t->wrong;
	}
	if (r->cell.into != GDR_HOST && sink->gpu && sink->ordering >= 0 && sink->ordering < 100) {
		snprintf(
			t->flush, sizeof(t->flush),
			"The GPU does not order a NIC's writes, so its kernels must flush (%.2f us)",
			sink->flush_us);
		f->route.flush_note = t->flush;
	}
}

/* If a direct transfer failed with a bad completion, here or at the peer, the verdict is that. */
static void set_failure_facts(const struct gdr *g, struct verdict_facts *f)
{
	const struct fault *problem = g->run.fault;

	if (!problem->completion[0] || !g->running || !gdr_cell_is_direct(&g->running->cell))
		return; /* the failure was not one of access to GPU memory */
	f->wc_status = problem->completion;
	f->wc_vendor = problem->vendor_error;
	f->cell = &g->running->cell;
	set_route_facts(g, f);
}

/* Join what CLIENT and SERVER report (NULL: nothing) into BUF; once if both report the same. */
static const char *both_ends(char *buf, size_t size, const char *client, const char *server)
{
	if (client && server && strcmp(client, server) == 0)
		snprintf(buf, size, "both ends: %s", client);
	else
		snprintf(buf, size, "%s%s%s%s%s", client ? "client: " : "", client ? client : "",
			 client && server ? "; " : "", server ? "server: " : "",
			 server ? server : "");
	return buf;
}

static const char *lacks_route(const struct gdr_side *side)
{
	return side->gpu && !side->direct ? side->route : NULL;
}

const char *gdr_no_gpu(const struct gdr *g, char *buf, size_t size)
{
	if (g->mine.gpu || g->theirs.gpu)
		return NULL;
	return both_ends(buf, size, g->mine.absent, g->theirs.absent);
}

static void set_absence_facts(const struct gdr *g, struct verdict_facts *f, struct texts *t)
{
	const struct gdr_side *mine = &g->mine, *theirs = &g->theirs;
	const char *here = lacks_route(mine), *there = lacks_route(theirs);

	f->gpudirect = (!mine->gpu || mine->gpudirect) && (!theirs->gpu || theirs->gpudirect);
	f->no_gpu = gdr_no_gpu(g, t->absent, sizeof(t->absent));
	if (!f->no_gpu && (here || there))
		f->no_route = both_ends(t->absent, sizeof(t->absent), here, there);
}

/* The rates of host memory and of staging in the cell's direction; without a cell, the client's. */
static void set_comparison_rates(const struct gdr *g, struct verdict_facts *f)
{
	bool reverse = f->cell && f->cell->reverse;

	for (unsigned i = 0; i < g->results; i++) {
		const struct gdr_result *r = &g->result[i];

		if (r->cell.reverse != reverse || !r->windows)
			continue;
		if (r->cell.method == GDR_STAGED_PIPE)
			f->staged_gbps = r->median;
		else if (r == r->host)
			f->host_gbps = r->median;
	}
}

/* How to get the missing GPU or route, as the end without it reported; "" if nothing is missing. */
static const char *missing_fix(const struct gdr *g)
{
	return g->mine.fix[0] ? g->mine.fix : g->theirs.fix;
}

/* If no GPU or no route was found, put the fix of the end that lacks it before the other advice. */
static void add_fix(const struct gdr *g, const struct verdict_facts *f, struct verdict *v)
{
	char also[sizeof(v->next)];

	if ((!f->no_gpu && !f->no_route) || v->exit_status != FAULT_UNAVAILABLE ||
	    !missing_fix(g)[0])
		return;
	memcpy(also, v->next, sizeof(also));
	v->next[0] = '\0';
	text_add(v->next, sizeof(v->next), "%s.%s%s", missing_fix(g), also[0] ? " " : "", also);
}

/* True if every cell has been measured at least once. */
static bool cells_finished(const struct gdr *g)
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
	const struct gdr_result *r = first_wrong_cell(g);
	struct verdict_facts f = common_facts(g);
	struct texts t = {0};
	struct eval e;

	f.unfinished = !cells_finished(g);
	set_absence_facts(g, &f, &t);
	eval_results(&e, &g->attr);
	if (!r && e.deciding) {
		f.stats = e.deciding;
		r = e.deciding->result;
	}
	if (r)
		set_cell_facts(g, r, &f, &t);
	set_comparison_rates(g, &f);
	gdr_explain(g);
	f.events = &g->events;
	if (f.stats) {
		f.gbps = e.deciding->gpu.gbps.mean;
		f.host_gbps = e.deciding->host.gbps.mean;
	}
	if (fault_is(g->run.fault))
		set_failure_facts(g, &f);
	verdict_reach(&f, v);
	add_fix(g, &f, v);
	g->undecided = v->level == VERDICT_NONE && !f.no_gpu;
	raise_verdict(g, v);
}
