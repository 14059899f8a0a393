/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* qp_state: QPs from one state to the next, each transport with its attributes; used by qp.c. */
#ifndef RDMARK_VERBS_QP_STATE_H
#define RDMARK_VERBS_QP_STATE_H

#include "verbs/qp.h"

#define QP_PSN_MASK 0xffffffu

/* QP I of S, just made, to INIT, with the rights and the P_Key of W. */
int qp_state_init(struct qp_set *s, unsigned i, const struct qp_wish *w, struct fault *f);

#endif
