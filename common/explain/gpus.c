// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "explain/gpus.h"

#include <string.h>
#include <sys/utsname.h>

#include "host/sysfs.h"
#include "memory/vendors.h"
#include "verbs/hca.h"

static void read_nvidia(struct nvidia *n)
{
	char name[SYSFS_NAME], taint[32];

	for (unsigned i = 0; n->gpus < NVIDIA_MAX; i++) {
		if (sysfs_name(name, i, "bus/pci/drivers/nvidia"))
			break;
		if (pci_is_address(name) && strlen(name) < sizeof(n->gpu[0]))
			strcpy(n->gpu[n->gpus++], name);
	}
	/* The kernel marks a module with P if its licence is not a free one. */
	n->closed = !sysfs_read(taint, sizeof(taint), "module/nvidia/taint") && strchr(taint, 'P');
	n->peermem = memory_cuda()->has_peermem();
}

int gpus_read(struct gpus *g, const struct hca_list *list, bool virtual_machine, struct fault *f)
{
	size_t ports = list->count < GPUS_PORTS ? list->count : GPUS_PORTS;
	struct fault unknown = {0};
	struct path_tree *t;
	struct utsname machine;

	memset(g, 0, sizeof(*g));
	for (unsigned i = 0; i < NVIDIA_MAX; i++)
		for (size_t n = 0; n < GPUS_PORTS; n++)
			g->class[i][n] = PATH_UNKNOWN;
	g->coherent = uname(&machine) != 0 || strcmp(machine.machine, "aarch64") == 0;
	read_nvidia(&g->nvidia);
	if (!g->nvidia.gpus || virtual_machine)
		return 0;
	/* hwloc takes some time, so it is used only if there is a GPU. */
	if (!path_open(&t, &unknown))
		for (unsigned i = 0; i < g->nvidia.gpus; i++)
			for (size_t n = 0; n < ports; n++)
				g->class[i][n] =
					path_classify(t, list->port[n].place.pci, g->nvidia.gpu[i]);
	path_close(t);
	return fault_for_memory(&unknown, f) ? -1 : 0;
}

int gpus_nearest(const struct gpus *g, unsigned gpu, const bool *usable, size_t ports)
{
	const enum path_class *class = g->class[gpu];
	int best = -1;

	for (size_t i = 0; i < ports; i++) {
		if (i == GPUS_PORTS || (usable[i] && class[i] == PATH_UNKNOWN))
			return -1; /* that one may be near */
		if (usable[i] && (best < 0 || class[i] < class[best]))
			best = (int)i;
	}
	return best;
}
