// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "host/gpu_cuda.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/units.h"

#define ALLOC_STEP_BYTES ((size_t)2 << 20) /* the driver's own granularity */
#define EXPORT_PCIE      1u                /* CU_MEM_RANGE_FLAG_DMA_BUF_MAPPING_TYPE_PCIE */

static size_t round_up(size_t n, size_t step)
{
	return (n + step - 1) / step * step;
}

/* Exactly one of index, UUID and PCI address must name the GPU. */
static int check_gpu_attr(const struct gpu_attr *wanted, struct fault *f)
{
	if ((wanted->index >= 0) + !!wanted->uuid + !!wanted->pci == 1)
		return 0;
	fault_raise(f, FAULT_USAGE, 0, "a GPU is named by index, UUID or PCI address");
	return fault_fix(f, "give exactly one of these");
}

int gpu_open(struct gpu **out, const struct gpu_attr *wanted, struct fault *f)
{
	struct gpu *g = calloc(1, sizeof(*g));
	CUresult rc;

	*out = g;
	fault_phase(f, "opening the GPU");
	if (!g)
		return fault_raise(f, FAULT_LOCAL, ENOMEM, "allocating struct gpu");
	if (check_gpu_attr(wanted, f) || cuda_driver_start(&g->cu, f) ||
	    cuda_choose(&g->cu, wanted, &g->info, f))
		goto out;
	rc = g->cu.cuDeviceGet(&g->device, g->info.index);
	if (!rc)
		rc = g->cu.cuDevicePrimaryCtxRetain(&g->ctx, g->device);
	if (!rc)
		rc = g->cu.cuCtxSetCurrent(g->ctx);
	if (!rc)
		return 0;
	cuda_failed(f, rc, "cuDevicePrimaryCtxRetain(%s)", g->info.name);
out:
	gpu_close(g);
	*out = NULL;
	return -1;
}

void gpu_close(struct gpu *g)
{
	if (!g)
		return;
	while (g->blocks)
		gpu_free(g, g->blocks->addr);
	if (g->ctx) {
		g->cu.cuCtxSetCurrent(NULL);
		g->cu.cuDevicePrimaryCtxRelease_v2(g->device);
	}
	free(g);
}

const struct gpu_info *gpu_about(const struct gpu *g)
{
	return &g->info;
}

/* Allocate BYTES into B, aligned to GPU_ALIGN_BYTES. If the driver aligns to less, allocate more
 * and align within it. */
static CUresult allocate_aligned(struct gpu *g, struct gpu_block *b, size_t bytes)
{
	CUresult rc = CUDA_CALL(g, cuMemAlloc_v2, &b->base, bytes);

	if (!rc && b->base % GPU_ALIGN_BYTES) {
		g->cu.cuMemFree_v2(b->base);
		rc = g->cu.cuMemAlloc_v2(&b->base, bytes + GPU_ALIGN_BYTES);
	}
	if (!rc)
		b->addr = round_up(b->base, GPU_ALIGN_BYTES);
	return rc;
}

uint64_t gpu_alloc(struct gpu *g, size_t bytes, struct fault *f)
{
	size_t want = round_up(bytes ? bytes : 1, ALLOC_STEP_BYTES);
	struct gpu_block *b = calloc(1, sizeof(*b));
	unsigned one = 1;
	CUresult rc;

	fault_phase(f, "allocating GPU memory");
	if (!b || want < bytes) {
		free(b);
		fault_raise(f, FAULT_LOCAL, ENOMEM, "%s", units_size(want).text);
		return 0;
	}
	rc = allocate_aligned(g, b, want);
	if (rc) {
		free(b);
		cuda_failed(f, rc, "cuMemAlloc(%s)", units_size(want).text);
		return 0;
	}
	b->next = g->blocks;
	g->blocks = b;
	rc = g->cu.cuPointerSetAttribute(&one, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, b->addr);
	if (!rc || rc == CUDA_ERROR_NOT_SUPPORTED) /* this module waits for copies anyway */
		rc = g->cu.cuMemsetD8_v2(b->addr, 0, want);
	if (!rc)
		rc = g->cu.cuCtxSynchronize();
	if (!rc)
		return b->addr;
	cuda_failed(f, rc, "preparing %s of GPU memory", units_size(want).text);
	gpu_free(g, b->addr);
	return 0;
}

void gpu_free(struct gpu *g, uint64_t addr)
{
	for (struct gpu_block **at = &g->blocks; *at; at = &(*at)->next) {
		struct gpu_block *b = *at;

		if (b->addr != addr)
			continue;
		*at = b->next;
		CUDA_CALL(g, cuMemFree_v2, b->base);
		free(b);
		return;
	}
}

int gpu_export(struct gpu *g, uint64_t addr, size_t bytes, bool pcie, int *fd, uint64_t *offset)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t base = addr & ~(page - 1);

	*fd = -1;
	*offset = addr - base;
	if (!g->cu.cuMemGetHandleForAddressRange || (pcie && g->cu.version < CUDA_PCIE_SINCE))
		return CUDA_ERROR_NOT_SUPPORTED;
	return (int)CUDA_CALL(g, cuMemGetHandleForAddressRange, fd, base,
			      round_up(*offset + bytes, page), CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD,
			      pcie ? EXPORT_PCIE : 0);
}

