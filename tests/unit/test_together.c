// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* together: the sum of two directions is of the time when both ran, and needs a whole message. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "measure/together.h"

#define PARTS 1024 /* units per message in a timeline */
#define STEPS 100
#define BYTES 125 /* 1000 bits */

/* MESSAGES at an even rate from START_NS to END_NS. */
static void evenly(struct slices *to, uint64_t start_ns, uint64_t end_ns, double messages)
{
	slices_start(to, start_ns, 0);
	for (unsigned i = 1; i <= STEPS; i++)
		slices_add(to, start_ns + (end_ns - start_ns) * i / STEPS,
			   (uint64_t)(messages * PARTS * i / STEPS));
}

/* A measurement whose directions both ran from FROM_NS to TO_NS. */
static void both_ran(struct measurement *meas, uint64_t from_ns, uint64_t to_ns)
{
	*meas = (struct measurement){
		.mine.record = {.messages = 1000, .message_bytes = BYTES, .bandwidth_peak_gbps = 1},
		.theirs.record = {.messages = 1000, .message_bytes = BYTES, .bandwidth_peak_gbps = 1},
		.both = {.span_ns = {from_ns, to_ns}, .marks = {STEPS, STEPS}},
	};
	evenly(&meas->both.sent[0], 0, 1000000, 1000);
	evenly(&meas->both.sent[1], from_ns, from_ns + 2000000, 1000);
}

static struct record sum_of(const struct measurement *meas)
{
	/* what a sum has before: the messages of all, and what a rate may not be left of */
	const struct record *const both[2] = {&meas->mine.record, &meas->theirs.record};
	struct record sum = {.messages = 2000,
			     .timed_messages = 2000,
			     .message_bytes = BYTES,
			     .seconds = 1,
			     .messages_per_s = 1,
			     .bandwidth_gbps = 1,
			     .bandwidth_peak_gbps = 1};

	together_sum(&meas->both, both, &sum);
	assert_int_equal(sum.messages, 2000);
	return sum;
}

static void assert_no_rate(const struct record *sum)
{
	assert_int_equal(sum->timed_messages, 0);
	assert_true(sum->seconds == 0 && sum->messages_per_s == 0 && sum->bandwidth_gbps == 0 &&
		    sum->bandwidth_peak_gbps == 0);
}

/* Mine sends a message each us, theirs one each 2 us: 1.5 Gb/s while both run. */
static void of_the_time_when_both_ran(void **state)
{
	struct measurement meas;
	struct record sum;

	(void)state;
	both_ran(&meas, 400000, 1000000);
	sum = sum_of(&meas);
	assert_int_equal(sum.timed_messages, 900);
	assert_true(fabs(sum.seconds - 600e-6) < 1e-9);
	assert_true(fabs(sum.bandwidth_gbps - 1.5) < 0.01);
	assert_true(sum.bandwidth_peak_gbps == sum.bandwidth_gbps);
}

/* What was lost does not count, but a direction that lost all has a rate: 0. */
static void of_what_arrived(void **state)
{
	struct measurement meas;
	struct record sum;

	(void)state;
	both_ran(&meas, 400000, 1000000);
	meas.mine.record.lost = 500;
	sum = sum_of(&meas);
	assert_int_equal(sum.timed_messages, 600);
	meas.mine.record.lost = meas.theirs.record.lost = 1000;
	sum = sum_of(&meas);
	assert_true(sum.seconds > 0 && sum.bandwidth_gbps == 0);
}

static void less_than_a_message_is_no_rate(void **state)
{
	struct measurement meas;
	struct record sum;

	(void)state;
	both_ran(&meas, 1000000, 1000000);
	sum = sum_of(&meas);
	assert_no_rate(&sum);
	/* 0.6 us: 0.6 of a message there, 0.3 here */
	both_ran(&meas, 999400, 1000000);
	sum = sum_of(&meas);
	assert_no_rate(&sum);
	/* 0.9 us: 1.35 messages of both together */
	both_ran(&meas, 999100, 1000000);
	sum = sum_of(&meas);
	assert_int_equal(sum.timed_messages, 1);
	assert_true(sum.bandwidth_gbps > 0 && sum.seconds > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(of_the_time_when_both_ran),
		cmocka_unit_test(of_what_arrived),
		cmocka_unit_test(less_than_a_message_is_no_rate),
	};

	return cmocka_run_group_tests_name("together", tests, NULL, NULL);
}
