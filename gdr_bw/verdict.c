// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "verdict.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "verdict_cause.h"
#include "verdict_rates.h"

#define PCIE_EFFICIENCY 0.96 /* the rest is acknowledgements and flow control */
#define LINE_EFFICIENCY 0.95

static void set_verdict(struct verdict *v, enum verdict_level level, const char *cause,
			int exit_status)
{
	v->level = level;
	v->cause = cause;
	v->exit_status = exit_status;
	verdict_append(v, "%s ", verdict_level_name(level));
}

static void wrong_data(const struct verdict_facts *x, struct verdict *v)
{
	set_verdict(v, VERDICT_FAIL, "data", 5);
	verdict_append(v, "wrong data: ");
	if (gdr_cell_is_direct(x->cell)) {
		verdict_append_cell(x, v);
		verdict_append(v, ": ");
		verdict_advise(v, "Do not use this route, however fast it is. Compare --gpu-path "
				  "dmabuf, peermem and staged, and check for newer GPU drivers and "
				  "NIC firmware.");
	} else {
		verdict_advise(v, "No NIC accesses GPU memory in this cell: check the NICs, the "
				  "link and host memory.");
	}
	verdict_append(v, "%s", x->wrong_data);
}

static void failed_transfer(const struct verdict_facts *x, struct verdict *v)
{
	const struct path *p = &x->route.path;
	const char *class = p->virtual_machine ? "virtual machine" : path_class_name(p->class);
	const char *iommu = p->virtual_machine ? "" : p->iommu;

	set_verdict(v, VERDICT_FAIL, "transfer", 1);
	verdict_append_cell(x, v);
	verdict_append(v, ": the transfer failed: %s", x->wc_status);
	if (x->wc_vendor)
		verdict_append(v, ", vendor error 0x%x", x->wc_vendor);
	verdict_advise(v,
		       "The memory was registered, but the NIC could not access it: the path "
		       "between them blocks peer-to-peer traffic (%s%s%s). Try %s%siommu=pt, or "
		       "ACS off on the bridges between them; --gpu-path staged works without "
		       "peer-to-peer traffic.",
		       class, iommu[0] ? ", IOMMU " : "", iommu,
		       x->route.better_gpu ? x->route.better_gpu : "",
		       x->route.better_gpu ? ", " : "");
}

static void no_gpu(const struct verdict_facts *x, struct verdict *v)
{
	set_verdict(v, VERDICT_NONE, "no_gpu", 77);
	verdict_append(v, "no GPU: %s", x->no_gpu);
	if (x->host_gbps > 0)
		verdict_advise(v, "Host memory reached %.1f Gb/s.", x->host_gbps);
}

static void no_gpu_route(const struct verdict_facts *x, struct verdict *v)
{
	char of_host[48] = "";

	set_verdict(v, VERDICT_FAIL, x->gpudirect ? "no_route" : "gpu_unsupported", 77);
	verdict_append(v, "no GPUDirect RDMA: %s",
		       x->no_route ? x->no_route : "this GPU does not support it");
	if (x->host_gbps > 0)
		snprintf(of_host, sizeof(of_host), ", %.1f %% of host memory",
			 100 * x->staged_gbps / x->host_gbps);
	if (x->staged_gbps > 0)
		verdict_advise(v, "Through host memory (--gpu-path staged): %.1f Gb/s%s.",
			       x->staged_gbps, of_host);
}

static void not_measured(const struct verdict_facts *x, struct verdict *v)
{
	set_verdict(v, VERDICT_NONE, "not_measured", 77);
	verdict_append(v, "no verdict: %s",
		       x->unfinished ? "the run did not finish" : "GPU memory was not measured");
}

static void verdict_measured(const struct verdict_facts *x, struct verdict *v)
{
	const struct eval_cell *c = x->stats;
	enum verdict_level level =
		c->best == c->worst ? (enum verdict_level)c->best : VERDICT_INCONCLUSIVE;
	/* With --within the exit status is 0 only for a pass. */
	bool low = level == VERDICT_FAIL || (x->within_given && level != VERDICT_PASS);

	v->ratio_low = c->ratio.low;
	v->ratio_high = c->ratio.high;
	v->windows = c->ratio.count;
	set_verdict(v, level, "", low ? 6 : 0);
	verdict_rates(x, v);
	if (x->route.flush_note)
		verdict_advise(v, "%s", x->route.flush_note);
}

double verdict_expect(const struct verdict_facts *x, const char **from)
{
	double line = x->given ? x->given_gbps : LINE_EFFICIENCY * x->line_gbps;
	double ceiling =
		PCIE_EFFICIENCY * gdr_least(x->route.peer_ceiling_gbps, verdict_ceiling_gbps(x));
	double expected = gdr_least(line, ceiling);

	*from = "";
	if ((x->given && !(line > 0)) || !(expected > 0))
		return 0;
	*from = expected < line || !(line > 0) ? "PCIe"
		: x->given                     ? "--expected-gbps"
					       : "line rate";
	return expected;
}

void verdict_reach(const struct verdict_facts *facts, struct verdict *v)
{
	memset(v, 0, sizeof(*v));
	v->ratio = facts->stats ? facts->stats->ratio.mean : 0;
	v->ratio_high = INFINITY;
	v->expected_gbps = verdict_expect(facts, &v->expected_from);
	if (facts->wrong_data) {
		wrong_data(facts, v);
	} else if (facts->wc_status) {
		failed_transfer(facts, v);
	} else if (facts->no_gpu) {
		no_gpu(facts, v);
	} else if (facts->no_route || !facts->gpudirect) {
		no_gpu_route(facts, v);
	} else if (!(v->ratio > 0) || facts->unfinished) {
		not_measured(facts, v);
	} else {
		verdict_measured(facts, v);
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
