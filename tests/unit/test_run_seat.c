// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* When a seat is to be looked at again, and what it writes of a client that does not end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"
#include "../../pairs/run/run.h"

#define S UINT64_C(1000000000)

static struct run run = {.stop.fd = -1};

/* One that runs is due when it is to be interrupted, then when it is to be killed. */
static void due_when_it_is_to_be_interrupted_then_killed(void **state)
{
	uint64_t now_ns = clock_utc_ns();
	struct run_seat seat = {.client = {.pid = 1, .out = 5},
				.now.round = -1,
				.cut_ns = now_ns + 100 * S,
				.end_ns = now_ns + 200 * S};

	(void)state;
	assert_int_equal(run_seat_due_ns(&run, &seat), seat.cut_ns);
	seat.told = true;
	assert_int_equal(run_seat_due_ns(&run, &seat), seat.end_ns);
}

/* One that a driver holds, so that SIGKILL does not end it, is looked at a few times a second. */
static void looked_at_seldom_if_killed_and_still_there(void **state)
{
	uint64_t now_ns = clock_utc_ns();
	struct run_seat seat = {.client = {.pid = 1, .out = 5},
				.now.round = -1,
				.cut_ns = now_ns - 2 * S,
				.end_ns = now_ns - S,
				.told = true};

	(void)state;
	assert_true(run_seat_due_ns(&run, &seat) > now_ns + S / 100);
	assert_true(run_seat_due_ns(&run, &seat) < clock_utc_ns() + S);
}

static void nothing_is_due_between_rounds(void **state)
{
	struct run_seat seat = {.now.round = -1};

	(void)state;
	assert_int_equal(run_seat_due_ns(&run, &seat), UINT64_MAX);
}

/* Step SEAT until its client is gone, and read what was written meanwhile into TEXT. */
static void written_until_gone(struct run *r, struct run_seat *seat, char *text, size_t size)
{
	int out = dup(STDOUT_FILENO), file = memfd_create("lines", MFD_CLOEXEC);
	ssize_t n;

	fflush(stdout);
	assert_true(out >= 0 && file >= 0 && dup2(file, STDOUT_FILENO) >= 0);
	streams_open(&r->streams, NULL);
	for (int rounds = 0; rounds < 3; rounds++, r->round++)
		run_seat_turn(r, seat, &(struct schedule_turn){.peer = SCHEDULE_NOBODY});
	while (seat->client.pid)
		run_seat_step(r, seat);
	run_seat_step(r, seat);
	streams_close(&r->streams);
	dup2(out, STDOUT_FILENO);
	n = pread(file, text, size - 1, 0);
	text[n > 0 ? n : 0] = '\0';
	close(out);
	close(file);
}

/* A client that is still there when other rounds begin: each part of its turn has one line. */
static void one_line_for_each_part(void **state)
{
	struct host hosts[2] = {{.name = "n0"}, {.name = "n1"}};
	struct run r = {.players = {.hosts = {.host = hosts, .n = 2}, .rails = 1},
			.time = {.start_ns = clock_utc_ns() - 9 * S, .slot_ns = S, .rounds = 20},
			.round = 6};
	struct run_seat seat = {.now = {.round = 5, .turn = {.peer = 1, .client = true}},
				.next.round = -1};
	char text[4096];
	unsigned lines = 0;

	(void)state;
	r.time.parts = 2;
	seat.client = (struct process){.pid = fork(), .errors = memfd_create("errors", MFD_CLOEXEC)};
	if (!seat.client.pid)
		_exit(1);
	written_until_gone(&r, &seat, text, sizeof(text));
	for (const char *at = text; (at = strchr(at, '\n')); at++)
		lines++;
	assert_int_equal(lines, 2);
	assert_non_null(strstr(text, "\"cause\":\"missed\""));
	assert_non_null(strstr(text, "\"from\":\"n0\",\"to\":\"n1\""));
	assert_int_equal(seat.missed, 1);
	assert_true(seat.now.round < 0 && seat.next.round < 0);
}

/* Both parts of a slot, and one of the next, are two slots. */
static void parts_of_one_slot_are_missed_once(void **state)
{
	struct host hosts[2] = {{.name = "n0"}, {.name = "n1"}};
	struct run r = {.players = {.hosts = {.host = hosts, .n = 2}, .rails = 1}};
	struct run_turn t = {.round = 7, .turn = {.peer = 1, .client = true}};
	int out = dup(STDOUT_FILENO), file = memfd_create("lines", MFD_CLOEXEC);
	struct run_seat seat = {0};

	(void)state;
	fflush(stdout);
	assert_true(out >= 0 && file >= 0 && dup2(file, STDOUT_FILENO) >= 0);
	run_say_missed(&r, &seat, &t);
	t.part = 1;
	run_say_missed(&r, &seat, &t);
	t = (struct run_turn){.round = 8, .turn = t.turn};
	run_say_missed(&r, &seat, &t);
	dup2(out, STDOUT_FILENO);
	close(out);
	close(file);
	assert_int_equal(seat.missed, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(due_when_it_is_to_be_interrupted_then_killed),
		cmocka_unit_test(looked_at_seldom_if_killed_and_still_there),
		cmocka_unit_test(nothing_is_due_between_rounds),
		cmocka_unit_test(one_line_for_each_part),
		cmocka_unit_test(parts_of_one_slot_are_missed_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
