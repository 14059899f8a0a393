// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * iWARP's first message: the end that accepted the connection may send nothing before it has
 * received a message from the end that connected (RFC 5044, 7.1). A WRITE of 0 bytes is enough (RFC
 * 6581, 9). It needs no receive at the peer and touches no memory. (A READ of 0 bytes should be
 * answered, but soft-iWARP of Linux 6.1 does not always answer it.)
 */
#include "verbs/cm.h"
#include "verbs/vfault.h"

int cm_first_post(const struct qp_set *qps, uint64_t addr, uint32_t lkey, struct fault *f)
{
	struct ibv_sge no_bytes = {.addr = addr, .lkey = lkey};
	struct ibv_send_wr *bad, wr = {
					 .sg_list = &no_bytes,
					 .num_sge = 1,
					 .opcode = IBV_WR_RDMA_WRITE,
					 .send_flags = IBV_SEND_SIGNALED,
				 };

	fault_phase(f, "sending iWARP's first message");
	for (unsigned i = 0; i < qps->count; i++) {
		int rc = ibv_post_send(qps->qp[i], &wr, &bad);

		if (rc)
			return vfault_raise(f, rc, 0, "ibv_post_send(QP 0x%06x)",
					    qps->qp[i]->qp_num);
	}
	return 0;
}

int cm_first_poll(const struct qp_set *qps, unsigned *sent, struct fault *f)
{
	for (unsigned i = 0; i < qps->send.count; i++) {
		struct ibv_wc wc;
		int n = ibv_poll_cq(qps->send.link[i].cq, 1, &wc);

		if (n < 0)
			return vfault_raise(f, n, 0, "ibv_poll_cq");
		if (!n)
			continue;
		if (wc.status != IBV_WC_SUCCESS)
			return vfault_completion(f, wc.status, wc.vendor_err, wc.qp_num,
						 "WRITE of 0 bytes");
		++*sent;
	}
	return *sent == qps->count;
}
