/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * wire - a request in execution, shared by the files that build it and execute it; not zeroed as a
 * whole
 */
#ifndef SIMVERBS_WIRE_H
#define SIMVERBS_WIRE_H

#include "sim.h"

struct wire_req {
	struct sim_qp *qp;
	struct sq_wqe *wqe;
	struct peer *p;
	struct shm_qp *q;
	int nlocal, nremote, nheld;
	uint64_t bytes;
	struct iovec local[SIM_MAX_SGE + 2], remote[SIM_MAX_SGE + 2];
	struct shm_mr *held[2 * SIM_MAX_SGE + 4];
	union {
		struct shm_rwqe rwqe;
		char rwqe_space[sizeof(struct shm_rwqe) + SIM_MAX_SGE * sizeof(struct ibv_sge)];
	};
};

/* Find this side's memory; false, with a status in the request, if it may not be accessed. */
bool wire_gather(struct wire_req *r, uint32_t access);
void wire_release(struct wire_req *r);

/*
 * Find the target's memory of an RDMA request, in r->remote. Returns the target's answer: an error
 * if the queue pair does not allow such requests, or if the memory may not be accessed.
 */
enum ibv_wc_status wire_target(struct wire_req *r, uint32_t access);
int wire_copy(struct wire_req *r, bool write, bool ordered);

/*
 * End the request: with the requester's status; refused by the target; with the result of a copy.
 */
enum wire_answer wire_done(struct wire_req *r, enum ibv_wc_status st, uint32_t vendor);
enum wire_answer wire_nak(struct wire_req *r, enum ibv_wc_status st);
enum wire_answer wire_copied(struct wire_req *r, int err);

/* responder.c: the SRQ that the message is for; SHM_NONE: none, or none that it may use */
uint16_t wire_srq(const struct wire_req *r);

/* fetch.c */
enum wire_answer fetch_read(struct wire_req *r);
enum wire_answer fetch_atomic(struct wire_req *r);

/* responder.c: take the next receive into r->rwqe; false if there is none. */
bool recv_take(struct wire_req *r);
/* Set r->remote to its memory. Returns a status. */
enum ibv_wc_status recv_scatter(struct wire_req *r, uint64_t bytes);
void recv_complete(struct wire_req *r, struct shm_cqe *e);

/* kept.c: replace the data of the request with the kept data */
void kept_use(struct wire_req *r);

#endif
