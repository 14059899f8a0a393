// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * judgement: over 1,000 made clusters, what was made slow is named, and nothing else is. The truth
 * is the script of pairs_world.h; RDMARK_JUDGEMENTS=N makes N times as many, and larger ones.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../../pairs/judge/judgement.h"
#include "pairs_world.h"

enum plan {
	SENDERS,
	RECEIVERS,
	BOTH,
	RAILS,
	LINKS,
	GROUPS,
	LOADED,
	HEALTHY,
	LATENCY,
	FEW, /* four to seven nodes, one or two of which are slow */
	PLANS
};

static const char *const plan_name[PLANS] = {"senders", "receivers", "both",    "rails",   "links",
					     "groups",  "loaded",    "healthy", "latency", "few"};

/*
 * Parts of those that were planted, and of the healthy ones: 99 % and 1 %, but where less is
 * reached. Of a few rounds in which several pairs are slow, or of much noise, the judge takes slow
 * pairs for what pairs reach there; and of four to six nodes so few pairs are good that noise makes
 * a slow one.
 */
static const struct {
	double found, wrong;
} bar[PLANS] = {[LINKS] = {.95, .01}, [FEW] = {.99, .015}};

struct score {
	unsigned worlds, planted, found, undecided, healthy, wrong;
};

static double severity(struct world *w, double least, double most)
{
	return least + (most - least) * world_even(w);
}

/* Make up to a fifth of the players slow; at least one. */
static void plant_players(struct world *w, enum plan plan)
{
	uint32_t n = world_players(w), most = n / 5 > 1 ? n / 5 : 1;

	for (uint32_t count = 1 + world_below(w, most); count; count--) {
		uint32_t i = world_below(w, n);
		double part = plan == LATENCY ? severity(w, .2, .4) : severity(w, .4, .85);

		if (plan == SENDERS || plan == BOTH || plan == RAILS || plan == LATENCY)
			w->sends[i] = part;
		if (plan == RECEIVERS || plan == BOTH || plan == LATENCY)
			w->receives[i] = part;
		if (plan == LOADED)
			w->loaded[i] = part;
	}
}

/* One rail of a node only, or else it is the node. */
static void plant_rails(struct world *w)
{
	uint32_t most = w->nodes / 5 > 1 ? w->nodes / 5 : 1;

	for (uint32_t count = 1 + world_below(w, most); count; count--) {
		uint32_t node = world_below(w, w->nodes), i = node * w->rails;

		if (w->sends[i] == 1 && w->sends[i + 1] == 1)
			w->sends[i + world_below(w, 2)] = severity(w, .4, .85);
	}
}

/* True if a slow link has the player I, as numbered in the body, at an end. */
static bool has_link(const struct world *w, uint32_t i)
{
	for (uint32_t k = 0; k < w->links; k++)
		if (w->link[k][0] == i || w->link[k][1] == i)
			return true;
	return false;
}

/*
 * Slow down some of the pairs that the schedule has; those are only known when it has run. No two
 * share a node: these would be that node's.
 */
static void plant_links(struct world *w, struct body *b)
{
	uint32_t most = w->nodes / 8 > 4 ? 4 : w->nodes / 8;

	for (uint32_t count = 1 + world_below(w, most); count; count--) {
		struct body_try *t = &b->tries[world_below(w, b->count)];
		double part = severity(w, .25, .55);

		if (has_link(w, t->from) || has_link(w, t->to))
			continue;
		w->link[w->links][0] = t->from;
		w->link[w->links++][1] = t->to;
		for (uint32_t i = 0; i < b->count; i++)
			if (b->tries[i].from == t->from && b->tries[i].to == t->to)
				b->tries[i].value *= (float)part;
	}
}

/* Measure those that are slow again, alone, with three others. */
static void repeat_alone(struct world *w, struct body *b)
{
	for (uint32_t i = 0; i < world_players(w); i++)
		for (uint32_t k = 1; k <= 3 && w->loaded[i] < 1; k++) {
			uint32_t to = (i + k * 2) % world_players(w);

			world_try(w, b, i, to, k, true);
			world_try(w, b, to, i, k, true);
		}
}

/* Two slow ones are slow in both ways, one in either or both. */
static void plant_few(struct world *w)
{
	uint32_t first = world_below(w, w->nodes), count = 1 + world_below(w, 2);
	uint32_t ways = count == 2 ? 3 : 1 + world_below(w, 3);

	for (uint32_t i = first; i < first + count; i++) {
		if (ways & 1)
			w->sends[i % w->nodes] = severity(w, .3, .7);
		if (ways & 2)
			w->receives[i % w->nodes] = severity(w, .3, .7);
	}
}

