// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "start.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "pairs.h"

#define NOT_STARTED 127

/* In the new process: become the program, whose standard output is OUT. */
static _Noreturn void become(const struct start *s, int out, pid_t parent)
{
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	sigset_t none;

	if (s->group)
		setpgid(0, 0);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	signal(SIGXFSZ, SIG_DFL);
	if (s->held >= 0)
		fcntl(s->held, F_SETFD, 0);
	if (prctl(PR_SET_PDEATHSIG, s->orphan) || getppid() != parent ||
	    dup2(null, STDIN_FILENO) < 0 || dup2(out, STDOUT_FILENO) < 0 ||
	    (s->errors >= 0 && dup2(s->errors, STDERR_FILENO) < 0))
		_exit(NOT_STARTED);
	if (s->path)
		execv(s->path, s->argv);
	else
		execvp(s->argv[0], s->argv);
	dprintf(STDERR_FILENO, PAIRS ": starting %s: %s\n", s->argv[0], strerror(errno));
	_exit(NOT_STARTED);
}

pid_t start_process(const struct start *s, int *out)
{
	pid_t parent = getpid(), pid;
	int end[2], err;

	if (pipe2(end, O_CLOEXEC))
		return -1;
	signal(SIGCHLD, SIG_DFL); /* if our parent ignored it, the exit status would be lost */
	pid = fork();
	if (pid == 0)
		become(s, end[1], parent);
	err = errno;
	close(end[1]);
	if (pid > 0 && s->group)
		setpgid(pid, pid);
	if (pid < 0)
		close(end[0]);
	*out = end[0];
	errno = err;
	return pid;
}
