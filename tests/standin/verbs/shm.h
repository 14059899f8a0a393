/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * shm - what the processes of the simulated fabric see of each other
 *
 * Each process owns one slot of the fabric and one segment, a sparse file that it creates and every
 * peer maps. A segment has everything that a requester must access to act as the wire: queue pairs,
 * receive rings, completion rings and the table of memory regions. Send queues are private to their
 * owner.
 *
 * Hold a shm_lock only for a bounded piece of work; a lock whose holder died is taken over. Never
 * hold two queue pair locks at once.
 */
#ifndef SIMVERBS_SHM_H
#define SIMVERBS_SHM_H

#include <infiniband/verbs.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum {
	SHM_SLOTS = 255,
	SHM_QP_BITS = 14,
	SHM_QPS = 1 << SHM_QP_BITS,
	SHM_CQS = 1 << 14,
	SHM_SRQS = 1 << 12,
	SHM_MRS = 1 << 16,
	SHM_DEVS = 16,
	SHM_PORTS = 2,
	SHM_GIDS = 256,
	SHM_AHS = 256,
	SHM_MCASTS = 56,
	SHM_NONE = UINT16_MAX,
};

struct shm_lock {
	_Atomic uint32_t owner; /* pid, 0 = free */
};

struct shm_cqe {
	struct ibv_wc wc;
	uint32_t sq_end; /* send queue slots free up to here */
	uint32_t is_send;
	uint64_t time_ns;
};

struct shm_cq {
	struct shm_lock lock;  /* producers and arming */
	_Atomic uint32_t tail; /* producers */
	uint32_t size;         /* entries allowed */
	uint32_t mask;
	uint64_t ring; /* offset of struct shm_cqe[] */
	uint32_t pipe; /* completion channel, 0 = none */
	uint32_t async_pipe;
	uint32_t gen;
	uint32_t armed; /* 0 no, 1 solicited, 2 any */
	uint32_t overrun;
	_Alignas(64) _Atomic uint32_t head; /* consumer */
};

struct shm_rwqe {
	uint64_t wr_id;
	uint32_t num_sge;
	uint32_t pad;
	struct ibv_sge sge[];
};

/* A receive ring: its owner fills it, and any sender consumes from it. */
struct shm_rq {
	_Atomic uint32_t head; /* posted */
	_Atomic uint32_t tail; /* consumed */
	uint32_t size, mask, max_sge, stride;
	uint64_t ring;
};

struct shm_srq {
	uint16_t cq; /* of an XRC SRQ, else SHM_NONE */
	uint32_t xrcd;
	struct shm_lock lock;
	uint32_t gen;
	uint32_t pd;
	uint32_t limit;
	uint32_t async_pipe;
	struct shm_rq rq;
};

struct shm_qp {
	struct shm_lock lock;
	_Atomic uint32_t state; /* enum ibv_qp_state */
	uint32_t qpn;           /* 0 = entry not in use */
	uint32_t type, dev, port, pd, access, pkey;
	uint32_t qkey, dest_qpn, rq_psn, path_mtu, max_dest_rd;
	uint32_t min_rnr_timer;
	uint32_t async_pipe;
	uint16_t send_cq, recv_cq, srq, pad;
	uint32_t xrcd; /* of an XRC_RECV QP */
	uint8_t mgid[16]; /* the group that it is attached to */
	struct shm_rq rq;
};

struct shm_mr {
	_Atomic uint32_t users; /* transfers in flight */
	_Atomic uint32_t key;   /* low byte of the lkey | 1 << 31; 0 = free */
	uint32_t pd, access;
	uint64_t iova, length, host; /* host = owner's address of iova */
	/* of GPU memory: the rate of the owner's adapter for reads and writes, 0: no limit */
	uint32_t gpu_read_mbps, gpu_write_mbps;
	uint32_t gpu_fall_mbps; /* both, once gpu_fall_bytes were read or written so */
	uint64_t gpu_fall_bytes;
	_Atomic uint64_t gpu_bytes;
	bool gpu_blocked; /* the adapter cannot access it */
};

struct shm_gid {
	uint8_t raw[16];
	uint32_t type; /* enum ibv_gid_type + 1, 0 = empty */
};

struct shm_port {
	uint32_t link, lid, lmc, ngids, mtu;
	_Atomic uint32_t up;
	struct shm_gid gid[SHM_GIDS];
};

/* Pause in a spin loop, for the other hardware thread. */
#if defined(__x86_64__) || defined(__i386__)
#define cpu_relax() __builtin_ia32_pause()
#elif defined(__aarch64__)
#define cpu_relax() __asm__ volatile("yield")
#else
#define cpu_relax() ((void)0)
#endif

/* A process: its pid and start time (from /proc), because pids are reused. */
struct shm_id {
	uint32_t pid;
	uint64_t start;
};

/* An address handle of an EFA device: its owner knows this GID. */
struct shm_ah {
	uint8_t gid[16];
	_Atomic uint32_t used;
};

struct shm_seg {
	uint32_t magic, layout;
	struct shm_id id;
	uint32_t slot;
	uint64_t probe;              /* owner's address of this field */
	_Atomic uint32_t dead;       /* the owner has exited or is exiting */
	struct shm_lock atomic_lock; /* serialises remote atomics */
	_Atomic uint32_t gpu_paced;  /* some mr has a gpu_*_gbps */
	_Atomic uint32_t unready;    /* see steps.h */
	_Atomic uint64_t written;    /* completed WRITEs without immediate */
	_Atomic uint32_t mcast[SHM_MCASTS]; /* attached QPs: index + 1, 0 = free */
	struct shm_ah ah[SHM_AHS];
	struct shm_port port[SHM_DEVS][SHM_PORTS];
	struct shm_qp qp[SHM_QPS];
	struct shm_cq cq[SHM_CQS];
	struct shm_srq srq[SHM_SRQS];
	struct shm_mr mr[SHM_MRS];
};

/* The process's own segment, created at the first call. NULL and errno on failure. */
struct shm_seg *shm_self(void);

/* True if the owner is exiting, or was killed and another process may have its slot. */
bool shm_gone(const struct shm_seg *seg);

/* Map the segment of the process in a slot; NULL when there is none alive. */
struct shm_seg *shm_attach(unsigned int slot);
void shm_detach(struct shm_seg *seg);

/* Allocate zeroed space in the own segment. Returns its offset, or 0 if it is full. */
uint64_t shm_alloc(size_t bytes);
void shm_free(uint64_t off, size_t bytes);

static inline void *shm_at(struct shm_seg *seg, uint64_t off)
{
	return (char *)seg + off;
}

/* "DIR/PID.START.KIND<serial>" of a process's file; returns buf. */
char *shm_path(char *buf, size_t len, const struct shm_id *id, const char *kind, uint32_t serial);

/* True while the process that made the segment runs. */
bool shm_alive(const struct shm_seg *seg);

void shm_lock_slow(struct shm_lock *l, uint32_t me);
extern const uint32_t *const shm_my_pid;

static inline void shm_lock(struct shm_lock *l)
{
	uint32_t free_ = 0;

	if (!atomic_compare_exchange_strong_explicit(&l->owner, &free_, *shm_my_pid,
						     memory_order_acquire, memory_order_relaxed))
		shm_lock_slow(l, *shm_my_pid);
}

static inline void shm_unlock(struct shm_lock *l)
{
	atomic_store_explicit(&l->owner, 0, memory_order_release);
}

#endif
