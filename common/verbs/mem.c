// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "verbs/mem.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "host/pages.h"
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

static struct ibv_mr *reg_host_mr(const struct mem_attr *attr, void *addr, size_t bytes,
				  struct fault *f)
{
	int access = (int)(attr->access | IBV_ACCESS_LOCAL_WRITE);
	struct ibv_mr *mr = ibv_reg_mr(attr->pd, addr, bytes, access);

	if (!mr)
		vfault_raise(f, errno, attr->access & IBV_ACCESS_ON_DEMAND ? 0 : bytes,
			     "ibv_reg_mr(%s)", units_size(bytes).text);
	return mr;
}

/*
 * Register an MR for each of attr->mr_count parts of the buffer, or one for all of it if that is 0.
 */
static int reg_host_mrs(struct mem *m, const struct mem_attr *attr, struct fault *f)
{
	unsigned mr_count = attr->mr_count ? attr->mr_count : 1;

	m->mr = calloc(mr_count, sizeof(struct ibv_mr *));
	m->lkeys = attr->mr_count ? calloc(mr_count, sizeof(*m->lkeys)) : NULL;
	if (!m->mr || (attr->mr_count && !m->lkeys))
		return fault_raise(f, FAULT_LOCAL, ENOMEM, "allocating %u MRs", mr_count);
	for (unsigned i = 0; i < mr_count; i++) {
		size_t at = attr->mr_count ? attr->lead + i * attr->stride : 0;

		m->mr[i] = reg_host_mr(attr, (char *)m->host + at,
				       attr->mr_count ? attr->stride : attr->bytes, f);
		if (!m->mr[i])
			return -1;
		m->mr_count = i + 1;
		if (m->lkeys)
			m->lkeys[i] = m->mr[i]->lkey;
	}
	m->lkey = m->mr[0]->lkey;
	m->rkey = m->mr[0]->rkey;
	return 0;
}

int mem_make(struct mem *m, const struct mem_attr *attr, struct fault *f)
{
	memset(m, 0, sizeof(*m));
	fault_phase(f, "allocating the buffer");
	if (backing_map(&m->map, &attr->backing, attr->pin, attr->bytes, f))
		return -1;
	m->host = m->map.addr;
	m->addr = (uint64_t)(uintptr_t)m->host;
	m->bytes = attr->bytes;
	if (attr->pin->node >= 0 &&
	    pages_check(m->host, attr->bytes, attr->pin->node, &m->pages_on_node, &m->pages_checked))
		m->pages_checked = 0;
	fault_phase(f, "registering memory");
	return reg_host_mrs(m, attr, f);
}

int mem_init(struct mem *m, struct ibv_pd *pd, const struct pin *pin, size_t bytes, unsigned access,
	     struct fault *f)
{
	struct mem_attr attr = {.pd = pd, .pin = pin, .bytes = bytes, .access = access};

	return mem_make(m, &attr, f);
}

int mem_init_gpu(struct mem *m, const struct gpu_mr_attr *attr, struct fault *f)
{
	memset(m, 0, sizeof(*m));
	fault_phase(f, "registering GPU memory");
	if (gpu_mr_init(&m->gpu_mr, attr, f))
		return -1;
	m->addr = m->gpu_mr.addr;
	m->bytes = m->gpu_mr.bytes;
	m->lkey = m->gpu_mr.mr->lkey;
	m->rkey = m->gpu_mr.mr->rkey;
	return 0;
}

void mem_release(struct mem *m)
{
	for (unsigned i = 0; i < m->mr_count; i++)
		ibv_dereg_mr(m->mr[i]);
	free(m->mr);
	free(m->lkeys);
	gpu_mr_release(&m->gpu_mr);
	backing_unmap(&m->map);
	memset(m, 0, sizeof(*m));
}
