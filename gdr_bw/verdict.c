// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "verdict.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

#define SYNC_COPY_RATIO 0.40 /* copying one chunk at a time through host memory reaches a third */
#define STAGED_BETTER   1.10
#define ROUTE_BETTER    1.05

/* What the verdict V is about: a cell R, its statistics C (NULL: none), the way of its data. */
struct subject {
	const struct verdict_facts *x;
	struct verdict *v;
	const struct gdr_result *r;
	const struct eval_cell *c;
	struct verdict_way way;
};

/* Append (printf) to the verdict's line; or to `next`, as a sentence. */
#define say(s, ...) text_add((s)->v->line, sizeof((s)->v->line), __VA_ARGS__)
#define advise(s, ...)                                                             \
	(text_add((s)->v->next, sizeof((s)->v->next), (s)->v->next[0] ? " " : ""), \
	 text_add((s)->v->next, sizeof((s)->v->next), __VA_ARGS__))

static void set_verdict(const struct subject *s, enum verdict_level level, const char *cause,
			int exit_status)
{
	s->v->level = level;
	s->v->cause = cause;
	s->v->exit_status = exit_status;
	say(s, "%s ", verdict_level_name(level));
}

/* Use it in the same statement. */
struct text {
	char text[160];
};

/* A rate with a digit after the point, or three digits in all. */
static struct text rate(double gbps)
{
	struct text t = {""};

	text_add(t.text, sizeof(t.text), gbps >= 10 ? "%.1f" : "%.3g", gbps);
	return t;
}
#define RATE(gbps) (rate(gbps).text)

static struct text groups(const struct modes *m, const struct eval_range *of)
{
	struct text t = {""};

	text_add(t.text, sizeof(t.text),
		 "windows fall into two groups: %zu of %u at %s Gb/s, the others at %s", m->lows,
		 of->count, RATE(m->low), RATE(m->high));
	return t;
}

static void say_cell(const struct subject *s)
{
	say(s, "%s, %s", gdr_cell_words(&s->r->cell), gdr_cell_direction(&s->r->cell));
}

static void say_interval(const struct subject *s, const struct eval_range *r, double unit,
			 const char *name)
{
	if (isinf(r->high))
		say(s, " (%u window%s: no interval)", r->count, r->count == 1 ? "" : "s");
	else
		say(s, " (%.3g %% interval: %.1f to %.1f %s; %u windows)", s->v->confidence,
		    r->low * unit, r->high * unit, name, r->count);
}

static void say_ratio(const struct subject *s)
{
	say_cell(s);
	say(s, ": %s Gb/s, %.1f %% of host memory's %s Gb/s", RATE(s->c->gpu_gbps),
	    100 * s->c->ratio.mean, RATE(s->c->host.mean));
	say_interval(s, &s->c->ratio, 100, "%");
}

static void say_host(const struct subject *s, const char *how)
{
	const struct gdr_result *host = s->r->host;

	say(s, "host memory%s, %s: %s Gb/s", how, gdr_cell_direction(&host->cell),
	    RATE(s->c->host.mean));
	say_interval(s, &s->c->host, 1, "Gb/s");
	say(s, ", expected: %s (%s)", RATE(host->expected_gbps), host->expected_from);
}

static void wrong_data(const struct subject *s)
{
	set_verdict(s, VERDICT_FAIL, "data", 5);
	say(s, "wrong data: %s %s: %" PRIu64 " of %" PRIu64 " bytes, the first at offset %" PRIu64,
	    gdr_cell_name(&s->r->cell), gdr_cell_direction(&s->r->cell), s->r->wrong_bytes,
	    s->r->checked_bytes, s->r->first_wrong);
	if (gdr_cell_is_direct(&s->r->cell))
		advise(s, "Do not use this route, however fast it is. Compare --gpu-path "
			  "dmabuf, peermem and staged, and check for newer GPU drivers and NIC "
			  "firmware.");
	else
		advise(s, "No NIC accesses GPU memory in this cell: check the NICs, the link "
			  "and host memory.");
}

