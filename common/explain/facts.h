/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * facts: what any user can read about a host and about one RDMA port that may explain why it is
 * slow. Nothing is raised: what cannot be read has the value for "unknown".
 */
#pragma once

#include "base/cgroup.h"
#include "host/counters.h"
#include "host/pci.h"

struct hca_port;
struct hca_list;

/* Facts about the host. */
struct host_facts {
	bool virtual_machine; /* the hypervisor makes up PCIe and NUMA topology */
	int nodes;
	bool memlock_limited; /* RLIMIT_MEMLOCK applies: no CAP_IPC_LOCK */
	uint64_t memlock_bytes;
	struct cgroup_limit cpu_limit; /* cpu.max; its text is "" without one */
	struct cgroup_stops stops;
	int cm_errnum; /* why /dev/infiniband/rdma_cm cannot be opened; 0: it can */
};

/* What AER has counted at a PCIe function since boot. */
struct aer {
	char pci[16];
	bool known; /* all three could be read */
	int64_t correctable, nonfatal, fatal;
};

/* The number of a port's error counters. Most of them stop at their maximum. */
#define FACTS_COUNTERS 8

struct port_facts {
	const struct hca_port *port; /* lent by the caller, as is host */
	const struct host_facts *host;
	bool named;                  /* the user asks for this port; set by the caller */
	bool no_pkey;                /* InfiniBand: the P_Key of index 0 is empty */
	bool unplugged;              /* DOWN and never up; another port of its card is ACTIVE */
	bool others;                 /* this process may not open it; another port is usable */
	struct pci_link link;        /* with the capabilities of both ends; zeros: unknown */
	struct aer own, upstream;    /* the adapter's function and the port above it */
	char iommu[PCI_IOMMU];              /* "identity", "DMA", "DMA-FQ"; "" off or unknown */
	int64_t netdev_mtu;          /* 0: none, or in another network namespace */
	unsigned cpus, slow_cpus;    /* of its node: all, and those with a governor that saves
					power */
	char governor[24];           /* of the latter */
	double sibling_gbps;         /* of the fastest port of this kind on the host */
	char sharing[96];            /* this and other active ports behind its PCIe link; "": it has
					that alone */
	double sharing_gbps;         /* their rates */
	char beside[96];             /* of each PCIe link of its card a device; "": there is one */
	double beside_gbps;          /* the payload that those links carry */
	struct counter counter[FACTS_COUNTERS]; /* error counters that the port has */
	unsigned counters;
	struct counters_age age; /* the time of reading them */
};

/* Read the facts about the host. */
void host_facts_read(struct host_facts *h);

/* Read the facts about PORT, which is one of LIST, on the host H. Its counters are read once. */
void port_facts_read(struct port_facts *x, const struct hca_port *port, const struct hca_list *list,
		     const struct host_facts *h);

/* Read the counters again, at least LEAST_NS after the first time. */
void port_facts_read_again(struct port_facts *x, uint64_t least_ns);
