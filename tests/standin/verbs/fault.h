/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * fault - injected faults, from SIMVERBS_FAIL and SIMVERBS_FAULT
 *
 * Counters are per process.  Without faults the hooks in the data path cost
 * nothing: their callers test fault_on, and the wrappers of post and poll are
 * installed only if a fault names them.
 */
#ifndef SIMVERBS_FAULT_H
#define SIMVERBS_FAULT_H

#include "sim.h"

#define FAULT_VERBS(X)                                                                             \
	X(ibv_get_device_list)                                                                     \
	X(ibv_open_device)                                                                         \
	X(ibv_close_device)                                                                        \
	X(ibv_query_device)                                                                        \
	X(ibv_query_device_ex)                                                                     \
	X(ibv_query_port)                                                                          \
	X(ibv_query_gid) X(ibv_query_gid_ex) X(ibv_query_gid_table) X(ibv_query_pkey) X(           \
		ibv_alloc_pd) X(ibv_dealloc_pd) X(ibv_reg_mr) X(ibv_reg_dmabuf_mr) X(ibv_rereg_mr) \
		X(ibv_dereg_mr) X(ibv_create_comp_channel) X(ibv_destroy_comp_channel) X(          \
			ibv_create_cq) X(ibv_create_cq_ex) X(ibv_resize_cq) X(ibv_destroy_cq)      \
			X(ibv_get_cq_event) X(ibv_req_notify_cq) X(ibv_poll_cq) X(ibv_create_srq)  \
				X(ibv_modify_srq) X(ibv_query_srq) X(ibv_destroy_srq)              \
					X(ibv_post_srq_recv) X(ibv_create_qp) X(ibv_create_qp_ex)  \
						X(ibv_modify_qp) X(ibv_query_qp) X(ibv_destroy_qp) \
							X(ibv_post_send) X(ibv_post_recv) X(       \
								ibv_wr_complete) X(ibv_start_poll) \
								X(ibv_create_ah) X(ibv_destroy_ah) X(ibv_attach_mcast) \
									X(ibv_get_async_event)     \
										X(ibv_query_ece) X(ibv_open_xrcd) X(ibv_alloc_td) X(ibv_alloc_parent_domain)

#define FAULT_ENUM(v) FAULT_##v,
enum fault_verb {
	FAULT_VERBS(FAULT_ENUM) FAULT_NVERBS
};

extern bool fault_on; /* any fault is configured */

/* Count a call. Returns the errno that it must fail with (also set in errno), or 0. */
int fault_call_slow(enum fault_verb v);

static inline int fault_call(enum fault_verb v)
{
	return unlikely(fault_on) ? fault_call_slow(v) : 0;
}

/* True when SIMVERBS_FAIL names the verb. */
bool fault_names(enum fault_verb v);

void fault_init(void);

/* Install counting wrappers in the data path, if configured. */
void fault_wrap_ops(struct ibv_context_ops *ops);
void fault_wrap_qp(struct sim_qp *qp);
void fault_wrap_cq(struct sim_cq *cq);

/* What happens to a message before it is sent; call it if fault_on. */
enum fault_fate {
	FATE_NONE,
	FATE_LOSE,
	FATE_DUP,
	FATE_CORRUPT,
	FATE_HOLD, /* to be sent with the next one */
	FATE_HELD  /* this is the next one */
};
enum fault_fate fault_message(struct sim_qp *qp, struct sq_wqe *wqe);

/* May change a polled completion; call it if fault_on. */
void fault_completion(struct sim_cq *cq, struct shm_cqe *cqe);

/* errno when a registration of this size is denied, else 0. */
int fault_reg(size_t length);

#endif
