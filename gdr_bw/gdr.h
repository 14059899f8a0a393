/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * gdr: gdr_bw's data at one end, in addition to the session's: a GPU buffer registered by every
 * available route, bounce buffers for staged transfers, and the addresses of these at the other
 * end.
 */
#pragma once

#include "loop/loops.h"
#include "measure/measure.h"
#include "report/report.h"
#include "verbs/mem.h"
#include "verdict.h"

#define GDR_SIZES_MAX   64 /* of a sweep: each is twice the one before */
#define GDR_RESULTS_MAX (GDR_SIZES_MAX * GDR_CELLS_MAX)
#define GDR_GUARD_BYTES 65536 /* before and after the GPU's slices; must not change */

/* Memory for the NICs of both ends. lkey and rkey 0: none. */
struct gdr_place {
	uint64_t addr;   /* address of QP 0's slice */
	uint64_t stride; /* distance to the next QP's slice */
	uint32_t lkey, rkey;
};

/* The places of one end: its memories by enum gdr_memory, and these. */
enum {
	GDR_TARGET = GDR_MEMORIES, /* destination of a staged transfer into GPU memory */
	GDR_CREDIT,
	GDR_PLACES
};

struct gdr {
	struct measure *ms;
	struct worker *w; /* the only one, with its device and QPs */
	struct gdr_place here[GDR_PLACES], there[GDR_PLACES];
	struct gdr_side mine, theirs;
	struct memory buffer;                 /* of the GPU */
	struct gpu_mr registered[GPU_ROUTES]; /* the buffer, by each route */
	struct mem bounce, credit;
	bool bounce_known; /* registered with the driver, for fast copies */
	struct gpu_stream *stream;
	uint64_t ports_since_ns; /* when this end's ports began to count; 0: never */
	/* the client's: */
	struct gdr_result *result; /* one per cell */
	unsigned results;
	unsigned turns;                   /* so far */
	struct ratio_attr attr;           /* how the windows are judged; owns scratch, which is */
					  /* followed by the windows */
	const struct gdr_result *running; /* the current cell */
	uint64_t observed_ns;             /* for how long both ends' ports counted; 0: unknown */
	struct port_snapshot ports[2];    /* what happened there, by enum result_end */
	struct findings events;           /* what that means */
	struct fault verdict;             /* the fault that gdr_judge() raises */
	bool undecided;                   /* a GPU, but the run ended without verdict */
};

/* open.c: test->open and ->close. */
int gdr_open(struct measure *ms, void **own);
void gdr_close(void *own);

/*
 * side.c: what this end tells the other one, as JSON: its places and its side, which is also in the
 * document; and to read the other's. Raises FAULT_PEER for invalid data.
 */
json_t *gdr_side_json(const struct gdr_side *side);
json_t *gdr_end_json(const struct gdr *g);
int gdr_read_end(struct gdr *g, const json_t *from);

/*
 * task.c: test->task, which the client runs at either end:
 *	meet	store what the other end tells, if anything; measure the copies between GPU
 *		and bounce buffers, and read the path. Result: what this end tells
 *	fill	fill memory with the data to send, or with poison
 *	check	compare memory with the expected data
 *	ports	count what happens at this end's ports from now on; or stop: the result is
 *		the snapshot
 */
int gdr_task(struct measure *ms, const json_t *what, json_t *result);

/*
 * image.c: the tasks fill and check. gdr_verify() sends one message of R on each QP and stores in R
 * whether it was correct; not timed. Any two EPOCHs of a run differ by at least 2.
 */
int gdr_verify(struct gdr *g, struct gdr_result *r, unsigned epoch);
int gdr_fill(struct gdr *g, const json_t *what, json_t *result);
int gdr_check(struct gdr *g, const json_t *what, json_t *result);

/*
 * rounds.c: test->lead, ->follow and ->follows: true for staged transfers into GPU memory;
 * otherwise only the NIC works there.
 */
int gdr_lead(struct round *r);
int gdr_follow(struct round *r);
bool gdr_follows(unsigned kind);

/* turns.c: measure one window of each cell per turn, and more of them while the verdict is open. */
int gdr_turns_init(struct gdr *g);
int gdr_turns(struct gdr *g);
int gdr_warm_up(struct gdr *g, struct gdr_result *r);

/*
 * judge.c: set the expected rate of each result, once both ends' paths are known; and from what
 * was measured the verdict V, g->events, and g->verdict, the fault of V, if any.
 */
void gdr_expect(struct gdr *g);
void gdr_reach_verdict(struct gdr *g, struct verdict *v);

/* schedule.c: test->schedule and ->judge. */
int gdr_schedule(struct measure *ms);
int gdr_judge(struct measure *ms);

#define GDR_CSV_COLUMNS                                                                    \
	"test,cell,direction,route,message_bytes,windows,messages,seconds,bandwidth_gbps," \
	"bandwidth_min_gbps,bandwidth_max_gbps,of_host,ceiling_gbps,wrong_bytes"

/* show.c: print the table and the verdict V, and add them to the document. */
void gdr_show(const struct gdr *g, const struct verdict *v);
