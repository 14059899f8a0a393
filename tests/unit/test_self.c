// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What `rdmark self` concludes from the windows of made hosts: 4 ports on 2 NUMA nodes with 4 GPUs,
 * with one fault or none. The figures are rates of error: how often the fault is named, and
 * anything else is.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "draw.h"
#include "host/path.h"
#include "rdmark/self.h"

#define PORTS    4
#define MEMORIES 6 /* two nodes, four GPUs */
#define HOSTS    1000

enum fault_of {
	NOTHING,
	SLOT,    /* a port with every memory */
	GPU,     /* a GPU from every port */
	PATH,    /* a port with one node */
	SPEEDS,  /* nothing, but half of the ports are twice as fast */
	UNKNOWN, /* nothing, but nobody knows which memory is far */
	STARVED, /* a port with every memory, but its threads lacked their CPU */
};

struct world {
	const char *name;
	enum fault_of is;
	double share, noise; /* what is slow has left; relative, of a window */
	double named, other; /* at least and at most, in % of the hosts */
	const char *says;
};

static const struct world worlds[] = {
	{"healthy, 1 %", NOTHING, 1, 0.01, 0, 0, NULL},
	{"healthy, 5 %", NOTHING, 1, 0.05, 0, 1, NULL},
	{"healthy, two speeds", SPEEDS, 1, 0.01, 0, 0, NULL},
	{"a slot at half, 1 %", SLOT, 0.5, 0.01, 100, 0, "mlx5_1 port 1 is slow with every memory"},
	{"a slot at half, 5 %", SLOT, 0.5, 0.05, 99, 1, "mlx5_1 port 1 is slow with every memory"},
	{"a slot at 80 %, 1 %", SLOT, 0.8, 0.01, 99, 0, "mlx5_1 port 1 is slow with every memory"},
	{"a GPU at half", GPU, 0.5, 0.01, 100, 0, "GPU 2 is slow from every port"},
	{"a GPU at 80 %", GPU, 0.8, 0.01, 99, 0, "GPU 2 is slow from every port"},
	{"a path at half", PATH, 0.5, 0.01, 100, 0,
	 "mlx5_1 port 1 is slow with the memory of node 1"},
	{"a slot at half that cannot be told", STARVED, 0.5, 0.01, 0, 0, NULL},
	{"healthy, distances unknown", UNKNOWN, 1, 0.01, 0, 0, NULL},
};

static struct hca_port port[PORTS];
static struct gpu_info gpu[MEMORIES - 2];
static struct self_memory memory[MEMORIES];
static struct self_cell cell[PORTS * MEMORIES];

static double noise(uint64_t *x, double sigma)
{
	double sum = 0;

	for (int i = 0; i < 12; i++)
		sum += (double)(draw(x) >> 11) / 9007199254740992.0;
	return 1 + sigma * (sum - 6);
}

static bool is_slow(const struct world *w, size_t p, size_t m)
{
	return (p == 1 && (w->is == SLOT || w->is == STARVED || (w->is == PATH && m == 1))) ||
	       (w->is == GPU && m == 4);
}

static bool is_far(size_t p, size_t m)
{
	return p / 2 != (m < 2 ? m : (m - 2) / 2);
}

/* The windows of P with memory M, in a world of noise. */
static void measure(const struct world *w, size_t p, size_t m, uint64_t *seed)
{
	struct self_cell *c = &cell[p * MEMORIES + m];

	c->windows = SELF_TURNS - (w->is == STARVED && p == 1);
	for (unsigned i = 0; i < c->windows; i++)
		c->gbps[i] = 95 * (is_far(p, m) ? 0.7 : 1) * (m < 2 ? 1 : 0.9) *
			     noise(seed, w->noise) * (w->is == SPEEDS && p % 2 ? 2 : 1) *
			     (is_slow(w, p, m) ? w->share : 1);
}

static struct self make_host(const struct world *w, uint64_t seed)
{
	struct self s = {
		.memory = memory, .memories = MEMORIES, .cell = cell, .cells = PORTS * MEMORIES};

