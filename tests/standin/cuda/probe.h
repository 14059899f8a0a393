/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* probe: the actions of gpu_probe, see probe.c. */
#ifndef RDMARK_TESTS_CUDA_PROBE_H
#define RDMARK_TESTS_CUDA_PROBE_H

#include "memory/gpu.h"

typedef int probe_action(char **arg, struct fault *f);

probe_action probe_alloc, probe_copies, probe_export, probe_flush;
probe_action probe_stream, probe_order, probe_touch, probe_flips, probe_threads;
probe_action probe_routes, probe_choose, probe_register, probe_move, probe_pair;

void probe_print(const struct gpu_info *info);

/* The address of BYTES of G's memory; 0: none. It is freed with M, before the GPU is closed. */
uint64_t probe_memory(struct gpu *g, struct memory *m, size_t bytes, struct fault *f);

/* Raise FAULT_DATA: WHAT does not hold. */
int probe_fail(struct fault *f, const char *what, int line);
#define MUST(f, what)                                   \
	do {                                            \
		if (!(what) && !fault_is(f))            \
			probe_fail(f, #what, __LINE__); \
	} while (0)

#endif
