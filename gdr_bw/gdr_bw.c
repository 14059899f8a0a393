// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * gdr_bw: does GPUDirect RDMA work here, is it as fast as host memory, and if not, why?
 *
 * The same WRITEs run between host and GPU memory of both ends, in both directions, window by
 * window in turn, so that what disturbs one kind disturbs all; also transfers staged through host
 * memory, which is what there is without GPUDirect. Posted, polled and timed: as in write_bw,
 * and loop/staged.h. The data of every cell are compared once, outside the timed part.
 *
 * rounds.c is the measuring; cell.c which cells there are; schedule.c their order; image.c the
 * data; verdict.c the judgement; show.c the output.
 */
#include "gdr.h"
#include "session/session.h"

const struct test gdr_bw = {
	.name = "gdr_bw",
	.summary = "bandwidth of GPUDirect RDMA compared with host memory",
	.title = "RDMA_Write BW Test",
	.defaults = {EXPERIMENT_DEFAULTS, .size_bytes = 65536, .iters = 5000, .tx_depth = 128,
		     .plain = 0, .windows = 7, .staged_chunk_bytes = 2 << 20, .staged_slots = 8},
	.receives = RECEIVES_BOTH,
	.operation = {.name = "RDMA WRITE",
		      .opcode = IBV_WR_RDMA_WRITE,
		      .another = IBV_WR_RDMA_WRITE_WITH_IMM,
		      .peer_allows = IBV_ACCESS_REMOTE_WRITE},
	.lead = gdr_lead,
	.follow = gdr_follow,
	.follows = gdr_follows,
	.kinds = GDR_KINDS,
	.open = gdr_open,
	.close = gdr_close,
	.schedule = gdr_schedule,
	.judge = gdr_judge,
	.task = gdr_task,
	.csv_columns = GDR_CSV_COLUMNS,
};

SESSION_MAIN(gdr_bw)
