// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* sibling: which programs there are, and one that runs: what it says, how it ends, who hears signals. */
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

#include "base/sibling.h"
#include "child.h"

static char *const no_environment[] = {NULL};

static void the_programs_are_known(void **state)
{
	(void)state;
	assert_true(sibling_known("send_lat"));
	assert_true(sibling_known("gdr_bw"));
	assert_true(sibling_known("write_bw"));
}

static void nothing_else_is_known(void **state)
{
	static const char *const name[] = {"",       " ",         "send",        "end_lat",
					   "send_lat ", "../send_lat", "send_lat send_bw", "rdmark",
					   "sh"};

	(void)state;
	for (size_t i = 0; i < sizeof(name) / sizeof(name[0]); i++)
		assert_false(sibling_known(name[i]));
}

static void a_path_is_in_the_folder_of_this_program(void **state)
{
	char path[4096], small[8];

	(void)state;
	assert_true(sibling_path("test_sibling", path, sizeof(path)));
	assert_int_equal(access(path, X_OK), 0);
	assert_false(sibling_path("no_such_program", path, sizeof(path)));
	assert_false(sibling_path("test_sibling", small, sizeof(small)));
}

/* SCRIPT in a shell, which is of PATH. Its status, what it said in *SAID. */
static int run(const char *script, char **said, struct stop *stop)
{
	char *const argv[] = {"sh", "-c", (char *)(uintptr_t)script, NULL};
	struct sibling_attr attr = {.argv = argv, .envp = no_environment, .heard = said};
	struct fault f = {0};
	struct sibling b;

	assert_int_equal(sibling_start(&b, &attr, &f), 0);
	return sibling_wait(&b, stop, said, &f);
}

static void what_it_says_is_heard(void **state)
{
	char *said;
	int status = run("i=0; while [ $i -lt 20000 ]; do echo 0123456789; i=$((i + 1)); done; exit 7",
			 &said, NULL);

	(void)state;
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 7);
	assert_int_equal(strlen(said), 20000 * 11);
	free(said);
}

static void the_end_of_one_that_is_not_heard_is_seen(void **state)
{
	int status = run("kill -9 $$", NULL, NULL);

	(void)state;
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

static void one_that_is_not_there_is_a_fault(void **state)
{
	char *const argv[] = {"no_such_program", NULL};
	struct sibling_attr attr = {.argv = argv, .envp = no_environment};
	struct fault f = {0};
	struct sibling b;
	int status;

	(void)state;
	if (sibling_start(&b, &attr, &f) == 0) { /* an emulator's vfork() does not tell */
		status = sibling_wait(&b, NULL, NULL, &f);
		assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 127);
		skip();
	}
	assert_int_equal(f.errnum, ENOENT);
	assert_non_null(strstr(f.call, "no_such_program"));
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
		return 1;
	return got == SIGTERM ? 9 : 1;
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
	char number[16], *const argv[] = {"test_sibling", "listen", number, NULL};
	struct sibling_attr attr = {.argv = argv, .envp = environ};
	struct fault f = {0};
	struct sibling b;
	struct stop stop;
	pthread_t thread;
	int p[2], status;

	(void)state;
	CHECK(stop_init(&stop, &f) == 0);
	CHECK(pipe(p) == 0);
	CHECK(pthread_create(&thread, NULL, send_when_it_listens, &p[0]) == 0);
	snprintf(number, sizeof(number), "%d", p[1]);
	CHECK(sibling_start(&b, &attr, &f) == 0);
	status = sibling_wait(&b, &stop, NULL, &f);
	/* Under an emulator a failed posix_spawn() is seen by the exit status alone. */
	if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
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
		cmocka_unit_test(a_path_is_in_the_folder_of_this_program),
		cmocka_unit_test(what_it_says_is_heard),
		cmocka_unit_test(the_end_of_one_that_is_not_heard_is_seen),
		cmocka_unit_test(one_that_is_not_there_is_a_fault),
		cmocka_unit_test(signals_go_to_it),
	};

	if (argc == 3 && strcmp(argv[1], "listen") == 0)
		return listen_for_signal(atoi(argv[2]));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