static void plant(struct world *w, enum plan plan)
{
	if (plan == FEW)
		plant_few(w);
	else if (plan == RAILS)
		plant_rails(w);
	else if (plan == GROUPS) {
		w->group_from = world_below(w, w->groups);
		w->group_to = (w->group_from + 1 + world_below(w, w->groups - 1)) % w->groups;
		w->group_part = severity(w, .4, .8);
	} else if (plan != LINKS && plan != HEALTHY)
		plant_players(w, plan);
}

/* True if player I, by its first number, is one that was made slow. */
static bool is_planted(const struct world *w, uint32_t i)
{
	return w->sends[i] < 1 || w->receives[i] < 1 || w->loaded[i] < 1;
}

/* The suspect that names the player NAME and no pair, or NULL. */
static const struct suspect *find_player(const struct judgement *j, const char *name)
{
	for (uint32_t i = 0; i < j->suspects.count; i++) {
		const struct suspect *s = &j->suspects.of[i];

		if (s->kind < SUSPECT_PAIR && s->kind != SUSPECT_GROUP &&
		    strcmp(j->body->names.text[s->a], name) == 0)
			return s;
	}
	return NULL;
}

/* True if the judge says that it cannot tell whether the player NAME is slow, or its rack. */
static bool is_undecided(const struct judgement *j, const char *name)
{
	uint32_t i = names_find(&j->body->names, name);

	return i != NAMES_NONE && j->fit.of[i].doubtful && j->cannot_tell;
}

static bool named_rightly(const struct world *w, enum plan plan, uint32_t i,
			  const struct suspect *s)
{
	if (!s)
		return false;
	if (plan == LATENCY)
		return s->kind == SUSPECT_LATENCY;
	if (plan == LOADED)
		return s->kind == SUSPECT_NODE && s->sends && s->receives &&
		       s->proof == SUSPECT_LOAD;
	return s->kind == (plan == RAILS ? SUSPECT_RAIL : SUSPECT_NODE) &&
	       s->sends == (w->sends[i] < 1) && s->receives == (w->receives[i] < 1);
}

static void name_player(const struct world *w, uint32_t i, char *name, size_t size)
{
	if (w->rails > 1)
		snprintf(name, size, "n%u/mlx5_%u", i / w->rails + 1, i % w->rails);
	else
		snprintf(name, size, "n%u", i + 1);
}

static bool is_link(const struct world *w, const struct judgement *j, const struct suspect *s)
{
	for (uint32_t i = 0; i < w->links; i++) {
		char from[32], to[32];

		name_player(w, w->link[i][0], from, sizeof(from));
		name_player(w, w->link[i][1], to, sizeof(to));
		if (strcmp(j->body->names.text[s->a], from) == 0 &&
		    strcmp(j->body->names.text[s->b], to) == 0)
			return true;
		if (s->receives && strcmp(j->body->names.text[s->b], from) == 0 &&
		    strcmp(j->body->names.text[s->a], to) == 0)
			return true;
	}
	return false;
}

static bool is_group(const struct world *w, const struct judgement *j, const struct suspect *s)
{
	char from[16], to[16];

	snprintf(from, sizeof(from), "g%u", w->group_from);
	snprintf(to, sizeof(to), "g%u", w->group_to);
	return !s->receives && strcmp(j->groups->names.text[s->a], from) == 0 &&
	       strcmp(j->groups->names.text[s->b], to) == 0;
}

/* Count what the judgement says against what was planted. */
static void compare(const struct world *w, enum plan plan, const struct judgement *j,
		    struct score *to)
{
	for (uint32_t i = 0; i < world_players(w); i++) {
		const struct suspect *s;
		char name[32];

		name_player(w, i, name, sizeof(name));
		s = find_player(j, name);
		if (is_planted(w, i)) {
			to->planted++;
			to->found += named_rightly(w, plan, i, s);
			to->undecided += is_undecided(j, name);
		} else {
			to->healthy++;
			to->wrong += s != NULL;
		}
	}
	to->planted += w->links + (w->group_from != NAMES_NONE);
	for (uint32_t i = 0; i < j->suspects.count; i++) {
		const struct suspect *s = &j->suspects.of[i];

		if (s->kind == SUSPECT_GROUP) {
			to->found += is_group(w, j, s);
			to->wrong += !is_group(w, j, s);
		} else if (s->kind >= SUSPECT_PAIR) {
			to->found += is_link(w, j, s);
			to->wrong += !is_link(w, j, s);
		}
	}
}

static void make_groups(const struct world *w, struct groups *g)
{
	for (uint32_t i = 0; i < w->nodes && w->groups; i++) {
		char group[16], host[16];

		snprintf(group, sizeof(group), "g%u", world_group(w, i * w->rails));
		snprintf(host, sizeof(host), "n%u", i + 1);
		assert_int_equal(groups_put(g, group, host), 0);
	}
}

