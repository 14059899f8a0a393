// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "session/plan.h"

#include "loop/trial.h"

#define WARMUP_BYTES   (UINT64_C(4) << 20)
#define WARMUP_LATENCY 100
#define LARGE_BYTES    8192
/*
 * With a completion for a quarter of them there are always 144 under way, which is what a NIC of 2
 * us to the completion needs to take one in 15 ns. perftest's 128 run dry there.
 */
#define DEPTH_OF_SMALL   192
#define UNUSED           16 /* of the send queue at most a part in so many */
#define RX_DEPTH         512
#define RX_DEPTH_LATENCY 64
#define RX_DEPTH_SHARED  8192

/* A schedule for the stream, or a load beside the ping-pong: each has its programs. */
static int check_rates(const struct experiment *e, bool latency, struct fault *f)
{
	if (e->rate_type != RATE_TYPE_SW) {
		fault_raise(f, FAULT_USAGE, 0, "--rate_limit_type %s",
			    e->rate_type == RATE_TYPE_HW ? "HW" : "PP");
		return fault_fix(f,
				 "leave it out: rdmark posts by a schedule of its own (SW); what "
				 "the NIC shapes is set with tc(8) or its vendor's tool");
	}
	if (e->rate_limit && latency) {
		fault_raise(f, FAULT_USAGE, 0, "--rate_limit with a latency test");
		return fault_fix(f, "a ping-pong has one message under way; --load adds a stream "
				    "of a rate, --rate_limit is for a bandwidth test");
	}
	if (e->rate_limit == RATE_UNLIMITED) {
		fault_raise(f, FAULT_USAGE, 0, "--rate_limit max");
		return fault_fix(f, "leave it out: without it the stream goes as fast as it can");
	}
	if (e->rate_limit && e->events) {
		fault_raise(f, FAULT_USAGE, 0, "--rate_limit with -e/--events");
		return fault_fix(f, "leave -e out: who keeps a schedule cannot sleep until "
				    "something completes");
	}
	if (e->load && e->rdma_cm) {
		fault_raise(f, FAULT_USAGE, 0, "--load with -R/--rdma_cm");
		return fault_fix(f, "leave -R out: the load's QPs are connected over TCP");
	}
	if (e->load && !latency) {
		fault_raise(f, FAULT_USAGE, 0, "--load with a bandwidth test");
		return fault_fix(f, "it is for a latency test; two bandwidth tests at a time are "
				    "two pairs of programs");
	}
	return 0;
}

static int check_footprint(const struct experiment *e, bool latency, struct fault *f)
{
	if (e->footprint_bytes && latency) {
		fault_raise(f, FAULT_USAGE, 0, "--footprint with a latency test");
		return fault_fix(f, "it is for a bandwidth test: a ping-pong uses one buffer again "
				    "and again");
	}
	if (e->footprint_bytes && !e->sweep && e->footprint_bytes < e->size_bytes) {
		fault_raise(f, FAULT_USAGE, 0, "--footprint %llu with messages of %llu bytes",
			    (unsigned long long)e->footprint_bytes,
			    (unsigned long long)e->size_bytes);
		return fault_fix(f, "it must hold at least one message, and at least two to walk");
	}
	return 0;
}

static int check_verification(const struct experiment *e, struct fault *f)
{
	if (e->verify && e->run_infinitely) {
		fault_raise(f, FAULT_USAGE, 0, "--verify with --run_infinitely");
		return fault_fix(f, "give an end with -n or -D: data are verified after it");
	}
	if (!e->verify || !e->use_srq)
		return 0;
	fault_raise(f, FAULT_USAGE, 0, "--verify with --use-srq");
	return fault_fix(f, "leave one of them out: a message's place is checked, and with one "
			    "receive queue for all QPs it has none of its own");
}

int plan_check(const struct experiment *e, bool latency, struct fault *f)
{
	static const char *const name[] = {"RC", "UC", "UD"};

	if (e->rdma_cm && e->connection != CONNECTION_RC) {
		fault_raise(f, FAULT_UNAVAILABLE, 0, "-R/--rdma_cm with transport %s",
			    name[e->connection <= CONNECTION_UD ? e->connection : 0]);
		return fault_fix(f, "rdma_cm connects RC here: leave -R or -c out");
	}
	if (latency && e->qps != 1) {
		fault_raise(f, FAULT_USAGE, 0, "-q/--qp %llu with a latency test",
			    (unsigned long long)e->qps);
		return fault_fix(
			f,
			"a latency test is a ping-pong on one QP; use a bandwidth test for more");
	}
	if (latency && (e->bidirectional || e->reversed)) {
		fault_raise(f, FAULT_USAGE, 0, "%s with a latency test",
			    e->bidirectional ? "-b/--bidirectional" : "--reversed");
		return fault_fix(f, "leave it out: a ping-pong goes both ways");
	}
	if (e->bidirectional && e->reversed) {
		fault_raise(f, FAULT_USAGE, 0, "--reversed with -b/--bidirectional");
		return fault_fix(f, "leave it out: both ends send");
	}
	if (e->run_infinitely && e->sweep) {
		fault_raise(f, FAULT_USAGE, 0, "--run_infinitely with -a/--all");
		return fault_fix(f, "the first size would never end: give one with -s");
	}
	if (e->post_list > e->tx_depth) {
		fault_raise(f, FAULT_USAGE, 0,
			    "-l/--post_list %llu is more than -t/--tx-depth %llu",
			    (unsigned long long)e->post_list, (unsigned long long)e->tx_depth);
		return fault_fix(f,
				 "a post must fit the send queue: use a larger -t or a smaller -l");
	}
	return check_rates(e, latency, f) || check_footprint(e, latency, f) ||
			       check_verification(e, f)
		       ? -1
		       : 0;
}

