// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Protection domains and memory regions.
 *
 * A key is the table index << 8, five bits that change at each use of the
 * entry, and bit 7: clear in an lkey, set in an rkey.  So a program that
 * mixes the two up fails here, as it would on some adapters.
 */
#include "fault.h"
#include "gpu.h"
#include "td.h"
#include "vgmem.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#undef ibv_reg_mr
#undef ibv_reg_mr_iova

enum {
	KEY_REMOTE = 0x80,
	KEY_LIVE = 1u << 31
};

static struct {
	pthread_mutex_t mutex;
	uint32_t next, next_pd;
	struct shm_mr *null_table; /* in null mode there is no segment */
} mrs = {.mutex = PTHREAD_MUTEX_INITIALIZER};

struct ibv_pd *ibv_alloc_pd(struct ibv_context *c)
{
	struct sim_pd *pd;

	if (fault_call(FAULT_ibv_alloc_pd))
		return NULL;
	pd = calloc(1, sizeof(*pd));
	if (!pd)
		return NULL;
	pd->ibv.context = c;
	pthread_mutex_lock(&mrs.mutex);
	pd->id = ++mrs.next_pd;
	pthread_mutex_unlock(&mrs.mutex);
	pd->ibv.handle = pd->id;
	atomic_fetch_add(&sim_ctx(c)->objects, 1);
	return &pd->ibv;
}

int ibv_dealloc_pd(struct ibv_pd *ibv)
{
	struct sim_pd *pd = (struct sim_pd *)ibv;
	int err = fault_call(FAULT_ibv_dealloc_pd);

	if (err)
		return err;
	if (atomic_load(&pd->users))
		return EBUSY;
	td_leave(pd);
	atomic_fetch_sub(&sim_ctx(ibv->context)->objects, 1);
	free(pd);
	return 0;
}

