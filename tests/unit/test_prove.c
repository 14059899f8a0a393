// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * prove: --prove's turns and verdicts on made-up adapters with one limit each, or two. How often
 * the limit is named, and how often another one is; prints the rates.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "plan/prove.h"
#include "tests/unit/prove_play.h"

#define SEEDS 100

/* An adapter, a host and a way: what each allows. 0: no limit. */
struct world {
	double port_gbps, qp_gbps;      /* bytes of all, of each QP */
	double messages, qp_messages;   /* a second: of all, of each QP */
	double latency_us, outs_us;     /* of a message in flight; of a READ, two on each QP */
	double thread_us, post_us;      /* of a thread's CPU for each message; for each post */
	double receives_us;             /* of a turn in which the receive queue is used up once */
	double memory_gbps, order_gbps; /* of a footprint that no cache holds; in order */
};

static void lower(double *rate, double to, double limit)
{
	if (limit > 0 && to < *rate)
		*rate = to;
}

/* The messages a second of experiment E in W. */
static double rate_of(const struct world *w, const struct experiment *e)
{
	double bits = (double)e->size_bytes * 8, qps = (double)(e->qps * e->threads);
	double flying = qps * (double)e->tx_depth, outs = e->outs == EXPERIMENT_AUTO ? 16 : 2;
	double post = w->post_us / (double)e->post_list + w->thread_us;
	double rate = 1e12;

	lower(&rate, w->port_gbps * 1e9 / bits, w->port_gbps);
	lower(&rate, qps * w->qp_gbps * 1e9 / bits, w->qp_gbps);
	lower(&rate, w->messages, w->messages);
	lower(&rate, qps * w->qp_messages, w->qp_messages);
	lower(&rate, flying * 1e6 / w->latency_us, w->latency_us);
	lower(&rate, qps * outs * 1e6 / w->outs_us, w->outs_us);
	lower(&rate, (double)e->threads * 1e6 / post, post);
	lower(&rate, (double)e->rx_depth * 1e6 / w->receives_us, w->receives_us);
	lower(&rate, w->memory_gbps * 1e9 / bits, e->footprint_bytes ? w->memory_gbps : 0);
	lower(&rate, w->order_gbps * 1e9 / bits, e->strict_order ? w->order_gbps : 0);
	return rate;
}

static unsigned depth = 128;       /* of the base */
static unsigned windows = WINDOWS; /* that there is time for */

struct ground {
	const struct world *world;
	double noise;
	uint64_t state;
};

static double gbps_of(void *ground, const struct experiment *e)
{
	struct ground *g = ground;

	return rate_of(g->world, e) * (double)e->size_bytes * 8e-9 *
	       exp(g->noise * normal(&g->state));
}

/* Play --prove in W with NOISE. */
static enum finding_code play(const struct world *w, double noise, uint64_t seed,
			      enum finding_strength *strength, struct prove *p)
{
	struct ground ground = {.world = w, .noise = noise, .state = seed + 1};
	static struct experiment base;

	base = (struct experiment){.size_bytes = 4096,
				   .qps = 1,
				   .threads = 1,
				   .tx_depth = depth,
				   .rx_depth = 512,
				   .post_list = 1,
				   .outs = w->outs_us > 0 ? 2 : EXPERIMENT_AUTO,
				   .strict_order = w->order_gbps > 0,
				   .footprint_bytes = w->memory_gbps > 0 ? 1 << 24 : 0};
	*p = (struct prove){.facts = {.base = &base,
				      .receives = w->receives_us > 0,
				      .fetches = w->outs_us > 0,
				      .rx_depth = 512,
				      .max_depth = 32768,
				      .cpus = 2,
				      .max_bytes = 1 << 30}};
	return play_prove(p, gbps_of, &ground, windows, strength);
}

/* The limits one by one, at three strengths: a half, a third and an eighth of what else there is.
 */
