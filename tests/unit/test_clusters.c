// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * clusters: sweeps over made clusters of many kinds, as the judge sees them: the nodes that have a
 * fault are named, the others are not taken out of service. A kind is a row, with its bars.
 *
 * RDMARK_CLUSTERS=N makes N times as many of each kind; 5 is what the bars are about.
 * RDMARK_CLUSTERS_NO_CPU=1 lets the judge not know what threads had of their CPUs.
 * RDMARK_CLUSTERS_SEED=N takes others. With an argument, "latency" or "2:1*", only these kinds are
 * tried, and each sweep is a line.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "clusters_busy.h"
#include "clusters_more.h"
#include "clusters_said.h"

#define SEEDS 40
#define EACH  "RDMARK_CLUSTERS_EACH" /* set: print each sweep */

/* Parts of all sweeps of a row; 0: no bar, but for DRAINED. */
struct row {
	const char *name;
	void (*make)(struct cluster *c, unsigned seed);
	struct said_asked asked;
	double named, as_kind, noted, good, silent; /* at least */
	double drained;                             /* somebody without a fault; at most */
	bool or_cannot_tell; /* with exit status 77 a fault need not be named */
	bool never_good;     /* exit status 0 only if it is */
	bool never_named;
	double noted_below; /* NOTED is of sweeps whose pairs reach less on average; 0: of all */
	double fine;        /* exit status 0, or 77, at least */
	bool as_said; /* sweep again with the smallest fault that the judge says it would name */
	enum rows_noise noise;
};

#define STATUSES 4

static const int status_of[STATUSES] = {0, 3, 6, 77};

struct score {
	unsigned sweeps, named_first, named, as_kind, told, noted, silent, good_unnamed;
	unsigned drained, drained_it, status[STATUSES], to_note, slots;
};

static void take(const struct row *row, struct score *to, const struct said *first,
		 const struct said *last)
{
	bool to_note = !(row->noted_below > 0 && first->reach >= row->noted_below);

	to->sweeps++;
	to->named_first += first->named;
	to->named += last->named;
	to->as_kind += last->as_kind;
	to->told += last->named || last->status == 77;
	to->to_note += to_note;
	to->noted += to_note && last->note;
	to->silent += !last->suspects;
	to->good_unnamed += !last->named && !last->status;
	to->slots += last->slots;
	to->drained += last->drains;
	to->drained_it += last->drains_it;
	for (int i = 0; i < STATUSES; i++)
		to->status[i] += last->status == status_of[i];
}

static double percent(const struct score *s, unsigned of)
{
	return 100. * of / s->sweeps;
}

static void print_score(const struct row *row, const struct score *s)
{
	enum finding_code note = row->asked.note;

	print_message("%s: %u seeds, named %.1f %% (first run %.1f %%, or 77 %.1f %%)", row->name,
		      s->sweeps, percent(s, s->named), percent(s, s->named_first),
		      percent(s, s->told));
	if (row->asked.kind)
		print_message(", as %s %.1f %%", finding_name(row->asked.kind), percent(s, s->as_kind));
	print_message(", drained healthy %.1f %% of sweeps, it %.1f %%, said %s in %u of %u, no "
		      "suspect %.1f %%, exit 0/3/6/77: %u/%u/%u/%u, %u slots\n",
		      percent(s, s->drained), percent(s, s->drained_it), note ? finding_name(note) : "-",
		      s->noted, s->to_note, percent(s, s->silent), s->status[0], s->status[1],
		      s->status[2], s->status[3], s->slots / s->sweeps);
}

/*
 * Returns 1, and says so, if fewer than PART of the ALL sweeps are OF them. Of 40 sweeps of which each
 * misses a bar with a chance of 1 %, one in three times one or more does, and one in 16 more than
 * one: so one may, unless none must. Five times as many tell, without that.
 */
static int below(unsigned all, const char *what, unsigned of, double part)
{
	double misses = (1 - part) * all;

	if (all <= SEEDS && part < 1)
		misses = fmax(misses, 1);
	if (all - of <= misses + 1e-9)
		return 0;
	print_message("  %s: %u of %u, not %g %%\n", what, of, all, part * 100);
	return 1;
}

static int missed_bars(const struct row *row, const struct score *s)
{
	int missed = 0;

	missed += below(s->sweeps, row->or_cannot_tell ? "named, or cannot tell" : "named",
			row->or_cannot_tell ? s->told : s->named, row->named);
	missed += below(s->sweeps, "with its kind", s->as_kind, row->as_kind);
	missed += below(s->to_note, "noted", s->noted, row->noted);
	missed += below(s->sweeps, "exit status 0 or 77", s->status[0] + s->status[3], row->fine);
	missed += below(s->sweeps, "exit status 0", s->status[0], row->good);
	missed += below(s->sweeps, "no suspect", s->silent, row->silent);
	missed += below(s->sweeps, "no healthy node drained", s->sweeps - s->drained, 1 - row->drained);
	if (row->never_good)
		missed += below(s->sweeps, "not called good", s->sweeps - s->good_unnamed, 1);
	if (row->never_named)
		missed += below(s->sweeps, "not named", s->sweeps - s->named, 1);
	return missed;
}

