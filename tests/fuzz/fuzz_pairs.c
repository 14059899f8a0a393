// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What `rdmark-pairs judge` makes of any file: it is read and judged, each form is written, and the
 * report has at most 40 lines.
 */
#include <jansson.h>
#include <math.h>

#include "../../pairs/judge/judge.h"
#include "fuzz.h"

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

	FUZZ_CHECK(json_array_size(json_object_get(d, "suspects")) +
			   json_array_size(json_object_get(d, "notes")) == j->statements);
	json_decref(d);
	free(text);
}

static void check_judgement(struct evidence *b, const struct groups *g)
{
	struct judgement j;

	FUZZ_CHECK(judgement_init(&j, b, g, 0) == 0);
	check_report(&j);
	check_json(&j);
	free(written(judge_matrix, &j));
	free(written(judge_suspects, &j));
	free(written(judge_plan, &j));
	judge_compare(&j, &j);
	judgement_release(&j);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	FILE *file = size ? fmemopen((void *)data, size, "r") : NULL;
	struct groups groups = {0};
	struct evidence b;

	if (!file)
		return 0;
	evidence_init(&b);
	FUZZ_CHECK(evidence_read(&b, file) == 0);
	FUZZ_CHECK(evidence_complete(&b) == 0);
	for (uint32_t i = 0; i < b.hosts.count && *data & 1; i++)
		groups_put(&groups, i & 2 ? "a" : "b", b.hosts.text[i]);
	check_judgement(&b, &groups);
	groups_release(&groups);
	evidence_release(&b);
	fclose(file);
	return 0;
}
