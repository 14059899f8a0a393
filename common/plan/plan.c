// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "plan/plan.h"

#include "base/rate.h"
#include "verbs/transports.h"

#define WARMUP_ALONE    16                   /* half of them are sent alone: loop/stream.h */
#define WARMUP_BYTES    (UINT64_C(64) << 20) /* of all QPs of a thread */
#define WARMUP_BYTES_QP (UINT64_C(4) << 20)  /* but at least this much of each */
#define WARMUP_LATENCY  100
#define WARMUP_LEAST    2 /* the first message runs with cold caches */
#define LARGE_BYTES     8192
/*
 * With one completion per quarter, at least 144 messages are always outstanding. A NIC that
 * completes a message after 2 us needs this many to send one every 15 ns; perftest's 128 are too
 * few.
 */
#define DEPTH_OF_SMALL      192
#define RX_DEPTH            512
#define RX_DEPTH_LATENCY    64
#define RX_DEPTH_NO_RETRY   8192 /* of all QPs: 20 ms of 400,000 messages/s */
#define RX_DEPTH_SHARED     8192
#define TX_DEPTH_PINGPONG   64 /* so that one send in many is signalled */
#define PACED_SIGNAL_S      1e-4 /* by a schedule, from one completion of a QP to the next */

#define PACED_IN_SOFTWARE                                                                  \
	"omit it: rdmark paces in software (SW); set pacing by the NIC with tc(8) or the " \
	"vendor's tool"