static const struct one {
	const char *name;
	enum finding_code limit;
	struct world world; /* at full strength: 100 Gb/s of 4 KiB, 3.05 M messages a second */
} ones[] = {
	{"window", LIMIT_WINDOW, {.latency_us = 42}},
	{"READs in flight", LIMIT_WINDOW, {.outs_us = 0.655}},
	{"bytes of a QP", LIMIT_NIC_QP, {.qp_gbps = 100}},
	{"messages of a QP", LIMIT_NIC_QP, {.qp_messages = 3.05e6}},
	{"bytes of a port", LIMIT_UNKNOWN, {.port_gbps = 100}},
	{"messages of a port", LIMIT_MESSAGE_RATE, {.messages = 3.05e6}},
	{"CPU of a thread", LIMIT_CORE, {.thread_us = 0.328}},
	{"CPU of posting", LIMIT_CORE, {.post_us = 0.328}},
	{"receive queue", LIMIT_RECEIVER, {.receives_us = 168}},
	{"memory", LIMIT_MEMORY, {.memory_gbps = 100}},
	{"order", LIMIT_PCIE, {.order_gbps = 100}},
};

#define ONES (sizeof(ones) / sizeof(ones[0]))

/* W's limits become stronger by FACTOR. */
static struct world stronger(const struct world *w, double factor)
{
	return (struct world){
		w->port_gbps / factor,   w->qp_gbps / factor,    w->messages / factor,
		w->qp_messages / factor, w->latency_us * factor, w->outs_us * factor,
		w->thread_us * factor,   w->post_us * factor,    w->receives_us * factor,
		w->memory_gbps / factor, w->order_gbps / factor};
}

/* Both limits; what else there is carries 100 Gb/s. */
static struct world both(const struct world *a, const struct world *b)
{
	const double *from[] = {(const double *)a, (const double *)b};
	struct world w = {0};
	double *to = (double *)&w;

	for (size_t i = 0; i < sizeof(w) / sizeof(double); i++)
		to[i] = from[0][i] > 0 ? from[0][i] : from[1][i];
	return w;
}

static void test_one_limit(void **state)
{
	static const double noises[] = {0.003, 0.01, 0.03, 0.1}, factors[] = {2, 3, 8};
	unsigned wrong_in_all = 0;

	(void)state;
	printf("# limit              noise  factor  named  wrong\n");
	for (size_t i = 0; i < ONES; i++)
		for (int k = 0; k < 12; k++) {
			struct world full = {.port_gbps = ones[i].world.port_gbps > 0 ? 0 : 100};
			struct world strong = stronger(&ones[i].world, factors[k % 3]);
			struct world w = both(&strong, &full);
			unsigned named = 0, wrong = 0;

			for (uint64_t seed = 0; seed < SEEDS; seed++) {
				enum finding_strength strength;
				struct prove p;
				enum finding_code code =
					play(&w, noises[k / 3], seed, &strength, &p);

				named += code == ones[i].limit &&
					 (strength == FINDING_IS || code == LIMIT_UNKNOWN);
				wrong += strength == FINDING_IS && code != ones[i].limit;
			}
			printf("# %-18s %5.1f%% %6.0f %6u %6u\n", ones[i].name, 100 * noises[k / 3],
			       factors[k % 3], named, wrong);
			wrong_in_all += wrong;
			if (noises[k / 3] < 0.01)
				assert_true(named >= 90 * SEEDS / 100);
		}
	assert_int_equal(wrong_in_all, 0);
}

/* Two limits, one of which is twice as strong: that is named first. */
static void test_two_limits(void **state)
{
	unsigned pairs = 0;

	(void)state;
	for (size_t i = 0; i < ONES; i++)
		for (size_t k = 0; k < ONES; k++) {
			struct world strong = stronger(&ones[i].world, 4);
			struct world weak = stronger(&ones[k].world, 2), w = both(&strong, &weak);
			unsigned wrong = 0, named = 0;

			if (ones[i].limit == ones[k].limit || i == k)
				continue;
			pairs++;
			for (uint64_t seed = 0; seed < 20; seed++) {
				enum finding_strength strength;
				struct prove p;
				enum finding_code code = play(&w, 0.003, seed, &strength, &p);

				named += code == ones[i].limit &&
					 (strength == FINDING_IS || code == LIMIT_UNKNOWN);
				wrong += strength == FINDING_IS && code != ones[i].limit;
			}
			if (wrong || named < 18)
				printf("# %s before %s: %u named, %u wrong of 20\n", ones[i].name,
				       ones[k].name, named, wrong);
			assert_int_equal(wrong, 0);
		}
	assert_true(pairs >= 20);
}

