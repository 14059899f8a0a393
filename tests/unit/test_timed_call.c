// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* timed_call: it runs and ends, or hangs and its caller does not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/timed_call.h"

#define LONG_NS  UINT64_C(60000000000)
#define SHORT_NS UINT64_C(20000000)

/* It waits for GO, then counts, and tells when it is released. */
struct waiting {
	struct timed_call call;
	int go, released; /* eventfds that the test has; -1: none */
	int answer;
};

static void run(struct timed_call *c)
{
	struct waiting *w = (struct waiting *)c;
	struct pollfd p = {.fd = w->go, .events = POLLIN};

	if (w->go >= 0)
		poll(&p, 1, -1);
	w->answer = 42;
}

static void release(struct timed_call *c)
{
	struct waiting *w = (struct waiting *)c;

	if (w->released >= 0)
		eventfd_write(w->released, 1);
	free(w);
}

static struct waiting *make(int go, int released)
{
	struct waiting *w = calloc(1, sizeof(*w));

	assert_non_null(w);
	w->call.run = run;
	w->call.release = release;
	w->go = go;
	w->released = released;
	return w;
}

/* Let the call that hangs go on, and wait until it has gone. */
static void let_go(int go, int released)
{
	struct pollfd p = {.fd = released, .events = POLLIN};
	struct waiting *w;
	struct fault f = {0};
	int rc;

	eventfd_write(go, 1);
	poll(&p, 1, -1);
	do { /* it is not counted any more a moment later */
		w = make(-1, -1);
		rc = timed_call(&w->call, LONG_NS, NULL, &f);
	} while (rc);
	assert_int_equal(w->answer, 42);
	release(&w->call);
	close(go);
	close(released);
}

static void it_runs(void **state)
{
	struct fault f = {0};
	struct waiting *w;

	(void)state;
	for (int i = 0; i < 100; i++) {
		w = make(-1, -1);
		assert_int_equal(timed_call(&w->call, LONG_NS, NULL, &f), 0);
		assert_int_equal(w->answer, 42);
		release(&w->call);
	}
	assert_false(fault_is(&f));
}

static void one_that_hangs_is_left_and_no_other_begins(void **state)
{
	int go = eventfd(0, 0), released = eventfd(0, 0);
	struct fault f = {0};
	uint64_t begin;

	(void)state;
	assert_int_equal(timed_call(&make(go, released)->call, SHORT_NS, NULL, &f), 1);
	begin = clock_now_ns();
	assert_int_equal(timed_call(&make(-1, -1)->call, LONG_NS, NULL, &f), 1);
	assert_true(clock_now_ns() - begin < LONG_NS / 2);
	assert_false(fault_is(&f));
	let_go(go, released);
}

static void a_signal_ends_the_wait(void **state)
{
	int go = eventfd(0, 0), released = eventfd(0, 0);
	struct fault f = {0};
	struct stop stop;

	(void)state;
	assert_int_equal(stop_init(&stop, &f), 0);
	raise(SIGTERM);
	assert_int_equal(timed_call(&make(go, released)->call, LONG_NS, &stop, &f), -1);
	assert_int_equal(f.code, FAULT_INTERRUPTED);
	let_go(go, released);
	stop_release(&stop);
}

/* Ends about when the caller's patience does, again and again: it is one or the other. */
static void both_at_once(void **state)
{
	(void)state;
	for (int i = 0; i < 300; i++) {
		struct waiting *w = make(-1, -1);
		struct fault f = {0};

		if (timed_call(&w->call, (uint64_t)i * 500, NULL, &f) == 0) {
			assert_int_equal(w->answer, 42);
			release(&w->call);
		}
		assert_false(fault_is(&f));
	}
	let_go(eventfd(0, 0), eventfd(1, 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_runs),
		cmocka_unit_test(one_that_hangs_is_left_and_no_other_begins),
		cmocka_unit_test(a_signal_ends_the_wait),
		cmocka_unit_test(both_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