static uint64_t number_of(const char *variable, uint64_t otherwise)
{
	const char *text = getenv(variable);

	return text ? strtoull(text, NULL, 10) : otherwise;
}

/* Make cluster number SEED of ROW; SHIFT: of another series. */
static void make(struct cluster *c, const struct row *row, unsigned seed, uint64_t shift)
{
	memset(c, 0, sizeof(*c));
	c->x = (shift + seed) << 20;
	for (const char *at = row->name; *at; at++)
		c->x = draw(&c->x) ^ (uint8_t)*at;
	row->make(c, seed);
	if (row->noise != NOISE_QUIET)
		c->noise = rows_noise[row->noise];
}

/* Say what came of cluster number SEED. */
static void print_sweep(const struct cluster *c, unsigned seed, const struct said *first,
			const struct said *last)
{
	print_message("  %u: %u hosts%s%s%s, fault at n%u: first run %s exit %d with %u suspects, "
		      "last %s exit %d with %u%s%s%s, smallest fault %.3g:%s\n",
		      seed, c->hosts, c->quick ? ", quick" : "", c->with_groups ? ", groups" : "",
		      c->with_ports ? ", ports" : "", c->host + 1, first->named ? "named" : "-",
		      first->status, first->suspects, last->named ? "named" : "-", last->status,
		      last->suspects, last->as_kind ? ", its kind" : "",
		      last->note ? ", noted" : "", last->drains ? ", drains a healthy one" : "",
		      last->smallest, last->kinds);
}

static void judge_row(void **state)
{
	const struct row *row = *state;
	uint64_t shift = number_of("RDMARK_CLUSTERS_SEED", 0) * 100003;
	unsigned seeds = SEEDS * (unsigned)number_of("RDMARK_CLUSTERS", 1);
	struct cluster *c = malloc(sizeof(*c));
	struct score score = {0};

	assert_non_null(c);
	assert_true(seeds);
	for (unsigned seed = 0; seed < seeds; seed++) {
		struct said first, last;

		make(c, row, seed, shift);
		cluster_wire(c);
		said_sweep(c, &row->asked, &first, &last);
		if (row->as_said && first.smallest > 0 && first.smallest < 1) {
			make(c, row, seed, shift);
			cluster_slow(c, cluster_below(c, c->hosts), 1 - first.smallest, 3);
			cluster_wire(c);
			said_sweep(c, &row->asked, &first, &last);
		}
		take(row, &score, &first, &last);
		if (getenv(EACH))
			print_sweep(c, seed, &first, &last);
	}
	free(c);
	print_score(row, &score);
	assert_int_equal(missed_bars(row, &score), 0);
}

/* A link is shared by those who can use it, and what a slow flow leaves goes to the others. */
static void flows_share_fairly(void **state)
{
	static struct network n = {.capacity = {10, 4, 100}, .links = 3};
	enum {
		NO = NETWORK_LINKS
	};
	struct network_flow f[] = {
		{.limit = 1, .link = {0, 2, NO, NO}},                         /* its own limit */
		{.limit = 9, .link = {0, 1, NO, NO}},                         /* half of link 1 */
		{.limit = 9, .link = {1, NO, NO, NO}},             /* the other half */
		{.limit = 9, .link = {0, 2, NO, NO}},                         /* what link 0 has left */
		{.limit = 9, .link = {NO, NO, NO, NO}}, /* nobody disturbs it */
	};
	static const double rate[] = {1, 2, 2, 7, 9};

	(void)state;
	network_share(&n, f, 5);
	for (int i = 0; i < 5; i++)
		assert_true(fabs(f[i].rate - rate[i]) < 1e-6);
}

