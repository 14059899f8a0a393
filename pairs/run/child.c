// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "child.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/sibling.h"
#include "base/text.h"
#include "pairs/start.h"

int child_start(struct child *c, char *const *argv, struct fault *f)
{
	char path[PATH_MAX];
	bool here = sibling_path(argv[0], path, sizeof(path));

	c->said_n = 0;
	c->errors = memfd_create("errors", MFD_CLOEXEC);
	if (c->errors < 0)
		return fault_raise(f, FAULT_LOCAL, errno, "memfd_create");
	c->pid = start_process(&(struct start){.argv = argv,
					       .path = here ? path : NULL,
					       .errors = c->errors,
					       .held = -1,
					       .orphan = SIGKILL},
			       &c->fd);
	if (c->pid > 0) {
		fcntl(c->fd, F_SETFL, O_NONBLOCK);
		return 0;
	}
	c->pid = 0;
	fault_raise(f, FAULT_LOCAL, errno, "starting %s", argv[0]);
	close(c->errors);
	return -1;
}

void child_last_error(struct child *c, char *buf, size_t size)
{
	char text[1024];
	off_t end = lseek(c->errors, 0, SEEK_END);
	off_t from = end > (off_t)sizeof(text) - 1 ? end - (off_t)sizeof(text) + 1 : 0;
	ssize_t n = pread(c->errors, text, sizeof(text) - 1, from);
	char *line;

	close(c->errors);
	text[n > 0 ? n : 0] = '\0';
	for (n = (ssize_t)strlen(text); n > 0 && text[n - 1] == '\n'; n--)
		text[n - 1] = '\0';
	line = strrchr(text, '\n');
	text_copy(buf, size, line ? line + 1 : text);
}

/* Make room for another piece; false if there is none, or enough was said. */
static bool has_room(struct child *c, size_t piece)
{
	size_t room = c->said_room ? 2 * c->said_room : 65536;
	char *more;

	if (c->said_n + piece < c->said_room)
		return true;
	if (c->said_n + piece >= CHILD_SAID_MAX)
		return false;
	more = realloc(c->said, room);
	if (!more)
		return false;
	c->said = more;
	c->said_room = room;
	return true;
}

/* Collect the exit status if it has ended; returns as child_read(). */
static int reap(struct child *c, int *status)
{
	pid_t pid = waitpid(c->pid, status, WNOHANG);

	if (pid == 0 || (pid < 0 && errno == EINTR))
		return 1;
	if (pid < 0)
		*status = 0;
	c->pid = 0;
	return 0;
}

int child_read(struct child *c, int *status)
{
	char piece[16384];
	ssize_t n;

	if (c->fd < 0)
		return reap(c, status);
	while ((n = read(c->fd, piece, sizeof(piece))) > 0)
		if (has_room(c, (size_t)n)) {
			memcpy(c->said + c->said_n, piece, (size_t)n);
			c->said_n += (size_t)n;
			c->said[c->said_n] = '\0';
		}
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 1;
	close(c->fd);
	c->fd = -1;
	return reap(c, status);
}

void child_skip_lines(struct child *c)
{
	char *last = c->said_n ? memrchr(c->said, '\n', c->said_n) : NULL;

	if (!last)
		return;
	c->said_n -= (size_t)(last + 1 - c->said);
	memmove(c->said, last + 1, c->said_n + 1);
}

void child_signal(const struct child *c, int sig)
{
	if (c->pid > 0)
		kill(c->pid, sig);
}

void child_release(struct child *c)
{
	if (c->pid > 0) {
		kill(c->pid, SIGKILL);
		while (waitpid(c->pid, NULL, 0) < 0 && errno == EINTR)
			;
		if (c->fd >= 0)
			close(c->fd);
		close(c->errors);
	}
	free(c->said);
	*c = (struct child){0};
}
