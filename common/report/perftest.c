// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Drop-in mode: the words around the table that scripts written for perftest look for. What they
 * rely on is a fact about other people's parsers; see tests/cli for those that are checked.
 */
#include "report/forms.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "wire/json_text.h"

void perftest_rule(FILE *out)
{
	fprintf(out,
		"---------------------------------------------------------------------------------------\n");
}

void perftest_waiting(FILE *out)
{
	fprintf(out, "\n************************************\n"
		     "* Waiting for client to connect... *\n"
		     "************************************\n");
}

static void address_line(const char *which, const struct report *r, const struct qp_address *a,
			 unsigned i, FILE *out)
{
	fprintf(out, " %s address: LID %04x QPN 0x%04x PSN 0x%06x", which, a->lid, a->qpn[i],
		a->psn[i]);
	if (r->about.writes)
		fprintf(out, " RKey 0x%06x VAddr 0x%016" PRIx64, a->rkey, a->addr + i * a->stride);
	fprintf(out, "\n");
}

static void gid_line(const struct end *e, const struct qp_address *a, FILE *out)
{
	if (e->gid_index < 0)
		return;
	fprintf(out, " GID: ");
	for (int i = 0; i < 16; i++)
		fprintf(out, "%02u%s", a->gid.raw[i], i < 15 ? ":" : "\n");
}

/* perftest has no -R without what -z means. */
static const char *exchange_method(const struct report *r)
{
	const struct options *o = r->about.options;

	return o->experiment.rdma_cm || o->local.comm_rdma_cm ? "rdma_cm" : "Ethernet";
}

static void address_lines(const char *which, const struct report *r, const struct end *e,
			  const struct qp_address *a, FILE *out)
{
	for (unsigned i = 0; i < a->count; i++) {
		address_line(which, r, a, i, out);
		gid_line(e, a, out);
	}
}

static const char *connection(const struct experiment *e)
{
	static const char *const name[] = {"RC", "UC", "UD"};

	return name[e->connection];
}

/* "Send Bidirectional BW Test": the word stands behind the operation. */
static void title_line(const struct report *r, FILE *out)
{
	size_t first = strcspn(r->about.title, " ");
	bool both = r->about.options->experiment.bidirectional;

	fprintf(out, "                    %.*s%s%s\n", (int)first, r->about.title,
		both ? " Bidirectional" : "", r->about.title + first);
}

void perftest_banner(const struct report *r, const struct report_ends *ends, FILE *out)
{
	const struct report_effective *e = ends->effective;
	const struct end *mine = ends->mine[0];
	unsigned qps = ends->my_qps[0]->count * ends->rails * ends->threads;
	const struct experiment *x = &r->about.options->experiment;

	perftest_rule(out);
	title_line(r, out);
	fprintf(out, " Dual-port       : OFF\t\tDevice         : %s\n", mine->device);
	fprintf(out, " Number of qps   : %u\t\tTransport type : IB\n", qps);
	fprintf(out, " Connection type : %s\t\tUsing SRQ      : %s\n", connection(x),
		x->use_srq ? "ON" : "OFF");
	fprintf(out, " PCIe relax order: %s\n", x->strict_order ? "OFF" : "ON");
	fprintf(out, " ibv_wr* API     : OFF\n");
	if (r->about.server && e->rx_depth)
		fprintf(out, " RX depth        : %u\n", e->rx_depth);
	else if (!r->about.server)
		fprintf(out, " TX depth        : %u\n", e->tx_depth);
	if (!r->about.latency)
		fprintf(out, " CQ Moderation   : %u\n", e->cq_mod);
	fprintf(out, " Mtu             : %u[B]\n", e->mtu_bytes);
	fprintf(out, " Link type       : %s\n",
		strcmp(mine->link_layer, "Ethernet") == 0 ? "Ethernet" : "IB");
	if (mine->gid_index >= 0)
		fprintf(out, " GID index       : %" PRId64 "\n", mine->gid_index);
	fprintf(out, " Max inline data : %u[B]\n", e->inline_bytes);
	fprintf(out, " rdma_cm QPs\t : %s\n Data ex. method : %s\n", x->rdma_cm ? "ON" : "OFF",
		exchange_method(r));
	perftest_rule(out);
	for (unsigned i = 0; i < ends->rails; i++)
		address_lines("local", r, ends->mine[i], ends->my_qps[i], out);
	for (unsigned i = 0; i < ends->rails; i++)
		address_lines("remote", r, ends->theirs[i], ends->their_qps[i], out);
	perftest_rule(out);
	fflush(out);
}

/* perftest's latency table under -D has four columns. */
static void by_duration(const struct record *rec, bool header, FILE *out)
{
	if (header)
		fprintf(out, " #bytes        #iterations       t_avg[usec]    tps average\n");
	else
		fprintf(out, " %-7" PRIu64 "       %-10" PRIu64 "        %-7.2f        %-7.2f\n",
			rec->message_bytes, rec->messages, rec->latency_mean_us,
			rec->messages_per_s);
}

void perftest_row(const struct report *r, const struct report_result *result,
		  const struct record *rec, FILE *out)
{
	bool four = r->about.latency && r->about.options->experiment.duration_ns;

	if (!r->header_done) {
		if (four)
			by_duration(rec, true, out);
		else
			table_header(r, out);
	}
	if (result->samples_us) {
		table_samples(r, result, rec->messages - rec->lost, out);
		perftest_rule(out);
		table_header(r, out);
	}
	if (four)
		by_duration(rec, false, out);
	else
		table_row(r, rec, result->cpu_percent, out);
}

