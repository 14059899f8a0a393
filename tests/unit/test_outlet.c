// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* outlet: lines to what is blocked: none is cut, none is waited for, all that are lost are counted.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#include "base/outlet.h"

#define LINES 100000 /* more than anything holds */
#define ROOM  4000

/* What is read at the other end. */
struct end {
	int fd;
	char text[8 << 20];
	size_t used;
	bool terminal; /* "\n" comes as "\r\n" */
};

static struct end *new_end(int fd, bool terminal)
{
	struct end *e = calloc(1, sizeof(*e));

	assert_non_null(e);
	e->fd = fd;
	e->terminal = terminal;
	return e;
}

/* To the end of what is written, which is when nobody holds the other end any more. */
static void *read_all(void *arg)
{
	struct end *e = arg;
	ssize_t n;

	while ((n = read(e->fd, e->text + e->used, sizeof(e->text) - 1 - e->used)) > 0)
		e->used += (size_t)n;
	return NULL;
}

static size_t put_line(struct outlet *o, unsigned i)
{
	char line[64];
	int n = snprintf(line, sizeof(line), "line %u of %d\n", i, LINES);

	outlet_put(o, line, (size_t)n);
	return (size_t)n;
}

/* The lines are whole, in order, and each is there or counted. Returns how many are there. */
static unsigned check_lines(const struct end *e, uint64_t dropped)
{
	unsigned count = 0, i, last = 0;
	const char *at = e->text;

	while (*at) {
		int n = 0;

		if (sscanf(at, e->terminal ? "line %u of 100000\r%n" : "line %u of 100000%n", &i,
			   &n) != 1 ||
		    !n || at[n] != '\n')
			fail_msg("no line: %.40s", at);
		assert_true(!count || i > last);
		last = i;
		count++;
		at += n + 1;
	}
	assert_int_equal(count + dropped, LINES);
	return count;
}

/* Lines into FD, whose other end is E's and not read until all are put; CLOSE ends what E reads. */
static void blocked(int fd, struct end *e, enum outlet_kind kind, size_t room)
{
	int flags = fcntl(fd, F_GETFL);
	struct outlet o;
	pthread_t reader;
	uint64_t dropped;

	outlet_open(&o, fd, room);
	assert_int_equal(o.kind, kind);
	for (unsigned i = 0; i < LINES; i++)
		put_line(&o, i);
	assert_true(o.dropped > 0);
	dropped = o.dropped;
	assert_true(o.used <= room || o.used < 64);
	assert_true(!room || o.used > room - 64);
	/* whoever else has it sees nothing of all that */
	assert_int_equal(fcntl(fd, F_GETFL), flags);
	assert_int_equal(pthread_create(&reader, NULL, read_all, e), 0);
	outlet_finish(&o);
	assert_int_equal(o.used, 0);
	outlet_close(&o);
	close(fd);
	pthread_join(reader, NULL);
	assert_true(check_lines(e, dropped) > 100);
	close(e->fd);
	free(e);
}

static void a_pipe_that_nobody_reads(void **state)
{
	int fd[2];

	(void)state;
	for (size_t room = 0; room <= ROOM; room += ROOM) {
		assert_int_equal(pipe(fd), 0);
		blocked(fd[1], new_end(fd[0], false), OUTLET_OWN, room);
	}
}

static void a_socket_that_nobody_reads(void **state)
{
	int fd[2];

	(void)state;
	for (size_t room = 0; room <= ROOM; room += ROOM) {
		assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fd), 0);
		blocked(fd[1], new_end(fd[0], false), OUTLET_SOCKET, room);
	}
}

/* As one whose user may not open it anew: only poll(2) is left. */
static void a_pipe_of_somebody_else(void **state)
{
	struct end *e;
	struct outlet o;
	pthread_t reader;
	uint64_t dropped;
	int fd[2];

	(void)state;
	assert_int_equal(pipe(fd), 0);
	e = new_end(fd[0], false);
	outlet_open(&o, fd[1], ROOM);
	close(o.fd);
	o.fd = fd[1];
	o.kind = OUTLET_POLLED;
	for (unsigned i = 0; i < LINES; i++)
		put_line(&o, i);
	dropped = o.dropped;
	assert_true(dropped > 0);
	assert_int_equal(pthread_create(&reader, NULL, read_all, e), 0);
	outlet_finish(&o);
	outlet_close(&o);
	close(fd[1]);
	pthread_join(reader, NULL);
	check_lines(e, dropped);
	close(fd[0]);
	free(e);
}

static int open_terminal(int *master)
{
	struct termios t;
	int slave;

	*master = posix_openpt(O_RDWR | O_NOCTTY);
	if (*master < 0 || grantpt(*master) || unlockpt(*master))
		return -1;
	slave = open(ptsname(*master), O_RDWR | O_NOCTTY);
	if (slave >= 0 && tcgetattr(slave, &t) == 0) {
		t.c_lflag &= ~(tcflag_t)ECHO;
		tcsetattr(slave, TCSANOW, &t);
	}
	return slave;
}

