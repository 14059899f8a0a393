/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cq: the completion queues of one end's sends, or of its receives: one for all QPs, or one each.
 *
 * They stand in a ring, so that a loop goes from one to the next without asking how many there are;
 * one is a ring of its own. The ring owns its CQs, which must outlive their QPs.
 */
#ifndef RDMARK_VERBS_CQ_H
#define RDMARK_VERBS_CQ_H

#include <infiniband/verbs.h>

#include "base/fault.h"
#include "verbs/hca.h"

struct cq_link {
	struct ibv_cq *cq;
	struct cq_link *next;
	struct ibv_cq_ex *cq_ex; /* the same CQ, for ibv_start_poll; NULL: it is not extended */
};

struct cq_ring {
	struct cq_link *link; /* COUNT of them */
	unsigned count;
	unsigned cqe;  /* entries of all together */
	bool extended; /* each has a cq_ex */
};

struct cq_wish {
	unsigned count;
	unsigned cqe;                     /* entries of each */
	struct ibv_comp_channel *channel; /* NULL: they are polled */
	unsigned vector;                  /* completion vector */
	bool extended;                    /* with cq_ex, if the device has that */
};

/*
 * Make them on H. Raises what the device refuses, but not that it has no extended ones. Those are
 * for one thread.
 */
int cq_ring_init(struct cq_ring *r, const struct hca *h, const struct cq_wish *w, struct fault *f);

/* Destroy all; safe on a zeroed or half-built object. */
void cq_ring_release(struct cq_ring *r);

/* The one of QP number QP. */
struct ibv_cq *cq_ring_of(const struct cq_ring *r, unsigned qp);

#endif