void mr_unused(struct shm_mr *mr)
{
	syscall(SYS_futex, &mr->users, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

/* Until nobody uses it; for a second at most: a requester that died leaves its count behind. */
static void await_unused(struct shm_mr *mr)
{
	uint64_t give_up = sim_now_ns() + 1000000000, now;
	uint32_t users;

	while ((users = atomic_load(&mr->users)) && (now = sim_now_ns()) < give_up) {
		struct timespec left = {.tv_sec = (time_t)((give_up - now) / 1000000000),
					.tv_nsec = (long)((give_up - now) % 1000000000)};

		syscall(SYS_futex, &mr->users, FUTEX_WAIT, users, &left, NULL, 0);
	}
	atomic_store(&mr->users, 0);
}

void *mr_get(struct shm_seg *seg, const struct mr_ask *ask, struct shm_mr **out)
{
	struct shm_mr *mr = &seg->mr[ask->key >> 8];
	uint32_t want = (ask->key & 0x7f) | KEY_LIVE;
	uint64_t off = ask->addr - mr->iova;

	*out = NULL;
	if (ask->key >> 8 >= SHM_MRS || !!(ask->key & KEY_REMOTE) != ask->remote)
		return NULL;
	atomic_fetch_add_explicit(&mr->users, 1, memory_order_acquire);
	if (atomic_load(&mr->key) != want || mr->pd != ask->pd || mr->gpu_blocked ||
	    (mr->access & ask->access) != ask->access || off > mr->length ||
	    ask->len > mr->length - off) {
		mr_put(mr);
		return NULL;
	}
	*out = mr;
	return (void *)(uintptr_t)(mr->host + off);
}

struct shm_mr *mr_find(struct shm_seg *seg, uint32_t key)
{
	return key >> 8 < SHM_MRS ? &seg->mr[key >> 8] : NULL;
}

static struct shm_mr *table(void)
{
	struct shm_seg *seg;

	if (sim_conf()->null) {
		if (!mrs.null_table)
			mrs.null_table = calloc(SHM_MRS, sizeof(struct shm_mr));
		return mrs.null_table;
	}
	seg = shm_self();
	return seg ? seg->mr : NULL;
}

/* Claim a table entry; its index, or -1. */
static int mr_slot(struct shm_mr **out, int max)
{
	struct shm_mr *t;
	int i, found = -1;

	pthread_mutex_lock(&mrs.mutex);
	t = table();
	for (i = 0; t && i < SHM_MRS - 1 && found < 0; i++) {
		uint32_t at = 1 + (mrs.next + i) % (SHM_MRS - 1);

		if (t[at].pd == 0)
			found = at;
	}
	if (found >= 0 && i <= max) {
		mrs.next = found;
		t[found].pd = UINT32_MAX; /* taken, not yet valid */
		*out = &t[found];
	} else {
		found = -1;
	}
	pthread_mutex_unlock(&mrs.mutex);
	return found;
}

static int check_access(unsigned int access, const struct desc_dev *d)
{
	unsigned int known = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
			     IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC |
			     IBV_ACCESS_MW_BIND | IBV_ACCESS_ZERO_BASED | IBV_ACCESS_HUGETLB |
			     IBV_ACCESS_ON_DEMAND | IBV_ACCESS_OPTIONAL_RANGE;

	if (access & IBV_ACCESS_ON_DEMAND && !(d->features & DESC_ODP))
		return EOPNOTSUPP;
	if (access & ~known)
		return EINVAL;
	/* remote writers need the local right too */
	if ((access & (IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC)) &&
	    !(access & IBV_ACCESS_LOCAL_WRITE))
		return EINVAL;
	return 0;
}

struct mr_args {
	void *addr;
	size_t length;
	uint64_t iova;
	unsigned int access;
	bool gpu;
};

/* The speed of D with the host's memory at ADDR, which was touched. */
static int host_mbps(const struct desc_dev *d, void *addr)
{
	int node = -1;

	if (d->far_mbps && syscall(SYS_get_mempolicy, &node, NULL, 0, addr, 3) == 0 &&
	    node != d->numa)
		return d->far_mbps;
	return d->host_mbps;
}

/* What the device description says about the speed of memory goes with the MR. */
static void set_gpu(struct shm_mr *shm, const struct desc_dev *d, void *addr, bool gpu)
{
	shm->gpu_read_mbps = gpu ? d->gpu_read_mbps : host_mbps(d, addr);
	shm->gpu_write_mbps = gpu ? d->gpu_write_mbps : host_mbps(d, addr);
	shm->gpu_fall_mbps = d->gpu_fall_mbps;
	shm->gpu_fall_bytes = d->gpu_fall_kb * UINT64_C(1000);
	atomic_store(&shm->gpu_bytes, 0);
	shm->gpu_blocked = gpu && (d->features & DESC_GPU_BLOCKED);
	if ((shm->gpu_read_mbps || shm->gpu_write_mbps) && !sim_conf()->null)
		atomic_store(&shm_self()->gpu_paced, 1);
}

static struct ibv_mr *mr_register(struct ibv_pd *pd, const struct mr_args *a)
{
	const struct desc_dev *d = sim_ctx(pd->context)->desc;
	uint32_t variant = (mrs.next * 7 + getpid()) & 0x7f;
	struct sim_mr *mr;
	int slot;

	errno = check_access(a->access, d);
	if (!errno)
		errno = fault_reg(a->length);
	if (!errno && (!a->length || a->length > d->max_mr))
		errno = a->length ? ENOMEM : EINVAL;
	if (errno)
		return NULL;
	mr = calloc(1, sizeof(*mr));
	slot = mr ? mr_slot(&mr->shm, d->max_mrs) : -1;
	if (slot < 0) {
		free(mr);
		errno = ENOMEM;
		return NULL;
	}
	mr->ibv.context = pd->context;
	mr->ibv.pd = pd;
	mr->ibv.addr = a->addr;
	mr->ibv.length = a->length;
	mr->ibv.handle = slot;
	mr->ibv.lkey = (uint32_t)slot << 8 | variant;
	mr->ibv.rkey = mr->ibv.lkey | KEY_REMOTE;
	mr->shm->access = a->access;
	mr->shm->iova = a->iova;
	mr->shm->length = a->length;
	mr->shm->host = (uintptr_t)a->addr;
	mr->shm->pd = ((struct sim_pd *)pd)->id;
	set_gpu(mr->shm, d, a->addr, a->gpu);
	atomic_store(&mr->shm->key, variant | KEY_LIVE);
	atomic_fetch_add(&((struct sim_pd *)pd)->users, 1);
	if (a->access & IBV_ACCESS_LOCAL_WRITE)
		vgmem_defined(a->addr, a->length);
	return &mr->ibv;
}

/* A GPU's driver reserves addresses that the CPU cannot touch: neither can it pin them. */
static bool touchable(const void *addr)
{
	char byte;
	struct iovec here = {&byte, 1}, there = {(void *)addr, 1};

	return process_vm_readv(getpid(), &here, 1, &there, 1, 0) == 1;
}

/* Registering pins, and pinning fails on what is not mapped. */
static bool mapped(const void *addr, size_t length)
{
	uintptr_t page = sysconf(_SC_PAGESIZE);
	uintptr_t at = (uintptr_t)addr & ~(page - 1);
	uintptr_t end = (uintptr_t)addr + length;
	unsigned char vec[4096];
	size_t n;

	if (end < (uintptr_t)addr)
		return false;
	for (; at < end; at += n) {
		n = end - at < sizeof(vec) * page ? end - at : sizeof(vec) * page;
		if (mincore((void *)at, n, vec))
			return false;
	}
	return touchable(addr);
}

struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova,
				unsigned int access)
{
	struct mr_args a = {addr, length, iova, access, false};
	struct ibv_mr *mr;
	int gpu;

	if (fault_call(FAULT_ibv_reg_mr))
		return NULL;
	if (access & IBV_ACCESS_ZERO_BASED)
		a.iova = 0;
	gpu = gpu_memory(sim_ctx(pd->context)->desc, addr, length, &a.addr);
	a.gpu = gpu > 0;
	if (gpu < 0 || (length && !mapped(a.addr, length))) {
		errno = EFAULT;
		return NULL;
	}
	mr = mr_register(pd, &a);
	if (mr)
		mr->addr = addr;
	return mr;
}

struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *addr, size_t length, int access)
{
	return ibv_reg_mr_iova2(pd, addr, length, (uintptr_t)addr, access);
}