static void judge_world(struct world *w, enum plan plan, struct score *to)
{
	struct groups groups = {0};
	struct judgement j;
	struct body b;

	world_init(w);
	plant(w, plan);
	world_measure(w, &b);
	if (plan == LINKS)
		plant_links(w, &b);
	repeat_alone(w, &b);
	/* players were added in the order in which a schedule meets them: links go by name */
	for (uint32_t i = 0; i < w->links * 2; i++) {
		unsigned node = 0, rail = 0;

		sscanf(b.names.text[w->link[i / 2][i % 2]], "n%u/mlx5_%u", &node, &rail);
		w->link[i / 2][i % 2] = (node - 1) * w->rails + rail;
	}
	assert_int_equal(body_complete(&b), 0);
	make_groups(w, &groups);
	assert_int_equal(judgement_init(&j, &b, &groups, 0), 0);
	compare(w, plan, &j, to);
	to->worlds++;
	judgement_release(&j);
	groups_release(&groups);
	body_release(&b);
	world_release(w);
}

/* The size of cluster number SEED: mostly small, so that 1,000 take seconds. */
static void draw_size(struct world *w, enum plan plan, uint64_t seed, bool large)
{
	static const uint32_t full[] = {8, 16, 24, 32, 48, 64}, quick[] = {32, 64, 96, 128, 256};

	if (plan == FEW) {
		w->nodes = 4 + world_below(w, 4);
		return;
	}
	w->quick = seed % 2;
	w->nodes = w->quick ? quick[world_below(w, 5)] : full[world_below(w, 6)];
	if (seed % 50 == 0)
		w->nodes = 192;
	if (seed % 50 == 1)
		w->nodes = 2048;
	if (large && seed % 50 == 0)
		w->nodes = 1024;
	if (plan == RAILS) {
		w->rails = 2;
		w->nodes = w->nodes > 64 ? w->nodes / 2 : w->nodes;
	}
	if (plan == GROUPS) {
		w->groups = w->nodes < 32 ? 2 : 4;
	}
}

static void judge_plan(enum plan plan)
{
	const char *more = getenv("RDMARK_JUDGEMENTS");
	unsigned times = more ? (unsigned)atoi(more) : 1;
	struct score s = {0};

	/* Few nodes are judged in no time, and of fewer than 1,000 clusters 1 % is chance. */
	times *= plan == FEW ? 10 : 1;
	for (uint64_t seed = 0; seed < 120 * (uint64_t)times; seed++) {
		struct world w = {.x = seed * 1000 + plan, .rails = 1, .latency = plan == LATENCY};

		draw_size(&w, plan, seed, more != NULL);
		w.noise = .01 + .04 * world_even(&w);
		w.missing = plan == FEW ? 0 : .02;
		judge_world(&w, plan, &s);
	}
	print_message("%-9s %4u clusters: %u of %u found, %u undecided, %u of %u healthy ones "
		      "named\n",
		      plan_name[plan], s.worlds, s.found, s.planted, s.undecided, s.wrong,
		      s.healthy);
	assert_true(s.found + s.undecided >=
		    (bar[plan].found > 0 ? bar[plan].found : .99) * s.planted);
	assert_true(s.undecided <= .02 * s.planted);
	assert_true(s.wrong <= (bar[plan].wrong > 0 ? bar[plan].wrong : .01) * s.healthy);
}

#define PLAN_TEST(name, plan)          \
	static void name(void **state) \
	{                              \
		(void)state;           \
		judge_plan(plan);      \
	}

PLAN_TEST(slow_senders, SENDERS)
PLAN_TEST(slow_receivers, RECEIVERS)
PLAN_TEST(slow_both_ways, BOTH)
PLAN_TEST(slow_rails, RAILS)
PLAN_TEST(slow_links, LINKS)
PLAN_TEST(slow_groups, GROUPS)
PLAN_TEST(slow_under_load, LOADED)
PLAN_TEST(healthy_clusters, HEALTHY)
PLAN_TEST(high_latency, LATENCY)
PLAN_TEST(few_nodes, FEW)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(slow_senders),    cmocka_unit_test(slow_receivers),
		cmocka_unit_test(slow_both_ways),  cmocka_unit_test(slow_rails),
		cmocka_unit_test(slow_links),      cmocka_unit_test(slow_groups),
		cmocka_unit_test(slow_under_load), cmocka_unit_test(healthy_clusters),
		cmocka_unit_test(high_latency),    cmocka_unit_test(few_nodes),
	};

	return cmocka_run_group_tests_name("judgement", tests, NULL, NULL);
}
