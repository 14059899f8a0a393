// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Device memory: a memfd for each allocation, mapped twice. The device address may not be touched;
 * the hidden mapping is what copies use, and what a simulated NIC with peer memory gets.
 */
#include "simcuda.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define FIRST_ADDRESS SIM_FIRST_ADDRESS
#define GRANULE       ((size_t)2 << 20)
#define EXPORT_PCIE   1u

struct block {
	struct block *next;
	struct sim_gpu *gpu;
	CUdeviceptr base; /* what the program got */
	char *reserved, *hidden;
	size_t bytes, mapped;
	int fd;
};

struct pinned {
	struct pinned *next;
	const char *addr;
	size_t bytes;
};

static struct {
	struct block *blocks;
	struct pinned *pinned;
	uint64_t next_address;
} mem = {.next_address = FIRST_ADDRESS};

static struct block *block_of(CUdeviceptr addr, size_t bytes)
{
	struct block *b;

	for (b = mem.blocks; b; b = b->next)
		if (addr >= b->base && addr - b->base <= b->bytes &&
		    bytes <= b->bytes - (addr - b->base))
			return b;
	return NULL;
}

static char *hidden_of(const struct block *b, CUdeviceptr addr)
{
	return b->hidden + (addr - (uintptr_t)b->reserved);
}

void *sim_hidden(CUdeviceptr addr, size_t bytes)
{
	const struct block *b = block_of(addr, bytes);

	return b ? hidden_of(b, addr) : NULL;
}

static void block_free(struct block *b)
{
	if (b->reserved != MAP_FAILED)
		munmap(b->reserved, b->mapped);
	if (b->hidden != MAP_FAILED)
		munmap(b->hidden, b->mapped);
	if (b->fd >= 0)
		close(b->fd);
	free(b);
}

static struct block *block_make(size_t bytes, size_t misalign)
{
	struct block *b = calloc(1, sizeof(*b));

	if (!b)
		return NULL;
	b->bytes = bytes;
	b->mapped = (bytes + misalign + GRANULE - 1) / GRANULE * GRANULE;
	b->hidden = b->reserved = MAP_FAILED;
	b->fd = memfd_create(SIM_NAME, MFD_CLOEXEC);
	if (b->fd >= 0 && !ftruncate(b->fd, (off_t)b->mapped))
		b->hidden = mmap(NULL, b->mapped, PROT_READ | PROT_WRITE, MAP_SHARED, b->fd, 0);
	if (b->hidden != MAP_FAILED && sim_conf()->touchable)
		b->reserved = mmap((void *)mem.next_address, b->mapped, PROT_READ | PROT_WRITE,
				   MAP_SHARED, b->fd, 0);
	else if (b->hidden != MAP_FAILED)
		b->reserved = mmap((void *)mem.next_address, b->mapped, PROT_NONE,
				   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (b->reserved == MAP_FAILED) {
		block_free(b);
		return NULL;
	}
	/* not zero: new device memory holds anything */
	memset(b->hidden, 0xdb, b->mapped);
	mem.next_address += b->mapped + GRANULE;
	b->base = (uintptr_t)b->reserved + misalign;
	return b;
}

EXPORTED CUresult cuMemAlloc_v2(CUdeviceptr *addr, size_t bytes)
{
	CUresult rc = sim_enter("cuMemAlloc", true);
	struct sim_gpu *g = sim_current();
	struct block *b;

	if (rc)
		return rc;
	if (!bytes)
		return sim_leave(CUDA_ERROR_INVALID_VALUE);
	b = bytes <= g->memory_bytes - g->used_bytes ? block_make(bytes, sim_conf()->misalign_bytes)
						     : NULL;
	if (!b)
		return sim_leave(CUDA_ERROR_OUT_OF_MEMORY);
	b->gpu = g;
	g->used_bytes += bytes;
	b->next = mem.blocks;
	mem.blocks = b;
	sim_conf()->count.allocs++;
	if (sim_placed)
		sim_placed(g, (int64_t)b->mapped);
	*addr = b->base;
	return sim_leave(CUDA_SUCCESS);
}

EXPORTED CUresult cuMemFree_v2(CUdeviceptr addr)
{
	CUresult rc = sim_enter("cuMemFree", true);
	struct block **at, *b;

	if (rc)
		return rc;
	sim_drain();
	for (at = &mem.blocks; *at && (*at)->base != addr; at = &(*at)->next)
		;
	b = *at;
	if (!b)
		return sim_leave(CUDA_ERROR_INVALID_VALUE);
	*at = b->next;
	b->gpu->used_bytes -= b->bytes;
	sim_conf()->count.frees++;
	if (sim_placed)
		sim_placed(b->gpu, -(int64_t)b->mapped);
	block_free(b);
	return sim_leave(CUDA_SUCCESS);
}

EXPORTED CUresult cuMemsetD8_v2(CUdeviceptr addr, unsigned char value, size_t bytes)
{
	CUresult rc = sim_enter("cuMemsetD8", true);

	if (rc)
		return rc;
	if (!sim_hidden(addr, bytes))
		return sim_leave(CUDA_ERROR_INVALID_VALUE);
	memset(sim_hidden(addr, bytes), value, bytes);
	return sim_leave(CUDA_SUCCESS);
}

/* A copy that is over when the call returns. The lock is not held while it waits. */
static CUresult copy(enum sim_way way, char *to, const char *from, size_t bytes)
{
	size_t at = 0, n;

	do {
		uint64_t due;

		n = bytes - at < SIM_SLICE ? bytes - at : SIM_SLICE;
		due = sim_due(way, n, 0, !at);
		sim_unlock();
		sim_wait(due);
		sim_lock();
		sim_move(way, to + at, from + at, n, at + n == bytes);
		at += n;
	} while (at < bytes);
	return sim_leave(CUDA_SUCCESS);
}

EXPORTED CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void *from, size_t bytes)
{
	CUresult rc = sim_enter("cuMemcpyHtoD", true);

	if (rc)
		return rc;
	if (!sim_hidden(to, bytes))
		return sim_leave(CUDA_ERROR_INVALID_VALUE);
	return copy(SIM_IN, sim_hidden(to, bytes), from, bytes);
}

