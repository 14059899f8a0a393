/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * clusters_said: what the judge says of a sweep, read from its JSON document, and held against the
 * truth of the cluster.
 */
#ifndef RDMARK_TESTS_UNIT_CLUSTERS_SAID_H
#define RDMARK_TESTS_UNIT_CLUSTERS_SAID_H

#include <jansson.h>

#include "../../pairs/judge/judge.h"
#include "clusters_sweep.h"

/* What was said of one cluster. */
struct said {
	int status;
	bool named;     /* its host with a fault, or its leaf */
	bool as_kind;   /* with the kind that was asked for */
	bool note;      /* the note that was asked for is there */
	bool drains;    /* a host that has no fault, */
	bool drains_it; /* and the one that has */
	unsigned suspects;
	double reach;    /* what pairs reach on average of what their adapters can */
	double smallest; /* the smallest fault of a node that would have been named; NaN: not said
			  */
};

/* What is looked for. */
struct said_asked {
	const char *kind, *note; /* NULL: none */
};

static inline const char *said_text(const json_t *o, const char *key)
{
	const char *text = json_string_value(json_object_get(o, key));

	return text ? text : "";
}

static inline void said_leaf(char name[16], uint32_t leaf)
{
	snprintf(name, 16, "leaf%u", leaf);
}

/* True if the suspect O is about the host or the leaf that has the fault, and not for its load. */
static inline bool said_is_it(const struct cluster *c, const json_t *o)
{
	char leaf[16];

	if (json_object_get(o, "from") || !strcmp(said_text(o, "kind"), "slow_under_load"))
		return false;
	if (c->bad_leaf != CLUSTER_NONE) {
		said_leaf(leaf, c->bad_leaf);
		return !strcmp(said_text(o, "kind"), "group_slow") &&
		       !strcmp(said_text(o, "name"), leaf);
	}
	return c->host != CLUSTER_NONE &&
	       !strcmp(said_text(o, "host"), sweep_name(c, c->host * c->rails).host);
}

/* Take one host that would be drained. */
static inline void said_drain(struct said *said, const struct cluster *c, const char *host)
{
	bool it = c->host != CLUSTER_NONE && c->trouble != TROUBLE_MISSES &&
		  !strcmp(host, sweep_name(c, c->host * c->rails).host);

	said->drains |= !it;
	said->drains_it |= it;
}

/* The hosts of --suspects: those of the document, or those that the writer writes. */
static inline void said_drains(struct said *said, const struct cluster *c, const json_t *all,
			       const struct judgement *j)
{
	const json_t *list = json_object_get(all, "drain"), *host;
	char *text = NULL, *rest = NULL;
	size_t bytes = 0, i;
	FILE *to;

	json_array_foreach (list, i, host)
		said_drain(said, c, json_string_value(host));
	if (list)
		return;
	to = open_memstream(&text, &bytes);
	assert_non_null(to);
	judge_suspects(to, j);
	fclose(to);
	for (char *word = strtok_r(text, "\n", &rest); word; word = strtok_r(NULL, "\n", &rest))
		said_drain(said, c, word);
	free(text);
}

/* Read what the judgement J says of the cluster C. */
static inline struct said said_read(const struct cluster *c, const struct said_asked *asked,
				    const struct judgement *j)
{
	struct said said = {.status = judge_status(j), .smallest = NAN};
	char *text = judge_json(j);
	json_t *all = text ? json_loads(text, 0, NULL) : NULL;
	const json_t *o;
	size_t i;

	assert_non_null(all);
	json_array_foreach (json_object_get(all, "suspects"), i, o) {
		bool it = said_is_it(c, o);

		said.named |= it;
		said.as_kind |= it && asked->kind && !strcmp(said_text(o, "kind"), asked->kind);
		said.suspects++;
	}
	json_array_foreach (json_object_get(all, "notes"), i, o)
		said.note |= asked->note && !strcmp(said_text(o, "kind"), asked->note);
	o = json_object_get(all, "smallest_fault");
	if (json_is_number(o))
		said.smallest = json_number_value(o);
	if (json_object_get(all, "exit_status"))
		assert_int_equal(json_integer_value(json_object_get(all, "exit_status")),
				 said.status);
	said_drains(&said, c, all, j);
	json_decref(all);
	free(text);
	return said;
}

static inline void said_groups(const struct cluster *c, struct groups *g)
{
	for (uint32_t i = 0; i < c->hosts && c->with_groups; i++) {
		char leaf[16];

		said_leaf(leaf, c->leaf[i]);
		assert_int_equal(groups_put(g, leaf, sweep_name(c, i * c->rails).host), 0);
	}
}

/* Judge what S has so far. RETEST gets the pairs to measure again; the caller frees it. */
static inline struct said said_judge(const struct sweep *s, const struct said_asked *asked,
				     char **retest)
{
	struct groups groups = {0};
	struct judgement j = {0};
	struct said said;
	struct body b;
	size_t bytes;
	FILE *to = open_memstream(retest, &bytes);

	assert_non_null(to);
	sweep_body(s, &b);
	said_groups(s->c, &groups);
	assert_int_equal(body_complete(&b), 0);
	assert_int_equal(judgement_init(&j, &b, &groups, 0), 0);
	said = said_read(s->c, asked, &j);
	said.reach = sweep_reach(s);
	judge_retest(to, &j);
	fclose(to);
	judgement_release(&j);
	groups_release(&groups);
	body_release(&b);
	return said;
}

/* Measure the pairs of RETEST, "HOST HOST" a line, each alone. Returns how many there were. */
static inline unsigned said_again(struct sweep *s, char *retest)
{
	unsigned pairs = 0, a, b;
	char *rest = NULL;

	for (char *line = strtok_r(retest, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		if (*line == '#')
			continue;
		assert_int_equal(sscanf(line, "n%u n%u", &a, &b), 2);
		sweep_alone(s, a - 1, b - 1);
		pairs++;
	}
	return pairs;
}

/* Sweep over C as the product does: all pairs; then those in doubt, alone. */
static inline void said_sweep(struct cluster *c, const struct said_asked *asked, struct said *first,
			      struct said *last)
{
	struct sweep *s = calloc(1, sizeof(*s));
	char *retest;

	assert_non_null(s);
	s->c = c;
	sweep_first(s);
	*last = *first = said_judge(s, asked, &retest);
	if (said_again(s, retest)) {
		free(retest);
		*last = said_judge(s, asked, &retest);
	}
	free(retest);
	sweep_release(s);
	free(s);
}

#endif
