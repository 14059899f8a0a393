// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Many threads at once: each pair of ends has a sender and a receiver thread;
 * receivers are slow now and then, so that requests wait and the engine runs.
 * stress [MESSAGES]
 */
#include "semantics.h"

#include <pthread.h>
#include <string.h>

enum {
	PAIRS = 4,
	SLOT = 256,
	WINDOW = 8
};

struct pair {
	struct loop_end a, b;
	pthread_t send, recv;
	uint32_t messages;
};

static void pattern(char *at, uint32_t seq, uint32_t len)
{
	uint32_t i;

	for (i = 0; i < len; i++)
		at[i] = seq * 31 + i;
}

static uint32_t length(uint32_t seq)
{
	return 1 + seq * 7919 % SLOT;
}

static void *sender(void *arg)
{
	struct pair *p = arg;
	uint32_t sent = 0, done = 0;
	struct ibv_wc wc;

	while (done < p->messages) {
		if (sent < p->messages && sent - done < WINDOW) {
			size_t off = sent % WINDOW * SLOT;

			pattern(p->a.buf + off, sent, length(sent));
			CHECK(!end_send(&p->a, SEND(.opcode = IBV_WR_SEND), off, length(sent)));
			sent++;
		}
		if (ibv_poll_cq(p->a.cq, 1, &wc)) {
			CHECK(!wc.status);
			done++;
		}
	}
	return NULL;
}

static void *receiver(void *arg)
{
	struct pair *p = arg;
	char want[SLOT];
	uint32_t i;

	for (i = 0; i < p->messages; i++) {
		struct ibv_wc wc;
		char *at;

		while (!ibv_poll_cq(p->b.cq, 1, &wc))
			;
		CHECK(!wc.status && wc.byte_len == length(i));
		at = p->b.buf + wc.wr_id * SLOT;
		pattern(want, i, length(i));
		CHECK(!memcmp(at, want, length(i)));
		end_recv(&p->b, wc.wr_id, wc.wr_id * SLOT, SLOT);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	struct loop_conf c = loop_defaults;
	static struct pair pairs[PAIRS];
	int i, j;

	c.rnr_timer = 1;
	for (i = 0; i < PAIRS; i++) {
		pairs[i].messages = argc > 1 ? atoi(argv[1]) : 20000;
		loop_open(&pairs[i].a, &pairs[i].b, &c);
		for (j = 0; j < WINDOW / 2; j++)
			end_recv(&pairs[i].b, j, j * SLOT, SLOT);
	}
	for (i = 0; i < PAIRS; i++) {
		CHECK(!pthread_create(&pairs[i].send, NULL, sender, &pairs[i]));
		CHECK(!pthread_create(&pairs[i].recv, NULL, receiver, &pairs[i]));
	}
	for (i = 0; i < PAIRS; i++) {
		pthread_join(pairs[i].send, NULL);
		pthread_join(pairs[i].recv, NULL);
		end_close(&pairs[i].a);
		end_close(&pairs[i].b);
	}
	return 0;
}
