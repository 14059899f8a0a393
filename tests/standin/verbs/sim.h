/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sim - the private state of the stand-in in a process
 *
 * Every object starts with the ibv_ structure that the program sees. Tables map the indices in
 * shared memory to these objects. The file has more than 400 lines: these structures contain each
 * other, so a reader of one needs them all.
 *
 * Four variables are extern against the house rule (shm_my_pid, sim_tables, engine_waiting,
 * fault_on): a preloaded library has no main to own its state, and they are read for every request.
 *
 * Locks, outermost first: sim_qp.sq_lock, shm_qp.lock, the rest (leaves).
 */
#ifndef SIMVERBS_SIM_H
#define SIMVERBS_SIM_H

#include "desc.h"
#include "peer.h"

#include <pthread.h>
#include <sched.h>
#include <stddef.h>

#define likely(x)                    __builtin_expect(!!(x), 1)
#define unlikely(x)                  __builtin_expect(!!(x), 0)
#define container(ptr, type, member) ((type *)((char *)(ptr)-offsetof(type, member)))

enum {
	SIM_MAX_SGE = 32,
	SIM_VENDOR_RETRY = 0x81,
	SIM_VENDOR_RNR = 0x82,
	SIM_VENDOR_ACCESS = 0x88,
	SIM_VENDOR_FLUSH = 0xf9,
	SIM_VENDOR_LENGTH = 0x68,
	SIM_VENDOR_PROT = 0x51,
	SIM_SHUFFLE_MOST = 64
};

/* The library's settings, created once from the environment. */
struct sim_conf {
	struct desc desc;
	bool no_memory;      /* for the list of devices */
	bool null;           /* SIMVERBS_NULL */
	bool defer;          /* SIMVERBS_DEFER */
	bool debug;          /* SIMVERBS_DEBUG */
	bool paced;          /* either of: */
	double gbps;         /* SIMVERBS_GBPS */
	uint64_t latency_ns; /* SIMVERBS_LATENCY_NS */
	uint64_t gap_ns;     /* SIMVERBS_GAP_NS */
	bool timed;          /* null mode with either of these two, or */
	bool scripted;       /* SIMVERBS_SCRIPT */
};

const struct sim_conf *sim_conf(void);

struct sim_device {
	struct ibv_device ibv;
	char provider[256]; /* providers read beyond ibv; all zero */
	int index;
};

/* What posts write to: of a thread domain, or of a context. */
struct sim_doorbell {
	_Atomic uint32_t lock;
	bool used, shared; /* by more threads than the first */
	pthread_t first;
};

struct sim_context {
	const struct desc_dev *desc;
	int index; /* of the device */
	uint32_t async_pipe;
	_Atomic bool dead;      /* after IBV_EVENT_DEVICE_FATAL */
	_Atomic int objects;    /* PDs, CQs and channels */
	struct sim_doorbell bell;
	struct verbs_context v; /* must be last */
};

static inline struct sim_context *sim_ctx(struct ibv_context *c)
{
	return container(c, struct sim_context, v.context);
}

struct sim_pd {
	struct ibv_pd ibv;
	uint32_t id;
	_Atomic int users;
	struct sim_pd *base; /* of a parent domain, which has its id */
	struct sim_td *td;
};

struct sim_mr {
	struct ibv_mr ibv;
	struct shm_mr *shm;
	void *map; /* of a dma-buf */
	size_t map_len;
};

struct sim_ah {
	struct ibv_ah ibv;
	uint16_t number; /* from 1; in null mode 0 */
	struct ibv_ah_attr attr;
};

struct sim_channel {
	struct ibv_comp_channel ibv;
	uint32_t pipe;
};

/* An entry of a null mode CQ. */
struct null_cqe {
	uint64_t wr_id;
	uint32_t qp_num;
	uint32_t opcode;
};

