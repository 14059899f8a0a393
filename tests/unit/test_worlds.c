// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * "limited by", tried on worlds that no rule was made for (worlds.h). Nothing is asked but: is what
 * is said to be certain right, and how often is the cause found at all?
 *
 *   WORLDS_VERBOSE=1 test_worlds     a line for each world of which something certain is false
 *   WORLDS_VERBOSE=2 test_worlds     the same where "may be" is wrong
 *   WORLDS_VERBOSE=3 test_worlds     and where a cause that has a name is not found
 *   WORLDS_FROM=n test_worlds        other random worlds, of the seeds from n on
 *   WORLDS_SEED=n test_worlds        all facts of the world of that seed, and its truth
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "explain/during.h"

#define LIMITS (LIMIT_NIC_QP + 1)

#include "worlds_facts.h"
#include "worlds_sets.h"
#include "worlds_truth.h"

/*
 * What each set may have that is certain and false, and the least part that is found of what has a
 * name. Chosen: nothing false of the first two sets, 5 of the third, and 0.6 found; these are the
 * numbers that the rules reach.
 */
#define SINGLE_FALSE 0
#define MIXED_FALSE  0
#define RANDOM_FALSE 5
#define SINGLE_FOUND .7
#define MIXED_FOUND  .7
#define RANDOM_FOUND .7

enum verdict_kind {
	CERTAIN_RIGHT,
	CERTAIN_FALSE,
	MAY_BE_RIGHT,
	MAY_BE_WRONG,
	NOT_KNOWN,    /* though there is a cause that has a name */
	RIGHTLY_OPEN, /* not known, and there is none */
	KINDS
};

struct tally {
	unsigned kind[KINDS], worlds, named; /* named: of which a cause that has a name is true */
	unsigned accused;                    /* findings that accuse an innocent */
	/* by what is true, the one that was said or else the first, and what was said */
	unsigned said[LIMITS][LIMITS], certain[LIMITS][LIMITS];
};

static int verbosity(void)
{
	const char *v = getenv("WORLDS_VERBOSE");

	return v ? atoi(v) : 0;
}

/* "link or pcie", or "none". */
static const char *truth_words(unsigned truth, char *to, size_t size)
{
	snprintf(to, size, "%s", truth ? "" : "none");
	for (int i = 1; i < LIMITS; i++) {
		size_t at = strlen(to);

		if (truth & 1u << i)
			snprintf(to + at, size - at, "%s%s", at ? " or " : "", finding_name(i));
	}
	return to;
}

static enum verdict_kind kind_of(const struct limit *l, unsigned truth)
{
	bool right = truth & 1u << l->finding.is.code;

	if (l->finding.is.code == LIMIT_UNKNOWN)
		return truth ? NOT_KNOWN : RIGHTLY_OPEN;
	if ((l->finding.is.strength == FINDING_IS))
		return right ? CERTAIN_RIGHT : CERTAIN_FALSE;
	return right ? MAY_BE_RIGHT : MAY_BE_WRONG;
}

static void print_world(const struct world *w, const struct world_facts *f, const struct limit *l,
			unsigned truth)
{
	static const char *const ops[] = {"WRITE", "SEND", "READ", "ATOMIC"};
	static const char *const drivers[] = {"all", "bytes", "rxe's", "no"};
	const struct run_end *c = &f->client;
	char words[256];

	print_message("seed %llu: %s %.0f x %u x %u%s%s%s (%s; %s counters): said %s%s; truth %s; "
		      "%.1f Gb/s of link %.0f, window %.1f, full %.2f, schedule %.2f, cpu %.2f, "
		      "busy %.2f, alone %.0f, in the run %.0f ns; \"%s\"\n",
		      (unsigned long long)w->seed, ops[w->op], w->bytes, w->depth, w->qps,
		      w->both ? " -b" : "", w->brief ? " brief" : "",
		      w->loopback ? " loopback" : "", w->words, drivers[w->driver],
		      (l->finding.is.strength == FINDING_IS) ? "" : "may be ", finding_name(l->finding.is.code),
		      truth_words(truth, words, sizeof(words)), f->run.gbps, w->link_gbps,
		      l->ceilings.window_gbps, c->full_share, c->schedule_share, c->cpu_share,
		      f->server.busy_share, c->alone_ns, c->completion_ns, l->finding.text);
}

