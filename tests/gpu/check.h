/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* gpu_check: gpu.h on a real GPU, see check.c. Results go to stdout, one line each. */
#ifndef RDMARK_TESTS_GPU_CHECK_H
#define RDMARK_TESTS_GPU_CHECK_H

#include "memory/gpu.h"

struct check {
	struct gpu *g;
	unsigned failed;
};

/* check.c: print and count the result of a check. */
void check_print(struct check *c, bool ok, const char *what, ...)
	__attribute__((format(printf, 3, 4)));

/* BYTES of the GPU's memory. */
static inline int check_alloc(struct check *c, struct memory *m, size_t bytes, struct fault *f)
{
	return memory_alloc(m, &(struct memory_attr){.gpu = c->g, .bytes = bytes}, f);
}

/* checks.c */
void check_buffers(struct check *c, struct fault *f);
void check_exports(struct check *c, struct fault *f);
void check_copies(struct check *c, struct fault *f);
void check_planted_fault(struct check *c, struct fault *f);

/* Word I of test data; SEED distinguishes one filling from another. */
static inline uint64_t check_word(uint64_t seed, uint64_t i)
{
	uint64_t x = (i + seed) * UINT64_C(0x9e3779b97f4a7c15);

	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	return x ^ x >> 27;
}

void check_fill(void *to, size_t bytes, uint64_t seed);
/* The offset of the first wrong word, or BYTES. */
size_t check_compare(const void *data, size_t bytes, uint64_t seed);

#endif
