/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * staged: from GPU memory to GPU memory by way of host memory: what a transfer without GPUDirect
 * costs. One or both of the two GPU copies may be absent: that end's data are in host memory.
 *
 * Messages are cut into chunks, numbered through the run; chunk k has slot k % slots. Source: copy
 * the chunk from the GPU into its slot there; when that is done, RDMA WRITE with immediate (the
 * low 32 bits of k) to the sink; the source's slot is free again when the write has completed.
 * Sink: the receive completion says that the chunk is there; copy it from its slot to the GPU; when
 * that is done the chunk is in place and its slot free: the sink says so with a small RDMA WRITE of
 * the number of chunks in place, the credit, which the source polls in its host memory and below
 * which it keeps its writes: never more than `slots` chunks written and not credited.
 *
 * An end without a stream has no slots: the source's NIC reads the chunk from its place in `data`,
 * or the sink's data themselves are written. `remote` covers both: see staged_target().
 *
 * With `sync` every step waits for the one before it, here and there: the next chunk's copy begins
 * when the credit of the last has come. One slot without `sync` still overlaps a little: the source
 * copies a chunk while the sink copies the one before it.
 *
 * Timed: the source from the first copy submitted to the credit of the last message, so its figure
 * needs no common clock; the sink from the first message in place to the last, without the first.
 * A message counts once it is in place.
 *
 * Both ends poll: stream, CQs and credit in one loop, nothing blocks. QP 0 is used; its queues and
 * CQs must be empty at the start and are so again after a run that returned 0 and was not told to
 * quit. After any other end copies may be under way and requests queued: close the stream and take
 * the QP to the error state before the memory goes.
 */
#ifndef RDMARK_LOOP_STAGED_H
#define RDMARK_LOOP_STAGED_H

#include "host/gpu.h"
#include "loop/recv.h"
#include "loop/round.h"

#define STAGED_SLOTS_MAX 64

/* One end of a staged transfer; size, chunk_bytes, slots alike on both. The memory is the caller's;
 * all of it is registered host memory but `data`, which is the GPU's where there is a stream. */
struct staged {
	struct round *round; /* size_bytes is the message; target counts messages */
	uint64_t data; /* where the messages come from or go to: every one to the same place */
	struct gpu_stream *stream; /* with `slots` events. NULL: no copy on this end */
	uint8_t *bounce;           /* slots * chunk_bytes here, if there is a stream */
	uint32_t local_key;        /* source: lkey of bounce; of data without a stream */
	uint64_t chunk_bytes;      /* at most, below 2 GiB; a message is cut into such pieces */
	unsigned slots;            /* 1 … STAGED_SLOTS_MAX */
	bool sync;                 /* source: one chunk at a time, each step after the other */
	struct round_slice remote; /* source: the sink's staged_target(); sink: addr and key
				      of the source's credits */
	/*
	 * Source: 8 bytes, aligned, that the sink writes; staged_send() zeroes them, so the sink
	 * may not be writing. Without relaxed ordering, or an old count may overtake a new one.
	 */
	volatile uint64_t *credits;
	uint64_t *credit_out; /* sink: `slots` words to write credits from */
	uint32_t credit_key;  /* their lkey */
};

/*
 * What the sink S tells the source as `remote`: its slots, `stride` from each other, or with
 * stride 0 its data, where every chunk has its place. RKEY is of the bounce buffer, or of data.
 */
struct round_slice staged_target(const struct staged *s, uint32_t rkey);

/*
 * Run the source until the control's target, or to the end of the message under way when that is
 * lowered; results in the round: the messages that are in place, and the peak unless no_peak.
 * Returns 0 or -1 with the fault raised.
 */
int staged_send(struct staged *s);

/*
 * Run the sink until the source's messages (control target) are in place. Receives must be posted,
 * at least slots + batch - 1 (raises FAULT_LOCAL if not): a write that finds none waits long.
 */
int staged_receive(struct staged *s);

#endif
