/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * verdict: one line that says whether GPUDirect RDMA works here and is as fast as host memory, and
 * if not, the first cause that fits. Pure functions from measurements and facts to text.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "finding/finding.h"
#include "host/path.h"
#include "eval.h"

/* The route, at the end whose GPU the cell uses (the worse one, if both do). */
struct verdict_route {
	struct path path;
	double peer_ceiling_gbps; /* lowest PCIe ceiling of the other end */
	const char *better_gpu;   /* "GPU 2 (PIX)" if that one is nearer */
	bool relaxed_ordering;    /* requested and granted */
	const char *flush_note;   /* why flushing matters here, as a sentence */
};

/*
 * The cell of the verdict: one that failed, or the slowest direct one compared with host memory.
 * Rates are payload in 10^9 bits/s; 0: not measured or unknown. A text is NULL if it does not
 * apply.
 */
struct verdict_facts {
	double within;     /* fraction, 0.05 */
	bool within_given; /* by the user: then a lower rate is below the threshold */
	const char *no_gpu;   /* why no end has a GPU */
	const char *no_route; /* why there is no direct route */
	bool gpudirect;       /* the GPU supports GPUDirect RDMA */
	/* what was measured */
	const struct gdr_cell *cell;
	const struct eval_cell *stats;    /* statistics of its windows and of its host cell's;
					     NULL: none */
	double gbps, host_gbps;           /* means of the windows */
	double staged_gbps;               /* pipelined, the same direction */
	const char *other_route; /* "--gpu-path peermem" or "Data Direct" if that is faster */
	double other_gbps;
	double line_gbps; /* the ports' data rate */
	bool given;       /* the user gives the expected rate: */
	double given_gbps;
	const char *wc_status;  /* a transfer failed with this completion status */
	unsigned wc_vendor;     /* and this vendor error */
	bool verified;          /* the data were checked */
	bool unfinished;        /* not all cells were measured, so the slowest may be missing */
	const char *wrong_data; /* "first wrong byte at …" */
	struct verdict_route route;
	/*
	 * What happened at the ports while the windows ran; NULL: unknown. It is told after the
	 * cause: host memory ran in the same turns, so it does not explain their ratio, and a GPU
	 * that is far away makes pause frames itself.
	 */
	const struct findings *events;
};

enum verdict_level {
	VERDICT_PASS = EVAL_PASS,
	VERDICT_WARN = EVAL_WARN,
	VERDICT_FAIL = EVAL_FAIL,
	VERDICT_INCONCLUSIVE, /* the windows allow more than one of these */
	VERDICT_NONE          /* nothing to judge */
};

struct verdict {
	enum verdict_level level;
	char line[1280]; /* "PASS GPUDirect within 5 % of host memory: …" */
	char next[2048]; /* what to do, and other findings; "" if nothing */
	/*
	 * One word for JSON: "none", "data", "transfer", "no_gpu", "gpu_unsupported", "no_route",
	 * "not_measured", "noise", "host_low", "gpu_low", "two_groups", "pcie_ceiling",
	 * "distance", "iommu", "trained_down", "relaxed_ordering", "unknown".
	 * Static storage.
	 */
	const char *cause;
	int exit_status;              /* 0, 1, 5, 6 or 77 */
	double ratio;                 /* of the cell to host memory; 0 if either was not measured */
	double ratio_low, ratio_high; /* its confidence interval; with ratio 0: 0 and INFINITY */
	unsigned windows;             /* number of windows */
	double expected_gbps;         /* of the cell, by verdict_expect() */
	const char *expected_from;
};

void verdict_reach(const struct verdict_facts *facts, struct verdict *v);

/*
 * The rate that healthy hosts reach: 0.95 of the line rate, or what the user gives, or 0.96 of the
 * PCIe ceilings of the cell's route if that is less; 0 unknown. FROM becomes "line rate", "PCIe",
 * "--expected-gbps" or "": static storage.
 */
double verdict_expect(const struct verdict_facts *facts, const char **from);

const char *verdict_level_name(enum verdict_level level); /* "PASS"; "UNAVAILABLE" for
							     VERDICT_NONE */
