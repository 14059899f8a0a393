// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* process: which programs there are, and one that runs: what it says, how it ends, who hears signals. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/process.h"
#include "child.h"

static void the_programs_are_known(void **state)
{
	(void)state;
	assert_true(process_measures("send_lat"));
	assert_true(process_measures("gdr_bw"));
	assert_true(process_measures("write_bw"));
}

static void nothing_else_is_known(void **state)
{
	static const char *const name[] = {"",       " ",         "send",        "end_lat",
					   "send_lat ", "../send_lat", "send_lat send_bw", "rdmark",
					   "sh"};

	(void)state;
	for (size_t i = 0; i < sizeof(name) / sizeof(name[0]); i++)
		assert_false(process_measures(name[i]));
}

/* SCRIPT in a shell, which is of PATH. Its status; what it said is in P. */
static int run(const char *script, struct process_attr a, struct process *p)
{
	char *const argv[] = {"sh", "-c", (char *)(uintptr_t)script, NULL};
	struct fault f = {0};

	a.argv = argv;
	assert_int_equal(process_start(p, &a, &f), 0);
	return process_wait(p, NULL, &f);
}

static void what_it_says_is_heard(void **state)
{
	struct process p;
	int status = run("i=0; while [ $i -lt 20000 ]; do echo 0123456789; i=$((i + 1)); done; exit 7",
			 (struct process_attr){.heard = true}, &p);

	(void)state;
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 7);
	assert_int_equal(strlen(p.said), 20000 * 11);
	process_release(&p);
}

static void the_end_of_one_that_is_not_heard_is_seen(void **state)
{
	struct process p;
	int status = run("kill -9 $$", (struct process_attr){0}, &p);

	(void)state;
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	assert_int_equal(process_exit_status(status), 128 + SIGKILL);
	process_release(&p);
}

static void its_last_error_is_kept(void **state)
{
	struct process p;
	char error[64];

	(void)state;
	run("echo one >&2; echo two >&2; echo; echo >&2", (struct process_attr){.hushed = true}, &p);
	process_last_error(&p, error, sizeof(error));
	assert_string_equal(error, "two");
	process_release(&p);
	run(":", (struct process_attr){.hushed = true}, &p);
	process_last_error(&p, error, sizeof(error));
	assert_string_equal(error, "");
	process_release(&p);
}

/* What a launcher has started in its group is gone with it. */
static void a_group_is_killed(void **state)
{
	char *const argv[] = {"sh", "-c", "tail -f /dev/null & echo ready; wait", NULL};
	struct process_attr a = {.argv = argv, .launcher = true, .heard = true};
	struct process p;
	struct fault f = {0};
	char c;
	int end;

	(void)state;
	assert_int_equal(process_start(&p, &a, &f), 0);
	assert_int_equal(stop_wait(NULL, p.out, POLLIN, 0, &f), 1);
	assert_int_equal(process_hear(&p), 1);
	assert_string_equal(p.said, "ready\n");
	process_forget_lines(&p);
	assert_int_equal(p.said_n, 0);
	end = dup(p.end);
	process_release(&p);
	assert_int_equal(read(end, &c, 1), 0);
	close(end);
}

static void one_that_is_not_there_says_so(void **state)
{
	char *const argv[] = {"no_such_program", NULL};
	struct process_attr a = {.argv = argv, .hushed = true};
	struct fault f = {0};
	struct process p;
	char error[256];
	int status;

	(void)state;
	for (int launcher = 0; launcher < 2; launcher++) {
		a.launcher = launcher;
		assert_int_equal(process_start(&p, &a, &f), 0);
		status = process_wait(&p, NULL, &f);
		assert_true(WIFEXITED(status) && WEXITSTATUS(status) == FAULT_LOCAL);
		process_last_error(&p, error, sizeof(error));
		assert_non_null(strstr(error, ": starting no_such_program: No such file"));
		process_release(&p);
	}
}

/* This program, started by itself: it says to the descriptor FD that it is there, and waits for the
 * signal. */
static int listen_for_signal(int fd)
{
	sigset_t set;
	int got = 0;

	alarm(60);
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, NULL);
	if (write(fd, "x", 1) != 1 || sigwait(&set, &got))
		return 2;
	return got == SIGTERM ? 9 : 2;
}

/* It is there; then this process gets the signal, and it must hear. */
static void *send_when_it_listens(void *arg)
{
	char c;

	if (read(*(int *)arg, &c, 1) == 1)
		kill(getpid(), SIGTERM);
	return NULL;
}

static void forwarded(void **state)
{
	char number[16], *const argv[] = {"test_process", "listen", number, NULL};
	struct process_attr attr = {.argv = argv, .orphan = SIGKILL};
	struct fault f = {0};
	struct process b;
	struct stop stop;
	pthread_t thread;
	int p[2], status;

	(void)state;
	CHECK(stop_init(&stop, &f) == 0);
	CHECK(pipe(p) == 0);
	CHECK(pthread_create(&thread, NULL, send_when_it_listens, &p[0]) == 0);
	snprintf(number, sizeof(number), "%d", p[1]);
	CHECK(process_start(&b, &attr, &f) == 0);
	status = process_wait(&b, &stop, &f);
	if (WIFEXITED(status) && WEXITSTATUS(status) == FAULT_LOCAL)
		child_skip("this program cannot be started from here: emulated");
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 9);
	CHECK(stop.signal == SIGTERM);
	pthread_join(thread, NULL);
}

static void signals_go_to_it(void **state)
{
	in_child(forwarded, state);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_programs_are_known),
		cmocka_unit_test(nothing_else_is_known),
		cmocka_unit_test(what_it_says_is_heard),
		cmocka_unit_test(the_end_of_one_that_is_not_heard_is_seen),
		cmocka_unit_test(its_last_error_is_kept),
		cmocka_unit_test(a_group_is_killed),
		cmocka_unit_test(one_that_is_not_there_says_so),
		cmocka_unit_test(signals_go_to_it),
	};

	if (argc == 3 && strcmp(argv[1], "listen") == 0)
		return listen_for_signal(atoi(argv[2]));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
