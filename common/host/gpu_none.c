// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * gpu without CUDA: in the place of gpu_cuda*.c where cuda.h was not there to build them with. No
 * GPU opens, so what takes an open one is never reached.
 */
#include "host/gpu.h"

#include <stdlib.h>

static int none(struct fault *f)
{
	fault_raise(f, FAULT_UNAVAILABLE, 0, "This rdmark was built without CUDA");
	fault_cause(f, "cuda.h was not found when it was built, or WITH_CUDA=no was given");
	return fault_fix(f,
			 "install the CUDA toolkit's cuda.h (only that file is needed) and build "
			 "again: make CUDA_HOME=/usr/local/cuda");
}

int gpu_list(struct gpu_info **list, size_t *count, struct fault *f)
{
	*list = NULL;
	*count = 0;
	fault_phase(f, "looking for GPUs");
	return none(f);
}

int gpu_open(struct gpu **g, const struct gpu_wish *wish, struct fault *f)
{
	(void)wish;
	*g = NULL;
	fault_phase(f, "opening the GPU");
	return none(f);
}

void gpu_close(struct gpu *g)
{
	(void)g;
}

const struct gpu_info *gpu_about(const struct gpu *g)
{
	(void)g;
	abort();
}

uint64_t gpu_alloc(struct gpu *g, size_t bytes, struct fault *f)
{
	(void)g;
	(void)bytes;
	none(f);
	return 0;
}

void gpu_free(struct gpu *g, uint64_t addr)
{
	(void)g;
	(void)addr;
}

int gpu_export(struct gpu *g, uint64_t addr, size_t bytes, bool pcie, int *fd, uint64_t *offset)
{
	(void)g;
	(void)addr;
	(void)bytes;
	(void)pcie;
	*fd = -1;
	*offset = 0;
	return 801;
}

int gpu_copy_in(struct gpu *g, uint64_t to, const void *from, size_t bytes, struct fault *f)
{
	(void)g;
	(void)to;
	(void)from;
	(void)bytes;
	return none(f);
}

int gpu_copy_out(struct gpu *g, void *to, uint64_t from, size_t bytes, struct fault *f)
{
	(void)g;
	(void)to;
	(void)from;
	(void)bytes;
	return none(f);
}

int gpu_flush(struct gpu *g, struct fault *f)
{
	(void)g;
	return none(f);
}

int gpu_flush_now(struct gpu *g, struct fault *f)
{
	(void)g;
	return none(f);
}

int gpu_host_register(struct gpu *g, void *addr, size_t bytes, struct fault *f)
{
	(void)g;
	(void)addr;
	(void)bytes;
	return none(f);
}

void gpu_host_release(struct gpu *g, void *addr)
{
	(void)g;
	(void)addr;
}

int gpu_stream_open(struct gpu_stream **s, struct gpu *g, unsigned slots, struct fault *f)
{
	(void)g;
	(void)slots;
	*s = NULL;
	return none(f);
}

void gpu_stream_close(struct gpu_stream *s)
{
	(void)s;
}

int gpu_stream_copy_in(struct gpu_stream *s, uint64_t to, const void *from, size_t bytes)
{
	(void)s;
	(void)to;
	(void)from;
	(void)bytes;
	return -801;
}

int gpu_stream_copy_out(struct gpu_stream *s, void *to, uint64_t from, size_t bytes)
{
	(void)s;
	(void)to;
	(void)from;
	(void)bytes;
	return -801;
}

int gpu_stream_mark(struct gpu_stream *s, unsigned slot)
{
	(void)s;
	(void)slot;
	return -801;
}

int gpu_stream_done(struct gpu_stream *s, unsigned slot)
{
	(void)s;
	(void)slot;
	return -801;
}

int gpu_stream_failed(int rc, const char *call, struct fault *f)
{
	(void)rc;
	(void)call;
	return none(f);
}