struct sim_cq {
	struct ibv_cq_ex ex;
	/* null mode: private and unlocked */
	struct null_cqe *null_ring;
	uint64_t *null_due;  /* in parallel to null_ring, with a clock; otherwise NULL */
	uint64_t null_early; /* scripted: an arrival before its receive was posted */
	uint32_t null_waits; /* scripted: the oldest receive without a time */
	uint32_t null_head, null_tail, null_mask, null_armed;
	/* else */
	struct shm_cq *shm;
	struct shm_cqe *ring;
	_Atomic uint32_t busy; /* consumer lock */
	uint32_t index, idle;
	struct shm_cqe cur;       /* between start_poll and end_poll */
	_Atomic uint32_t ex_busy; /* held between them */
	bool single_threaded, ignore_overrun;
	uint64_t wc_flags;
	_Atomic int users;
	uint32_t comp_delivered, async_delivered;
};

struct sim_xrcd {
	struct ibv_xrcd ibv;
	uint32_t id; /* from 1 */
	_Atomic int users;
};

struct sim_srq {
	struct ibv_srq ibv;
	struct sim_xrcd *xrcd; /* of an XRC SRQ, with its own CQ */
	struct sim_cq *cq;
	struct shm_srq *shm;
	uint32_t index;
	_Atomic int users;
	_Atomic uint32_t polled; /* receives whose completion was polled */
	uint32_t async_delivered;
};

struct sq_wqe {
	uint64_t wr_id;
	uint64_t remote_addr, compare_add, swap;
	uint32_t rkey, imm;
	uint32_t remote_qpn, remote_qkey, remote_srqn;
	struct ibv_ah_attr av;
	uint8_t opcode, flags, num_sge, done, corrupt, reported;
	uint32_t inline_len;
	uint32_t byte_len;
	uint32_t status, vendor_err;
	uint64_t not_before_ns;  /* completion is held back until then */
	uint64_t due_ns;         /* not executed before this time */
	int64_t shift;           /* a fault: it is written this many bytes further on */
	struct kept *keep, *use; /* a fault: its data are kept; it sends kept data */
	char payload[] __attribute__((aligned(8))); /* SGEs or inline data */
};

struct sim_qp {
	struct ibv_qp_ex ex;
	struct shm_qp *shm;
	struct sim_cq *scq, *rcq;
	struct sim_srq *srq;
	struct sim_xrcd *xrcd;
	struct peer *peer;  /* of a connected QP */
	uint32_t path_ok;   /* QP number the address was found to reach */
	uint32_t rnr_timer; /* from the peer's latest RNR NAK */
	struct ibv_qp_attr attr;
	struct ibv_qp_cap cap;
	bool sig_all, extended;
	uint64_t send_ops; /* allowed for ibv_wr_* */
	uint32_t async_delivered;
	/* send queue */
	_Atomic uint32_t rq_polled; /* frees receive queue slots */
	_Atomic uint32_t sq_lock;
	uint32_t sq_head;         /* posted */
	uint32_t sq_next;         /* next to execute */
	_Atomic uint32_t sq_tail; /* the oldest one that cannot be reused */
	uint32_t sq_size, sq_mask, sq_stride;
	uint32_t shuffle; /* so many run backwards; 0: all in order */
	char *sq;
	/* a request without an answer */
	uint32_t tries;
	uint64_t wait_until_ns, give_up_ns;
	uint64_t *fetch_due; /* a ring: completion times of the last max_rd_atomic READs and
				atomics */
	uint32_t fetches;
	/* engine list */
	struct sim_qp *busy_next;
	bool busy;
	/* ibv_wr_* session */
	uint32_t wr_first, wr_head;
	int wr_err;
	struct sq_wqe *wr;
};

static inline struct sq_wqe *sq_slot(struct sim_qp *qp, uint32_t i)
{
	return (struct sq_wqe *)(qp->sq + (size_t)(i & qp->sq_mask) * qp->sq_stride);
}

/* The process's tables. */
struct sim_tables {
	pthread_mutex_t mutex;
	struct sim_qp *qp[SHM_QPS];
	struct sim_cq *cq[SHM_CQS];
	struct sim_srq *srq[SHM_SRQS];
};
extern struct sim_tables sim_tables;

