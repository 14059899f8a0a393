// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What the client of gdr_bw prints: the table, what was found at each end, and the verdict. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "gdr.h"
#include "judge.h"
#include "wire/json_text.h"

static double percent(double part, double whole)
{
	return whole > 0 ? 100 * part / whole : 0;
}

/* What the data of a cell were found to be, in a word or with the place of the first wrong byte. */
static const char *data_text(const struct gdr_result *r, char *buf, size_t size)
{
	if (!r->verified)
		snprintf(buf, size, "not checked");
	else if (!r->wrong_bytes)
		snprintf(buf, size, "ok");
	else
		snprintf(buf, size, "WRONG: %" PRIu64 " bytes, the first at %" PRIu64,
			 r->wrong_bytes, r->first_wrong);
	return buf;
}

static void share(char *buf, size_t size, double percent)
{
	if (percent > 0)
		snprintf(buf, size, "%.1f", percent);
	else
		snprintf(buf, size, "-");
}

static void table_row(const struct gdr *g, const struct gdr_result *r, FILE *out)
{
	const struct gdr_result *host = gdr_result_host(g->result, g->results, r);
	char route[32], of_host[16], of_ceiling[16], data[96];

	share(of_host, sizeof(of_host), host && host != r ? percent(r->median, host->median) : 0);
	share(of_ceiling, sizeof(of_ceiling), percent(r->median, r->ceiling_gbps));
	fprintf(out, " %-12s %-15s %-16s %-9" PRIu64 " %12.2f %12.2f %12.2f %10s %13s  %s\n",
		gdr_cell_name(&r->cell), gdr_cell_direction(&r->cell),
		gdr_cell_route(&r->cell, route, sizeof(route)), r->message_bytes, r->median, r->min,
		r->max, of_host, of_ceiling, data_text(r, data, sizeof(data)));
}

static void side_lines(const char *who, const struct gdr_side *side, const struct end *e, FILE *out)
{
	const struct path *p = &side->path;
	char nic[64], gpu[64];

	if (!side->gpu) {
		fprintf(out, " %s: no GPU: %s\n", who, side->absent);
		return;
	}
	fprintf(out, " %s: %s, distance to %s: %s", who, e->gpu, e->device,
		path_class_name(p->class));
	if (p->virtual_machine)
		fprintf(out, " (a virtual machine: it means nothing)");
	else
		fprintf(out, " (%s)", path_class_words(p->class));
	path_link_format(&p->nic, nic, sizeof(nic));
	path_link_format(&p->gpu, gpu, sizeof(gpu));
	if (nic[0] || gpu[0])
		fprintf(out, "; slowest link of the NIC's leg %s, of the GPU's %s",
			nic[0] ? nic : "unknown", gpu[0] ? gpu : "unknown");
	if (p->iommu[0])
		fprintf(out, "; IOMMU %s", p->iommu);
	fprintf(out, "\n %s: copies to host %.1f Gb/s, to the GPU %.1f Gb/s; flush of NIC writes ",
		who, side->copy_out_gbps, side->copy_in_gbps);
	if (side->flush_us > 0)
		fprintf(out, "%.2f us\n", side->flush_us);
	else
		fprintf(out, "%s\n",
			side->ordering >= 100 ? "not needed (the GPU orders them)"
					      : "not possible");
	if (strchr(side->ranking, ','))
		fprintf(out, " %s: nearest to the NIC first: %s\n", who, side->ranking);
	fprintf(out, " %s: GPU memory %s%s\n", who, side->direct ? "by " : "", side->route);
}

/* What staging should reach, from the speeds of its three steps. */
static void model_lines(const struct gdr *g, FILE *out)
{
	for (unsigned i = 0; i < g->results; i++) {
		const struct gdr_result *r = &g->result[i];
		const struct gdr_result *host = gdr_result_host(g->result, g->results, r);
		const struct gdr_side *source = r->cell.reverse ? &g->theirs : &g->mine;
		const struct gdr_side *sink = r->cell.reverse ? &g->mine : &g->theirs;
		double out_gbps = source->copy_out_gbps, in_gbps = sink->copy_in_gbps, least, sum;

		if (r->cell.method != GDR_STAGED_PIPE || !host)
			continue;
		least = host->median;
		sum = 1 / least;
		if (r->cell.from == GDR_COPIED && out_gbps > 0) {
			sum += 1 / out_gbps;
			least = out_gbps < least ? out_gbps : least;
		}
		if (r->cell.into == GDR_COPIED && in_gbps > 0) {
			sum += 1 / in_gbps;
			least = in_gbps < least ? in_gbps : least;
		}
		fprintf(out,
			" staged, %s: its steps allow %.1f Gb/s one after the other, %.1f Gb/s side by side\n",
			gdr_cell_direction(&r->cell), 1 / sum, least);
	}
}

