// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * send_lat: how long a SEND takes from one host's memory to the other's.
 *
 * Posted: one SEND at a time, the next when the peer's answer has come. Polled: the receive CQ.
 * Timed: from one answer's arrival to the next one's; the result is half of that.
 */
#include "loop/pingpong.h"
#include "session/session.h"

static int ping(struct round *r)
{
	struct pingpong p;

	pingpong_init(&p, r, r->lossy ? IBV_WR_SEND_WITH_IMM : IBV_WR_SEND);
	return r->lossy ? pingpong_lead(&p, &pingpong_numbered_messages, PINGPONG_LOSSY)
			: pingpong_lead(&p, &pingpong_messages, 0);
}

static int pong(struct round *r)
{
	struct pingpong p;

	pingpong_init(&p, r, r->lossy ? IBV_WR_SEND_WITH_IMM : IBV_WR_SEND);
	return r->lossy ? pingpong_follow(&p, &pingpong_numbered_messages, PINGPONG_LOSSY)
			: pingpong_follow(&p, &pingpong_messages, 0);
}

int main(int argc, char **argv)
{
	static const struct test send_lat = {
		.name = "send_lat",
		.summary = "latency of SEND, by ping-pong",
		.title = "Send Latency Test",
		.defaults = {EXPERIMENT_DEFAULTS, .size_bytes = 2, .iters = 1000, .tx_depth = 1},
		.latency = true,
		.receives = RECEIVES_BOTH,
		.inline_wish = 236,
		.lead = ping,
		.follow = pong,
	};

	return session_main(&send_lat, argc, argv);
}
