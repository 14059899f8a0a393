// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Compares two files of documents: what has changed, as far as that can be told. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/terminal.h"
#include "base/text.h"
#include "base/units.h"
#include "figures.h"
#include "rdmark.h"
#include "report/document.h"
#include "report/list.h"
#include "cli/command.h"
#include "proto/fields.h"
#include "proto/json_memory.h"

struct compare {
	double within; /* percent; NaN: not given */
	uint64_t json;
	struct figures figures;
	size_t answers[COMPARE_ANSWERS];
};

static bool is_disturbed(const struct figure *one)
{
	return one->judged->disturbed[0] || one->judged->disturbed[1];
}

/* The test, with what tells a row from others: "write_bw tx_depth=1 qp=4"; of -b the direction. */
static const char *row_title(const struct figure *one, char *buf, size_t size)
{
	const char *cell = json_text_at(one->of, "cell"), *step = json_text_at(one->of, "step"), *key;
	json_t *value;

	cell = *step ? step : cell;
	snprintf(buf, size, "%.20s%s%.20s", json_text_at(one->of, "test"), *cell ? "/" : "", cell);
	json_object_foreach((json_t *)one->varied, key, value)
	{
		char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);

		text_add(buf, size, " %.24s=%.24s", key, text ? text : "");
		free(text);
	}
	if (json_is_true(json_object_get(one->facts, "bidirectional")))
		text_add(buf, size, " %.20s", json_text_at(one->of, "direction"));
	text_disarm(buf);
	return buf;
}

/* "+3.14 %", without a fraction where that would be noise. */
static const char *percent_text(double fraction, bool sign, char *buf, size_t size)
{
	int digits = fabs(fraction) < 10 ? 2 : 0;

	if (isnan(fraction))
		return "?";
	snprintf(buf, size, sign ? "%+.*f %%" : "%.*f %%", digits,
		 fabs(fraction) < 5e-5 ? 0 : 100 * fraction);
	return buf;
}

static void print_figure(const struct compare *k, const struct figure *one, int width)
{
	const struct compare_figure *c = one->judged;
	const char *unit = c->lower_is_better ? "us" : "Gb/s";
	char value[2][32], change[32], half[32], title[192], answer[32], *gap;

	text_copy(answer, sizeof(answer), compare_word(c->answer));
	gap = strchr(answer, '_');
	if (gap)
		*gap = ' ';
	if (c->answer == COMPARE_WORSE && !isnan(k->within))
		text_copy(answer, sizeof(answer), "worse, REGRESSION");
	for (int side = 0; side < 2; side++)
		snprintf(value[side], sizeof(value[side]), "%.4g %s", exp(c->side[side].mean),
			 unit);
	printf("%-*s %-8s %4lld  %-6s %14s %14s %9s %9s  ", width,
	       row_title(one, title, sizeof(title)),
	       units_size((uint64_t)json_integer_value(json_object_get(one->of, "message_bytes")))
		       .text,
	       json_integer_value(json_object_get(one->of, "qps")), one->label, value[0], value[1],
	       percent_text(c->change, true, change, sizeof(change)),
	       percent_text(c->half, false, half, sizeof(half)));
	terminal_verdict(stdout, answer);
	terminal_put(stdout, TERMINAL_YELLOW, is_disturbed(one) ? " !" : "");
	printf("\n");
}

static void print_table(const struct compare *k)
{
	const struct figures *fs = &k->figures;
	bool disturbed = false;
	char title[192];
	int width = 16;

	for (size_t i = 0; i < fs->count; i++) {
		int n = (int)strlen(row_title(&fs->all[i], title, sizeof(title)));

		width = n > width ? n : width;
	}
	if (fs->count)
		printf("%-*s %-8s %4s  %-6s %14s %14s %9s %9s\n", width, "test", "size", "QPs",
		       "figure", "before", "after", "change", "+-");
	for (size_t i = 0; i < fs->count; i++) {
		print_figure(k, &fs->all[i], width);
		disturbed |= is_disturbed(&fs->all[i]);
	}
	if (disturbed)
		fprintf(stderr, RDMARK ": ! = at least one of its two runs was disturbed (quality in its document)\n");
}

static json_t *figure_json(const struct figure *one)
{
	const struct compare_figure *c = one->judged;
	json_t *to = json_copy((json_t *)one->of);
	json_t *more = json_pack(
		"{s:O, s:s, s:{s:f, s:I}, s:{s:f, s:I}, s:[I, I], s:b, s:o, s:s}", "varied",
		one->varied, "figure", one->name, "before", "mean", exp(c->side[0].mean), "runs",
		(json_int_t)one->runs[0], "after", "mean", exp(c->side[1].mean), "runs",
		(json_int_t)one->runs[1], "connections", (json_int_t)one->connections[0],
		(json_int_t)one->connections[1], "disturbed", is_disturbed(one), "plus_minus_percent",
		json_number_or_null(100 * c->half), "answer", compare_word(c->answer));

	json_object_update(to, more);
	json_object_set_new(to, "change_percent", json_real(100 * c->change));
	json_decref(more);
	return to;
}

static int print_json(const struct compare *k, struct fault *f)
{
	const struct figures *fs = &k->figures;
	json_t *changes = json_array(), *all;

	for (size_t i = 0; i < fs->count; i++)
		json_array_append_new(changes, figure_json(&fs->all[i]));
	all = json_pack("{s:s, s:o, s:o, s:o, s:o, s:I, s:I, s:I}", "generator",
			"rdmark " RDMARK_VERSION, "before", json_text(fs->file[0]), "after",
			json_text(fs->file[1]), "within_percent", json_number_or_null(k->within),
			"changes", changes, "regressions",
			isnan(k->within) ? 0 : (json_int_t)k->answers[COMPARE_WORSE], "cannot_tell",
			(json_int_t)k->answers[COMPARE_CANNOT_TELL], "lost", (json_int_t)fs->lost);
	return document_save("-", false, all, f);
}

