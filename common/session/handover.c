// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "session/handover.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/sibling.h"

#define HELLO    "RDMARK_HELLO"
#define UNLOGGED "RDMARK_UNLOGGED" /* set: the client has no more lines in the log now */

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

/* A copy of the environment with HELLO added, and UNLOGGED. The caller frees it and *SAID. */
static char **make_environment(const char *hello, bool logged, char **said)
{
	size_t count = 0;
	char **env;

	while (environ[count])
		count++;
	env = calloc(count + 3, sizeof(*env));
	if (!env || asprintf(said, HELLO "=%s", hello) < 0) {
		free(env);
		return NULL;
	}
	memcpy(env, environ, count * sizeof(*env));
	env[count] = *said;
	if (!logged)
		env[count + 1] = (char *)(uintptr_t)UNLOGGED "=1";
	return env;
}

static int start_program(struct session *s, const char *name, const json_t *hello,
			 struct sibling *b)
{
	struct program *p = s->program;
	char *text = json_dumps(hello, JSON_COMPACT), *said = NULL;
	uint64_t omitted;
	bool logged = peer_log_may(&p->listener.log, s->link.oob.peer, clock_now_ns(), &omitted);
	char **env = text ? make_environment(text, logged, &said) : NULL;
	struct sibling_attr attr = {.argv = p->argv, .envp = env, .in = s->link.oob.fd};
	char *own = p->argv[0];
	int rc = -1;

	fault_phase(&p->fault, "handing the client to its test's program");
	p->argv[0] = (char *)(uintptr_t)name;
	if (env)
		rc = sibling_start(b, &attr, &p->fault);
	else
		fault_raise(&p->fault, FAULT_LOCAL, ENOMEM, "starting %s", name);
	p->argv[0] = own;
	free(text);
	free(said);
	free(env);
	return rc;
}

int handover(struct session *s, const char *name, const json_t *hello)
{
	struct program *p = s->program;
	struct sibling b;
	int status;

	if (start_program(s, name, hello, &b))
		return -1;
	oob_release(&s->link.oob); /* or the peer would not see the new program close it */
	status = sibling_wait(&b, &p->stop, NULL, &p->fault);
	if (status > 0 && WIFSIGNALED(status))
		return fault_raise(&p->fault, FAULT_LOCAL, 0, "%s was killed by signal %d", name,
				   WTERMSIG(status));
	return status < 0 ? -1 : 0;
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
	/* No number that is standard input's: see hold_standard_descriptors(). */
	fd = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	dup2(null, STDIN_FILENO);
	close(null);
	oob_adopt(&s->link.oob, oob_ops_tcp(), &s->program->stop, fd);
}
