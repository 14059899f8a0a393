/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cell: one test case of gdr_bw, defined by the source and destination memory, the method and the
 * direction; and its results. Pure functions: the memories of both ends determine the cells.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Source or destination memory of messages. The routes to GPU memory are those of enum gpu_route.
 */
enum gdr_memory {
	GDR_HOST,
	GDR_DMABUF,      /* GPU, registered by dma-buf */
	GDR_PEERMEM,     /* GPU, registered by peermem */
	GDR_DATA_DIRECT, /* GPU, registered for mlx5's second PCIe function */
	GDR_COPIED,      /* GPU, not registered: copied from or to bounce buffers */
	GDR_MEMORIES
};

enum gdr_method {
	GDR_DIRECT,
	GDR_STAGED, /* in chunks, by way of host memory */
	GDR_METHODS
};

struct gdr_cell {
	enum gdr_method method;
	enum gdr_memory from, into;
	bool reverse; /* the server sends */
};

#define GDR_CELLS_MAX 22

/* Convert a cell to the kind of a round, and back. Kind 0 is a plain round. */
#define GDR_KINDS (GDR_METHODS * GDR_MEMORIES * GDR_MEMORIES)
unsigned gdr_cell_kind(const struct gdr_cell *c);
void gdr_cell_of_kind(struct gdr_cell *c, unsigned kind);

const char *gdr_cell_name(const struct gdr_cell *c);      /* "host", "read", "write", "gdr", … */
const char *gdr_cell_direction(const struct gdr_cell *c); /* "client->server" */
/* Write the route: "dma-buf", "dma-buf/peermem" if the ends differ, "host", "copy". Returns BUF. */
const char *gdr_cell_route(const struct gdr_cell *c, char *buf, size_t size);

/* The memories of a direct cell as words: "GPU to host". */
const char *gdr_cell_words(const struct gdr_cell *c);

/* True if the NIC accesses GPU memory without a copy. */
bool gdr_cell_is_direct(const struct gdr_cell *c);

struct gdr_result {
	struct gdr_cell cell;
	const struct gdr_result *host; /* result of host memory, same size and direction */
	bool judged;                   /* of the last size, by the default route */
	uint64_t size_bytes;           /* -s, or the size of the sweep */
	uint64_t message_bytes;        /* the same; for a staged cell the chunk size */
	double *gbps;                  /* per turn: the rate of its window; 0: not measured */
	unsigned turns;                /* number of turns so far */
	unsigned windows;              /* number of turns in which this cell was measured */
	uint64_t messages;
	double seconds;
	double median, min, max;   /* set by gdr_result_summarize() */
	double ceiling_gbps;       /* 0: unknown */
	double expected_gbps;      /* expected on healthy hosts; 0: unknown, or not judged */
	const char *expected_from; /* static: "line rate", "PCIe"; "" unknown */
	bool verified;             /* the data were compared */
	uint64_t checked_bytes, wrong_bytes, first_wrong;
};

/*
 * Fill R for SIZE_BYTES with a result for each cell of two ends, host memory first, in the order of
 * the table. HAS[0] of the client and HAS[1] of the server are the memories that exist (bit 1 <<
 * enum gdr_memory). CHUNK_BYTES is 0 for all sizes but the last: then there are no staged ones, and
 * none is judged. Returns their number. They point to each other, so R must not be moved.
 */
unsigned gdr_results(struct gdr_result r[GDR_CELLS_MAX], const unsigned has[2], uint64_t size_bytes,
		     uint64_t chunk_bytes);

/*
 * Set ORDER to 0 … CELLS - 1 in the order of TURN: each is the first one once in CELLS turns, and
 * what follows what differs from turn to turn. So no cell gains by its place.
 */
void gdr_turn_order(unsigned *order, unsigned cells, unsigned turn);

/* The lower of two rates; 0 is an unknown rate. */
double gdr_least(double a, double b);

/* Set median, min and max from the windows; SCRATCH has room for two values per turn. */
void gdr_result_summarize(struct gdr_result *r, double *scratch);
