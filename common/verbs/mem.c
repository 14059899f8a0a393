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
	m->addr = pin_alloc(pin, bytes, f);
	if (!m->addr)
		return -1;
	m->bytes = bytes;
	if (pin->node >= 0 &&
	    pin_check(m->addr, bytes, pin->node, &m->pages_on_node, &m->pages_checked))
		m->pages_checked = 0;
	fault_phase(f, "registering memory");
	m->mr = ibv_reg_mr(pd, m->addr, bytes, (int)(access | IBV_ACCESS_LOCAL_WRITE));
	if (!m->mr)
		return vfault_raise(f, errno, bytes, "ibv_reg_mr(%s)",
				    units_format_size(bytes, size, sizeof(size)));
	return 0;
}

void mem_release(struct mem *m)
{
	if (m->mr)
		ibv_dereg_mr(m->mr);
	if (m->addr)
		pin_free(m->addr, m->bytes);
	memset(m, 0, sizeof(*m));
}
