/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * nccl: the variables that NCCL (2.21 or newer) needs on this host because it would choose
 * otherwise. nccl_variables() is a pure function of the facts, and an unknown fact gives no
 * variable.
 */
#pragma once

#include <jansson.h>

#include "explain/gpus.h"
#include "host/netdevs.h"

enum nccl_name {
	NCCL_HCA,
	NCCL_GID_INDEX,
	NCCL_IFNAME,
	NCCL_GDR_LEVEL,
	NCCL_VARIABLES
};

struct nccl_facts {
	const struct hca_list *list; /* all ports of the host; lent, as is gpus */
	const struct gpus *gpus;
	struct netdevs netdevs;
	int netdev_port[NETDEVS_MAX];    /* the port of each, an index of the list; -1: none */
	const char *set[NCCL_VARIABLES]; /* the environment's values; NULL: none */
	bool gid_filtered; /* the environment has another variable that NCCL chooses a GID by */
};

/* "NCCL_IB_HCA". */
const char *nccl_name(enum nccl_name name);

struct nccl_variable {
	const char *name; /* "NCCL_IB_HCA"; static storage */
	char value[1024];
	char reason[512];
};

/*
 * Read the facts. LIST and GPUS must outlive X. Returns 0, or -1 with FAULT_LOCAL: no
 * memory.
 */
int nccl_facts_read(struct nccl_facts *x, const struct hca_list *list, const struct gpus *gpus,
		    struct fault *f);

/* Write the variables that differ from NCCL's own choice and from the environment to TO. Returns
 * their number. */
size_t nccl_variables(const struct nccl_facts *x, struct nccl_variable to[NCCL_VARIABLES]);

/* Returns {variable, value, reason}, a new reference. */
json_t *nccl_to_json(const struct nccl_variable *v);
