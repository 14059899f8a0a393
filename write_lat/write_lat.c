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

#include "loop/loops.h"
#include "loop/pingpong.h"
#include "session/session.h"

#define LOOKS 64 /* reads of memory before the loop checks anything else */

/*
 * The number stands big-endian in the last four bytes (or as many as the message has): its fastest
 * changing byte is the message's last, so a message that has not come whole is never taken for one
 * that has. The session has set these bytes to zero, and those before a shorter message stay so.
 */
struct stamp {
	uint32_t value;
} __attribute__((packed, may_alias));

static ALWAYS_INLINE uint32_t stamp_number(const struct pingpong *p, uint64_t i)
{
	return htobe32((uint32_t)i & p->number_mask);
}

static ALWAYS_INLINE void stamp(struct pingpong *p, uint32_t number)
{
	((struct stamp *)p->from_end - 1)->value = number;
}

static ALWAYS_INLINE int stamp_and_send(struct pingpong *p, uint32_t number)
{
	stamp(p, number);
	return pingpong_send(p, number);
}

/* Inline data are in the request when the post returns: the next number is put there in advance. */
static ALWAYS_INLINE int send_and_stamp(struct pingpong *p, uint32_t number)
{
	int rc = pingpong_send(p, number);

	stamp(p, stamp_number(p, (uint64_t)be32toh(number) + 1));
	return rc;
}

/* Returns 1 if message NUMBER has come. Reads memory LOOKS times, so that it is seen at once. */
static ALWAYS_INLINE int write_arrived(struct pingpong *p, uint32_t number)
{
	const volatile struct stamp *last = (const volatile struct stamp *)p->into_end - 1;

	for (unsigned look = 0; look < LOOKS; look++)
		if (last->value == number)
			return 1;
	return 0;
}

static ALWAYS_INLINE int nothing_to_repost(struct pingpong *p)
{
	(void)p;
	return 0;
}

/* The stamp is the message's number, so a repeated message is recognized. */
static const struct pingpong_hooks stamped = {
	.number = stamp_number,
	.post = stamp_and_send,
	.sent = pingpong_sent,
	.arrived = write_arrived,
	.tidy = nothing_to_repost,
};

/* In order: a message that is sent again would have the number of the next one. */
static const struct pingpong_hooks stamped_in_advance = {
	.number = stamp_number,
	.post = send_and_stamp,
	.sent = pingpong_sent,
	.arrived = write_arrived,
	.tidy = nothing_to_repost,
};

/* Whether the messages of R can be stamped in advance; then the first one is. */
static bool stamps_in_advance(struct pingpong *p, const struct round *r)
{
	if (r->unreliable || !r->send_inline)
		return false;
	stamp(p, stamp_number(p, 1));
	return true;
}

static int write_ping(struct round *r)
{
	struct pingpong p;

	pingpong_init(&p, r);
	if (stamps_in_advance(&p, r))
		return pingpong_lead(&p, &stamped_in_advance, 0);
	return r->unreliable ? pingpong_lead(&p, &stamped, PINGPONG_UNRELIABLE)
			     : pingpong_lead(&p, &stamped, 0);
}

static int write_pong(struct round *r)
{
	struct pingpong p;

	pingpong_init(&p, r);
	if (stamps_in_advance(&p, r))
		return pingpong_follow(&p, &stamped_in_advance, 0);
	return r->unreliable ? pingpong_follow(&p, &stamped, PINGPONG_UNRELIABLE)
			     : pingpong_follow(&p, &stamped, 0);
}

const struct test write_lat = {
	.name = "write_lat",
	.summary = "latency of RDMA WRITE, by ping-pong through memory",
	.title = "RDMA_Write Latency Test",
	/* With relaxed ordering the last bytes could be seen before the first. */
	.defaults = {EXPERIMENT_DEFAULTS, .size_bytes = 2, .iters = 1000, .tx_depth = 1,
		     .strict_order = 1},
	.operation = {.name = "RDMA WRITE",
		      .opcode = IBV_WR_RDMA_WRITE,
		      .another = IBV_WR_RDMA_WRITE_WITH_IMM,
		      .peer_allows = IBV_ACCESS_REMOTE_WRITE,
		      .halved = true},
	.latency = true,
	.inline_wanted = 220,
	.lead = write_ping,
	.follow = write_pong,
	.lead_immediate = pingpong_run,
	.follow_immediate = pingpong_answer,
};

SESSION_MAIN(write_lat)
