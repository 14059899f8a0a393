// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "session/handover.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/sibling.h"
#include "base/units.h"

/* A descriptor of the file that starts with struct lent, and goes on with the hello. */
#define HANDOVER "RDMARK_HANDOVER"
#define UNLOGGED "RDMARK_UNLOGGED" /* set: the client has no more lines in the log now */

const char *handover_to(const struct program *p, const json_t *hello)
{
	const char *test = json_string_value(json_object_get(hello, "test"));
	char path[4096];

	if (!p->options.local.persistent || !message_is(hello, "hello") || !test ||
	    strcmp(test, p->test->name) == 0 || !sibling_known(test) ||
	    !sibling_path(test, path, sizeof(path)))
		return NULL;
	return test;
}

struct lent {
	struct peer_credit lines; /* of stdout; the new process updates it at the end */
	bool secure;              /* what passes is encrypted, with this key */
	unsigned char key[CRYPTO_HASH];
};

/* What the new process is told. Owned. */
struct told {
	char *number; /* a variable of its environment: `fd` */
	char **env;
	int fd; /* the file; -1: none */
};

/* A copy of the environment with HANDOVER and, if not LOGGED, UNLOGGED. */
static int make_environment(struct told *t, bool logged)
{
	size_t count = 0;

	while (environ[count])
		count++;
	t->env = calloc(count + 3, sizeof(*t->env));
	if (!t->env || asprintf(&t->number, HANDOVER "=%d", t->fd) < 0)
		return -1;
	memcpy(t->env, environ, count * sizeof(*t->env));
	t->env[count] = t->number;
	if (!logged)
		t->env[count + 1] = (char *)(uintptr_t)UNLOGGED "=1";
	return 0;
}

static void forget_told(struct told *t)
{
	free(t->number);
	free(t->env);
	if (t->fd >= 0)
		close(t->fd);
	*t = (struct told){.fd = -1};
}

/* Write all of TEXT to FD at OFFSET. */
static bool write_all(int fd, const char *text, off_t offset)
{
	size_t size = strlen(text);

	return pwrite(fd, text, size, offset) == (ssize_t)size;
}

/* A file in memory with L and HELLO, which the new process inherits; -1 with errno: none. */
static int lend_file(const struct lent *l, const char *hello)
{
	int low = memfd_create("handover", MFD_CLOEXEC);
	int fd = low < 0 ? -1 : fcntl(low, F_DUPFD, STDERR_FILENO + 2); /* sibling.c uses 3 */

	if (low >= 0)
		close(low);
	if (fd >= 0 && pwrite(fd, l, sizeof(*l), 0) == (ssize_t)sizeof(*l) &&
	    write_all(fd, hello, sizeof(*l)))
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

/* The hello in FD; NULL: it has none. */
static json_t *read_hello(int fd)
{
	off_t start = sizeof(struct lent);
	struct stat st;
	json_t *hello = NULL;
	char *text;

	if (fstat(fd, &st) || st.st_size <= start || st.st_size > start + OOB_MESSAGE_MAX)
		return NULL;
	text = malloc((size_t)(st.st_size - start));
	if (text && pread(fd, text, (size_t)(st.st_size - start), start) == st.st_size - start)
		hello = json_loadb(text, (size_t)(st.st_size - start), 0, NULL);
	free(text);
	return hello;
}

static int start_program(struct session *s, const char *name, struct told *t, struct sibling *b)
{
	struct program *p = s->program;
	char *own = p->argv[0];
	uint64_t omitted;
	bool logged = peer_log_may(&p->listener.log, s->link.oob.peer, clock_now_ns(), &omitted);
	struct sibling_attr attr;
	int rc;

	if (make_environment(t, logged))
		return fault_raise(&p->fault, FAULT_LOCAL, ENOMEM, "starting %s", name);
	attr = (struct sibling_attr){.argv = p->argv, .envp = t->env, .in = s->link.oob.fd};
	p->argv[0] = (char *)(uintptr_t)name;
	rc = sibling_start(b, &attr, &p->fault);
	p->argv[0] = own;
	return rc;
}

int handover(struct session *s, const char *name, const json_t *hello)
{
	struct program *p = s->program;
	char *text = json_dumps(hello, JSON_COMPACT);
	struct lent lent = {.lines = p->lines, .secure = s->link.oob.tls};
	struct told told = {.fd = -1};
	struct fault ignored = {0};
	struct sibling b;
	int status;

	fault_phase(&p->fault, "handing the client to its test's program");
	memcpy(lent.key, p->auth.tls.key, sizeof(lent.key));
	if (text)
		told.fd = lend_file(&lent, text);
	explicit_bzero(lent.key, sizeof(lent.key));
	if (told.fd < 0)
		fault_raise(&p->fault, FAULT_LOCAL, text ? errno : ENOMEM, "memfd_create");
	free(text);
	if (told.fd < 0 || start_program(s, name, &told, &b)) {
		forget_told(&told);
		return -1;
	}
	/* It waits for the client's handshake, which begins after this. */
	if (lent.secure)
		message_send(&s->link.oob, message_new("again"), clock_now_ns(), &ignored);
	oob_release(&s->link.oob); /* or the peer would not see the new program close it */
	status = sibling_wait(&b, &p->stop, NULL, &p->fault);
	read_lines(&p->lines, told.fd);
	forget_told(&told);
	if (status > 0 && WIFSIGNALED(status))
		return fault_raise(&p->fault, FAULT_LOCAL, 0, "%s was killed by signal %d", name,
				   WTERMSIG(status));
	return status < 0 ? -1 : 0;
}

/* Take over what is in the file of descriptor NUMBER: L, and the program's `accepted`. */
static void adopt_file(struct program *p, const char *number, struct lent *l)
{
	uint64_t fd;

	if (units_parse_u64(number, &fd) || fd <= STDERR_FILENO || fd >= INT_MAX ||
	    fcntl((int)fd, F_SETFD, FD_CLOEXEC))
		return;
	p->lines_fd = (int)fd;
	read_lines(&p->lines, (int)fd);
	if (pread((int)fd, l, sizeof(*l), 0) == (ssize_t)sizeof(*l))
		p->accepted = read_hello((int)fd);
}

void handover_return(struct program *p)
{
	if (p->lines_fd >= 0 &&
	    pwrite(p->lines_fd, &p->lines, sizeof(p->lines), 0) == (ssize_t)sizeof(p->lines))
		close(p->lines_fd);
	p->lines_fd = -1;
}

int handover_adopt(struct session *s)
{
	const char *number = getenv(HANDOVER);
	struct auth *auth = &s->program->auth;
	struct fault *f = &s->program->fault;
	struct lent lent = {.secure = false};
	int fd, null, rc = 0;

	if (!number)
		return 0;
	adopt_file(s->program, number, &lent);
	if (!s->program->accepted)
		s->program->accepted = json_null(); /* not a hello, so it will be refused */
	unsetenv(HANDOVER);
	if (!getenv(UNLOGGED) && !s->program->options.output.quiet)
		s->program->listener.log.out = stderr;
	unsetenv(UNLOGGED);
	/* No number that is standard input's: see hold_standard_descriptors(). */
	fd = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	dup2(null, STDIN_FILENO);
	close(null);
	oob_adopt(&s->link.oob, &s->program->stop, fd);
	if (lent.secure)
		rc = auth_inherit(auth, lent.key, f) || auth_secure(auth, &s->link.oob, true, f);
	explicit_bzero(lent.key, sizeof(lent.key));
	return rc ? -1 : 0;
}
