// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* stop: signals arrive in waits and nowhere else. Each test is a process of its own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/phase.h"
#include "base/stop.h"
#include "child.h"

#define MS  UINT64_C(1000000)
#define FAR (60 * 1000 * MS)

static struct stop make_stop(void)
{
	struct fault f = {0};
	struct stop s;

	CHECK(stop_init(&s, &f) == 0);
	CHECK(s.fd >= 0 && s.signal == 0 && s.count == 0);
	CHECK(!fault_is(&f));
	return s;
}

static void raise_and_wait(int signal, const char *name)
{
	struct stop s = make_stop();
	struct fault f = {0};
	char text[256];

	raise(signal);
	fault_phase(&f, PHASE_AWAIT_CLIENT);
	CHECK(stop_wait(&s, -1, 0, 0, &f) == -1);
	CHECK(s.signal == signal && s.count == 1);
	CHECK(f.code == FAULT_INTERRUPTED && f.signal == signal);
	CHECK(fault_exit_status(&f) == 128 + signal);
	fault_format(&f, text, sizeof(text));
	CHECK(strstr(text, "waiting for the client: interrupted by ") == text);
	CHECK(strstr(text, name));
	CHECK(strcmp(stop_signal_name(signal), name) == 0);
	stop_release(&s);
	CHECK(s.fd == -1);
}

static void body_signals(void **state)
{
	(void)state;
	raise_and_wait(SIGINT, "SIGINT");
	raise_and_wait(SIGTERM, "SIGTERM");
	raise_and_wait(SIGHUP, "SIGHUP");
}

static void each_signal_ends_a_wait(void **state)
{
	in_child(body_signals, state);
}

static void *kill_soon(void *arg)
{
	poll(NULL, 0, 20);
	kill(getpid(), SIGTERM);
	return arg;
}

/* The signal is sent to the process while it waits, from a thread made after stop_init(). */
static void body_from_thread(void **state)
{
	struct stop s = make_stop();
	struct fault f = {0};
	pthread_t thread;

	(void)state;
	CHECK(pthread_create(&thread, NULL, kill_soon, NULL) == 0);
	CHECK(stop_wait(&s, -1, 0, clock_now_ns() + FAR, &f) == -1);
	CHECK(s.signal == SIGTERM);
	pthread_join(thread, NULL);
	stop_release(&s);
}

static void a_signal_during_the_wait(void **state)
{
	in_child(body_from_thread, state);
}

static void body_count(void **state)
{
	struct stop s = make_stop();
	struct fault f = {0};
	uint64_t start;
	int count;

	(void)state;
	stop_drain(&s); /* nothing there: must not block */
	CHECK(s.count == 0);
	start = clock_now_ns();
	raise(SIGTERM);
	stop_drain(&s);
	CHECK(s.count == 1 && s.signal == SIGTERM);
	raise(SIGTERM); /* as timeout(1) does: once to the process, once to its group */
	stop_drain(&s);
	count = s.count;
	/* if no other process had the CPU for so long */
	CHECK(count == 1 || clock_now_ns() - start >= STOP_TOGETHER_NS);
	/* What was taken already does not end a later wait; a new one does. */
	CHECK(stop_wait(&s, -1, 0, clock_now_ns() + STOP_TOGETHER_NS, &f) == 0);
	CHECK(!fault_is(&f));
	raise(SIGINT);
	CHECK(stop_wait(&s, -1, 0, 0, &f) == -1);
	CHECK(s.count == count + 1 && f.signal == SIGTERM);
	stop_release(&s);
}

static void signals_are_counted_and_the_first_is_kept(void **state)
{
	in_child(body_count, state);
}

static void wait_and_check(struct stop *s, uint64_t ns)
{
	uint64_t start = clock_now_ns(), end;
	struct fault f = {0};

	CHECK(stop_wait(s, -1, 0, start + ns, &f) == 0);
	end = clock_now_ns();
	CHECK(end - start >= ns);
	CHECK(end - start < ns + 10000 * MS);
	CHECK(!fault_is(&f));
}

static void body_deadline(void **state)
{
	struct stop s = make_stop();
	struct fault f = {0};

	(void)state;
	wait_and_check(&s, 20 * MS);
	wait_and_check(&s, MS / 2);
	wait_and_check(&s, 1);
	wait_and_check(NULL, 20 * MS);
	CHECK(stop_wait(&s, -1, 0, 1, &f) == 0); /* long past */
	CHECK(!fault_is(&f));
	stop_release(&s);
}

static void a_deadline_passes_without_a_fault(void **state)
{
	in_child(body_deadline, state);
}

static void body_ready(void **state)
{
	struct stop s = make_stop();
	struct fault f = {0};
	int fd[2];

	(void)state;
	CHECK(pipe2(fd, O_CLOEXEC) == 0);
	CHECK(stop_wait(&s, fd[0], POLLIN, clock_now_ns() + 5 * MS, &f) == 0);
	CHECK(stop_wait(&s, fd[1], POLLOUT, 0, &f) == 1);
	CHECK(write(fd[1], "x", 1) == 1);
	CHECK(stop_wait(&s, fd[0], POLLIN, 0, &f) == 1);
	CHECK(stop_wait(NULL, fd[0], POLLIN, 0, &f) == 1);
	/* Ready wins over a deadline that is past, a signal over both. */
	CHECK(stop_wait(&s, fd[0], POLLIN, 1, &f) == 1);
	CHECK(!fault_is(&f));
	raise(SIGINT);
	CHECK(stop_wait(&s, fd[0], POLLIN, 1, &f) == -1);
	CHECK(f.code == FAULT_INTERRUPTED);
	/* A closed other end is ready, too: the caller finds out by reading. */
	close(fd[1]);
	fault_clear(&f);
	CHECK(stop_wait(&s, fd[0], POLLIN, 0, &f) == 1);
	close(fd[0]);
	stop_release(&s);
}

