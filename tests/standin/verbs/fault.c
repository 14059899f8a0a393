// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "fault.h"
#include "names.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
	FAIL_MAX = 32,
	FAULT_MAX = 32
};

bool fault_on;

#define FAULT_NAME(v) #v,
static const char *const verb_names[] = {FAULT_VERBS(FAULT_NAME)};

enum kind {
	K_LOSE,
	K_DROP,
	K_DUP,
	K_CORRUPT,
	K_MISPLACE,
	K_STALE,
	K_SWAP,
	K_DELAY,
	K_KILL,
	K_STOP,
	K_PORT,
	K_DEVICE,
	K_WC,
	K_REG,
	K_PAGE
};

static const char *const kind_names[] = {
	"lose", "drop", "dup",       "corrupt",      "misplace", "stale",   "swap", "delay",
	"kill", "stop", "port_down", "device_fatal", "wc",       "reg_max", "page",
};

struct fail {
	enum fault_verb verb;
	unsigned long nth;
	bool ever_after; /* "3+": the third and all later */
	int err;
};

struct fault {
	enum kind kind;
	uint64_t nth; /* of reg_max: the bytes allowed */
	uint64_t arg; /* milliseconds, status or errno */
	uint32_t vendor;
	struct kept kept; /* of stale and swap */
};

static struct {
	struct fail fail[FAIL_MAX];
	struct fault fault[FAULT_MAX];
	int nfail, nfault;
	_Atomic unsigned long calls[FAULT_NVERBS];
	_Atomic uint64_t sent, moved, polled;
	_Atomic bool device_dead;
} faults;

static __attribute__((noreturn)) void usage(const char *var, const char *item)
{
	fprintf(stderr, "simverbs: %s: cannot use '%s'\n", var, item);
	_exit(2);
}

static void parse_fail(char *item)
{
	struct fail *f = &faults.fail[faults.nfail];
	char *copy = strdup(item), *verb, *nth, *err, *save, *end = NULL;
	int v;

	verb = strtok_r(copy, ":", &save);
	nth = strtok_r(NULL, ":", &save);
	err = strtok_r(NULL, ":", &save);
	for (v = 0; verb && v < FAULT_NVERBS; v++)
		if (!strcmp(verb, verb_names[v]))
			break;
	f->verb = v;
	f->nth = nth ? strtoul(nth, &end, 10) : 0;
	f->ever_after = end && *end == '+';
	f->err = err ? name_errno(err) : 0;
	if (!verb || v == FAULT_NVERBS || !f->nth || f->err <= 0 || faults.nfail == FAIL_MAX - 1)
		usage("SIMVERBS_FAIL", item);
	faults.nfail++;
	free(copy);
}

static void parse_fault(char *item)
{
	struct fault *f = &faults.fault[faults.nfault];
	char *copy = strdup(item), *name, *nth, *arg, *vendor, *save;
	int k, n = sizeof(kind_names) / sizeof(*kind_names), status = 0;

	name = strtok_r(copy, ":", &save);
	nth = strtok_r(NULL, ":", &save);
	arg = strtok_r(NULL, ":", &save);
	vendor = strtok_r(NULL, ":", &save);
	for (k = 0; name && k < n; k++)
		if (!strcmp(name, kind_names[k]))
			break;
	f->kind = k;
	f->nth = nth ? strtoull(nth, NULL, 0) : 0;
	f->vendor = vendor ? strtoul(vendor, NULL, 0) : 0;
	if (k == K_WC)
		status = arg ? name_status(arg) : -1;
	else if (k == K_REG)
		status = arg ? name_errno(arg) : ENOMEM;
	else
		status = arg ? atoi(arg) : 0;
	f->arg = status;
	if (!name || k == n || !f->nth || (status < 0 && k != K_MISPLACE) ||
	    faults.nfault == FAULT_MAX - 1)
		usage("SIMVERBS_FAULT", item);
	faults.nfault++;
	free(copy);
}

static void parse_list(const char *var, void (*parse)(char *))
{
	const char *env = getenv(var);
	char *copy, *item, *save;

	if (!env || !*env)
		return;
	fault_on = true;
	copy = strdup(env);
	for (item = strtok_r(copy, ", ", &save); item; item = strtok_r(NULL, ", ", &save))
		parse(item);
	free(copy);
}

void fault_init(void)
{
	parse_list("SIMVERBS_FAIL", parse_fail);
	parse_list("SIMVERBS_FAULT", parse_fault);
}

/* Verbs that work on a dead device: what takes things down. */
static bool works_dead(enum fault_verb v)
{
	return strstr(verb_names[v], "destroy") || strstr(verb_names[v], "dereg") ||
	       strstr(verb_names[v], "dealloc") || v == FAULT_ibv_close_device ||
	       v == FAULT_ibv_poll_cq || v == FAULT_ibv_start_poll ||
	       v == FAULT_ibv_get_async_event || v == FAULT_ibv_get_cq_event ||
	       v == FAULT_ibv_post_send || v == FAULT_ibv_post_recv || v == FAULT_ibv_wr_complete;
}

int fault_call_slow(enum fault_verb v)
{
	unsigned long n = atomic_fetch_add(&faults.calls[v], 1) + 1;
	int i;

	for (i = 0; i < faults.nfail; i++) {
		const struct fail *f = &faults.fail[i];

		if (f->verb == v && (n == f->nth || (f->ever_after && n > f->nth)))
			return errno = f->err;
	}
	if (atomic_load(&faults.device_dead) && !works_dead(v))
		return errno = EIO;
	return 0;
}

