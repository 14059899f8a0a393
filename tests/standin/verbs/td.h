/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* td - thread domains, and SIMVERBS_DOORBELLS=FILE: which threads share a doorbell */
#ifndef SIMVERBS_TD_H
#define SIMVERBS_TD_H

#include "sim.h"

/* Call it when the program opens a device, after the other wrappers; reads the environment. */
void td_ops(struct sim_context *ctx);
void td_wrap_qp(struct sim_qp *qp);

/* A PD is freed: its PD and thread domain, if it was a parent domain, have one user less. */
void td_leave(struct sim_pd *pd);

#endif
