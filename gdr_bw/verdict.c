// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "verdict.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

/* What holds, and the verdict of the first rule that needs no more than that. */
enum {
	TRANSFER_FAILED = 1,
	NO_GPU = 2,
	SHARED = 4, /* each GPU has the host's memory */
	NO_ROUTE = 8,
	UNMEASURED = 16, /* a cell, or all of a GPU's */
	UNDECIDED = 32,  /* PASS is possible, and not certain */
	BY_HOST = 64,    /* host memory decides */
	FELL = 128,
	DATA_WRONG = 256,
};
#define AT(level) (512u << (level)) /* the best level that is possible */

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
	struct ratios all;
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

/* [{NAME}…] is said. */
static void put_if(struct subject *s, const char *name, bool said)
{
	if (said)
		put(s, name, "%s", "");
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
		text_add(t.text, sizeof(t.text), "means; %.3g %% interval: %.1f to %.1f %s; %u windows",
			 s->all.confidence, r->low * unit, r->high * unit, name, r->count);
	return t;
}

/* A cell with wrong data. */
static void put_wrong(struct subject *s)
{
	const struct gdr_result *r = s->r;

	put(s, "name", "%s %s", gdr_cell_name(&r->cell), gdr_cell_direction(&r->cell));
	put(s, "wrong", "%" PRIu64, r->wrong_bytes);
	put(s, "bytes", "%" PRIu64, r->checked_bytes);
	put(s, "offset", "%" PRIu64, r->first_wrong);
	put_if(s, gdr_cell_is_direct(&r->cell) ? "direct" : "host", true);
}

/* A cell whose transfer failed. */
static void put_failure(struct subject *s)
{
	const struct path *p = &s->way.side->path;

	put(s, "cell", "%s, %s", gdr_cell_words(&s->r->cell), gdr_cell_direction(&s->r->cell));
	put(s, "status", "%s", s->x->wc_status);
	if (s->x->wc_vendor)
		put(s, "vendor", "0x%x", s->x->wc_vendor);
	put(s, "class", "%s", p->virtual_machine ? "virtual machine" : path_row(p->class)->name);
	if (p->iommu[0] && !p->virtual_machine)
		put(s, "iommu", "%s", p->iommu);
}

/* No GPU, or no direct route to one: why not at which end, and how to get it. */
static void put_ends(struct subject *s, bool gpu)
{
	const struct gdr_side *const *side = s->x->side;
	const struct ratio_attr *a = s->x->attr;
	bool host = a->results && a->result[0].windows;
	const char *says[2];

	for (int i = 0; i < 2; i++)
		says[i] = gpu == side[i]->gpu && !side[i]->direct ? side[i]->reason : "";
	if (strcmp(says[0], says[1]) == 0)
		put(s, "both", "%s", says[0]);
	else
		for (int i = 0; i < 2; i++)
			if (says[i][0])
				put(s, i ? "server" : "client", "%s", says[i]);
	put_if(s, "and", s->values == 2);
	for (int i = 0; i < 2; i++)
		if (says[i][0] && side[i]->fix[0])
			put(s, "fix", "%s", side[i]->fix);
	if (host)
		put(s, "host", "%s", RATE(a->result[0].median));
	for (unsigned i = 0; i < a->results; i++)
		if (a->result[i].cell.staged && !a->result[i].cell.reverse && a->result[i].windows)
			put(s, "staged", "%s", RATE(a->result[i].median));
	put_if(s, "unasked", !host && !gpu);
}

/* Why GPU memory is slower. Returns the code of the main cause. */
static enum finding_code put_causes(struct subject *s)
{
	struct findings causes = {0};
	char others[2048] = "";

	verdict_causes(&s->way, s->c->gpu_gbps, &causes);
	for (size_t i = 1; i < causes.count; i++)
		text_add(others, sizeof(others), " Also: %s.", causes.list[i].text);
	put(s, "cause", "%s", causes.list[0].text);
	put(s, "remedy", "%s", causes.list[0].next);
	put(s, "others", "%s", others);
	return causes.list[0].is.code;
}

