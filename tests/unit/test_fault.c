// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* fault: the first one wins, and its one line says all that is known. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/fault.h"
#include "base/phase.h"

static void expect_text(const struct fault *f, const char *want)
{
	char buf[2048];

	fault_format(f, buf, sizeof(buf));
	assert_string_equal(buf, want);
}

static void a_zeroed_one_is_empty(void **state)
{
	struct fault f = {0};

	(void)state;
	assert_false(fault_is(&f));
	assert_int_equal(fault_exit_status(&f), 0);
	expect_text(&f, "");
}

static void the_whole_message(void **state)
{
	struct fault f = {0};

	(void)state;
	fault_phase(&f, PHASE_REGISTER);
	assert_int_equal(fault_raise(&f, FAULT_LOCAL, ENOMEM, "ibv_reg_mr(%s)", "8 MiB"), -1);
	assert_int_equal(fault_cause(&f, "RLIMIT_MEMLOCK is %s", "64 KiB"), -1);
	assert_int_equal(fault_fix(&f, "ulimit -l %s", "unlimited"), -1);
	assert_true(fault_is(&f));
	assert_int_equal(f.errnum, ENOMEM);
	assert_string_equal(f.text, "Cannot allocate memory");
	expect_text(&f, "registering memory: ibv_reg_mr(8 MiB): Cannot allocate memory. "
			"RLIMIT_MEMLOCK is 64 KiB. Fix: ulimit -l unlimited.");
}

/* Nobody used it wrongly, and nobody knows what the machine has. */
static void who_lacks_memory_is_this_host(void **state)
{
	static const enum fault_code code[] = {FAULT_USAGE, FAULT_UNAVAILABLE};
	struct fault to = {0};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct fault f = {0}, other = {0};

		fault_raise(&f, code[i], ENOMEM, "fopen");
		assert_int_equal(f.code, FAULT_LOCAL);
		fault_raise(&other, code[i], ENOENT, "fopen");
		assert_int_equal(other.code, code[i]);
		assert_false(fault_for_memory(&other, &to));
		assert_false(fault_is(&to));
		assert_true(fault_for_memory(&f, &to));
		assert_int_equal(to.errnum, ENOMEM);
		fault_clear(&to);
	}
}

/* As they are, they go into the document of --json. */
static void each_part_is_harmless(void **state)
{
	struct fault f = {0};

	(void)state;
	fault_raise(&f, FAULT_PEER, 0, "the peer sent '%s'", "\033[31m\u202egnp");
	fault_cause(&f, "of %s", "a\nb");
	fault_fix(&f, "use %s", "\x7f");
	assert_string_equal(f.call, "the peer sent '?[31m???gnp'");
	assert_string_equal(f.cause, "of a?b");
	assert_string_equal(f.fix, "use ?");
}

static void parts_may_be_missing(void **state)
{
	struct fault f = {0};

	(void)state;
	fault_raise(&f, FAULT_USAGE, 0, "--size 12q");
	expect_text(&f, "--size 12q.");
	fault_fix(&f, "give a number");
	expect_text(&f, "--size 12q. Fix: give a number.");
	fault_clear(&f);
	fault_raise(&f, FAULT_USAGE, EINVAL, "x");
	fault_cause(&f, "It ends in a full stop.");
	expect_text(&f, "x: Invalid argument. It ends in a full stop.");
	fault_fix(&f, "so does this.");
	expect_text(&f, "x: Invalid argument. It ends in a full stop. Fix: so does this.");
	f.from_peer = true;
	fault_clear(&f);
	assert_false(f.from_peer);
}

static void the_peer_is_named(void **state)
{
	struct fault f = {
		.code = FAULT_PEER, .from_peer = true, .phase = PHASE_CONNECT_QPS, .call = "qp"};

	(void)state;
	expect_text(&f, "the other end reports: connecting the QPs: qp.");
	strcpy(f.reporter, "the server (192.0.2.1:18515)");
	expect_text(&f, "the server (192.0.2.1:18515) reports: connecting the QPs: qp.");
}

