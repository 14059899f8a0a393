/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * verdict: whether GPUDirect RDMA works here and is as fast as host memory, and if not, the first
 * cause that fits. Pure functions: rules over measurements and facts choose a finding, and the
 * catalogue (common/finding/catalogue.def) has its words.
 */
#pragma once

#include "ratio.h"
#include "finding/finding.h"
#include "host/path.h"

/* What the client needs to know about an end to choose and to judge the cells. */
struct gdr_side {
	bool gpu;
	bool integrated;       /* the GPU shares the host's memory */
	bool direct;           /* the NIC reaches the GPU's memory */
	bool relaxed_ordering; /* of the registration */
	char reason[768];      /* why there is no GPU, or no direct route to it */
	char fix[512];         /* how to get one */
	struct path path;
};

/* Rates are payload in 10^9 bits/s; 0: unknown. */
struct verdict_facts {
	const struct ratio_attr *attr;  /* all results, and how they are judged */
	const struct gdr_side *side[2]; /* client's, server's */
	double line_gbps;               /* the ports' data rate */
	bool within_given;              /* by the user: then a lower rate is below the threshold */
	bool given;                     /* the user gives the expected rate: */
	double given_gbps;
	const struct gdr_result *wrong;  /* the data of this cell were wrong; NULL: of none */
	const struct gdr_result *failed; /* a transfer of this direct cell failed; NULL: none */
	const char *wc_status;           /* with this completion status */
	unsigned wc_vendor;              /* and this vendor error */
};

struct verdict {
	enum verdict_level level;
	int exit_status;         /* 0, 1, 5, 6 or 77 */
	enum finding_code code;  /* VERDICT_… of the catalogue: what the line says */
	enum finding_code cause; /* the same; or GDR_…, if GPU memory is slower */
	char line[1280];         /* "PASS GPUDirect within 5 % of host memory: …" */
	char next[2048];         /* what to do, and other findings; "" if nothing */
	struct range ratio;      /* of the cell to host memory; mean 0 if one was not measured */
	double confidence;       /* the level of its interval, in percent */
	unsigned fell_from;      /* the window from which on the GPU is slower; 0: none */
	double expected_gbps;    /* of the cell, by verdict_expect() */
	const char *expected_from;
};

void verdict_reach(const struct verdict_facts *facts, struct verdict *v);

/*
 * The rate of cell C on healthy hosts: 0.95 of the line rate, or what the user gives, or 0.96 of
 * the PCIe ceilings of its data's way if that is less; 0 unknown. FROM becomes "line rate", "PCIe",
 * "--expected-gbps" or "": static storage. C NULL: of the line.
 */
double verdict_expect(const struct verdict_facts *facts, const struct gdr_cell *c,
		      const char **from);

/* "PASS"; "UNAVAILABLE" for VERDICT_NONE. */
const char *verdict_level_name(enum verdict_level level);

/* verdict_cause.c: the way of a cell's data between NICs and memory. */
struct verdict_way {
	const struct gdr_side *side;   /* whose GPU is used; of two, the one farther from its NIC;
					  NULL: none */
	const struct gdr_side *narrow; /* the end whose PCIe links carry least; NULL: unknown */
	double ceiling_gbps;           /* what these carry; 0 unknown */
	bool relaxed_ordering;         /* requested and granted wherever a GPU is used */
};

/* Find the way of C's data, of ends SIDE; C NULL: none. */
struct verdict_way verdict_way(const struct gdr_cell *c, const struct gdr_side *const side[2]);

/*
 * Add to TO all causes that fit if a cell that goes this way W reaches GBPS; the first one is the
 * main cause: "pcie_ceiling", "distance", "iommu", "trained_down", "relaxed_ordering", or at least
 * "unknown". The text has no full stop; `next` is a sentence.
 */
void verdict_causes(const struct verdict_way *w, double gbps, struct findings *to);