/* Say of the figures that cannot be told why, and what would tell; as a failure if there is a gate.
 */
static void cannot_tell(const struct compare *k, struct fault *f)
{
	const struct figures *fs = &k->figures;
	size_t lone = 0, disturbed = 0;
	struct fault note = {0};
	struct fault *to = isnan(k->within) ? &note : f;

	for (size_t i = 0; i < fs->count; i++) {
		const struct compare_figure *c = fs->all[i].judged;

		lone += c->answer == COMPARE_CANNOT_TELL && c->lone;
		disturbed += c->answer == COMPARE_CANNOT_TELL && is_disturbed(&fs->all[i]);
	}
	fault_raise(to, FAULT_UNAVAILABLE, 0, "cannot tell for %zu of %zu figures",
		    k->answers[COMPARE_CANNOT_TELL], fs->count);
	if (lone)
		fault_cause(to,
			    "With one connection on each side, their spread is unknown: changes "
			    "below %g %%, and those of percentiles, cannot be told",
			    100 * COMPARE_BETWEEN);
	else if (disturbed)
		fault_cause(to, "%zu of them have a run that was disturbed (!)", disturbed);
	fault_fix(to, lone ? "measure both again with --reconnect 5"
			   : "measure both again over more connections (--reconnect), or tolerate more");
	if (to == &note)
		fault_print(to, RDMARK, stderr);
}

/* Raise a fault if nothing was compared, or what --within says if not all is well. */
static void conclude(const struct compare *k, struct fault *f)
{
	const struct figures *fs = &k->figures;
	size_t worse = k->answers[COMPARE_WORSE];
	char differ[192];

	for (int i = 0; i < FIGURES_SIDES; i++) {
		if (*fs->failed[i])
			fprintf(stderr, RDMARK ": %s: %s\n", fs->file[i], fs->failed[i]);
		if (fs->alone[i])
			fprintf(stderr, RDMARK ": figures only in %s: %zu\n", fs->file[i],
				fs->alone[i]);
	}
	if (!fs->count) {
		fault_raise(f, FAULT_USAGE, 0, "%s and %s have nothing in common", fs->file[0],
			    fs->file[1]);
		figures_tell_difference(fs, differ, sizeof(differ));
		if (*differ)
			fault_cause(f, "The experiments differ in %s", differ);
		fault_fix(f, "compare runs of the same tests, sizes, QPs and options");
	} else if (worse && !isnan(k->within)) {
		fault_raise(f, FAULT_THRESHOLD, 0,
			    "%zu of %zu figures are worse by more than %g %%", worse, fs->count,
			    k->within);
	} else if (fs->lost && !isnan(k->within)) {
		fault_raise(f, FAULT_UNAVAILABLE, 0, "%zu results of %s are not in %s", fs->lost,
			    fs->file[0], fs->file[1]);
		fault_cause(f, "A run that failed, or a rate of 0, leaves none");
		fault_fix(f, "measure the same for %s", fs->file[1]);
	} else if (k->answers[COMPARE_CANNOT_TELL]) {
		cannot_tell(k, f);
	}
}

static const struct option_row options[] = {
	COMMAND_OPTION(compare, within, "within", "PERCENT", COMMAND_PERCENT, 1e6,
		       "what may be worse; without it any change is shown"),
	COMMAND_OPTION(compare, json, "json", NULL, OPTION_FLAG, 0, "print a JSON document"),
	{.name = NULL},
};

/* Returns 0; 1: help was printed; -1 with FAULT_USAGE. */
static int read_arguments(struct compare *k, char **argv, struct fault *f)
{
	static const struct command compare = {.name = "rdmark compare",
					       .synopsis = "[OPTION...] A.json B.json",
					       .options = options,
					       .operands = true};
	char **rest;
	int rc = command_read(&compare, k, argv, &rest, f), files = 0;

	for (; rc == 0 && argv[files] && files < FIGURES_SIDES; files++)
		k->figures.file[files] = argv[files];
	if (rc || (files == FIGURES_SIDES && !argv[files] && !*rest))
		return rc;
	fault_raise(f, FAULT_USAGE, 0, "compare reads two files");
	return fault_fix(f, "rdmark compare %s", compare.synopsis);
}

static int compare_files(struct compare *k, struct fault *f)
{
	struct figures *fs = &k->figures;

	for (int side = 0; side < FIGURES_SIDES; side++)
		if (figures_read(fs, side, fs->file[side], f))
			return -1;
	if (figures_judge(fs, k->within / 100, f))
		return -1;
	for (size_t i = 0; i < fs->count; i++)
		k->answers[fs->all[i].judged->answer]++;
	if (k->json)
		return print_json(k, f);
	print_table(k);
	return json_memory_failures() ? fault_raise(f, FAULT_LOCAL, ENOMEM, "printing") : 0;
}

int compare_command(char **argv)
{
	struct compare k = {.within = NAN};
	struct fault f = {0};
	int rc = read_arguments(&k, argv + 2, &f);

	if (rc == 0 && compare_files(&k, &f) == 0)
		conclude(&k, &f);
	figures_release(&k.figures);
	return list_finish(RDMARK, &f, 0);
}