/* Whose statement says all: "unknown option", not "reading the command line: unknown option". */
static void a_silent_phase_is_no_part_of_the_message(void **state)
{
	struct fault f = {0};

	(void)state;
	fault_phase(&f, PHASE_COMMAND_LINE);
	fault_raise(&f, FAULT_USAGE, 0, "unknown option --foo");
	expect_text(&f, "unknown option --foo.");
	f.from_peer = true;
	expect_text(&f, "the other end reports: unknown option --foo.");
	for (int i = 0; i < PHASE_COUNT; i++)
		assert_int_equal(phase_from(phase_row((enum phase)i)->words), i);
	assert_int_equal(phase_from("opening the door"), PHASE_NONE);
}

static void the_first_one_wins(void **state)
{
	struct fault f = {0};

	(void)state;
	fault_phase(&f, PHASE_CONNECT);
	fault_raise(&f, FAULT_DEADLINE, ETIMEDOUT, "connect");
	assert_int_equal(fault_raise(&f, FAULT_LOCAL, EBADF, "close"), -1);
	fault_phase(&f, PHASE_LEAVE);
	assert_int_equal(f.code, FAULT_DEADLINE);
	assert_int_equal(f.errnum, ETIMEDOUT);
	expect_text(&f, "connecting to the server: connect: Connection timed out.");
}

/* A consequence is dropped whole: its cause must not stand behind the first one's call. */
static void the_causes_of_later_ones_are_dropped_too(void **state)
{
	struct fault f = {0};

	(void)state;
	fault_raise(&f, FAULT_PEER, ECONNRESET, "recv");
	fault_raise(&f, FAULT_LOCAL, EBADF, "close");
	assert_int_equal(fault_cause(&f, "The cause of the second"), -1);
	assert_int_equal(fault_fix(&f, "the fix of the second"), -1);
	expect_text(&f, "recv: Connection reset by peer.");
	fault_clear(&f);
	fault_raise(&f, FAULT_LOCAL, 0, "again");
	fault_cause(&f, "Its own cause");
	expect_text(&f, "again. Its own cause.");
}

static void the_first_cause_wins(void **state)
{
	struct fault f = {0};

	(void)state;
	fault_raise(&f, FAULT_LOCAL, 0, "call");
	fault_cause(&f, "near");
	fault_cause(&f, "far");
	fault_fix(&f, "near");
	fault_fix(&f, "far");
	expect_text(&f, "call. near. Fix: near.");
}

static void clearing_forgets_all_but_the_phase(void **state)
{
	struct fault f = {0};

	(void)state;
	fault_phase(&f, PHASE_AWAIT_CLIENT);
	fault_raise(&f, FAULT_PEER, EPIPE, "send");
	fault_cause(&f, "gone");
	fault_fix(&f, "look");
	fault_clear(&f);
	assert_false(fault_is(&f));
	assert_int_equal(fault_exit_status(&f), 0);
	fault_raise(&f, FAULT_LOCAL, 0, "open");
	expect_text(&f, "waiting for the client: open.");
}

