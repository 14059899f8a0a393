// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Where a server listens, and what it says when clients can connect. */
#include "base/phase.h"
#include "session/program.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "plan/limits.h"

/*
 * Tell the service manager STATE ("READY=1"), as sd_notify(3) does: send it to the socket in
 * NOTIFY_SOCKET, if that is set. Failures are ignored.
 */
static void notify(const char *state)
{
	const char *path = getenv("NOTIFY_SOCKET");
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	size_t length = path ? strlen(path) : 0;
	int fd;

	/* $NOTIFY_SOCKET is a path, or with '@' a name in the abstract namespace. */
	if (length < 2 || length >= sizeof(to.sun_path) || (path[0] != '/' && path[0] != '@'))
		return;
	memcpy(to.sun_path, path, length);
	if (path[0] == '@')
		to.sun_path[0] = '\0';
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return;
	sendto(fd, state, strlen(state), MSG_NOSIGNAL | MSG_DONTWAIT, (struct sockaddr *)&to,
	       (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length));
	close(fd);
}

/* Tell the service manager, and the reader of --ready-fd, that clients can connect. */
static int announce(struct program *p)
{
	const struct local_options *l = &p->options.local;
	int fd = (int)l->ready_fd;
	char line[16], limits[160];
	struct outlet ready;
	int n, err;

	report_listening(&p->report, p->listener.address);
	if (l->persistent)
		report_log(&p->report, "one client may use %s, and the whole rate of its link",
			   limits_text(l, limits, sizeof(limits)));
	if (l->persistent && !l->auth && !l->source_ip)
		report_log(&p->report, "for clients of this host only: --auth=key:FILE lets in "
				       "others, --auth=none everybody");
	for (size_t i = 0; i < p->offers; i++)
		if (fault_is(&p->offer[i].refused) &&
		    !(p->offer[i].test->calls & TRAIT_REGISTERS)) /* it has no clients */
			report_log(&p->report, "%s is not served: %s", p->offer[i].test->name,
				   p->offer[i].refused.call);
	notify("READY=1");
	if (l->ready_fd == EXPERIMENT_AUTO)
		return 0;
	n = snprintf(line, sizeof(line), "%u\n", p->listener.port);
	outlet_open(&ready, fd, 0);
	ready.stop = &p->stop;
	err = outlet_write(&ready, line, (size_t)n);
	outlet_close(&ready);
	if (err) {
		fault_raise(&p->fault, FAULT_USAGE, err, "cannot write to --ready-fd %d", fd);
		return fault_fix(&p->fault,
				 "open the descriptor for writing, as in `%s --ready-fd 3 3>file`",
				 p->name);
	}
	if (fd > STDERR_FILENO)
		close(fd);
	return 0;
}

/*
 * Called by the thread that guards the listener: whether the hello FIRST of a new
 * client is acceptable. Returns 0, or -1 with the fault for that client.
 */
static int vet_client(const void *program, const json_t *first, struct fault *f)
{
	struct hello ignored;

	fault_phase(f, PHASE_AGREE_CLIENT);
	return hello_read(hello_wanted(program, first), first, &ignored, f);
}

int listen_open(struct session *s)
{
	struct program *p = s->program;
	const struct local_options *l = &p->options.local;
	/* A server that stays serves this host only, unless the user says who may use it. */
	const char *address = l->persistent && !l->auth ? "127.0.0.1" : NULL;

	if (endpoint_find(&s->ep) ||
	    listener_open(&p->listener, l->source_ip ? l->source_ip : address, (uint16_t)l->port,
			  &p->stop, &p->fault))
		return -1;
	p->listener.once = !l->persistent;
	p->listener.patience_ns = l->timeout_ns;
	p->listener.log = p->options.output.quiet ? NULL : stderr;
	p->listener.vet = vet_client;
	p->listener.vet_arg = p;
	p->listener.auth = p->auth.file ? &p->auth : NULL;
	return announce(p);
}
