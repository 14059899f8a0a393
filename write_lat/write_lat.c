// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * write_lat: how long an RDMA WRITE takes until the peer's CPU sees the data in its memory.
 *
 * Posted: one WRITE at a time, the next when the peer's answer has come. Polled: memory, the last
 * bytes of the message, where the sender has put the message's number. Timed: from one answer's
 * arrival to the next one's; the result is half of that.
 *
 * A CPU cannot poll GPU memory: with it at either end the WRITEs carry an immediate, and the
 * receive CQ is polled.
 */
#include <endian.h>

#include "loop/pingpong.h"
#include "session/session.h"

#define LOOKS 64 /* at memory, before the loop asks for anything else */

/*
 * The number stands big-endian in the last four bytes (or as many as the message has): its fastest
 * changing byte is the message's last, so a message that has not come whole is never taken for one
 * that has. The session has set these bytes to zero, and those before a shorter message stay so.
 */
struct stamp {
	uint32_t value;
} __attribute__((packed, may_alias));

static ALWAYS_INLINE uint32_t stamp(const struct pingpong *p, uint64_t i)
{
	return htobe32((uint32_t)i & p->number_mask);
}

static ALWAYS_INLINE int stamp_and_send(struct pingpong *p, uint32_t number)
{
	((struct stamp *)p->from_end - 1)->value = number;
	return pingpong_send(p, number);
}

/* Nothing but looks, so that the one that sees it comes at once; now and then the loop's rest. */
static ALWAYS_INLINE int arrived(struct pingpong *p, uint32_t number)
{
	const volatile struct stamp *last = (const volatile struct stamp *)p->into_end - 1;

	for (unsigned look = 0; look < LOOKS; look++)
		if (last->value == number)
			return 1;
	return 0;
}

static ALWAYS_INLINE int nothing(struct pingpong *p)
{
	(void)p;
	return 0;
}

/* The stamp is a number, so it tells what comes twice. */
static const struct pingpong_hooks stamped = {
	.number = stamp,
	.post = stamp_and_send,
	.arrived = arrived,
	.tidy = nothing,
};

static int ping(struct round *r)
{
	struct pingpong p;

	pingpong_init(&p, r, IBV_WR_RDMA_WRITE);
	return r->lossy ? pingpong_lead(&p, &stamped, PINGPONG_LOSSY)
			: pingpong_lead(&p, &stamped, 0);
}

static int pong(struct round *r)
{
	struct pingpong p;

	pingpong_init(&p, r, IBV_WR_RDMA_WRITE);
	return r->lossy ? pingpong_follow(&p, &stamped, PINGPONG_LOSSY)
			: pingpong_follow(&p, &stamped, 0);
}

static int ping_immediate(struct round *r)
{
	struct pingpong p;

	pingpong_init(&p, r, IBV_WR_RDMA_WRITE_WITH_IMM);
	return r->lossy ? pingpong_lead(&p, &pingpong_numbered_messages, PINGPONG_LOSSY)
			: pingpong_lead(&p, &pingpong_messages, 0);
}

static int pong_immediate(struct round *r)
{
	struct pingpong p;

	pingpong_init(&p, r, IBV_WR_RDMA_WRITE_WITH_IMM);
	return r->lossy ? pingpong_follow(&p, &pingpong_numbered_messages, PINGPONG_LOSSY)
			: pingpong_follow(&p, &pingpong_messages, 0);
}

int main(int argc, char **argv)
{
	static const struct test write_lat = {
		.name = "write_lat",
		.summary = "latency of RDMA WRITE, by ping-pong through memory",
		.title = "RDMA_Write Latency Test",
		/* With relaxed ordering the last bytes could be seen before the first. */
		.defaults = {EXPERIMENT_DEFAULTS, .size_bytes = 2, .iters = 1000, .tx_depth = 1,
			     .strict_order = 1},
		.latency = true,
		.written = true,
		.inline_wish = 220,
		.lead = ping,
		.follow = pong,
		.lead_immediate = ping_immediate,
		.follow_immediate = pong_immediate,
	};

	return session_main(&write_lat, argc, argv);
}
