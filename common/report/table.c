// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The default table: perftest's columns and order, which many scripts parse. */
#include "report/forms.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define MIB 1048576.0

/* Gb/s to what the table shows. */
static double shown(const struct report *r, double gbps)
{
	return r->about.options->output.gbits ? gbps : gbps * 1e9 / 8 / MIB;
}

void table_header(const struct report *r, FILE *out)
{
	const char *unit = r->about.options->output.gbits ? "Gb" : "MiB";

	if (r->about.latency)
		fprintf(out,
			" #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]    "
			"t_stdev[usec]   99%% percentile[usec]   99.9%% percentile[usec] \n");
	else
		fprintf(out,
			" #bytes     #iterations    BW peak[%s/sec]    BW average[%s/sec]   MsgRate[Mpps]%s\n",
			unit, unit, r->about.options->output.cpu_util ? "    CPU_Util[%]" : "");
}

static void bandwidth_row(const struct report *r, const struct record *rec, double cpu, FILE *out)
{
	fprintf(out, "     %-16.2f    %-19.2f   %.6f", shown(r, rec->bandwidth_peak_gbps),
		shown(r, rec->bandwidth_gbps), rec->messages_per_s / 1e6);
	if (r->about.options->output.cpu_util)
		fprintf(out, "        %.2f", cpu);
	fprintf(out, "\n");
}

void table_row(const struct report *r, const struct record *rec, double cpu_percent, FILE *out)
{
	fprintf(out, " %-7" PRIu64 "    %-10" PRIu64, rec->message_bytes, rec->messages);
	if (r->about.latency)
		fprintf(out,
			" %-11.2f    %-11.2f  %-15.2f    %-11.2f    %-13.2f   %-20.2f   %.2f\n",
			rec->latency_min_us, rec->latency_max_us, rec->latency_p50_us,
			rec->latency_mean_us, rec->latency_stdev_us, rec->latency_p99_us,
			rec->latency_p99_9_us);
	else
		bandwidth_row(r, rec, cpu_percent, out);
}

void table_only(const struct report *r, const struct record *rec, FILE *out)
{
	switch ((enum output_only)r->about.options->output.only) {
	case ONLY_BANDWIDTH:
		fprintf(out, "%f\n", shown(r, rec->bandwidth_gbps));
		break;
	case ONLY_LATENCY:
		fprintf(out, "%f\n", rec->latency_mean_us);
		break;
	default:
		fprintf(out, "%f\n", rec->messages_per_s / 1e6);
		break;
	}
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

void table_samples(const struct report *r, const struct report_result *result, uint64_t n,
		   FILE *out)
{
	double *sorted;

	fprintf(out, "#, usec\n");
	if (r->about.options->output.unsorted) {
		for (uint64_t i = 0; i < n; i++)
			fprintf(out, "%" PRIu64 ", %.6g\n", i + 1, result->samples_us[i]);
		return;
	}
	sorted = malloc(n * sizeof(*sorted) + 1);
	if (!sorted)
		return;
	memcpy(sorted, result->samples_us, n * sizeof(*sorted));
	qsort(sorted, n, sizeof(*sorted), by_value);
	for (uint64_t i = 0; i < n; i++)
		fprintf(out, "%" PRIu64 ", %.6g\n", i + 1, sorted[i]);
	free(sorted);
}
