// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * prove_worlds: --prove among adapters, hosts and networks whose limits are soft, drift, come in
 * bursts or have side effects, made by somebody who had not read its rules. How often the limit is
 * named, and how often it is certain and false; prints both for each world.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "plan/prove.h"
#include "tests/unit/prove_play.h"

#define HEADERS 98 /* of each RoCEv2 packet, with its gap */
#define MANY    1e4
#define SEEDS   30 /* of each of three rates */

typedef const struct experiment E;

/*
 * What a limit lets through, in messages, as a multiple of what it lets through of B, the unchanged
 * run.
 */
typedef double limit(E *e, E *b);

#define LIMIT(name, value)             \
	static double name(E *e, E *b) \
	{                              \
		(void)e;               \
		(void)b;               \
		return value;          \
	}

static uint64_t dice; /* of the way that a QP takes */

static double qps(E *e)
{
	return (double)(e->qps * e->threads);
}

/* A list lies in wait until it is full. */
static double flying(E *e)
{
	return qps(e) * ((double)e->tx_depth - (double)(e->post_list - 1) / 2);
}

static double fetched(E *e)
{
	return qps(e) *
	       fmin((double)e->tx_depth, e->outs == EXPERIMENT_AUTO ? 16 : (double)e->outs);
}

/* Each QP, connected anew, is hashed onto one of eight ways. */
static double ways_of(E *e)
{
	unsigned hit = 0;

	for (int i = 0; i < (int)qps(e); i++)
		hit |= 1U << (draw(&dice) % 8);
	return __builtin_popcount(hit);
}

LIMIT(of_bytes, (double)b->size_bytes / (double)e->size_bytes)
LIMIT(window, flying(e) / flying(b))
LIMIT(fetches, fetched(e) / fetched(b))
LIMIT(qp_bytes, qps(e) / qps(b) * of_bytes(e, b))
/* contexts of QPs fall out of the adapter's cache */
LIMIT(messages, (1 + 0.05 * qps(b)) / (1 + 0.05 * qps(e)))
LIMIT(qp_messages, qps(e) / qps(b) * messages(e, b))
LIMIT(ways, ways_of(e) * of_bytes(e, b))
/* three flows of others share a port of a switch, flow by flow */
LIMIT(share, qps(e) / (qps(e) + 3) / (qps(b) / (qps(b) + 3)) * of_bytes(e, b))
/* a larger queue has fewer, larger polls of its CQ */
LIMIT(polls, 0.8 + 0.2 * sqrt((double)b->tx_depth / (double)e->tx_depth))
LIMIT(thread, (double)e->threads / (polls(e, b) * (0.7 + 0.3 / (double)e->post_list)))
/* the second thread runs on the other socket, or on the other half of the same core */
LIMIT(far_thread, (0.4 + 0.6 * (double)e->threads) / polls(e, b))
LIMIT(half_core, 0.7 + 0.3 * (double)e->threads)
LIMIT(doorbell, (double)e->threads / (0.15 + 0.85 / (double)e->post_list))
/* the adapter reads each list of work requests through PCIe, one list at a time */
LIMIT(wqe_fetch, 1 / (0.2 + 0.8 / (double)e->post_list))
LIMIT(receives, pow((double)e->rx_depth / (double)b->rx_depth, 0.7))
LIMIT(pages, e->footprint_bytes ? of_bytes(e, b) : MANY)
LIMIT(ordered, e->strict_order ? of_bytes(e, b) : MANY)
/* What follows leaves the path the limit, and changes it a little: */
LIMIT(none, MANY)
/* what stands in the buffers of a switch makes pauses */
LIMIT(bloated, 1.2 * pow(flying(e) / flying(b) * qps(e) / qps(b), -0.2) * of_bytes(e, b))
LIMIT(bursty, of_bytes(e, b) * 1.2 * pow((double)e->post_list, -0.3))

