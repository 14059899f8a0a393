/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cell: one test case of gdr_bw, defined by the source and destination memory and the direction;
 * and its results. Pure functions: what the ends have of GPUs determines the cells.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gdr_cell {
	bool from_gpu, into_gpu; /* the memory of the source and of the sink; false: the host's */
	bool staged;             /* neither: GPU memory is copied, by way of the host's */
	bool reverse;            /* the server sends */
};

#define GDR_CELLS_MAX 10

/* The kind of a cell's rounds, for the end that sends. Kind 0 is a plain round. */
#define GDR_KINDS 5 /* the last one is staged */
unsigned gdr_cell_kind(const struct gdr_cell *c);
void gdr_cell_of_kind(struct gdr_cell *c, unsigned kind);

const char *gdr_cell_name(const struct gdr_cell *c);  /* "host", "read", "write", "gdr", "staged" */
const char *gdr_cell_words(const struct gdr_cell *c); /* "GPU to host" */
const char *gdr_cell_direction(const struct gdr_cell *c); /* "client->server" */

/* True if the NIC accesses GPU memory: then the cell is judged. */
bool gdr_cell_is_direct(const struct gdr_cell *c);

struct gdr_result {
	struct gdr_cell cell;
	const struct gdr_result *host; /* result of host memory in the same direction */
	uint64_t message_bytes;
	double *gbps;     /* per turn: the rate of its window; 0: not measured */
	unsigned turns;   /* number of turns so far */
	unsigned windows; /* number of turns in which this cell was measured */
	uint64_t messages;
	double seconds;
	double median, min, max;   /* set by gdr_result_summarize() */
	double ceiling_gbps;       /* 0: unknown */
	double expected_gbps;      /* expected on healthy hosts; 0: unknown, or not judged */
	const char *expected_from; /* static: "line rate", "PCIe"; "" unknown */
	uint64_t checked_bytes;    /* of the sink's memory; 0: the data were not compared */
	uint64_t wrong_bytes, first_wrong;
};

/*
 * Fill R with a result for each cell of two ends, host memory first, in the order of the table.
 * DIRECT[0] of the client and DIRECT[1] of the server: the NIC reaches GPU memory there. STAGED: an
 * end has a GPU; these cells are the last ones. Returns their number. They point to each other, so
 * R must not be moved.
 */
unsigned gdr_results(struct gdr_result r[GDR_CELLS_MAX], const bool direct[2], bool staged);

/*
 * Set ORDER to 0 … CELLS - 1 in the order of TURN: each is the first one once in CELLS turns, and
 * what follows what differs from turn to turn. So no cell gains by its place.
 */
void gdr_turn_order(unsigned *order, unsigned cells, unsigned turn);

/* The lower of two rates; 0 is an unknown rate. */
double gdr_least(double a, double b);

/* Set median, min and max from the windows; SCRATCH has room for two values per turn. */
void gdr_result_summarize(struct gdr_result *r, double *scratch);
