// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* plan: rounds from the experiment. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "session/plan.h"

static struct experiment bandwidth(void)
{
	return (struct experiment){EXPERIMENT_DEFAULTS, .size_bytes = 65536, .iters = 1000,
				   .tx_depth = 128};
}

static void moderation_defaults(void **state)
{
	struct experiment e = bandwidth();

	(void)state;
	assert_int_equal(plan_cq_mod(&e, 64, 1 << 20), 32); /* 100, but a quarter of the queue */
	assert_int_equal(plan_cq_mod(&e, 8192, 1 << 20), 32);
	assert_int_equal(plan_cq_mod(&e, 8193, 1 << 20), 1);
	e.tx_depth = 1024;
	assert_int_equal(plan_cq_mod(&e, 64, 1 << 20), 100);
}

/* What the loop's ring needs: a multiple of the post list or a divisor, and room in the queue. */
static void moderation_fits_every_post_list(void **state)
{
	struct experiment e = bandwidth();

	(void)state;
	for (e.tx_depth = 1; e.tx_depth <= 130; e.tx_depth++)
		for (e.post_list = 1; e.post_list <= e.tx_depth; e.post_list++)
			for (e.cq_mod = 1; e.cq_mod <= 140; e.cq_mod += 3) {
				unsigned mod = plan_cq_mod(&e, 64, 1 << 20);
				uint64_t ring = mod > e.post_list ? mod : e.post_list;

				assert_true(mod >= 1 && mod <= e.cq_mod);
				assert_true(mod % e.post_list == 0 || e.post_list % mod == 0);
				assert_true(ring <= e.tx_depth);
				/* When no more fits, at least one signalled request is under way.
				 */
				assert_true(ring <= e.tx_depth / e.post_list * e.post_list);
			}
}

/* All completions that can be under way have a place. */
static void completions_fit_the_cq(void **state)
{
	struct experiment e = bandwidth();

	(void)state;
	e.cq_mod = 1;
	for (e.qps = 1; e.qps <= 64; e.qps *= 2)
		for (e.post_list = 1; e.post_list <= e.tx_depth; e.post_list++)
			for (unsigned cqe = (unsigned)e.qps; cqe < 20000; cqe = cqe * 5 / 3 + 1) {
				unsigned mod = plan_cq_mod(&e, 65536, cqe);
				uint64_t depth = e.tx_depth / e.post_list * e.post_list;

				assert_true((depth + mod - 1) / mod * e.qps <= cqe);
				assert_true(mod % e.post_list == 0 || e.post_list % mod == 0);
				assert_true(mod <= depth);
			}
}

static void small_messages_have_a_deeper_queue(void **state)
{
	struct experiment e = bandwidth();

	(void)state;
	e.size_bytes = 8192;
	assert_int_equal(plan_default_depth(&e), 192);
	e.sweep = 1;
	assert_int_equal(plan_default_depth(&e), e.tx_depth);
	e.sweep = 0;
	e.size_bytes = 8193;
	assert_int_equal(plan_default_depth(&e), e.tx_depth);
}

static void warmup_is_bounded(void **state)
{
	struct experiment e = bandwidth();

	(void)state;
	assert_int_equal(plan_warmup(&e, 64, false), 128);
	assert_int_equal(plan_warmup(&e, 65536, false), 64); /* 4 MiB */
	assert_int_equal(plan_warmup(&e, 8 << 20, false), 1);
	e.iters = 5;
	assert_int_equal(plan_warmup(&e, 64, false), 5);
	assert_int_equal(plan_warmup(&e, 2, true), 5);
	e.duration_ns = 1;
	assert_int_equal(plan_warmup(&e, 2, true), 100);
	e.warmup = 0;
	assert_int_equal(plan_warmup(&e, 2, true), 0);
}

static void sweep_ends_at_the_port(void **state)
{
	struct experiment e = bandwidth();

	(void)state;
	assert_int_equal(plan_first_size(&e), 65536);
	assert_int_equal(plan_last_size(&e, 1024), 65536);
	e.sweep = 1;
	assert_int_equal(plan_first_size(&e), 2);
	assert_int_equal(plan_last_size(&e, UINT32_MAX), 8 << 20);
	assert_int_equal(plan_last_size(&e, 8 << 20), 8 << 20);
	assert_int_equal(plan_last_size(&e, (8 << 20) - 1), 4 << 20);
}

