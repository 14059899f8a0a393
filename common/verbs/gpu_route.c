// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "verbs/gpu_route.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/phase.h"
#include "base/text.h"
#include "base/units.h"
#include "finding/why.h"

#define PROBE_BYTES 65536
#define MOVED_BYTES ((size_t)64 << 20) /* so that it is seen among what others do */

/* A route's name in --gpu-path and JSON, in messages, and the call that registers the memory. */
static const struct {
	const char *name, *words, *call;
} routes[GPU_ROUTES] = {
	[GPU_ROUTE_DMABUF] = {"dmabuf", "dma-buf", "ibv_reg_dmabuf_mr"},
	[GPU_ROUTE_PEERMEM] = {"peermem", "peermem", "ibv_reg_mr"},
	[GPU_ROUTE_DATA_DIRECT] = {"data_direct", "Data Direct", "mlx5dv_reg_dmabuf_mr"},
};

/*
 * Data Direct: a ConnectX-8 next to a CPU that is coherent with the GPU has a second PCIe function
 * directly at the GPU. libmlx5 supports it since rdma-core 54, so its calls are looked up at run
 * time.
 */
#define MLX5_LIBRARY       "libmlx5.so.1"
#define MLX5_VERSION       "MLX5_1.25"
#define ACCESS_DATA_DIRECT 1 /* MLX5DV_REG_DMABUF_ACCESS_DATA_DIRECT */

/* Calls that are looked up at run time. */
struct reg_calls {
	/* NULL with rdma-core before 34, where peermem may still work. */
	struct ibv_mr *(*reg_dmabuf)(struct ibv_pd *pd, uint64_t offset, size_t length,
				     uint64_t iova, int fd, int access);
	int (*direct_path)(struct ibv_context *ctx, char *buf, size_t size);
	struct ibv_mr *(*reg_direct)(struct ibv_pd *pd, uint64_t offset, size_t length,
				     uint64_t iova, int fd, int access, int mlx5_access);
};

/* Fill C; calls that are missing are NULL. libibverbs has loaded mlx5's provider if there is an
 * mlx5 device; it is not loaded for others. */
static void look_up_calls(struct reg_calls *c)
{
	void *symbol = dlsym(RTLD_DEFAULT, "ibv_reg_dmabuf_mr");
	void *library = dlopen(MLX5_LIBRARY, RTLD_NOW | RTLD_NOLOAD);

	memset(c, 0, sizeof(*c));
	memcpy(&c->reg_dmabuf, &symbol, sizeof(symbol));
	if (!library)
		return;
	symbol = dlvsym(library, "mlx5dv_get_data_direct_sysfs_path", MLX5_VERSION);
	memcpy(&c->direct_path, &symbol, sizeof(symbol));
	symbol = dlvsym(library, "mlx5dv_reg_dmabuf_mr", MLX5_VERSION);
	memcpy(&c->reg_direct, &symbol, sizeof(symbol));
	dlclose(library); /* it stays loaded: libibverbs uses it */
}

/* Raise FAULT_LOCAL: the route's call failed with ERRNUM. The GPU's vendor knows why. */
static int raise_refused(const struct gpu_mr_attr *attr, enum memory_refusal refusal, int errnum,
			 struct fault *f)
{
	fault_raise(f, FAULT_LOCAL, errnum, "%s(%s of GPU memory)", routes[attr->route].call,
		    units_size(attr->bytes).text);
	return attr->gpu->ops->why(&attr->gpu->info, refusal, errnum, attr->bytes, f);
}

/* Check that library, kernel and driver can register a dma-buf, by a call with descriptor -1: EBADF
 * shows that only the dma-buf is missing. */
static int check_dmabuf(const struct reg_calls *c, const struct gpu_mr_attr *attr, struct fault *f)
{
	struct ibv_mr *mr;

	if (!c->reg_dmabuf) {
		fault_raise(f, FAULT_LOCAL, 0, "dlsym(ibv_reg_dmabuf_mr)");
		return EXPLAIN(f, OLD_RDMA_CORE);
	}
	mr = c->reg_dmabuf(attr->pd, 0, 4096, 0, -1, IBV_ACCESS_LOCAL_WRITE);
	if (mr)
		ibv_dereg_mr(mr);
	else if (errno == EOPNOTSUPP || errno == EPROTONOSUPPORT || errno == ENOSYS)
		return raise_refused(attr, MEMORY_NO_DMABUF, errno, f);
	return 0;
}

