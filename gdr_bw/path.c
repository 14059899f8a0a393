// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The distance of this end's GPU from its NIC, and whether another GPU is nearer. */
#include <stdio.h>
#include <stdlib.h>

#include "base/text.h"
#include "gdr.h"

/*
 * List all GPUs of this host by distance to the NIC, nearest first: "GPU 2 PIX, GPU 0 SYS". If the
 * first one is of a nearer class than the GPU in use, it is the better GPU.
 */
static void rank_paths(struct gdr *g, const struct path_tree *t)
{
	struct gdr_side *side = &g->mine;
	const char *nic = g->run.hca->info.place.pci;
	struct fault none = {0};
	struct gpu_info *list;
	struct path kind;
	size_t count;

	gpu_list(&list, &count, &none);
	fault_for_memory(&none, g->run.fault);
	path_sort(t, nic, list, count, g->run.fault);
	side->ranking[0] = side->better_gpu[0] = '\0';
	for (size_t i = 0; i < count; i++) {
		path_find(t, nic, list[i].pci, &kind);
		text_add(side->ranking, sizeof(side->ranking), "%sGPU %d %s", i ? ", " : "",
			 list[i].index, path_class_name(kind.class));
		if (i == 0 && kind.class < side->path.class && side->path.class != PATH_UNKNOWN)
			snprintf(side->better_gpu, sizeof(side->better_gpu), "GPU %d (%s)",
				 list[i].index, path_class_name(kind.class));
	}
	free(list);
}

void gdr_find_path(struct gdr *g)
{
	struct path_tree *t = NULL;
	struct fault unreadable = {0};

	g->mine.path.class = PATH_UNKNOWN;
	if (path_open(&t, &unreadable) == 0) {
		path_find(t, g->run.hca->info.place.pci, gpu_about(g->run.gpu)->pci, &g->mine.path);
		rank_paths(g, t);
	}
	path_close(t);
	fault_for_memory(&unreadable, g->run.fault);
}
