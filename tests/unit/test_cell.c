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
	struct gdr_cell cell[GDR_CELLS_MAX];
	unsigned count = gdr_cells(cell, (const unsigned[]){client, server});
	size_t used = 0;

	text[0] = '\0';
	for (unsigned i = 0; i < count; i++) {
		char route[32];

		if (cell[i].reverse == reverse)
			used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s:%s",
						 used ? " " : "", gdr_cell_name(&cell[i]),
						 gdr_cell_route(&cell[i], route, sizeof(route)));
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
			    "host:host read:dma-buf staged-sync:copy staged-pipe:copy");
	assert_string_equal(cells_of(HOST | DMABUF | COPIED, HOST, true),
			    "host:host write:dma-buf staged-sync:copy staged-pipe:copy");
}

static void every_route_has_its_cells(void **state)
{
	(void)state;
	assert_string_equal(
		cells_of(HOST | DMABUF | PEER | COPIED, HOST | DMABUF | PEER | COPIED, false),
		"host:host read:dma-buf read:peermem write:dma-buf write:peermem "
		"gdr:dma-buf gdr:peermem staged-sync:copy staged-pipe:copy");
	assert_string_equal(
		cells_of(HOST | DIRECT | COPIED, HOST | DIRECT | COPIED, true),
		"host:host read:data-direct write:data-direct gdr:data-direct staged-sync:copy staged-pipe:copy");
}

static void ends_with_different_routes_meet(void **state)
{
	(void)state;
	assert_string_equal(cells_of(HOST | DMABUF | COPIED, HOST | PEER | COPIED, false),
			    "host:host read:dma-buf write:peermem gdr:dma-buf/peermem "
			    "staged-sync:copy staged-pipe:copy");
}

static void a_gpu_without_a_route_is_staged(void **state)
{
	(void)state;
	assert_string_equal(cells_of(HOST | COPIED, HOST | COPIED, false),
			    "host:host staged-sync:copy staged-pipe:copy");
	assert_string_equal(cells_of(HOST | COPIED, HOST | PEER | COPIED, false),
			    "host:host write:peermem staged-sync:copy staged-pipe:copy");
}

static void all_there_is_fits(void **state)
{
	struct gdr_cell cell[GDR_CELLS_MAX];
	unsigned all = HOST | DMABUF | PEER | DIRECT | COPIED;

	(void)state;
	assert_int_equal(gdr_cells(cell, (const unsigned[]){all, all}), 24);
}

static void a_way_is_a_cell(void **state)
{
	bool seen[GDR_WAYS + 1] = {false};

	(void)state;
	for (unsigned method = 0; method < GDR_METHODS; method++)
		for (unsigned from = 0; from < GDR_MEMORIES; from++)
			for (unsigned into = 0; into < GDR_MEMORIES; into++) {
				struct gdr_cell c = {method, from, into, false}, back = {0};
				unsigned way = gdr_cell_way(&c);

				assert_in_range(way, 1, GDR_WAYS);
				assert_false(seen[way]);
				seen[way] = true;
				gdr_cell_of_way(&back, way);
				/* not their bytes: there may be some between the members */
				assert_true(back.method == c.method && back.from == c.from &&
					    back.into == c.into && back.reverse == c.reverse);
			}
}

static void the_median_is_in_the_middle(void **state)
{
	double odd[] = {3, 1, 2}, even[] = {4, 1, 3, 2};
	struct gdr_result r = {.gbps = odd, .windows = 3};

	(void)state;
	gdr_result_settle(&r);
	assert_true(r.median == 2 && r.min == 1 && r.max == 3);
	r = (struct gdr_result){.gbps = even, .windows = 4};
	gdr_result_settle(&r);
	assert_true(r.median == 2.5 && r.min == 1 && r.max == 4);
	r = (struct gdr_result){.gbps = even};
	gdr_result_settle(&r);
	assert_true(r.median == 0);
}

static void a_cell_is_compared_with_its_own_direction(void **state)
{
	struct gdr_result r[4] = {
		{.cell = {GDR_DIRECT, GDR_HOST, GDR_HOST, false}, .windows = 1},
		{.cell = {GDR_DIRECT, GDR_HOST, GDR_HOST, true}, .windows = 1},
		{.cell = {GDR_DIRECT, GDR_DMABUF, GDR_HOST, true}, .windows = 1},
		{.cell = {GDR_DIRECT, GDR_HOST, GDR_HOST, true}, .windows = 0},
	};

	(void)state;
	assert_ptr_equal(gdr_result_host(r, 4, &r[2]), &r[1]);
	assert_true(gdr_cell_is_direct(&r[2].cell));
	assert_false(gdr_cell_is_direct(&r[0].cell));
	r[1].size_bytes = 2; /* of another size of the sweep */
	assert_null(gdr_result_host(r, 4, &r[2]));
	r[2].size_bytes = 2;
	assert_ptr_equal(gdr_result_host(r, 4, &r[2]), &r[1]);
	r[1].windows = 0;
	assert_null(gdr_result_host(r, 4, &r[2]));
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
		cmocka_unit_test(a_cell_is_compared_with_its_own_direction),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
