// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* cell: which cells there are for what two ends have, and what is made of their windows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "../../gdr_bw/cell.h"

#define HOST   (1u << GDR_HOST)
#define DMABUF (1u << GDR_DMABUF)
#define PEER   (1u << GDR_PEERMEM)
#define DIRECT (1u << GDR_DATA_DIRECT)
#define COPIED (1u << GDR_COPIED)

/* The cells of one direction as one text: "host:host read:dma-buf …". */
static const char *cells_of(unsigned client, unsigned server, bool reverse)
{
	static char text[512];
	struct gdr_result r[GDR_CELLS_MAX];
	unsigned count = gdr_results(r, (const unsigned[]){client, server}, 4, 1024);
	size_t used = 0;

	text[0] = '\0';
	for (unsigned i = 0; i < count; i++) {
		char route[32];

		if (r[i].cell.reverse == reverse)
			used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s:%s",
						 used ? " " : "", gdr_cell_name(&r[i].cell),
						 gdr_cell_route(&r[i].cell, route, sizeof(route)));
	}
	return text;
}

static void no_gpu_means_host_memory(void **state)
{
	(void)state;
	assert_string_equal(cells_of(HOST, HOST, false), "host:host");
	assert_string_equal(cells_of(HOST, HOST, true), "host:host");
}

static void one_gpu_means_one_sided_cells(void **state)
{
	(void)state;
	assert_string_equal(cells_of(HOST | DMABUF | COPIED, HOST, false),
			    "host:host read:dma-buf staged-pipe:copy");
	assert_string_equal(cells_of(HOST | DMABUF | COPIED, HOST, true),
			    "host:host write:dma-buf staged-pipe:copy");
}

static void every_route_has_its_cells(void **state)
{
	(void)state;
	assert_string_equal(
		cells_of(HOST | DMABUF | PEER | COPIED, HOST | DMABUF | PEER | COPIED, false),
		"host:host read:dma-buf read:peermem write:dma-buf write:peermem "
		"gdr:dma-buf gdr:peermem staged-pipe:copy");
	assert_string_equal(
		cells_of(HOST | DIRECT | COPIED, HOST | DIRECT | COPIED, true),
		"host:host read:data-direct write:data-direct gdr:data-direct staged-pipe:copy");
}

static void ends_with_different_routes_meet(void **state)
{
	(void)state;
	assert_string_equal(cells_of(HOST | DMABUF | COPIED, HOST | PEER | COPIED, false),
			    "host:host read:dma-buf write:peermem gdr:dma-buf/peermem "
			    "staged-pipe:copy");
}

static void a_gpu_without_a_route_is_staged(void **state)
{
	(void)state;
	assert_string_equal(cells_of(HOST | COPIED, HOST | COPIED, false),
			    "host:host staged-pipe:copy");
	assert_string_equal(cells_of(HOST | COPIED, HOST | PEER | COPIED, false),
			    "host:host write:peermem staged-pipe:copy");
}

static void all_there_is_fits(void **state)
{
	struct gdr_result r[GDR_CELLS_MAX];
	unsigned all = HOST | DMABUF | PEER | DIRECT | COPIED;

	(void)state;
	assert_int_equal(gdr_results(r, (const unsigned[]){all, all}, 4, 1024), GDR_CELLS_MAX);
}

static void a_way_is_a_cell(void **state)
{
	bool seen[GDR_KINDS + 1] = {false};

	(void)state;
	for (unsigned method = 0; method < GDR_METHODS; method++)
		for (unsigned from = 0; from < GDR_MEMORIES; from++)
			for (unsigned into = 0; into < GDR_MEMORIES; into++) {
				struct gdr_cell c = {method, from, into, false}, back = {0};
				unsigned kind = gdr_cell_kind(&c);

				assert_in_range(kind, 1, GDR_KINDS);
				assert_false(seen[kind]);
				seen[kind] = true;
				gdr_cell_of_kind(&back, kind);
				/* not their bytes: there may be some between the members */
				assert_true(back.method == c.method && back.from == c.from &&
					    back.into == c.into && back.reverse == c.reverse);
			}
}

static void the_median_is_in_the_middle(void **state)
{
	double odd[] = {3, 1, 2}, even[] = {4, 0, 1, 3, 2}, scratch[10];
	struct gdr_result r = {.gbps = odd, .turns = 3, .windows = 3};

	(void)state;
	gdr_result_summarize(&r, scratch);
	assert_true(r.median == 2 && r.min == 1 && r.max == 3);
	/* A turn without a window; and the windows stay in their turns. */
	r = (struct gdr_result){.gbps = even, .turns = 5, .windows = 4};
	gdr_result_summarize(&r, scratch);
	assert_true(r.median == 2.5 && r.min == 1 && r.max == 4);
	assert_true(even[0] == 4 && even[1] == 0 && even[4] == 2);
	r = (struct gdr_result){.gbps = even};
	gdr_result_summarize(&r, scratch);
	assert_true(r.median == 0);
}