static void every_code_has_a_status_and_a_name(void **state)
{
	static const struct {
		enum fault_code code;
		int status;
		const char *name;
	} row[] = {
		{FAULT_NONE, 0, "none"},
		{FAULT_LOCAL, 1, "local"},
		{FAULT_USAGE, 2, "usage"},
		{FAULT_PEER, 3, "peer"},
		{FAULT_DEADLINE, 4, "deadline"},
		{FAULT_DATA, 5, "data"},
		{FAULT_THRESHOLD, 6, "threshold"},
		{FAULT_UNAVAILABLE, 77, "unavailable"},
		{FAULT_INTERRUPTED, 128 + SIGTERM, "interrupted"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		struct fault f = {.code = row[i].code, .signal = SIGTERM};

		assert_int_equal(fault_exit_status(&f), row[i].status);
		assert_string_equal(fault_code_name(row[i].code), row[i].name);
	}
	assert_string_equal(fault_code_name((enum fault_code)99), "unknown");
}

static void errno_texts(void **state)
{
	char buf[128], tiny[6];

	(void)state;
	fault_errno_text(524, buf, sizeof(buf));
	assert_string_equal(buf, "Operation is not supported by the kernel (524)");
	fault_errno_text(ENOENT, buf, sizeof(buf));
	assert_string_equal(buf, "No such file or directory");
	fault_errno_text(99999, buf, sizeof(buf));
	assert_string_equal(buf, "Unknown error 99999");
	fault_errno_text(524, tiny, sizeof(tiny));
	assert_string_equal(tiny, "Opera");
}

static void long_texts_are_cut(void **state)
{
	char text[4096], buf[2048], small[32];
	struct fault f = {0};

	(void)state;
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	fault_raise(&f, FAULT_LOCAL, ENOMEM, "%s", text);
	fault_cause(&f, "%s", text);
	fault_fix(&f, "%s", text);
	assert_int_equal(strlen(f.call), sizeof(f.call) - 1);
	assert_int_equal(strlen(f.cause), sizeof(f.cause) - 1);
	assert_int_equal(strlen(f.fix), sizeof(f.fix) - 1);
	fault_format(&f, buf, sizeof(buf));
	assert_non_null(strstr(buf, "xx. Fix: xx"));
	assert_int_equal(buf[strlen(buf) - 1], '.');
	for (size_t size = 1; size <= sizeof(small); size++) {
		memset(small, '#', sizeof(small));
		fault_format(&f, small, size);
		assert_int_equal(strlen(small), size - 1);
	}
}

/* The texts may be the peer's: no line break, no escape sequence may get through. */
static void the_message_is_one_line(void **state)
{
	struct fault f = {0};

	(void)state;
	fault_raise(&f, FAULT_LOCAL, 0, "open(%s)", "a\nb");
	fault_cause(&f, "bell\a, escape\x1b[2J, delete\x7f, \xc3\xa9 stays");
	fault_fix(&f, "tab\there\r\n");
	expect_text(&f, "open(a?b). bell?, escape?[2J, delete?, \xc3\xa9 stays. Fix: tab?here??");
}

static void print_writes_once(void **state)
{
	struct fault f = {0};
	char buf[256] = "";
	int pair[2];
	FILE *out;

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_DGRAM, 0, pair), 0);
	out = fdopen(pair[0], "w");
	assert_non_null(out);
	setvbuf(out, NULL, _IONBF, 0); /* as stderr */
	fault_raise(&f, FAULT_LOCAL, EACCES, "open(%s)", "/dev/infiniband/uverbs0");
	fault_print(&f, "send_bw", out);
	/* One datagram is one write(2). */
	assert_true(recv(pair[1], buf, sizeof(buf) - 1, MSG_DONTWAIT) > 0);
	assert_string_equal(buf, "send_bw: open(/dev/infiniband/uverbs0): Permission denied.\n");
	assert_int_equal(recv(pair[1], buf, sizeof(buf), MSG_DONTWAIT), -1);
	assert_int_equal(errno, EAGAIN);
	fclose(out);
	close(pair[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_zeroed_one_is_empty),
		cmocka_unit_test(the_whole_message),
		cmocka_unit_test(who_lacks_memory_is_this_host),
		cmocka_unit_test(each_part_is_harmless),
		cmocka_unit_test(parts_may_be_missing),
		cmocka_unit_test(the_peer_is_named),
		cmocka_unit_test(a_silent_phase_is_no_part_of_the_message),
		cmocka_unit_test(the_first_one_wins),
		cmocka_unit_test(the_causes_of_later_ones_are_dropped_too),
		cmocka_unit_test(the_first_cause_wins),
		cmocka_unit_test(clearing_forgets_all_but_the_phase),
		cmocka_unit_test(every_code_has_a_status_and_a_name),
		cmocka_unit_test(errno_texts),
		cmocka_unit_test(long_texts_are_cut),
		cmocka_unit_test(the_message_is_one_line),
		cmocka_unit_test(print_writes_once),
	};

	return cmocka_run_group_tests_name("fault", tests, NULL, NULL);
}
