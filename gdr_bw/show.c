// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The output of the client of gdr_bw: the table, the facts about each end, and the verdict. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/terminal.h"
#include "cli/sweep.h"
#include "endpoint/rail.h"
#include "gdr.h"
#include "proto/fields.h"

/* R's median as a fraction of host memory's; 0: host memory was not measured. */
static double ratio_to_host(const struct gdr_result *r)
{
	return r->host->windows ? r->median / r->host->median : 0;
}

/* "host"; "copy"; "dmabuf"; "dmabuf/peermem" if the ends differ, the source first. Returns BUF. */
static const char *route_of(const struct gdr *g, const struct gdr_cell *c, char *buf, size_t size)
{
	const struct rail *rail = g->ms->ep->rail;
	const struct end *source = c->reverse ? &rail->theirs : &rail->mine;
	const struct end *sink = c->reverse ? &rail->mine : &rail->theirs;
	bool two = c->from_gpu && c->into_gpu && source->gpu_path != sink->gpu_path;

	snprintf(buf, size, "%s%s%s",
		 c->staged     ? "copy"
		 : c->from_gpu ? gpu_route_name(source->gpu_path)
		 : c->into_gpu ? gpu_route_name(sink->gpu_path)
			       : "host",
		 two ? "/" : "", two ? gpu_route_name(sink->gpu_path) : "");
	return buf;
}

static const char *percent_text(double share, char *buf, size_t size)
{
	snprintf(buf, size, share > 0 ? "%.1f" : "-", 100 * share);
	return buf;
}

static void table_row(const struct gdr *g, const struct gdr_result *r, FILE *out)
{
	double of_ceiling = r->ceiling_gbps > 0 ? r->median / r->ceiling_gbps : 0;
	char route[48], host[16], ceiling[16];

	fprintf(out, " %-6s %-15s %-16s %-9" PRIu64 " %12.2f %12.2f %12.2f %10s %13s  ",
		gdr_cell_name(&r->cell), gdr_cell_direction(&r->cell),
		route_of(g, &r->cell, route, sizeof(route)), r->message_bytes, r->median, r->min,
		r->max, percent_text(r == r->host ? 0 : ratio_to_host(r), host, sizeof(host)),
		percent_text(of_ceiling, ceiling, sizeof(ceiling)));
	if (r->wrong_bytes)
		fprintf(out, "WRONG: %" PRIu64 " bytes, the first at %" PRIu64 "\n", r->wrong_bytes,
			r->first_wrong);
	else
		fprintf(out, "%s\n", r->checked_bytes ? "ok" : "not checked");
}

/* Print an end's GPU and the PCIe path to it, or why there is none. */
static void side_line(const char *who, const struct gdr_side *side, const struct end *e, FILE *out)
{
	const struct path *p = &side->path;
	char nic[64], gpu[64];

	if (!side->gpu) {
		fprintf(out, " %s: no GPU: %s\n", who, side->reason);
		return;
	}
	fprintf(out, " %s: %s, distance to %s: %s (%s)", who, e->gpu, e->device,
		path_row(p->class)->name,
		p->virtual_machine ? "no meaning in a virtual machine" : path_row(p->class)->words);
	pci_link_format(&p->nic, nic, sizeof(nic));
	pci_link_format(&p->gpu, gpu, sizeof(gpu));
	if (nic[0] || gpu[0])
		fprintf(out, "; slowest PCIe link on the NIC's side: %s, on the GPU's side: %s",
			nic[0] ? nic : "unknown", gpu[0] ? gpu : "unknown");
	if (p->iommu[0])
		fprintf(out, "; IOMMU %s", p->iommu);
	fprintf(out, "; GPU memory by %s\n", side->direct ? e->gpu_chosen : "no direct route");
}

static void show_table(const struct gdr *g, FILE *out)
{
	const struct verdict *v = &g->verdict;
	bool gpu = g->mine.gpu || g->theirs.gpu;

	if (g->ms->options->local.gpu.at)
		fputc('\n', out);
	if (g->results)
		fprintf(out, " %-6s %-15s %-16s %-9s %12s %12s %12s %10s %13s  %s\n", "cell",
			"direction", "route", "bytes", "median[Gb/s]", "min[Gb/s]", "max[Gb/s]",
			"of_host[%]", "of_ceiling[%]", "data");
	for (unsigned i = 0; i < g->results; i++)
		if (g->result[i].windows || g->result[i].wrong_bytes)
			table_row(g, &g->result[i], out);
	if (g->results)
		fprintf(out, "\n");
	if (gpu) { /* otherwise the verdict has the reason, and the error the fix */
		side_line("client", &g->mine, &g->ms->ep->rail->mine, out);
		side_line("server", &g->theirs, &g->ms->ep->rail->theirs, out);
	}
	if (g->results && v->expected_gbps > 0)
		fprintf(out, " a healthy pair reaches %.1f Gb/s (%s)\n", v->expected_gbps,
			v->expected_from);
	fputc(' ', out);
	terminal_verdict(out, v->line);
	fputc('\n', out);
	if (gpu && v->next[0])
		fprintf(out, " next: %s\n", v->next);
	fflush(out);
}