/* The figures of the cell that decides. */
static void put_figures(struct subject *s)
{
	const struct gdr_result *r = s->r;
	const struct ratio *c = s->c;

	put(s, "ratio", "%s, %s: %s Gb/s, %.1f %% of host memory's %s Gb/s (%s)",
	    gdr_cell_words(&r->cell), gdr_cell_direction(&r->cell), RATE(c->gpu_gbps),
	    100 * c->of_host.mean, RATE(c->host.mean), interval(s, &c->of_host, 100, "%").text);
	put(s, "baseline", "%s: %s Gb/s (%s), expected: %s (%s)", gdr_cell_direction(&r->cell),
	    RATE(c->host.mean), interval(s, &c->host, 1, "Gb/s").text, RATE(r->host->expected_gbps),
	    r->host->expected_from);
	put(s, "percent", "%.1f", 100 * c->of_host.mean);
	put(s, "within", "%g", 100 * s->x->attr->within);
	put_if(s, c->by_host ? "by_host" : "by_ratio", true);
	put(s, c->sank ? "sank" : "fell", "%.1f", 100 * c->fell_to);
	put(s, "from", "%u", c->fell_from);
	if (c->host_low && !c->by_host) {
		put(s, "low", "%s", RATE(c->host.mean));
		put(s, "expected", "%s", RATE(r->host->expected_gbps));
	}
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
	unsigned is = (s->x->wrong ? DATA_WRONG : 0) | (s->x->failed ? TRANSFER_FAILED : 0);

	is |= side[0]->gpu || side[1]->gpu ? SHARED : NO_GPU;
	for (int i = 0; i < 2; i++)
		if (side[i]->gpu && !side[i]->integrated)
			is = (is & ~(unsigned)SHARED) | (side[i]->direct ? 0 : NO_ROUTE);
	if (!c || !all_measured(s->x->attr))
		return is | UNMEASURED;
	return is | AT(c->best) | (c->by_host ? BY_HOST : 0) | (c->fell_from ? FELL : 0) |
	       (c->best == VERDICT_PASS && c->worst != VERDICT_PASS ? UNDECIDED : 0);
}

/* Put the values of the words of V->code; V gets its cause, and the measured ratio. */
static void put_values(struct subject *s, struct verdict *v)
{
	const struct gdr_side *const *side = s->x->side;
	bool measured = all_measured(s->x->attr);

	v->cause = v->code;
	if (v->code == VERDICT_OF_DATA) {
		put_wrong(s);
	} else if (v->code == VERDICT_OF_TRANSFER) {
		put_failure(s);
	} else if (v->code == VERDICT_WITHOUT_GPU || v->code == VERDICT_WITHOUT_ROUTE) {
		put_ends(s, v->code == VERDICT_WITHOUT_ROUTE);
	} else if (s->c && v->code != VERDICT_NOT_MEASURED) {
		v->ratio = s->c->of_host;
		v->fell_from = v->code == VERDICT_FELL ? s->c->fell_from : 0;
		if (v->code == VERDICT_SLOWER)
			v->cause = put_causes(s);
		put_figures(s);
	}
	put_if(s, measured ? "nothing" : "unfinished", true);
	put(s, "whose", "%s",
	    !side[0]->gpu  ? "the server"
	    : side[1]->gpu ? "both ends"
			   : "the client");
}

void verdict_reach(const struct verdict_facts *x, struct verdict *v)
{
	struct subject s = {.x = x};
	const struct rule *rule = rules;
	unsigned conditions;

	ratio_evaluate(&s.all, x->attr);
	s.c = s.all.deciding;
	s.r = x->wrong ? x->wrong : x->failed ? x->failed : s.c ? s.c->result : NULL;
	s.way = verdict_way(s.r ? &s.r->cell : NULL, x->side);
	conditions = conditions_of(&s);
	while (rule->when & ~conditions)
		rule++;
	*v = (struct verdict){
		.level = rule->level,
		.exit_status = x->within_given ? rule->exit_if_given : rule->exit_status,
		.code = rule->code,
		.ratio = {.high = INFINITY},
		.confidence = s.all.confidence,
	};
	v->expected_gbps = verdict_expect(x, s.r ? &s.r->cell : NULL, &v->expected_from);
	put_values(&s, v);
	text_add(v->line, sizeof(v->line), "%s ", verdict_level_name(v->level));
	finding_words(v->line + strlen(v->line), sizeof(v->line) - strlen(v->line),
		      finding_text(rule->code), &s.facts);
	finding_words(v->next, sizeof(v->next), finding_next(rule->code), &s.facts);
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
