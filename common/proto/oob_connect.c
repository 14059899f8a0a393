// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* oob_connect(): resolves a host's name and connects to it, within a deadline. */
#include "proto/oob.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/timed_call.h"
#include "base/units.h"

#define RETRY_FIRST_NS UINT64_C(20000000)
#define RETRY_MAX_NS   UINT64_C(200000000)
#define WAITING_NS     UINT64_C(500000000) /* time without success before the user is informed */

/* A name lookup, which hangs with a resolver that never answers. */
struct lookup {
	struct timed_call call;
	struct addrinfo hints, *list; /* list: owned */
	char host[256], port[8];
	int rc, err; /* of getaddrinfo(3), and errno */
};

static void run_lookup(struct timed_call *c)
{
	struct lookup *l = (struct lookup *)c;

	l->rc = getaddrinfo(l->host, l->port, &l->hints, &l->list);
	l->err = errno;
}

static void release_lookup(struct timed_call *c)
{
	struct lookup *l = (struct lookup *)c;

	if (l->list)
		freeaddrinfo(l->list);
	free(l);
}

static int no_such_host(const char *host, int gai, int err, struct fault *f)
{
	int errnum = gai == EAI_SYSTEM ? err : gai == EAI_MEMORY ? ENOMEM : 0;

	if (fault_raise(f, FAULT_USAGE, errnum, "cannot resolve '%.80s'%s%s", host, errnum ? "" : ": ",
			errnum ? "" : gai_strerror(gai)) &&
	    errnum == ENOMEM)
		return -1;
	return fault_fix(f, "check the name, or use the IP address");
}

/*
 * Resolve the host of ATTR to *LIST, for freeaddrinfo(). FAMILY: AF_UNSPEC, or the only one to
 * return. A numeric address needs no resolver; for a name, a signal or the deadline ends the wait.
 */
static int resolve_host(const struct oob_connect_attr *attr, int family, struct stop *stop,
			uint64_t deadline_ns, struct addrinfo **list, struct fault *f)
{
	uint64_t now = clock_now_ns();
	struct lookup *l = calloc(1, sizeof(*l));
	size_t n = strlen(attr->host);
	bool brackets = n >= 2 && attr->host[0] == '[' && attr->host[n - 1] == ']';
	int rc;

	if (!l)
		return fault_raise(f, FAULT_LOCAL, ENOMEM, "looking up host '%.80s'", attr->host);
	l->call.run = run_lookup;
	l->call.release = release_lookup;
	/* "[fe80::1%eth0]" without brackets */
	snprintf(l->host, sizeof(l->host), "%.*s", (int)(n - 2 * brackets), attr->host + brackets);
	snprintf(l->port, sizeof(l->port), "%u", attr->port);
	l->hints = (struct addrinfo){.ai_family = family,
				     .ai_socktype = SOCK_STREAM,
				     .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV};
	run_lookup(&l->call);
	if (l->rc) {
		l->hints.ai_flags = AI_NUMERICSERV | AI_ADDRCONFIG;
		rc = timed_call(&l->call, deadline_ns > now ? deadline_ns - now : 0, stop, f);
		if (rc < 0)
			return -1;
		if (rc > 0) {
			fault_raise(f, FAULT_DEADLINE, ETIMEDOUT, "looking up host '%.80s'",
				    attr->host);
			fault_cause(f, "The resolver does not answer");
			return fault_fix(f, "use the IP address");
		}
	}
	rc = l->rc ? no_such_host(attr->host, l->rc, l->err, f) : 0;
	*list = l->list;
	l->list = NULL;
	release_lookup(&l->call);
	return rc;
}

int oob_own_address(const char *text, uint16_t port, struct sockaddr_storage *address,
		    struct fault *f)
{
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM,
				 .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE};
	struct addrinfo *a = NULL;
	char service[8];
	int fd, len, err = 0, gai;

	snprintf(service, sizeof(service), "%u", port);
	gai = getaddrinfo(text, service, &hints, &a);
	if (gai == EAI_MEMORY)
		return fault_raise(f, FAULT_LOCAL, ENOMEM, "getaddrinfo(%.60s)", text);
	if (gai)
		return fault_usage(f, "give an address that `ip address` shows",
				   "--bind_source_ip '%.60s' is not an IP address", text);
	len = (int)a->ai_addrlen;
	memcpy(address, a->ai_addr, a->ai_addrlen);
	freeaddrinfo(a);
	/* Bind with port 0, so that it can only fail because of the address. */
	((struct sockaddr_in *)(void *)address)->sin_port = 0;
	fd = socket(address->ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || bind(fd, (struct sockaddr *)address, (socklen_t)len))
		err = errno;
	if (fd >= 0)
		close(fd);
	((struct sockaddr_in *)(void *)address)->sin_port = htons(port);
	if (!err)
		return len;
	fault_raise(f, FAULT_USAGE, err, "--bind_source_ip %.60s", text);
	fault_cause(f, "No interface of this host has that address");
	return fault_fix(f, "give an address that `ip address` shows, or omit it");
}

