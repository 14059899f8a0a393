/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * staged: transfers from GPU memory to GPU memory through host memory, to measure what a transfer
 * without GPUDirect costs. One or both of the GPU copies may be absent: the data of that end are in
 * host memory.
 *
 * Messages are cut into chunks, numbered through the run; chunk k uses slot k % slots. The source
 * copies a chunk from the GPU into its slot, then posts an RDMA WRITE with immediate (the low 32
 * bits of k) to the sink; the slot is free again when the WRITE completes. At the sink the receive
 * completion reports the chunk; the sink copies it from its slot to the GPU. When the copy is done
 * the chunk is in place and its slot free, and the sink reports that with a small RDMA WRITE of the
 * number of chunks in place, the credit. The source polls the credit in its host memory, and never
 * has more than `slots` chunks written without a credit.
 *
 * An end without a stream has no slots: the source's NIC reads the chunk from its place in `data`,
 * or the source writes directly to the sink's data.
 *
 * The source measures from the first submitted copy to the credit of the last message, so the
 * result needs no common clock. The sink measures from the first message in place to the last,
 * without the first. A message counts when it is in place.
 *
 * Both ends poll stream, CQs and credit in one loop; nothing blocks. QP 0 is used. Its queues and
 * CQs must be empty at the start, and are empty again after a run that returned 0 and was not
 * aborted. After any other end copies may be in progress and requests queued: close the stream, and
 * move the QP to the error state before freeing the memory.
 */
#pragma once

#include "memory/gpu.h"
#include "loop/recv.h"
#include "loop/round.h"

#define STAGED_SLOTS_MAX 64

/*
 * One end of a staged transfer; size, chunk_bytes and slots are equal at both ends. The caller owns
 * the memory. It is registered host memory, except `data`, which is GPU memory if there is a
 * stream.
 */
struct staged {
	struct round *round;       /* size_bytes is the message size; target counts messages */
	uint64_t data;             /* source or destination of the messages, the same for all */
	struct gpu_stream *stream; /* with `slots` events. NULL: no copy at this end */
	uint8_t *bounce;           /* slots * chunk_bytes, if there is a stream */
	uint32_t local_key;        /* source: lkey of bounce, or of data without a stream */
	uint64_t chunk_bytes;      /* maximum size of a piece of a message; below 2 GiB */
	unsigned slots;            /* 1 … STAGED_SLOTS_MAX */
	/*
	 * Source: the sink's slots at a distance of `stride`; stride 0: the sink's data, with a
	 * place for every chunk. Sink: address and key of the source's credits.
	 */
	struct round_slice remote;
	/*
	 * Source: 8 aligned bytes that the sink writes. staged_send() zeroes them, so the sink must
	 * not write at that time. The MR must not have relaxed ordering, or an old count could
	 * overtake a new one.
	 */
	volatile uint64_t *credits;
	uint64_t *credit_out; /* sink: `slots` words to write credits from */
	uint32_t credit_key;  /* their lkey */
};

/*
 * Run the source up to the control's target, or to the end of the current message when the target
 * is lowered. The results are in the round: the messages in place, and the peak unless no_peak.
 * Returns 0, or -1 with the fault raised.
 */
int staged_send(struct staged *s);

/*
 * Run the sink until the source's messages (the control's target) are in place. At least slots +
 * batch - 1 receives must be posted (otherwise FAULT_LOCAL), because a WRITE that finds none waits
 * long. Returns 0, or -1 with the fault raised.
 */
int staged_receive(struct staged *s);
