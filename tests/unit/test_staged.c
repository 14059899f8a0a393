// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* staged: between made-up GPUs over a made-up NIC, by a clock that stands still while they think.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "staged_fakes.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static void expect_guards(const struct world *w)
{
	static const uint8_t zero[GUARD];

	for (int i = 0; i < 2; i++)
		assert_memory_equal((uint8_t *)w->end[i].slots.memory.host + STAGED_SLOTS * w->size,
				    zero, GUARD);
}

/* MESSAGES are in place, both ends say so, and nothing is left behind. */
static void expect_good(struct world *w, uint64_t messages)
{
	char text[512];

	assert_string_equal(w->complaint, "");
	assert_false(w->stuck);
	for (int i = 0; i < 2; i++) {
		const struct end *e = &w->end[i];

		fault_format(&e->fault, text, sizeof(text));
		assert_string_equal(fault_is(&e->fault) ? text : "", "");
		assert_int_equal(e->rc, 0);
		assert_int_equal(e->round.result.messages, messages);
		assert_int_equal(atomic_load(&e->control.progress), messages);
		assert_int_equal(e->sent.taken, e->sent.put);
		assert_int_equal(*count_at(e), 0); /* the next run starts */
		assert_int_equal(e->queued, 0);
	}
	assert_int_equal(w->end[SOURCE].round.result.timed_messages, messages);
	for (int i = 0; i < LANES; i++)
		assert_int_equal(w->qp[i].begun, w->qp[i].done);
	assert_int_equal(w->qp[WIRE].done, messages);
	expect_guards(w);
	if (messages)
		assert_memory_equal((uint8_t *)w->end[SINK].slots.memory.host +
					    (messages - 1) % STAGED_SLOTS * w->size,
				    content(w, messages - 1), w->size);
}

static void run(struct world *w)
{
	world_open(w);
	world_run(w);
}

static void run_well(struct world *w)
{
	run(w);
	expect_good(w, w->messages);
	world_close(w);
}

/* As often as it takes to see every kind of hurry and delay. */
static void data_arrive(void **state)
{
	static const uint64_t size[] = {1, 7, 8, 64, 1000, 5003};
	static const uint64_t messages[] = {1, 2, 7, 8, 9, 16, 17, 40};

	for (unsigned variant = 0; variant < COUNT(size) * COUNT(messages) * 8; variant++) {
		struct world *w = *state;

		w->size = size[variant % COUNT(size)];
		w->messages = messages[variant / COUNT(size) % COUNT(messages)];
		w->source_host = variant & 1;
		w->sink_host = variant & 2;
		w->tx_depth = variant % 5 ? 16 : 1 + variant % 3;
		w->jitter = variant & 8 ? 0 : 300;
		w->ticks[WIRE_ACK] = variant & 16 ? 0 : 250;
		w->ticks[TELL] = variant % 7 * 30;
		w->ticks[CREDIT] = variant % 3 * 60;
		run_well(w);
		tear_down(state);
		set_up(state);
	}
}

static void every_end_may_be_host_memory(void **state)
{
	for (unsigned variant = 0; variant < 4; variant++) {
		struct world *w = *state;

		w->source_host = variant & 1;
		w->sink_host = variant & 2;
		w->jitter = 200;
		run_well(w);
		assert_int_equal(w->qp[COPY_OUT].done, w->source_host ? 0 : 20);
		assert_int_equal(w->qp[COPY_IN].done, w->sink_host ? 0 : 20);
		tear_down(state);
		set_up(state);
	}
}

/* What N chunks took, by the source's clock and by the world's. */
static uint64_t time_of(void **state, uint64_t n, const uint64_t *ticks)
{
	struct world *w = *state;
	uint64_t took, start;

	w->messages = n;
	for (int i = 0; i < LANES; i++)
		w->ticks[i] = ticks[i];
	run_well(w);
	took = w->end[SOURCE].round.result.end_ticks - w->end[SOURCE].round.result.start_ticks;
	assert_int_equal(w->end[SOURCE].round.result.start_ticks, START_TIME);
	/* The sink's clock: from the first message in place. */
	start = START_TIME + ticks[COPY_OUT] + ticks[WIRE] + ticks[TELL] + ticks[COPY_IN];
	assert_int_equal(w->end[SINK].round.result.start_ticks, start);
	assert_int_equal(w->end[SINK].round.result.end_ticks, START_TIME + took - ticks[CREDIT]);
	assert_int_equal(w->end[SINK].round.result.timed_messages, n - 1);
	tear_down(state);
	set_up(state);
	return took;
}

