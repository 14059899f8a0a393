// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "verdict.h"

#include <string.h>

#include "base/text.h"
#include "verdict_cause.h"

#define WARN_RATIO      0.80 /* what PHB and NODE reach on today's servers */
#define SYNC_COPY_RATIO 0.40 /* one chunk at a time through host memory makes a third */
#define HOST_LOW        0.90 /* of the line rate */
#define STAGED_BETTER   1.10
#define PCIE_EFFICIENCY 0.96 /* acknowledgements and flow control take the rest */
#define LINE_EFFICIENCY 0.95
#define ROUNDING        1e-9

static double share(double part, double whole)
{
	return whole > 0 && part > 0 ? part / whole : 0;
}

static void set(struct verdict *v, enum verdict_level level, const char *cause, int exit_status)
{
	v->level = level;
	v->cause = cause;
	v->exit_status = exit_status;
	text_add(v->line, sizeof(v->line), "%s ", verdict_level_name(level));
}

static void name_cell(const struct verdict_facts *x, struct verdict *v)
{
	text_add(v->line, sizeof(v->line), "%s", verdict_cell_words(x->cell));
	if (x->direction)
		text_add(v->line, sizeof(v->line), ", %s", x->direction);
}

static void wrong_data(const struct verdict_facts *x, struct verdict *v)
{
	set(v, VERDICT_FAIL, "data", 5);
	text_add(v->line, sizeof(v->line), "wrong data: ");
	if (!x->host_only) {
		name_cell(x, v);
		text_add(v->line, sizeof(v->line), ": ");
	}
	text_add(v->line, sizeof(v->line), "%s", x->wrong_data);
	if (x->host_only) {
		text_add(
			v->next, sizeof(v->next),
			"No NIC reaches GPU memory here: look at the NICs, the link and host memory.");
		return;
	}
	text_add(
		v->next, sizeof(v->next),
		"Do not use this route, however fast it is. Compare --gpu-path dmabuf, peermem and "
		"staged, and look for newer GPU drivers and NIC firmware.");
}

static void failed_transfer(const struct verdict_facts *x, struct verdict *v)
{
	const struct path *p = &x->path;

	set(v, VERDICT_FAIL, "transfer", 1);
	name_cell(x, v);
	text_add(v->line, sizeof(v->line), ": the transfer failed: %s", x->wc_status);
	if (x->wc_vendor)
		text_add(v->line, sizeof(v->line), ", vendor error 0x%x", x->wc_vendor);
	text_add(
		v->next, sizeof(v->next),
		"The memory was registered, but the NIC could not reach it: the way between them lets "
		"no peer-to-peer traffic through");
	if (p->virtual_machine)
		text_add(v->next, sizeof(v->next), " (virtual machine)");
	else
		text_add(v->next, sizeof(v->next), " (%s%s%s)", path_class_name(p->class),
			 p->iommu[0] ? ", IOMMU " : "", p->iommu);
	text_add(v->next, sizeof(v->next),
		 ". Try %s%siommu=pt, ACS off on the bridges between them; "
		 "--gpu-path staged works without.",
		 x->better_gpu ? x->better_gpu : "", x->better_gpu ? ", " : "");
}

static void no_gpu(const struct verdict_facts *x, struct verdict *v)
{
	set(v, VERDICT_NONE, "no_gpu", 77);
	text_add(v->line, sizeof(v->line), "no GPU: %s", x->no_gpu);
	if (x->host_gbps > 0)
		text_add(v->next, sizeof(v->next), "Host memory reached %.1f Gb/s.", x->host_gbps);
}

static void no_route(const struct verdict_facts *x, struct verdict *v)
{
	set(v, VERDICT_FAIL, x->no_route ? "no_route" : "gpu_unsupported", 77);
	text_add(v->line, sizeof(v->line), "no GPUDirect RDMA: %s",
		 x->no_route ? x->no_route : "this GPU does not support it");
	if (!x->gpudirect)
		v->cause = "gpu_unsupported";
	if (x->staged_gbps > 0)
		text_add(v->next, sizeof(v->next),
			 "Through host memory (--gpu-path staged): %.1f Gb/s", x->staged_gbps);
	if (x->staged_gbps > 0 && x->host_gbps > 0)
		text_add(v->next, sizeof(v->next), ", %.1f %% of host memory",
			 100 * share(x->staged_gbps, x->host_gbps));
	if (x->staged_gbps > 0)
		text_add(v->next, sizeof(v->next), ".");
}

