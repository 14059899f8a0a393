// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "verbs/mem.h"

#include <errno.h>
#include <string.h>

#include "base/units.h"
#include "verbs/vfault.h"

int mem_init(struct mem *m, struct ibv_pd *pd, const struct pin *pin, size_t bytes, unsigned access,
	     struct fault *f)
{
	char size[32];

	memset(m, 0, sizeof(*m));
	fault_phase(f, "allocating the buffer");
	m->host = pin_alloc(pin, bytes, f);
	if (!m->host)
		return -1;
	m->addr = (uint64_t)(uintptr_t)m->host;
	m->bytes = bytes;
	if (pin->node >= 0 &&
	    pin_check(m->host, bytes, pin->node, &m->pages_on_node, &m->pages_checked))
		m->pages_checked = 0;
	fault_phase(f, "registering memory");
	m->mr = ibv_reg_mr(pd, m->host, bytes, (int)(access | IBV_ACCESS_LOCAL_WRITE));
	if (!m->mr)
		return vfault_raise(f, errno, bytes, "ibv_reg_mr(%s)",
				    units_format_size(bytes, size, sizeof(size)));
	m->lkey = m->mr->lkey;
	m->rkey = m->mr->rkey;
	return 0;
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
	gpu_mr_release(&m->gpu_mr);
	if (m->host)
		pin_free(m->host, m->bytes);
	memset(m, 0, sizeof(*m));
}
