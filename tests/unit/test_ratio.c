// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * ratio: what windows made by hand allow, when it looks, and what gets more windows. How often it
 * is wrong is in test_gdr_ground.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "gdr_windows.h"
#include "stat/interval.h"

static struct made m;
static struct ratios e;

static void evaluate(unsigned turns, double host, double gpu, double spread)
{
	made_results(&m, turns, host, gpu, spread);
	ratio_evaluate(&e, &m.attr);
}

static void when_it_looks(void **state)
{
	static const unsigned want[] = {7, 14, 28, 56};
	struct ratio_attr a = {.first = 7};

	(void)state;
	for (unsigned i = 0, done = 0; i < 4; i++, done = want[i - 1])
		assert_int_equal(ratio_next_look(&a, done), want[i]);
	assert_int_equal(ratio_next_look(&a, 25), 28);
	assert_int_equal(ratio_next_look(&a, 56), 0);
	a.first = 1;
	assert_int_equal(ratio_next_look(&a, 1), 2);
	assert_int_equal(ratio_next_look(&a, 8), 0);
}

/* One of four looks at one of eight cells: Student's t by the book. */
static void an_interval_by_hand(void **state)
{
	static const double value[] = {9, 11, 10, 10, 12, 8, 10};
	double half = 3.521 * sqrt(10.0 / 6 / 7); /* 98.75 %, 6 degrees of freedom */

	(void)state;
	made_results(&m, 7, 10, 10, 0);
	for (unsigned t = 0; t < 7; t++)
		m.gbps[made_cell(&m, "read")][t] = value[t];
	ratio_evaluate(&e, &m.attr);
	assert_true(e.cell[0].result == &m.result[made_cell(&m, "read")]);
	assert_true(fabs(e.cell[0].of_host.mean - 1) < 1e-9);
	assert_true(fabs(1 - e.cell[0].of_host.low - half / 10) < 1e-3);
	/* Eight cells are looked at: the upper end is of 99.84375 %. */
	assert_true(fabs(e.cell[0].of_host.high - 1 -
			 half / 10 * interval_t(100 - 1.25 / 8, 6) / 3.521) < 1e-3);
	assert_true(fabs(e.confidence - (100 - (1.25 + 1.25 / 8) / 2)) < 1e-9);
}

static void the_edges_of_the_levels(void **state)
{
	static const struct {
		double gpu;
		enum verdict_level level;
	} row[] = {{200, VERDICT_PASS}, {95, VERDICT_PASS},   {94.9, VERDICT_WARN},
		   {80, VERDICT_WARN},  {79.9, VERDICT_FAIL}, {1, VERDICT_FAIL}};

	(void)state;
	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		evaluate(7, 100, row[i].gpu, 0);
		assert_true(e.best == row[i].level && e.worst == row[i].level);
		assert_true(fabs(e.deciding->of_host.mean - row[i].gpu / 100) < 1e-9);
	}
	made_results(&m, 7, 100, 85, 0);
	m.attr.within = 0.2;
	ratio_evaluate(&e, &m.attr);
	assert_true(e.worst == VERDICT_PASS);
}

static void what_disturbs_both_of_a_pair_is_no_matter(void **state)
{
	(void)state;
	evaluate(11, 100, 90, 0.01);
	assert_true(e.best == VERDICT_WARN && e.worst == VERDICT_WARN);
	for (unsigned t = 0; t < 11; t++)
		for (unsigned i = 0; i < m.attr.results; i++)
			m.gbps[i][t] *= t % 3 ? 1 : 0.3;
	ratio_evaluate(&e, &m.attr);
	assert_true(e.best == VERDICT_WARN && e.worst == VERDICT_WARN);
	assert_true(fabs(e.deciding->of_host.mean - 0.9) < 0.01);
}

static void too_few_windows(void **state)
{
	(void)state;
	evaluate(1, 100, 100, 0);
	assert_true(e.best == VERDICT_PASS && e.worst == VERDICT_FAIL);
	assert_true(isinf(e.deciding->of_host.high) && e.deciding->of_host.low == 0);
	made_results(&m, 7, 100, 100, 0);
	for (unsigned i = 0; i < m.attr.results; i++)
		m.result[i].windows = 0;
	ratio_evaluate(&e, &m.attr);
	assert_true(!e.cells && !e.deciding);
	m.attr.results = 0;
	ratio_evaluate(&e, &m.attr);
	assert_true(!e.cells && !e.deciding);
}

/* Windows that last make fewer of them: seen in all cells together, not in the seven of one. */
static void what_lasts_is_worth_less(void **state)
{
	double width;

	(void)state;
	evaluate(7, 100, 100, 0.02);
	width = e.cell[0].of_host.high - e.cell[0].of_host.low;
	assert_true(isfinite(width));
	for (unsigned i = 0; i < m.attr.results; i++)
		for (unsigned t = 0; t < 7; t++)
			m.gbps[i][t] = 100 * (1 + ((i * 5 + t) / 3 % 2 ? 0.02 : -0.02));
	ratio_evaluate(&e, &m.attr);
	assert_true(!(e.cell[0].of_host.high - e.cell[0].of_host.low < width));
}

/* From window 5 of 28 on at 70 %: of the GPU alone; of host memory as well; while host memory
 * rises. */