static const struct world {
	const char *name;
	enum finding_code truth, other; /* both may be said */
	limit *limit;
	double size, depth, qps;
	bool fetches, receives, footprint, strict, bucket;
} worlds[] = {
	{"window", LIMIT_WINDOW, 0, window, 4096, 64, 1},
	{"window of one", LIMIT_WINDOW, 0, window, 65536, 1, 1},
	{"window of 4 QPs", LIMIT_WINDOW, 0, window, 4096, 16, 4},
	{"READs in flight", LIMIT_WINDOW, 0, fetches, 4096, 128, 1, .fetches = true},
	{"bytes of a QP", LIMIT_NIC_QP, 0, qp_bytes, 65536, 128, 1},
	{"messages of a QP", LIMIT_NIC_QP, 0, qp_messages, 64, 128, 1},
	{"8 ways", LIMIT_NIC_QP, 0, ways, 65536, 128, 1},
	{"share of a way", LIMIT_NIC_QP, 0, share, 65536, 128, 1},
	{"messages of a port", LIMIT_MESSAGE_RATE, 0, messages, 512, 128, 1},
	{"thread", LIMIT_CORE, 0, thread, 512, 128, 1},
	{"thread far away", LIMIT_CORE, 0, far_thread, 4096, 128, 1},
	{"half a core", LIMIT_CORE, LIMIT_MESSAGE_RATE, half_core, 4096, 128, 1},
	{"doorbell", LIMIT_CORE, LIMIT_MESSAGE_RATE, doorbell, 512, 128, 1},
	{"WQEs fetched", LIMIT_MESSAGE_RATE, LIMIT_UNKNOWN, wqe_fetch, 512, 128, 1},
	{"receives", LIMIT_RECEIVER, 0, receives, 4096, 128, 1, .receives = true},
	{"pages", LIMIT_MEMORY, 0, pages, 4096, 128, 1, .footprint = true},
	{"order", LIMIT_PCIE, 0, ordered, 4096, 128, 1, .strict = true},
	/* nothing that can be changed */
	{"path", LIMIT_UNKNOWN, 0, none, 4096, 128, 1, .receives = true},
	{"path, READs", LIMIT_UNKNOWN, 0, none, 65536, 16, 1, .fetches = true},
	{"path, footprint", LIMIT_UNKNOWN, 0, none, 4096, 128, 4, .footprint = true,
	 .strict = true},
	{"path, 64 bytes", LIMIT_UNKNOWN, LIMIT_MESSAGE_RATE, none, 64, 128, 1},
	{"path, 256 bytes", LIMIT_UNKNOWN, 0, none, 256, 128, 1, .receives = true},
	{"path, buffers", LIMIT_UNKNOWN, 0, bloated, 4096, 128, 1},
	{"path, lists", LIMIT_UNKNOWN, 0, bursty, 4096, 128, 1},
	{"path, bucket", LIMIT_UNKNOWN, 0, none, 4096, 128, 1, .bucket = true},
	{"path, buffers, bucket", LIMIT_UNKNOWN, 0, bloated, 4096, 128, 1, .bucket = true},
};

#define WORLDS (sizeof(worlds) / sizeof(worlds[0]))

static const struct kind {
	const char *name;
	double sigma, keeps; /* of the logarithm; how much of it stays in the next window */
	double neighbour;    /* that takes so much of the path for five windows or so */
	double drift, outliers, modes, warm_up;
	bool rough; /* the limit need not be named */
} kinds[] = {
	{"0.3 %", 0.003},
	{"1 %", 0.01},
	{"3 %", 0.03},
	{"10 %", 0.1},
	{"3 % AR", 0.03, 0.9},
	{"10 % AR", 0.1, 0.9},
	{"bursts", 0.003, .neighbour = 0.5, .rough = true},
	{"drift", 0.003, .drift = 0.01},
	{"outliers", 0.003, .outliers = 0.05, .rough = true},
	{"bimodal", 0.003, .modes = 0.2, .rough = true},
	{"warm-up", 0.003, .warm_up = 0.4},
};

