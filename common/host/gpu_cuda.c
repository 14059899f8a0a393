// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "host/gpu_cuda.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/units.h"

#define ALLOC_STEP_BYTES ((size_t)2 << 20) /* the driver's own granularity */
#define EXPORT_PCIE      1u                /* CU_MEM_RANGE_FLAG_DMA_BUF_MAPPING_TYPE_PCIE */

static size_t round_up(size_t n, size_t step)
{
	return (n + step - 1) / step * step;
}

static void add_cause(struct fault *f, CUresult result)
{
	switch ((int)result) {
	case CUDA_ERROR_OUT_OF_MEMORY:
		fault_cause(f, "The GPU has not that much memory free");
		fault_fix(f, "look at nvidia-smi for who has it; use smaller messages (-s) or "
			     "fewer QPs (-q)");
		break;
	case CUDA_ERROR_DEVICE_UNAVAILABLE:
		fault_cause(f, "The GPU is in exclusive mode and another process has it");
		fault_fix(f, "nvidia-smi -c DEFAULT, or end that process");
		break;
	case CUDA_ERROR_ILLEGAL_ADDRESS:
	case CUDA_ERROR_LAUNCH_FAILED:
	case CUDA_ERROR_ECC_UNCORRECTABLE:
		fault_cause(f, "The GPU reported an error that ends its context");
		fault_fix(f, "look at dmesg for Xid");
		break;
	case CUDA_ERROR_INVALID_VALUE:
		break;
	default:
		fault_fix(f, "look at dmesg for NVRM and Xid");
		break;
	}
}

int cuda_failed(struct fault *f, CUresult result, const char *call, ...)
{
	char text[128];
	va_list ap;

	if (fault_is(f))
		return fault_raise(f, FAULT_LOCAL, 0, "%s", call);
	va_start(ap, call);
	vsnprintf(text, sizeof(text), call, ap);
	va_end(ap);
	fault_raise(f, FAULT_LOCAL, 0, "%s: %s (%d)", text, gpu_error_name((int)result),
		    (int)result);
	add_cause(f, result);
	return -1;
}

static int check_wish(const struct gpu_wish *wish, struct fault *f)
{
	if ((wish->index >= 0) + !!wish->uuid + !!wish->pci == 1)
		return 0;
	fault_raise(f, FAULT_USAGE, 0, "A GPU is named by index, UUID or PCI address");
	return fault_fix(f, "give exactly one of them");
}

int gpu_open(struct gpu **out, const struct gpu_wish *wish, struct fault *f)
{
	struct gpu *g = calloc(1, sizeof(*g));
	int index;
	CUresult rc;

	*out = g;
	fault_phase(f, "opening the GPU");
	if (!g)
		return fault_raise(f, FAULT_LOCAL, ENOMEM, "struct gpu");
	if (check_wish(wish, f) || cuda_driver_start(&g->cu, f))
		goto out;
	index = cuda_choose(&g->cu, wish, f);
	if (index < 0 || cuda_describe(&g->cu, index, &g->info, f))
		goto out;
	rc = g->cu.device_get(&g->device, index);
	if (!rc)
		rc = g->cu.ctx_retain(&g->ctx, g->device);
	if (!rc)
		rc = cuda_enter(g);
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
		g->cu.ctx_set_current(NULL);
		g->cu.ctx_release(g->device);
	}
	free(g);
}

const struct gpu_info *gpu_about(const struct gpu *g)
{
	return &g->info;
}

/* Allocate into B, aligned; if the driver aligns less, with room to do it here. */
static CUresult take_memory(struct gpu *g, struct gpu_block *b, size_t bytes)
{
	CUresult rc = g->cu.mem_alloc(&b->base, bytes);

	if (!rc && b->base % GPU_ALIGN_BYTES) {
		g->cu.mem_free(b->base);
		rc = g->cu.mem_alloc(&b->base, bytes + GPU_ALIGN_BYTES);
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
	char size[32];
	CUresult rc;

	fault_phase(f, "allocating GPU memory");
	units_format_size(want, size, sizeof(size));
	if (!b || want < bytes) {
		free(b);
		fault_raise(f, FAULT_LOCAL, ENOMEM, "%s", size);
		return 0;
	}
	rc = cuda_enter(g);
	if (!rc)
		rc = take_memory(g, b, want);
	if (rc) {
		free(b);
		cuda_failed(f, rc, "cuMemAlloc(%s)", size);
		return 0;
	}
	b->next = g->blocks;
	g->blocks = b;
	rc = g->cu.pointer_set_attribute(&one, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, b->addr);
	if (!rc || rc == CUDA_ERROR_NOT_SUPPORTED) /* copies are waited for here, too */
		rc = g->cu.memset_d8(b->addr, 0, want);
	if (!rc)
		rc = g->cu.ctx_synchronize();
	if (!rc)
		return b->addr;
	cuda_failed(f, rc, "preparing %s of GPU memory", size);
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
		if (!cuda_enter(g))
			g->cu.mem_free(b->base);
		free(b);
		return;
	}
}

int gpu_export(struct gpu *g, uint64_t addr, size_t bytes, bool pcie, int *fd, uint64_t *offset)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t base = addr & ~(page - 1);
	CUresult rc;

	*fd = -1;
	*offset = addr - base;
	if (!g->cu.get_handle || (pcie && g->cu.version < CUDA_PCIE_SINCE))
		return CUDA_ERROR_NOT_SUPPORTED;
	rc = cuda_enter(g);
	if (!rc)
		rc = g->cu.get_handle(fd, base, round_up(*offset + bytes, page),
				      CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD, pcie ? EXPORT_PCIE : 0);
	return (int)rc;
}

int gpu_copy_in(struct gpu *g, uint64_t to, const void *from, size_t bytes, struct fault *f)
{
	CUresult rc = cuda_enter(g);

	fault_phase(f, "copying to GPU memory");
	if (!rc)
		rc = g->cu.copy_in(to, from, bytes);
	if (!rc) /* from pageable memory the call may return early */
		rc = g->cu.ctx_synchronize();
	return rc ? cuda_failed(f, rc, "cuMemcpyHtoD(%zu bytes)", bytes) : 0;
}

int gpu_copy_out(struct gpu *g, void *to, uint64_t from, size_t bytes, struct fault *f)
{
	CUresult rc = cuda_enter(g);

	fault_phase(f, "copying from GPU memory");
	if (!rc)
		rc = g->cu.copy_out(to, from, bytes);
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
		return fault_cause(f, "%s or its driver has no flush from the host", g->info.name);
	}
	rc = cuda_enter(g);
	if (!rc)
		rc = g->cu.flush_writes(CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TARGET_CURRENT_CTX,
					CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TO_OWNER);
	return rc ? cuda_failed(f, rc, "cuFlushGPUDirectRDMAWrites") : 0;
}

int gpu_host_register(struct gpu *g, void *addr, size_t bytes, struct fault *f)
{
	CUresult rc = cuda_enter(g);

	if (!rc)
		rc = g->cu.host_register(addr, bytes, CU_MEMHOSTREGISTER_PORTABLE);
	return rc ? cuda_failed(f, rc, "cuMemHostRegister(%zu bytes)", bytes) : 0;
}

void gpu_host_release(struct gpu *g, void *addr)
{
	if (addr && !cuda_enter(g))
		g->cu.host_unregister(addr);
}
