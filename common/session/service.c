// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "session/service.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/phase.h"
#include "report/document.h"

/* Let FILE be standard error. It is appended to, so that logrotate can copy and truncate it. */
static int open_log(const char *file, struct fault *f)
{
	int fd =
		open(file, O_WRONLY | O_APPEND | O_CREAT | O_NOCTTY | O_CLOEXEC | O_NONBLOCK, 0666);

	if (fd < 0 || dup2(fd, STDERR_FILENO) < 0)
		return document_refused(file, errno, f);
	close(fd);
	return 0;
}

/* Lock the file at FD, which is at FILE, unless a server has locked it, or it is no pid file. */
static int take(int fd, const char *file, struct fault *f)
{
	char text[32] = "";
	ssize_t n = read(fd, text, sizeof(text) - 1);

	text[strcspn(text, "\n")] = '\0';
	if (n < 0 || (n > 0 && (!*text || text[strspn(text, "0123456789")])))
		return fault_usage(f, "name another file", "--pidfile: %s is no pid file", file);
	if (flock(fd, LOCK_EX | LOCK_NB) == 0)
		return 0;
	return fault_usage(f, "stop it, or give another --pidfile and -p",
			   n ? "--pidfile: %s is of process %s, which runs"
			     : "--pidfile: %s is of a server that is starting%s",
			   file, text);
}

/* Take the pid file, as long as this process lives; another server may just have removed it. */
static int open_pid(struct service *s, const char *file, struct fault *f)
{
	struct stat mine, there;
	int fd;

	do {
		fd = open(file, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC,
			  0644);
		if (fd < 0 || fstat(fd, &mine))
			return document_refused(file, errno, f);
		if (take(fd, file, f)) {
			close(fd);
			return -1;
		}
		if (stat(file, &there) == 0 && there.st_ino == mine.st_ino)
			break;
		close(fd);
	} while (true);
	*s = (struct service){file, fd};
	return 0;
}

int service_open(struct service *s, const char *logfile, const char *pidfile, struct fault *f)
{
	fault_phase(f, PHASE_OPEN_OUTPUT);
	if (pidfile && open_pid(s, pidfile, f))
		return -1;
	return logfile ? open_log(logfile, f) : 0;
}

int service_ready(struct service *s, struct fault *f)
{
	if (s->fd < 0 || (ftruncate(s->fd, 0) == 0 && lseek(s->fd, 0, SEEK_SET) == 0 &&
			  dprintf(s->fd, "%d\n", (int)getpid()) > 0))
		return 0;
	return document_refused(s->pidfile, errno, f);
}

void service_close(struct service *s)
{
	if (s->fd < 0)
		return;
	unlink(s->pidfile);
	close(s->fd);
	*s = SERVICE_NONE;
}