static void a_gpu_that_falls(void **state)
{
	unsigned read, host;

	(void)state;
	made_results(&m, 28, 100, 100, 0.01);
	read = made_cell(&m, "read");
	host = made_cell(&m, "host");
	for (unsigned t = 4; t < 28; t++)
		m.gbps[read][t] *= 0.7;
	ratio_evaluate(&e, &m.attr);
	assert_true(e.best == VERDICT_WARN && e.worst == VERDICT_WARN);
	assert_true(e.deciding->result == &m.result[read] && !ratio_is_open(&e, NULL));
	assert_int_equal(e.deciding->fell_from, 5);
	assert_true(fabs(e.deciding->fell_to - 0.7) < 0.02 && !e.deciding->sank);
	for (unsigned t = 4; t < 28; t++)
		m.gbps[host][t] *= 0.7;
	ratio_evaluate(&e, &m.attr);
	assert_true(e.best == VERDICT_PASS && e.cell[0].fell_from == 0);
	made_results(&m, 28, 100, 93, 0.01);
	for (unsigned t = 0; t < 4; t++)
		m.gbps[host][t] *= 0.7;
	ratio_evaluate(&e, &m.attr);
	assert_int_equal(e.cell[0].fell_from, 0);
	/* Seven windows, or windows in turns, are no fall. */
	made_results(&m, 7, 100, 100, 0.01);
	for (unsigned t = 4; t < 7; t++)
		m.gbps[read][t] *= 0.7;
	ratio_evaluate(&e, &m.attr);
	assert_int_equal(e.cell[0].fell_from, 0);
	made_results(&m, 28, 100, 100, 0.01);
	for (unsigned t = 0; t < 28; t += 2)
		m.gbps[read][t] *= 0.7;
	ratio_evaluate(&e, &m.attr);
	assert_int_equal(e.cell[0].fell_from, 0);
}

static void a_gpu_that_sinks(void **state)
{
	unsigned read;

	(void)state;
	made_results(&m, 28, 100, 100, 0.005);
	read = made_cell(&m, "read");
	for (unsigned t = 0; t < 28; t++)
		m.gbps[read][t] *= 1 - 0.15 * t / 27;
	ratio_evaluate(&e, &m.attr);
	assert_true(e.deciding->result == &m.result[read] && e.deciding->sank);
	assert_true(e.best == VERDICT_WARN && e.deciding->fell_from == 1);
	assert_true(fabs(e.deciding->fell_to - 0.85) < 0.02);
}

static void host_memory_is_slow(void **state)
{
	(void)state;
	made_results(&m, 20, 80, 80, 0.01);
	for (unsigned i = 0; i < m.attr.results; i++)
		m.result[i].expected_gbps = 100;
	ratio_evaluate(&e, &m.attr);
	assert_true(e.best == VERDICT_WARN && e.worst == VERDICT_WARN && e.deciding->by_host);
	/* At times as fast as expected: cannot tell. */
	for (unsigned i = 0; i < m.attr.results; i++)
		for (unsigned t = 0; t < 20; t++)
			m.gbps[i][t] *= t % 2 ? 1.35 : 0.75;
	ratio_evaluate(&e, &m.attr);
	assert_true(e.best == VERDICT_PASS && e.worst == VERDICT_WARN && e.deciding->by_host);
	for (unsigned i = 0; i < m.attr.results; i++)
		m.result[i].expected_gbps = 0;
	ratio_evaluate(&e, &m.attr);
	assert_true(e.worst == VERDICT_PASS);
}

/* What is no matter to a verdict gets no more windows. */
static void more_windows_for_what_is_open_alone(void **state)
{
	unsigned read, host;

	(void)state;
	made_results(&m, 7, 100, 100, 0.003);
	read = made_cell(&m, "read");
	host = made_cell(&m, "host");
	made_windows(&m, read, 7, 95, 0.02);
	ratio_evaluate(&e, &m.attr);
	assert_true(e.best == VERDICT_PASS && e.worst == VERDICT_WARN);
	assert_true(e.deciding->result == &m.result[read]);
	for (unsigned i = 0; i < m.attr.results; i++)
		assert_int_equal(ratio_is_open(&e, &m.result[i]), i == read || i == host);
}

/* In as many turns as there are cells, each is the first once; every turn has each of them. */
static void the_order_of_a_turn(void **state)
{
	(void)state;
	for (unsigned cells = 1; cells <= GDR_CELLS_MAX; cells++) {
		unsigned firsts = 0, order[GDR_CELLS_MAX];

		for (unsigned turn = 0; turn < cells; turn++) {
			unsigned seen = 0;

			gdr_turn_order(order, cells, turn + 3);
			for (unsigned i = 0; i < cells; i++)
				seen |= 1u << order[i];
			assert_int_equal(seen, (1u << cells) - 1);
			firsts |= 1u << order[0];
		}
		assert_int_equal(firsts, (1u << cells) - 1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(when_it_looks),
		cmocka_unit_test(an_interval_by_hand),
		cmocka_unit_test(the_edges_of_the_levels),
		cmocka_unit_test(what_disturbs_both_of_a_pair_is_no_matter),
		cmocka_unit_test(too_few_windows),
		cmocka_unit_test(what_lasts_is_worth_less),
		cmocka_unit_test(a_gpu_that_falls),
		cmocka_unit_test(a_gpu_that_sinks),
		cmocka_unit_test(host_memory_is_slow),
		cmocka_unit_test(more_windows_for_what_is_open_alone),
		cmocka_unit_test(the_order_of_a_turn),
	};

	return cmocka_run_group_tests_name("ratio", tests, NULL, NULL);
}
