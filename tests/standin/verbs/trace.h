/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * trace - SIMVERBS_TRACE=FILE: when the program posted and completed its sends
 *
 * Wrappers around posts and polls, installed only if configured.
 */
#ifndef SIMVERBS_TRACE_H
#define SIMVERBS_TRACE_H

#include "sim.h"

/* Call it when the program opens a device; reads the environment. */
void trace_wrap_ops(struct ibv_context_ops *ops);
void trace_wrap_qp(struct sim_qp *qp);
void trace_wrap_cq(struct sim_cq *cq);

#endif
