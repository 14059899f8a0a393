/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cq: the completion queues for the sends, or the receives, of one end: one for all QPs, or one for
 * each.
 *
 * They are linked in a ring, so a loop goes from one to the next without knowing their number; a
 * single CQ is a ring, too. The ring owns the CQs. They must be destroyed after their QPs.
 */
#pragma once

#include <infiniband/verbs.h>

#include "base/fault.h"
#include "verbs/hca.h"

struct cq_link {
	struct ibv_cq *cq;
	struct cq_link *next;
	struct ibv_cq_ex *cq_ex; /* the same CQ, for ibv_start_poll; NULL: it is not extended */
};

struct cq_ring {
	struct cq_link *link; /* an array of `count` */
	unsigned count;
	unsigned cqe;  /* entries of all CQs together */
	bool extended; /* all have a cq_ex */
};

struct cq_attr {
	unsigned count;
	unsigned cqe;                     /* entries of each */
	struct ibv_comp_channel *channel; /* NULL: they are polled */
	unsigned vector;                  /* completion vector */
	bool extended;                    /* as extended CQs, if the device supports that */
};

/*
 * Create the CQs on H. Returns 0, or -1 with the fault raised. A device without extended CQs is no
 * fault. Extended CQs are for a single thread.
 */
int cq_ring_init(struct cq_ring *r, const struct hca *h, const struct cq_attr *a, struct fault *f);

/* Destroy the CQs; safe on a zeroed or half-built object. */
void cq_ring_release(struct cq_ring *r);

/* The CQ of QP number QP. */
struct ibv_cq *cq_ring_of(const struct cq_ring *r, unsigned qp);
