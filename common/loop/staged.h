/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * staged: transfers from GPU memory to GPU memory through host memory, to measure what a transfer
 * without GPUDirect reaches. At an end without a GPU the data are in its slots, and are not copied.
 *
 * Messages are chunks, numbered through the run; chunk k uses slot k % STAGED_SLOTS at both ends.
 * The source copies a chunk from the GPU into its slot, and WRITEs it into the sink's; a second,
 * small WRITE on the same QP tells the sink how many chunks have come. The sink copies them to the
 * GPU, and tells the source in the same way how many are in place: their slots are free then, at
 * both ends. So no end needs a receive, and a WRITE that is still in a send queue at that time has
 * been executed.
 *
 * The source measures from the first submitted copy until it hears that the last chunk is in place,
 * so the result needs no common clock. The sink measures from the first chunk in place to the last,
 * without the first. A message counts when it is in place.
 *
 * Both ends poll stream, CQ and count in one loop; nothing blocks. QP 0 is used. Its send queue and
 * CQ must be empty at the start, and are empty again after a run that returned 0 and was not
 * aborted. After any other end copies may be in progress and requests queued: close the stream, and
 * move the QP to the error state before freeing the memory.
 */
#pragma once

#include "memory/gpu.h"
#include "loop/round.h"
#include "verbs/mem.h"

/* Enough for the pipeline at 400 Gb/s: a slot filled, sent, emptied, and as many on their way. */
#define STAGED_CHUNK_BYTES (UINT64_C(1) << 20)
#define STAGED_SLOTS       GPU_STREAM_SLOTS
#define STAGED_WORDS       (1 + STAGED_SLOTS)

/* One end of a staged transfer. The caller owns the memory. */
struct staged {
	struct round *round;       /* size_bytes is that of a chunk; target counts chunks */
	struct gpu_stream *stream; /* NULL: no copy at this end */
	uint64_t data;             /* GPU memory of a chunk: of every one */
	const struct mem *slots;   /* host memory of STAGED_SLOTS chunks */
	/*
	 * STAGED_WORDS of host memory: the first one is 0 at the start, and the other end writes
	 * it; the others are for this end's counts. Their MR must not have relaxed ordering, or a
	 * count could overtake what it counts.
	 */
	const struct mem *words;
	struct round_slice slots_there, words_there; /* the other end's */
};

/*
 * Run the source up to the control's target, or until it is lowered. The results are in the round:
 * the messages in place; no peak. Returns 0, or -1 with the fault raised.
 */
int staged_send(struct staged *s);

/* Run the sink until the source's messages (the control's `expected`) are in place. */
int staged_receive(struct staged *s);
