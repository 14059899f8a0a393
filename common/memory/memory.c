// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "memory/memory.h"

#include <string.h>
#include <sys/mman.h>

#include "base/phase.h"
#include "memory/gpu.h"

static const struct memory_ops *kind_of(const struct memory_attr *attr)
{
	if (attr->gpu)
		return attr->gpu->ops;
	if (attr->file)
		return memory_file();
	return attr->huge ? memory_huge() : memory_pages();
}

int memory_alloc(struct memory *m, const struct memory_attr *attr, struct fault *f)
{
	*m = (struct memory){.gpu = attr->gpu, .bytes = attr->bytes};
	fault_phase(f, attr->gpu ? PHASE_ALLOCATE_GPU : PHASE_ALLOCATE);
	if (kind_of(attr)->alloc(m, attr, f)) {
		memset(m, 0, sizeof(*m));
		return -1;
	}
	m->ops = kind_of(attr);
	if (m->host)
		m->addr = (uint64_t)(uintptr_t)m->host;
	return 0;
}

void memory_free(struct memory *m)
{
	if (m->ops && m->ops->free)
		m->ops->free(m);
	else if (m->ops)
		munmap(m->host, m->mapped_bytes);
	memset(m, 0, sizeof(*m));
}