/* "read:dma-buf> …", the cells between CLIENT and SERVER by the route that auto takes. */
static const char *taken(unsigned client, unsigned server)
{
	static char text[512];
	struct gdr_result r[GDR_CELLS_MAX];
	const unsigned has[2] = {client, server};
	unsigned count = gdr_results(r, has, 4, 1024);
	size_t used = 0;

	text[0] = '\0';
	for (unsigned i = 0; i < count; i++) {
		char route[32];

		if (r[i].judged)
			used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s:%s%s",
						 used ? " " : "", gdr_cell_name(&r[i].cell),
						 gdr_cell_route(&r[i].cell, route, sizeof(route)),
						 r[i].cell.reverse ? "<" : ">");
	}
	return text;
}

static void the_route_that_auto_takes(void **state)
{
	unsigned both = HOST | DMABUF | PEER | COPIED;

	(void)state;
	assert_string_equal(taken(both, both), "read:dma-buf> write:dma-buf> gdr:dma-buf> "
					       "read:dma-buf< write:dma-buf< gdr:dma-buf<");
	assert_string_equal(taken(both, HOST), "read:dma-buf> write:dma-buf<");
	assert_string_equal(taken(HOST | PEER | COPIED, both),
			    "read:peermem> write:dma-buf> gdr:peermem/dma-buf> read:dma-buf< "
			    "write:peermem< gdr:dma-buf/peermem<");
	assert_string_equal(taken(HOST | DIRECT | COPIED, HOST),
			    "read:data-direct> write:data-direct<");
	assert_string_equal(taken(HOST | COPIED, HOST), "");
}

static void a_cell_is_compared_with_its_own_direction(void **state)
{
	const unsigned has[2] = {HOST | DMABUF | COPIED, HOST};
	struct gdr_result r[2 * GDR_CELLS_MAX];
	unsigned small, all;

	(void)state;
	small = gdr_results(r, has, 2, 0);
	all = small + gdr_results(r + small, has, 4, 1024);
	assert_true(small == 4 && all == 10); /* the staged ones once */
	for (unsigned i = 0; i < all; i++) {
		const struct gdr_result *host = r[i].host;
		bool staged = r[i].cell.method != GDR_DIRECT;

		assert_string_equal(gdr_cell_name(&host->cell), "host");
		assert_true(host->cell.reverse == r[i].cell.reverse);
		assert_int_equal(r[i].size_bytes, i < small ? 2 : 4);
		assert_int_equal(host->size_bytes, r[i].size_bytes);
		assert_int_equal(r[i].message_bytes, staged ? 1024 : r[i].size_bytes);
		assert_true(!r[i].judged || i >= small);
		assert_true((r[i].host == &r[i]) == (!staged && !gdr_cell_is_direct(&r[i].cell)));
	}
}

static void the_lesser_of_two_rates_that_may_be_unknown(void **state)
{
	(void)state;
	assert_true(gdr_least(1, 2) == 1 && gdr_least(2, 1) == 1);
	assert_true(gdr_least(0, 2) == 2 && gdr_least(2, 0) == 2 && gdr_least(0, 0) == 0);
}

static void every_cell_has_words(void **state)
{
	(void)state;
	assert_string_equal(gdr_cell_words(&(struct gdr_cell){.from = GDR_DMABUF}), "GPU to host");
	assert_string_equal(gdr_cell_words(&(struct gdr_cell){.into = GDR_DMABUF}), "host to GPU");
	assert_string_equal(
		gdr_cell_words(&(struct gdr_cell){.from = GDR_PEERMEM, .into = GDR_DMABUF}),
		"GPU to GPU");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_gpu_means_host_memory),
		cmocka_unit_test(one_gpu_means_one_sided_cells),
		cmocka_unit_test(every_route_has_its_cells),
		cmocka_unit_test(ends_with_different_routes_meet),
		cmocka_unit_test(a_gpu_without_a_route_is_staged),
		cmocka_unit_test(all_there_is_fits),
		cmocka_unit_test(a_way_is_a_cell),
		cmocka_unit_test(the_median_is_in_the_middle),
		cmocka_unit_test(the_route_that_auto_takes),
		cmocka_unit_test(a_cell_is_compared_with_its_own_direction),
		cmocka_unit_test(the_lesser_of_two_rates_that_may_be_unknown),
		cmocka_unit_test(every_cell_has_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