EXPORTED CUresult cuMemcpyDtoH_v2(void *to, CUdeviceptr from, size_t bytes)
{
	CUresult rc = sim_enter("cuMemcpyDtoH", true);

	if (rc)
		return rc;
	if (!sim_hidden(from, bytes))
		return sim_leave(CUDA_ERROR_INVALID_VALUE);
	return copy(SIM_OUT, to, sim_hidden(from, bytes), bytes);
}

EXPORTED CUresult cuPointerSetAttribute(const void *value, CUpointer_attribute number,
					CUdeviceptr addr)
{
	CUresult rc = sim_enter("cuPointerSetAttribute", true);

	(void)value;
	if (rc)
		return rc;
	return sim_leave(number == CU_POINTER_ATTRIBUTE_SYNC_MEMOPS && sim_hidden(addr, 1)
				 ? CUDA_SUCCESS
				 : CUDA_ERROR_INVALID_VALUE);
}

/*
 * A descriptor of the allocation's memory, of its own position: the position says which part of
 * it this dma-buf is, first page | pages << 31, for the simulated ibv_reg_dmabuf_mr().
 */
static int window(const struct block *b, CUdeviceptr addr, size_t bytes, size_t page)
{
	off_t first = (off_t)((addr - (uintptr_t)b->reserved) / page);
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", b->fd);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd >= 0)
		lseek(fd, first | (off_t)(bytes / page) << 31, SEEK_SET);
	return fd;
}

EXPORTED CUresult cuMemGetHandleForAddressRange(void *handle, CUdeviceptr addr, size_t bytes,
						CUmemRangeHandleType type, unsigned long long flags)
{
	CUresult rc = sim_enter("cuMemGetHandleForAddressRange", true);
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	const struct block *b;
	int fd;

	if (rc)
		return rc;
	b = block_of(addr, 1);
	if (type != CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD || addr % page || bytes % page || !bytes ||
	    !b || addr - (uintptr_t)b->reserved + bytes > b->mapped)
		return sim_leave(CUDA_ERROR_INVALID_VALUE);
	if (!b->gpu->dmabuf || sim_conf()->driver < 11070 || (flags == EXPORT_PCIE && !b->gpu->c2c))
		return sim_leave(CUDA_ERROR_NOT_SUPPORTED);
	fd = window(b, addr, bytes, page);
	if (fd < 0)
		return sim_leave(CUDA_ERROR_OPERATING_SYSTEM);
	*(int *)handle = fd;
	sim_conf()->count.exports++;
	return sim_leave(CUDA_SUCCESS);
}

