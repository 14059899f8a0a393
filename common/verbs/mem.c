// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "verbs/mem.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "verbs/vfault.h"

int mem_check_odp(struct ibv_context *ctx, struct fault *f)
{
	const uint32_t wanted = IBV_ODP_SUPPORT_SEND | IBV_ODP_SUPPORT_RECV | IBV_ODP_SUPPORT_WRITE;
	struct ibv_device_attr_ex attr = {0};
	const char *device = ibv_get_device_name(ctx->device);
	int rc = ibv_query_device_ex(ctx, NULL, &attr);

	if (rc)
		return vfault_raise(f, vfault_errno(rc), 0, "ibv_query_device_ex(%s)", device);
	if (attr.odp_caps.general_caps & IBV_ODP_SUPPORT &&
	    (attr.odp_caps.per_transport_caps.rc_odp_caps & wanted) == wanted)
		return 0;
	fault_raise(f, FAULT_UNAVAILABLE, 0, "--odp: on-demand paging with %s", device);
	fault_cause(f, "Its odp_caps (ibv_query_device_ex) are 0x%llx, for RC 0x%x",
		    (unsigned long long)attr.odp_caps.general_caps,
		    attr.odp_caps.per_transport_caps.rc_odp_caps);
	return fault_fix(f, "leave --odp out, or name a device that has it, such as mlx5's");
}

static struct ibv_mr *reg(const struct mem_ask *ask, void *addr, size_t bytes, struct fault *f)
{
	struct ibv_mr *mr;
	char size[32];

	mr = ibv_reg_mr(ask->pd, addr, bytes, (int)(ask->access | IBV_ACCESS_LOCAL_WRITE));
	if (!mr)
		vfault_raise(f, errno, ask->access & IBV_ACCESS_ON_DEMAND ? 0 : bytes,
			     "ibv_reg_mr(%s)", units_format_size(bytes, size, sizeof(size)));
	return mr;
}

/* An MR for each part. */
static int reg_parts(struct mem *m, const struct mem_ask *ask, struct fault *f)
{
	m->part = calloc(ask->parts, sizeof(struct ibv_mr *));
	m->lkeys = calloc(ask->parts, sizeof(*m->lkeys));
	m->rkeys = calloc(ask->parts, sizeof(*m->rkeys));
	if (!m->part || !m->lkeys || !m->rkeys)
		return fault_raise(f, FAULT_LOCAL, ENOMEM, "%u MRs", ask->parts);
	for (unsigned i = 0; i < ask->parts; i++) {
		void *addr = (char *)m->host + ask->lead + i * ask->stride;

		m->part[i] = reg(ask, addr, ask->stride, f);
		if (!m->part[i])
			return -1;
		m->parts = i + 1;
		m->lkeys[i] = m->part[i]->lkey;
		m->rkeys[i] = m->part[i]->rkey;
	}
	return 0;
}

int mem_make(struct mem *m, const struct mem_ask *ask, struct fault *f)
{
	memset(m, 0, sizeof(*m));
	fault_phase(f, "allocating the buffer");
	if (backing_map(&m->map, &ask->backing, ask->pin, ask->bytes, f))
		return -1;
	m->host = m->map.addr;
	m->addr = (uint64_t)(uintptr_t)m->host;
	m->bytes = ask->bytes;
	if (ask->pin->node >= 0 &&
	    pin_check(m->host, ask->bytes, ask->pin->node, &m->pages_on_node, &m->pages_checked))
		m->pages_checked = 0;
	fault_phase(f, "registering memory");
	if (ask->parts) {
		if (reg_parts(m, ask, f))
			return -1;
		m->lkey = m->lkeys[0];
		m->rkey = m->rkeys[0];
		return 0;
	}
	m->mr = reg(ask, m->host, ask->bytes, f);
	if (!m->mr)
		return -1;
	m->lkey = m->mr->lkey;
	m->rkey = m->mr->rkey;
	return 0;
}

int mem_init(struct mem *m, struct ibv_pd *pd, const struct pin *pin, size_t bytes, unsigned access,
	     struct fault *f)
{
	struct mem_ask ask = {.pd = pd, .pin = pin, .bytes = bytes, .access = access};

	return mem_make(m, &ask, f);
}

int mem_init_gpu(struct mem *m, const struct gpu_mr_ask *ask, struct fault *f)
{
	memset(m, 0, sizeof(*m));
	fault_phase(f, "registering GPU memory");
	if (gpu_mr_init(&m->gpu_mr, ask, f))
		return -1;
	m->addr = m->gpu_mr.addr;
	m->bytes = m->gpu_mr.bytes;
	m->lkey = m->gpu_mr.mr->lkey;
	m->rkey = m->gpu_mr.mr->rkey;
	return 0;
}

void mem_release(struct mem *m)
{
	if (m->mr)
		ibv_dereg_mr(m->mr);
	for (unsigned i = 0; i < m->parts; i++)
		ibv_dereg_mr(m->part[i]);
	free(m->part);
	free(m->lkeys);
	free(m->rkeys);
	gpu_mr_release(&m->gpu_mr);
	backing_unmap(&m->map);
	memset(m, 0, sizeof(*m));
}
