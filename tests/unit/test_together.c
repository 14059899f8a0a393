// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* together: the sum of two directions is of the time when both ran, and needs a whole message. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "endpoint/endpoint.h"
#include "measure/meter.h"
#include "measure/together.h"

#define GO    1000000 /* ticks of a ns, on a clock whose two ends began at different times */
#define BYTES 125     /* 1000 bits */

/* An end of one worker. */
struct end {
	struct clock clock;
	struct endpoint ep;
	struct meter meter;
	struct both_ways both;
	struct record record;
};

/* An end that was told to begin at GO + SKEW, and sent MESSAGES evenly FROM_NS to TO_NS after that. */
static void sent(struct end *e, uint64_t skew, uint64_t from_ns, uint64_t to_ns, unsigned messages)
{
	struct round_result *r = &e->meter.round.result;

	*e = (struct end){
		.clock = {.ns_per_tick = 1},
		.both = {.go_ticks = GO + skew},
		.record = {.messages = messages, .message_bytes = BYTES, .bandwidth_peak_gbps = 1},
	};
	e->ep = (struct endpoint){.clock = &e->clock, .workers = 1};
	e->meter.ep = &e->ep;
	r->timed_messages = r->messages = messages;
	r->start_ticks = GO + skew + from_ns;
	r->end_ticks = GO + skew + to_ns;
	slices_start(&r->slices, r->start_ticks, 0);
	for (unsigned i = 1; i <= 100; i++)
		slices_add(&r->slices, r->start_ticks + (to_ns - from_ns) * i / 100,
			   (uint64_t)messages * i / 100);
	record_set_rates(&e->record, 0);
	e->record.timed_messages = messages;
	record_set_rates(&e->record, (double)(to_ns - from_ns) / 1e9);
	e->record.plus_minus = (struct plus_minus){.slices = 50, .percent = 2};
}

/* What FROM tells TO; is it what TO can read? */
static void tell(struct end *from, struct end *to)
{
	struct fault f = {0};
	json_t *m = json_object();

	together_describe(&from->both, &from->meter, m);
	assert_int_equal(together_read(&to->both, m, &f), 0);
	json_decref(m);
}

/* The sum of both by end A, which B agrees with. */
static struct record sum_of(struct end *a, struct end *b)
{
	const struct record *const both[2][2] = {{&a->record, &b->record}, {&b->record, &a->record}};
	struct record sum = {.messages = 2000, .message_bytes = BYTES};
	struct record other = sum;

	tell(a, b);
	tell(b, a);
	together_count(&a->both, &a->meter);
	together_count(&b->both, &b->meter);
	tell(a, b);
	tell(b, a);
	together_sum(&a->both, both[0], &sum);
	together_sum(&b->both, both[1], &other);
	assert_memory_equal(&sum, &other, sizeof(sum));
	assert_int_equal(sum.messages, 2000);
	return sum;
}

static void assert_no_rate(const struct record *sum)
{
	assert_int_equal(sum->timed_messages, 0);
	assert_true(sum->seconds == 0 && sum->messages_per_s == 0 && sum->bandwidth_gbps == 0 &&
		    sum->bandwidth_peak_gbps == 0);
}

/* A sends a message each us, B one each 2 us: 1.5 Gb/s while both run, of 2.4 ms. */
static void of_the_time_when_both_ran(void **state)
{
	struct end a, b;
	struct record sum;

	(void)state;
	sent(&a, 0, 0, 1000000, 1000);
	sent(&b, 7000000, 400000, 2400000, 1000);
	sum = sum_of(&a, &b);
	assert_int_equal(sum.timed_messages, 900);
	assert_true(fabs(sum.seconds - 600e-6) < 1e-9);
	assert_true(fabs(sum.bandwidth_gbps - 1.5) < 0.01);
	assert_true(sum.bandwidth_peak_gbps == sum.bandwidth_gbps);
	assert_true(fabs(together_percent(&a.both) - 25) < 1e-6);
}

/* Each is known to 2 %: then so is the sum; of 2 and 5 % in 1.0 and 0.5 Gb/s it is 3. */
static void as_sure_as_its_parts(void **state)
{
	struct end a, b;

	(void)state;
	sent(&a, 0, 0, 1000000, 1000);
	sent(&b, 0, 0, 2000000, 1000);
	assert_true(fabs(sum_of(&a, &b).plus_minus.percent - 2) < 1e-9);
	sent(&a, 0, 0, 1000000, 1000);
	sent(&b, 0, 0, 2000000, 1000);
	b.record.plus_minus = (struct plus_minus){.slices = 20, .percent = 5};
	assert_true(fabs(sum_of(&a, &b).plus_minus.percent - 3) < 1e-9);
	sent(&a, 0, 0, 1000000, 1000);
	sent(&b, 0, 0, 2000000, 1000);
	b.record.plus_minus = (struct plus_minus){.slices = 2, .percent = NAN, .unknown = 1};
	assert_true(isnan(sum_of(&a, &b).plus_minus.percent));
	/* for two reasons: both ends say the same one */
	sent(&a, 0, 0, 1000000, 1000);
	sent(&b, 0, 0, 2000000, 1000);
	a.record.plus_minus = (struct plus_minus){.slices = 2, .percent = 0, .unknown = 1};
	b.record.plus_minus = (struct plus_minus){.slices = 50, .percent = 0, .unknown = 3};
	assert_int_equal(sum_of(&a, &b).plus_minus.unknown, 3);
}

/* What was lost does not count, but a direction that lost all has a rate: 0. */
static void of_what_arrived(void **state)
{
	struct end a, b;
	struct record sum;

	(void)state;
	sent(&a, 0, 0, 1000000, 1000);
	sent(&b, 0, 400000, 2400000, 1000);
	a.record.lost = 500;
	sum = sum_of(&a, &b);
	assert_int_equal(sum.timed_messages, 600);
	sent(&a, 0, 0, 1000000, 1000);
	sent(&b, 0, 400000, 2400000, 1000);
	a.record.lost = b.record.lost = 1000;
	sum = sum_of(&a, &b);
	assert_true(sum.seconds > 0 && sum.bandwidth_gbps == 0);
}

static void less_than_a_message_is_no_rate(void **state)
{
	/* never; 0.6 us: 0.6 of a message there, 0.3 here; 0.9 us: 1.35 of both together */
	static const struct {
		uint64_t from_ns, messages;
	} all[] = {{1000000, 0}, {1200000, 0}, {999400, 0}, {999100, 1}};
	struct end a, b;

	(void)state;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		struct record sum;

		sent(&a, 0, 0, 1000000, 1000);
		sent(&b, 0, all[i].from_ns, all[i].from_ns + 2000000, 1000);
		sum = sum_of(&a, &b);
		if (!all[i].messages)
			assert_no_rate(&sum);
		else
			assert_true(sum.timed_messages == 1 && sum.bandwidth_gbps > 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(of_the_time_when_both_ran),
		cmocka_unit_test(as_sure_as_its_parts),
		cmocka_unit_test(of_what_arrived),
		cmocka_unit_test(less_than_a_message_is_no_rate),
	};

	return cmocka_run_group_tests_name("together", tests, NULL, NULL);
}
