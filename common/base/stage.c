// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/stage.h"

#include <stddef.h>
#include <string.h>

/* Every phase that a program names; tests/cli/phases.bats compares it with the sources. */
static const struct {
	const char *phase;
	enum stage stage;
} phases[] = {
	{"reading the command line", STAGE_COMMAND_LINE},
	{"choosing the message sizes", STAGE_COMMAND_LINE},
	{"preparing --auth", STAGE_COMMAND_LINE},
	{"looking for RDMA devices", STAGE_DEVICE},
	{"looking for GPUs", STAGE_DEVICE},
	{"looking for a GPU", STAGE_DEVICE},
	{"choosing the RDMA device", STAGE_DEVICE},
	{"choosing the device", STAGE_DEVICE},
	{"choosing the GID", STAGE_DEVICE},
	{"choosing the P_Key", STAGE_DEVICE},
	{"choosing the path to GPU memory", STAGE_DEVICE},
	{"opening the RDMA device", STAGE_DEVICE},
	{"opening the GPU", STAGE_DEVICE},
	{"allocating the buffer", STAGE_RESOURCES},
	{"allocating GPU memory", STAGE_RESOURCES},
	{"registering memory", STAGE_RESOURCES},
	{"registering GPU memory", STAGE_RESOURCES},
	{"copying from GPU memory", STAGE_RESOURCES},
	{"copying to GPU memory", STAGE_RESOURCES},
	{"creating the QPs", STAGE_RESOURCES},
	{"posting receives", STAGE_RESOURCES},
	{"pinning the thread", STAGE_RESOURCES},
	{"preparing rdma_cm", STAGE_RESOURCES},
	{"listening for the client", STAGE_CONNECT},
	{"waiting for the client", STAGE_CONNECT},
	{"connecting to the server", STAGE_CONNECT},
	{"authenticating the client", STAGE_CONNECT},
	{"authenticating to the server", STAGE_CONNECT},
	{"agreeing with the client", STAGE_AGREE},
	{"agreeing with the server", STAGE_AGREE},
	{"waiting for the client's next experiment", STAGE_AGREE},
	{"exchanging QP details", STAGE_CONNECT_QPS},
	{"connecting the QPs", STAGE_CONNECT_QPS},
	{"connecting the QPs through rdma_cm", STAGE_CONNECT_QPS},
	{"sending iWARP's first message", STAGE_CONNECT_QPS},
	{"joining the multicast group", STAGE_CONNECT_QPS},
	{"warming up", STAGE_MEASURE},
	{"measuring", STAGE_MEASURE},
	{"running the client's task", STAGE_MEASURE},
	{"waiting for the client's next round", STAGE_MEASURE},
	{"exchanging the results", STAGE_MEASURE},
	{"verifying the data", STAGE_MEASURE},
	{"taking leave", STAGE_MEASURE},
	{"judging the result", STAGE_JUDGE},
	{PHASE_THRESHOLDS, STAGE_JUDGE},
	{"opening the output files", STAGE_OUTPUT},
	{"opening the server's files", STAGE_OUTPUT},
	{"writing to stdout", STAGE_OUTPUT},
	{"writing the document", STAGE_OUTPUT},
	{"writing the results", STAGE_OUTPUT},
};

enum stage stage_of(const char *phase)
{
	for (size_t i = 0; i < sizeof(phases) / sizeof(phases[0]); i++)
		if (strcmp(phases[i].phase, phase) == 0)
			return phases[i].stage;
	return STAGE_OTHER;
}

const char *stage_word(enum stage stage)
{
	static const char *const words[STAGES] = {
		"other", "command_line", "device",  "resources", "connect",
		"agree", "connect_qps",  "measure", "judge",     "output",
	};

	return words[stage];
}
