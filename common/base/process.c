// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/process.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/text.h"

#define SIGNALS_UNTIL_KILL 3
#define PIECE_BYTES        65536
#define SAID_MAX           (64 << 20) /* what a program says beyond that is dropped */

bool process_measures(const char *name)
{
	const char *programs = process_programs(), *one;
	size_t n;

	while ((one = text_word(&programs, ' ', &n)))
		if (strlen(name) == n && strncmp(one, name, n) == 0)
			return true;
	return false;
}

int process_become(char *const *argv, struct fault *f)
{
	char path[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);
	char *slash;

	path[n > 0 ? n : 0] = '\0';
	slash = strrchr(path, '/');
	if (slash && strlen(argv[0]) < (size_t)(path + sizeof(path) - 1 - slash)) {
		strcpy(slash + 1, argv[0]);
		if (access(path, X_OK) == 0)
			execv(path, argv);
	}
	execvp(argv[0], argv);
	fault_raise(f, FAULT_LOCAL, errno, "starting %s", argv[0]);
	return fault_fix(f, "install all of rdmark's programs in one folder");
}

/* Read ends, which this process keeps, and write ends, which the new one has; 0: none. */
struct pipes {
	int out[2], end[2];
};

/* In the new process: become the program. */
static _Noreturn void run_program(const struct process *p, const struct process_attr *a,
				  const struct pipes *to, pid_t parent)
{
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	struct fault f = {0};
	char text[1024];
	sigset_t none;

	if (p->group)
		setpgid(0, 0);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	signal(SIGXFSZ, SIG_DFL);
	if (to->end[1])
		fcntl(to->end[1], F_SETFD, 0);
	if (prctl(PR_SET_PDEATHSIG, a->orphan) || getppid() != parent ||
	    dup2(null, STDIN_FILENO) < 0 || (to->out[1] && dup2(to->out[1], STDOUT_FILENO) < 0) ||
	    (p->errors && dup2(p->errors, STDERR_FILENO) < 0))
		_exit(FAULT_LOCAL);
	if (a->launcher) {
		execvp(a->argv[0], a->argv);
		fault_raise(&f, FAULT_LOCAL, errno, "starting %s", a->argv[0]);
	} else {
		process_become(a->argv, &f);
	}
	fault_format(&f, text, sizeof(text));
	dprintf(STDERR_FILENO, "%s: %s\n", program_invocation_short_name, text);
	_exit(FAULT_LOCAL);
}

static void close_fd(int *fd)
{
	if (*fd > 0)
		close(*fd);
	*fd = 0;
}

int process_start(struct process *p, const struct process_attr *a, struct fault *f)
{
	struct pipes to = {0};
	pid_t parent = getpid();
	bool ok = (!a->heard || pipe2(to.out, O_CLOEXEC) == 0) &&
		  ((a->heard && !a->launcher) || pipe2(to.end, O_CLOEXEC) == 0) &&
		  (!a->heard || fcntl(to.out[0], F_SETFL, O_NONBLOCK) == 0);

	*p = (struct process){.out = to.out[0], .end = to.end[0], .group = a->launcher};
	signal(SIGCHLD, SIG_DFL); /* if our parent ignored it, the exit status would be lost */
	if (ok && a->hushed)
		ok = (p->errors = memfd_create("errors", MFD_CLOEXEC)) > 0;
	if (ok && (p->pid = fork()) == 0)
		run_program(p, a, &to, parent);
	if (!ok || p->pid < 0) {
		fault_raise(f, FAULT_LOCAL, errno, "starting %s", a->argv[0]);
		p->pid = 0;
	}
	close_fd(&to.out[1]);
	close_fd(&to.end[1]);
	if (!p->pid) {
		process_release(p);
		return -1;
	}
	if (p->group)
		setpgid(p->pid, p->pid);
	return 0;
}

void process_signal(const struct process *p, int sig)
{
	if (p->pid > 0)
		kill(p->group ? -p->pid : p->pid, sig);
}

/* Make room for another piece; false if there is none, or enough was said. */
static bool has_room(struct process *p)
{
	size_t room = p->said_room ? 2 * p->said_room : 2 * PIECE_BYTES;
	char *more;

	if (p->said_n + PIECE_BYTES < p->said_room)
		return true;
	more = p->said_n + PIECE_BYTES < SAID_MAX ? realloc(p->said, room) : NULL;
	if (!more)
		return false;
	p->said = more;
	p->said_room = room;
	return true;
}

int process_hear(struct process *p)
{
	char dropped[4096];
	bool room;
	ssize_t n;

	if (!p->out)
		return 0;
	room = has_room(p);
	n = room ? read(p->out, p->said + p->said_n, PIECE_BYTES)
		 : read(p->out, dropped, sizeof(dropped));
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 1;
	p->lost |= n < 0 || (n > 0 && !room);
	if (n > 0 && room)
		p->said_n += (size_t)n;
	if (room)
		p->said[p->said_n] = '\0';
	if (n <= 0)
		close_fd(&p->out);
	return n > 0;
}

void process_forget_lines(struct process *p)
{
	char *last = p->said_n ? memrchr(p->said, '\n', p->said_n) : NULL;

	if (!last)
		return;
	p->said_n -= (size_t)(last + 1 - p->said);
	memmove(p->said, last + 1, p->said_n + 1);
}

int process_poll(struct process *p, int *status)
{
	pid_t pid;

	if (process_hear(p))
		return 1;
	pid = waitpid(p->pid, status, WNOHANG);
	if (pid == 0 || (pid < 0 && errno == EINTR))
		return 1;
	if (pid < 0)
		*status = 0;
	p->pid = 0;
	return 0;
}

int process_reap(struct process *p)
{
	int status = 0;

	while (p->pid > 0 && waitpid(p->pid, &status, 0) < 0 && errno == EINTR)
		;
	p->pid = 0;
	return status;
}

int process_wait(struct process *p, struct stop *stop, struct fault *f)
{
	int more, status;

	do {
		struct fault told = {0};

		more = 1;
		if (stop_wait(stop, p->out ? p->out : p->end, POLLIN, 0, &told) < 0 &&
		    told.code == FAULT_INTERRUPTED)
			process_signal(p, stop->count < SIGNALS_UNTIL_KILL ? told.signal : SIGKILL);
		else
			more = process_hear(p);
	} while (more);
	status = process_reap(p);
	if (p->lost)
		return fault_raise(f, FAULT_LOCAL, ENOMEM, "reading the output of a program");
	return status;
}

int process_exit_status(int status)
{
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

void process_last_error(const struct process *p, char *buf, size_t size)
{
	char text[1024];
	off_t end = lseek(p->errors, 0, SEEK_END);
	off_t from = end > (off_t)sizeof(text) - 1 ? end - (off_t)sizeof(text) + 1 : 0;
	ssize_t n = pread(p->errors, text, sizeof(text) - 1, from);
	char *line;

	text[n > 0 ? n : 0] = '\0';
	for (n = (ssize_t)strlen(text); n > 0 && text[n - 1] == '\n'; n--)
		text[n - 1] = '\0';
	line = strrchr(text, '\n');
	text_copy(buf, size, line ? line + 1 : text);
}

void process_release(struct process *p)
{
	process_signal(p, SIGKILL);
	process_reap(p);
	close_fd(&p->out);
	close_fd(&p->end);
	close_fd(&p->errors);
	free(p->said);
	*p = (struct process){0};
}
