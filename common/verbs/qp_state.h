/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * qp_state: moves QPs from one state to the next, with the attributes of each transport. Used by
 * qp.c.
 */
#pragma once

#include "verbs/qp.h"

#define QP_PSN_MASK 0xffffffu

/* "INIT", "RTR" or "RTS". */
const char *qp_state_name(enum ibv_qp_state state);

/*
 * ibv_modify_qp() that raises the fault with a fix. Not for attributes that depend on the path to
 * the peer.
 */
int qp_modify(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask, struct fault *f);

/* Move QP I of S from RESET to INIT, with the access rights and the P_Key of A. */
int qp_state_init(struct qp_set *s, unsigned i, const struct qp_attr *a, struct fault *f);
