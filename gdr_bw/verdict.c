// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "verdict.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

#define STAGED_BETTER 1.10
#define ROUTE_BETTER  1.05

/* What holds, and the verdict of the first rule that needs no more than that. */
enum {
	DATA_WRONG = 1,
	TRANSFER_FAILED = 2,
	NO_GPU = 4,
	NO_SUPPORT = 8,
	NO_ROUTE = 16,
	UNMEASURED = 32, /* a cell, or all of a GPU's */
	UNDECIDED = 64,  /* PASS is possible, and not certain */
	SHARED = 128,    /* each GPU has the host's memory */
	BY_HOST = 256,   /* host memory decides */
	FELL = 512,
};
#define AT(level) (1024u << (level)) /* the best level that is possible */

static const struct rule {
	unsigned when;
	enum finding_code code;
	enum verdict_level level;
	int exit_status, exit_if_given; /* with --within */
} rules[] = {
	{DATA_WRONG, VERDICT_OF_DATA, VERDICT_FAIL, 5, 5},
	{TRANSFER_FAILED, VERDICT_OF_TRANSFER, VERDICT_FAIL, 1, 1},
	{NO_GPU, VERDICT_WITHOUT_GPU, VERDICT_NONE, 77, 77},
	{SHARED, VERDICT_SHARED, VERDICT_NONE, 0, 77},
	{NO_ROUTE | NO_SUPPORT, VERDICT_UNSUPPORTED, VERDICT_FAIL, 77, 77},
	{NO_ROUTE, VERDICT_WITHOUT_ROUTE, VERDICT_FAIL, 77, 77},
	{UNMEASURED, VERDICT_NOT_MEASURED, VERDICT_NONE, 77, 77},
	{UNDECIDED, VERDICT_NOISE, VERDICT_INCONCLUSIVE, 0, 77},
	{AT(VERDICT_PASS), VERDICT_AS_FAST, VERDICT_PASS, 0, 0},
	{AT(VERDICT_FAIL), VERDICT_SLOWER, VERDICT_FAIL, 6, 6},
	{BY_HOST, VERDICT_HOST_LOW, VERDICT_WARN, 0, 6},
	{FELL, VERDICT_FELL, VERDICT_WARN, 0, 6},
	{0, VERDICT_SLOWER, VERDICT_WARN, 0, 6},
};

/* What the verdict is about: a cell R, its statistics C (NULL: none), the way of its data. */
struct subject {
	const struct verdict_facts *x;
	const struct gdr_result *r;
	const struct ratio *c;
	double confidence;
	struct verdict_way way;
	struct finding_facts facts; /* the values that the verdict's words may have */
	unsigned values;
	char text[8192]; /* theirs */
	size_t used;
};

/* In the catalogue's words {NAME} stands for this text (printf). */
__attribute__((format(printf, 3, 4))) static void put(struct subject *s, const char *name,
						      const char *format, ...)
{
	char *at = s->text + s->used;
	size_t room = sizeof(s->text) - s->used;
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(at, room, format, args);
	va_end(args);
	if (s->values == FINDING_VALUES || n < 0 || (size_t)n >= room)
		return;
	s->facts.value[s->values++] = (struct finding_value)FINDING_WORD(name, at);
	s->used += (size_t)n + 1;
}

/* Use it in the same statement. */
struct text {
	char text[512];
};

/* A rate with a digit after the point, or three digits in all. */
static struct text rate(double gbps)
{
	struct text t = {""};

	text_add(t.text, sizeof(t.text), gbps >= 10 ? "%.1f" : "%.3g", gbps);
	return t;
}
#define RATE(gbps) (rate(gbps).text)