bool fault_names(enum fault_verb v)
{
	int i;

	for (i = 0; i < faults.nfail; i++)
		if (faults.fail[i].verb == v)
			return true;
	return false;
}

static struct fault *due(enum kind kind, uint64_t n)
{
	int i;

	for (i = 0; i < faults.nfault; i++)
		if (faults.fault[i].kind == kind && faults.fault[i].nth == n)
			return &faults.fault[i];
	return NULL;
}

/* One in so many of those transports that lose messages. */
static bool drops(const struct sim_qp *qp, uint64_t n)
{
	int i;

	if (is_reliable(qp->ex.qp_base.qp_type) || is_srd(qp))
		return false;
	for (i = 0; i < faults.nfault; i++)
		if (faults.fault[i].kind == K_DROP && n % faults.fault[i].nth == 0)
			return true;
	return false;
}

static void fail_qp(struct sim_qp *qp)
{
	shm_lock(&qp->shm->lock);
	qp_error(peer_self(), qp->shm);
	shm_unlock(&qp->shm->lock);
}

/* Every port of ours down; with fatal, every queue pair lost too. */
static void take_down(struct sim_context *ctx, bool fatal)
{
	struct shm_seg *seg = shm_self();
	struct pipe_msg m = {fatal ? IBV_EVENT_DEVICE_FATAL : IBV_EVENT_PORT_ERR, 1, 0, 0};
	int i;

	for (i = 0; i < SHM_PORTS; i++)
		atomic_store(&seg->port[ctx->index][i].up, 0);
	if (fatal) {
		atomic_store(&faults.device_dead, true);
		pthread_mutex_lock(&sim_tables.mutex);
		for (i = 0; i < SHM_QPS; i++)
			if (sim_tables.qp[i])
				fail_qp(sim_tables.qp[i]);
		pthread_mutex_unlock(&sim_tables.mutex);
	}
	peer_notify(peer_self(), ctx->async_pipe, &m);
}

/* The thread that posts meets a page that is not there, in every message with a multiple of N. */
static void miss_a_page(uint64_t n)
{
	static char *page;
	int i;

	for (i = 0; i < faults.nfault; i++) {
		if (faults.fault[i].kind != K_PAGE || n % faults.fault[i].nth)
			continue;
		if (!page)
			page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
				    -1, 0);
		madvise(page, 4096, MADV_DONTNEED);
		*(volatile char *)page = 1;
	}
}

/* A message was sent or received. */
static void count_move(struct ibv_context *c)
{
	uint64_t n = atomic_fetch_add(&faults.moved, 1) + 1;

	if (due(K_KILL, n))
		kill(getpid(), SIGKILL);
	if (due(K_STOP, n)) /* here, where nothing that others share is locked */
		raise(SIGSTOP);
	if (due(K_PORT, n))
		take_down(sim_ctx(c), false);
	if (due(K_DEVICE, n))
		take_down(sim_ctx(c), true);
}

/* Whose data W carries, and where they land. */
static void divert(struct sq_wqe *w, uint64_t n, bool swap)
{
	struct fault *misplace = due(K_MISPLACE, n), *stale = due(K_STALE, n);
	struct fault *hold = swap ? due(K_SWAP, n) : NULL, *held = swap ? due(K_SWAP, n - 1) : NULL;
	int i;

	if (misplace)
		w->shift = (int64_t)misplace->arg;
	if (stale || held)
		w->use = stale ? &stale->kept : &held->kept;
	if (hold)
		w->keep = &hold->kept;
	for (i = 0; i < faults.nfault; i++)
		if (faults.fault[i].kind == K_STALE && faults.fault[i].arg == n)
			w->keep = &faults.fault[i].kept;
}

enum fault_fate fault_message(struct sim_qp *qp, struct sq_wqe *w)
{
	uint64_t n = atomic_fetch_add(&faults.sent, 1) + 1;
	const struct fault *delay = due(K_DELAY, n);
	bool swap = !fetches(w->opcode);

	divert(w, n, swap);
	miss_a_page(n);
	count_move(qp->ex.qp_base.context);
	if (delay)
		w->not_before_ns = sim_now_ns() + delay->arg * 1000000;
	return due(K_LOSE, n) || drops(qp, n) ? FATE_LOSE
	       : due(K_DUP, n)                ? FATE_DUP
	       : due(K_CORRUPT, n)            ? FATE_CORRUPT
	       : swap && due(K_SWAP, n)       ? FATE_HOLD
	       : swap && due(K_SWAP, n - 1)   ? FATE_HELD
					      : FATE_NONE;
}

void fault_completion(struct sim_cq *cq, struct shm_cqe *e)
{
	uint64_t n = atomic_fetch_add(&faults.polled, 1) + 1;
	const struct fault *f = due(K_WC, n);
	struct sim_qp *qp = sim_tables.qp[qpn_index(e->wc.qp_num)];

	if (!e->is_send)
		count_move(cq->ex.context);
	if (!f)
		return;
	e->wc.status = f->arg;
	e->wc.vendor_err = f->vendor;
	if (e->wc.status && qp)
		fail_qp(qp);
}

int fault_reg(size_t length)
{
	int i;

	for (i = 0; unlikely(fault_on) && i < faults.nfault; i++)
		if (faults.fault[i].kind == K_REG && length > faults.fault[i].nth)
			return faults.fault[i].arg;
	return 0;
}
