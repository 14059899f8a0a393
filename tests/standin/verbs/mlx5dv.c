// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The one call of libmlx5 that perftest 6.2x makes on a NIC whose vendor is NVIDIA, as the devices
 * here say they are: without an answer it makes no queue pair.
 */
#include <infiniband/mlx5dv.h>
#include <string.h>

int mlx5dv_query_device(struct ibv_context *ctx, struct mlx5dv_context *attrs)
{
	(void)ctx;
	memset(attrs, 0, sizeof(*attrs));
	attrs->flags = ~0ull; /* whatever it asks for, by a name that an older header does not have */
	return 0;
}