/* Check that the libraries and the NIC have Data Direct. */
static int check_data_direct(const struct reg_calls *c, const struct gpu_mr_attr *attr,
			     struct fault *f)
{
	char path[PATH_MAX];
	int rc;

	if (!c->direct_path || !c->reg_direct) {
		fault_raise(f, FAULT_LOCAL, 0, "dlvsym(mlx5dv_reg_dmabuf_mr, " MLX5_VERSION ")");
		return EXPLAIN(f, DATA_DIRECT_NEEDS);
	}
	rc = c->direct_path(attr->pd->context, path, sizeof(path));
	if (!rc)
		return 0;
	fault_raise(f, FAULT_LOCAL, rc < 0 ? -rc : rc, "mlx5dv_get_data_direct_sysfs_path");
	return EXPLAIN(f, NO_DATA_DIRECT);
}

/* Register the memory by its address (peermem), or the dma-buf FD that the driver exported. Returns
 * NULL with errno on failure. */
static struct ibv_mr *reg_gpu_mr(const struct reg_calls *c, const struct gpu_mr_attr *attr,
				 uint64_t offset, int fd, int access)
{
	if (attr->route == GPU_ROUTE_DMABUF)
		return c->reg_dmabuf(attr->pd, offset, attr->bytes, attr->addr, fd, access);
	if (attr->route == GPU_ROUTE_DATA_DIRECT)
		return c->reg_direct(attr->pd, offset, attr->bytes, attr->addr, fd, access,
				     ACCESS_DATA_DIRECT);
	return ibv_reg_mr(attr->pd, (void *)(uintptr_t)attr->addr, attr->bytes, access);
}

/*
 * Register the memory of ATTR. Returns 0, or -1 with FAULT_LOCAL, the cause and, if known, the fix.
 */
static int try_route(struct gpu_mr *m, const struct gpu_mr_attr *attr, struct fault *f)
{
	bool direct = attr->route == GPU_ROUTE_DATA_DIRECT;
	int access = (int)attr->access | IBV_ACCESS_LOCAL_WRITE, fd = -1, rc = 0;
	int64_t (*moved_bytes)(const struct gpu_info *g) = attr->gpu->ops->moved_bytes;
	int64_t before = moved_bytes ? moved_bytes(&attr->gpu->info) : -1;
	uint64_t offset = 0;
	struct reg_calls c;

	*m = (struct gpu_mr){.addr = attr->addr, .bytes = attr->bytes, .data_direct = direct};
	look_up_calls(&c);
	if (attr->route != GPU_ROUTE_PEERMEM) {
		if (direct ? check_data_direct(&c, attr, f) : check_dmabuf(&c, attr, f))
			return -1;
		rc = attr->gpu->ops->export(attr->gpu, attr->addr, attr->bytes, direct, &fd,
					    &offset);
	}
	if (rc)
		return attr->gpu->ops->why(&attr->gpu->info,
					   direct ? MEMORY_EXPORT_DIRECT : MEMORY_EXPORT, rc,
					   attr->bytes, f);
	m->mr = reg_gpu_mr(&c, attr, offset, fd, access);
	if (!m->mr && errno == EINVAL && (access & IBV_ACCESS_RELAXED_ORDERING)) {
		access &= ~IBV_ACCESS_RELAXED_ORDERING; /* not every device supports it */
		m->mr = reg_gpu_mr(&c, attr, offset, fd, access);
	}
	m->relaxed_ordering = access & IBV_ACCESS_RELAXED_ORDERING;
	if (!m->mr)
		raise_refused(attr,
			      attr->route == GPU_ROUTE_PEERMEM ? MEMORY_PEERMEM : MEMORY_DMABUF,
			      errno, f);
	if (fd >= 0)
		close(fd);
	if (m->mr && attr->probe && before >= 0 &&
	    moved_bytes(&attr->gpu->info) - before > (int64_t)attr->bytes / 2)
		return attr->gpu->ops->why(&attr->gpu->info, MEMORY_MOVED, 0, attr->bytes, f);
	return m->mr ? 0 : -1;
}

void gpu_route_before_open(void)
{
	setenv("MLX5_SCATTER_TO_CQE", "0", 0);
}

/*
 * Try ATTR's route with new memory, and set REFUSED. What seems to have moved is tried again,
 * because others allocate at the same time: two of three attempts count. Returns -1 without memory.
 */