static void failed_transfer(const struct subject *s)
{
	const struct path *p = &s->way.side->path;
	const char *class = p->virtual_machine ? "virtual machine" : path_class_name(p->class);
	const char *iommu = p->virtual_machine ? "" : p->iommu, *better = s->way.side->better_gpu;

	set_verdict(s, VERDICT_FAIL, "transfer", 1);
	say_cell(s);
	say(s, ": the transfer failed: %s", s->x->wc_status);
	if (s->x->wc_vendor)
		say(s, ", vendor error 0x%x", s->x->wc_vendor);
	advise(s,
	       "The memory was registered, but the NIC could not access it: the path between them "
	       "blocks peer-to-peer traffic (%s%s%s). Try %s%siommu=pt, or ACS off on the bridges "
	       "between them; --gpu-path staged works without peer-to-peer traffic.",
	       class, iommu[0] ? ", IOMMU " : "", iommu, better, better[0] ? ", " : "");
}

/* Say what CLIENT and SERVER report ("": nothing); once if both report the same. */
static void say_ends(const struct subject *s, const char *client, const char *server)
{
	bool same = strcmp(client, server) == 0;

	if (client[0])
		say(s, "%s: %s", same ? "both ends" : "client", client);
	if (server[0] && !same)
		say(s, "%sserver: %s", client[0] ? "; " : "", server);
}

/* The median of the cell by METHOD of host memory alone, or copied, in the verdict's direction. */
static double median_of(const struct subject *s, enum gdr_method method)
{
	bool reverse = s->r && s->r->cell.reverse;
	double median = 0;

	for (unsigned i = 0; i < s->x->attr->results; i++) {
		const struct gdr_result *r = &s->x->attr->result[i];

		if (r->cell.reverse == reverse && r->cell.method == method && r->windows &&
		    !gdr_cell_is_direct(&r->cell))
			median = r->median; /* of the largest size, which is the last one */
	}
	return median;
}

/* No GPU, or no direct route to one: what the ends say of it, and how to get it. */
static void nothing_direct(const struct subject *s, bool gpu)
{
	const struct gdr_side *a = s->x->side[0], *b = s->x->side[1];
	bool supported = (!a->gpu || a->gpudirect) && (!b->gpu || b->gpudirect);
	double host = median_of(s, GDR_DIRECT), staged = median_of(s, GDR_STAGED_PIPE);
	const char *fix = a->fix[0] ? a->fix : b->fix;

	if (gpu) {
		set_verdict(s, VERDICT_FAIL, supported ? "no_route" : "gpu_unsupported", 77);
		say(s, "no GPUDirect RDMA: ");
		say_ends(s, a->gpu && !a->direct ? a->route : "",
			 b->gpu && !b->direct ? b->route : "");
	} else {
		set_verdict(s, VERDICT_NONE, "no_gpu", 77);
		say(s, "no GPU: ");
		say_ends(s, a->absent, b->absent);
	}
	if (fix[0])
		advise(s, "%s.", fix);
	if (gpu && staged > 0)
		advise(s, "Through host memory, --gpu-path staged reaches %s Gb/s.", RATE(staged));
	if (host > 0)
		advise(s, "Host memory reached %s Gb/s.", RATE(host));
	else if (!gpu)
		advise(s, "To measure host memory alone, say for how long (-D 2).");
}

static void slower(const struct subject *s)
{
	struct findings causes = {0};

	verdict_causes(&s->way, s->c->gpu_gbps, &causes);
	s->v->cause = finding_name(causes.list[0].is.code);
	say_ratio(s);
	say(s, ": %s", causes.list[0].text);
	if (s->c->ratio.mean < SYNC_COPY_RATIO)
		say(s, "; no better than a synchronous host copy");
	advise(s, "%s", causes.list[0].next);
	for (unsigned i = 1; i < causes.count; i++)
		advise(s, "Also: %s.", causes.list[i].text);
}

