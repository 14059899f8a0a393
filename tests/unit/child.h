/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * child: runs a test in a child process, because it changes signals, affinity, limits or allowed
 * system calls.
 *
 * In the child use CHECK() in place of cmocka's asserts. A test that returns has passed; one that
 * hangs is killed after a minute; child_skip() skips it.
 */
#ifndef RDMARK_TESTS_UNIT_CHILD_H
#define RDMARK_TESTS_UNIT_CHILD_H

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHILD_SKIP 77

#define CHECK(expr)                                                                        \
	do {                                                                               \
		if (!(expr)) {                                                             \
			fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #expr); \
			exit(1);                                                           \
		}                                                                          \
	} while (0)

static inline void child_skip(const char *why)
{
	fprintf(stderr, "skipped: %s\n", why);
	exit(CHILD_SKIP);
}

static inline void in_child(void (*body)(void **state), void **state)
{
	int status;
	pid_t pid;

	fflush(NULL);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		alarm(60);
		body(state);
		exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (WIFSIGNALED(status))
		fail_msg("killed by signal %d", WTERMSIG(status));
	if (WEXITSTATUS(status) == CHILD_SKIP)
		skip();
	assert_int_equal(WEXITSTATUS(status), 0);
}

/* From now on COUNT system calls fail with ERRNUM, as with a container's seccomp filter. */
static inline void child_forbid(const int *nr, size_t count, int errnum)
{
	struct sock_filter code[32];
	struct sock_fprog program = {.filter = code};
	size_t n = 0;

	code[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
						 offsetof(struct seccomp_data, nr));
	for (size_t i = 0; i < count; i++) {
		code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)nr[i],
							 0, 1);
		code[n++] = (struct sock_filter)BPF_STMT(
			BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ((unsigned)errnum & SECCOMP_RET_DATA));
	}
	code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	program.len = (unsigned short)n;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		child_skip("no seccomp filters here");
}

#endif
