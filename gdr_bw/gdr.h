/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * gdr: gdr_bw's data at one end, in addition to the session's: a GPU buffer that the NIC reaches,
 * what copies through host memory need, and where the memories of the other end are.
 */
#pragma once

#include "loop/loops.h"
#include "loop/round.h"
#include "loop/staged.h"
#include "measure/measure.h"
#include "report/report.h"
#include "verbs/mem.h"
#include "verdict.h"

#define GDR_GUARD_BYTES 65536 /* of GPU memory, before and after the data; must not change */

/* Memory for the NICs of both ends. Keys 0: there is none. */
struct gdr_place {
	uint64_t addr;   /* address of QP 0's slice */
	uint64_t stride; /* distance to the next QP's slice */
	uint32_t lkey, rkey;
};

enum {
	GDR_HOST, /* the session's */
	GDR_GPU,
	GDR_SLOTS, /* of copies: loop/staged.h */
	GDR_WORDS,
	GDR_PLACES
};

struct gdr {
	struct measure *ms;
	struct mem mem[GDR_PLACES]; /* of the places, but the session's */
	struct memory data;         /* of the GPU: what is copied, between guards */
	struct gpu_stream *stream;
	struct gdr_place here[GDR_PLACES], there[GDR_PLACES];
	struct gdr_side mine, theirs;
	/* the client's: */
	struct gdr_result result[GDR_CELLS_MAX];
	unsigned results;
	unsigned turns;                   /* so far */
	struct ratio_attr attr;           /* how the windows are judged; owns scratch, which is */
					  /* followed by the windows */
	const struct gdr_result *running; /* the current cell */
	struct verdict verdict;
};

/* open.c: test->open and ->close. */
int gdr_open(struct measure *ms, void **own);
void gdr_close(void *own);

/*
 * meet.c: the ends tell each other where their memories are and how their GPU is connected.
 * gdr_meet() does so for the client, gdr_task(), test->task, for the server.
 */
json_t *gdr_side_json(const struct gdr_side *side);
int gdr_meet(struct gdr *g);
int gdr_task(struct measure *ms, const json_t *what, json_t *result);

/*
 * image.c: the data of R's cell are compared: both ends fill their memory, one message is sent on
 * each QP, and the sink must hold all of them and nothing else. Stores in R what was found. And the
 * server's part in it.
 */
int gdr_verify(struct gdr *g, struct gdr_result *r);
int gdr_verify_task(struct gdr *g, const json_t *what, json_t *result);

/* turns.c: measure one window of each cell per turn, and more of them while the verdict is open. */
int gdr_turns_init(struct gdr *g);
int gdr_warm_up(struct gdr *g);
int gdr_turns(struct gdr *g);

/*
 * show.c: print the table and the verdict, and add them to the document; after the last of several
 * GPUs a row for each. Returns whether the verdict is the worst so far.
 */
bool gdr_show(const struct gdr *g);