static struct row rows[] = {
	{"calm", rows_calm, .good = .99, .silent = .99, .drained = .005},
	{"calm, a node at 50-94 %", rows_calm_node, .named = .99, .drained = .005},
	{"gaussian 2 %", rows_plain, .noise = NOISE_GAUSSIAN_2, .drained = .02},
	{"gaussian 5 %", rows_plain, .noise = NOISE_GAUSSIAN_5, .drained = .02},
	{"lognormal tails", rows_plain, .noise = NOISE_LOGNORMAL, .drained = .02},
	{"Student's t", rows_plain, .noise = NOISE_STUDENT, .drained = .02},
	{"pair bias 2 %", rows_plain, .noise = NOISE_BIAS, .drained = .02},
	{"5 % of runs 30 % low", rows_plain, .noise = NOISE_LOW, .drained = .02},
	{"1 % of runs fail", rows_plain, .noise = NOISE_FAILS, .drained = .02},
	{"all fall by 10 %", rows_drift, .noise = NOISE_GAUSSIAN_2, .drained = .02},
	{"any noise, a node at 50-70 %", rows_any_noise_node, .named = .95, .drained = .02,
	 .or_cannot_tell = true},
	{"2 racks, 80 % a flow", rows_racks_2, {.note = PAIRS_RACK}, .drained = .01, .fine = 1},
	/* its best pairs are in two sets, and are no levels: who is good within a rack is not beyond it */
	{"4 racks, 80 % a flow", rows_racks_4, {.note = PAIRS_RACK}, .drained = .01, .fine = 1},
	{"racks, 80 % together", rows_racks_shared, .drained = .01},
	{"unequal racks, 80 % a flow", rows_racks_unequal, {.note = PAIRS_RACK}, .drained = .01},
	{"racks, a node at half", rows_racks_node, .named = .95, .drained = .01},
	{"three rates", rows_rates, .drained = .01},
	{"three rates, a node at half", rows_rates_node, .named = .99, .drained = .01},
	{"a rail at 85 % everywhere", rows_rail_85, {.note = PAIRS_RAIL_EVERYWHERE}, .noted = .95},
	{"a rail at 70 % everywhere", rows_rail_70, {.note = PAIRS_RAIL_EVERYWHERE}, .noted = .95},
	{"a rail everywhere, a node at half",
	 rows_rail_node,
	 {.note = PAIRS_RAIL_EVERYWHERE},
	 .named = .95,
	 .noted = .95,
	 .drained = .01},
	/* Where hashes and few hosts of a
	 * leaf leave pairs nearly what they have, there is nothing to say of the network. */
	{"2:1 tree",
	 rows_tree,
	 {.note = PAIRS_NETWORK},
	 .noted = .95,
	 .noted_below = .9,
	 .fine = .98,
	 .drained = .01},
	{"2:1 tree, a node at half",
	 rows_tree_node,
	 {.note = PAIRS_NETWORK},
	 .named = .9,
	 .drained = .01,
	 .or_cannot_tell = true},
	{"2:1 tree, static routes", rows_static_tree, {.note = PAIRS_NETWORK}, .drained = .01},
	{"2:1 tree, static routes, a node at half",
	 rows_static_tree_node,
	 {.note = PAIRS_NETWORK},
	 .named = .9,
	 .drained = .01,
	 .or_cannot_tell = true},
	{"static routes", rows_static, {.note = PAIRS_NETWORK}, .drained = .01},
	{"static routes, a node at half",
	 rows_static_node,
	 {.note = PAIRS_NETWORK},
	 .named = .99,
	 .drained = .01,
	 .or_cannot_tell = true,
	 .never_good = true},
	{"20 % in 30 % of its runs",
	 rows_flaps,
	 {.kind = SUSPECT_UNSTEADY},
	 .named = .9,
	 .as_kind = .9,
	 .drained = .01},
	{"30 % of its runs fail",
	 rows_fails,
	 {.kind = SUSPECT_FAILS},
	 .named = .9,
	 .as_kind = .9,
	 .drained = .01},
	{"60 % after two thirds",
	 rows_step,
	 {.kind = SUSPECT_FALLS},
	 .named = .9,
	 .as_kind = .9,
	 .drained = .01},
	{"falls to 60 %", rows_falls, {.kind = SUSPECT_FALLS}, .named = .9, .drained = .01},
	{"a node misses a slot",
	 rows_misses,
	 {.note = PAIRS_MISSED_SLOTS},
	 .noted = .95,
	 .never_named = true},
	{"the launcher is late", rows_late, {.note = PAIRS_MISSED_SLOTS}, .noted = .95, .silent = .98},
	/* 16 pairs of a leaf's share 16 uplinks by a hash: some get a whole one, others a third, in a
	 * healthy leaf as well, and the few pairs of the bad one do not stand out of these. Of two
	 * leaves, a tenth of these clusters, nobody can say which one it is. */
	{"one bad uplink of 16", rows_bad_uplink, .named = .65, .drained = .01,
	 .or_cannot_tell = true},
	{"one bad wide uplink of 16", rows_bad_wide_uplink, .named = .85, .drained = .01,
	 .or_cannot_tell = true},
	{"half of a leaf's uplinks", rows_half_uplinks, .named = .95, .drained = .01,
	 .or_cannot_tell = true},
	{"half of a leaf's uplinks, static routes", rows_half_static_uplinks, .named = .8,
	 .drained = .01, .or_cannot_tell = true},
	{"latency", rows_latency, .good = .85, .silent = .95},
	{"latency x1.6 of a node", rows_latency_node, .named = .9},
	{"2+2 GPUs", rows_gpus_4},
	{"12 GPUs behind 3 switches", rows_gpus_12},
	{"6 GPUs, one at 92 %", rows_gpus_6, .named = .95},
	{"any noise, the smallest fault", rows_any_noise, .named = .9, .drained = .02,
	 .or_cannot_tell = true, .as_said = true},
	{"static routes, the smallest fault", rows_static, .named = .9, .drained = .02,
	 .or_cannot_tell = true, .as_said = true},
	/* What threads without their CPUs reach is no figure, and nobody's fault: 77. Who has its
	 * CPU is found beside them; a slow node that lacks CPU is named only by its runs that had it.
	 */
	{"nodes without CPU", rows_busy_always, .fine = .99, .drained = .005},
	{"nodes without CPU, one at 50-94 %", rows_busy_node, .named = .95, .drained = .01},
	{"a node at 40 % without 5-25 % of its CPU", rows_busy_slow, .named = .9, .drained = .01,
	 .or_cannot_tell = true, .never_good = true},
	{"nodes without CPU at times", rows_busy_sometimes, .fine = .95, .drained = .01},
	{"nodes without CPU at times, one at 50-80 %", rows_busy_sometimes_node, .named = .95,
	 .drained = .01},
	{"all without CPU", rows_busy_all, .fine = .95, .drained = .02},
	{"latency, nodes without CPU", rows_busy_latency, .fine = .98, .drained = .02},
	{"latency x1.6 of a node, others without CPU", rows_busy_latency_node, .named = .9,
	 .drained = .02},
	{"three tiers", more_tiers, .fine = .97, .drained = .01},
	{"three tiers, a node at 50 or 80 %", more_tiers_node, .named = .95, .drained = .01,
	 .or_cannot_tell = true},
	{"4:1 tree", more_tree_4, .fine = 1, .drained = .01},
	{"4:1 tree, a node at 50 or 80 %", more_tree_4_node, .named = .9, .drained = .01},
	{"ports at half width", more_half_ports, {.kind = SUSPECT_PORT}, .named = 1, .as_kind = 1, .drained = .01},
	{"two levels", more_levels, {.note = PAIRS_LEVELS}, .noted = .95, .silent = .95, .drained = .01},
	{"two deep levels", more_deep, {.note = PAIRS_LEVELS}, .noted = .95, .drained = .01},
	{"a far rack", more_far, .good = .8, .silent = .95, .drained = .01},
	/* 92 % of 200 */
	{"a far rack, latency x1.6 of a node", more_far_node, .named = .85, .drained = .01},
	{"a node throttles", more_node_throttles, {.kind = SUSPECT_FALLS}, .named = .9, .as_kind = .9, .drained = .01},
	{"a rack throttles", more_leaf_throttles, {.kind = SUSPECT_FALLS}, .named = .9, .as_kind = .9, .drained = .01},
	/* a rack that is a quarter of the hosts is a level, and exit status 6 */
	{"a rack at 80 %", more_leaf_slow, .named = .65, .drained = .01},
	{"tails", more_tails, .fine = .99, .drained = .01},
	{"pair bias 4 %", more_bias, .fine = .9, .drained = .01},
	{"three nodes of 512", more_three, .named = .99, .drained = .01},
	{"3 to 8 nodes", more_small, .good = .99, .drained = .01},
	{"3 to 8 nodes, one at 50-94 %", more_small_node, .named = .99, .drained = .01},
	{"few of a kind", more_few_of_a_kind, .fine = .99, .drained = .01},
	{"few of a kind, a node at 40 %", more_few_of_a_kind_node, .named = .95, .drained = .01},
	{"a leaf's uplinks, no groups", more_uplinks, .drained = .01},
	{"all at half of their ports", rows_half, {.note = PAIRS_CLUSTER_SLOW}, .noted = .95},
};

int main(int argc, char **argv)
{
	enum {
		ROWS = sizeof(rows) / sizeof(*rows)
	};
	struct CMUnitTest tests[1 + ROWS] = {cmocka_unit_test(flows_share_fairly)};

	for (size_t i = 0; i < ROWS; i++)
		tests[1 + i] = (struct CMUnitTest){
			.name = rows[i].name, .test_func = judge_row, .initial_state = &rows[i]};
	if (argc > 1) {
		cmocka_set_test_filter(argv[1]);
		setenv(EACH, "1", 0);
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
