// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* plan: rounds from the experiment. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/rate.h"
#include "plan/plan.h"
#include "plan/test.h"
#include "verbs/transports.h"

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

/* By a schedule every post asks for a completion, and each thread has its part of the rate. */
static void a_schedule_is_of_what_is_timed(void **state)
{
	struct experiment e = bandwidth();
	struct plan_attr attr = {.size = 64, .workers = 2, .cqe = 1 << 20, .timed = true};

	(void)state;
	e.post_list = 4;
	e.latency_gap_us = 3;
	assert_int_equal(plan_round(&e, &attr).cq_mod, plan_cq_mod(&e, 64, 1 << 20));
	assert_true(plan_round(&e, &attr).messages_per_s == 0);
	assert_int_equal(plan_round(&e, &attr).gap_ns, 0); /* a stream has no pauses */
	assert_int_equal(rate_parse("1000p", &e.rate_limit), 0);
	assert_int_equal(plan_round(&e, &attr).cq_mod, 4);
	assert_int_equal(plan_round(&e, &attr).burst, 4);
	assert_true(plan_round(&e, &attr).messages_per_s == 500);
	e.burst = 3; /* less than a post is none */
	assert_int_equal(plan_round(&e, &attr).burst, 4);
	e.burst = 8;
	assert_int_equal(plan_round(&e, &attr).burst, 8);
	attr.timed = false;
	assert_int_equal(plan_round(&e, &attr).cq_mod, plan_cq_mod(&e, 64, 1 << 20));
	assert_true(plan_round(&e, &attr).messages_per_s == 0);
	attr = (struct plan_attr){
		.size = 2, .workers = 4, .cqe = 16, .latency = true, .timed = true};
	e.latency_rate = 100;
	assert_true(plan_round(&e, &attr).messages_per_s == 25);
	assert_int_equal(plan_round(&e, &attr).burst, 1);
	assert_int_equal(plan_round(&e, &attr).gap_ns, 3000);
}

static void warmup_is_bounded(void **state)
{
	struct experiment e = bandwidth();

	(void)state;
	assert_int_equal(plan_warmup(&e, 64, false), 128);
	assert_int_equal(plan_warmup(&e, 65536, false), 128);
	assert_int_equal(plan_warmup(&e, 1 << 20, false), 64); /* 64 MiB */
	assert_int_equal(plan_warmup(&e, 8 << 20, false), 8);
	assert_int_equal(plan_warmup(&e, 8 << 20, true), 8);
	assert_int_equal(plan_warmup(&e, 1 << 30, false), 2);
	e.qps = 4; /* of all together */
	assert_int_equal(plan_warmup(&e, 1 << 20, false), 16);
	e.qps = 1024; /* 4 MiB of each */
	assert_int_equal(plan_warmup(&e, 65536, false), 64);
	assert_int_equal(plan_warmup(&e, 8 << 20, false), 2);
	e.qps = 1;
	e.iters = 1;
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
	struct plan_qp p = {.receives = true, .max_cqe = 32767, .max_wr = 1 << 20};

	(void)state;
	assert_int_equal(plan_rx_depth(&e, &p), 512);
	e.qps = 512;
	assert_int_equal(plan_rx_depth(&e, &p), 63);
	e.qps = 65536;
	assert_int_equal(plan_rx_depth(&e, &p), 1);
	e.rx_depth = 7;
	assert_int_equal(plan_rx_depth(&e, &p), 7);
}

/* iWARP: who sends is not told that it is too fast. */
static void there_are_more_receives_where_a_missing_one_is_fatal(void **state)
{
	struct experiment e = bandwidth();
	struct plan_qp p = {
		.receives = true, .no_rnr_retry = true, .max_cqe = 32767, .max_wr = 1 << 20};

	(void)state;
	assert_int_equal(plan_rx_depth(&e, &p), 8192);
	e.use_srq = 1;
	assert_int_equal(plan_rx_depth(&e, &p), 8192);
	e.use_srq = 0;
	e.qps = 4;
	assert_int_equal(plan_rx_depth(&e, &p), 2048);
	e.qps = 50;
	assert_int_equal(plan_rx_depth(&e, &p), 512);
	e.use_srq = 1;
	assert_int_equal(plan_rx_depth(&e, &p), 8192);
	e.use_srq = 0;
	p.max_wr = 1000;
	e.qps = 1;
	assert_int_equal(plan_rx_depth(&e, &p), 1000);
	p.latency = true;
	assert_int_equal(plan_rx_depth(&e, &p), 64);
	e.rx_depth = 7;
	assert_int_equal(plan_rx_depth(&e, &p), 7);
}