static void a_ready_descriptor(void **state)
{
	in_child(body_ready, state);
}

static void body_first_fault(void **state)
{
	struct stop s = make_stop();
	struct fault f = {0};

	(void)state;
	fault_raise(&f, FAULT_PEER, EPIPE, "send");
	raise(SIGINT);
	CHECK(stop_wait(&s, -1, 0, 0, &f) == -1);
	CHECK(f.code == FAULT_PEER && f.signal == 0);
	stop_release(&s);
}

static void an_earlier_fault_stands(void **state)
{
	in_child(body_first_fault, state);
}

/* nohup(1) and the like: what was ignored at start stays ignored. */
static void body_nohup(void **state)
{
	struct fault f = {0};
	struct stop s;

	(void)state;
	signal(SIGHUP, SIG_IGN);
	s = make_stop();
	raise(SIGHUP);
	CHECK(stop_wait(&s, -1, 0, clock_now_ns() + 20 * MS, &f) == 0);
	CHECK(s.count == 0 && !fault_is(&f));
	raise(SIGTERM);
	CHECK(stop_wait(&s, -1, 0, 0, &f) == -1);
	CHECK(s.signal == SIGTERM);
	stop_release(&s);
}

static void nohup_is_respected(void **state)
{
	in_child(body_nohup, state);
}

static void body_sigpipe(void **state)
{
	struct stop s = make_stop();
	int fd[2];

	(void)state;
	CHECK(pipe2(fd, O_CLOEXEC) == 0);
	close(fd[0]);
	CHECK(write(fd[1], "x", 1) == -1 && errno == EPIPE);
	close(fd[1]);
	stop_release(&s);
}

static void a_closed_pipe_is_an_errno(void **state)
{
	in_child(body_sigpipe, state);
}

static void body_released(void **state)
{
	struct stop s = {.fd = -1};
	struct fault f = {0};

	(void)state;
	stop_release(&s);
	stop_drain(&s);
	CHECK(s.count == 0);
	CHECK(stop_wait(&s, -1, 0, clock_now_ns() + MS, &f) == 0);
	s = make_stop();
	CHECK(fcntl(s.fd, F_GETFD) & FD_CLOEXEC);
	CHECK(fcntl(s.fd, F_GETFL) & O_NONBLOCK);
	stop_release(&s);
	stop_release(&s);
}

static void one_without_descriptor_is_harmless(void **state)
{
	in_child(body_released, state);
}

/* What nobody reads: a second signal is not waited with, and the next wait reports both. */
static void body_output(void **state)
{
	struct stop s = make_stop();
	struct fault f = {0};
	int fd[2];

	(void)state;
	CHECK(pipe(fd) == 0);
	CHECK(stop_output(&s, fd[1], clock_now_ns(), 0) == 1);
	CHECK(stop_output(NULL, -1, clock_now_ns(), clock_now_ns() + MS) == 0);
	CHECK(stop_output(&s, -1, clock_now_ns(), clock_now_ns() + MS) == 0);
	s.output_ns = MS;
	CHECK(stop_output(&s, -1, clock_now_ns(), 0) == -1 && errno == EAGAIN);
	s.output_ns = 0;
	raise(SIGTERM);
	CHECK(stop_output(&s, fd[1], clock_now_ns(), 0) == 1);
	CHECK(stop_output(&s, -1, clock_now_ns() + FAR, clock_now_ns() + MS) == 0);
	CHECK(s.signal == SIGTERM && s.count == 1);
	s.last_ns -= STOP_TOGETHER_NS;
	raise(SIGINT);
	CHECK(stop_output(&s, -1, clock_now_ns() + FAR, 0) == -1 && errno == EINTR);
	CHECK(s.count == 2);
	CHECK(stop_wait(&s, fd[1], POLLOUT, 0, &f) == -1 && f.signal == SIGTERM);
	CHECK(stop_wait(&s, fd[1], POLLOUT, 0, &f) == 1);
	close(fd[0]);
	close(fd[1]);
	stop_release(&s);
}

static void an_output_that_nobody_reads(void **state)
{
	in_child(body_output, state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_signal_ends_a_wait),
		cmocka_unit_test(a_signal_during_the_wait),
		cmocka_unit_test(signals_are_counted_and_the_first_is_kept),
		cmocka_unit_test(a_deadline_passes_without_a_fault),
		cmocka_unit_test(a_ready_descriptor),
		cmocka_unit_test(an_earlier_fault_stands),
		cmocka_unit_test(nohup_is_respected),
		cmocka_unit_test(a_closed_pipe_is_an_errno),
		cmocka_unit_test(one_without_descriptor_is_harmless),
		cmocka_unit_test(an_output_that_nobody_reads),
	};

	return cmocka_run_group_tests_name("stop", tests, NULL, NULL);
}