static void receives_fit_the_cq(void **state)
{
	struct experiment e = bandwidth();

	(void)state;
	assert_int_equal(plan_rx_depth(&e, false, 32767, 1 << 20), 512);
	e.qps = 512;
	assert_int_equal(plan_rx_depth(&e, false, 32767, 1 << 20), 63);
	e.qps = 65536;
	assert_int_equal(plan_rx_depth(&e, false, 32767, 1 << 20), 1);
	e.rx_depth = 7;
	assert_int_equal(plan_rx_depth(&e, false, 32767, 1 << 20), 7);
}

static void one_queue_for_all_qps(void **state)
{
	struct experiment e = bandwidth();

	(void)state;
	assert_int_equal(plan_srq_depth(&e, false, 32767, 1 << 20), 512);
	assert_int_equal(plan_srq_depth(&e, true, 32767, 1 << 20), 64);
	e.qps = 4;
	assert_int_equal(plan_srq_depth(&e, false, 32767, 1 << 20), 2048);
	e.qps = 4096;
	assert_int_equal(plan_srq_depth(&e, false, 32767, 1 << 20), 8192);
	assert_int_equal(plan_srq_depth(&e, false, 32767, 1000), 1000);
	assert_int_equal(plan_srq_depth(&e, false, 100, 1000), 100);
	e.rx_depth = 7;
	assert_int_equal(plan_srq_depth(&e, false, 32767, 1 << 20), 7);
}

static void datagrams_are_cut(void **state)
{
	struct experiment e = bandwidth();

	(void)state;
	assert_int_equal(plan_last_size(&e, 4096), 65536);
	e.connection = CONNECTION_UD;
	assert_int_equal(plan_last_size(&e, 4096), 4096);
	e.size_bytes = 100;
	assert_int_equal(plan_last_size(&e, 4096), 100);
	e.sweep = 1;
	assert_int_equal(plan_last_size(&e, 4096), 4096);
	assert_int_equal(plan_last_size(&e, 1500), 1024);
}

static void receives_in_one_post(void **state)
{
	struct experiment e = bandwidth();

	(void)state;
	assert_int_equal(plan_recv_list(&e, 512), 32);
	assert_int_equal(plan_recv_list(&e, 128), 32);
	assert_int_equal(plan_recv_list(&e, 127), 31);
	assert_int_equal(plan_recv_list(&e, 3), 1);
	e.recv_post_list = 7;
	assert_int_equal(plan_recv_list(&e, 512), 7);
	assert_int_equal(plan_recv_list(&e, 3), 7); /* refused where the depth is known */
}

static void without_end(void **state)
{
	struct experiment e = bandwidth();
	struct fault f = {0};

	(void)state;
	assert_false(experiment_endless(&e));
	e.run_infinitely = 1;
	e.iters = 1;
	assert_true(experiment_endless(&e));
	assert_int_equal(plan_check(&e, false, &f), 0);
	assert_true(plan_warmup(&e, 64, false) > 1); /* --iters is no bound of it */
	e.sweep = 1;
	assert_int_equal(plan_check(&e, false, &f), -1);
	assert_int_equal(f.code, FAULT_USAGE);
}

static void refusals(void **state)
{
	struct experiment e = bandwidth();
	struct fault f = {0};

	(void)state;
	assert_int_equal(plan_check(&e, false, &f), 0);
	e.post_list = 129;
	assert_int_equal(plan_check(&e, false, &f), -1);
	assert_int_equal(f.code, FAULT_USAGE);
	e = bandwidth();
	e.qps = 2;
	fault_clear(&f);
	assert_int_equal(plan_check(&e, true, &f), -1);
	assert_int_equal(f.code, FAULT_USAGE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(moderation_defaults),
		cmocka_unit_test(moderation_fits_every_post_list),
		cmocka_unit_test(completions_fit_the_cq),
		cmocka_unit_test(small_messages_have_a_deeper_queue),
		cmocka_unit_test(warmup_is_bounded),
		cmocka_unit_test(sweep_ends_at_the_port),
		cmocka_unit_test(receives_fit_the_cq),
		cmocka_unit_test(one_queue_for_all_qps),
		cmocka_unit_test(datagrams_are_cut),
		cmocka_unit_test(receives_in_one_post),
		cmocka_unit_test(without_end),
		cmocka_unit_test(refusals),
	};

	return cmocka_run_group_tests_name("plan", tests, NULL, NULL);
}
