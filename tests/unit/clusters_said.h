/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * clusters_said: what the judge says of a sweep, held against the
 * truth of the cluster.
 */
#ifndef RDMARK_TESTS_UNIT_CLUSTERS_SAID_H
#define RDMARK_TESTS_UNIT_CLUSTERS_SAID_H

#include "base/text.h"

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
	unsigned suspects, slots;
	char kinds[200]; /* of the suspects, and the codes of the notes */
	double reach;    /* what pairs reach on average of what their adapters can */
	double smallest; /* the smallest fault that would have been seen; NaN: not said */
};

/* What is looked for. */
struct said_asked {
	enum finding_code kind, note; /* 0: none */
};

/* True if the statement S is about the host or the leaf that has the fault. */
static inline bool said_is_it(const struct cluster *c, const struct judgement *j,
			      const struct statement *s)
{
	char leaf[16];

	if (s->about == ABOUT_GROUP) {
		snprintf(leaf, sizeof(leaf), "leaf%u", c->bad_leaf);
		return strcmp(j->groups->names.text[s->a], leaf) == 0;
	}
	return (s->about == ABOUT_PLAYER || s->about == ABOUT_HOST) && c->host != CLUSTER_NONE &&
	       strcmp(evidence_host(j->e, s->a), sweep_name(c, c->host * c->rails).host) == 0;
}

/* Read what the judgement J says of the cluster C. */
static inline struct said said_read(const struct cluster *c, const struct said_asked *asked,
				    const struct judgement *j)
{
	struct said said = {.status = judge_status(j), .smallest = j->smallest};

	for (uint32_t i = 0; i < j->statements; i++) {
		const struct statement *s = &j->statement[i];
		bool it = said_is_it(c, j, s);

		said.named |= it;
		said.as_kind |= it && asked->kind && s->code == asked->kind;
		said.suspects += s->about != ABOUT_ALL;
		said.note |= asked->note && s->code == asked->note;
		if (!strstr(said.kinds, finding_name(s->code)))
			text_add(said.kinds, sizeof(said.kinds), " %s", finding_name(s->code));
	}
	for (uint32_t i = 0; i < j->e->hosts.count; i++) {
		bool it = c->host != CLUSTER_NONE && c->trouble != TROUBLE_MISSES &&
			  !strcmp(j->e->hosts.text[i], sweep_name(c, c->host * c->rails).host);

		if (j->host[i] < HOST_SLOW)
			continue;
		said.drains |= !it && !c->faulty[i];
		said.drains_it |= it;
	}
	return said;
}

static inline void said_groups(const struct cluster *c, struct groups *g)
{
	for (uint32_t i = 0; i < c->hosts && c->with_groups; i++) {
		char leaf[16];

		snprintf(leaf, sizeof(leaf), "leaf%u", c->leaf[i]);
		assert_int_equal(groups_put(g, leaf, sweep_name(c, i * c->rails).host), 0);
	}
}

/* Judge what S has so far. PLAN gets what to measure next; the caller frees it. */
static inline struct said said_judge(const struct sweep *s, const struct said_asked *asked,
				     char **plan)
{
	struct evidence *e = malloc(sizeof(*e));
	struct groups groups = {0};
	struct judgement j = {0};
	struct said said;
	size_t bytes;
	FILE *to = open_memstream(plan, &bytes);

	assert_non_null(to);
	assert_non_null(e);
	sweep_evidence(s, e);
	said_groups(s->c, &groups);
	assert_int_equal(evidence_complete(e), 0);
	assert_int_equal(judgement_init(&j, e, &groups, 0), 0);
	judge_plan(to, &j);
	fclose(to);
	if (getenv("RDMARK_CLUSTERS_REPORT"))
		judge_report(stdout, &j);
	said = said_read(s->c, asked, &j);
	said.reach = sweep_reach(s);
	judgement_release(&j);
	groups_release(&groups);
	evidence_release(e);
	free(e);
	return said;
}

/* Sweep over C as the product does: all pairs; then what the judge plans, until it is sure. */
static inline void said_sweep(struct cluster *c, const struct said_asked *asked, struct said *first,
			      struct said *last)
{
	struct sweep *s = calloc(1, sizeof(*s));
	unsigned slots = 0;
	char *plan;

	assert_non_null(s);
	s->c = c;
	sweep_first(s);
	*last = *first = said_judge(s, asked, &plan);
	while (*plan) {
		slots += sweep_plan(s, plan);
		free(plan);
		*last = said_judge(s, asked, &plan);
	}
	last->slots = slots;
	free(plan);
	sweep_release(s);
	free(s);
}

#endif
