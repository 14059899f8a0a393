// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "report/list.h"

#include <errno.h>
#include <inttypes.h>
#include <net/if.h>
#include <unistd.h>

#include "base/fault.h"
#include "verbs/hca.h"
#include "verbs/vfault.h"

static const char *state_name(enum ibv_port_state state)
{
	switch (state) {
	case IBV_PORT_DOWN:
		return "DOWN";
	case IBV_PORT_INIT:
		return "INIT";
	case IBV_PORT_ARMED:
		return "ARMED";
	case IBV_PORT_ACTIVE:
		return "ACTIVE";
	default:
		return "?";
	}
}

static void print_port(FILE *out, const struct hca_port *p)
{
	char rate[24] = "?", node[16] = "?", link[96];

	if (hca_rate_gbps(p) > 0)
		snprintf(rate, sizeof(rate), "%.4g", hca_rate_gbps(p));
	if (p->place.numa_node >= 0)
		snprintf(node, sizeof(node), "%d", p->place.numa_node);
	topo_format_link(&p->place, link, sizeof(link));
	fprintf(out, "%-12s %4u %-7s %-10s %6s %5u  %-15s %4s  %-12s %s\n", p->device, p->port,
		state_name(p->port_attr.state), p->is_ethernet ? "Ethernet" : "InfiniBand", rate,
		hca_mtu_bytes(p->port_attr.active_mtu), p->netdev[0] ? p->netdev : "-", node,
		p->place.pci[0] ? p->place.pci : "-", link[0] ? link : "-");
}

static void print_gids(FILE *out, const struct hca_port *p)
{
	char text[64], netdev[IF_NAMESIZE];

	if (!p->is_ethernet)
		fprintf(out, "    LID 0x%x, subnet manager LID 0x%x\n", p->port_attr.lid,
			p->port_attr.sm_lid);
	for (size_t i = 0; i < p->gid_count; i++) {
		const struct gid *g = &p->gids[i];

		fprintf(out, "    GID %3d  %-20s %-40s %s\n", g->index, gid_kind_name(g->kind),
			gid_format(&g->raw, text, sizeof(text)),
			g->ifindex && if_indextoname(g->ifindex, netdev) ? netdev : "");
	}
}

int list_finish(FILE *out, const char *program)
{
	struct fault f = {0};

	errno = 0;
	if (fflush(out) != EOF && !ferror(out))
		return 0;
	/* It may have failed pages ago, and its errno is gone: once more, then. */
	if (!errno && write(fileno(out), "\n", 1) == 1)
		errno = EIO;
	fault_phase(&f, "writing to stdout");
	fault_raise(&f, FAULT_LOCAL, errno, "write");
	fault_print(&f, program, stderr);
	return fault_exit_status(&f);
}

int list_ports(FILE *out, const char *program)
{
	struct fault f = {0};
	struct hca_list list;
	struct hca_wish any = {NULL};
	char reason[160];

	if (hca_scan(&list, NULL, &f) == 0 && !list.count)
		hca_choose(&list, &any, reason, sizeof(reason), &f);
	if (fault_is(&f)) {
		fault_print(&f, program, stderr);
		return fault_exit_status(&f);
	}
	fprintf(out, "%-12s %4s %-7s %-10s %6s %5s  %-15s %4s  %-12s %s\n", "device", "port",
		"state", "link", "Gb/s", "MTU", "netdev", "NUMA", "PCI", "PCIe link");
	for (size_t i = 0; i < list.count; i++) {
		const struct hca_port *p = &list.port[i];
		char why[128];

		if (p->open_errno) {
			fault_errno_text(p->open_errno, why, sizeof(why));
			fprintf(out, "%-12s    - cannot be opened: %s\n", p->device, why);
			continue;
		}
		print_port(out, p);
		print_gids(out, p);
	}
	hca_list_free(&list);
	return list_finish(out, program);
}