/* All that is known of a world. */
static void print_all(const struct world *w, const struct world_facts *f,
		      const struct findings *found)
{
	print_message("  source %.1f, PCIe %.1f; sink %.1f, PCIe %.1f; shaper %.1f, CNPs %.1f; QP "
		      "%.1f ns, %.1f Gb/s; adapter %.1f ns; receiver %.1f ns, %.2f; way %.0f ns; "
		      "mtu %.0f; outs %u; loss %g, timeouts %.2f, pause %.2f; others %.2f, %.2f\n",
		      w->source_gbps, w->source_pcie_gbps, w->sink_gbps, w->sink_pcie_gbps,
		      w->shaper_gbps, w->cnp_gbps, w->qp_ns, w->qp_gbps, w->nic_ns, w->recv_ns,
		      w->recv_share, w->delay_ns, w->mtu, w->outs, w->loss, w->timeout_share,
		      w->pause_share, w->other_out, w->other_in);
	for (int i = 0; i < PORT_EVENTS; i++)
		if (f->client.event[i] > 0 || f->server.event[i] > 0)
			print_message("  %s: client %.0f, server %.0f\n", port_event_row(i)->name,
				      f->client.event[i], f->server.event[i]);
	for (size_t i = 0; i < found->count; i++)
		print_message("  %s %s %.3f: %s\n", finding_name(found->list[i].is.code),
			      finding_level_name(found->list[i].is.level), found->list[i].is.share,
			      found->list[i].text);
}

/* How many of FOUND accuse what is innocent. */
static unsigned accused(const struct findings *found, unsigned truth)
{
	unsigned count = 0;

	for (size_t i = 0; i < found->count; i++) {
		const struct finding *f = &found->list[i];
		enum finding_code by = limit_of_finding(f->is.code);

		count += f->is.level >= FINDING_WARN && f->is.share >= 0.05 && by != LIMIT_UNKNOWN &&
			 !(truth & 1u << by);
	}
	return count;
}

static void judge_world(struct sim *s, const struct world *w, struct tally *t)
{
	struct world_run r = world_run(s, w, 0);
	unsigned truth = world_truth(s, w, &r);
	const char *seed = getenv("WORLDS_SEED");
	struct findings found = {0};
	struct world_facts f;
	struct limit l;
	enum verdict_kind kind;
	int first = 0;

	world_measure(s, w, &r, &f);
	memset(&l, 0, sizeof(l));
	explain_run(&f.run, &l, &found);
	kind = kind_of(&l, truth);
	while (first < LIMITS && !(truth & 1u << first))
		first++;
	if (truth & 1u << l.finding.is.code)
		first = l.finding.is.code;
	first %= LIMITS;
	t->worlds++;
	t->named += truth != 0;
	t->kind[kind]++;
	t->accused += accused(&found, truth);
	t->said[first][l.finding.is.code]++;
	t->certain[first][l.finding.is.code] += (l.finding.is.strength == FINDING_IS) && l.finding.is.code;
	if ((kind == CERTAIN_FALSE && verbosity() > 0) ||
	    (kind == MAY_BE_WRONG && verbosity() > 1) || (kind == NOT_KNOWN && verbosity() > 2) ||
	    seed)
		print_world(w, &f, &l, truth);
	if (seed)
		print_all(w, &f, &found);
}

/* All COUNT worlds that MAKE makes, or that of the seed that the environment has. */
static struct tally judge_set(struct world (*make)(struct sim *s, unsigned k), unsigned count)
{
	struct sim *s = malloc(sizeof(*s));
	const char *seed = getenv("WORLDS_SEED");
	struct tally t = {0};

	assert_non_null(s);
	for (unsigned k = 0; k < count; k++) {
		struct world w = make(s, k);

		if (!seed || strtoull(seed, NULL, 10) == w.seed)
			judge_world(s, &w, &t);
	}
	free(s);
	return t;
}

/* Rows: what is true, or one of it; columns: what was said: all, and those certain. */
static void print_tally(const char *name, const struct tally *t)
{
	const unsigned *k = t->kind;

	print_message("%s: %u worlds: certain %u right, %u FALSE; may be %u right, %u wrong; "
		      "not known %u, rightly %u; findings that accuse an innocent %u\n",
		      name, t->worlds, k[CERTAIN_RIGHT], k[CERTAIN_FALSE], k[MAY_BE_RIGHT],
		      k[MAY_BE_WRONG], k[NOT_KNOWN], k[RIGHTLY_OPEN], t->accused);
	print_message("%-10s", "truth");
	for (int said = 0; said < LIMITS; said++)
		print_message(" %9s", finding_name(said));
	for (int truth = 0; truth < LIMITS; truth++) {
		print_message("\n%-10s", truth ? finding_name(truth) : "none");
		for (int said = 0; said < LIMITS; said++)
			print_message(" %5u/%3u", t->said[truth][said], t->certain[truth][said]);
	}
	print_message("\n");
}