bool sim_allocation(CUdeviceptr addr, CUdeviceptr *base, size_t *bytes)
{
	const struct block *b = block_of(addr, 1);

	if (!b)
		return false;
	*base = b->base;
	*bytes = b->bytes;
	return true;
}

struct sim_gpu *sim_gpu_of(CUdeviceptr addr)
{
	struct block *b = block_of(addr, 1);

	return b ? b->gpu : NULL;
}

int sim_export_whole(CUdeviceptr addr, size_t bytes, uint64_t *offset)
{
	const struct block *b = block_of(addr, bytes);

	if (!b || !bytes)
		return -1;
	*offset = addr - (uintptr_t)b->reserved;
	sim_conf()->count.exports++;
	return window(b, (uintptr_t)b->reserved, b->mapped, (size_t)sysconf(_SC_PAGESIZE));
}

EXPORTED CUresult cuFlushGPUDirectRDMAWrites(CUflushGPUDirectRDMAWritesTarget target,
					     CUflushGPUDirectRDMAWritesScope scope)
{
	CUresult rc = sim_enter("cuFlushGPUDirectRDMAWrites", true);

	(void)target;
	(void)scope;
	if (rc)
		return rc;
	sim_conf()->count.flushes++;
	return sim_leave(sim_current()->flush & 1 ? CUDA_SUCCESS : CUDA_ERROR_NOT_SUPPORTED);
}

bool sim_is_registered(const void *addr, size_t bytes)
{
	const struct pinned *p;

	for (p = mem.pinned; p; p = p->next)
		if ((const char *)addr >= p->addr &&
		    (const char *)addr + bytes <= p->addr + p->bytes)
			return true;
	return false;
}

EXPORTED CUresult cuMemHostRegister_v2(void *addr, size_t bytes, unsigned flags)
{
	CUresult rc = sim_enter("cuMemHostRegister", true);
	struct pinned *p;

	(void)flags;
	if (rc)
		return rc;
	if (!addr || !bytes)
		return sim_leave(CUDA_ERROR_INVALID_VALUE);
	if (sim_is_registered(addr, 1))
		return sim_leave(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
	p = malloc(sizeof(*p));
	if (!p)
		return sim_leave(CUDA_ERROR_OUT_OF_MEMORY);
	*p = (struct pinned){mem.pinned, addr, bytes};
	mem.pinned = p;
	sim_conf()->count.registers++;
	return sim_leave(CUDA_SUCCESS);
}

EXPORTED CUresult cuMemHostUnregister(void *addr)
{
	CUresult rc = sim_enter("cuMemHostUnregister", true);
	struct pinned **at, *p;

	if (rc)
		return rc;
	sim_drain();
	for (at = &mem.pinned; *at && (*at)->addr != addr; at = &(*at)->next)
		;
	p = *at;
	if (!p)
		return sim_leave(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
	*at = p->next;
	free(p);
	sim_conf()->count.unregisters++;
	return sim_leave(CUDA_SUCCESS);
}

/*
 * For the simulated NIC's ibv_reg_mr(), as nvidia-peermem answers the kernel: 0 not device memory,
 * 1 *HOST is where it lies, -1 device memory that no NIC may have (not all of it one allocation's,
 * a GPU without GPUDirect, more than BAR1).
 */
/* The stand-in for HIP has it by the name simhip_peer_memory. */
#ifndef SIM_PEER_MEMORY
#define SIM_PEER_MEMORY simcuda_peer_memory
#endif
EXPORTED int SIM_PEER_MEMORY(uint64_t addr, size_t bytes, void **host);
EXPORTED int SIM_PEER_MEMORY(uint64_t addr, size_t bytes, void **host)
{
	const struct block *b;
	int answer = 0;

	sim_lock();
	b = block_of(addr, 1);
	if (b && (addr - b->base + bytes > b->bytes || !b->gpu->gpudirect ||
		  bytes > b->gpu->bar1_bytes)) {
		answer = -1;
	} else if (b) {
		*host = hidden_of(b, addr);
		answer = 1;
	}
	sim_unlock();
	return answer;
}