static void one_queue_for_all_qps(void **state)
{
	struct experiment e = bandwidth();
	struct plan_qp p = {.receives = true, .max_cqe = 32767, .max_wr = 1 << 20};

	(void)state;
	e.use_srq = 1;
	assert_int_equal(plan_rx_depth(&e, &p), 512);
	p.latency = true;
	assert_int_equal(plan_rx_depth(&e, &p), 64);
	p.latency = false;
	e.qps = 4;
	assert_int_equal(plan_rx_depth(&e, &p), 2048);
	e.qps = 4096;
	assert_int_equal(plan_rx_depth(&e, &p), 8192);
	p.max_wr = 1000;
	assert_int_equal(plan_rx_depth(&e, &p), 1000);
	p.max_cqe = 100;
	assert_int_equal(plan_rx_depth(&e, &p), 100);
	e.rx_depth = 7;
	assert_int_equal(plan_rx_depth(&e, &p), 7);
	p.receives = false;
	assert_int_equal(plan_rx_depth(&e, &p), 0);
}

static void a_pingpong_signals_one_send_in_many(void **state)
{
	struct experiment e = bandwidth();
	struct plan_qp p = {.latency = true, .max_send_wr = 1024};

	(void)state;
	e.tx_depth = 1;
	assert_int_equal(plan_tx_depth(&e, &p), 1); /* one request at a time, and each is awaited */
	p.pingpong = true;
	assert_int_equal(plan_tx_depth(&e, &p), 64);
	e.tx_depth = 100;
	assert_int_equal(plan_tx_depth(&e, &p), 100);
	p.max_send_wr = 32;
	assert_int_equal(plan_tx_depth(&e, &p), 100); /* what is given is refused, not cut */
	e.tx_depth = 1;
	assert_int_equal(plan_tx_depth(&e, &p), 32);
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
	assert_int_equal(plan_recv_list(&e, 64), 16);
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
	assert_int_equal(plan_check(&e, &f), 0);
	assert_true(plan_warmup(&e, 64, false) > 1); /* --iters is no bound of it */
	e.sweep = 1;
	assert_int_equal(plan_check(&e, &f), -1);
	assert_int_equal(f.code, FAULT_USAGE);
}

static void refusals(void **state)
{
	struct experiment e = bandwidth();
	struct fault f = {0};

	(void)state;
	assert_int_equal(plan_check(&e, &f), 0);
	e.post_list = 129;
	assert_int_equal(plan_check(&e, &f), -1);
	assert_int_equal(f.code, FAULT_USAGE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(moderation_defaults),
		cmocka_unit_test(moderation_fits_every_post_list),
		cmocka_unit_test(completions_fit_the_cq),
		cmocka_unit_test(small_messages_have_a_deeper_queue),
		cmocka_unit_test(a_schedule_is_of_what_is_timed),
		cmocka_unit_test(warmup_is_bounded),
		cmocka_unit_test(sweep_ends_at_the_port),
		cmocka_unit_test(receives_fit_the_cq),
		cmocka_unit_test(there_are_more_receives_where_a_missing_one_is_fatal),
		cmocka_unit_test(one_queue_for_all_qps),
		cmocka_unit_test(a_pingpong_signals_one_send_in_many),
		cmocka_unit_test(datagrams_are_cut),
		cmocka_unit_test(receives_in_one_post),
		cmocka_unit_test(without_end),
		cmocka_unit_test(refusals),
	};

	return cmocka_run_group_tests_name("plan", tests, NULL, NULL);
}
