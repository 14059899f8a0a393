// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* nccl_facts_read(): what the variables of NCCL depend on. */
#include "explain/nccl.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The index of the port in LIST that NETDEV belongs to; -1: none. */
static int port_of(const struct hca_list *list, const char *netdev)
{
	for (size_t i = 0; i < list->count; i++)
		if (!list->port[i].open_errno && hca_has_netdev(&list->port[i], netdev))
			return (int)i;
	return -1;
}

int nccl_facts_read(struct nccl_facts *x, const struct hca_list *list, const struct gpus *gpus,
		    struct fault *f)
{
	static const char *const filters[] = {
		"NCCL_IB_ADDR_FAMILY",
		"NCCL_IB_ADDR_RANGE",
		"NCCL_IB_ROCE_VERSION_NUM",
	};

	memset(x, 0, sizeof(*x));
	x->list = list;
	x->gpus = gpus;
	if (netdevs_read(&x->netdevs))
		return fault_raise(f, FAULT_LOCAL, ENOMEM, "getifaddrs");
	for (size_t i = 0; i < x->netdevs.count; i++)
		x->netdev_port[i] = port_of(list, x->netdevs.list[i].name);
	for (unsigned i = 0; i < NCCL_VARIABLES; i++)
		x->set[i] = getenv(nccl_name(i));
	for (size_t i = 0; i < sizeof(filters) / sizeof(filters[0]); i++)
		x->gid_filtered |= getenv(filters[i]) != NULL;
	return 0;
}
