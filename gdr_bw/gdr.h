/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * gdr: what gdr_bw has at one end besides the session's: a GPU buffer that is registered by every
 * route there is, bounce buffers for staged transfers, and where all that is at the other end.
 */
#ifndef GDR_BW_GDR_H
#define GDR_BW_GDR_H

#include "cell.h"
#include "host/path.h"
#include "loop/staged.h"
#include "session/parts.h"
#include "verbs/gpu_route.h"
#include "verbs/mem.h"

#define GDR_GUARD_BYTES 65536 /* before and after the GPU's slices: must stay as they were */

/* Memory as this end's and as the other end's NIC are told of it. lkey and rkey 0: there is none.
 */
struct gdr_place {
	uint64_t addr;   /* of QP 0's slice */
	uint64_t stride; /* to the next QP's */
	uint32_t lkey, rkey;
};

/* Where one end's things are. */
struct gdr_places {
	struct gdr_place memory[GDR_MEMORIES];
	struct gdr_place target; /* where a staged transfer into GPU memory arrives */
	struct gdr_place credit;
};

/* What the client must know of an end to choose the cells and to judge them. */
struct gdr_side {
	bool gpu;
	char absent[256]; /* why there is no GPU */
	bool gpudirect;   /* the GPU supports it at all */
	bool direct;      /* there is a direct route */
	char route[512];  /* the first one, or the way round, and why not those before it */
	char fix[320];    /* what to do to have a GPU, or a direct route to it */
	bool relaxed;     /* its registration has relaxed ordering */
	int ordering;     /* gpu_info.ordering */
	char better_gpu[64];
	char ranking[256]; /* all GPUs of the machine, nearest to the NIC first */
	struct path path;
	double copy_out_gbps, copy_in_gbps; /* between GPU and bounce buffers; 0: not measured */
	double flush_us;                    /* 0: not needed or not measured */
};

struct gdr {
	struct session_parts parts;
	struct gdr_places here, there;
	struct gdr_side mine, theirs;
	uint64_t message_max;
	uint64_t buffer; /* of the GPU; 0: none */
	uint64_t buffer_bytes;
	struct gpu_routes routes;
	struct mem registered[GDR_MEMORIES]; /* the buffer by each route */
	struct mem bounce, credit;
	bool bounce_known; /* to the driver, for fast copies */
	struct gpu_stream *stream;
	struct gdr_result *result; /* client: of the cells */
	unsigned results;
	const struct gdr_result *running; /* client: the cell under way */
	struct fault verdict;             /* client: what judge raises */
};

/* open.c: test->open and ->close. */
int gdr_open(struct session *s, void **own);
void gdr_close(void *own);

/* path.c: where this end's GPU is from its NIC, and whether another one is nearer. Into `mine`. */
void gdr_find_path(struct gdr *g);

/* side.c: what the ends tell each other. Reading raises the peer's fault. */
json_t *gdr_places_json(const struct gdr *g);
int gdr_read_places(struct gdr *g, const json_t *from);
json_t *gdr_side_json(const struct gdr_side *side);
int gdr_read_side(struct gdr_side *side, const json_t *from, struct fault *f);

/*
 * task.c: test->task, what the client has done at either end:
 *	places	tell where things are, and hear where they are there
 *	fill	memory, epoch, message_bytes, staged, poison_epoch: fill with what is to be sent
 *		(message_bytes 0: with poison alone)
 *	check	the same: compare with what should have come. Result: checked_bytes, wrong_bytes,
 *		first_wrong
 *	copy	measure the copies between GPU and bounce buffers, and look at the path.
 *		Result: side
 */
int gdr_task(struct session *s, const json_t *what, json_t *result);

/* image.c: fill and check. */
int gdr_fill(struct gdr *g, const json_t *what);
int gdr_check(struct gdr *g, const json_t *what, json_t *result);

/* rounds.c: test->lead and ->follow. */
int gdr_lead(struct round *r);
int gdr_follow(struct round *r);
bool gdr_follows(unsigned way); /* into GPU memory by copies; else only NICs have work there */

/* schedule.c: test->schedule and ->judge. */
int gdr_schedule(struct session *s);
int gdr_judge(struct session *s);

#define GDR_CSV_COLUMNS                                                                    \
	"test,cell,direction,route,message_bytes,windows,messages,seconds,bandwidth_gbps," \
	"bandwidth_min_gbps,bandwidth_max_gbps,of_host,ceiling_gbps,wrong_bytes"

/* show.c: the table, the document and the verdict from what was measured. */
void gdr_show(struct gdr *g);

#endif
