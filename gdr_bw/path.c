// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* How far this end's GPU is from its NIC, and whether another GPU is nearer. */
#include <stdio.h>
#include <stdlib.h>

#include "base/text.h"
#include "gdr.h"

/* "GPU 2 PIX, GPU 0 SYS", nearest first; and the first one, if it is of a nearer class than ours.
 */
static void rank(struct gdr *g, const struct path_tree *t, const struct gpu_info *list,
		 const size_t *order, size_t count)
{
	struct gdr_side *side = &g->mine;
	const char *nic = g->parts.hca->info.place.pci;
	struct path way;

	side->ranking[0] = side->better_gpu[0] = '\0';
	for (size_t i = 0; i < count; i++) {
		const struct gpu_info *gpu = &list[order[i]];

		path_find(t, nic, gpu->pci, &way);
		text_add(side->ranking, sizeof(side->ranking), "%sGPU %d %s", i ? ", " : "",
			 gpu->index, path_class_name(way.class));
		if (i == 0 && way.class < side->path.class && side->path.class != PATH_UNKNOWN)
			snprintf(side->better_gpu, sizeof(side->better_gpu), "GPU %d (%s)",
				 gpu->index, path_class_name(way.class));
	}
}

static void rank_all(struct gdr *g, const struct path_tree *t)
{
	struct fault none = {0};
	struct gpu_info *list = NULL;
	size_t count = 0, *order = NULL;
	const char **pci = NULL;

	if (gpu_list(&list, &count, &none) == 0) {
		pci = calloc(count, sizeof(*pci));
		order = calloc(count, sizeof(*order));
	}
	if (pci && order) {
		for (size_t i = 0; i < count; i++)
			pci[i] = list[i].pci;
		path_rank(t, g->parts.hca->info.place.pci, pci, count, order);
		rank(g, t, list, order, count);
	}
	free(order);
	free(pci);
	free(list);
}

void gdr_find_path(struct gdr *g)
{
	struct path_tree *t = NULL;
	struct fault unreadable = {0};

	g->mine.path.class = PATH_UNKNOWN;
	if (path_open(&t, &unreadable) == 0) {
		path_find(t, g->parts.hca->info.place.pci, gpu_about(g->parts.gpu)->pci,
			  &g->mine.path);
		rank_all(g, t);
	}
	path_close(t);
}
