// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* One measuring thread's QPs, memory and receives. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "session/plan.h"
#include "session/state.h"
#include "session/transport.h"
#include "session/verify.h"

#define UD_INLINE_WISH   188 /* a datagram's address takes room in the request, too */
#define STAGED_BATCH     32  /* receives are given back so many at a time */
#define LATENCY_TX_DEPTH 64  /* so that one send in many is signalled */

bool strand_is_first(const struct strand *t)
{
	return t->index < t->session->rails;
}

/* Do the peer's messages consume receives of this end? */
static bool receives(const struct session *s)
{
	if (s->test->receives == RECEIVES_BOTH || (s->immediate && s->test->latency))
		return true;
	return (s->test->receives == RECEIVES_FOLLOWER || s->immediate) &&
	       (s->options.experiment.bidirectional || !endpoint_leads(s));
}

static unsigned receive_depth(const struct strand *t)
{
	const struct experiment *e = &t->session->options.experiment;
	const struct ibv_device_attr *d = &t->rail->hca.info.attr;
	unsigned cqe = (unsigned)d->max_cqe;
	bool latency = t->session->test->latency;

	if (!receives(t->session))
		return 0;
	return e->use_srq ? plan_srq_depth(e, latency, cqe, (unsigned)d->max_srq_wr)
			  : plan_rx_depth(e, latency, cqe, (unsigned)d->max_qp_wr);
}

static int make_qps(struct strand *t)
{
	const struct session *s = t->session;
	const struct test *test = s->test;
	const struct experiment *e = &s->options.experiment;
	struct qp_wish w = {
		.type = transport_type(e),
		.count = (unsigned)e->qps,
		.tx_depth = (unsigned)e->tx_depth,
		.rx_depth = receive_depth(t),
		.share_receives = e->use_srq,
		.own_cqs = e->own_cqs,
		.events = e->events,
		.extended = calls_wanted(s),
		.vector = (unsigned)s->options.local.vector,
		.inline_bytes = e->inline_bytes == EXPERIMENT_AUTO ? QP_INLINE_BEST_EFFORT
								   : (unsigned)e->inline_bytes,
		.inline_wish = test->inline_wish,
		.access = test->written ? IBV_ACCESS_REMOTE_WRITE : 0,
		.pkey_index = t->rail->route.pkey_index,
	};

	if (s->gpu_memory) /* the CPU cannot copy from there */
		w.inline_bytes = 0;
	if (test->latency && w.tx_depth < LATENCY_TX_DEPTH)
		w.tx_depth = LATENCY_TX_DEPTH;
	if (e->connection == CONNECTION_UD && w.inline_wish > UD_INLINE_WISH)
		w.inline_wish = UD_INLINE_WISH;
	if (qp_set_init(&t->qps, &t->rail->hca, &w, &t->fault))
		return -1;
	if (calls_check(t))
		return -1;
	if (e->events)
		t->control->wake_fd = t->qps.bell.wake_fd;
	return 0;
}

static int make_receives(struct strand *t)
{
	const struct session *s = t->session;
	struct round_slice into = {t->mine.addr, t->mine.stride, t->mem.lkey, t->mem.lkeys};
	unsigned depth = t->qps.rx_depth, batch = 1;

	if (!depth)
		return 0;
	if (s->matrix && depth < s->options.experiment.staged_slots + STAGED_BATCH) {
		fault_raise(&t->fault, FAULT_USAGE, 0,
			    "a receive queue of %u for --staged-slots %u: too short", depth,
			    (unsigned)s->options.experiment.staged_slots);
		return fault_fix(&t->fault, "it must be longer by %u: a larger -r, or fewer slots",
				 STAGED_BATCH);
	}
	/* A ping-pong gives each receive back at once, a stream in batches. */
	if (!s->test->latency)
		batch = plan_recv_list(&s->options.experiment, depth);
	if (batch > depth) {
		fault_raise(&t->fault, FAULT_USAGE, 0,
			    "--recv_post_list %u is more than the receive queue holds (%u)", batch,
			    depth);
		return fault_fix(&t->fault, "use a larger -r, or a shorter list");
	}
	return recv_queue_init(&t->receives, &t->qps, depth, batch, &into, s->largest_bytes,
			       &t->fault);
}

