/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * gpu_route_try: one attempt to register GPU memory, and the cause of its failure. Private to
 * gpu_route*.c.
 */
#pragma once

#include "verbs/gpu_route.h"

/*
 * Register the memory of ATTR. Returns 0, or -1 with FAULT_LOCAL, the cause and, if known, the fix.
 */
int gpu_try(struct gpu_mr *m, const struct gpu_mr_attr *attr, struct fault *f);

/*
 * gpu_route_why.c: raise FAULT_LOCAL with the reason why ATTR's memory cannot be registered. Return
 * -1.
 *
 * gpu_why_no_export(): the driver does not export it (RESULT is a CUresult). gpu_why_no_dmabuf():
 * ibv_reg_dmabuf_mr() is not supported. gpu_why_refused(): the registration CALL itself failed.
 */
int gpu_why_no_export(const struct gpu_mr_attr *attr, int result, struct fault *f);
int gpu_why_no_dmabuf(const struct gpu_mr_attr *attr, int errnum, struct fault *f);
int gpu_why_refused(const struct gpu_mr_attr *attr, const char *call, int errnum, struct fault *f);
