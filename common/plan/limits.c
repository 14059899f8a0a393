// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "plan/limits.h"

#include "base/units.h"
#include "plan/plan.h"
#include "verbs/transport.h"

/* Memory of a work request: here, in the device's queue, and of its completion. */
#define LIMITS_REQUEST_BYTES 256
#define LIMITS_QUEUES_BYTES  (UINT64_C(64) << 20) /* queues of this size are always allowed */
#define MTU_MOST             4096

/* FIX ends with the option of the server that may be raised. */
static int refuse_limit(const char *option, const char *requested, const char *allowed,
			const char *fix, struct fault *f)
{
	fault_raise(f, FAULT_USAGE, 0, "%s: the client requests %s, but this server allows %s",
		    option, requested, allowed);
	return fault_fix(f, "%s on the server", fix);
}

int limits_memory(const struct local_options *l, uint64_t bytes, struct fault *f)
{
	if (bytes <= l->max_memory_bytes)
		return 0;
	return refuse_limit(
		"--max-memory", units_size(bytes).text, units_size(l->max_memory_bytes).text,
		"use smaller messages (-s) or fewer QPs (-q), or raise --max-memory", f);
}

void limits_default(struct local_options *l)
{
	if (l->max_memory_bytes == EXPERIMENT_AUTO)
		l->max_memory_bytes = LIMITS_MEMORY_BYTES;
	if (l->max_duration_ns == EXPERIMENT_AUTO)
		l->max_duration_ns = LIMITS_DURATION_NS;
	if (l->max_qps == EXPERIMENT_AUTO)
		l->max_qps = LIMITS_QPS;
}

const char *limits_text(const struct local_options *l, char *buf, size_t size)
{
	snprintf(buf, size,
		 "%s of memory (--max-memory), %llu QPs (--max-qps), %s (--max-duration)",
		 units_size(l->max_memory_bytes).text, (unsigned long long)l->max_qps,
		 units_ns(l->max_duration_ns).text);
	return buf;
}

static int check_qps(const struct local_options *l, uint64_t qps, const char *option,
		     struct fault *f)
{
	char requested[32], allowed[32];

	if (qps <= l->max_qps)
		return 0;
	snprintf(requested, sizeof(requested), "%llu QPs", (unsigned long long)qps);
	snprintf(allowed, sizeof(allowed), "%llu", (unsigned long long)l->max_qps);
	return refuse_limit(option, requested, allowed,
			    "use fewer QPs (-q, --threads), or raise --max-qps", f);
}

/* Limit the memory of queues, too: they are not buffers, but a client can make them large. */
static int check_queues(const struct local_options *l, uint64_t bytes, struct fault *f)
{
	char requested[48];

	if (bytes <= l->max_memory_bytes || bytes <= LIMITS_QUEUES_BYTES)
		return 0;
	snprintf(requested, sizeof(requested), "%s of queues", units_size(bytes).text);
	return refuse_limit(
		"--max-memory", requested, units_size(l->max_memory_bytes).text,
		"reduce the depth (-t, -r) or the number of QPs (-q), or raise --max-memory", f);
}

/* A times B, or as much as fits. */
static uint64_t times(uint64_t a, uint64_t b)
{
	uint64_t product;

	return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX - 1 : product;
}

/*
 * The planned measuring time only, and a verification that takes as long: a run that takes longer,
 * or has no end, is ended when its time is over.
 */
static int check_duration(const struct local_options *l, const struct experiment *e,
			  struct fault *f)
{
	uint64_t sizes = 1, check_ns = 0, total_ns;

	for (uint64_t size = plan_first_size(e); e->sweep && size < PLAN_SWEEP_LAST; size *= 2)
		sizes++;
	if (e->verify == 1 && e->duration_ns)
		check_ns = e->duration_ns > PLAN_VERIFY_NS ? e->duration_ns : PLAN_VERIFY_NS;
	total_ns = times(e->duration_ns + e->omit_ns + check_ns, sizes);
	if (e->run_infinitely || total_ns <= l->max_duration_ns)
		return 0;
	return refuse_limit(e->omit_ns ? "-D/--duration and --omit"
			    : e->sweep && e->verify == 1
				    ? "-D/--duration with -a/--all and --verify"
			    : e->sweep       ? "-D/--duration with -a/--all"
			    : e->verify == 1 ? "-D/--duration with --verify"
					     : "-D/--duration",
			    units_ns(total_ns).text, units_ns(l->max_duration_ns).text,
			    "use a shorter -D, or raise --max-duration", f);
}

/* The buffers, without what alignment and the device add: that is seen when they are made. */
static uint64_t buffer_bytes(const struct test *t, const struct experiment *e, uint64_t rails)
{
	uint64_t most = transport_max_bytes(experiment_transport(e), MTU_MOST, PLAN_SWEEP_LAST);
	uint64_t size = plan_last_size(e, most), workers = e->threads * rails;
	uint64_t slice = size > e->footprint_bytes ? size : e->footprint_bytes;
	uint64_t slices = (t->latency || e->bidirectional ? 2 : 1) * e->qps;

	slice += e->verify ? plan_verify_room(e, size) : 0;
	return times(times(slice, slices), workers);
}

int limits_check(const struct local_options *l, const struct test *t, const struct experiment *e,
		 uint64_t rails, struct fault *f)
{
	/* No overflow: the option table bounds all three. */
	uint64_t qps = e->qps * e->threads * rails * (e->verify ? 2 : 1);

	/* Work requests and completions, at this end alone; an automatic depth is small. */
	uint64_t depth = (e->tx_depth == EXPERIMENT_AUTO ? 0 : e->tx_depth) +
			 (e->rx_depth == EXPERIMENT_AUTO ? 0 : e->rx_depth);
	uint64_t queues = qps * depth * LIMITS_REQUEST_BYTES;

	return check_qps(l, qps, e->verify ? "-q/--qp with --verify" : "-q/--qp", f) || check_duration(l, e, f) ||
			       limits_memory(l, buffer_bytes(t, e, rails), f) ||
			       check_queues(l, queues, f)
		       ? -1
		       : 0;
}
