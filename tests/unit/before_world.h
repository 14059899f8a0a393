/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What tests of before start from: a port with which nothing is wrong; and what is found. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "explain/before.h"
#include "verbs/hca.h"

/* A healthy InfiniBand port at 100 Gb/s in a gen4 x16 slot. */
struct world {
	struct host_facts host;
	struct hca_port port;
	struct port_facts x;
};

static inline struct world *healthy(void)
{
	static struct gid gid = {.index = 3};
	static struct world w;

	memset(&w, 0, sizeof(w));
	w.host.nodes = 2;
	strcpy(w.port.device, "mlx5_0");
	w.port.port = 1;
	w.port.port_attr.state = IBV_PORT_ACTIVE;
	w.port.port_attr.active_mtu = w.port.port_attr.max_mtu = IBV_MTU_4096;
	w.port.port_attr.sm_lid = 1;
	w.port.port_attr.link_layer = IBV_LINK_LAYER_INFINIBAND;
	w.port.port_attr.active_speed = 32;
	w.port.port_attr.active_width = 2;
	w.port.place.numa_node = 1;
	w.port.attr.node_guid = 1;
	w.port.gids = &gid;
	w.port.gid_count = 1;
	w.x.port = &w.port;
	w.x.host = &w.host;
	w.x.link = (struct pci_link){"0000:41:00.0", 16, 16, 16, 16};
	w.x.own = w.x.upstream = (struct aer){.pci = "0000:41:00.0", .known = true};
	w.x.sibling_gbps = hca_rate_gbps(&w.port);
	w.x.cpus = 32;
	strcpy(w.x.iommu, "identity");
	return &w;
}

/* CODE at LEVEL is found, alone; NULL: nothing is. */
static inline void finds(const struct world *w, const char *code, enum finding_level level)
{
	struct findings to = {.count = 0};

	explain_host(&w->host, &to);
	explain_port(&w->x, &to);
	if (!code) {
		if (to.count)
			fail_msg("found %s: %s", finding_name(to.list[0].is.code), to.list[0].text);
		return;
	}
	if (to.count != 1 || strcmp(finding_name(to.list[0].is.code), code) != 0 ||
	    to.list[0].is.level != level)
		fail_msg("%zu findings, the first is %s, level %d, in place of %s, level %d",
			 to.count, to.count ? finding_name(to.list[0].is.code) : "-",
			 to.count ? (int)to.list[0].is.level : -1, code, level);
	assert_true(to.list[0].text[0]);
}