/* Whether a lost message is noticed, by the type of the sender, or of the target. */
static inline bool is_reliable(uint32_t type)
{
	return type == IBV_QPT_RC || type == IBV_QPT_XRC_SEND || type == IBV_QPT_XRC_RECV;
}

static inline uint32_t qpn_index(uint32_t qpn)
{
	return qpn & (SHM_QPS - 1);
}

static inline uint32_t qpn_slot(uint32_t qpn)
{
	return (qpn >> 16) - 1;
}

uint64_t sim_now_ns(void);

/* A private spin lock for threads of one process. */
static inline void spin_lock(_Atomic uint32_t *l)
{
	uint32_t spins = 0;

	while (atomic_exchange_explicit(l, 1, memory_order_acquire))
		if (++spins & 255)
			cpu_relax();
		else
			sched_yield();
}

static inline bool spin_trylock(_Atomic uint32_t *l)
{
	return !atomic_exchange_explicit(l, 1, memory_order_acquire);
}

static inline void spin_unlock(_Atomic uint32_t *l)
{
	atomic_store_explicit(l, 0, memory_order_release);
}

/* mr.c: address of [addr, addr+len) under a key, or NULL with *status. */
struct mr_ask {
	uint32_t key, pd, access;
	bool remote;
	uint64_t addr, len;
};
struct shm_mr *mr_find(struct shm_seg *seg, uint32_t key); /* the entry, valid or not; or NULL */
void *mr_get(struct shm_seg *seg, const struct mr_ask *ask, struct shm_mr **mr);
void mr_unused(struct shm_mr *mr); /* wakes who waits in ibv_dereg_mr() */

static inline void mr_put(struct shm_mr *mr)
{
	if (mr && atomic_fetch_sub(&mr->users, 1) == 1 && !atomic_load(&mr->key))
		mr_unused(mr);
}

/* cq.c: false if the CQ is full, and the entry lost */
bool cq_push(struct peer *p, uint16_t cq, const struct shm_cqe *cqe, bool solicited);
void cq_purge(struct sim_cq *cq, struct sim_qp *qp);
int cq_take(struct sim_cq *cq, struct shm_cqe *out);
int sim_poll_cq(struct ibv_cq *ibv, int n, struct ibv_wc *wc);
int sim_req_notify(struct ibv_cq *ibv, int solicited_only);
struct sim_cq *cq_make(struct ibv_context *ctx, const struct ibv_cq_init_attr_ex *attr);

int sim_modify_cq(struct ibv_cq *cq, struct ibv_modify_cq_attr *attr);

/* query.c */
static inline uint8_t port_link(const struct desc_port *p)
{
	return p->unspecified ? IBV_LINK_LAYER_UNSPECIFIED
	       : p->ethernet  ? IBV_LINK_LAYER_ETHERNET
			      : IBV_LINK_LAYER_INFINIBAND;
}
int sim_query_port(struct ibv_context *c, uint8_t port, struct ibv_port_attr *attr, size_t len);
int sim_query_device_ex(struct ibv_context *c, const struct ibv_query_device_ex_input *input,
			struct ibv_device_attr_ex *attr, size_t size);
int sim_query_rt_values(struct ibv_context *c, struct ibv_values_ex *v);

/* cq_ex.c */
struct ibv_cq_ex *sim_create_cq_ex(struct ibv_context *ctx, struct ibv_cq_init_attr_ex *attr);

/* rq.c */
int rq_make(struct shm_rq *rq, uint32_t depth, uint32_t max_sge);
void rq_free(struct shm_rq *rq);
int sim_post_recv(struct ibv_qp *ibv, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad);
int sim_post_srq_recv(struct ibv_srq *ibv, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad);
struct ibv_srq *sim_create_srq_ex(struct ibv_context *ctx, struct ibv_srq_init_attr_ex *attr);
int sim_get_srq_num(struct ibv_srq *srq, uint32_t *num);

/* xrc.c */
struct ibv_xrcd *sim_open_xrcd(struct ibv_context *c, struct ibv_xrcd_init_attr *attr);
int sim_close_xrcd(struct ibv_xrcd *ibv);
void xrc_count(const struct sim_qp *qp, int by); /* its domain has one more or one fewer */

