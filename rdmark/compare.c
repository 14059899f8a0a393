// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Compares two files of documents: what has changed, and whether that is more than noise. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/units.h"
#include "figures.h"
#include "rdmark.h"
#include "report/forms.h"
#include "report/list.h"
#include "wire/fields.h"

#define USAGE "rdmark compare A.json B.json [--within PERCENT] [--json]"

struct compare {
	const char *file[FIGURES_SIDES];
	double within; /* percent; NaN: not given */
	bool json;
	struct figures figures;
	size_t compared, regressions, alone[FIGURES_SIDES];
	json_t *changes; /* array, for --json */
};

/* "same": not more than noise; "better?" and "worse?": the noise is not known. */
static const char *judge_change(const struct figures_change *c)
{
	static const char *const word[2][2] = {{"better", "worse"}, {"better?", "worse?"}};

	if (!figures_moved(c) || c->percent == 0)
		return "same";
	return word[isnan(c->half_percent)][figures_worse(c)];
}

static bool is_regression(const struct compare *k, const struct figures_change *c)
{
	return figures_worse(c) && figures_moved(c) && fabs(c->percent) > k->within;
}

/* The text of KEY in O; "" if there is none. */
static const char *change_text(const json_t *o, const char *key)
{
	const char *text = json_string_value(json_object_get(o, key));

	return text ? text : "";
}

/* "latency_p99_9_us" is shown as "p99.9". */
static const char *short_name(const char *figure, char *buf, size_t size)
{
	const char *from = strncmp(figure, "latency_", 8) == 0 ? figure + 8 : figure;
	char *c;

	text_copy(buf, size, from);
	buf[strcspn(buf, "u")] = '\0';
	if (strcmp(figure, "bandwidth_gbps") == 0)
		snprintf(buf, size, "rate");
	c = strrchr(buf, '_');
	if (c && !c[1])
		*c = '\0';
	c = strchr(buf, '_');
	if (c)
		*c = '.';
	return buf;
}

static void print_change(const struct compare *k, const struct figures_change *c)
{
	const char *unit = c->latency ? "us" : "Gb/s", *cell = change_text(c->of, "cell");
	char name[32], before[32], after[32], half[32], test[64];

	if (!k->compared)
		printf("%-16s %-8s %4s  %-6s %14s %14s %9s %9s\n", "test", "size", "QPs", "figure",
		       "before", "after", "change", "+-");
	snprintf(test, sizeof(test), "%.20s%s%.20s", change_text(c->of, "test"), *cell ? "/" : "",
		 cell);
	text_disarm(test);
	snprintf(before, sizeof(before), "%.4g %s", c->mean[0], unit);
	snprintf(after, sizeof(after), "%.4g %s", c->mean[1], unit);
	snprintf(half, sizeof(half), isnan(c->half_percent) ? "?" : "%.2f %%", c->half_percent);
	printf("%-16s %-8s %4lld  %-6s %14s %14s %+7.2f %% %9s  %s%s\n", test,
	       units_size((uint64_t)json_integer_value(json_object_get(c->of, "message_bytes")))
		       .text,
	       json_integer_value(json_object_get(c->of, "qps")),
	       short_name(change_text(c->of, "figure"), name, sizeof(name)), before, after,
	       c->percent, half, judge_change(c), is_regression(k, c) ? ", REGRESSION" : "");
}

static json_t *side_json(const struct figures_change *c, int side)
{
	return json_pack("{s:f, s:I}", "mean", c->mean[side], "runs", (json_int_t)c->runs[side]);
}

static json_t *change_json(const struct compare *k, const struct figures_change *c)
{
	static const char *const same[] = {"test", "message_bytes", "qps",   "direction",
					   "cell", "route",         "figure"};
	bool known = !isnan(c->half_percent);
	json_t *to = json_object();

	for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++)
		json_object_set(to, same[i], json_object_get(c->of, same[i]));
	json_object_set_new(to, "before", side_json(c, 0));
	json_object_set_new(to, "after", side_json(c, 1));
	json_object_set_new(to, "change_percent", json_real(c->percent));
	json_object_set_new(to, "plus_minus_percent",
			    known ? json_real(c->half_percent) : json_null());
	json_object_set_new(to, "more_than_noise",
			    known ? json_boolean(figures_moved(c)) : json_null());
	json_object_set_new(to, "worse", json_boolean(figures_worse(c)));
	json_object_set_new(to, "regression", json_boolean(is_regression(k, c)));
	return to;
}