	for (size_t m = 0; m < MEMORIES; m++) {
		memory[m] = (struct self_memory){.gpu = m < 2 ? NULL : &gpu[m - 2], .node = (int)m};
		snprintf(memory[m].name, sizeof(memory[m].name), m < 2 ? "node %zu" : "GPU %zu",
			 m < 2 ? m : m - 2);
	}
	for (size_t p = 0; p < PORTS; p++) {
		snprintf(port[p].device, sizeof(port[p].device), "mlx5_%zu", p);
		port[p].port = 1;
		port[p].port_attr.active_speed =
			w->is == SPEEDS && p % 2 ? 64 : 32; /* HDR: 50 Gb/s a lane */
		port[p].port_attr.active_width = 2;         /* four lanes */
		for (size_t m = 0; m < MEMORIES; m++) {
			struct self_cell *c = &cell[p * MEMORIES + m];

			*c = (struct self_cell){
				.port = &port[p], .memory = &memory[m], .slow = true,
				.distance = is_far(p, m)};
			if (w->is == UNKNOWN)
				c->distance = m < 2 ? -1 : PATH_UNKNOWN;
			measure(w, p, m, &seed);
		}
	}
	return s;
}

/* As the program does: what is slow is measured again. */
static void conclude(const struct world *w, struct self *s, uint64_t seed)
{
	if (!self_judge(s))
		return;
	self_doubt(s);
	for (size_t i = 0; i < s->cells; i++)
		if (!cell[i].windows)
			measure(w, i / MEMORIES, i % MEMORIES, &seed);
	self_judge(s);
}

/* Does the report of S have SAYS, and nothing else that is slow? */
static void read_report(const struct self *s, const char *says, bool *named, bool *other)
{
	char *text = NULL;
	size_t size = 0, found;
	FILE *out = open_memstream(&text, &size);

	found = self_print(s, out);
	fclose(out);
	*named = says && strstr(text, says);
	*other = found > *named;
	free(text);
}

static void rates(void **state)
{
	const char *only = getenv("RDMARK_SELF");

	(void)state;
	for (size_t i = 0; i < sizeof(worlds) / sizeof(worlds[0]); i++) {
		const struct world *w = &worlds[i];
		size_t named = 0, other = 0;

		if (only && !strstr(w->name, only))
			continue;
		for (uint64_t seed = 1; seed <= HOSTS; seed++) {
			struct self s = make_host(w, seed * 7919);
			bool is, more;

			conclude(w, &s, seed);
			read_report(&s, w->says, &is, &more);
			named += is;
			other += more;
		}
		printf("# %-36s named %5.1f %%, anything else %4.1f %%\n", w->name,
		       100.0 * (double)named / HOSTS, 100.0 * (double)other / HOSTS);
		assert_true(100.0 * (double)named / HOSTS >= w->named);
		assert_true(100.0 * (double)other / HOSTS <= w->other);
	}
}

/* A report and a document of one host, as a user reads them. */
static void forms(void **state)
{
	struct self s = make_host(&worlds[3], 1);
	json_t *document;
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	(void)state;
	snprintf(s.cell[0].failed, sizeof(s.cell[0].failed), "no such node");
	s.cell[0].windows = 0;
	assert_true(self_judge(&s) > 0);
	self_print(&s, out);
	fclose(out);
	assert_non_null(
		strstr(text, "mlx5_0 port 1, node 0: 0 of 3 windows count: no such node\n"));
	assert_non_null(strstr(text, "Cables, switches and the other host were not used"));
	assert_null(strstr(text, "cannot tell"));
	free(text);
	document = self_json(&s);
	assert_int_equal(json_array_size(json_object_get(document, "cells")), PORTS * MEMORIES);
	assert_int_equal(json_array_size(json_object_get(document, "findings")), 1);
	json_decref(document);
}

static void alone(void **state)
{
	struct self s = make_host(&worlds[0], 1);
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	(void)state;
	s.cells = MEMORIES;
	s.memories = MEMORIES;
	for (size_t i = 0; i < s.cells; i++)
		s.cell[i].distance = (int)i;
	assert_int_equal(self_judge(&s), 0);
	self_print(&s, out);
	fclose(out);
	assert_non_null(strstr(text, "cannot tell whether these rates are normal"));
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rates),
		cmocka_unit_test(forms),
		cmocka_unit_test(alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