#define ROW(key, member, ...) FIELD_AS(key, struct gdr_result, member, __VA_ARGS__)
static const struct field result_rows[] = {
	ROW("message_bytes", message_bytes, FIELD_ALWAYS),
	ROW("windows", windows, FIELD_ALWAYS),
	ROW("messages", messages, FIELD_ALWAYS),
	ROW("seconds", seconds, FIELD_ALWAYS),
	ROW("bandwidth_gbps", median, FIELD_ALWAYS),
	ROW("bandwidth_min_gbps", min, FIELD_ALWAYS),
	ROW("bandwidth_max_gbps", max, FIELD_ALWAYS),
	ROW("ceiling_gbps", ceiling_gbps),
	ROW("checked_bytes", checked_bytes),
	ROW("wrong_bytes", wrong_bytes, FIELD_IF(struct gdr_result, checked_bytes)),
	ROW("first_wrong_byte", first_wrong, FIELD_IF(struct gdr_result, wrong_bytes)),
};
static const struct fields result_table = FIELDS(result_rows, NULL);

static json_t *result_json(const struct gdr *g, const struct gdr_result *r)
{
	enum result_direction direction = r->cell.reverse ? RESULT_BACKWARD : RESULT_FORWARD;
	char route[48];
	json_t *to = json_pack("{s:s, s:s, s:s, s:b}", "cell", gdr_cell_name(&r->cell), "direction",
			       result_direction_name(direction), "route",
			       route_of(g, &r->cell, route, sizeof(route)), "verified",
			       r->checked_bytes && !r->wrong_bytes);

	if (r != r->host && r->host->windows)
		json_object_set_new(to, "of_host", json_real(ratio_to_host(r)));
	if (r->ceiling_gbps > 0)
		json_object_set_new(to, "of_ceiling", json_real(r->median / r->ceiling_gbps));
	return fields_write(&result_table, r, to);
}

static json_t *verdict_json(const struct verdict *v)
{
	double known = isinf(v->ratio.high) ? NAN : 0; /* NAN: there is no interval */
	json_t *verdict = json_pack(
		"{s:s, s:i, s:o, s:s, s:o, s:f, s:o, s:o, s:f, s:i, s:f}", "level",
		verdict_level_name(v->level), "exit_status", v->exit_status, "text", json_text(v->line), "cause",
		finding_name(v->cause), "next", json_text(v->next), "ratio", v->ratio.mean,
		"ratio_low", json_number_or_null(v->ratio.low + known), "ratio_high",
		json_number_or_null(v->ratio.high + known), "confidence", v->confidence, "windows",
		(int)v->ratio.count, "expected_gbps", v->expected_gbps);

	if (v->fell_from)
		json_object_set_new(verdict, "fell_from_window", json_integer(v->fell_from));
	return verdict;
}

/* How bad V is, from 1: wrong data, then by its level, then whether it fails the run. */
static unsigned badness(const struct verdict *v)
{
	static const unsigned of[] = {[VERDICT_PASS] = 1, [VERDICT_NONE] = 3,
				      [VERDICT_INCONCLUSIVE] = 5, [VERDICT_WARN] = 7,
				      [VERDICT_FAIL] = 9};
	int status = v->exit_status;

	return of[v->level] + (status && status != FAULT_UNAVAILABLE) + (status == FAULT_DATA);
}

/* The last of several GPUs: a row for the verdict of each. */
static void show_verdicts(const json_t *verdicts, FILE *out)
{
	const json_t *v;
	size_t i;

	fprintf(out, "\n %-16s %-12s %10s %8s %8s  %s\n", "gpu", "verdict", "of_host[%]", "low[%]",
		"high[%]", "cause");
	json_array_foreach (verdicts, i, v) {
		const char *gpu, *level, *cause;
		const char *const keys[] = {"ratio", "ratio_low", "ratio_high"};
		char share[3][16];

		json_unpack((json_t *)v, "{s:{s:s}, s:s, s:s}", "varied", "gpu", &gpu, "level",
			    &level, "cause", &cause);
		for (unsigned k = 0; k < 3; k++)
			percent_text(json_number_value(json_object_get(v, keys[k])), share[k],
				     sizeof(share[k]));
		fprintf(out, " %-16s %-12s %10s %8s %8s  %s\n", gpu, level, share[0], share[1],
			share[2], cause);
	}
}

/* True if no further GPU is measured after this one. */
static bool is_last(const struct gdr *g, const struct sweep_axis *gpus)
{
	return g->ms->options->local.gpu.at == gpus->value[gpus->count - 1] ||
	       g->ms->link->interrupted || fault_is(g->ms->fault);
}

/* Add this verdict to those of the GPUs before. Returns whether none of these is as bad. */
static bool add_verdict(const struct gdr *g, FILE *out)
{
	const struct sweep_axis *gpus =
		sweep_axis(&g->ms->options->sweep, options_find("gpu"));
	json_t *v = verdict_json(&g->verdict);
	bool worst = badness(&g->verdict) > g->ms->badness;
	const json_t *verdicts;

	if (gpus) {
		verdicts = report_own_list(g->ms->report, "verdicts", json_incref(v));
		if (out && is_last(g, gpus))
			show_verdicts(verdicts, out);
	}
	if (worst) {
		g->ms->badness = badness(&g->verdict);
		report_own_key(g->ms->report, "gpu_ends",
			       json_pack("{s:o, s:o}", "client", gdr_side_json(&g->mine), "server",
					 gdr_side_json(&g->theirs)));
		report_own_key(g->ms->report, "verdict", json_incref(v));
	}
	json_decref(v);
	return worst;
}

bool gdr_show(const struct gdr *g)
{
	struct report *r = g->ms->report;
	FILE *out = report_own_table(r);

	if (out)
		show_table(g, out);
	else if (!g->mine.gpu && !g->theirs.gpu)
		report_note(r, "%s", g->verdict.line);
	for (unsigned i = 0; i < g->results; i++)
		if (g->result[i].windows || g->result[i].checked_bytes)
			report_own_result(r, result_json(g, &g->result[i]));
	return add_verdict(g, out);
}
