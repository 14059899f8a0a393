/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * phase: what a program does when it fails, and the stage that this is of: how far it came. The
 * phase's words are for people; the stage's word is for other programs (rdmark-json(5)).
 */
#pragma once

#include <stdbool.h>

enum stage {
	STAGE_OTHER,        /* none of these: a program that starts others, reads files, … */
	STAGE_COMMAND_LINE, /* what was asked for */
	STAGE_DEVICE,       /* this host's devices: found, chosen, opened */
	STAGE_RESOURCES,    /* memory, threads and QPs of this host */
	STAGE_CONNECT,      /* the peer is reached, and is who it should be */
	STAGE_AGREE,        /* both ends agree on what to measure */
	STAGE_CONNECT_QPS,  /* the QPs are connected */
	STAGE_MEASURE,      /* messages go from end to end */
	STAGE_JUDGE,        /* what was measured is compared with what was expected */
	STAGE_OUTPUT,       /* results are written */
	STAGES
};

/* Is the phase part of the message? SILENT: it tells nothing that the statement does not. */
#define PHASE_SILENT false
#define PHASE_SPOKEN true

/* clang-format off */
#define PHASES(X) \
	X(NONE, OTHER, SILENT, "") \
	X(START_SERVER, OTHER, SPOKEN, "starting the server") \
	X(COMMAND_LINE, COMMAND_LINE, SILENT, "reading the command line") \
	X(SIZES, COMMAND_LINE, SILENT, "choosing the message sizes") \
	X(AUTH, COMMAND_LINE, SPOKEN, "preparing --auth") \
	X(FIND_DEVICES, DEVICE, SPOKEN, "looking for RDMA devices") \
	X(FIND_GPUS, DEVICE, SPOKEN, "looking for GPUs") \
	X(DEVICE, DEVICE, SPOKEN, "choosing the device") \
	X(GID, DEVICE, SPOKEN, "choosing the GID") \
	X(PKEY, DEVICE, SPOKEN, "choosing the P_Key") \
	X(GPU_ROUTE, DEVICE, SPOKEN, "choosing the path to GPU memory") \
	X(OPEN_DEVICE, DEVICE, SPOKEN, "opening the RDMA device") \
	X(OPEN_GPU, DEVICE, SPOKEN, "opening the GPU") \
	X(ALLOCATE, RESOURCES, SPOKEN, "allocating the buffer") \
	X(ALLOCATE_GPU, RESOURCES, SPOKEN, "allocating GPU memory") \
	X(REGISTER, RESOURCES, SPOKEN, "registering memory") \
	X(REGISTER_GPU, RESOURCES, SPOKEN, "registering GPU memory") \
	X(COPY_FROM_GPU, RESOURCES, SPOKEN, "copying from GPU memory") \
	X(COPY_TO_GPU, RESOURCES, SPOKEN, "copying to GPU memory") \
	X(CREATE_QPS, RESOURCES, SPOKEN, "creating the QPs") \
	X(POST_RECEIVES, RESOURCES, SPOKEN, "posting receives") \
	X(PIN, RESOURCES, SPOKEN, "pinning the thread") \
	X(RDMA_CM, RESOURCES, SPOKEN, "preparing rdma_cm") \
	X(LISTEN, CONNECT, SPOKEN, "listening for the client") \
	X(AWAIT_CLIENT, CONNECT, SPOKEN, "waiting for the client") \
	X(CONNECT, CONNECT, SPOKEN, "connecting to the server") \
	X(PROVE_CLIENT, CONNECT, SPOKEN, "authenticating the client") \
	X(PROVE_TO_SERVER, CONNECT, SPOKEN, "authenticating to the server") \
	X(AGREE_CLIENT, AGREE, SPOKEN, "agreeing with the client") \
	X(AGREE_SERVER, AGREE, SPOKEN, "agreeing with the server") \
	X(EXCHANGE_QPS, AGREE, SPOKEN, "exchanging QP details") \
	X(CONNECT_QPS, CONNECT_QPS, SPOKEN, "connecting the QPs") \
	X(CONNECT_CM, CONNECT_QPS, SPOKEN, "connecting the QPs through rdma_cm") \
	X(FIRST_MESSAGE, CONNECT_QPS, SPOKEN, "sending iWARP's first message") \
	X(JOIN, CONNECT_QPS, SPOKEN, "joining the multicast group") \
	X(WARM_UP, MEASURE, SPOKEN, "warming up") \
	X(MEASURE, MEASURE, SPOKEN, "measuring") \
	X(TASK, MEASURE, SPOKEN, "running the client's task") \
	X(AWAIT_ROUND, MEASURE, SPOKEN, "waiting for the client's next round") \
	X(RESULTS, MEASURE, SPOKEN, "exchanging the results") \
	X(VERIFY, MEASURE, SPOKEN, "verifying the data") \
	X(LEAVE, MEASURE, SPOKEN, "taking leave") \
	X(JUDGE, JUDGE, SILENT, "judging the results") \
	X(OPEN_OUTPUT, OUTPUT, SILENT, "opening the output files") \
	X(WRITE, OUTPUT, SILENT, "writing the results")
/* clang-format on */

#define PHASE_SYMBOL(symbol, ...) PHASE_##symbol,
enum phase {
	PHASES(PHASE_SYMBOL) PHASE_COUNT
};

struct phase_row {
	const char *words; /* "judging the results"; "" of PHASE_NONE */
	enum stage stage;
	bool spoken; /* before a fault */
};
const struct phase_row *phase_row(enum phase phase);

/* The phase with these WORDS; PHASE_NONE if there is none, as of a peer of another version. */
enum phase phase_from(const char *words);

/* Its word: "command_line", "device", … Static storage. */
const char *stage_word(enum stage stage);