/* Refuse options that cannot be used together, and values that rdmark does not support. */
static int check_conflicts(const struct experiment *e, struct fault *f)
{
	bool efa = experiment_transport(e)->efa;
	const struct {
		bool given;
		const char *what, *fix;
	} all[] = {
		{efa && e->use_srq, "--use-srq cannot be used with transport SRD",
		 "omit it: an EFA has no shared receive queues"},
		{efa && e->outs != EXPERIMENT_AUTO, "--outs cannot be used with transport SRD",
		 "use -t: an EFA limits READs by the send queue alone"},
		{e->bidirectional && e->reversed,
		 "--reversed cannot be used with -b/--bidirectional",
		 "omit --reversed: with -b, both ends send"},
		{e->run_infinitely && e->sweep, "--run_infinitely cannot be used with -a/--all",
		 "give one size with -s: the first size would never end"},
		{e->rate_type == RATE_TYPE_HW, "--rate_limit_type HW is not supported",
		 PACED_IN_SOFTWARE},
		{e->rate_type == RATE_TYPE_PP, "--rate_limit_type PP is not supported",
		 PACED_IN_SOFTWARE},
		{e->rate_limit && e->events, "--rate_limit cannot be used with -e/--events",
		 "omit -e: a thread that paces its messages cannot sleep until a completion"},
		{e->latency_rate && e->latency_gap_us,
		 "--latency_rate cannot be used with --latency_gap",
		 "omit one of the two: each of them sets when a message is sent"},
		{e->verify && e->run_infinitely, "--verify cannot be used with --run_infinitely",
		 "limit the run with -n or -D: data are verified after it"},
		{e->mcg && e->connection != CONNECTION_UD,
		 "-g/--mcg needs -c UD", "omit -c: multicast is of datagrams"},
		{e->mcg && e->mcg != e->qps, "-g/--mcg has another number of QPs than the test",
		 "omit -q, and give -g the number; in a latency test omit it: there it is 1"},
		{e->mcg && e->bidirectional, "-g/--mcg cannot be used with -b/--bidirectional",
		 "omit -b; to send the other way use --reversed"},
		{e->mcg && e->rdma_cm, "-g/--mcg cannot be used with -R/--rdma_cm",
		 "omit -R: a group has no QP that rdma_cm could find"},
		{e->mcg && e->use_srq, "-g/--mcg cannot be used with --use-srq",
		 "omit --use-srq: each QP counts its own arrivals"},
		{e->mcg && e->verify, "-g/--mcg cannot be used with --verify",
		 "omit one of the two: data are verified between two QPs (-c UD), not in a group"},
		{e->verify && e->use_srq, "--verify cannot be used with --use-srq",
		 "omit one of the two: with a shared receive queue, a message has no fixed place "
		 "to verify"},
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (all[i].given)
			return fault_usage(f, all[i].fix, "%s", all[i].what);
	return 0;
}

int plan_check(const struct experiment *e, struct fault *f)
{
	const struct transport *over = experiment_transport(e);

	if (e->rdma_cm && !over->rdma_cm) {
		fault_raise(f, FAULT_UNAVAILABLE, 0,
			    "-R/--rdma_cm cannot be used with transport %s", over->name);
		return fault_fix(f, "omit -R or -c: through rdma_cm, rdmark connects RC and UD");
	}
	if (e->post_list > e->tx_depth)
		return fault_usage(
			f, "use a larger -t or a smaller -l: the list must fit in the send queue",
			"-l/--post_list %llu is more than -t/--tx-depth %llu",
			(unsigned long long)e->post_list, (unsigned long long)e->tx_depth);
	if (e->footprint_bytes && !e->sweep && e->footprint_bytes < e->size_bytes)
		return fault_usage(f, "use at least twice the message size",
				   "--footprint %llu is smaller than a message (%llu B)",
				   (unsigned long long)e->footprint_bytes,
				   (unsigned long long)e->size_bytes);
	return check_conflicts(e, f);
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
		return experiment_transport(e)->one_packet && e->size_bytes > max_bytes
			       ? max_bytes
			       : e->size_bytes;
	while (size * 2 <= max_bytes && size < PLAN_SWEEP_LAST)
		size *= 2;
	return size;
}

/*
 * The number nearest below WANTED that is at least LEAST, at most MOST, and a multiple of LIST or a
 * divisor of it. If there is none, the lowest from LEAST on, even if it is more than MOST.
 */
static uint64_t fit_to_list(uint64_t wanted, uint64_t least, uint64_t most, uint64_t list)
{
	uint64_t mod = wanted < most ? wanted : most;

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

unsigned plan_cq_mod(const struct experiment *e, uint64_t size, unsigned cqe)
{
	uint64_t wanted = e->cq_mod != EXPERIMENT_AUTO ? e->cq_mod : size > LARGE_BYTES ? 1 : 100;
	uint64_t list = e->post_list, depth = e->tx_depth / list * list;
	uint64_t each = cqe / e->qps, most = e->tx_depth / 4, mod;

	if (experiment_transport(e)->all_signalled)
		return 1;
	mod = fit_to_list(wanted, (depth + each - 1) / each, most > list ? most : list, list);
	return (unsigned)(mod < depth ? mod : depth);
}

uint64_t plan_warmup(const struct experiment *e, uint64_t size, bool latency)
{
	uint64_t n = latency                      ? WARMUP_LATENCY
		     : e->tx_depth > WARMUP_ALONE ? e->tx_depth
						  : WARMUP_ALONE;
	uint64_t bytes = WARMUP_BYTES / e->qps;

	if (e->warmup != EXPERIMENT_AUTO)
		return e->warmup;
	if (bytes < WARMUP_BYTES_QP)
		bytes = WARMUP_BYTES_QP;
	if (n > bytes / size)
		n = bytes / size;
	if (n < WARMUP_LEAST)
		n = WARMUP_LEAST;
	if (!experiment_endless(e) && n > e->iters)
		n = e->iters;
	return n;
}

unsigned plan_verify_messages(const struct experiment *e, uint64_t bytes)
{
	uint64_t count = PLAN_VERIFY_BYTES / plan_verify_place(bytes) / e->qps;

	if (count > PLAN_VERIFY_MESSAGES)
		count = PLAN_VERIFY_MESSAGES;
	if (e->verify > 1 && count > e->verify)
		count = e->verify;
	return count ? (unsigned)count : 1;
}

uint64_t plan_verify_room(const struct experiment *e, uint64_t bytes)
{
	uint64_t room = 0;

	for (; bytes; bytes = e->sweep ? bytes / 2 : 0)
		if (room < plan_verify_messages(e, bytes) * plan_verify_place(bytes))
			room = plan_verify_messages(e, bytes) * plan_verify_place(bytes);
	return room;
}

unsigned plan_rx_depth(const struct experiment *e, const struct plan_qp *p)
{
	uint64_t queues = e->use_srq ? 1 : e->qps, qps = e->qps / queues; /* of each queue */
	uint64_t depth = (p->latency ? RX_DEPTH_LATENCY : RX_DEPTH) * qps;

	if (!p->receives)
		return 0;
	if (e->rx_depth != EXPERIMENT_AUTO)
		return (unsigned)e->rx_depth; /* qp_set_init() refuses what the device lacks */
	if (e->use_srq && depth > RX_DEPTH_SHARED)
		depth = RX_DEPTH_SHARED;
	if (p->no_rnr_retry && !p->latency && depth < RX_DEPTH_NO_RETRY / queues)
		depth = RX_DEPTH_NO_RETRY / queues;
	if (depth > p->max_wr)
		depth = p->max_wr;
	if (depth > p->max_cqe / queues)
		depth = p->max_cqe / queues;
	return depth ? (unsigned)depth : 1;
}

unsigned plan_tx_depth(const struct experiment *e, const struct plan_qp *p)
{
	unsigned pingpong = TX_DEPTH_PINGPONG < p->max_send_wr ? TX_DEPTH_PINGPONG : p->max_send_wr;

	return p->pingpong && e->tx_depth < pingpong ? pingpong : (unsigned)e->tx_depth;
}

unsigned plan_recv_list(const struct experiment *e, unsigned depth)
{
	if (e->recv_post_list != EXPERIMENT_AUTO)
		return (unsigned)e->recv_post_list;
	return depth >= 128 ? 32 : depth >= 4 ? depth / 4 : 1;
}

/*
 * By a schedule of MESSAGES_PER_S: a completion for each list, or for more messages if they are not
 * far apart in time and make whole bursts.
 */
static unsigned paced_cq_mod(const struct experiment *e, const struct plan_round *p)
{
	unsigned list = (unsigned)e->post_list, mod = p->cq_mod > list ? p->cq_mod : list;
	unsigned burst = (p->burst + list - 1) / list * list;
	double most = p->messages_per_s / e->qps * PACED_SIGNAL_S;

	while (mod > list && (mod > most || (burst > list && burst % mod)))
		mod -= list;
	return mod;
}

struct plan_round plan_round(const struct experiment *e, const struct plan_attr *attr)
{
	struct plan_round p = {.cq_mod = plan_cq_mod(e, attr->size, attr->cqe), .burst = 1};

	if (!attr->timed) /* its duration is not measured */
		return p;
	if (attr->latency) {
		p.messages_per_s = (double)e->latency_rate / attr->workers;
		p.gap_ns = e->latency_gap_us * 1000;
	} else if (e->rate_limit) {
		p.burst = (unsigned)e->post_list;
		p.messages_per_s = rate_messages_per_s(e->rate_limit, attr->size) / attr->workers;
		if (e->burst != EXPERIMENT_AUTO && e->burst > e->post_list)
			p.burst = (unsigned)e->burst;
		if (!experiment_transport(e)->all_signalled)
			p.cq_mod = paced_cq_mod(e, &p);
	}
	return p;
}