/* Two changes help, each by itself: both together are tried, and that is a third ratio. */
static void test_both_help(void **state)
{
	struct world w = {.port_gbps = 100, .post_us = 3};
	enum finding_strength strength;
	struct prove p;
	char text[1024];

	(void)state;
	depth = 512; /* a quarter of it still holds lists */
	windows = 2 * WINDOWS;
	assert_int_equal(play(&w, 0.001, 1, &strength, &p), LIMIT_CORE);
	depth = 128;
	windows = WINDOWS;
	assert_int_equal(p.try[PROVE_LIST].so, PROVE_BETTER);
	assert_int_equal(p.try[PROVE_THREADS].so, PROVE_BETTER);
	assert_int_equal(p.try[PROVE_TOGETHER].so, PROVE_BETTER);
	assert_non_null(strstr(prove_text(&p, text, sizeof(text)), "; both: "));
}

/* Two limits that bind at the same rate: no single change helps, and that is all that is said. */
static void test_two_alike(void **state)
{
	struct world w = {.latency_us = 168, .receives_us = 672};
	enum finding_strength strength;
	struct prove p;
	char text[1024];

	(void)state;
	assert_int_equal(play(&w, 0.001, 1, &strength, &p), LIMIT_UNKNOWN);
	assert_int_equal(strength, FINDING_CANNOT_TELL);
	assert_non_null(strstr(prove_text(&p, text, sizeof(text)), "or two limits at once"));
}

/* What leads is sure after six windows, and not before; then nothing more is played. */
static void test_enough_windows(void **state)
{
	struct world w = {.port_gbps = 100, .latency_us = 168};
	enum finding_strength strength;
	struct prove p;
	char text[1024];

	(void)state;
	windows = WINDOWS / 2 + WINDOWS / 5;
	assert_int_equal(play(&w, 0.001, 1, &strength, &p), LIMIT_WINDOW);
	assert_int_equal(strength, FINDING_MAY_BE);
	assert_int_equal(strncmp(prove_text(&p, text, sizeof(text)), "may be limited by", 17), 0);
	windows = 10 * WINDOWS;
	assert_int_equal(play(&w, 0.001, 1, &strength, &p), LIMIT_WINDOW);
	windows = WINDOWS;
	assert_int_equal(strength, FINDING_IS);
	assert_int_equal(p.try[PROVE_WINDOW].windows, 6);
	assert_int_equal(strncmp(prove_text(&p, text, sizeof(text)), "limited by", 10), 0);
}

/* Windows of C in P, each that many times as fast as what C is compared with. */
static void add_windows(struct prove *p, enum prove_change c, unsigned count, const double *times)
{
	const enum prove_change order[] = {p->try[c].against, c};

	for (unsigned i = 0; i < count; i++)
		prove_add(p, order, (const double[]){1, times[i % 3]}, 2);
}

/* What the table calls "cannot tell" is no second limit, though each of its windows is faster. */
static void test_open_is_no_second(void **state)
{
	static const double twice[] = {2, 2.01, 1.99}, same[] = {1, 1.001, .999},
			    apart[] = {1.06, 1.1, 1.4};
	const struct experiment base = {
		.qps = 1, .threads = 1, .tx_depth = 512, .post_list = 1, .size_bytes = 4096};
	struct prove p = {.facts = {.base = &base,
				    .max_depth = 4096,
				    .cpus = 2,
				    .max_bytes = 1 << 30,
				    .software = true}};
	char text[1024];

	(void)state;
	prove_plan(&p);
	for (enum prove_change c = PROVE_WINDOW; c < PROVE_TOGETHER; c++)
		add_windows(&p, c, 6, c == PROVE_THREADS ? twice : same);
	p.try[PROVE_LIST].windows = 0;
	add_windows(&p, PROVE_LIST, 3, apart);
	assert_int_equal(p.try[PROVE_LIST].so, PROVE_OPEN);
	assert_string_equal(prove_so_name(&p.try[PROVE_LIST]), "cannot_tell");
	prove_text(&p, text, sizeof(text));
	assert_int_equal(strncmp(text, "limited by the CPU of a single thread", 37), 0);
	assert_null(strstr(text, "then by"));
	assert_false(prove_plan_together(&p));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_limit),      cmocka_unit_test(test_two_limits),
		cmocka_unit_test(test_both_help),      cmocka_unit_test(test_two_alike),
		cmocka_unit_test(test_enough_windows), cmocka_unit_test(test_open_is_no_second),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
