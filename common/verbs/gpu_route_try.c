// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "verbs/gpu_route_try.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

/* Looked up when needed: rdma-core before 34 does not have it, and may still have peermem. */
typedef struct ibv_mr *dmabuf_call(struct ibv_pd *pd, uint64_t offset, size_t length, uint64_t iova,
				   int fd, int access);

static dmabuf_call *find_dmabuf_call(void)
{
	dmabuf_call *call;
	void *symbol = dlsym(RTLD_DEFAULT, "ibv_reg_dmabuf_mr");

	memcpy(&call, &symbol, sizeof(call));
	return call;
}

static void failed(struct gpu_try *t, enum gpu_step step, const char *call, int errnum)
{
	t->step = step;
	t->call = call;
	t->errnum = errnum;
}

/* Is the whole chain there, but for the dma-buf? EBADF says that it came to look for that. */
static bool chain_is_there(struct gpu_try *t, const struct gpu_mr_ask *ask, dmabuf_call *reg)
{
	struct ibv_mr *mr = reg(ask->pd, 0, 4096, 0, -1, IBV_ACCESS_LOCAL_WRITE);
	int errnum = errno;

	if (mr)
		ibv_dereg_mr(mr);
	if (mr || (errnum != EOPNOTSUPP && errnum != EPROTONOSUPPORT && errnum != ENOSYS))
		return true;
	failed(t, GPU_STEP_PROBE, "ibv_reg_dmabuf_mr", errnum);
	return false;
}

/* Register the export FD; a device that does not take relaxed ordering gets it without. */
static struct ibv_mr *register_fd(struct gpu_try *t, const struct gpu_mr_ask *ask, dmabuf_call *reg,
				  uint64_t offset, int fd)
{
	int access = (int)ask->access;
	struct ibv_mr *mr = reg(ask->pd, offset, ask->bytes, ask->addr, fd, access);

	if (!mr && errno == EINVAL && (access & IBV_ACCESS_RELAXED_ORDERING)) {
		access &= ~IBV_ACCESS_RELAXED_ORDERING;
		mr = reg(ask->pd, offset, ask->bytes, ask->addr, fd, access);
	}
	t->relaxed_ordering = mr && (access & IBV_ACCESS_RELAXED_ORDERING);
	return mr;
}

static void try_dmabuf(struct gpu_try *t, const struct gpu_mr_ask *ask)
{
	dmabuf_call *reg = find_dmabuf_call();
	uint64_t offset;
	int fd;

	if (!reg) {
		failed(t, GPU_STEP_LIBRARY, "dlsym(ibv_reg_dmabuf_mr)", 0);
		return;
	}
	if (!chain_is_there(t, ask, reg))
		return;
	t->result = gpu_export(ask->gpu, ask->addr, ask->bytes, false, &fd, &offset);
	if (t->result) {
		failed(t, GPU_STEP_EXPORT, "cuMemGetHandleForAddressRange", 0);
		return;
	}
	t->mr = register_fd(t, ask, reg, offset, fd);
	if (!t->mr)
		failed(t, GPU_STEP_REGISTER, "ibv_reg_dmabuf_mr", errno);
	close(fd);
}

static void try_peermem(struct gpu_try *t, const struct gpu_mr_ask *ask)
{
	t->mr = ibv_reg_mr(ask->pd, (void *)(uintptr_t)ask->addr, ask->bytes, (int)ask->access);
	t->relaxed_ordering = t->mr && (ask->access & IBV_ACCESS_RELAXED_ORDERING);
	if (!t->mr)
		failed(t, GPU_STEP_REGISTER, "ibv_reg_mr", errno);
}

void gpu_try_register(struct gpu_try *t, const struct gpu_mr_ask *asked)
{
	struct gpu_mr_ask ask = *asked;

	memset(t, 0, sizeof(*t));
	ask.access |= IBV_ACCESS_LOCAL_WRITE;
	switch (ask.route) {
	case GPU_ROUTE_DMABUF:
		try_dmabuf(t, &ask);
		break;
	case GPU_ROUTE_PEERMEM:
		try_peermem(t, &ask);
		break;
	case GPU_ROUTE_DATA_DIRECT:
		gpu_try_data_direct(t, &ask);
		break;
	default:
		failed(t, GPU_STEP_DEVICE, "registering", EINVAL);
		break;
	}
}
