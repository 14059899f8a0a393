// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What `rdmark-pairs judge` makes of any file: it is read and judged, each form is written, the
 * report has at most 40 lines, and a line that is read in place means what jansson reads.
 */
#include <math.h>

#include "../../pairs/judge/judge.h"
#include "../../pairs/judge/scan.h"
#include "fuzz.h"

static void check_line(const char *line, size_t bytes)
{
	struct scan a, b;
	size_t took = scan_line(&a, line, bytes);

	FUZZ_CHECK(took == scan_line_slowly(&b, line, bytes));
	for (int key = 0; key < SCAN_KEYS && took; key++) {
		FUZZ_CHECK(a.of[key].type == b.of[key].type);
		FUZZ_CHECK(a.of[key].type != SCAN_NUMBER || a.of[key].number == b.of[key].number);
		FUZZ_CHECK(a.of[key].type != SCAN_TEXT ||
			   (a.of[key].bytes == b.of[key].bytes &&
			    memcmp(a.of[key].text, b.of[key].text, a.of[key].bytes) == 0));
	}
	scan_release(&a);
	scan_release(&b);
}

static char *written(void (*writer)(FILE *, const struct judgement *), const struct judgement *j)
{
	char *text = NULL;
	size_t bytes = 0;
	FILE *to = open_memstream(&text, &bytes);

	writer(to, j);
	fclose(to);
	return text;
}

static void check_report(const struct judgement *j)
{
	char *text = written(judge_report, j);
	unsigned lines = 0;

	for (const char *c = text; *c; c++)
		lines += *c == '\n';
	FUZZ_CHECK(lines && lines <= 40);
	free(text);
}

static void check_json(const struct judgement *j)
{
	char *text = judge_json(j);
	json_t *d = json_loads(text, JSON_REJECT_DUPLICATES, NULL);

	FUZZ_CHECK(json_array_size(json_object_get(d, "suspects")) == j->suspects.count);
	json_decref(d);
	free(text);
}

static void check_judgement(const struct body *b, const struct groups *g)
{
	struct judgement j;

	FUZZ_CHECK(judgement_init(&j, b, g) == 0);
	check_report(&j);
	check_json(&j);
	free(written(judge_matrix, &j));
	free(written(judge_suspects, &j));
	free(written(judge_retest, &j));
	FUZZ_CHECK(judgement_compare(&j, &j) == 0);
	judgement_release(&j);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	FILE *file = size ? fmemopen((void *)data, size, "r") : NULL;
	struct groups groups = {0};
	struct body b;

	if (!file)
		return 0;
	for (size_t at = 0; at < size; at++) {
		const uint8_t *end = memchr(data + at, '\n', size - at);
		size_t bytes = end ? (size_t)(end - data) - at : size - at;

		check_line((const char *)data + at, bytes);
		at += bytes;
	}
	body_init(&b);
	FUZZ_CHECK(body_read(&b, file) == 0);
	FUZZ_CHECK(body_settle(&b) == 0);
	for (uint32_t i = 0; i < b.hosts.count && *data & 1; i++)
		groups_put(&groups, i & 2 ? "a" : "b", b.hosts.text[i]);
	check_judgement(&b, &groups);
	groups_release(&groups);
	body_release(&b);
	fclose(file);
	return 0;
}
