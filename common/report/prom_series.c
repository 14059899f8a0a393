// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "report/prom_series.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/composed.h"
#include "proto/fields.h"
#include "proto/json_memory.h"

/*
 * A family has the same text in all files, or node_exporter complains. All are gauges: each run
 * stands for itself, so a summary, whose count and sum may only grow, would be wrong, and so would
 * its label "quantile" on a gauge.
 */
static const struct {
	const char *name, *help;
} families[] = {
	[PROM_UP] = {"up", "1: the last run came to its end, 0: it failed or was interrupted."},
	[PROM_EXIT_STATUS] = {"exit_status", "Exit status of the last run; absent after a signal."},
	[PROM_THRESHOLDS_MET] = {"thresholds_met", "0: the last run missed a threshold that it was "
						   "given; absent if it did not come to its end."},
	[PROM_LAST_RUN] = {"last_run_timestamp_seconds", "When the last run ended."},
	[PROM_CHECK_OK] = {"check_ok", "0: --check found a fault of this port, or of the host."},
	[PROM_LINK_RATE] = {"link_rate_bytes_per_second", "Rate of the port."},
	[PROM_BANDWIDTH] = {"bandwidth_bytes_per_second", "Average bandwidth of the last run."},
	[PROM_MESSAGES] = {"messages_per_second", "Message rate of the last run."},
	[PROM_OF_CEILING] = {"of_ceiling_ratio",
			     "Bandwidth, as a share of what the link can carry."},
	[PROM_LATENCY] = {"latency_seconds",
			  "Latency of the last run, by the percentage of its messages that had "
			  "no more."},
	[PROM_LATENCY_MEAN] = {"latency_mean_seconds", "Average latency of the last run."},
	[PROM_LIMITED_BY] = {"limited_by", "What limits the bandwidth."},
	[PROM_DIAGNOSIS] = {"diagnosis", "A finding, by its code in rdmark(7)."},
	[PROM_PAIRS_NODES] = {"pairs_nodes", "Nodes of rdmark-pairs, by what became of them."},
	[PROM_PAIRS_NORMAL] = {"pairs_normal_bytes_per_second", "Bandwidth between good nodes."},
	[PROM_PAIRS_BANDWIDTH] = {"pairs_bandwidth_bytes_per_second",
				  "Median bandwidth of a node with its good partners."},
	[PROM_PAIRS_OF_NORMAL] = {"pairs_of_normal_ratio",
				  "What a node reaches, as a share of what is normal."},
	[PROM_PAIRS_SUSPECT] = {"pairs_suspect", "A node that is slow or lost, by kind."},
	[PROM_PAIRS_SUSPECTS] = {"pairs_suspects",
				 "How many nodes, rails, groups or pairs are slow or lost."},
};

void prom_label(json_t *labels, const char *name, const char *value)
{
	if (value && *value)
		json_object_set_new(labels, name, json_text(value));
}

static void put_escaped(const char *text, FILE *out)
{
	for (; *text; text++) {
		if (strchr("\\\"", *text))
			fputc('\\', out);
		fputs(*text == '\n' ? "\\n" : (char[]){*text, '\0'}, out);
	}
}

char *prom_labels(const json_t *labels)
{
	struct composed text;
	FILE *out = composed_open(&text);
	const char *name, *separator = "{";
	json_t *value;

	if (!out)
		return composed_close(&text);
	json_object_foreach((json_t *)labels, name, value)
	{
		fprintf(out, "%s%s=\"", separator, name);
		put_escaped(json_string_value(value), out);
		fputc('"', out);
		separator = ",";
	}
	fputs(*separator == '{' ? "" : "}", out);
	return composed_close(&text);
}

void prom_add(struct prom *p, enum prom_family family, const json_t *labels, double value)
{
	char *name = isfinite(value) ? prom_labels(labels) : NULL;

	p->failed |= isfinite(value) && !name;
	if (name && !json_object_get(p->series[family], name))
		json_object_set_new(p->series[family], name, json_real(value));
	free(name);
}

void prom_add_labelled(struct prom *p, enum prom_family family, const json_t *labels,
		       const char *name, const char *text, double value)
{
	json_t *all = json_copy((json_t *)labels);

	prom_label(all, name, text);
	prom_add(p, family, all, value);
	json_decref(all);
}

void prom_begin(struct prom *p, const char *file)
{
	const char *slash = strrchr(file, '/');

	*p = (struct prom){.labels = json_object(), .json_failures = json_memory_failures()};
	for (int i = 0; i < PROM_FAMILIES; i++)
		p->series[i] = json_object();
	prom_label(p->labels, "file", slash ? slash + 1 : file);
}

static void put_families(const struct prom *p, FILE *out)
{
	const char *name;
	json_t *value;

	for (int i = 0; i < PROM_FAMILIES; i++) {
		if (!json_object_size(p->series[i]))
			continue;
		fprintf(out, "# HELP rdmark_%s %s\n# TYPE rdmark_%s gauge\n", families[i].name,
			families[i].help, families[i].name);
		json_object_foreach(p->series[i], name, value) fprintf(
			out, "rdmark_%s%s %.10g\n", families[i].name, name, json_real_value(value));
	}
}

char *prom_end(struct prom *p)
{
	struct composed composed;
	FILE *out = composed_open(&composed);
	char *text;

	if (out)
		put_families(p, out);
	text = composed_close(&composed);
	json_decref(p->labels);
	for (int i = 0; i < PROM_FAMILIES; i++)
		json_decref(p->series[i]);
	if (!p->failed && json_memory_failures() == p->json_failures)
		return text;
	free(text);
	return NULL;
}
