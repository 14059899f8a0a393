// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The timed windows of gdr_bw. In a turn every cell is measured for one window, so that a
 * disturbance affects all cells, and each GPU window has one of host memory close in time. If the
 * verdict is still open after the planned turns, more follow: only of the cells that keep it open,
 * and of the host cells with which these are compared.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/units.h"
#include "gdr.h"

#define CELL_NS   UINT64_C(7000000000) /* all windows of a cell, if neither -n nor -D is given */
#define WARMUP_NS UINT64_C(500000000)

static uint64_t window_ns(const struct gdr *g)
{
	const struct experiment *e = &g->ms->options->experiment;

	if (!e->duration_ns && options_given(g->ms->options, "iters"))
		return 0;
	return (e->duration_ns ? e->duration_ns : CELL_NS) / e->windows;
}

/* Messages of R in a window with -n, which counts those of each QP; a staged cell has one. */
static uint64_t window_messages(const struct gdr *g, const struct gdr_result *r)
{
	const struct experiment *e = &g->ms->options->experiment;
	uint64_t chunks = e->iters * e->qps * e->size_bytes / STAGED_CHUNK_BYTES;

	return !r->cell.staged ? e->iters : chunks ? chunks : 1;
}

static int run_window(struct gdr *g, struct gdr_result *r, bool warmup, struct record *rec)
{
	uint64_t ns = window_ns(g);
	struct round_attr attr = {
		.kind = gdr_cell_kind(&r->cell),
		.reverse = r->cell.reverse,
		.warmup = warmup,
		.message_bytes = r->message_bytes,
		.target = ns ? 0 : window_messages(g, r),
		.duration_ns = warmup && ns > WARMUP_NS ? WARMUP_NS : ns,
	};

	g->running = r;
	return measure_window(g->ms, &attr, rec);
}

int gdr_warm_up(struct gdr *g)
{
	struct record rec;

	for (unsigned i = 0; i < g->results && !g->ms->link->interrupted; i++)
		if (gdr_verify(g, &g->result[i]) || run_window(g, &g->result[i], true, &rec))
			return -1;
	return 0;
}

static int measure_one_window(struct gdr *g, struct gdr_result *r, unsigned turn)
{
	struct record rec;
	int rc = run_window(g, r, false, &rec);

	if (rc || !(rec.bandwidth_gbps > 0))
		return rc;
	r->gbps[turn] = rec.bandwidth_gbps;
	r->windows++;
	r->messages += rec.messages;
	r->seconds += rec.seconds;
	return 0;
}

/* Windows of a cell at most: those of the last look. */
static unsigned most_windows(const struct gdr *g)
{
	return g->attr.first << (RATIO_LOOKS - 1);
}

/* Tell the user what will be measured and how long it takes. */
static void announce_turns(const struct gdr *g)
{
	unsigned first = g->attr.first, more = most_windows(g) - first, judged = 0;
	double s = (double)window_ns(g) / 1e9, warmup_s = fmin(s, WARMUP_NS / 1e9);

	for (unsigned i = 0; i < g->results; i++)
		judged += gdr_cell_is_direct(&g->result[i].cell);
	if (!g->mine.gpu && !g->theirs.gpu)
		report_note(g->ms->report, "no GPU: only host memory is measured");
	if (s > 0)
		report_note(g->ms->report, "%u cells, %u windows of %s each: about %.0f s",
			    g->results, first, units_about_ns(s * 1e9).text,
			    (s * first + warmup_s) * g->results);
	if (s > 0 && judged)
		report_note(g->ms->report,
			    "up to %u more windows of the cells that decide the verdict: %.0f s at "
			    "most",
			    more, more * (judged + 2) * s);
}

int gdr_turns_init(struct gdr *g)
{
	struct ratio_attr *a = &g->attr;
	size_t most;

	a->result = g->result;
	a->results = g->results;
	a->within = (double)g->ms->options->output.within_percent / 100;
	a->first = (unsigned)g->ms->options->experiment.windows;
	most = most_windows(g);
	a->scratch = calloc(most * (2 + 2 * g->results), sizeof(*a->scratch));
	if (!a->scratch)
		return fault_raise(g->ms->fault, FAULT_LOCAL, ENOMEM,
				   "allocating windows of all cells");
	for (unsigned i = 0; i < g->results; i++)
		g->result[i].gbps = a->scratch + most * (2 + g->results + i);
	announce_turns(g);
	return 0;
}

/* Run turns until there are LAST: of all cells (ALL NULL), or of those that are open. */
static int run_turns_until(struct gdr *g, const struct ratios *all, unsigned last)
{
	struct gdr_result *cell[GDR_CELLS_MAX];
	unsigned order[GDR_CELLS_MAX], count = 0;

	for (unsigned i = 0; i < g->results; i++)
		if (!all || ratio_is_open(all, &g->result[i]))
			cell[count++] = &g->result[i];
	while (g->turns < last && !g->ms->link->interrupted) {
		unsigned turn = g->turns++;

		for (unsigned i = 0; i < g->results; i++)
			g->result[i].turns = g->turns;
		gdr_turn_order(order, count, turn);
		for (unsigned i = 0; i < count && !g->ms->link->interrupted; i++)
			if (measure_one_window(g, cell[order[i]], turn))
				return -1;
	}
	return 0;
}

/* Tell the user that the verdict is still open, by which cell, and how many windows follow. */
static void note_open_verdict(const struct gdr *g, const struct ratios *all, unsigned next)
{
	const struct ratio *c = all->deciding;
	char interval[48];
	unsigned cells = 0;

	for (unsigned i = 0; i < all->cells; i++)
		if (ratio_is_open(all, all->cell[i].result) && !ratio_is_open(all, c->result))
			c = &all->cell[i]; /* what decides so far is clear */
	for (unsigned i = 0; i < g->results; i++)
		cells += ratio_is_open(all, &g->result[i]);
	if (isinf(c->of_host.high))
		snprintf(interval, sizeof(interval), "no interval");
	else
		snprintf(interval, sizeof(interval), "%.1f to %.1f %%", 100 * c->of_host.low,
			 100 * c->of_host.high);
	report_note(g->ms->report,
		    "undecided after %u window%s: %s %s is %.1f %% of host memory (%s); %u more "
		    "windows of %u cells",
		    g->turns, g->turns == 1 ? "" : "s", gdr_cell_name(&c->result->cell),
		    gdr_cell_direction(&c->result->cell), 100 * c->of_host.mean, interval,
		    next - g->turns, cells);
}

int gdr_turns(struct gdr *g)
{
	unsigned next = g->attr.first;
	struct ratios all;

	if (run_turns_until(g, NULL, next))
		return -1;
	while (!g->ms->link->interrupted) {
		ratio_evaluate(&all, &g->attr);
		next = ratio_next_look(&g->attr, g->turns);
		if (!next || !ratio_is_open(&all, NULL))
			break;
		note_open_verdict(g, &all, next);
		if (run_turns_until(g, &all, next))
			return -1;
	}
	return 0;
}
