/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * steps - SIMVERBS_STEPS: instructions of the program from arrival to answer
 *
 * Wrappers around post and poll, installed only if configured, so other runs do not pay for them.
 */
#ifndef SIMVERBS_STEPS_H
#define SIMVERBS_STEPS_H

#include "sim.h"

/* Call it when the program opens a device; reads the environment. */
void steps_wrap_ops(struct ibv_context_ops *ops);
void steps_wrap_qp(struct sim_qp *qp);
void steps_wrap_cq(struct sim_cq *cq);

/*
 * The target is single-stepped from its last post to the place where it waits. A message that
 * arrives earlier would count these steps, too, so wait for that, within limits.
 */
void steps_hold(struct peer *p);

static inline void steps_deliver(struct peer *p)
{
	if (unlikely(p && atomic_load_explicit(&p->seg->unready, memory_order_relaxed)))
		steps_hold(p);
}

#endif
