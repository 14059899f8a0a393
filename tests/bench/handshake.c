// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * handshake: what --auth adds to a client's connection, without the programs' own start.
 *
 *   handshake METHOD N   N handshakes of METHOD (as for --auth) between two threads: prints the
 *                        milliseconds of the fastest, the median and the slowest one, and those
 *                        that one takes of the CPU, both ends together, on average
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "admit/auth.h"
#include "base/clock.h"
#include "proto/message.h"

#define PATIENCE_NS UINT64_C(20000000000)

struct ends {
	struct auth auth;
	struct oob server, client;
	struct fault fault; /* the server's */
};

static void *serve(void *arg)
{
	struct ends *e = arg;
	struct auth_visit visit = {false};
	json_t *m = NULL;
	int rc = 0;

	while (rc == 0 && oob_recv(&e->server, &m, clock_now_ns() + PATIENCE_NS, &e->fault) == 0)
		rc = auth_receive(&e->auth, &visit, &e->server, &m, &e->fault);
	json_decref(m);
	return NULL;
}

/* Nanoseconds of one handshake; 0 with the fault printed. */
static uint64_t one(struct ends *e)
{
	struct fault f = {0};
	pthread_t server;
	uint64_t begin;
	int fd[2], rc;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fd))
		return 0;
	oob_adopt(&e->server, NULL, fd[0]);
	oob_adopt(&e->client, NULL, fd[1]);
	pthread_create(&server, NULL, serve, e);
	begin = clock_now_ns();
	rc = auth_introduce(&e->auth, &e->client, message_new("hello"), PATIENCE_NS, &f);
	begin = clock_now_ns() - begin;
	pthread_join(server, NULL);
	oob_release(&e->server);
	oob_release(&e->client);
	if (rc)
		fault_print(&f, "handshake", stderr);
	return rc ? 0 : begin;
}

static int by_size(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static uint64_t cpu_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

int main(int argc, char **argv)
{
	size_t n = argc == 3 ? strtoul(argv[2], NULL, 10) : 0;
	struct ends e = {.fault = {0}};
	uint64_t *took = calloc(n + 1, sizeof(*took));
	struct fault f = {0};
	uint64_t cpu_ns;

	if (!n || !took || auth_read(&e.auth, argv[1], &f) || auth_open(&e.auth, &f) ||
	    !one(&e)) {
		fault_print(&f, "handshake METHOD N", stderr);
		return 2;
	}
	cpu_ns = cpu_now_ns();
	for (size_t i = 0; i < n; i++)
		if (!(took[i] = one(&e)))
			return 1;
	cpu_ns = (cpu_now_ns() - cpu_ns) / n;
	qsort(took, n, sizeof(*took), by_size);
	printf("%.3f %.3f %.3f %.3f\n", (double)took[0] / 1e6, (double)took[n / 2] / 1e6,
	       (double)took[n - 1] / 1e6, (double)cpu_ns / 1e6);
	auth_release(&e.auth);
	free(took);
	return 0;
}