static void show_table(const struct gdr *g, const struct verdict *v, FILE *out)
{
	const struct session_parts *p = &g->parts;

	fprintf(out, " %-12s %-15s %-16s %-9s %12s %12s %12s %10s %13s  %s\n", "cell", "direction",
		"route", "bytes", "median[Gb/s]", "min[Gb/s]", "max[Gb/s]", "of_host[%]",
		"of_ceiling[%]", "data");
	for (unsigned i = 0; i < g->results; i++)
		if (g->result[i].windows || g->result[i].wrong_bytes)
			table_row(g, &g->result[i], out);
	fprintf(out, "\n");
	side_lines("client", &g->mine, p->my_end, out);
	side_lines("server", &g->theirs, p->their_end, out);
	model_lines(g, out);
	if (v->expected_gbps > 0)
		fprintf(out, " expected of healthy hosts: %.1f Gb/s, by the %s\n", v->expected_gbps,
			v->expected_from);
	fprintf(out, " %s\n", v->line);
	if (v->next[0])
		fprintf(out, " next: %s\n", v->next);
	fflush(out);
}

static json_t *result_json(const struct gdr *g, const struct gdr_result *r)
{
	const struct gdr_result *host = gdr_result_host(g->result, g->results, r);
	char route[32];
	json_t *to =
		json_pack("{s:s, s:s, s:s, s:I, s:i, s:I, s:f, s:f, s:f, s:f}", "cell",
			  gdr_cell_name(&r->cell), "direction",
			  r->cell.reverse ? "server_to_client" : "client_to_server", "route",
			  gdr_cell_route(&r->cell, route, sizeof(route)), "message_bytes",
			  (json_int_t)r->message_bytes, "windows", (int)r->windows, "messages",
			  (json_int_t)r->messages, "seconds", r->seconds, "bandwidth_gbps",
			  r->median, "bandwidth_min_gbps", r->min, "bandwidth_max_gbps", r->max);

	if (host && host != r)
		json_object_set_new(to, "of_host", json_real(r->median / host->median));
	if (r->ceiling_gbps > 0) {
		json_object_set_new(to, "ceiling_gbps", json_real(r->ceiling_gbps));
		json_object_set_new(to, "of_ceiling", json_real(r->median / r->ceiling_gbps));
	}
	json_object_set_new(to, "verified", json_boolean(r->verified && !r->wrong_bytes));
	if (r->verified) {
		json_object_set_new(to, "checked_bytes",
				    json_integer((json_int_t)r->checked_bytes));
		json_object_set_new(to, "wrong_bytes", json_integer((json_int_t)r->wrong_bytes));
	}
	if (r->wrong_bytes)
		json_object_set_new(to, "first_wrong_byte",
				    json_integer((json_int_t)r->first_wrong));
	return to;
}

static void to_document(const struct gdr *g, const struct verdict *v)
{
	struct report *r = g->parts.report;

	for (unsigned i = 0; i < g->results; i++)
		if (g->result[i].windows || g->result[i].verified)
			report_own_result(r, result_json(g, &g->result[i]));
	report_own_key(r, "gpu_ends",
		       json_pack("{s:o, s:o}", "client", gdr_side_json(&g->mine), "server",
				 gdr_side_json(&g->theirs)));
	report_own_key(r, "verdict",
		       json_pack("{s:s, s:o, s:s, s:o, s:f, s:f}", "level",
				 verdict_level_name(v->level), "text", json_text(v->line), "cause",
				 v->cause, "next", json_text(v->next), "ratio", v->ratio,
				 "expected_gbps", v->expected_gbps));
}

/* The columns are GDR_CSV_COLUMNS. */
static void to_csv(const struct gdr *g, FILE *out)
{
	char route[32];

	for (unsigned i = 0; i < g->results; i++) {
		const struct gdr_result *r = &g->result[i];
		const struct gdr_result *host = gdr_result_host(g->result, g->results, r);

		if (!r->windows)
			continue;
		fprintf(out,
			"gdr_bw,%s,%s,%s,%" PRIu64 ",%u,%" PRIu64
			",%.9g,%.9g,%.9g,%.9g,%.9g,%.9g,%" PRIu64 "\n",
			gdr_cell_name(&r->cell),
			r->cell.reverse ? "server_to_client" : "client_to_server",
			gdr_cell_route(&r->cell, route, sizeof(route)), r->message_bytes,
			r->windows, r->messages, r->seconds, r->median, r->min, r->max,
			host ? r->median / host->median : 0, r->ceiling_gbps, r->wrong_bytes);
	}
	fflush(out);
}

void gdr_show(struct gdr *g)
{
	FILE *out = report_own_table(g->parts.report), *csv = report_own_csv(g->parts.report);
	struct verdict v;

	for (unsigned i = 0; i < g->results; i++)
		gdr_result_settle(&g->result[i]);
	gdr_reach_verdict(g, &v);
	if (out)
		show_table(g, &v, out);
	to_document(g, &v);
	if (csv)
		to_csv(g, csv);
}
