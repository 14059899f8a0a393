// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* explain_gpus(): GPUs far from every port, or without a route to one. */
#include "explain/before.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"

/* True if the distance of a usable port from GPU is not known: that port may be near. */
static bool may_be_near(const struct gpus *g, unsigned gpu, const bool *usable,
			const struct hca_list *list)
{
	for (size_t i = 0; i < list->count && i < GPUS_PORTS; i++)
		if (usable[i] && g->class[gpu][i] == PATH_UNKNOWN)
			return true;
	return list->count > GPUS_PORTS;
}

static void check_distance(const struct gpus *g, const struct hca_list *list, struct findings *to)
{
	unsigned far = 0, farthest = 0;
	enum path_class worst = PATH_PXB;
	char which[48] = "all GPUs";
	bool usable[GPUS_PORTS];
	int port;

	for (size_t i = 0; i < list->count && i < GPUS_PORTS; i++) {
		const struct hca_port *p = &list->port[i];

		usable[i] = !p->open_errno && p->port_attr.state == IBV_PORT_ACTIVE &&
			    !hca_is_soft_roce(p);
	}
	for (unsigned i = 0; i < g->nvidia.gpus; i++) {
		port = gpus_nearest(g, i, usable, list->count);
		if (port < 0 || g->class[i][port] <= PATH_PXB || may_be_near(g, i, usable, list))
			continue;
		far++;
		if (g->class[i][port] <= worst)
			continue;
		farthest = i;
		worst = g->class[i][port];
	}
	if (!far || g->coherent)
		return;
	if (g->nvidia.gpus == 1)
		strcpy(which, "the GPU");
	port = gpus_nearest(g, farthest, usable, list->count);
	if (far < g->nvidia.gpus)
		snprintf(which, sizeof(which), "%u of the %u GPUs", far, g->nvidia.gpus);
	text_add(which, sizeof(which), far == 1 ? " is" : " are");
	FINDING_OF_HOST(to, FINDING_GPU_FAR, FINDING_NOTE, FINDING_WORD("which", which),
			FINDING_WORD("gpu", g->nvidia.gpu[farthest]),
			FINDING_WORD("port", list->port[port].device),
			FINDING_WORD("how", path_class_words(worst)),
			FINDING_WORD("class", path_class_name(worst)));
}

void explain_gpus(const struct gpus *g, const struct hca_list *list, struct findings *to)
{
	if (g->nvidia.gpus && g->nvidia.closed && !g->nvidia.peermem)
		FINDING_OF_HOST(to, FINDING_NO_GPU_ROUTE, FINDING_NOTE);
	check_distance(g, list, to);
}
