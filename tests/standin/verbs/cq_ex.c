// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Extended completion queues: ibv_start_poll and what one can read. */
#include "null.h"
#include "fault.h"
#include "script.h"
#include "steps.h"
#include "trace.h"

#include <errno.h>
#include <string.h>
#include <time.h>

static inline struct sim_cq *ex(struct ibv_cq_ex *cq)
{
	return (struct sim_cq *)cq;
}

static int next_entry(struct sim_cq *cq)
{
	if (!cq_take(cq, &cq->cur))
		return ENOENT;
	cq->ex.wr_id = cq->cur.wc.wr_id;
	cq->ex.status = cq->cur.wc.status;
	if (cq->wc_flags & IBV_WC_EX_WITH_COMPLETION_TIMESTAMP)
		cq->cur.time_ns = sim_now_ns();
	return 0;
}

static int ex_start(struct ibv_cq_ex *cq, struct ibv_poll_cq_attr *attr)
{
	int err;

	if (attr->comp_mask)
		return EINVAL;
	if (!ex(cq)->single_threaded)
		spin_lock(&ex(cq)->ex_busy);
	err = next_entry(ex(cq));
	if (err && !ex(cq)->single_threaded)
		spin_unlock(&ex(cq)->ex_busy);
	return err;
}

static int ex_next(struct ibv_cq_ex *cq)
{
	return next_entry(ex(cq));
}

static void ex_end(struct ibv_cq_ex *cq)
{
	if (!ex(cq)->single_threaded)
		spin_unlock(&ex(cq)->ex_busy);
}

#define READER(type, name, field)              \
	static type name(struct ibv_cq_ex *cq) \
	{                                      \
		return ex(cq)->cur.field;      \
	}

READER(enum ibv_wc_opcode, read_opcode, wc.opcode)
READER(uint32_t, read_vendor_err, wc.vendor_err)
READER(uint32_t, read_byte_len, wc.byte_len)
READER(__be32, read_imm_data, wc.imm_data)
READER(uint32_t, read_qp_num, wc.qp_num)
READER(uint32_t, read_src_qp, wc.src_qp)
READER(unsigned int, read_wc_flags, wc.wc_flags)
READER(uint32_t, read_slid, wc.slid)
READER(uint8_t, read_sl, wc.sl)
READER(uint8_t, read_dlid_path_bits, wc.dlid_path_bits)
READER(uint64_t, read_ts, time_ns)

static uint64_t read_wallclock(struct ibv_cq_ex *cq)
{
	struct timespec ts;

	(void)cq;
	clock_gettime(CLOCK_REALTIME, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

/* As providers do: a field not asked for at creation has no reader. */
static void set_readers(struct ibv_cq_ex *cq, uint64_t f)
{
	cq->read_opcode = read_opcode;
	cq->read_vendor_err = read_vendor_err;
	cq->read_wc_flags = read_wc_flags;
	if (f & IBV_WC_EX_WITH_BYTE_LEN)
		cq->read_byte_len = read_byte_len;
	if (f & IBV_WC_EX_WITH_IMM)
		cq->read_imm_data = read_imm_data;
	if (f & IBV_WC_EX_WITH_QP_NUM)
		cq->read_qp_num = read_qp_num;
	if (f & IBV_WC_EX_WITH_SRC_QP)
		cq->read_src_qp = read_src_qp;
	if (f & IBV_WC_EX_WITH_SLID)
		cq->read_slid = read_slid;
	if (f & IBV_WC_EX_WITH_SL)
		cq->read_sl = read_sl;
	if (f & IBV_WC_EX_WITH_DLID_PATH_BITS)
		cq->read_dlid_path_bits = read_dlid_path_bits;
	if (f & IBV_WC_EX_WITH_COMPLETION_TIMESTAMP)
		cq->read_completion_ts = read_ts;
	if (f & IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK)
		cq->read_completion_wallclock_ns = read_wallclock;
}

struct ibv_cq_ex *sim_create_cq_ex(struct ibv_context *c, struct ibv_cq_init_attr_ex *attr)
{
	uint64_t known = IBV_WC_STANDARD_FLAGS | IBV_WC_EX_WITH_COMPLETION_TIMESTAMP |
			 IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK;
	uint32_t flags = attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_FLAGS ? attr->flags : 0;
	struct sim_cq *cq;

	if (fault_call(FAULT_ibv_create_cq_ex))
		return NULL;
	if (attr->wc_flags & ~known || (flags & IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN &&
					!(sim_ctx(c)->desc->features & DESC_CQ_OVERRUN))) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	cq = cq_make(c, attr);
	if (!cq)
		return NULL;
	cq->single_threaded = flags & IBV_CREATE_CQ_ATTR_SINGLE_THREADED;
	cq->ignore_overrun = flags & IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN;
	if (cq->shm)
		cq->shm->overrun = cq->ignore_overrun ? 2 : 0;
	set_readers(&cq->ex, attr->wc_flags);
	if (sim_conf()->null) {
		null_cq_hooks(cq);
		if (sim_conf()->scripted)
			null_scripted_cq_hooks(cq);
		else if (sim_conf()->timed)
			null_timed_cq_hooks(cq);
	} else {
		cq->ex.start_poll = ex_start;
		cq->ex.next_poll = ex_next;
		cq->ex.end_poll = ex_end;
	}
	fault_wrap_cq(cq);
	steps_wrap_cq(cq);
	trace_wrap_cq(cq);
	return &cq->ex;
}
