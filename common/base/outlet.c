// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/outlet.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

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
	struct stat st;

	*o = (struct outlet){.kind = OUTLET_POLLED, .given = fd, .fd = fd, .room = room};
	if (fstat(fd, &st)) {
		o->kind = OUTLET_PLAIN; /* write(2) will report the error */
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

void outlet_put(struct outlet *o, const char *line, size_t bytes)
{
	size_t done = 0;

	if (o->kind == OUTLET_NONE)
		return;
	if (o->used)
		write_kept(o);
	if (!o->used)
		done = write_now(o, line, bytes);
	if (done == bytes)
		return;
	if ((!done && o->used + bytes > o->room) || !keep_unwritten(o, line + done, bytes - done))
		o->dropped++;
}

void outlet_finish(struct outlet *o)
{
	struct pollfd p = {.fd = o->fd, .events = POLLOUT};

	while (o->used && !o->errnum) {
		write_kept(o);
		if (o->used && !o->errnum)
			poll(&p, 1, -1);
	}
	o->used = 0;
}

int outlet_flush(FILE *out)
{
	errno = 0;
	if (fflush(out) != EOF && !ferror(out))
		return 0;
	/* An earlier write may have failed and its errno is lost: write again to get it. */
	if (!errno && write(fileno(out), "\n", 1) == 1)
		errno = EIO;
	return errno;
}

void outlet_close(struct outlet *o)
{
	if (o->kind == OUTLET_OWN)
		close(o->fd);
	free(o->waiting);
	*o = (struct outlet){.kind = OUTLET_NONE};
}
