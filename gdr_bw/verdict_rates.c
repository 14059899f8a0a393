// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "verdict_rates.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/text.h"
#include "verdict_cause.h"

#define SYNC_COPY_RATIO 0.40 /* copying one chunk at a time through host memory reaches a third */
#define STAGED_BETTER   1.10

void verdict_append(struct verdict *v, const char *fmt, ...)
{
	char text[sizeof(v->line)];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	text_add(v->line, sizeof(v->line), "%s", text);
}

void verdict_advise(struct verdict *v, const char *fmt, ...)
{
	char text[sizeof(v->next)];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	text_add(v->next, sizeof(v->next), "%s%s", v->next[0] ? " " : "", text);
}

void verdict_append_cell(const struct verdict_facts *x, struct verdict *v)
{
	verdict_append(v, "%s, %s", gdr_cell_words(x->cell), gdr_cell_direction(x->cell));
}

static void append_interval(const struct windows_range *r, double unit, const char *name,
			    struct verdict *v)
{
	if (isinf(r->high))
		verdict_append(v, " (%u window%s: no interval)", r->count,
			       r->count == 1 ? "" : "s");
	else
		verdict_append(v, " (95 %% interval: %.1f to %.1f %s; %u windows)", r->low * unit,
			       r->high * unit, name, r->count);
}

static void append_ratio(const struct verdict_facts *x, struct verdict *v)
{
	verdict_append_cell(x, v);
	verdict_append(v, ": %.1f Gb/s, %.1f %% of host memory's %.1f Gb/s", x->gbps,
		       100 * x->stats->ratio.mean, x->host_gbps);
	append_interval(&x->stats->ratio, 100, "%", v);
}

static void append_expected(const struct eval_rate *r, struct verdict *v)
{
	verdict_append(v, "%.1f Gb/s", r->gbps.mean);
	append_interval(&r->gbps, 1, "Gb/s", v);
	verdict_append(v, ", expected: %.1f (%s)", r->expected_gbps, r->expected_from);
}

static const char *groups_text(const struct eval_rate *r, char *buf, size_t size)
{
	snprintf(buf, size, "fall into two groups: %zu of %u at %.1f Gb/s, the others at %.1f",
		 r->modes.lows, r->gbps.count, r->modes.low, r->modes.high);
	return buf;
}

static void append_groups(const struct eval_cell *c, struct verdict *v)
{
	bool gpu = c->gpu.groups >= c->host.groups;
	char text[120];

	verdict_append(v, "%s windows %s", gpu ? "its" : "host memory's",
		       groups_text(gpu ? &c->gpu : &c->host, text, sizeof(text)));
}

static void append_host(const struct verdict_facts *x, const char *how, struct verdict *v)
{
	verdict_append(v, "host memory%s, %s: ", how, gdr_cell_direction(x->cell));
	append_expected(&x->stats->host, v);
}

static void append_gpu(const struct verdict_facts *x, struct verdict *v)
{
	append_ratio(x, v);
	verdict_append(v, ", but ");
	append_expected(&x->stats->gpu, v);
}

static void verdict_pass(const struct verdict_facts *x, struct verdict *v)
{
	v->cause = "none";
	verdict_append(v, "GPUDirect within %g %% of host memory: ", 100 * x->within);
	append_ratio(x, v);
	if (!x->verified)
		verdict_append(v, " (data not verified)");
}

static void verdict_slower(const struct verdict_facts *x, struct verdict *v)
{
	struct verdict_cause cause[VERDICT_CAUSES_MAX];
	unsigned causes = verdict_causes(x, cause);

	v->cause = cause[0].word;
	append_ratio(x, v);
	verdict_append(v, ": %s", cause[0].what);
	if (x->stats->ratio.mean < SYNC_COPY_RATIO)
		verdict_append(v, "; no better than a synchronous host copy");
	verdict_advise(v, "%s", cause[0].advice);
	for (unsigned i = 1; i < causes; i++)
		verdict_advise(v, "Also: %s.", cause[i].what);
}

static void advise_low(const char *first, struct verdict *v)
{
	verdict_advise(
		v,
		"%s: compare with write_bw, several QPs (-q 4) and larger messages (-s 1m); check "
		"both NICs' slots (--list), the MTU, the NUMA node and other traffic. If these "
		"hosts cannot do better, give the rate that they can reach with --expected-gbps.",
		first);
}

