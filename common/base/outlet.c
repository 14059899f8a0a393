// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/outlet.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"

#define POLLED_BYTES 512 /* a write of this many bytes does not block after POLLOUT */

/* True if FD is the master of a pseudo-terminal. Opening it again would create a new terminal. */
static bool is_pty_master(int fd)
{
	char name[64];

	return isatty(fd) && ptsname_r(fd, name, sizeof(name)) == 0;
}

/* Open the file of FD once more, so that O_NONBLOCK does not affect others that share FD. */
static int reopen_nonblocking(int fd)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

void outlet_open(struct outlet *o, int fd, size_t room)
{
	int how = fcntl(fd, F_GETFL);
	struct stat st;

	*o = (struct outlet){.kind = OUTLET_POLLED,
			     .fd = fd,
			     .room = room,
			     .thread = pthread_self(),
			     .lock = PTHREAD_MUTEX_INITIALIZER};
	/* If it is not open for writing, write(2) will report the error. */
	if (fstat(fd, &st) || (how & O_ACCMODE) == O_RDONLY) {
		o->kind = OUTLET_PLAIN;
	} else if (S_ISSOCK(st.st_mode)) {
		o->kind = OUTLET_SOCKET;
	} else if (!S_ISFIFO(st.st_mode) && !S_ISCHR(st.st_mode)) {
		o->kind = OUTLET_PLAIN;
	} else if (!is_pty_master(fd) && (o->fd = reopen_nonblocking(fd)) >= 0) {
		o->kind = OUTLET_OWN;
	} else {
		o->fd = fd;
	}
}

int outlet_open_file(struct outlet *o, const char *file, int how, struct stop *stop)
{
	uint64_t begin_ns = clock_now_ns();
	struct stat st;

	signal(SIGXFSZ, SIG_IGN); /* for programs that have no stop: EFBIG */
	*o = (struct outlet){.kind = OUTLET_NONE,
			     .stop = stop,
			     .thread = pthread_self(),
			     .lock = PTHREAD_MUTEX_INITIALIZER};
	do {
		int fd = open(file, how | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0666);

		if (fd >= 0) {
			o->kind = OUTLET_OWN;
			o->fd = fd;
			return 0;
		}
		if (errno != ENXIO || stat(file, &st) || !S_ISFIFO(st.st_mode))
			return errno;
		/* Nothing tells that somebody has opened it to read. */
	} while (stop_output(stop, -1, begin_ns, clock_now_ns() + OUTLET_LOOK_NS) == 0);
	return errno;
}

static bool is_writable(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLOUT};

	return poll(&p, 1, 0) == 1 && (p.revents & (POLLOUT | POLLERR | POLLHUP | POLLNVAL));
}

/* Like write(2), but return -1 with EAGAIN instead of blocking. It may write less than BYTES. */
static ssize_t write_some(const struct outlet *o, const char *at, size_t bytes)
{
	if (o->kind == OUTLET_SOCKET)
		return send(o->fd, at, bytes, MSG_DONTWAIT | MSG_NOSIGNAL);
	if (o->kind == OUTLET_POLLED && !is_writable(o->fd)) {
		errno = EAGAIN;
		return -1;
	}
	if (o->kind == OUTLET_POLLED && bytes > POLLED_BYTES)
		bytes = POLLED_BYTES;
	return write(o->fd, at, bytes);
}

/* Write BYTES from AT until writing would block or fails (o->errnum). Returns the bytes written. */
static size_t write_now(struct outlet *o, const char *at, size_t bytes)
{
	size_t done = 0;

	while (done < bytes && !o->errnum) {
		ssize_t n = write_some(o, at + done, bytes - done);

		if (n > 0)
			done += (size_t)n;
		else if (n == 0 || errno == EAGAIN || errno == EWOULDBLOCK)
			break;
		else if (errno != EINTR)
			o->errnum = errno;
	}
	return done;
}

/* Store BYTES that could not be written yet, for write_kept(). False: no memory. */
static bool keep_unwritten(struct outlet *o, const char *at, size_t bytes)
{
	if (o->used + bytes > o->size) {
		size_t size = (o->used + bytes) * 2;
		char *more = realloc(o->waiting, size);

		if (!more)
			return false;
		o->waiting = more;
		o->size = size;
	}
	memcpy(o->waiting + o->used, at, bytes);
	o->used += bytes;
	return true;
}

static void write_kept(struct outlet *o)
{
	size_t done = write_now(o, o->waiting, o->used);

	memmove(o->waiting, o->waiting + done, o->used - done);
	o->used -= done;
}