/* Ctrl-S, and Ctrl-Q when all lines have been put. */
static void a_terminal_that_is_stopped(void **state)
{
	int master, slave = open_terminal(&master);
	struct outlet o;
	char text[64] = "";

	(void)state;
	if (slave < 0)
		skip();
	outlet_open(&o, slave, 0);
	assert_int_equal(o.kind, OUTLET_OWN);
	assert_int_equal(tcflow(slave, TCOOFF), 0);
	for (unsigned i = 0; i < 10; i++)
		put_line(&o, i);
	assert_int_equal(o.dropped, 10);
	assert_int_equal(tcflow(slave, TCOON), 0);
	put_line(&o, 11);
	assert_int_equal(o.dropped, 10);
	assert_true(read(master, text, sizeof(text) - 1) > 0);
	assert_string_equal(text, "line 11 of 100000\r\n");
	outlet_close(&o);
	close(slave);
	close(master);
}

/* A file may be in use by others, and its end is where they are, too. */
static void a_file(void **state)
{
	char name[] = "/tmp/rdmark-outlet.XXXXXX", text[200] = "";
	int fd = mkstemp(name);
	struct outlet o;

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(write(fd, "before\n", 7), 7);
	outlet_open(&o, fd, 0);
	put_line(&o, 1);
	assert_int_equal(write(fd, "after\n", 6), 6);
	put_line(&o, 2);
	outlet_finish(&o);
	assert_int_equal(o.dropped, 0);
	assert_true(pread(fd, text, sizeof(text) - 1, 0) > 0);
	assert_string_equal(text, "before\nline 1 of 100000\nafter\nline 2 of 100000\n");
	outlet_close(&o);
	assert_true(fcntl(fd, F_GETFD) >= 0);
	close(fd);
	unlink(name);
}

static void nobody_is_there(void **state)
{
	struct outlet o = {0};
	int fd[2];

	(void)state;
	put_line(&o, 1);
	outlet_finish(&o);
	outlet_close(&o);
	assert_int_equal(pipe(fd), 0);
	outlet_open(&o, fd[1], ROOM);
	close(fd[0]);
	put_line(&o, 1);
	assert_true(o.errnum != 0);
	outlet_finish(&o);
	outlet_close(&o);
	close(fd[1]);
	outlet_open(&o, fd[1], ROOM);
	put_line(&o, 1);
	assert_true(o.errnum != 0);
	outlet_close(&o);
}

/*
 * A stream that does not wait: its lines come in parts, as stdio hands them on. Each is whole or not
 * there, and counted.
 */
static void a_stream_that_does_not_wait(void **state)
{
	struct stop hasty = {.fd = -1, .output_ns = 1};
	struct end *e;
	struct outlet o;
	pthread_t reader;
	uint64_t dropped;
	FILE *out;
	int fd[2];

	(void)state;
	assert_int_equal(pipe(fd), 0);
	e = new_end(fd[0], false);
	outlet_open(&o, fd[1], 0);
	o.stop = &hasty;
	out = outlet_stream(&o);
	assert_non_null(out);
	assert_int_equal(setvbuf(out, NULL, _IOFBF, 100), 0);
	for (unsigned i = 0; i < LINES; i++)
		fprintf(out, "line %u of %d\n", i, LINES);
	assert_int_equal(outlet_flush(out), 0);
	dropped = o.dropped;
	assert_true(dropped > 0 && o.used > 0);
	assert_int_equal(pthread_create(&reader, NULL, read_all, e), 0);
	hasty.output_ns = 0;
	assert_int_equal(outlet_finish(&o), 0);
	fclose(out);
	assert_int_equal(outlet_close(&o), 0);
	close(fd[1]);
	pthread_join(reader, NULL);
	check_lines(e, dropped);
	close(fd[0]);
	free(e);
}

/* One that waits is told by the stop that nobody will read, at once from then on. */
static void a_wait_that_is_given_up(void **state)
{
	struct stop hasty = {.fd = -1, .output_ns = 1};
	static char text[1 << 20];
	struct outlet o;
	int fd[2];

	(void)state;
	assert_int_equal(pipe(fd), 0);
	outlet_open(&o, fd[1], 0);
	o.stop = &hasty;
	assert_int_equal(outlet_write(&o, text, sizeof(text)), EAGAIN);
	hasty.output_ns = 0;
	o.errnum = 0;
	assert_int_equal(outlet_write(&o, text, sizeof(text)), EAGAIN);
	assert_true(read(fd[0], text, sizeof(text)) > 0);
	o.errnum = 0;
	assert_int_equal(outlet_write(&o, "x", 1), 0);
	assert_int_equal(o.left, 0);
	outlet_close(&o);
	close(fd[0]);
	close(fd[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_pipe_that_nobody_reads),
		cmocka_unit_test(a_socket_that_nobody_reads),
		cmocka_unit_test(a_pipe_of_somebody_else),
		cmocka_unit_test(a_terminal_that_is_stopped),
		cmocka_unit_test(a_file),
		cmocka_unit_test(a_stream_that_does_not_wait),
		cmocka_unit_test(a_wait_that_is_given_up),
		cmocka_unit_test(nobody_is_there),
	};

	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests_name("outlet", tests, NULL, NULL);
}