static void host_low(const struct verdict_facts *x, struct verdict *v)
{
	v->cause = "host_low";
	append_host(x, " itself is slow", v);
	verdict_append(v, "; GPU memory reaches %.1f %% of it", 100 * x->stats->ratio.mean);
	advise_low("Fix this first, because the GPU is not the cause", v);
}

static void gpu_low(const struct verdict_facts *x, struct verdict *v)
{
	v->cause = "gpu_low";
	append_gpu(x, v);
	advise_low("Host memory is hardly faster, so start there", v);
}

static void two_groups(const struct verdict_facts *x, struct verdict *v)
{
	v->cause = "two_groups";
	append_ratio(x, v);
	verdict_append(v, ": ");
	append_groups(x->stats, v);
	verdict_advise(
		v, "Something slows it down at times: check for other work on GPU, NIC and fabric, "
		   "the ports' counters and throttling (nvidia-smi -q -d PERFORMANCE), and measure "
		   "longer windows (-D 30).");
}

/* Names no level: who looks for PASS in the output must not find it here. */
static void open_still(const struct verdict_facts *x, struct verdict *v)
{
	const struct eval_cell *c = x->stats;

	v->cause = c->why == EVAL_GROUPS ? "two_groups" : "noise";
	if (c->why == EVAL_HOST)
		append_host(x, "", v);
	else if (c->why == EVAL_GPU)
		append_gpu(x, v);
	else
		append_ratio(x, v);
	if (c->why == EVAL_HOST || c->why == EVAL_GPU) {
		verdict_append(v, ": too noisy to tell whether that is too low");
	} else if (c->why == EVAL_GROUPS) {
		verdict_append(v, ": it seems that ");
		append_groups(c, v);
	} else if (c->best == EVAL_PASS) {
		verdict_append(v, ": too noisy to tell whether that is within %g %%",
			       100 * x->within);
	} else {
		verdict_append(v, ": less than %g %%, but too noisy to tell whether it is %g %%",
			       100 * (1 - x->within), 100 * EVAL_WARN_RATIO);
	}
	verdict_advise(
		v,
		"The windows differ too much to tell. Measure longer ones (-D 30), allow more of them "
		"(--extra-windows 200), or wait until hosts and fabric are quiet.");
}

/* Add the other findings, which the sentence for the deciding one does not contain. */
static void note_others(const struct verdict_facts *x, struct verdict *v)
{
	const struct eval_cell *c = x->stats;
	double floor_gbps = c->host.expected_gbps * (1 - eval_tolerance(x->within));
	bool is_slower = c->best == c->worst && c->best != EVAL_PASS && c->why == EVAL_RATIO;
	char text[120];

	if (c->gpu.groups == WINDOWS_TWO && c->why != EVAL_GROUPS)
		verdict_advise(v, "Also: its windows %s.",
			       groups_text(&c->gpu, text, sizeof(text)));
	if (c->why != EVAL_HOST && c->host.gbps.high < floor_gbps)
		verdict_advise(v, "The host baseline is low, too: %.1f Gb/s, expected: %.1f.",
			       c->host.gbps.mean, c->host.expected_gbps);
	for (size_t i = 0; x->events && i < x->events->count; i++)
		if (x->events->list[i].is.level != FINDING_NOTE)
			verdict_advise(v, "Also: %s.", x->events->list[i].text);
	if (x->other_route)
		verdict_advise(v, "Another route is faster: %s reaches %.1f Gb/s.", x->other_route,
			       x->other_gbps);
	if (is_slower && x->staged_gbps > STAGED_BETTER * x->gbps)
		verdict_advise(v, "Staging through host memory is faster here: %.1f Gb/s.",
			       x->staged_gbps);
}

void verdict_rates(const struct verdict_facts *x, struct verdict *v)
{
	static void (*const why_not[])(const struct verdict_facts *x, struct verdict *v) = {
		[EVAL_RATIO] = verdict_slower,
		[EVAL_HOST] = host_low,
		[EVAL_GPU] = gpu_low,
		[EVAL_GROUPS] = two_groups,
	};
	const struct eval_cell *c = x->stats;

	if (c->best != c->worst)
		open_still(x, v);
	else if (c->best == EVAL_PASS)
		verdict_pass(x, v);
	else
		why_not[c->why](x, v);
	note_others(x, v);
}