static void compare_figures(struct compare *k)
{
	void *iter = json_object_iter(k->figures.all);

	for (; iter; iter = json_object_iter_next(k->figures.all, iter)) {
		struct figures_change c;

		if (!figures_change(iter, &c)) {
			k->alone[c.runs[0] ? FIGURES_BEFORE : FIGURES_AFTER]++;
			continue;
		}
		if (k->json)
			json_array_append_new(k->changes, change_json(k, &c));
		else
			print_change(k, &c);
		k->compared++;
		k->regressions += is_regression(k, &c);
	}
}

/* Print what follows the rows, and raise a fault if nothing was compared or something is worse. */
static void conclude_compare(struct compare *k, struct fault *f)
{
	json_t *all;
	char *text;
	int rc;

	fault_phase(f, "comparing");
	for (int i = 0; i < FIGURES_SIDES; i++)
		if (k->alone[i])
			fprintf(stderr, RDMARK ": figures only in %s: %zu\n", k->file[i],
				k->alone[i]);
	if (k->json) {
		all = json_pack("{s:s, s:o, s:o, s:o, s:O, s:I}", "generator",
				"rdmark " RDMARK_VERSION, "before", json_text(k->file[0]), "after",
				json_text(k->file[1]),
				"within_percent",
				isnan(k->within) ? json_null() : json_real(k->within), "changes",
				k->changes, "regressions", (json_int_t)k->regressions);
		text = json_line(all, JSON_INDENT(2) | JSON_REAL_PRECISION(9));
		rc = document_put("-", text, f);
		free(text);
		if (rc)
			return;
	}
	if (!k->compared) {
		fault_raise(f, FAULT_USAGE, 0, "%s and %s have nothing in common", k->file[0],
			    k->file[1]);
		fault_fix(f, "compare runs of the same tests, sizes and numbers of QPs");
	} else if (k->regressions) {
		fault_raise(f, FAULT_THRESHOLD, 0,
			    "%zu of %zu figures are worse by more than %g %%", k->regressions,
			    k->compared, k->within);
	}
}

/* Parse the command line. Returns the invalid argument, "" if a file is missing, NULL if valid. */
static const char *read_arguments(struct compare *k, char **argv)
{
	int files = 0;

	for (; *argv; argv++) {
		const char *within = NULL;

		if (strcmp(*argv, "--json") == 0) {
			k->json = true;
		} else if (strncmp(*argv, "--within=", 9) == 0) {
			within = *argv + 9;
		} else if (strcmp(*argv, "--within") == 0) {
			if (!argv[1])
				return *argv;
			within = *++argv;
		} else if (**argv == '-' || files == FIGURES_SIDES) {
			return *argv;
		} else {
			k->file[files++] = *argv;
		}
		if (within && units_parse_decimal(within, &k->within))
			return within;
	}
	return files == FIGURES_SIDES ? NULL : "";
}

int compare_command(char **argv)
{
	struct compare k = {.within = NAN};
	struct fault f = {0};
	const char *wrong = read_arguments(&k, argv);
	int written;

	if (wrong)
		return rdmark_unknown("compare", wrong, USAGE);
	k.changes = json_array();
	fault_phase(&f, "reading the documents");
	if (figures_read(&k.figures, FIGURES_BEFORE, k.file[0], &f) == 0 &&
	    figures_read(&k.figures, FIGURES_AFTER, k.file[1], &f) == 0) {
		compare_figures(&k);
		conclude_compare(&k, &f);
	}
	json_decref(k.changes);
	figures_release(&k.figures);
	written = list_finish(stdout, RDMARK);
	return fault_is(&f) ? rdmark_failed(&f) : written;
}