static void put(struct outlet *o, const char *line, size_t bytes, size_t room)
{
	size_t done = 0;

	if (o->used)
		write_kept(o);
	if (!o->used)
		done = write_now(o, line, bytes);
	if (done == bytes)
		return;
	if ((!done && o->used + bytes > room) || !keep_unwritten(o, line + done, bytes - done))
		o->dropped++;
}

void outlet_put(struct outlet *o, const char *line, size_t bytes)
{
	if (o->kind == OUTLET_NONE)
		return;
	pthread_mutex_lock(&o->lock);
	put(o, line, bytes, o->room);
	pthread_mutex_unlock(&o->lock);
}

/* Wait for the reader of O, or set o->errnum. */
static void await_reader(struct outlet *o)
{
	if (!o->left && stop_output(o->stop, o->fd, clock_now_ns(), 0) < 0)
		o->left = errno;
	if (o->left)
		o->errnum = o->left;
}

int outlet_finish(struct outlet *o)
{
	while (o->used && !o->errnum) {
		write_kept(o);
		if (o->used && !o->errnum)
			await_reader(o);
	}
	o->used = 0;
	return o->errnum;
}

int outlet_write(struct outlet *o, const char *text, size_t bytes)
{
	outlet_finish(o);
	for (size_t done = 0; !o->errnum;) {
		done += write_now(o, text + done, bytes - done);
		if (done == bytes) {
			o->left = 0;
			break;
		}
		if (!o->errnum)
			await_reader(o);
	}
	return o->errnum;
}

/* Keep or drop the BYTES of one line, or of the part of it that a stream hands on. */
static void put_part(struct outlet *o, const char *text, size_t bytes)
{
	uint64_t dropped = o->dropped;

	if (!o->within || !o->skipping) {
		put(o, text, bytes, o->within ? SIZE_MAX : OUTLET_ROOM);
		o->skipping = o->dropped != dropped;
	}
	o->within = text[bytes - 1] != '\n';
}

/* As much of the stream's TEXT as its reader takes. Returns 0 or an errno. */
static int write_lines(struct outlet *o, const char *text, size_t bytes)
{
	o->errnum = 0;
	if (!(o->stop && o->stop->output_ns) && pthread_equal(o->thread, pthread_self()))
		return outlet_write(o, text, bytes);
	for (size_t at = 0, n; at < bytes; at += n) {
		const char *end = memchr(text + at, '\n', bytes - at);

		n = end ? (size_t)(end + 1 - (text + at)) : bytes - at;
		put_part(o, text + at, n);
	}
	return o->errnum;
}

static ssize_t write_stream(void *arg, const char *text, size_t bytes)
{
	struct outlet *o = arg;

	pthread_mutex_lock(&o->lock);
	errno = write_lines(o, text, bytes);
	pthread_mutex_unlock(&o->lock);
	return errno ? 0 : (ssize_t)bytes;
}

FILE *outlet_stream(struct outlet *o)
{
	o->stream = fopencookie(o, "w", (cookie_io_functions_t){.write = write_stream});
	return o->stream;
}

int outlet_flush(FILE *out)
{
	errno = 0;
	if (fflush(out) != EOF && !ferror(out))
		return 0;
	/* An earlier write may have failed and its errno is lost: write again to get it. */
	if (!errno && fputc('\n', out) != EOF && fflush(out) != EOF)
		errno = EIO;
	return errno;
}

int outlet_close(struct outlet *o)
{
	int err = o->kind == OUTLET_OWN && close(o->fd) ? errno : 0;

	free(o->waiting);
	*o = (struct outlet){.kind = OUTLET_NONE};
	return err;
}

/* Make *STREAM write through O, in MODE of setvbuf(3). Returns the former one, or NULL. */
static FILE *replace(FILE **stream, struct outlet *o, int mode)
{
	FILE *was = *stream, *now = outlet_stream(o);

	if (!now)
		return NULL;
	fflush(was);
	setvbuf(now, NULL, mode, BUFSIZ);
	*stream = now;
	return was;
}

void streams_open(struct streams *s, struct stop *stop)
{
	outlet_open(&s->out, STDOUT_FILENO, OUTLET_ROOM);
	outlet_open(&s->err, STDERR_FILENO, 0);
	s->out.stop = s->err.stop = stop;
	s->was_out = replace(&stdout, &s->out, isatty(STDOUT_FILENO) ? _IOLBF : _IOFBF);
	s->was_err = replace(&stderr, &s->err, _IONBF);
}

static void restore(FILE **stream, FILE *was, struct outlet *o)
{
	if (was) {
		fclose(*stream);
		*stream = was;
		o->stream = NULL;
	}
	outlet_finish(o);
	outlet_close(o);
}

void streams_close(struct streams *s)
{
	restore(&stdout, s->was_out, &s->out);
	restore(&stderr, s->was_err, &s->err);
	*s = (struct streams){.was_out = NULL};
}