static void the_pipeline_overlaps(void **state)
{
	static const uint64_t even[LANES] = {100, 100, 0, 100, 0, 0, 0};
	static const uint64_t late[LANES] = {100, 100, 50, 100, 50, 50, 50};
	static const uint64_t later[LANES] = {100, 100, 50, 100, 300, 50, 300};

	assert_int_equal(time_of(state, 40, even), 42 * 100);
	assert_int_equal(time_of(state, 40, late), 42 * 100 + 100);
	/* Slots that come back after nine steps are too few. */
	assert_true(time_of(state, 40, later) > 46 * 100);
}

/* The model of staged copies: the rate of the slowest of the three. */
static void rates_are_those_of_the_model(void **state)
{
	static const uint64_t step[][3] = {{100, 160, 120}, {190, 100, 60}, {30, 70, 200}};
	uint64_t n = 30;

	for (size_t i = 0; i < COUNT(step); i++) {
		uint64_t out = step[i][0], wire = step[i][1], in = step[i][2];
		uint64_t ticks[LANES] = {out, wire, 5, in, 5, 5, 0};
		uint64_t slow = out > wire ? out : wire, all = out + wire + in;

		slow = slow > in ? slow : in;
		assert_int_equal(time_of(state, n, ticks), all + (n - 1) * slow + 5);
	}
}

static void an_end_without_a_copy_costs_none(void **state)
{
	struct world *w = *state;

	w->source_host = true;
	run_well(w);
	assert_int_equal(w->end[SOURCE].round.result.end_ticks, START_TIME + 21 * 100);
	tear_down(state);
	set_up(state);
	w = *state;
	w->sink_host = true;
	run_well(w);
	assert_int_equal(w->end[SOURCE].round.result.end_ticks, START_TIME + 21 * 100);
}

/* Where the send queues are shallow, the run is slower, and whole. */
static void shallow_queues_do(void **state)
{
	for (unsigned depth = 1; depth <= 3; depth++) {
		struct world *w = *state;

		w->tx_depth = depth;
		w->ticks[WIRE_ACK] = w->ticks[CREDIT] = 70;
		w->ticks[CREDIT_ACK] = 900;
		run_well(w);
		/* Credits that found no room were told with the next. */
		assert_true(w->qp[CREDIT].done < 20);
		tear_down(state);
		set_up(state);
	}
}

/* Any moment is good for a stop: what has begun gets finished. */
static void an_endless_run_ends_with_whole_messages(void **state)
{
	for (uint64_t at = 0; at < 3000; at += 170) {
		struct world *w = *state;
		uint64_t messages;

		w->messages = at % 340 ? ROUND_ENDLESS : 1000;
		w->stop_at = START_TIME + at;
		w->jitter = 40;
		run(w);
		messages = w->end[SOURCE].round.result.messages;
		expect_good(w, messages);
		assert_true(messages >= at / 140 && messages <= at / 100 + STAGED_SLOTS);
		assert_true(w->end[SOURCE].round.result.end_ticks >=
			    START_TIME + (messages ? at : 0));
		world_close(w);
		tear_down(state);
		set_up(state);
	}
}

static void no_messages_are_none(void **state)
{
	struct world *w = *state;

	w->messages = 0;
	run_well(w);
	assert_int_equal(w->end[SOURCE].round.result.start_ticks,
			 w->end[SOURCE].round.result.end_ticks);
}

/* The next run finds empty queues, and slots that count from 0 again. */
static void runs_follow_each_other(void **state)
{
	struct world *w = *state;

	w->ticks[WIRE_ACK] = 500;
	w->ticks[CREDIT_ACK] = 300;
	world_open(w);
	for (w->messages = 3; w->messages < 20; w->messages += 4) {
		world_run(w);
		expect_good(w, w->messages);
	}
	world_close(w);
}

/* Without turns and leaps: the two threads as they come, for ThreadSanitizer. */
static void two_threads_at_will(void **state)
{
	for (unsigned variant = 0; variant < 4; variant++) {
		struct world *w = *state;

		w->free_run = true;
		w->messages = 50;
		w->source_host = variant & 1;
		w->sink_host = variant & 2;
		w->jitter = 50;
		run_well(w);
		tear_down(state);
		set_up(state);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
		TEST(data_arrive),
		TEST(every_end_may_be_host_memory),
		TEST(the_pipeline_overlaps),
		TEST(rates_are_those_of_the_model),
		TEST(an_end_without_a_copy_costs_none),
		TEST(shallow_queues_do),
		TEST(an_endless_run_ends_with_whole_messages),
		TEST(no_messages_are_none),
		TEST(runs_follow_each_other),
		TEST(two_threads_at_will),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
