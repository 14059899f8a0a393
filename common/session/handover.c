// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "session/handover.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/sibling.h"
#include "base/units.h"

#define HELLO    "RDMARK_HELLO"
#define UNLOGGED "RDMARK_UNLOGGED" /* set: the client has no more lines in the log now */
#define LINES    "RDMARK_LINES"    /* a descriptor: struct peer_credit of stdout */

const char *handover_to(const struct program *p, const json_t *hello)
{
	const char *test = json_string_value(json_object_get(hello, "test"));
	char path[4096];

	if (!p->options.local.persistent || p->options.local.comm_rdma_cm ||
	    !message_is(hello, "hello") || !test || strcmp(test, p->test->name) == 0 ||
	    !sibling_known(test) || !sibling_path(test, path, sizeof(path)))
		return NULL;
	return test;
}

/* What the new process is told. Owned. */
struct told {
	char *hello, *lines; /* variables of its environment */
	char **env;
	int fd; /* a file in memory with the program's `lines`; -1: none */
};

/* A copy of the environment with HELLO, LINES and, if not LOGGED, UNLOGGED. */
static int make_environment(struct told *t, const char *hello, bool logged)
{
	size_t count = 0;

	while (environ[count])
		count++;
	t->env = calloc(count + 4, sizeof(*t->env));
	if (!t->env || asprintf(&t->hello, HELLO "=%s", hello) < 0 ||
	    asprintf(&t->lines, LINES "=%d", t->fd) < 0)
		return -1;
	memcpy(t->env, environ, count * sizeof(*t->env));
	t->env[count] = t->hello;
	t->env[count + 1] = t->lines;
	if (!logged)
		t->env[count + 2] = (char *)(uintptr_t)UNLOGGED "=1";
	return 0;
}

static void forget_told(struct told *t)
{
	free(t->hello);
	free(t->lines);
	free(t->env);
	if (t->fd >= 0)
		close(t->fd);
	*t = (struct told){.fd = -1};
}

/* A file in memory with C, which the new process inherits and updates; -1: none. */
static int lend_lines(const struct peer_credit *c)
{
	int low = memfd_create("lines", MFD_CLOEXEC);
	int fd = low < 0 ? -1 : fcntl(low, F_DUPFD, STDERR_FILENO + 2); /* sibling.c uses 3 */

	if (low >= 0)
		close(low);
	if (fd >= 0 && pwrite(fd, c, sizeof(*c), 0) == (ssize_t)sizeof(*c))
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

/* Set C to what is in FD, if it is that. */
static void read_lines(struct peer_credit *c, int fd)
{
	struct peer_credit now;

	if (pread(fd, &now, sizeof(now), 0) == (ssize_t)sizeof(now) &&
	    now.peers <= PEER_CREDIT_PEERS)
		*c = now;
}

static int start_program(struct session *s, const char *name, const json_t *hello, struct told *t,
			 struct sibling *b)
{
	struct program *p = s->program;
	char *text = json_dumps(hello, JSON_COMPACT), *own = p->argv[0];
	uint64_t omitted;
	bool logged =
		peer_log_may(&p->listener.log, s->link.oob.peer, NULL, clock_now_ns(), &omitted);
	bool made = text && make_environment(t, text, logged) == 0;
	struct sibling_attr attr = {.argv = p->argv, .envp = t->env, .in = s->link.oob.fd};
	int rc = -1;

	fault_phase(&p->fault, "handing the client to its test's program");
	p->argv[0] = (char *)(uintptr_t)name;
	if (made)
		rc = sibling_start(b, &attr, &p->fault);
	else
		fault_raise(&p->fault, FAULT_LOCAL, ENOMEM, "starting %s", name);
	p->argv[0] = own;
	free(text);
	return rc;
}

int handover(struct session *s, const char *name, const json_t *hello)
{
	struct program *p = s->program;
	struct told told = {.fd = lend_lines(&p->lines)};
	struct sibling b;
	int status;

	if (start_program(s, name, hello, &told, &b)) {
		forget_told(&told);
		return -1;
	}
	oob_release(&s->link.oob); /* or the peer would not see the new program close it */
	status = sibling_wait(&b, &p->stop, NULL, &p->fault);
	if (told.fd >= 0)
		read_lines(&p->lines, told.fd);
	forget_told(&told);
	if (status > 0 && WIFSIGNALED(status))
		return fault_raise(&p->fault, FAULT_LOCAL, 0, "%s was killed by signal %d", name,
				   WTERMSIG(status));
	return status < 0 ? -1 : 0;
}

static void adopt_lines(struct program *p)
{
	const char *number = getenv(LINES);
	uint64_t fd;

	if (number && !units_parse_u64(number, &fd) && fd > STDERR_FILENO && fd < INT_MAX &&
	    fcntl((int)fd, F_SETFD, FD_CLOEXEC) == 0) {
		p->lines_fd = (int)fd;
		read_lines(&p->lines, (int)fd);
	}
	unsetenv(LINES);
}

void handover_return(struct program *p)
{
	if (p->lines_fd >= 0 &&
	    pwrite(p->lines_fd, &p->lines, sizeof(p->lines), 0) == (ssize_t)sizeof(p->lines))
		close(p->lines_fd);
	p->lines_fd = -1;
}

void handover_adopt(struct session *s)
{
	const char *hello = getenv(HELLO);
	int fd, null;

	if (!hello)
		return;
	s->program->accepted = json_loads(hello, 0, NULL);
	if (!s->program->accepted)
		s->program->accepted = json_null(); /* not a hello, so it will be refused */
	unsetenv(HELLO);
	if (!getenv(UNLOGGED) && !s->program->options.output.quiet)
		s->program->listener.log.out = stderr;
	unsetenv(UNLOGGED);
	adopt_lines(s->program);
	/* No number that is standard input's: see hold_standard_descriptors(). */
	fd = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	dup2(null, STDIN_FILENO);
	close(null);
	oob_adopt(&s->link.oob, oob_ops_tcp(), &s->program->stop, fd);
}