struct ibv_mr *ibv_reg_mr_iova(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova,
			       int access)
{
	return ibv_reg_mr_iova2(pd, addr, length, iova, access);
}

/* Works for what can be mapped: a memfd or udmabuf in place of a GPU, or the simulated GPU's. */
struct ibv_mr *ibv_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset, size_t length, uint64_t iova,
				 int fd, int access)
{
	struct mr_args a = {NULL, length, iova, access, true};
	uint64_t page = sysconf(_SC_PAGESIZE), skip = offset & (page - 1), at = offset;
	struct ibv_mr *mr;
	void *map;

	if (fault_call(FAULT_ibv_reg_dmabuf_mr))
		return NULL;
	if (!(sim_ctx(pd->context)->desc->features & DESC_DMABUF)) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	if (skip != (iova & (page - 1)) || !gpu_window(fd, page, length, &at)) {
		errno = EINVAL;
		return NULL;
	}
	map = mmap(NULL, length + skip, PROT_READ | PROT_WRITE, MAP_SHARED, fd, at - skip);
	if (map == MAP_FAILED) {
		errno = errno == ENODEV ? EOPNOTSUPP : errno;
		return NULL;
	}
	a.addr = (char *)map + skip;
	mr = mr_register(pd, &a);
	if (!mr) {
		munmap(map, length + skip);
		return NULL;
	}
	gpu_attached(fd, length);
	mr->addr = (void *)(uintptr_t)offset; /* as libibverbs has it */
	((struct sim_mr *)mr)->map = map;
	((struct sim_mr *)mr)->map_len = length + skip;
	return mr;
}

int ibv_rereg_mr(struct ibv_mr *mr, int flags, struct ibv_pd *pd, void *addr, size_t length,
		 int access)
{
	(void)mr, (void)flags, (void)pd, (void)addr, (void)length, (void)access;
	errno = EOPNOTSUPP;
	return IBV_REREG_MR_ERR_INPUT;
}

int ibv_dereg_mr(struct ibv_mr *ibv)
{
	struct sim_mr *mr = (struct sim_mr *)ibv;
	int err = fault_call(FAULT_ibv_dereg_mr);

	if (err)
		return err;
	atomic_store(&mr->shm->key, 0);
	await_unused(mr->shm);
	mr->shm->pd = 0;
	atomic_fetch_sub(&((struct sim_pd *)ibv->pd)->users, 1);
	if (mr->map)
		munmap(mr->map, mr->map_len);
	free(mr);
	return 0;
}
