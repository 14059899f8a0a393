// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * send_lat: how long a SEND takes from one host's memory to the other's.
 *
 * Posted: one SEND at a time, the next when the peer's answer has come. Polled: the receive CQ.
 * Timed: from one answer's arrival to the next one's; the result is half of that.
 */
#include "loop/pingpong.h"
#include "session/session.h"

/* Has a receive completed? */
static ALWAYS_INLINE int arrived(struct pingpong *p, uint64_t i)
{
	struct ibv_wc wc;
	int n = ibv_poll_cq(p->recv_cq, 1, &wc);

	(void)i;
	if (LIKELY(n == 0))
		return 0;
	if (UNLIKELY(n < 0))
		return round_verb_failed(p->round, n, "ibv_poll_cq");
	return LIKELY(wc.status == IBV_WC_SUCCESS)
		       ? 1
		       : round_completion_failed(p->round, &wc, "receive");
}

/* The receive that the message consumed is given back when the answer is on its way. */
static ALWAYS_INLINE int repost(struct pingpong *p)
{
	int rc = recv_consumed(p->round->receives->lane, 1);

	return LIKELY(rc == 0) ? 0 : round_verb_failed(p->round, rc, "ibv_post_recv");
}

static int ping(struct round *r)
{
	struct pingpong p;

	pingpong_init(&p, r, IBV_WR_SEND);
	if (r->samples)
		return pingpong_client(&p, pingpong_send, arrived, repost, true);
	return pingpong_client(&p, pingpong_send, arrived, repost, false);
}

static int pong(struct round *r)
{
	struct pingpong p;

	pingpong_init(&p, r, IBV_WR_SEND);
	return pingpong_server(&p, pingpong_send, arrived, repost);
}

int main(int argc, char **argv)
{
	static const struct test send_lat = {
		.name = "send_lat",
		.summary = "latency of SEND, by ping-pong",
		.title = "Send Latency Test",
		.defaults = {EXPERIMENT_DEFAULTS, .size_bytes = 2, .iters = 1000, .tx_depth = 1},
		.latency = true,
		.receives = true,
		.inline_wish = 236,
		.client = ping,
		.server = pong,
	};

	return session_main(&send_lat, argc, argv);
}