/* responder.c: what the target of a request does; all of it runs in the requester */
struct shm_rwqe *rq_next(struct shm_seg *seg, struct shm_rq *rq);
void rq_done(struct shm_rq *rq);
void qp_error(struct peer *p, struct shm_qp *q);
void qp_fatal(struct peer *p, struct shm_qp *q); /* after a CQ overrun */
void qp_event(struct peer *p, struct shm_qp *q, enum ibv_event_type type);

/* qp.c and qp_state.c */
struct ibv_qp *qp_make(const struct ibv_qp_init_attr_ex *attr);
struct ibv_qp *sim_create_qp_ex(struct ibv_context *ctx, struct ibv_qp_init_attr_ex *attr);
int qp_change(struct sim_qp *qp, struct ibv_qp_attr *attr, int mask);

/* qp_ex.c */
void qp_ex_hooks(struct sim_qp *qp);

/* send.c */
int sim_post_send(struct ibv_qp *ibv, struct ibv_send_wr *wr, struct ibv_send_wr **bad);
int send_reserve(struct sim_qp *qp, uint32_t head, struct sq_wqe **wqe);
bool send_op_allowed(struct ibv_qp *qp, enum ibv_wr_opcode op);
void send_commit(struct sim_qp *qp, uint32_t head);
void send_run(struct sim_qp *qp); /* with sq_lock held */

/* wire.c: execute one request; the answer for the requester */
enum wire_answer {
	WIRE_DONE,
	WIRE_SILENT,
	WIRE_RNR
};
enum wire_answer wire_request(struct sim_qp *qp, struct sq_wqe *wqe);

/* The data of a message and its address, for faults that use them later. */
struct kept {
	char *data;
	uint64_t bytes, remote_addr;
};

/*
 * kept.c: keep the data that the request sends; after a fetch, keep what it returned, and replace
 * it with older data
 */
void kept_take(struct sim_qp *qp, struct sq_wqe *wqe);
void kept_bring(struct sim_qp *qp, struct sq_wqe *wqe);

/* fetch.c: READs and atomics, whose data come back */
static inline bool fetches(int opcode)
{
	return opcode == IBV_WR_RDMA_READ || opcode == IBV_WR_ATOMIC_CMP_AND_SWP ||
	       opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
}
/*
 * For an adapter with a clock: the time when a READ or an atomic is done that starts at AT or later
 * and takes at least COST, with at most max_rd_atomic outstanding in its queue pair. Later ones
 * wait for it.
 */
uint64_t fetch_due(struct sim_qp *qp, uint64_t at, uint64_t cost);

/* pace.c: when a request may be executed on a link of known speed */
bool pace_wanted(struct sim_qp *qp);
void pace_request(struct sim_qp *qp, struct sq_wqe *w);

/* ud.c */
void ud_send(struct sim_qp *qp, struct sq_wqe *wqe);

/*
 * efa.c: SRD. What its requests may be besides what all may; one request; its address handles,
 * which the other end needs for READs and WRITEs.
 */
static inline bool is_srd(const struct sim_qp *qp)
{
	return qp->ex.qp_base.qp_type == IBV_QPT_DRIVER;
}
int srd_check(const struct sim_qp *qp, const struct sq_wqe *w, uint32_t flags,
	      uint32_t inline_bytes);
enum wire_answer srd_request(struct sim_qp *qp, struct sq_wqe *wqe);
void srd_ah_known(struct sim_ah *ah, bool known);
uint64_t srd_ops(const struct desc_dev *d);

/* engine.c: requests that must wait */
extern _Atomic int engine_waiting;
void engine_add(struct sim_qp *qp);    /* with sq_lock held */
void engine_remove(struct sim_qp *qp); /* without */
void engine_poll(void);

/* chan.c */
int chan_open_async(struct sim_context *ctx);
void chan_close_async(struct sim_context *ctx);

/* ah.c */
int ah_check(struct ibv_context *c, const struct ibv_ah_attr *a);
bool ah_reaches(const struct ibv_ah_attr *ah, const struct shm_port *from,
		const struct shm_port *to);

#endif
