/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * end: what one end of a run is: host, device, port, addresses, placement. Each end tells the other
 * its own, so that both can show both.
 */
#ifndef RDMARK_WIRE_END_H
#define RDMARK_WIRE_END_H

#include <jansson.h>
#include <stdint.h>

#include "base/fault.h"

struct end {
	char host[80];
	char device[64];
	char device_chosen[160]; /* why */
	int64_t port;
	char link_layer[16];
	double rate_gbps;
	int64_t gid_index; /* -1: none used */
	char gid[64];
	char gid_type[32];
	char gid_chosen[64]; /* why */
	int64_t lid;
	int64_t pkey_index;
	char pkey[8]; /* "0xffff" */
	int64_t active_mtu_bytes;
	int64_t inline_bytes;
	char netdev[16];
	char pci[16];
	char pcie_link[96];
	int64_t numa_node;   /* of the NIC, -1: unknown */
	int64_t thread_node; /* where the thread and its memory are, -1: not pinned */
	char cpus[128];
	char pinned[160];                           /* why there */
	int64_t memory_pages, memory_pages_on_node; /* looked at by move_pages(2); 0: not known */
	char memory[16];                            /* "host" or "gpu" */
	char gpu[128]; /* "GPU 0 (NVIDIA H100, 0000:17:00.0)"; "" if none is used */
	char gpu_uuid[48];
	char gpu_path[16];     /* "dma-buf", "peermem"; "" if none */
	char gpu_chosen[512];  /* why that route, and why not the ones before it */
	char gpu_distance[16]; /* "PIX" */
	char clock[16];
	char firmware[64];
	char version[32]; /* of rdmark */
};

/* E as a new JSON object; keys are the fields' names. */
json_t *end_to_json(const struct end *e);

/* Read what the peer sent: texts are cut to size, control characters and wrong types refused. */
int end_from_json(struct end *e, const json_t *from, struct fault *f);

#endif