/* One key a line, since awk and grep read it; numbers bare. Rounded as perftest does. */
static void pair(FILE *out, const char *key, const char *value, bool text, bool last)
{
	fprintf(out, text ? "\"%s\": \"%s\"%s\n" : "\"%s\": %s%s\n", key, value, last ? "" : ",");
}

static void number(FILE *out, const char *key, double v, int digits, bool last)
{
	char text[352]; /* the longest double */

	snprintf(text, sizeof(text), "%.*f", digits, isfinite(v) ? v : 0);
	pair(out, key, text, false, last);
}

/* As it is: by way of a double, a count near 2^63 would come out as no integer JSON can hold. */
static void count(FILE *out, const char *key, const json_t *row, const char *name)
{
	char text[24];

	snprintf(text, sizeof(text), "%" JSON_INTEGER_FORMAT,
		 json_integer_value(json_object_get(row, name)));
	pair(out, key, text, false, false);
}

/* A text from outside, with whatever must be escaped in it. */
static void foreign(FILE *out, const char *key, const char *value)
{
	json_t *string = json_text(value ? value : "");
	char *text = json_dumps(string, JSON_ENCODE_ANY);

	pair(out, key, text ? text : "\"\"", false, false);
	free(text);
	json_decref(string);
}

static void row_json(const struct report *r, const json_t *row, FILE *out)
{
	bool gbits = r->about.options->output.gbits, cpu = r->about.options->output.cpu_util;
	double scale = gbits ? 1 : 1e9 / 8 / 1048576.0;
	const char *lat[][2] = {{"t_min", "latency_min_us"},
				{"t_max", "latency_max_us"},
				{"t_typical", "latency_p50_us"},
				{"t_avg", "latency_mean_us"},
				{"t_stdev", "latency_stdev_us"},
				{"percentile_99", "latency_p99_us"},
				{"percentile_99.9", "latency_p99_9_us"}};
	size_t n = sizeof(lat) / sizeof(lat[0]);

	count(out, "MsgSize", row, "message_bytes");
	count(out, "n_iterations", row, "messages");
	if (r->about.latency) {
		for (size_t i = 0; i < n; i++)
			number(out, lat[i][0], json_number_value(json_object_get(row, lat[i][1])),
			       2, i + 1 == n);
		return;
	}
	number(out, "BW_peak",
	       scale * json_number_value(json_object_get(row, "bandwidth_peak_gbps")), 2, false);
	number(out, "BW_average", scale * json_number_value(json_object_get(row, "bandwidth_gbps")),
	       2, false);
	number(out, "MsgRate", json_number_value(json_object_get(row, "messages_per_s")) / 1e6, 6,
	       !cpu);
	if (cpu)
		number(out, "CPU_util", json_number_value(json_object_get(row, "cpu_percent")), 2,
		       true);
}

static void info_json(const struct report *r, FILE *out)
{
	const json_t *end = json_object_get(r->ends, r->about.server ? "server" : "client");
	const struct experiment *x = &r->about.options->experiment;
	const json_t *e = r->effective;
	const char *device = json_string_value(json_object_get(end, "device"));
	const char *link = json_string_value(json_object_get(end, "link_layer"));
	char test[64], gid[24];
	size_t i;

	snprintf(test, sizeof(test), "%s", r->about.title);
	for (i = 0; test[i]; i++)
		if (test[i] == ' ')
			test[i] = '_';
	snprintf(gid, sizeof(gid), "%" JSON_INTEGER_FORMAT,
		 json_integer_value(json_object_get(end, "gid_index")));
	pair(out, "test", test, true, false);
	pair(out, "Dual_port", "OFF", true, false);
	foreign(out, "Device", device);
	number(out, "Number_of_qps", (double)r->about.options->experiment.qps, 0, false);
	pair(out, "Transport_type", "IB", true, false);
	pair(out, "Connection_type", connection(x), true, false);
	pair(out, "Using_SRQ", x->use_srq ? "ON" : "OFF", true, false);
	pair(out, "PCIe_relax_order", r->about.options->experiment.strict_order ? "OFF" : "ON",
	     true, false);
	pair(out, "ibv_wr_API", "OFF", true, false);
	number(out, "TX_depth", json_number_value(json_object_get(e, "tx_depth")), 0, false);
	number(out, "CQ_Moderation", json_number_value(json_object_get(e, "cq_mod")), 0, false);
	number(out, "Mtu", json_number_value(json_object_get(e, "mtu_bytes")), 0, false);
	pair(out, "Link_type", link && strcmp(link, "Ethernet") == 0 ? "Ethernet" : "IB", true,
	     false);
	pair(out, "GID_index", gid, false, false);
	number(out, "Max_inline_data", json_number_value(json_object_get(e, "inline_bytes")), 0,
	       false);
	pair(out, "rdma_cm_QPs", r->about.options->experiment.rdma_cm ? "ON" : "OFF", true, false);
	pair(out, "Data_ex_method", exchange_method(r), true, true);
}

char *perftest_json(const struct report *r)
{
	size_t size, n = 0, rows = json_array_size(r->shown);
	const json_t *row;
	char *text = NULL;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	fprintf(out, "{\n\"test_info\": {\n");
	info_json(r, out);
	/* With one size `results` is perftest's object; with -a it is an array of them, so no row
	 * is lost. */
	fprintf(out, "},\n\"results\": %s{\n", rows > 1 ? "[\n" : "");
	json_array_foreach (r->shown, n, row) {
		if (n)
			fprintf(out, "},\n{\n");
		row_json(r, row, out);
	}
	fprintf(out, "}%s\n}\n", rows > 1 ? "\n]" : "");
	fclose(out);
	return text;
}