int gpu_copy_in(struct gpu *g, uint64_t to, const void *from, size_t bytes, struct fault *f)
{
	CUresult rc = CUDA_CALL(g, cuMemcpyHtoD_v2, to, from, bytes);

	fault_phase(f, "copying to GPU memory");
	if (!rc) /* from pageable memory the call may return early */
		rc = g->cu.cuCtxSynchronize();
	return rc ? cuda_failed(f, rc, "cuMemcpyHtoD(%zu bytes)", bytes) : 0;
}

int gpu_copy_out(struct gpu *g, void *to, uint64_t from, size_t bytes, struct fault *f)
{
	CUresult rc = CUDA_CALL(g, cuMemcpyDtoH_v2, to, from, bytes);

	fault_phase(f, "copying from GPU memory");
	return rc ? cuda_failed(f, rc, "cuMemcpyDtoH(%zu bytes)", bytes) : 0;
}

int gpu_flush(struct gpu *g, struct fault *f)
{
	return gpu_needs_flush(&g->info) && g->info.can_flush ? gpu_flush_now(g, f) : 0;
}

int gpu_flush_now(struct gpu *g, struct fault *f)
{
	CUresult rc;

	if (!g->info.can_flush) {
		fault_raise(f, FAULT_UNAVAILABLE, 0, "cuFlushGPUDirectRDMAWrites");
		fault_cause(f, "%s or its driver does not support a flush from the host",
			    g->info.name);
		return fault_fix(f, "install NVIDIA driver 465 (CUDA 11.3) or newer");
	}
	rc = CUDA_CALL(g, cuFlushGPUDirectRDMAWrites,
		       CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TARGET_CURRENT_CTX,
		       CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TO_OWNER);
	return rc ? cuda_failed(f, rc, "cuFlushGPUDirectRDMAWrites") : 0;
}

int gpu_host_register(struct gpu *g, void *addr, size_t bytes, struct fault *f)
{
	CUresult rc = CUDA_CALL(g, cuMemHostRegister_v2, addr, bytes, CU_MEMHOSTREGISTER_PORTABLE);

	return rc ? cuda_failed(f, rc, "cuMemHostRegister(%zu bytes)", bytes) : 0;
}

void gpu_host_release(struct gpu *g, void *addr)
{
	if (addr)
		CUDA_CALL(g, cuMemHostUnregister, addr);
}

struct gpu_stream {
	struct gpu *g;
	CUstream stream;
	unsigned slots; /* events that were created */
	CUevent event[];
};

static CUresult create_stream(struct gpu_stream *s, unsigned slots)
{
	CUresult rc = CUDA_CALL(s->g, cuStreamCreate, &s->stream, CU_STREAM_NON_BLOCKING);

	while (!rc && s->slots < slots) {
		rc = s->g->cu.cuEventCreate(&s->event[s->slots], CU_EVENT_DISABLE_TIMING);
		if (!rc)
			s->slots++;
	}
	return rc;
}

int gpu_stream_open(struct gpu_stream **out, struct gpu *g, unsigned slots, struct fault *f)
{
	struct gpu_stream *s = calloc(1, sizeof(*s) + slots * sizeof(s->event[0]));
	CUresult rc;

	*out = s;
	if (!s)
		return fault_raise(f, FAULT_LOCAL, ENOMEM, "allocating a stream of %u slots",
				   slots);
	s->g = g;
	rc = create_stream(s, slots);
	if (!rc)
		return 0;
	gpu_stream_close(s);
	*out = NULL;
	return cuda_failed(f, rc, "a CUDA stream with %u events", slots);
}

void gpu_stream_close(struct gpu_stream *s)
{
	if (!s)
		return;
	if (s->stream && !s->g->cu.cuCtxSetCurrent(s->g->ctx)) {
		s->g->cu.cuStreamSynchronize(s->stream);
		while (s->slots)
			s->g->cu.cuEventDestroy_v2(s->event[--s->slots]);
		s->g->cu.cuStreamDestroy_v2(s->stream);
	}
	free(s);
}

/* Each call makes the context current: any thread may call, and it costs nothing compared with a
 * copy. */
int gpu_stream_copy_in(struct gpu_stream *s, uint64_t to, const void *from, size_t bytes)
{
	return -(int)CUDA_CALL(s->g, cuMemcpyHtoDAsync_v2, to, from, bytes, s->stream);
}

int gpu_stream_copy_out(struct gpu_stream *s, void *to, uint64_t from, size_t bytes)
{
	return -(int)CUDA_CALL(s->g, cuMemcpyDtoHAsync_v2, to, from, bytes, s->stream);
}

int gpu_stream_mark(struct gpu_stream *s, unsigned slot)
{
	return -(int)CUDA_CALL(s->g, cuEventRecord, s->event[slot], s->stream);
}

int gpu_stream_done(struct gpu_stream *s, unsigned slot)
{
	CUresult rc = CUDA_CALL(s->g, cuEventQuery, s->event[slot]);

	if (rc == CUDA_SUCCESS)
		return 1;
	return rc == CUDA_ERROR_NOT_READY ? 0 : -(int)rc;
}

int gpu_stream_failed(int rc, const char *call, struct fault *f)
{
	return cuda_failed(f, (CUresult)-rc, "%s", call);
}