/* Try address A from FROM, unless its family is 0. Returns the socket, or -errno; a signal is in F.
 */
static int try_address(const struct addrinfo *a, const struct sockaddr_storage *from,
		       struct stop *stop, uint64_t deadline_ns, struct fault *f)
{
	int fd = socket(a->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	int err = 0, rc;
	socklen_t len = sizeof(err);
	bool waited;

	if (fd < 0)
		return -errno;
	if ((from->ss_family && bind(fd, (const struct sockaddr *)from, a->ai_addrlen)) ||
	    connect(fd, a->ai_addr, a->ai_addrlen))
		err = errno;
	waited = err == EINPROGRESS;
	if (waited) {
		rc = stop_wait(stop, fd, POLLOUT, deadline_ns, f);
		if (rc > 0)
			getsockopt(fd, SOL_SOCKET, SO_ERROR, &err, &len);
		else
			err = rc ? EINTR : ETIMEDOUT;
	}
	if (!err)
		return fd;
	close(fd);
	/* A router reported it, not this host: it may change, so it is worth another attempt. */
	return waited && err == ENETUNREACH ? -EHOSTUNREACH : -err;
}

/* True if 127.0.0.1 is in LIST: where a server listens that is for its own host only. */
static bool is_local(const struct addrinfo *list)
{
	for (; list; list = list->ai_next)
		if (list->ai_family == AF_INET &&
		    ((struct sockaddr_in *)list->ai_addr)->sin_addr.s_addr ==
			    htonl(INADDR_LOOPBACK))
			return true;
	return false;
}

/* Raise that all attempts failed, the last with ERR. An IPv6 address is in brackets, or its end
 * could be the port; otherwise these are perftest's words. */
static int not_connected(const struct oob_connect_attr *attr, int err, bool local,
			 uint64_t waited_ns, struct fault *f)
{
	bool brackets = strchr(attr->host, ':') && attr->host[0] != '[';
	struct units_text t = units_about_ns((double)waited_ns);

	fault_raise(f, FAULT_DEADLINE, err, "Couldn't connect to %s%.80s%s:%u", brackets ? "[" : "",
		    attr->host, brackets ? "]" : "", attr->port);
	if (err == ENETUNREACH) {
		fault_cause(f, "This host has no route to %.80s", attr->host);
		return fault_fix(f, "check the address, and `ip route get %.80s`", attr->host);
	}
	if (err == ECONNREFUSED)
		fault_cause(f, "No server listens on TCP port %u there (tried for %s)%s",
			    attr->port, t.text,
			    local ? ""
				  : ". A server with --persistent and without --auth serves its "
				    "own host only, on 127.0.0.1");
	else
		fault_cause(f,
			    "The host does not answer on TCP port %u (tried for %s): it is down, "
			    "or a firewall blocks it",
			    attr->port, t.text);
	return fault_fix(f,
			 "start the server there: the same program with -p %u and without a "
			 "host; --connect-timeout sets how long to wait",
			 attr->port);
}

int oob_connect(struct oob *o, struct stop *stop, const struct oob_connect_attr *attr,
		uint64_t deadline_ns, struct fault *f)
{
	uint64_t start_ns = clock_now_ns(), pause_ns = RETRY_FIRST_NS;
	uint64_t last_ns = deadline_ns + RETRY_MAX_NS; /* a deadline of now allows one attempt */
	struct sockaddr_storage from = {0};
	struct addrinfo *list = NULL;
	bool told = !attr->waiting, local;
	int fd = -1, err;

	*o = OOB_EMPTY;
	if (attr->from && oob_own_address(attr->from, 0, &from, f) < 0)
		return -1;
	if (resolve_host(attr, attr->ipv6 ? AF_INET6 : from.ss_family, stop, last_ns, &list, f))
		return -1;
	for (;;) {
		uint64_t now;

		err = ENETUNREACH; /* unless an address fails otherwise */
		for (struct addrinfo *a = list; a && fd < 0 && !fault_is(f); a = a->ai_next) {
			fd = try_address(a, &from, stop, last_ns, f);
			err = fd == -ENETUNREACH ? err : -fd;
		}
		now = clock_now_ns();
		if (fd >= 0 || fault_is(f) || err == ENETUNREACH || now >= deadline_ns)
			break;
		if (!told && now >= start_ns + WAITING_NS) {
			told = true;
			attr->waiting(attr->arg, deadline_ns - now);
		}
		/* Pause before the next attempt; only a signal ends it early. */
		if (stop_wait(stop, -1, 0, now + pause_ns, f) < 0)
			break;
		pause_ns = pause_ns * 2 < RETRY_MAX_NS ? pause_ns * 2 : RETRY_MAX_NS;
	}
	local = is_local(list);
	freeaddrinfo(list);
	if (fault_is(f))
		return -1;
	if (fd < 0)
		return not_connected(attr, err, local, clock_now_ns() - start_ns, f);
	oob_adopt(o, stop, fd);
	return 0;
}
