// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* perftest's JSON document: the facts of its banner, and the last row of its table. */
#include "report/report.h"
#include "report/table.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/composed.h"

#define WHOLE_MAX 9e18 /* the largest number that JSON readers accept */

/* Writes one key a line, for awk and grep; with a comma before all but the first. */
struct keys {
	FILE *out;
	bool begun;
};

static void put_key(struct keys *k, const char *key)
{
	fprintf(k->out, "%s\"%s\": ", k->begun ? ",\n" : "", key);
	k->begun = true;
}

/* Write V with as many digits as perftest. */
static void put_number(struct keys *k, const char *key, double v, int digits)
{
	put_key(k, key);
	fprintf(k->out, "%.*f", digits, !isfinite(v) ? 0 : digits ? v : fmin(v, WHOLE_MAX));
}

static void put_json_fact(void *arg, const struct perftest_fact *fact)
{
	struct keys *k = arg;
	json_t *word;
	char *text;

	if (!fact->key)
		return;
	if (!fact->word) {
		put_number(k, fact->key, (double)fact->number, 0);
		return;
	}
	word = json_text(fact->word);
	text = json_dumps(word, JSON_ENCODE_ANY);
	put_key(k, fact->key);
	fputs(text ? text : "\"\"", k->out);
	free(text);
	json_decref(word);
}

char *perftest_json(const struct report *r)
{
	const struct record *rec = &r->run.last;
	struct columns all = table_columns(r, rec, true);
	struct composed text;
	struct keys k = {composed_open(&text)};

	if (!k.out)
		return composed_close(&text);
	fprintf(k.out, "{\n\"test_info\": {\n");
	perftest_facts(r, put_json_fact, &k);
	fprintf(k.out, "\n},\n\"results\": {\n");
	k.begun = false;
	for (const struct column *c = all.column; c < all.column + all.count; c++)
		put_number(&k, c->key, table_value(r, rec, c), c->decimals);
	fprintf(k.out, "\n}\n}\n");
	return composed_close(&text);
}
