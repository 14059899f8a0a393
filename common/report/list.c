// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "report/list.h"

#include <errno.h>
#include <net/if.h>
#include <string.h>

#include "base/phase.h"
#include "base/text.h"
#include "verbs/hca.h"
#include "explain/before.h"
#include "report/document.h"
#include "verbs/reach.h"

#define LIST_COLUMNS 80
#define MORE_ROOM    12 /* for " and N more" */

/* iWARP runs on Ethernet, but connects to iWARP only. */
const char *list_link_name(const struct hca_port *p)
{
	return p->fabric == FABRIC_IWARP ? "iWARP" : fabric_row(p->fabric)->link;
}

static void print_port(FILE *out, const struct hca_port *p)
{
	char rate[24] = "?", node[16] = "?", more[192];

	if (hca_rate_gbps(p) > 0)
		snprintf(rate, sizeof(rate), "%.4g", hca_rate_gbps(p));
	if (p->place.numa_node >= 0)
		snprintf(node, sizeof(node), "%d", p->place.numa_node);
	fprintf(out, "%-12s %4u %-6s %-10s %5s %4u %-15s %4s %s\n", p->device, p->port,
		hca_state_name(p), list_link_name(p), rate,
		hca_mtu_bytes(p->port_attr.active_mtu), p->netdev[0] ? p->netdev : "-", node,
		p->place.pci[0] ? p->place.pci : "-");
	topo_format_link(&p->place, more, sizeof(more));
	if (p->attr.fw_ver[0])
		text_add(more, sizeof(more), "%sfirmware %s", more[0] ? ", " : "", p->attr.fw_ver);
	if (more[0])
		fprintf(out, "    %s\n", more);
}

/*
 * Print "(!)" and the codes of the findings about P, one of LIST, that are more than notes.
 * Counters are read once, so it takes no time, and does not see whether they grow. Returns false if
 * there are none.
 */
static bool print_findings(FILE *out, const struct hca_port *p, const struct hca_list *list,
			   const struct host_facts *host)
{
	struct findings found = {.count = 0};
	char line[LIST_COLUMNS + 1] = "    (!)";
	struct port_facts facts;
	unsigned shown = 0, left = 0;

	port_facts_read(&facts, p, list, host);
	explain_port(&facts, &found);
	for (size_t i = 0; i < found.count; i++) {
		const char *name = finding_name(found.list[i].is.code);

		if (found.list[i].is.level < FINDING_WARN)
			continue;
		if (left || strlen(line) + strlen(name) + 2 > LIST_COLUMNS - MORE_ROOM)
			left++;
		else
			text_add(line, sizeof(line), "%s %s", shown++ ? "," : "", name);
	}
	if (left)
		text_add(line, sizeof(line), " and %u more", left);
	if (shown)
		fprintf(out, "%s\n", line);
	return shown;
}

static void print_gids(FILE *out, const struct hca_port *p)
{
	char text[64], netdev[IF_NAMESIZE];

	if (p->fabric == FABRIC_INFINIBAND)
		fprintf(out, "    LID 0x%x, subnet manager LID 0x%x\n", p->port_attr.lid,
			p->port_attr.sm_lid);
	for (size_t i = 0; i < p->gid_count; i++) {
		const struct gid *g = &p->gids[i];

		bool other = g->ifindex && if_indextoname(g->ifindex, netdev) &&
			     strcmp(netdev, p->netdev) != 0; /* a VLAN's, for example */

		fprintf(out, "    GID %3d  %-18s  %s%s%s\n", g->index, gid_kind_name(g->kind),
			gid_format(&g->raw, text, sizeof(text)), other ? " " : "",
			other ? netdev : "");
	}
}

int list_finish(FILE *out, const char *program)
{
	struct fault f = {0};
	int why = outlet_flush(out);

	if (!why)
		return 0;
	fault_phase(&f, PHASE_WRITE);
	document_stdout_refused(FAULT_LOCAL, why, &f);
	fault_print(&f, program, stderr);
	return fault_exit_status(&f);
}

bool list_ports(FILE *out, const struct hca_list *list)
{
	struct host_facts host;
	bool marked = false;

	host_facts_read(&host);
	fprintf(out, "%-12s %4s %-6s %-10s %5s %4s %-15s %4s %s\n", "device", "port", "state",
		"link", "Gb/s", "MTU", "netdev", "NUMA", "PCI");
	for (size_t i = 0; i < list->count; i++) {
		const struct hca_port *p = &list->port[i];
		bool unlisted = p->open_errno == REACH_NO_PROVIDER;
		char why[128];

		if (p->open_errno) {
			fault_errno_text(p->open_errno, why, sizeof(why));
			fprintf(out, "%-12s    - %s%s\n", p->device,
				unlisted
					? "the kernel has it, but libibverbs has no provider for it"
					: "cannot be opened: ",
				unlisted ? "" : why);
			continue;
		}
		print_port(out, p);
		marked |= print_findings(out, p, list, &host);
		print_gids(out, p);
	}
	return marked;
}
