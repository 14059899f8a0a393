// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* quality: each reason at its threshold, one step to either side; and what it is called. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "finding/finding.h"
#include "finding/quality.h"

#define MESSAGES 1000000

/* A second of a quiet host: a timer's ticks, a handful of faults, counters that stand still. */
static struct quality quiet(void)
{
	struct quality q = quality_unknown();

	q.observed_s = 1;
	q.on_cpu_percent = 99.6;
	q.preempted = 12;
	q.minor_faults = 9;
	q.major_faults = 0;
	q.steal_percent = 0;
	q.retransmissions = q.retransmitted_percent = 0;
	q.ack_timeouts = q.ack_timeout_percent = 0;
	q.receiver_not_ready = q.receiver_not_ready_percent = 0;
	q.losses = q.lost_percent = 0;
	q.out_of_order = 0;
	return q;
}

/* The bit of a reason. */
#define BIT(code) (1 << ((code) - DISTURBED_CPU))

static unsigned bandwidth(const struct quality *q)
{
	return quality_judge(q, false, MESSAGES);
}

static void quiet_is_quiet(void **state)
{
	struct quality q = quiet(), unknown = quality_unknown();

	(void)state;
	assert_int_equal(bandwidth(&q), 0);
	assert_int_equal(quality_judge(&q, true, MESSAGES), 0);
	assert_int_equal(bandwidth(&unknown), 0);
	assert_int_equal(quality_judge(&unknown, true, 0), 0);
	memset(&unknown, 0, sizeof(unknown)); /* an end that did not say anything */
	assert_int_equal(bandwidth(&unknown), 0);
	quality_add(&q, &unknown);
	assert_true(q.on_cpu_percent == 99.6);
	q.out_of_order = 1e6; /* several ways through the network: no harm by itself */
	q.preempted = 300;
	assert_int_equal(bandwidth(&q), 0);
	q.overlap_percent = 90;
	assert_int_equal(bandwidth(&q), 0);
}

static void cpu(void **state)
{
	struct quality q = quiet();

	(void)state;
	q.on_cpu_percent = 98;
	assert_int_equal(bandwidth(&q), 0);
	q.on_cpu_percent = 97.99;
	assert_int_equal(bandwidth(&q), BIT(DISTURBED_CPU));
	/* 2 ms of which a kernel thread took 60 us; then 101 us */
	q.observed_s = 0.002;
	q.on_cpu_percent = 97;
	assert_int_equal(bandwidth(&q), 0);
	q.on_cpu_percent = 94.9;
	assert_int_equal(bandwidth(&q), BIT(DISTURBED_CPU));
}

static void faults(void **state)
{
	struct quality q = quiet();

	(void)state;
	q.major_faults = 1;
	assert_int_equal(bandwidth(&q), BIT(DISTURBED_MAJOR_FAULTS));
	q.major_faults = 0;
	q.minor_faults = 10000;
	assert_int_equal(bandwidth(&q), 0);
	q.minor_faults = 10001;
	assert_int_equal(bandwidth(&q), BIT(DISTURBED_PAGE_FAULTS));
	/* of a ping-pong's samples one in a thousand */
	q.minor_faults = 1000;
	assert_int_equal(quality_judge(&q, true, MESSAGES), 0);
	q.minor_faults = 1001;
	assert_int_equal(quality_judge(&q, true, MESSAGES), BIT(DISTURBED_PAGE_FAULTS));
	q.minor_faults = 10;
	assert_int_equal(quality_judge(&q, true, 100), 0);
	q.minor_faults = 11;
	assert_int_equal(quality_judge(&q, true, 100), BIT(DISTURBED_PAGE_FAULTS));
}

static void counters(void **state)
{
	static const struct {
		size_t field;
		enum finding_code reason;
		double fine, bad;
	} of[] = {
		{offsetof(struct quality, steal_percent), DISTURBED_STEAL, 1, 1.01},
		{offsetof(struct quality, retransmitted_percent), DISTURBED_RETRANSMISSIONS, 0.1,
		 0.101},
		{offsetof(struct quality, ack_timeout_percent), DISTURBED_ACK_TIMEOUTS, 1, 1.01},
		{offsetof(struct quality, receiver_not_ready_percent), DISTURBED_RECEIVER_NOT_READY,
		 0.1, 0.101},
		{offsetof(struct quality, lost_percent), DISTURBED_LOSSES, 0.1, 0.101},
		{offsetof(struct quality, overlap_percent), DISTURBED_OVERLAP, 90, 89.9},
		{offsetof(struct quality, above_percent), DISTURBED_ABOVE_LINK, 102, 102.1},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(of) / sizeof(of[0]); i++) {
		struct quality q = quiet();
		double *value = (double *)((char *)&q + of[i].field);

		*value = of[i].fine;
		assert_int_equal(bandwidth(&q), 0);
		*value = of[i].bad;
		assert_int_equal(bandwidth(&q), BIT(of[i].reason));
	}
}

