// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "host/nvidia.h"

#include <string.h>

#include "host/pci.h"
#include "host/sysfs.h"

bool nvidia_has_peermem(void)
{
	return sysfs_exists("module/nvidia_peermem/version") ||
	       sysfs_exists("module/nv_peer_mem/version") ||
	       sysfs_exists("kernel/mm/memory_peers/nv_mem/version") ||
	       sysfs_exists("kernel/mm/memory_peers/nv_mem_nc/version");
}

void nvidia_read(struct nvidia *n)
{
	char name[SYSFS_NAME], taint[32];

	memset(n, 0, sizeof(*n));
	for (unsigned i = 0; n->gpus < NVIDIA_MAX; i++) {
		if (sysfs_name(name, i, "bus/pci/drivers/nvidia"))
			break;
		if (pci_is_address(name) && strlen(name) < sizeof(n->gpu[0]))
			strcpy(n->gpu[n->gpus++], name);
	}
	/* The kernel marks a module with P if its licence is not a free one. */
	n->closed = !sysfs_read(taint, sizeof(taint), "module/nvidia/taint") && strchr(taint, 'P');
	n->peermem = nvidia_has_peermem();
}