/* Where samples go, at the end that takes them. */
static int make_samples(struct strand *t)
{
	const struct session *s = t->session;
	const struct output_options *o = &s->options.output;
	const struct experiment *e = &s->options.experiment;
	bool keep = (o->histogram || o->unsorted) && session_keeps_samples(s);

	if (!s->test->latency || !endpoint_leads(s))
		return 0;
	t->hist = malloc(sizeof(*t->hist));
	if (keep)
		t->samples = calloc(e->iters, sizeof(*t->samples));
	if (t->hist && (t->samples || !keep))
		return 0;
	return fault_raise(&t->fault, FAULT_LOCAL, ENOMEM, "samples of %llu iterations",
			   (unsigned long long)e->iters);
}

static int make_peak(struct strand *t)
{
	const struct session *s = t->session;
	const struct experiment *e = &s->options.experiment;
	bool sends = endpoint_leads(s) || e->bidirectional;

	if (s->test->latency || !sends || s->options.output.no_peak)
		return 0;
	if (peak_init(&t->peak, e->tx_depth * e->qps))
		return fault_raise(&t->fault, FAULT_LOCAL, ENOMEM, "marks for the peak");
	t->peak_ready = true;
	return 0;
}

int strand_pin(struct strand *t)
{
	const struct session *s = t->session;
	struct end *e = &t->rail->mine;

	fault_phase(&t->fault, "pinning the thread");
	if (pin_thread(&t->pin, (int)(int64_t)s->options.local.numa,
		       t->rail->hca.info.place.numa_node, &t->fault))
		return -1;
	/* Several threads have a CPU each; the rails come in turn, so these are their numbers. */
	if (session_all_strands(s) > s->rails)
		pin_core(&t->pin, t->index / s->rails, s->report.about.server);
	if (!strand_is_first(t))
		return 0;
	e->thread_node = t->pin.node;
	text_copy(e->cpus, sizeof(e->cpus), t->pin.cpus);
	text_copy(e->pinned, sizeof(e->pinned), t->pin.reason);
	return 0;
}

int strand_make(struct strand *t)
{
	unsigned qps = t->is_load ? 1 : (unsigned)t->session->options.experiment.qps;

	if (qp_address_init(&t->mine, qps))
		return fault_raise(&t->fault, FAULT_LOCAL, ENOMEM, "details of %u QPs", qps);
	if (t->is_load ? load_make(t)
		       : make_qps(t) || strand_memory(t) || make_receives(t) || make_samples(t) ||
				 make_peak(t) || verify_make(t))
		return -1;
	t->mine.gid = t->rail->gid;
	t->mine.lid = t->rail->hca.info.port_attr.lid;
	for (unsigned i = 0; i < t->qps.count; i++) {
		t->mine.qpn[i] = t->qps.qp[i]->qp_num;
		t->mine.psn[i] = t->qps.psn[i];
	}
	if (strand_is_first(t))
		t->rail->mine.inline_bytes = t->qps.inline_bytes;
	return 0;
}

int strand_connect(struct strand *t)
{
	const struct local_options *l = &t->session->options.local;

	if (l->dlid != EXPERIMENT_AUTO)
		t->theirs.lid = (uint16_t)l->dlid;
	return qp_set_connect(&t->qps, &t->rail->route, &t->theirs, &t->fault);
}

void strand_quiesce(struct strand *t)
{
	recv_queue_release(&t->receives);
	qp_set_quiesce(&t->qps);
	cm_release(&t->cm);
}

void strand_release(struct strand *t)
{
	verify_release(t);
	mem_release(&t->mem);
	qp_set_release(&t->qps);
	qp_address_release(&t->mine);
	qp_address_release(&t->theirs);
	peak_release(&t->peak);
	if (t->gpu_buffer)
		gpu_free(t->session->gpu, t->gpu_buffer);
	free(t->hist);
	free(t->samples);
	if (!t->index) /* the others pinned threads that are gone */
		pin_undo(&t->pin);
	memset(t, 0, sizeof(*t));
}
