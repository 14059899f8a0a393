/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * end: the description of one end of a run: host, device, port, addresses, placement. Each end
 * sends its own to the other, so both can show both.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"

struct fields;

#define END_ARGV_BYTES 1024

struct end {
	char host[80];
	char kernel[80];
	char cpu_model[96];
	char rdma_core[32]; /* version; "" if unknown */
	struct {            /* the device and its port */
		char name[64];
		char chosen[160]; /* why */
		int64_t port;
		char link_layer[16];
		char transport[16]; /* "InfiniBand", "RoCE", "iWARP", "EFA" */
		double rate_gbps;
		int64_t active_mtu_bytes;
		int64_t inline_bytes;
		char netdev[16];
		char pci[16];
		char pcie_link[96];
		bool pcie_trained_down; /* below what both its ends can do */
		double pcie_read_gbps, pcie_write_gbps; /* payload it carries; 0: unknown */
		int64_t numa_node; /* -1: unknown */
		char firmware[64];
	} nic;
	struct {                   /* its addresses */
		char cm[64];       /* IP address for rdma_cm; "" without */
		int64_t gid_index; /* -1: no GID is used */
		char gid[64];
		char gid_type[32]; /* gid_kind_name(); "": no GID is used */
		char gid_chosen[64]; /* why */
		int64_t lid;
		int64_t pkey_index;
		char pkey[8]; /* "0xffff" */
	} address;
	struct {
		int64_t node; /* node of the thread and its memory; -1: not pinned */
		char cpus[128];
		char pinned[160]; /* reason for the placement */
	} thread;
	struct {
		char kind[16];                /* "host" or "gpu" */
		char made_of[160];            /* "": ordinary pages */
		int64_t pages, pages_on_node; /* checked by move_pages(2); 0: unknown */
	} memory;
	struct {
		char name[128]; /* "GPU 0 (NVIDIA H100, 0000:17:00.0)"; "": none is used */
		char uuid[48];
		char path[16];     /* "dma-buf", "peermem"; "": none */
		char chosen[512];  /* reason for the route, and against those of higher
				      preference */
		char distance[16]; /* "PIX" */
	} gpu;
	char clock[16];
	int64_t utc_us;   /* its wall clock when both ends told of themselves, us since 1970; 0:
			     unknown */
	char version[32]; /* of rdmark */
	struct {          /* the command line: end_add_argument() */
		char text[END_ARGV_BYTES]; /* each argument ended by a 0 */
		size_t bytes;
		bool full;
	} argv;
};

/* The table of fields, but for "argv". */
const struct fields *end_fields(void);

/*
 * Append TEXT to E's arguments, disarmed (base/text.h). The first argument that does not fit
 * becomes "...", and later ones are ignored.
 */
void end_add_argument(struct end *e, const char *text);

/* E as a new JSON object. */
json_t *end_to_json(const struct end *e);

/*
 * Read the peer's description: texts are cut to size and disarmed (base/text.h); wrong types,
 * numbers out of range and unknown words are refused. Returns 0, or -1 with the fault raised.
 */
int end_from_json(struct end *e, const json_t *from, struct fault *f);
