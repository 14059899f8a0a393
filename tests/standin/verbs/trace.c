// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * SIMVERBS_TRACE=FILE: at its end the process writes when it posted its first
 * send, and when it had taken how many completions of its sends, so that a test
 * can tell what several processes did at the same time.  A line is "NS COUNT",
 * NS of CLOCK_MONOTONIC_RAW as the program sees it; lines are EVERY_NS apart at
 * least, but for the first completion, the last one and those around a pause.
 */
#include "trace.h"
#include "script.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
	EVERY_NS = 20000,
	ENTRIES = 1 << 20, /* 20 s at least; the rest has no lines but the last */
};

static struct {
	int (*post_send)(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad);
	void (*wr_start)(struct ibv_qp_ex *qp);
	int (*poll_cq)(struct ibv_cq *cq, int n, struct ibv_wc *wc);
	int (*start_poll)(struct ibv_cq_ex *cq, struct ibv_poll_cq_attr *attr);
	int (*next_poll)(struct ibv_cq_ex *cq);
} real;

struct entry {
	uint64_t ns, count;
};

static struct {
	const char *file;
	pid_t pid;
	pthread_mutex_t mutex;
	struct entry *entry, last;
	uint64_t entries;
} trace = {.mutex = PTHREAD_MUTEX_INITIALIZER};

/* Without moving a scripted clock. */
static uint64_t now_ns(void)
{
	struct timespec ts;

	if (script_get())
		return script_now() / 1000;
	clock_gettime(CLOCK_MONOTONIC_RAW, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static void put(const struct entry *e)
{
	if (trace.entries < ENTRIES)
		trace.entry[trace.entries++] = *e;
}

static void add(unsigned count)
{
	struct entry *last = &trace.last;
	uint64_t at = now_ns();

	pthread_mutex_lock(&trace.mutex);
	if (last->count && at - last->ns >= EVERY_NS &&
	    trace.entry[trace.entries - 1].ns != last->ns)
		put(last); /* before the pause */
	*last = (struct entry){at, last->count + count};
	if (trace.entries < 2 || at - trace.entry[trace.entries - 1].ns >= EVERY_NS)
		put(last);
	pthread_mutex_unlock(&trace.mutex);
}

/* The first request is about to be posted. */
static void begin(void)
{
	pthread_mutex_lock(&trace.mutex);
	if (!trace.entries)
		put(&(struct entry){now_ns(), 0});
	pthread_mutex_unlock(&trace.mutex);
}

static int post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	begin();
	return real.post_send(qp, wr, bad);
}

static void wr_start(struct ibv_qp_ex *qp)
{
	begin();
	real.wr_start(qp);
}

static int poll_cq(struct ibv_cq *cq, int n, struct ibv_wc *wc)
{
	int got = real.poll_cq(cq, n, wc);
	unsigned sends = 0;

	for (int i = 0; i < got; i++)
		sends += !(wc[i].opcode & IBV_WC_RECV);
	if (sends)
		add(sends);
	return got;
}

static int taken(struct ibv_cq_ex *cq, int err)
{
	if (!err && !(((struct sim_cq *)cq)->cur.wc.opcode & IBV_WC_RECV))
		add(1);
	return err;
}

static int start_poll(struct ibv_cq_ex *cq, struct ibv_poll_cq_attr *attr)
{
	return taken(cq, real.start_poll(cq, attr));
}

static int next_poll(struct ibv_cq_ex *cq)
{
	return taken(cq, real.next_poll(cq));
}

static __attribute__((destructor)) void leave(void)
{
	FILE *f;

	if (!trace.file || trace.pid != getpid())
		return;
	f = fopen(trace.file, "w");
	if (!f) {
		fprintf(stderr, "simverbs: %s: %s\n", trace.file, strerror(errno));
		return;
	}
	for (uint64_t i = 0; i < trace.entries; i++)
		fprintf(f, "%" PRIu64 " %" PRIu64 "\n", trace.entry[i].ns, trace.entry[i].count);
	if (trace.last.count && trace.entry[trace.entries - 1].ns != trace.last.ns)
		fprintf(f, "%" PRIu64 " %" PRIu64 "\n", trace.last.ns, trace.last.count);
	fclose(f);
}

void trace_wrap_ops(struct ibv_context_ops *ops)
{
	const char *file = getenv("SIMVERBS_TRACE");

	if (!file || !*file)
		return;
	if (!trace.entry)
		trace.entry = calloc(ENTRIES, sizeof(*trace.entry));
	if (!trace.entry)
		return;
	trace.file = file;
	trace.pid = getpid();
	real.post_send = ops->post_send;
	real.poll_cq = ops->poll_cq;
	ops->post_send = post_send;
	ops->poll_cq = poll_cq;
}

void trace_wrap_qp(struct sim_qp *qp)
{
	if (!trace.file)
		return;
	real.wr_start = qp->ex.wr_start;
	qp->ex.wr_start = wr_start;
}

void trace_wrap_cq(struct sim_cq *cq)
{
	if (!trace.file)
		return;
	real.start_poll = cq->ex.start_poll;
	real.next_poll = cq->ex.next_poll;
	cq->ex.start_poll = start_poll;
	cq->ex.next_poll = next_poll;
}
