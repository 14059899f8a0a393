// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "verbs/mem.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/phase.h"
#include "base/units.h"
#include "host/pin.h"
#include "memory/pages.h"
#include "verbs/vfault.h"

int mem_check_odp(struct ibv_context *ctx, struct fault *f)
{
	const uint32_t wanted = IBV_ODP_SUPPORT_SEND | IBV_ODP_SUPPORT_RECV | IBV_ODP_SUPPORT_WRITE;
	struct ibv_device_attr_ex attr = {0};
	const char *device = ibv_get_device_name(ctx->device);
	int rc = ibv_query_device_ex(ctx, NULL, &attr);

	if (rc)
		return vfault_raise(f, rc, 0, "ibv_query_device_ex(%s)", device);
	if (attr.odp_caps.general_caps & IBV_ODP_SUPPORT &&
	    (attr.odp_caps.per_transport_caps.rc_odp_caps & wanted) == wanted)
		return 0;
	fault_raise(f, FAULT_UNAVAILABLE, 0, "--odp: %s does not support on-demand paging", device);
	fault_cause(f, "The device's odp_caps (ibv_query_device_ex) are 0x%llx, and 0x%x for RC",
		    (unsigned long long)attr.odp_caps.general_caps,
		    attr.odp_caps.per_transport_caps.rc_odp_caps);
	return fault_fix(f, "omit --odp, or name a device that supports it with -d, such as "
			    "mlx5's");
}

/*
 * Register an MR for each of attr->mr_count parts of the buffer, or one for all of it if that is 0.
 */
static int reg_host_mrs(struct mem *m, const struct mem_attr *attr, struct fault *f)
{
	size_t bytes = attr->mr_count ? attr->stride : attr->memory.bytes;
	unsigned mr_count = attr->mr_count ? attr->mr_count : 1;
	int access = (int)(attr->access | IBV_ACCESS_LOCAL_WRITE);
	char *at = (char *)m->memory.host + (attr->mr_count ? attr->lead : 0);

	m->mr = calloc(mr_count, sizeof(struct ibv_mr *));
	m->lkeys = attr->mr_count ? calloc(mr_count, sizeof(*m->lkeys)) : NULL;
	if (!m->mr || (attr->mr_count && !m->lkeys))
		return fault_raise(f, FAULT_LOCAL, ENOMEM, "allocating %u MRs", mr_count);
	for (; m->mr_count < mr_count; m->mr_count++, at += bytes) {
		struct ibv_mr *mr = ibv_reg_mr(attr->pd, at, bytes, access);

		if (!mr)
			return vfault_raise(f, errno, access & IBV_ACCESS_ON_DEMAND ? 0 : bytes,
					    "ibv_reg_mr(%s)", units_size(bytes).text);
		m->mr[m->mr_count] = mr;
		if (m->lkeys)
			m->lkeys[m->mr_count] = mr->lkey;
	}
	m->lkey = m->mr[0]->lkey;
	m->rkey = m->mr[0]->rkey;
	return 0;
}

static int reg_gpu_mr(struct mem *m, const struct mem_attr *attr, struct fault *f)
{
	struct gpu_mr_attr by = {
		.pd = attr->pd,
		.gpu = m->memory.gpu,
		.route = attr->route,
		.addr = m->memory.addr,
		.bytes = m->memory.bytes,
		.access = attr->access,
	};

	if (gpu_mr_init(&m->gpu_mr, &by, f))
		return -1;
	m->lkey = m->gpu_mr.mr->lkey;
	m->rkey = m->gpu_mr.mr->rkey;
	return 0;
}

int mem_init(struct mem *m, const struct mem_attr *attr, struct fault *f)
{
	int node = attr->memory.pin ? attr->memory.pin->node : -1;

	memset(m, 0, sizeof(*m));
	if (memory_alloc(&m->memory, &attr->memory, f))
		return -1;
	if (attr->memory.gpu)
		return reg_gpu_mr(m, attr, f);
	if (node >= 0 && pages_check(m->memory.host, attr->memory.bytes, node, &m->pages_on_node,
				     &m->pages_checked))
		m->pages_checked = 0;
	fault_phase(f, PHASE_REGISTER);
	return reg_host_mrs(m, attr, f);
}

void mem_deregister(struct mem *m)
{
	while (m->mr_count)
		ibv_dereg_mr(m->mr[--m->mr_count]);
	gpu_mr_release(&m->gpu_mr);
}

void mem_release(struct mem *m)
{
	mem_deregister(m);
	free(m->mr);
	free(m->lkeys);
	memory_free(&m->memory);
	memset(m, 0, sizeof(*m));
}
