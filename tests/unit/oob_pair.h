/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* oob_pair: a connection within the test: its one end is an oob, its other end plain bytes. */
#ifndef RDMARK_TESTS_UNIT_OOB_PAIR_H
#define RDMARK_TESTS_UNIT_OOB_PAIR_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "proto/oob.h"

struct pair {
	struct oob oob;
	int peer;
};

static inline struct pair new_pair(void)
{
	struct pair p;
	int fd[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fd), 0);
	oob_adopt(&p.oob, NULL, fd[0]);
	p.peer = fd[1];
	return p;
}

static inline void end_pair(struct pair *p)
{
	oob_release(&p->oob);
	if (p->peer >= 0)
		close(p->peer);
}

static inline void put(struct pair *p, const void *data, size_t size)
{
	assert_int_equal(write(p->peer, data, size), size);
}

static inline size_t frame(char *to, uint32_t length, const char *body)
{
	uint32_t be = htonl(length);

	memcpy(to, "RDMK", 4);
	memcpy(to + 4, &be, 4);
	memcpy(to + 8, body, strlen(body));
	return 8 + strlen(body);
}

static inline void put_text(struct pair *p, const char *body)
{
	char data[256];

	put(p, data, frame(data, (uint32_t)strlen(body), body));
}

static inline uint64_t soon(void)
{
	return clock_now_ns() + 50000000;
}

#endif