#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

struct ground {
	const struct world *world, *second;
	const struct kind *kind;
	const struct experiment *base;
	double factor, second_factor, path_gbps;
	uint64_t state;
	double walk, tokens;
	bool busy;
	unsigned windows;
};

/* Limits that are near each other add up as queues do: a cubic corner, not min(). */
static double gbps_of(void *ground, const struct experiment *e)
{
	struct ground *g = ground;
	const struct kind *kind = g->kind;
	E *b = g->base;
	double wire = ((double)b->size_bytes + HEADERS * ceil((double)b->size_bytes / 4096)) /
		      ((double)e->size_bytes + HEADERS * ceil((double)e->size_bytes / 4096));
	double rate = pow(wire, -3), noise = 1;

	g->busy = uniform(&g->state) < 0.2 ? uniform(&g->state) < 1. / 3 : g->busy;
	if (g->busy)
		rate = pow(wire * (1 - kind->neighbour), -3);
	rate += pow(g->world->limit(e, b) / g->factor, -3);
	if (g->second)
		rate += pow(g->second->limit(e, b) / g->second_factor, -3);
	rate = pow(rate, -1. / 3);
	if (g->world->bucket) { /* that holds a window's worth; the host is twice as fast */
		double sent = fmin(2 * rate, rate * (1 + g->tokens));

		g->tokens = fmin(1, g->tokens + 1.1 - sent / wire);
		rate = sent;
	}
	g->walk = kind->keeps * g->walk + sqrt(1 - kind->keeps * kind->keeps) * normal(&g->state);
	noise = exp(kind->sigma * g->walk - kind->drift * g->windows);
	if (uniform(&g->state) < kind->outliers)
		noise *= 0.3;
	if (uniform(&g->state) < 0.5)
		noise *= 1 - kind->modes;
	if (g->windows++ < 2)
		noise *= 1 - kind->warm_up;
	return rate * noise * g->path_gbps * (double)e->size_bytes / (double)b->size_bytes;
}

/* Play the world of G, and WITH: what else the options of a second one need. */
static enum finding_code play(struct ground *g, uint64_t seed, enum finding_strength *strength,
			      struct prove *p)
{
	const struct world *w = g->world, *with = g->second ? g->second : g->world;
	static struct experiment base;

	base = (struct experiment){.size_bytes = (uint64_t)w->size,
				   .qps = (uint64_t)w->qps,
				   .threads = 1,
				   .tx_depth = (uint64_t)w->depth,
				   .rx_depth = 512,
				   .post_list = 1,
				   .outs = w->fetches || with->fetches ? 2 : EXPERIMENT_AUTO,
				   .strict_order = w->strict || with->strict,
				   .footprint_bytes =
					   w->footprint || with->footprint ? 1 << 24 : 0};
	g->base = &base;
	g->state = seed;
	dice = seed;
	g->walk = normal(&g->state);
	g->tokens = 1;
	g->windows = 0;
	*p = (struct prove){.facts = {.base = &base,
				      .receives = w->receives || with->receives,
				      .fetches = w->fetches || with->fetches,
				      .rx_depth = 512,
				      .max_depth = 32768,
				      .cpus = 8,
				      .max_bytes = 1 << 30}};
	return play_prove(p, gbps_of, g, WINDOWS, strength);
}

struct score {
	unsigned named, wrong, plays; /* wrong: certain, and false */
};