static void the_worse_of_both(void **state)
{
	struct quality a = quiet(), b = quality_unknown(), c = quiet();

	(void)state;
	quality_add(&b, &a); /* what is not known is what the other one has */
	assert_true(b.on_cpu_percent == 99.6 && b.observed_s == 1 && b.minor_faults == 9);
	assert_true(isnan(b.overlap_percent));
	c.on_cpu_percent = 37;
	c.steal_percent = 4;
	c.overlap_percent = 50;
	quality_add(&b, &c);
	assert_true(b.on_cpu_percent == 37 && b.steal_percent == 4 && b.overlap_percent == 50);
	quality_add(&b, &a);
	assert_true(b.on_cpu_percent == 37 && b.steal_percent == 4 && b.overlap_percent == 50);
}

static void words(void **state)
{
	struct quality q = quiet();
	char text[512];

	(void)state;
	q.on_cpu_percent = 37.04;
	q.preempted = 812;
	q.retransmissions = 240;
	q.retransmitted_percent = 24;
	quality_text(&q, bandwidth(&q), text, sizeof(text));
	assert_string_equal(text, "the thread got 37 % of its CPU (other tasks preempted it 812 "
				  "times), 240 retransmissions, 24 %");
	assert_string_equal(quality_text(&q, 0, text, sizeof(text)), "");
	/* nobody waits for more than all of the time: those of others are among them */
	/* a limit of its own stopped it, for as long as it lacked its CPU */
	q = quiet();
	q.on_cpu_percent = 31;
	q.stopped = 47;
	q.stopped_s = 0.65;
	assert_int_equal(bandwidth(&q), BIT(DISTURBED_CPU_LIMIT));
	quality_text(&q, bandwidth(&q), text, sizeof(text));
	assert_string_equal(text, "its cgroup's CPU limit stopped it 47 times for 0.65 s: the thread "
				  "got 31 % of its CPU");
	assert_non_null(strstr(quality_next(&q, bandwidth(&q), text, sizeof(text)), "CPU limit of the pod"));
	q.stopped_s = 0.4; /* others did a little, too */
	assert_int_equal(bandwidth(&q), BIT(DISTURBED_CPU_LIMIT));
	q.stopped_s = 0.3; /* others did more */
	assert_int_equal(bandwidth(&q), BIT(DISTURBED_CPU));
	q.on_cpu_percent = NAN; /* it sleeps */
	assert_int_equal(bandwidth(&q), BIT(DISTURBED_CPU_LIMIT));
	/* software resends what it lost, and no more; there are no switches */
	q = quiet();
	q.retransmitted_percent = 4.9;
	assert_int_equal(bandwidth(&q), BIT(DISTURBED_RETRANSMISSIONS));
	quality_next(&q, bandwidth(&q), text, sizeof(text));
	assert_non_null(strstr(text, "PFC"));
	q.software = 1;
	assert_int_equal(bandwidth(&q), 0);
	q.retransmitted_percent = 5.1;
	quality_next(&q, bandwidth(&q), text, sizeof(text));
	assert_true(strstr(text, "which is software") && !strstr(text, "PFC"));
	q = quiet();
	q.ack_timeouts = 208;
	q.ack_timeout_percent = NAN;
	assert_string_equal(quality_text(&q, BIT(DISTURBED_ACK_TIMEOUTS), text, sizeof(text)),
			    "208 ACK timeouts: packets or ACKs were lost or late");
	for (unsigned i = 0; i < QUALITY_REASONS; i++) {
		assert_true(strlen(finding_name(quality_reason(i))) > 2);
		assert_true(strlen(quality_text(&q, 1U << i, text, sizeof(text))) > 10);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(quiet_is_quiet),
		cmocka_unit_test(cpu),
		cmocka_unit_test(faults),
		cmocka_unit_test(counters),
		cmocka_unit_test(the_worse_of_both),
		cmocka_unit_test(words),
	};

	return cmocka_run_group_tests_name("quality", tests, NULL, NULL);
}
