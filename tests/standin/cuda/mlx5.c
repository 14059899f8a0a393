// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A libmlx5 with nothing in it but Data Direct's two calls, for a NIC that is simverbs'.
 * SIMMLX5_PATH is the sysfs path of the data-direct function; without it there is none.
 */
#include <errno.h>
#include <infiniband/verbs.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int mlx5dv_get_data_direct_sysfs_path(struct ibv_context *ctx, char *buf, size_t size);
struct ibv_mr *mlx5dv_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset, size_t length,
				    uint64_t iova, int fd, int access, int mlx5_access);

int mlx5dv_get_data_direct_sysfs_path(struct ibv_context *ctx, char *buf, size_t size)
{
	const char *path = getenv("SIMMLX5_PATH");

	(void)ctx;
	if (!path)
		return ENODEV;
	return snprintf(buf, size, "%s", path) < (int)size ? 0 : ENOSPC;
}

struct ibv_mr *mlx5dv_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset, size_t length,
				    uint64_t iova, int fd, int access, int mlx5_access)
{
	if (mlx5_access != 1 || iova % (uint64_t)sysconf(_SC_PAGESIZE)) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	return ibv_reg_dmabuf_mr(pd, offset, length, iova, fd, access);
}