static struct text interval(const struct subject *s, const struct range *r, double unit,
			    const char *name)
{
	struct text t = {""};

	if (isinf(r->high))
		text_add(t.text, sizeof(t.text), "%u window%s: no interval", r->count,
			 r->count == 1 ? "" : "s");
	else
		text_add(t.text, sizeof(t.text), "%.3g %% interval: %.1f to %.1f %s; %u windows",
			 s->confidence, r->low * unit, r->high * unit, name, r->count);
	return t;
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

/* A cell with wrong data, or whose transfer failed. */
static void put_cell(struct subject *s)
{
	const struct gdr_side *side = s->way.side;
	const struct gdr_result *r = s->r;

	put(s, "name", "%s %s", gdr_cell_name(&r->cell), gdr_cell_direction(&r->cell));
	put(s, "cell", "%s, %s", gdr_cell_words(&r->cell), gdr_cell_direction(&r->cell));
	put(s, "wrong", "%" PRIu64, r->wrong_bytes);
	put(s, "bytes", "%" PRIu64, r->checked_bytes);
	put(s, "offset", "%" PRIu64, r->first_wrong);
	put(s, gdr_cell_is_direct(&r->cell) ? "direct" : "host", "%s", "");
	if (s->x->wc_status)
		put(s, "status", "%s", s->x->wc_status);
	if (s->x->wc_vendor)
		put(s, "vendor", "0x%x", s->x->wc_vendor);
	if (!side)
		return;
	put(s, "class", "%s",
	    side->path.virtual_machine ? "virtual machine" : path_class_name(side->path.class));
	if (side->path.iommu[0] && !side->path.virtual_machine)
		put(s, "iommu", "%s", side->path.iommu);
	if (side->better_gpu[0])
		put(s, "better", "%s", side->better_gpu);
}

/* No GPU, or no direct route to one: what the ends say of it, and how to get it. */
static void put_ends(struct subject *s, bool gpu)
{
	const struct gdr_side *const *side = s->x->side;
	const char *says[2];
	double host = median_of(s, GDR_DIRECT), staged = median_of(s, GDR_STAGED);

	for (int i = 0; i < 2; i++)
		says[i] = !gpu                               ? side[i]->absent
			  : side[i]->gpu && !side[i]->direct ? side[i]->route
							     : "";
	if (strcmp(says[0], says[1]) == 0)
		put(s, "both", "%s", says[0]);
	else
		for (int i = 0; i < 2; i++)
			if (says[i][0])
				put(s, i ? "server" : "client", "%s", says[i]);
	if (s->values == 2)
		put(s, "and", "%s", "");
	if (side[0]->fix[0] || side[1]->fix[0])
		put(s, "fix", "%s", side[0]->fix[0] ? side[0]->fix : side[1]->fix);
	if (gpu && staged > 0)
		put(s, "staged", "%s", RATE(staged));
	if (host > 0)
		put(s, "host", "%s", RATE(host));
	else if (!gpu)
		put(s, "unasked", "%s", "");
}

/* Of the cells that differ from R only in the route to GPU memory, the fastest if clearly so. */
static void put_faster_route(struct subject *s)
{
	static const char *const words[GDR_MEMORIES] = {
		[GDR_DMABUF] = "--gpu-path dmabuf",
		[GDR_PEERMEM] = "--gpu-path peermem",
		[GDR_DATA_DIRECT] = "--gpu-path data_direct",
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
		put(s, "route", "%s reaches %s",
		    words[best->cell.from != r->cell.from ? best->cell.from : best->cell.into],
		    RATE(best->median));
}

/* "Also: A. Also: B." of the findings of F from FIRST on, but for notes. */
static void put_also(struct subject *s, const char *name, const struct findings *f, size_t first)
{
	char text[2048] = "";

	for (size_t i = first; f && i < f->count; i++)
		if (f->list[i].is.level != FINDING_NOTE)
			text_add(text, sizeof(text), " Also: %s.", f->list[i].text);
	put(s, name, "%s", text);
}

/* Why GPU memory is slower. Returns the code of the main cause. */
static enum finding_code put_causes(struct subject *s)
{
	struct findings causes = {0};

	verdict_causes(&s->way, s->c->gpu_gbps, &causes);
	put(s, "cause", "%s", causes.list[0].text);
	put(s, "remedy", "%s", causes.list[0].next);
	put_also(s, "others", &causes, 1);
	return causes.list[0].is.code;
}

/* What is said in addition, unless the words of the deciding question have it. */
static void put_notes(struct subject *s)
{
	const struct ratio *c = s->c;
	const struct gdr_side *sink = s->x->side[!s->r->cell.reverse];
	double staged = median_of(s, GDR_STAGED);

	if (c->host_low && !c->by_host) {
		put(s, "low", "%s", RATE(c->host.mean));
		put(s, "expected", "%s", RATE(s->r->host->expected_gbps));
	}
	put_also(s, "events", s->x->events, 0);
	put_faster_route(s);
	if (c->best != VERDICT_PASS && !c->by_host && !c->fell_from &&
	    staged > STAGED_BETTER * c->gpu_gbps)
		put(s, "staged", "%s", RATE(staged));
	if (s->r->cell.into != GDR_HOST && sink->gpu && sink->ordering >= 0 && sink->ordering < 100)
		put(s, "flush", "%.2f", sink->flush_us);
}

/* The figures of the cell that decides. */
static void put_figures(struct subject *s)
{
	const struct ratio *c = s->c;
	const struct gdr_result *r = s->r;

	put(s, "ratio", "%s, %s: %s Gb/s, %.1f %% of host memory's %s Gb/s (%s)",
	    gdr_cell_words(&r->cell), gdr_cell_direction(&r->cell), RATE(c->gpu_gbps),
	    100 * c->of_host.mean, RATE(c->host.mean), interval(s, &c->of_host, 100, "%").text);
	put(s, "baseline", "%s: %s Gb/s (%s), expected: %s (%s)", gdr_cell_direction(&r->cell),
	    RATE(c->host.mean), interval(s, &c->host, 1, "Gb/s").text, RATE(r->host->expected_gbps),
	    r->host->expected_from);
	put(s, "percent", "%.1f", 100 * c->of_host.mean);
	put(s, "within", "%g", 100 * s->x->attr->within);
	put(s, c->by_host ? "by_host" : "by_ratio", "%s", "");
	put(s, c->sank ? "sank" : "fell", "%.1f", 100 * c->fell_to);
	put(s, "from", "%u", c->fell_from);
	if (!r->verified)
		put(s, "unverified", "%s", "");
	put_notes(s);
}

/* The cell of the verdict: one with wrong data, or that failed, or that decides ALL; NULL: none. */
static const struct gdr_result *choose(const struct verdict_facts *x, const struct ratios *all)
{
	for (unsigned i = 0; i < x->attr->results; i++)
		if (x->attr->result[i].wrong_bytes)
			return &x->attr->result[i];
	if (x->failed)
		return x->failed;
	return all->deciding ? all->deciding->result : NULL;
}

/* True if every cell has been measured at least once; otherwise the slowest may be missing. */
static bool all_measured(const struct ratio_attr *a)
{
	for (unsigned i = 0; i < a->results; i++)
		if (!a->result[i].windows)
			return false;
	return true;
}

/* Which of the rules' conditions hold of S. */
static unsigned conditions_of(const struct subject *s)
{
	const struct gdr_side *const *side = s->x->side;
	const struct ratio *c = s->c;
	unsigned is = s->r && s->r->wrong_bytes ? DATA_WRONG : 0;

	is |= s->x->failed ? TRANSFER_FAILED : 0;
	is |= side[0]->gpu || side[1]->gpu ? SHARED : NO_GPU;
	for (int i = 0; i < 2; i++)
		if (side[i]->gpu && !side[i]->integrated) {
			is |= (side[i]->gpudirect ? 0 : NO_SUPPORT) |
			      (side[i]->direct ? 0 : NO_ROUTE);
			is &= ~(unsigned)SHARED;
		}
	if (!c || !(c->of_host.mean > 0) || !all_measured(s->x->attr))
		return is | UNMEASURED;
	return is | AT(c->best) | (c->by_host ? BY_HOST : 0) | (c->fell_from ? FELL : 0) |
	       (c->best == VERDICT_PASS && c->worst != VERDICT_PASS ? UNDECIDED : 0);
}

/* Put the values of RULE's words, which hold of S; V gets its cause, and the measured ratio. */
static void put_values(struct subject *s, const struct rule *rule, struct verdict *v)
{
	const struct gdr_side *const *side = s->x->side;
	enum finding_code cause = rule->code;

	if (rule->when & (DATA_WRONG | TRANSFER_FAILED))
		put_cell(s);
	else if (rule->when & (NO_GPU | NO_ROUTE))
		put_ends(s, !(rule->when & NO_GPU));
	else if (rule->when & UNMEASURED)
		put(s, all_measured(s->x->attr) ? "nothing" : "unfinished", "%s", "");
	else if (s->c && s->c->of_host.mean > 0) {
		v->ratio = s->c->of_host;
		v->fell_from = rule->code == VERDICT_FELL ? s->c->fell_from : 0;
		if (rule->code == VERDICT_SLOWER)
			cause = put_causes(s);
		put_figures(s);
	}
	if (rule->when & SHARED)
		put(s, "whose", "%s",
		    !side[0]->gpu  ? "the server"
		    : side[1]->gpu ? "both ends"
				   : "the client");
	v->cause = finding_name(cause);
}

void verdict_reach(const struct verdict_facts *x, struct verdict *v)
{
	struct subject s = {.x = x};
	const struct rule *rule = rules;
	unsigned conditions;
	struct ratios all;

	ratio_evaluate(&all, x->attr);
	memset(v, 0, sizeof(*v));
	s.r = choose(x, &all);
	s.c = all.deciding;
	s.confidence = v->confidence = all.confidence;
	s.way = verdict_way(s.r ? &s.r->cell : NULL, x->side);
	v->ratio.high = INFINITY;
	v->expected_gbps = verdict_expect(x, s.r ? &s.r->cell : NULL, &v->expected_from);
	conditions = conditions_of(&s);
	while (rule->when & ~conditions)
		rule++;
	v->level = rule->level;
	v->exit_status = x->within_given ? rule->exit_if_given : rule->exit_status;
	put_values(&s, rule, v);
	text_add(v->line, sizeof(v->line), "%s ", verdict_level_name(v->level));
	finding_words(v->line + strlen(v->line), sizeof(v->line) - strlen(v->line),
		      finding_text(rule->code), &s.facts);
	finding_words(v->next, sizeof(v->next), finding_next(rule->code), &s.facts);
	if (v->ratio.mean > 0)
		finding_words(v->next + strlen(v->next), sizeof(v->next) - strlen(v->next),
			      finding_next(VERDICT_NOTES), &s.facts);
	if (v->next[0] == ' ')
		memmove(v->next, v->next + 1, strlen(v->next));
	/* Part of the text comes from the peer: remove control characters. */
	text_disarm(v->line);
	text_disarm(v->next);
}

const char *verdict_level_name(enum verdict_level level)
{
	static const char *const names[] = {"PASS", "WARN", "FAIL", "INCONCLUSIVE", "UNAVAILABLE"};

	return names[(unsigned)level <= VERDICT_NONE ? level : VERDICT_NONE];
}
