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

/*
 * The number stands big-endian in the last four bytes (or as many as the message has): its fastest
 * changing byte is the message's last, so a message that has not come whole is never taken for one
 * that has. The session has set these bytes to zero, and those before a shorter message stay so.
 */
static ALWAYS_INLINE uint32_t stamp(const struct pingpong *p, uint64_t i)
{
	uint64_t size = p->round->size_bytes;

	return htobe32((uint32_t)(size >= 4 ? i : i & ((1u << 8 * size) - 1)));
}

static ALWAYS_INLINE int stamp_and_send(struct pingpong *p, uint64_t i)
{
	uint32_t value = stamp(p, i);

	__builtin_memcpy((char *)(uintptr_t)p->round->from.addr + p->round->size_bytes - 4, &value,
			 4);
	return pingpong_send(p, i);
}

/* The NIC writes behind the compiler's back: read memory anew each time. */
static ALWAYS_INLINE int arrived(struct pingpong *p, uint64_t i)
{
	struct unaligned {
		uint32_t value;
	} __attribute__((packed, may_alias));
	const volatile struct unaligned *last =
		(const volatile void *)(uintptr_t)(p->round->into.addr + p->round->size_bytes - 4);

	return last->value == stamp(p, i);
}

static ALWAYS_INLINE int nothing(struct pingpong *p)
{
	(void)p;
	return 0;
}

/* MODE: 0 or PINGPONG_LOSSY. The stamp is a number, so it tells what comes twice. */
static ALWAYS_INLINE int ping_stamped(struct round *r, const unsigned mode)
{
	struct pingpong p;

	pingpong_init(&p, r, IBV_WR_RDMA_WRITE);
	return pingpong_lead(&p, stamp_and_send, arrived, nothing, mode);
}

static int ping(struct round *r)
{
	return r->lossy ? ping_stamped(r, PINGPONG_LOSSY) : ping_stamped(r, 0);
}

static int pong(struct round *r)
{
	struct pingpong p;

	pingpong_init(&p, r, IBV_WR_RDMA_WRITE);
	if (r->lossy)
		return pingpong_follow(&p, stamp_and_send, arrived, nothing, PINGPONG_LOSSY);
	return pingpong_follow(&p, stamp_and_send, arrived, nothing, 0);
}

static int ping_immediate(struct round *r)
{
	struct pingpong p;

	pingpong_init(&p, r, IBV_WR_RDMA_WRITE_WITH_IMM);
	if (r->lossy)
		return pingpong_lead(&p, pingpong_send_numbered, pingpong_received_numbered,
				     pingpong_repost, PINGPONG_LOSSY);
	return pingpong_lead(&p, pingpong_send, pingpong_received, pingpong_repost, 0);
}

static int pong_immediate(struct round *r)
{
	struct pingpong p;

	pingpong_init(&p, r, IBV_WR_RDMA_WRITE_WITH_IMM);
	if (r->lossy)
		return pingpong_follow(&p, pingpong_send_numbered, pingpong_received_numbered,
				       pingpong_repost, PINGPONG_LOSSY);
	return pingpong_follow(&p, pingpong_send, pingpong_received, pingpong_repost, 0);
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