static void not_measured(const struct verdict_facts *x, struct verdict *v)
{
	set(v, VERDICT_NONE, "not_measured", 0);
	if (x->unfinished)
		text_add(v->line, sizeof(v->line), "no verdict: the run did not finish");
	else
		text_add(v->line, sizeof(v->line), "no verdict: %s not measured",
			 x->gbps > 0 ? "host memory was" : "GPU memory was");
}

static void add_rates(const struct verdict_facts *x, struct verdict *v)
{
	name_cell(x, v);
	text_add(v->line, sizeof(v->line), ": %.1f Gb/s, %.1f %% of host memory's %.1f Gb/s",
		 x->gbps, 100 * v->ratio, x->host_gbps);
}

static void as_fast(const struct verdict_facts *x, struct verdict *v)
{
	set(v, VERDICT_PASS, "none", 0);
	text_add(v->line, sizeof(v->line),
		 "GPUDirect within %g %% of host memory: ", 100 * x->within);
	add_rates(x, v);
	if (!x->verified)
		text_add(v->line, sizeof(v->line), " (data not verified)");
}

static void slower(const struct verdict_facts *x, struct verdict *v)
{
	const struct verdict_cause *c = verdict_cause_first(x);
	bool warn = v->ratio >= WARN_RATIO - ROUNDING;

	set(v, warn ? VERDICT_WARN : VERDICT_FAIL, c->word, warn && !x->within_given ? 0 : 6);
	add_rates(x, v);
	text_add(v->line, sizeof(v->line), ": ");
	c->say(x, v->line, sizeof(v->line));
	if (v->ratio < SYNC_COPY_RATIO)
		text_add(v->line, sizeof(v->line), "; no better than a synchronous host copy");
	c->advise(x, v->next, sizeof(v->next));
	verdict_cause_others(x, c, v->next, sizeof(v->next));
	if (x->staged_gbps > STAGED_BETTER * x->gbps)
		text_add(v->next, sizeof(v->next),
			 " Staging through host memory is faster here: %.1f Gb/s.", x->staged_gbps);
}

/* What goes with any verdict about a measured cell. */
static void add_notes(const struct verdict_facts *x, struct verdict *v)
{
	double host = share(x->host_gbps, x->line_gbps);

	if (host > 0 && host < HOST_LOW - ROUNDING)
		text_add(v->next, sizeof(v->next),
			 "%sThe host baseline is low, too: %.1f of %.1f Gb/s (%.1f %%).",
			 v->next[0] ? " " : "", x->host_gbps, x->line_gbps, 100 * host);
	if (x->flush_note)
		text_add(v->next, sizeof(v->next), "%s%s", v->next[0] ? " " : "", x->flush_note);
}

static void expect(const struct verdict_facts *x, struct verdict *v)
{
	double line = LINE_EFFICIENCY * x->line_gbps, ceiling = verdict_ceiling_gbps(x);

	if (x->peer_ceiling_gbps > 0 && (!(ceiling > 0) || x->peer_ceiling_gbps < ceiling))
		ceiling = x->peer_ceiling_gbps;
	ceiling *= PCIE_EFFICIENCY;
	v->expected_from = "";
	if (line > 0 && (!(ceiling > 0) || line <= ceiling)) {
		v->expected_gbps = line;
		v->expected_from = "line rate";
	} else if (ceiling > 0) {
		v->expected_gbps = ceiling;
		v->expected_from = "PCIe";
	}
}

void verdict_reach(const struct verdict_facts *facts, struct verdict *v)
{
	memset(v, 0, sizeof(*v));
	v->ratio = share(facts->gbps, facts->host_gbps);
	expect(facts, v);
	if (facts->wrong_data) {
		wrong_data(facts, v);
	} else if (facts->wc_status) {
		failed_transfer(facts, v);
	} else if (facts->no_gpu) {
		no_gpu(facts, v);
	} else if (facts->no_route || !facts->gpudirect) {
		no_route(facts, v);
	} else if (!(v->ratio > 0) || facts->unfinished) {
		not_measured(facts, v);
	} else {
		if (v->ratio >= 1 - facts->within - ROUNDING)
			as_fast(facts, v);
		else
			slower(facts, v);
		add_notes(facts, v);
	}
	/* Some of it is the peer's. */
	text_disarm(v->line);
	text_disarm(v->next);
}

const char *verdict_level_name(enum verdict_level level)
{
	static const char *const names[] = {"PASS", "WARN", "FAIL", "UNAVAILABLE"};

	return names[(unsigned)level <= VERDICT_NONE ? level : VERDICT_NONE];
}

const char *verdict_cell_words(enum verdict_cell cell)
{
	static const char *const words[] = {"GPU to host", "host to GPU", "GPU to GPU"};

	return words[(unsigned)cell <= VERDICT_GDR ? cell : VERDICT_GDR];
}