static void host_low(const struct subject *s)
{
	s->v->cause = "host_low";
	say_host(s, " itself is slow");
	say(s, "; GPU memory reaches %.1f %% of it", 100 * s->c->ratio.mean);
	advise(s,
	       "Fix this first, because the GPU is not the cause: compare with write_bw, several "
	       "QPs (-q 4) and larger messages (-s 1m); check both NICs' slots (--list), the MTU, "
	       "the NUMA node and other traffic. If these hosts cannot do better, give the rate "
	       "that they can reach with --expected-gbps.");
}

static void two_groups(const struct subject *s)
{
	s->v->cause = "two_groups";
	say_ratio(s);
	say(s, ": its %s, and host memory's do not", groups(&s->c->gpu_groups, &s->c->ratio).text);
	advise(s, "Something slows it down at times: check for other work on the GPU and "
		  "throttling (nvidia-smi -q -d PERFORMANCE), and measure longer windows "
		  "(-D 30).");
}

/* Names no level: who looks for PASS in the output must not find it here. */
static void open_still(const struct subject *s)
{
	bool host = s->c->why == EVAL_HOST, grouped = s->c->why == EVAL_HOST_GROUPS;

	s->v->cause = grouped ? "host_groups" : "noise";
	if (host || grouped)
		say_host(s, "");
	else
		say_ratio(s);
	if (grouped)
		say(s, ": its %s, so there is no baseline",
		    groups(&s->c->host_groups, &s->c->host).text);
	else if (host)
		say(s, ": too noisy to tell whether that is too low");
	else if (s->c->ratio.high >= 1 - s->x->attr->within)
		say(s, ": too noisy to tell whether that is within %g %%",
		    100 * s->x->attr->within);
	else
		say(s, ": less than %g %%, but too noisy to tell whether it is %g %%",
		    100 * (1 - s->x->attr->within), 100 * EVAL_WARN_RATIO);
	advise(s, "The windows differ too much to tell. Measure longer ones (-D 30), allow more of "
		  "them (--extra-windows 200), or wait until hosts and fabric are quiet.");
}

/* Of the cells that differ from R only in the route to GPU memory, advise the fastest if clearly
 * so. */
static void note_faster_route(const struct subject *s)
{
	static const char *const words[GDR_MEMORIES] = {
		[GDR_DMABUF] = "--gpu-path dmabuf",
		[GDR_PEERMEM] = "--gpu-path peermem",
		[GDR_DATA_DIRECT] = "Data Direct",
	};
	const struct gdr_result *r = s->r, *best = r;

	for (unsigned i = 0; i < s->x->attr->results; i++) {
		const struct gdr_result *o = &s->x->attr->result[i];

		if (o->cell.reverse == r->cell.reverse && o->size_bytes == r->size_bytes &&
		    o->median > best->median && o->median > ROUTE_BETTER * r->median &&
		    strcmp(gdr_cell_name(&o->cell), gdr_cell_name(&r->cell)) == 0)
			best = o;
	}
	if (best != r)
		advise(s, "Another route is faster: %s reaches %s Gb/s.",
		       words[best->cell.from != r->cell.from ? best->cell.from : best->cell.into],
		       RATE(best->median));
}

/* Add the other findings, which the sentence for the deciding one does not contain. */
static void note_others(const struct subject *s)
{
	const struct eval_cell *c = s->c;
	double expected = s->r->host->expected_gbps, staged = median_of(s, GDR_STAGED_PIPE);
	const struct gdr_side *sink = s->x->side[!s->r->cell.reverse];

	if (c->gpu_groups.high > 0 && c->why != EVAL_GROUPS)
		advise(s, "Also: its %s.", groups(&c->gpu_groups, &c->ratio).text);
	if (c->host_groups.high > 0 && c->why != EVAL_HOST_GROUPS)
		advise(s, "The host baseline is not steady: host memory's %s.",
		       groups(&c->host_groups, &c->host).text);
	if (c->host_low && c->why != EVAL_HOST)
		advise(s, "The host baseline is low, too: %s Gb/s, expected: %s.",
		       RATE(c->host.mean), RATE(expected));
	for (size_t i = 0; s->x->events && i < s->x->events->count; i++)
		if (s->x->events->list[i].is.level != FINDING_NOTE)
			advise(s, "Also: %s.", s->x->events->list[i].text);
	note_faster_route(s);
	if (c->best == c->worst && c->best != VERDICT_PASS && c->why == EVAL_RATIO &&
	    staged > STAGED_BETTER * c->gpu_gbps)
		advise(s, "Staging through host memory is faster here: %s Gb/s.", RATE(staged));
	if (s->r->cell.into != GDR_HOST && sink->gpu && sink->ordering >= 0 && sink->ordering < 100)
		advise(s,
		       "The GPU does not order a NIC's writes, so its kernels must flush (%.2f us).",
		       sink->flush_us);
}

