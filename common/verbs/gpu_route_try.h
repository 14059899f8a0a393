/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * gpu_route_try: one attempt to register GPU memory, and what its failure means. Private to
 * gpu_route*.c.
 */
#ifndef RDMARK_VERBS_GPU_ROUTE_TRY_H
#define RDMARK_VERBS_GPU_ROUTE_TRY_H

#include "verbs/gpu_route.h"

/* Where an attempt ended. */
enum gpu_step {
	GPU_STEP_DONE,
	GPU_STEP_LIBRARY,  /* libibverbs or libmlx5 lacks the call */
	GPU_STEP_DEVICE,   /* the device has no such thing */
	GPU_STEP_PROBE,    /* ibv_reg_dmabuf_mr() without a dma-buf: errnum */
	GPU_STEP_EXPORT,   /* the driver's export: result */
	GPU_STEP_REGISTER, /* the registration itself: errnum */
};

struct gpu_try {
	enum gpu_step step;
	const char *call; /* that failed */
	int errnum;
	int result; /* CUresult */
	struct ibv_mr *mr;
	bool relaxed_ordering;
};

void gpu_try_register(struct gpu_try *t, const struct gpu_mr_ask *ask);

/* Data Direct's two calls, of libmlx5. Returns the step that failed. */
void gpu_try_data_direct(struct gpu_try *t, const struct gpu_mr_ask *ask);

/* The cause of T's failure in words, and the fix. */
void gpu_try_explain(const struct gpu_try *t, const struct gpu_mr_ask *ask,
		     struct gpu_route_state *s);

#endif
