/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cell: one way of moving data: from which memory, into which memory, how, in which direction; and
 * what was measured of it. Pure: which cells there are follows from what the two ends have.
 */
#ifndef GDR_BW_CELL_H
#define GDR_BW_CELL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Memory that messages come from or go to. */
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
	GDR_STAGED_SYNC, /* one chunk at a time */
	GDR_STAGED_PIPE,
	GDR_METHODS
};

struct gdr_cell {
	enum gdr_method method;
	enum gdr_memory from, into;
	bool reverse; /* the server sends */
};

#define GDR_CELLS_MAX 24

/* A cell as the kind of a round, and back; 0 is a plain round. */
#define GDR_WAYS (GDR_METHODS * GDR_MEMORIES * GDR_MEMORIES)
unsigned gdr_cell_way(const struct gdr_cell *c);
void gdr_cell_of_way(struct gdr_cell *c, unsigned way);

/*
 * The cells for two ends: HAS[0] of the client and HAS[1] of the server say which memories there
 * are (bit 1 << enum gdr_memory). Returns how many, host first, in the order of the table.
 */
unsigned gdr_cells(struct gdr_cell cells[GDR_CELLS_MAX], const unsigned has[2]);

const char *gdr_cell_name(const struct gdr_cell *c);      /* "host", "read", "write", "gdr", … */
const char *gdr_cell_direction(const struct gdr_cell *c); /* "client->server" */
/* "dma-buf", "dma-buf/peermem" where the ends differ, "host", "copy". Returns BUF. */
const char *gdr_cell_route(const struct gdr_cell *c, char *buf, size_t size);

/* True if GPU memory takes part without a copy. */
bool gdr_cell_is_direct(const struct gdr_cell *c);

struct gdr_result {
	struct gdr_cell cell;
	uint64_t size_bytes;    /* -s, or the size of the sweep */
	uint64_t message_bytes; /* the same, but a staged cell's is its chunk */
	double *gbps;           /* of each window that was measured; owned */
	unsigned windows;
	uint64_t messages;
	double seconds;
	double median, min, max; /* set by gdr_result_settle() */
	double ceiling_gbps;     /* 0: unknown */
	bool verified;           /* the data were compared */
	uint64_t checked_bytes, wrong_bytes, first_wrong;
};

/* Median, min and max of the windows. */
void gdr_result_settle(struct gdr_result *r);

/* The host cell's result of the size and in the direction of R, NULL if it was not measured. */
const struct gdr_result *gdr_result_host(const struct gdr_result *all, unsigned count,
					 const struct gdr_result *r);

#endif