uint64_t plan_default_depth(const struct experiment *e)
{
	return e->sweep || e->size_bytes > LARGE_BYTES ? e->tx_depth : DEPTH_OF_SMALL;
}

uint64_t plan_first_size(const struct experiment *e)
{
	return e->sweep ? PLAN_SWEEP_FIRST : e->size_bytes;
}

uint64_t plan_last_size(const struct experiment *e, uint64_t max_bytes)
{
	uint64_t size = PLAN_SWEEP_FIRST;

	if (!e->sweep) /* a datagram is cut to what fits, all else refused */
		return e->connection == CONNECTION_UD && e->size_bytes > max_bytes ? max_bytes
										   : e->size_bytes;
	while (size * 2 <= max_bytes && size < PLAN_SWEEP_LAST)
		size *= 2;
	return size;
}

/* At least LEAST, at most MOST, and a multiple of LIST or a divisor of it. */
static uint64_t fit_to_list(uint64_t wish, uint64_t least, uint64_t most, uint64_t list)
{
	uint64_t mod = wish < most ? wish : most;

	if (mod >= list)
		mod = mod / list * list;
	else
		while (list % mod)
			mod--;
	if (mod >= least)
		return mod;
	if (least > list)
		return (least + list - 1) / list * list;
	for (mod = least; list % mod;)
		mod++;
	return mod;
}

/*
 * The queue is filled by so many at a time: of MOD and what is down to half of it, but at least
 * LEAST, the one that leaves the fewest of DEPTH unused.
 */
static uint64_t fill_queue(uint64_t mod, uint64_t least, uint64_t depth, uint64_t list)
{
	uint64_t best = mod;

	for (uint64_t n = mod; n > mod / 2 && n >= least && n > list; n -= list)
		if (depth % n < depth % best)
			best = n;
	return best;
}

unsigned plan_cq_mod(const struct experiment *e, uint64_t size, unsigned cqe)
{
	uint64_t wish = e->cq_mod != EXPERIMENT_AUTO ? e->cq_mod : size > LARGE_BYTES ? 1 : 100;
	uint64_t list = e->post_list, depth = e->tx_depth / list * list;
	uint64_t each = cqe / e->qps, most = e->tx_depth / 4, mod;

	mod = fit_to_list(wish, (depth + each - 1) / each, most > list ? most : list, list);
	if (e->cq_mod == EXPERIMENT_AUTO && mod > list && depth % mod > depth / UNUSED)
		mod = fill_queue(mod, (depth + each - 1) / each, depth, list);
	return (unsigned)(mod < depth ? mod : depth);
}

uint64_t plan_warmup(const struct experiment *e, uint64_t size, bool latency)
{
	uint64_t trial = e->post_list * 2 * TRIAL_ENOUGH; /* of two ways to post */
	uint64_t n = latency ? WARMUP_LATENCY : e->tx_depth > trial ? e->tx_depth : trial;

	if (e->warmup != EXPERIMENT_AUTO)
		return e->warmup;
	if (n > WARMUP_BYTES / size)
		n = WARMUP_BYTES / size;
	if (!experiment_endless(e) && n > e->iters)
		n = e->iters;
	return n ? n : 1;
}

unsigned plan_srq_depth(const struct experiment *e, bool latency, unsigned max_cqe,
			unsigned max_srq_wr)
{
	uint64_t depth = (latency ? RX_DEPTH_LATENCY : RX_DEPTH) * e->qps;

	if (e->rx_depth != EXPERIMENT_AUTO)
		return (unsigned)e->rx_depth;
	if (depth > RX_DEPTH_SHARED)
		depth = RX_DEPTH_SHARED;
	if (depth > max_srq_wr)
		depth = max_srq_wr;
	if (depth > max_cqe)
		depth = max_cqe;
	return depth ? (unsigned)depth : 1;
}

unsigned plan_recv_list(const struct experiment *e, unsigned depth)
{
	if (e->recv_post_list != EXPERIMENT_AUTO)
		return (unsigned)e->recv_post_list;
	return depth >= 128 ? 32 : depth >= 4 ? depth / 4 : 1;
}

unsigned plan_burst(const struct experiment *e)
{
	return (unsigned)(e->burst == EXPERIMENT_AUTO || e->burst < e->post_list ? e->post_list
										 : e->burst);
}

unsigned plan_rx_depth(const struct experiment *e, bool latency, unsigned max_cqe,
		       unsigned max_qp_wr)
{
	uint64_t depth = latency ? RX_DEPTH_LATENCY : RX_DEPTH;

	if (e->rx_depth != EXPERIMENT_AUTO)
		return (unsigned)e->rx_depth;
	if (depth > max_qp_wr)
		depth = max_qp_wr;
	if (depth > max_cqe / e->qps)
		depth = max_cqe / e->qps;
	return depth ? (unsigned)depth : 1;
}
