/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * null_requests - the ibv_wr_* calls that create a request, for both kinds of null mode. A file
 * that includes it defines request(), which the compiler inlines into each of them.
 */

static void wr_rdma_read(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t addr)
{
	(void)rkey, (void)addr;
	request(qp, IBV_WC_RDMA_READ);
}

static void wr_rdma_write(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t addr)
{
	(void)rkey, (void)addr;
	request(qp, IBV_WC_RDMA_WRITE);
}

static void wr_rdma_write_imm(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t addr, __be32 imm)
{
	(void)rkey, (void)addr, (void)imm;
	request(qp, IBV_WC_RDMA_WRITE);
}

static void wr_send(struct ibv_qp_ex *qp)
{
	request(qp, IBV_WC_SEND);
}

static void wr_send_imm(struct ibv_qp_ex *qp, __be32 imm)
{
	(void)imm;
	request(qp, IBV_WC_SEND);
}

static void wr_cmp_swp(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t addr, uint64_t compare,
		       uint64_t swap)
{
	(void)rkey, (void)addr, (void)compare, (void)swap;
	request(qp, IBV_WC_COMP_SWAP);
}

static void wr_fetch_add(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t addr, uint64_t add)
{
	(void)rkey, (void)addr, (void)add;
	request(qp, IBV_WC_FETCH_ADD);
}

static void set_requests(struct ibv_qp_ex *qp)
{
	qp->wr_send = wr_send;
	qp->wr_send_imm = wr_send_imm;
	qp->wr_rdma_write = wr_rdma_write;
	qp->wr_rdma_write_imm = wr_rdma_write_imm;
	qp->wr_rdma_read = wr_rdma_read;
	qp->wr_atomic_cmp_swp = wr_cmp_swp;
	qp->wr_atomic_fetch_add = wr_fetch_add;
}
