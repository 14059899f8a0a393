// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Data Direct: ConnectX-8 beside a CPU that is coherent with the GPU has a second PCIe function
 * right at the GPU. libmlx5 knows it from rdma-core 54 on, so its calls are looked up at run time.
 */
#include "verbs/gpu_route_try.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#define MLX5_LIBRARY       "libmlx5.so.1"
#define MLX5_VERSION       "MLX5_1.25"
#define ACCESS_DATA_DIRECT 1 /* MLX5DV_REG_DMABUF_ACCESS_DATA_DIRECT */

struct mlx5 {
	int (*path)(struct ibv_context *ctx, char *buf, size_t size);
	struct ibv_mr *(*reg)(struct ibv_pd *pd, uint64_t offset, size_t length, uint64_t iova,
			      int fd, int access, int mlx5_access);
};

/* The provider is loaded already if the device is one of its; never load it for another's sake. */
static bool load(struct mlx5 *m)
{
	void *library = dlopen(MLX5_LIBRARY, RTLD_NOW | RTLD_NOLOAD);
	void *path, *reg;

	if (!library)
		return false;
	path = dlvsym(library, "mlx5dv_get_data_direct_sysfs_path", MLX5_VERSION);
	reg = dlvsym(library, "mlx5dv_reg_dmabuf_mr", MLX5_VERSION);
	memcpy(&m->path, &path, sizeof(path));
	memcpy(&m->reg, &reg, sizeof(reg));
	/* the library stays: its provider is in use */
	dlclose(library);
	return path && reg;
}

static void failed(struct gpu_try *t, enum gpu_step step, const char *call, int errnum)
{
	t->step = step;
	t->call = call;
	t->errnum = errnum;
}

void gpu_try_data_direct(struct gpu_try *t, const struct gpu_mr_ask *ask)
{
	char path[PATH_MAX];
	uint64_t offset;
	struct mlx5 m;
	int fd, rc;

	if (!load(&m)) {
		failed(t, GPU_STEP_LIBRARY, "dlvsym(mlx5dv_reg_dmabuf_mr, " MLX5_VERSION ")", 0);
		return;
	}
	rc = m.path(ask->pd->context, path, sizeof(path));
	if (rc) {
		failed(t, GPU_STEP_DEVICE, "mlx5dv_get_data_direct_sysfs_path", rc < 0 ? -rc : rc);
		return;
	}
	t->result = gpu_export(ask->gpu, ask->addr, ask->bytes, true, &fd, &offset);
	if (t->result) {
		failed(t, GPU_STEP_EXPORT, "cuMemGetHandleForAddressRange", 0);
		return;
	}
	t->mr = m.reg(ask->pd, offset, ask->bytes, ask->addr, fd, (int)ask->access,
		      ACCESS_DATA_DIRECT);
	t->relaxed_ordering = t->mr && (ask->access & IBV_ACCESS_RELAXED_ORDERING);
	if (!t->mr)
		failed(t, GPU_STEP_REGISTER, "mlx5dv_reg_dmabuf_mr", errno);
	close(fd);
}
