// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* staged: when the GPU, the NIC or the other end fails, or somebody has lost patience. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "staged_fakes.h"

/* SIDE's loop has raised a fault of CODE in which WORDS stand; the other was told, and has not. */
static void expect_fault(struct world *w, enum side side, enum fault_code code, const char *words)
{
	const struct end *e = &w->end[side], *other = &w->end[side == SOURCE ? SINK : SOURCE];
	char text[1024];

	fault_format(&e->fault, text, sizeof(text));
	assert_int_equal(e->rc, -1);
	assert_int_equal(e->fault.code, code);
	if (!strstr(text, words))
		fail_msg("no \"%s\" in: %s", words, text);
	assert_int_equal(other->rc, 0);
	assert_false(fault_is(&other->fault));
	assert_string_equal(w->complaint, "");
	assert_false(w->stuck);
	/* What was in place is still told. */
	assert_true(w->end[SINK].round.result.messages >= w->end[SOURCE].round.result.messages);
}

static void run(struct world *w)
{
	world_open(w);
	world_run(w);
	world_close(w);
}

/* Start over, so that one test may have many cases. */
static struct world *fresh(void **state)
{
	tear_down(state);
	set_up(state);
	return *state;
}

static void a_failed_write_is_told(void **state)
{
	struct world *w = *state;

	w->fail[WIRE] = 9;
	run(w);
	expect_fault(w, SOURCE, FAULT_PEER, "chunk or count of chunks of 1 KiB on QP 0x000000");
	assert_int_equal(w->end[SINK].round.result.messages, 9);
	w = fresh(state);
	w->fail[WIRE] = 0;
	run(w);
	expect_fault(w, SOURCE, FAULT_PEER, "sends no ACK");
	assert_int_equal(w->end[SINK].round.result.messages, 0);
}

static void a_failed_credit_is_told(void **state)
{
	struct world *w = *state;

	w->fail[CREDIT] = 3;
	run(w);
	expect_fault(w, SINK, FAULT_PEER, "count of chunks of 1 KiB");
	assert_int_equal(w->end[SOURCE].round.result.messages, 3);
	/* Also the very last, which the source awaits. */
	w = fresh(state);
	w->fail[CREDIT] = 19;
	run(w);
	expect_fault(w, SINK, FAULT_PEER, "count of chunks of 1 KiB");
	assert_int_equal(w->end[SINK].round.result.messages, 20);
	assert_int_equal(w->end[SOURCE].round.result.messages, 19);
}

static void a_failed_copy_is_told(void **state)
{
	struct world *w = *state;

	w->fail[COPY_OUT] = 5;
	run(w);
	expect_fault(w, SOURCE, FAULT_LOCAL, "copy: 700");
	w = fresh(state);
	w->fail[COPY_IN] = 5;
	run(w);
	expect_fault(w, SINK, FAULT_LOCAL, "copy: 700");
	assert_int_equal(w->end[SINK].round.result.messages, 5);
}

static void a_refused_copy_is_told(void **state)
{
	struct world *w = *state;

	w->refuse_copy[SOURCE] = 5;
	run(w);
	expect_fault(w, SOURCE, FAULT_LOCAL, "copy: 700");
	w = fresh(state);
	w->refuse_copy[SINK] = 5;
	run(w);
	expect_fault(w, SINK, FAULT_LOCAL, "copy: 700");
}

static void a_refusing_nic_is_told(void **state)
{
	for (enum side side = SOURCE; side <= SINK; side++) {
		struct world *w = fresh(state);

		w->refuse_post[side] = 5;
		run(w);
		expect_fault(w, side, FAULT_LOCAL, "ibv_post_send: No such device");
		w = fresh(state);
		w->refuse_poll[side] = 5;
		run(w);
		expect_fault(w, side, FAULT_LOCAL, "ibv_poll_cq: Input/output error");
	}
}

static void ends_out_of_step_are_told(void **state)
{
	struct world *w = *state;

	w->wrong_count = 6;
	run(w);
	expect_fault(w, SINK, FAULT_PEER, "the peer counts 1007 chunks, and 6 before");
	w = fresh(state);
	w->wrong_credit = 4;
	run(w);
	expect_fault(w, SOURCE, FAULT_PEER, "the peer counts 1005 chunks, and 4 before");
}

/* A stage takes far too long: both leave with what they have, and no fault of their own. */
static void a_loop_that_waits_can_be_told_to_quit(void **state)
{
	for (enum qp_name name = COPY_OUT; name < LANES; name++) {
		struct world *w = fresh(state);
		uint64_t took;

		w->ticks[name] = 1000000;
		w->quit_at = START_TIME + 50000;
		run(w);
		assert_int_equal(w->now, START_TIME + 50000);
		assert_string_equal(w->complaint, "");
		assert_false(w->stuck);
		for (enum side side = SOURCE; side <= SINK; side++) {
			assert_int_equal(w->end[side].rc, 0);
			assert_false(fault_is(&w->end[side].fault));
		}
		/* The wait is not part of what was measured. */
		took = w->end[SOURCE].round.result.end_ticks -
		       w->end[SOURCE].round.result.start_ticks;
		assert_true(took <= 2500);
		assert_int_equal(took == 0, w->end[SOURCE].round.result.messages == 0);
	}
}

static void a_quit_at_once_finds_nothing_in_place(void **state)
{
	struct world *w = *state;

	w->quit_at = START_TIME;
	run(w);
	assert_int_equal(w->end[SOURCE].rc, 0);
	assert_int_equal(w->end[SOURCE].round.result.messages, 0);
	assert_int_equal(w->end[SINK].round.result.messages, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
		TEST(a_failed_write_is_told),
		TEST(a_failed_credit_is_told),
		TEST(a_failed_copy_is_told),
		TEST(a_refused_copy_is_told),
		TEST(a_refusing_nic_is_told),
		TEST(ends_out_of_step_are_told),
		TEST(a_loop_that_waits_can_be_told_to_quit),
		TEST(a_quit_at_once_finds_nothing_in_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
