/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * gdr: gdr_bw's data at one end, in addition to the session's: a GPU buffer registered by every
 * available route, bounce buffers for staged transfers, and the addresses of these at the other
 * end.
 */
#pragma once

#include "cell.h"
#include "host/path.h"
#include "loop/staged.h"
#include "measure/context.h"
#include "report/report.h"
#include "verbs/gpu_route.h"
#include "verbs/mem.h"
#include "verdict.h"
#include "proto/fields.h"

#define GDR_SIZES_MAX   64 /* of a sweep: each is twice the one before */
#define GDR_RESULTS_MAX (GDR_SIZES_MAX * GDR_CELLS_MAX)
#define GDR_GUARD_BYTES 65536 /* before and after the GPU's slices; must not change */

/* Memory for the NICs of both ends. lkey and rkey 0: none. */
struct gdr_place {
	uint64_t addr;   /* address of QP 0's slice */
	uint64_t stride; /* distance to the next QP's slice */
	uint32_t lkey, rkey;
};

/* The memory of one end. */
struct gdr_places {
	struct gdr_place memory[GDR_MEMORIES];
	struct gdr_place target; /* destination of a staged transfer into GPU memory */
	struct gdr_place credit;
};

struct gdr {
	struct measure_context run;
	struct gdr_places here, there;
	struct gdr_side mine, theirs;
	uint64_t buffer; /* GPU memory; 0: none */
	uint64_t buffer_bytes;
	struct gpu_routes routes;
	struct mem registered[GPU_ROUTES]; /* the buffer, by each route */
	struct mem bounce, credit;
	bool bounce_known; /* registered with the driver, for fast copies */
	struct gpu_stream *stream;
	struct gdr_result *result; /* client: one per cell */
	unsigned results;
	unsigned turns;                   /* client: number so far */
	struct eval_attr attr;            /* client: how the windows are judged; owns scratch, */
					  /* which is followed by the windows */
	const struct gdr_result *running; /* client: the current cell */
	bool ports_count;                 /* the task `ports` was started */
	uint64_t ports_started_ns;        /* client: when both ends' began; 0: never */
	uint64_t observed_ns;             /* client: for how long they did; 0: unknown */
	struct port_snapshot ports[2];    /* client: what happened there, by enum result_end */
	struct findings events;           /* client: what that means */
	struct fault verdict;             /* client: the fault that judge raises */
	bool undecided;                   /* client: a GPU, but the run ended without verdict */
};

/* open.c: test->open and ->close. */
int gdr_open(struct measure *ms, void **own);
void gdr_close(void *own);

/*
 * path.c: set in `mine` the path between this end's GPU and NIC, and whether another GPU is nearer.
 */
void gdr_find_path(struct gdr *g);

/* side.c: both ends' data as JSON. Reading raises FAULT_PEER for invalid data. */
json_t *gdr_places_json(const struct gdr *g);
int gdr_read_places(struct gdr *g, const json_t *from);
json_t *gdr_side_json(const struct gdr_side *side);
int gdr_read_side(struct gdr_side *side, const json_t *from, struct fault *f);

/*
 * task.c: test->task, which the client runs at either end:
 *	places	return this end's memory addresses, and store the other end's
 *	fill	fill memory with the data to send, or with poison
 *	check	compare memory with the expected data
 *	copy	measure the copies between GPU and bounce buffers, and read the path.
 *		Result: side
 *	ports	count what happens at this end's ports from now on; or stop: the result is
 *		the snapshot
 */
int gdr_task(struct measure *ms, const json_t *what, json_t *result);

/*
 * image.c: the tasks fill and check. gdr_verify() sends one message of R on each QP and stores in R
 * whether it was correct; not timed. Any two EPOCHs of a run differ by at least 2.
 */
int gdr_verify(struct measure *ms, struct gdr *g, struct gdr_result *r, unsigned epoch);
int gdr_fill(struct gdr *g, const json_t *what);
int gdr_check(struct gdr *g, const json_t *what, json_t *result);

/* rounds.c: test->lead and ->follow. */
int gdr_lead(struct round *r);
int gdr_follow(struct round *r);
bool gdr_follows(unsigned kind); /* true for staged transfers into GPU memory; otherwise only the
				    NIC works there */

/* turns.c: measure one window of each cell per turn, and more of them while the verdict is open. */
int gdr_turns_init(struct gdr *g);
int gdr_turns(struct measure *ms, struct gdr *g);
int gdr_warm_up(struct measure *ms, struct gdr *g, struct gdr_result *r);

/*
 * ports.c: the task `ports`; for the client, to have both ends do it, and to set `events` from what
 * they counted.
 */
int gdr_ports_task(struct measure *ms, struct gdr *g, const json_t *what, json_t *result);
int gdr_ports_start(struct measure *ms, struct gdr *g);
int gdr_ports_stop(struct measure *ms, struct gdr *g);
void gdr_explain(struct gdr *g);

/* judge.c: set the expected rate of each result, after both ends' paths are known. */
void gdr_expect(struct gdr *g);

/*
 * Compute the verdict V, and set g->verdict to its fault, if any. The results must be summarized.
 */
void gdr_reach_verdict(struct gdr *g, struct verdict *v);

/* schedule.c: test->schedule and ->judge. */
int gdr_schedule(struct measure *ms);
int gdr_judge(struct measure *ms);

#define GDR_CSV_COLUMNS                                                                    \
	"test,cell,direction,route,message_bytes,windows,messages,seconds,bandwidth_gbps," \
	"bandwidth_min_gbps,bandwidth_max_gbps,of_host,ceiling_gbps,wrong_bytes"

/*
 * nccl.c: print to OUT (NULL: nowhere) the variables that NCCL needs on the client's host, if it
 * has a GPU and there are any, and add them to the document.
 */
void gdr_show_nccl(const struct gdr *g, FILE *out);

/* show.c: print the table, and add the results and the verdict to the document. */
void gdr_show(struct gdr *g);
