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

/* STAGED: an end has a GPU; the NIC reaches it at CLIENT, SERVER. The cells of one direction as one
 * text: "host read …". */
static const char *cells_of(bool client, bool server, bool staged, bool reverse)
{
	static char text[512];
	struct gdr_result r[GDR_CELLS_MAX];
	unsigned count = gdr_results(r, (const bool[]){client, server}, staged);
	size_t used = 0;

	text[0] = '\0';
	for (unsigned i = 0; i < count; i++)
		if (r[i].cell.reverse == reverse)
			used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s",
						 used ? " " : "", gdr_cell_name(&r[i].cell));
	return text;
}

static void what_ends_with_and_without_gpus_have(void **state)
{
	(void)state;
	assert_string_equal(cells_of(false, false, false, false), "host");
	assert_string_equal(cells_of(false, false, false, true), "host");
	assert_string_equal(cells_of(true, false, true, false), "host read staged");
	assert_string_equal(cells_of(true, false, true, true), "host write staged");
	assert_string_equal(cells_of(false, true, true, false), "host write staged");
	assert_string_equal(cells_of(true, true, true, false), "host read write gdr staged");
	assert_string_equal(cells_of(true, true, true, true), "host read write gdr staged");
	/* A GPU that no NIC reaches. */
	assert_string_equal(cells_of(false, false, true, false), "host staged");
	assert_string_equal(cells_of(false, false, true, true), "host staged");
}

static void a_kind_is_a_pair_of_memories_or_staged(void **state)
{
	bool seen[GDR_KINDS + 1] = {false};

	(void)state;
	for (unsigned i = 0; i < GDR_KINDS; i++) {
		struct gdr_cell c = {.from_gpu = i & 1, .into_gpu = i & 2, .staged = i == 4},
				back = {0};
		unsigned kind = gdr_cell_kind(&c);

		assert_in_range(kind, 1, GDR_KINDS);
		assert_false(seen[kind]);
		seen[kind] = true;
		gdr_cell_of_kind(&back, kind);
		assert_true(back.from_gpu == c.from_gpu && back.into_gpu == c.into_gpu &&
			    back.staged == c.staged);
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

static void a_cell_is_compared_with_its_own_direction(void **state)
{
	struct gdr_result r[GDR_CELLS_MAX];
	unsigned all = gdr_results(r, (const bool[]){true, true}, true);

	(void)state;
	assert_int_equal(all, GDR_CELLS_MAX);
	for (unsigned i = 0; i < all; i++) {
		assert_string_equal(gdr_cell_name(&r[i].host->cell), "host");
		assert_true(r[i].host->cell.reverse == r[i].cell.reverse);
		assert_true((r[i].host == &r[i]) ==
			    !(gdr_cell_is_direct(&r[i].cell) || r[i].cell.staged));
		assert_true(r[i].cell.staged == (i >= all - 2)); /* none of them is judged */
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
	assert_string_equal(gdr_cell_words(&(struct gdr_cell){.from_gpu = true}), "GPU to host");
	assert_string_equal(gdr_cell_words(&(struct gdr_cell){.into_gpu = true}), "host to GPU");
	assert_string_equal(gdr_cell_words(&(struct gdr_cell){.from_gpu = true, .into_gpu = true}),
			    "GPU to GPU");
	assert_string_equal(gdr_cell_words(&(struct gdr_cell){0}), "host to host");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_ends_with_and_without_gpus_have),
		cmocka_unit_test(a_kind_is_a_pair_of_memories_or_staged),
		cmocka_unit_test(the_median_is_in_the_middle),
		cmocka_unit_test(a_cell_is_compared_with_its_own_direction),
		cmocka_unit_test(the_lesser_of_two_rates_that_may_be_unknown),
		cmocka_unit_test(every_cell_has_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