static void measured(const struct subject *s)
{
	const struct eval_cell *c = s->c;
	bool decided = c->best == c->worst, given = s->x->within_given;

	if (!decided)
		set_verdict(s, VERDICT_INCONCLUSIVE, "", given ? 77 : 0);
	else
		set_verdict(s, c->best, "none",
			    c->best == VERDICT_FAIL || (given && c->best != VERDICT_PASS) ? 6 : 0);
	if (!decided) {
		open_still(s);
	} else if (c->best == VERDICT_PASS) {
		say(s, "GPUDirect within %g %% of host memory: ", 100 * s->x->attr->within);
		say_ratio(s);
		say(s, s->r->verified ? "" : " (data not verified)");
	} else if (c->why == EVAL_RATIO) {
		slower(s);
	} else if (c->why == EVAL_GROUPS) {
		two_groups(s);
	} else {
		host_low(s);
	}
	note_others(s);
}

/* The cell of the verdict: one with wrong data, or that failed, or that decides E; NULL: none. */
static const struct gdr_result *choose(const struct verdict_facts *x, const struct eval *e)
{
	for (unsigned i = 0; i < x->attr->results; i++)
		if (x->attr->result[i].wrong_bytes)
			return &x->attr->result[i];
	if (x->failed)
		return x->failed;
	return e->deciding ? e->deciding->result : NULL;
}

/* True if every cell has been measured at least once; otherwise the slowest may be missing. */
static bool all_measured(const struct eval_attr *a)
{
	for (unsigned i = 0; i < a->results; i++)
		if (!a->result[i].windows)
			return false;
	return true;
}

void verdict_reach(const struct verdict_facts *x, struct verdict *v)
{
	const struct gdr_side *one = x->side[0], *other = x->side[1];
	struct subject s = {.x = x, .v = v};
	struct eval e;

	eval_results(&e, x->attr);
	memset(v, 0, sizeof(*v));
	s.r = choose(x, &e);
	s.c = e.deciding;
	v->ratio.high = INFINITY;
	v->confidence = e.confidence;
	v->expected_gbps = verdict_expect(x, s.r ? &s.r->cell : NULL, &v->expected_from);
	s.way = verdict_way(s.r ? &s.r->cell : NULL, x->side);
	if (s.r && s.r->wrong_bytes) {
		wrong_data(&s);
	} else if (x->failed) {
		failed_transfer(&s);
	} else if (!one->gpu && !other->gpu) {
		nothing_direct(&s, false);
	} else if ((one->gpu && !one->direct) || (other->gpu && !other->direct)) {
		nothing_direct(&s, true);
	} else if (!s.c || !(s.c->ratio.mean > 0) || !all_measured(x->attr)) {
		set_verdict(&s, VERDICT_NONE, "not_measured", 77);
		say(&s, "no verdict: %s",
		    all_measured(x->attr) ? "GPU memory was not measured"
					  : "the run did not finish");
	} else {
		v->ratio = s.c->ratio;
		measured(&s);
	}
	/* Part of the text comes from the peer: remove control characters. */
	text_disarm(v->line);
	text_disarm(v->next);
}

const char *verdict_level_name(enum verdict_level level)
{
	static const char *const names[] = {"PASS", "WARN", "FAIL", "INCONCLUSIVE", "UNAVAILABLE"};

	return names[(unsigned)level <= VERDICT_NONE ? level : VERDICT_NONE];
}