static int probe_route(struct gpu_mr_attr *attr, struct fault *refused, struct fault *f)
{
	struct memory_attr wanted = {.gpu = attr->gpu, .bytes = attr->bytes};
	unsigned kept = 0, moved = 0;

	while (kept < 2 && moved < 2) {
		struct memory memory;
		struct gpu_mr m;
		int rc;

		if (memory_alloc(&memory, &wanted, f))
			return -1;
		attr->addr = memory.addr;
		memset(refused, 0, sizeof(*refused));
		rc = try_route(&m, attr, refused);
		/* not registered, or registered and there: nothing to repeat */
		if (!moved && (!m.mr || !rc))
			kept = 2;
		else if (rc)
			moved++;
		else
			kept++;
		gpu_mr_release(&m);
		memory_free(&memory);
	}
	return 0;
}

/* Why dma-buf and peermem do not work. A missing Data Direct is normal and not mentioned. */
static void add_reasons(const struct gpu_choice *r, char *buf, size_t size)
{
	const char *dmabuf = r->refused[GPU_ROUTE_DMABUF].cause;
	const char *peermem = r->refused[GPU_ROUTE_PEERMEM].cause;
	const char *between = buf[0] ? "; " : "";

	if (dmabuf[0] && strcmp(dmabuf, peermem) == 0)
		text_add(buf, size, "%sneither dma-buf nor peermem: %s", between, dmabuf);
	else if (dmabuf[0])
		text_add(buf, size, "%snot dma-buf: %s", between, dmabuf);
	if (peermem[0] && strcmp(dmabuf, peermem) != 0)
		text_add(buf, size, "%snot peermem: %s", buf[0] ? "; " : "", peermem);
}

int gpu_route_choose(struct gpu_choice *c, struct fault *f)
{
	struct gpu_mr_attr attr = {
		.pd = c->pd,
		.gpu = c->gpu,
		.probe = true,
		.bytes = c->gpu->ops->moved_bytes ? MOVED_BYTES : PROBE_BYTES,
		.access = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ,
	};
	bool any = c->wanted == GPU_PATH_AUTO;
	const struct fault *refused;
	char reasons[640] = "";

	c->route = any ? 0 : (enum gpu_route)(c->wanted - GPU_PATH_DMABUF);
	do {
		attr.route = c->route;
		refused = &c->refused[c->route];
		if (probe_route(&attr, &c->refused[c->route], f))
			return -1;
		if (!fault_is(refused))
			return 0;
	} while (any && ++c->route < GPU_ROUTES);
	fault_phase(f, PHASE_GPU_ROUTE);
	if (any) {
		add_reasons(c, reasons, sizeof(reasons));
		fault_raise(f, FAULT_UNAVAILABLE, 0, "no direct path to GPU memory");
		fault_cause(f, "%s", reasons);
		return fault_fix(f, "%s", c->refused[GPU_ROUTE_DMABUF].fix);
	}
	fault_raise(f, FAULT_UNAVAILABLE, refused->errnum, "--gpu-path %s",
		    gpu_route_name(c->route));
	fault_cause(f, "%s", refused->cause);
	return fault_fix(f, "%s", refused->fix[0] ? refused->fix : "use --gpu-path auto");
}

const char *gpu_choice_format(const struct gpu_choice *c, char *buf, size_t size)
{
	snprintf(buf, size, "%s", gpu_route_words(c->route));
	add_reasons(c, buf, size);
	return buf;
}

const char *gpu_route_name(enum gpu_route route)
{
	return route < GPU_ROUTES ? routes[route].name : "";
}

const char *gpu_route_words(enum gpu_route route)
{
	return routes[route].words;
}

/* Check that the memory is at most half of BAR1, if its size is known. */
static int check_bar1(const struct gpu_mr_attr *attr, struct fault *f)
{
	const struct gpu_info *g = &attr->gpu->info;

	if (!g->bar1_bytes || attr->bytes <= g->bar1_bytes / 2)
		return 0;
	fault_raise(f, FAULT_LOCAL, 0, "%s of GPU memory", units_size(attr->bytes).text);
	return EXPLAIN(f, BAR1_SMALL, {"gpu", g->name}, {"bar1", units_size(g->bar1_bytes).text},
		       {"most", units_size(g->bar1_bytes / 2).text});
}

int gpu_mr_init(struct gpu_mr *m, const struct gpu_mr_attr *attr, struct fault *f)
{
	memset(m, 0, sizeof(*m));
	fault_phase(f, PHASE_REGISTER_GPU);
	return check_bar1(attr, f) || try_route(m, attr, f) ? -1 : 0;
}

void gpu_mr_release(struct gpu_mr *m)
{
	if (m->mr)
		ibv_dereg_mr(m->mr);
	memset(m, 0, sizeof(*m));
}