/* The part found of what has a name. */
static double found_part(const struct tally *t)
{
	const unsigned *k = t->kind;

	return (double)(k[CERTAIN_RIGHT] + k[MAY_BE_RIGHT]) / fmax(1, t->named);
}

static void check_set(const char *name, struct world (*make)(struct sim *s, unsigned k),
		      unsigned count, unsigned most_false, double least_found)
{
	struct tally t = judge_set(make, count);

	if (getenv("WORLDS_SEED"))
		return;
	print_tally(name, &t);
	print_message("found: %.1f %%\n", 100 * found_part(&t));
	if (getenv("WORLDS_FROM"))
		return;
	assert_true(t.kind[CERTAIN_FALSE] <= most_false);
	assert_true(found_part(&t) >= least_found);
}

/* The ground itself: what was made to limit does. */
static void what_is_made_is_true(void **state)
{
	static const enum finding_code by[MADE_CAUSES] = {
		LIMIT_LINK, LIMIT_PCIE,     LIMIT_PCIE,   LIMIT_SCHEDULE, LIMIT_CORE,
		LIMIT_CORE, LIMIT_RECEIVER, LIMIT_WINDOW, LIMIT_WINDOW,   LIMIT_PAUSE,
		LIMIT_LOSS, LIMIT_LOSS,     LIMIT_NIC_QP, LIMIT_MEMORY};
	struct sim *s = malloc(sizeof(*s));

	(void)state;
	assert_non_null(s);
	for (unsigned cause = 0; cause < MADE_CAUSES; cause++) {
		unsigned hits = 0;

		for (unsigned k = 0; k < 8; k++) {
			struct world w = single_world(s, cause * 8 + k);
			struct world_run r = world_run(s, &w, 0);

			hits += world_truth(s, &w, &r) >> by[cause] & 1;
		}
		/* others may hide it: the thread at 64 B, or receives enough for a turn */
		if (hits < 4)
			fail_msg("cause %u is true in %u of 8 worlds", cause, hits);
	}
	free(s);
}

/* The same: what has no name is none of the causes, and nothing exceeds its parts. */
static void what_has_no_name_is_none(void **state)
{
	struct sim *s = malloc(sizeof(*s));
	uint64_t x = 7;

	(void)state;
	assert_non_null(s);
	for (unsigned k = 0; k < 20; k++) {
		struct world w = world_new(k, &x), capped;
		struct world_run r = world_run(s, &w, 0);

		assert_true(world_gbps(&w, &r) > 0.85 * w.link_gbps);
		assert_true(world_gbps(&w, &r) < w.link_gbps);
		assert_true(world_truth(s, &w, &r) == 1u << LIMIT_LINK);
		capped = w;
		*(k % 2 ? &capped.shaper_gbps : &capped.source_gbps) = 0.7 * w.link_gbps;
		r = world_run(s, &capped, 0);
		assert_true(fabs(world_gbps(&capped, &r) / w.link_gbps - 0.7) < 0.02);
		assert_int_equal(world_truth(s, &capped, &r), 0);
	}
	free(s);
}

static void one_cause(void **state)
{
	(void)state;
	check_set("one cause", single_world, SINGLE_WORLDS, SINGLE_FALSE, SINGLE_FOUND);
}

static void mixtures_and_decoys(void **state)
{
	(void)state;
	check_set("mixtures and decoys", mixed_world, MIXED_WORLDS, MIXED_FALSE, MIXED_FOUND);
}

static void random_worlds(void **state)
{
	(void)state;
	check_set("random", random_world, RANDOM_WORLDS, RANDOM_FALSE, RANDOM_FOUND);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_made_is_true),
		cmocka_unit_test(what_has_no_name_is_none),
		cmocka_unit_test(one_cause),
		cmocka_unit_test(mixtures_and_decoys),
		cmocka_unit_test(random_worlds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