/* Play the world of G, add to S and to ALL. What is certain and false is printed. */
static void score(struct ground *g, struct score *s, struct score *all)
{
	const struct world *w = g->world;
	struct score was = *s;

	for (uint64_t seed = 0; seed < SEEDS; seed++, s->plays++) {
		enum finding_strength strength;
		struct prove p;
		enum finding_code code =
			play(g, seed + SEEDS * (uint64_t)g->path_gbps, &strength, &p);
		bool sure = strength == FINDING_IS,
		     right = code == w->truth || (w->other && code == w->other);
		char text[1024];

		s->named += right && (sure || w->truth == LIMIT_UNKNOWN);
		s->wrong += sure && !right;
		if (sure && !right)
			printf("# %s, %s, %g: %s\n", w->name, g->kind->name, g->factor,
			       prove_text(&p, text, sizeof(text)));
	}
	all->named += s->named - was.named;
	all->wrong += s->wrong - was.wrong;
	all->plays += s->plays - was.plays;
}

/* "named/wrong" in per cent of each kind of noise. */
static void print(const char *name, double factor, const struct score s[KINDS])
{
	printf("# %-22s %3g", name, factor);
	for (size_t k = 0; k < KINDS; k++)
		printf(" %3.0f/%-4.3g", 100. * s[k].named / s[k].plays,
		       100. * s[k].wrong / s[k].plays);
	printf("\n");
}

/* Nothing is certain and false; where the rates vary by 1 % at most, what limits it is named. */
static void expect(const struct score s[KINDS])
{
	for (size_t k = 0; k < KINDS; k++) {
		assert_int_equal(s[k].wrong, 0);
		assert_true(kinds[k].sigma > 0.01 || kinds[k].rough ||
			    s[k].named >= s[k].plays * 9 / 10);
	}
}

static void test_worlds(void **state)
{
	static const double rates[] = {1, 25, 400}, factors[] = {2, 3, 8};
	struct score all[KINDS] = {0};

	(void)state;
	printf("# %-26s", "named/wrong %");
	for (size_t k = 0; k < KINDS; k++)
		printf(" %-8s", kinds[k].name);
	printf("\n");
	for (size_t i = 0; i < WORLDS; i++)
		for (size_t f = 0; f < (worlds[i].truth ? 3 : 1); f++) {
			struct ground g = {.world = &worlds[i],
					   .factor = worlds[i].truth ? factors[f] : 1};
			struct score s[KINDS] = {0};

			for (size_t k = 0; k < KINDS; k++) {
				g.kind = &kinds[k];
				for (size_t r = 0; r < 3; r++) {
					g.path_gbps = rates[r];
					score(&g, &s[k], &all[k]);
				}
			}
			print(worlds[i].name, g.factor, s);
			expect(s);
		}
	print("all", 0, all);
}

/* The first, which is three times as strong, is named. */
static void test_pairs(void **state)
{
	static const struct {
		limit *strong, *weak;
	} pairs[] = {
		{window, thread},     {window, pages},    {window, qp_bytes},
		{thread, window},     {thread, receives}, {thread, qp_messages},
		{qp_bytes, window},   {qp_bytes, pages},  {qp_messages, messages},
		{messages, thread},   {messages, window}, {doorbell, window},
		{doorbell, messages}, {receives, window}, {receives, thread},
		{pages, window},      {pages, qp_bytes},  {ordered, thread},
		{ordered, pages},     {fetches, pages},
	};
	struct score all[KINDS] = {0};

	(void)state;
	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		struct ground g = {.factor = 6, .second_factor = 2, .path_gbps = 100};
		struct score s[KINDS] = {0};
		char name[64];

		for (size_t k = 0; k < WORLDS; k++) {
			g.world = !g.world && worlds[k].limit == pairs[i].strong ? &worlds[k]
										 : g.world;
			g.second = !g.second && worlds[k].limit == pairs[i].weak ? &worlds[k]
										 : g.second;
		}
		for (size_t k = 0; k < KINDS; k++) {
			g.kind = &kinds[k];
			score(&g, &s[k], &all[k]);
		}
		snprintf(name, sizeof(name), "%s, %s", g.world->name, g.second->name);
		print(name, 6, s);
		expect(s);
	}
	print("all", 0, all);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_worlds),
		cmocka_unit_test(test_pairs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
