// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/sibling.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define SIGNALS_UNTIL_KILL 3
#define END_FD             3 /* in a sibling whose output is not read: closes when it ends */

bool sibling_known(const char *name)
{
	size_t size = strlen(name);

	for (const char *at = sibling_names(); *at; at += strspn(at, " ")) {
		size_t n = strcspn(at, " ");

		if (size == n && strncmp(at, name, n) == 0)
			return true;
		at += n;
	}
	return false;
}

bool sibling_path(const char *name, char *path, size_t size)
{
	char own[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", own, sizeof(own) - 1);
	char *slash;

	if (n < 0)
		return false;
	own[n] = '\0';
	slash = strrchr(own, '/');
	if (!slash)
		return false;
	*slash = '\0';
	return snprintf(path, size, "%s/%s", own, name) < (int)size && access(path, X_OK) == 0;
}

/* Start the program with END, the pipe's write end, as standard output or as END_FD. Returns 0 or a
 * positive errno. */
static int spawn_sibling(struct sibling *b, const struct sibling_attr *attr, int end)
{
	posix_spawn_file_actions_t actions;
	char path[PATH_MAX];
	int rc = posix_spawn_file_actions_init(&actions);

	if (rc)
		return rc;
	rc = posix_spawn_file_actions_adddup2(&actions, end, attr->heard ? STDOUT_FILENO : END_FD);
	if (!rc && sibling_path(attr->argv[0], path, sizeof(path)))
		rc = posix_spawn(&b->pid, path, &actions, NULL, attr->argv, attr->envp);
	else if (!rc)
		rc = posix_spawnp(&b->pid, attr->argv[0], &actions, NULL, attr->argv, attr->envp);
	posix_spawn_file_actions_destroy(&actions);
	return rc;
}

int sibling_start(struct sibling *b, const struct sibling_attr *attr, struct fault *f)
{
	int pipe_fd[2], end, rc;

	*b = (struct sibling){.pid = -1, .fd = -1};
	signal(SIGCHLD, SIG_DFL); /* if our parent ignored it, the exit status would be lost */
	if (pipe2(pipe_fd, O_CLOEXEC))
		return fault_raise(f, FAULT_LOCAL, errno, "pipe2");
	b->fd = pipe_fd[0];
	/* Must not be END_FD itself: old C libraries leave a descriptor closed that is duplicated
	 * onto itself. */
	end = fcntl(pipe_fd[1], F_DUPFD_CLOEXEC, END_FD + 1);
	rc = end < 0 ? errno : spawn_sibling(b, attr, end);
	close(pipe_fd[1]);
	if (end >= 0)
		close(end);
	if (!rc)
		return 0;
	close(b->fd);
	fault_raise(f, FAULT_LOCAL, rc, "starting %s", attr->argv[0]);
	if (rc != ENOENT && rc != EACCES)
		return -1;
	return fault_fix(f, "install all of rdmark's programs in one folder");
}

/* Read once from FD and append to *SAID, ended by a 0. Returns like read(2); -1 with errno also if
 * there is no memory. */
static ssize_t read_sibling(int fd, char **said, size_t *used)
{
	char *more = realloc(*said, *used + 65536 + 1);
	ssize_t n;

	if (!more)
		return -1;
	*said = more;
	n = read(fd, more + *used, 65536);
	*used += n > 0 ? (size_t)n : 0;
	more[*used] = '\0';
	return n;
}

/*
 * A signal interrupts the wait and is passed on to the sibling; signal number SIGNALS_UNTIL_KILL is
 * sent as SIGKILL.
 */
int sibling_wait(struct sibling *b, struct stop *stop, char **said, struct fault *f)
{
	char *text = NULL;
	size_t used = 0;
	int status = 0;
	ssize_t n;

	do {
		struct fault told = {0};

		n = 1;
		if (stop_wait(stop, b->fd, POLLIN, 0, &told) < 0 && told.code == FAULT_INTERRUPTED)
			kill(b->pid, stop->count < SIGNALS_UNTIL_KILL ? told.signal : SIGKILL);
		else
			n = read_sibling(b->fd, &text, &used);
	} while (n > 0 || (n < 0 && errno == EINTR));
	if (n < 0)
		fault_raise(f, FAULT_LOCAL, errno, "reading the output of a program");
	close(b->fd);
	while (waitpid(b->pid, &status, 0) < 0)
		if (errno != EINTR) {
			n = -1;
			fault_raise(f, FAULT_LOCAL, errno, "waitpid");
			break;
		}
	if (said)
		*said = text;
	else
		free(text);
	return n < 0 ? -1 : status;
}
