// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Several QPs with one CQ: a ring that completes is posted again. */
#include "ideal.h"

struct lane {
	struct ibv_qp *qp;
	struct ibv_send_wr send[GROUP];
};

static ALWAYS_INLINE void post_ring(struct lane *l, const enum ibv_wr_opcode op, const bool wr,
				    unsigned list)
{
	struct ibv_send_wr *bad;

	if (wr)
		wr_group(ibv_qp_to_qp_ex(l->qp), l->send, op, false, list);
	else
		for (struct ibv_send_wr *next = l->send; next < l->send + GROUP; next += list)
			CHECK(!ibv_post_send(l->qp, next, &bad));
}

static ALWAYS_INLINE void run(struct end *e, struct lane *lanes, unsigned qps,
			      const enum ibv_wr_opcode op, const bool wr, unsigned list, uint64_t n)
{
	struct ibv_wc wc[BATCH];
	uint64_t posted = 0, done = 0;

	for (; posted < (uint64_t)qps * DEPTH && posted < n; posted += GROUP)
		post_ring(&lanes[posted / GROUP % qps], op, wr, list);
	while (done < n) {
		int got = ibv_poll_cq(e->scq, BATCH, wc);

		CHECK(got >= 0);
		for (int i = 0; i < got; i++, done += GROUP) {
			CHECK(wc[i].status == IBV_WC_SUCCESS);
			if (posted < n) {
				post_ring(&lanes[wc[i].wr_id], op, wr, list);
				posted += GROUP;
			}
		}
	}
}

void on_qps(struct end *e, unsigned qps, enum ibv_wr_opcode op, bool wr, unsigned list, uint64_t n)
{
	struct lane *lanes = calloc(qps, sizeof(*lanes));

	CHECK(lanes && (op == IBV_WR_SEND || op == IBV_WR_RDMA_WRITE));
	for (unsigned i = 0; i < qps; i++) {
		if (i)
			add_qp(e);
		prepare(e, op, false, list, GROUP);
		lanes[i].qp = e->qp;
		ibv_qp_to_qp_ex(e->qp)->wr_id = i;
		for (unsigned k = 0; k < GROUP; k++) {
			lanes[i].send[k] = e->send[k];
			lanes[i].send[k].wr_id = i;
			if (e->send[k].next)
				lanes[i].send[k].next = &lanes[i].send[k + 1];
		}
	}
	if (!wr)
		run(e, lanes, qps, op, false, list, n);
	else if (op == IBV_WR_SEND)
		run(e, lanes, qps, IBV_WR_SEND, true, list, n);
	else
		run(e, lanes, qps, IBV_WR_RDMA_WRITE, true, list, n);
	free(lanes);
}
