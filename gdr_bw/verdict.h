/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * verdict: one line that says whether GPUDirect RDMA works here and is as fast as host memory, and
 * if not, the first cause that fits. Pure: from what was measured and found to words.
 */
#ifndef GDR_BW_VERDICT_H
#define GDR_BW_VERDICT_H

#include <stdbool.h>
#include <stddef.h>

#include "host/path.h"

/* What kind of cell: where the data come from and go to. */
enum verdict_cell {
	VERDICT_READ,  /* GPU to host: the sender's NIC reads GPU memory */
	VERDICT_WRITE, /* host to GPU: the receiver's NIC writes GPU memory */
	VERDICT_GDR,   /* GPU to GPU */
};

/*
 * The cell that the verdict is about: one that failed, or the worst of the direct ones against host
 * memory. Rates are payload, 10^9 bits/s; 0: not measured or not known. Texts may be NULL: there is
 * no such thing to say.
 */
struct verdict_facts {
	double within;     /* fraction, 0.05 */
	bool within_given; /* by the user: then anything less is below the threshold */
	/* what there is */
	const char *no_gpu;   /* why no end has a GPU */
	const char *no_route; /* why there is no direct route */
	bool gpudirect;       /* the GPU supports GPUDirect RDMA at all */
	/* what was measured */
	enum verdict_cell cell;
	const char *direction; /* "a -> b", with host names */
	double gbps, host_gbps;
	double staged_gbps;     /* pipelined, the same direction */
	double line_gbps;       /* the ports' data rate */
	const char *wc_status;  /* a transfer failed with this completion status */
	unsigned wc_vendor;     /* and this vendor error */
	bool verified;          /* the data were checked */
	bool unfinished;        /* not all cells were measured: the worst one may be among those */
	bool host_only;         /* the cell does not reach GPU memory directly: wrong data only */
	const char *wrong_data; /* "first wrong byte at …" */
	/* the way, on the end whose GPU the cell uses (the worse, if both do) */
	struct path path;
	double peer_ceiling_gbps; /* the least PCIe ceiling on the other end */
	const char *better_gpu;   /* "GPU 2 (PIX)" if one is nearer */
	bool relaxed_ordering;    /* asked for and given */
	const char *flush_note;   /* why flushing matters here, as a sentence */
};

enum verdict_level {
	VERDICT_PASS,
	VERDICT_WARN,
	VERDICT_FAIL,
	VERDICT_NONE /* nothing to judge */
};

struct verdict {
	enum verdict_level level;
	char line[1280]; /* "PASS GPUDirect within 5 % of host memory: …" */
	char next[768];  /* what to do about it and what else was seen; "" if nothing */
	/*
	 * One word for JSON: "none", "data", "transfer", "no_gpu", "gpu_unsupported", "no_route",
	 * "not_measured", "pcie_ceiling", "distance", "iommu", "trained_down",
	 * "relaxed_ordering", "unknown". Static storage.
	 */
	const char *cause;
	int exit_status;      /* 0, 1, 5, 6 or 77 */
	double ratio;         /* of gbps to host_gbps; 0 if one was not measured */
	double expected_gbps; /* 0.95 of the line rate or 0.96 of the PCIe ceiling; 0 unknown */
	const char *expected_from; /* "line rate" or "PCIe", whichever is less; "" unknown */
};

void verdict_reach(const struct verdict_facts *facts, struct verdict *v);

const char *verdict_level_name(enum verdict_level level); /* "PASS"; of NONE "UNAVAILABLE" */
const char *verdict_cell_words(enum verdict_cell cell);   /* "GPU to host" */

#endif
