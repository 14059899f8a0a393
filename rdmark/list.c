// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* `rdmark list`: the RDMA devices and GPUs of this host, and the distances between them. */
#include <jansson.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>

#include "base/phase.h"
#include "base/terminal.h"
#include "base/text.h"
#include "base/units.h"
#include "explain/before.h"
#include "memory/gpu.h"
#include "host/hwtree.h"
#include "host/path.h"
#include "rdmark.h"
#include "cli/command.h"
#include "proto/fields.h"
#include "proto/path_json.h"
#include "report/document.h"
#include "report/list.h"
#include "verbs/hca.h"
#include "verbs/reach.h"

#define COLUMNS   80
#define MORE_ROOM 12 /* for " and N more" */

struct host {
	struct hca_list ports;
	struct gpu_info *gpu;
	size_t gpus;
	struct path_tree *tree;
	struct fault no_gpu, no_port, no_memory;
};

static void look_at_host(struct host *h)
{
	struct fault no_tree = {0};
	struct hca_attr any = {NULL};
	char reason[160];

	fault_phase(&h->no_gpu, PHASE_FIND_GPUS);
	gpu_list(&h->gpu, &h->gpus, &h->no_gpu);
	fault_phase(&h->no_port, PHASE_FIND_DEVICES);
	if (hca_scan(&h->ports, NULL, &h->no_port) == 0 && !h->ports.count)
		hca_choose(&h->ports, &any, reason, sizeof(reason), &h->no_port);
	path_open(&h->tree, &no_tree);
	fault_for_memory(&no_tree, &h->no_memory);
	fault_for_memory(&h->no_gpu, &h->no_memory);
}

/* The next device from port *I on: its first port, if that can be opened; all are equally far. */
static const struct hca_port *next_device(const struct host *h, size_t *i)
{
	for (; *i < h->ports.count; ++*i) {
		const struct hca_port *p = &h->ports.port[*i];

		if (!p->open_errno && (!*i || strcmp(h->ports.port[*i - 1].device, p->device) != 0))
			return &h->ports.port[(*i)++];
	}
	return NULL;
}

static struct path path_of(const struct host *h, const struct hca_port *p,
			   const struct gpu_info *gpu)
{
	struct path path = {.class = PATH_UNKNOWN};

	if (h->tree)
		path_find(h->tree, p->place.pci, gpu->pci, &path);
	return path;
}

static void print_port(const struct hca_port *p)
{
	char rate[24] = "?", node[16] = "?", more[192];

	if (hca_rate_gbps(p) > 0)
		snprintf(rate, sizeof(rate), "%.4g", hca_rate_gbps(p));
	if (p->place.numa_node >= 0)
		snprintf(node, sizeof(node), "%d", p->place.numa_node);
	printf("%-12s %4u %-6s %-10s %5s %4u %-15s %4s %s\n", p->device, p->port,
		hca_state_name(p), list_link_name(p), rate,
		hca_mtu_bytes(p->port_attr.active_mtu), p->netdev[0] ? p->netdev : "-", node,
		p->place.pci[0] ? p->place.pci : "-");
	topo_format_link(&p->place, more, sizeof(more));
	if (p->attr.fw_ver[0])
		text_add(more, sizeof(more), "%sfirmware %s", more[0] ? ", " : "", p->attr.fw_ver);
	if (more[0])
		printf("    %s\n", more);
}

/*
 * Print "(!)" and the codes of the findings about P, one of LIST, that are more than notes.
 * Counters are read once, so it takes no time, and does not see whether they grow. Returns false if
 * there are none.
 */
static bool print_findings(const struct hca_port *p, const struct hca_list *list,
			   const struct host_facts *host)
{
	struct findings found = {.count = 0};
	char line[COLUMNS + 1] = "    (!)";
	struct port_facts facts;
	unsigned shown = 0, left = 0;

	port_facts_read(&facts, p, list, host);
	explain_port(&facts, &found);
	for (size_t i = 0; i < found.count; i++) {
		const char *name = finding_name(found.list[i].is.code);

		if (found.list[i].is.level < FINDING_WARN)
			continue;
		if (left || strlen(line) + strlen(name) + 2 > COLUMNS - MORE_ROOM)
			left++;
		else
			text_add(line, sizeof(line), "%s %s", shown++ ? "," : "", name);
	}
	if (left)
		text_add(line, sizeof(line), " and %u more", left);
	if (shown)
		printf("%s\n", line);
	return shown;
}

static void print_gids(const struct hca_port *p)
{
	char text[64], netdev[IF_NAMESIZE];

	if (p->fabric == FABRIC_INFINIBAND)
		printf("    LID 0x%x, subnet manager LID 0x%x\n", p->port_attr.lid,
			p->port_attr.sm_lid);
	for (size_t i = 0; i < p->gid_count; i++) {
		const struct gid *g = &p->gids[i];

		bool other = g->ifindex && if_indextoname(g->ifindex, netdev) &&
			     strcmp(netdev, p->netdev) != 0; /* a VLAN's, for example */

		printf("    GID %3d  %-18s  %s%s%s\n", g->index, gid_kind_name(g->kind),
			gid_format(&g->raw, text, sizeof(text)), other ? " " : "",
			other ? netdev : "");
	}
}

/*
 * Print LIST as a table, with "(!)" below the row of a port that has a finding of level warn or
 * fault. Returns true if there is one.
 */
static bool print_ports(const struct hca_list *list)
{
	struct host_facts host;
	bool marked = false;

	host_facts_read(&host);
	printf("%-12s %4s %-6s %-10s %5s %4s %-15s %4s %s\n", "device", "port", "state",
		"link", "Gb/s", "MTU", "netdev", "NUMA", "PCI");
	for (size_t i = 0; i < list->count; i++) {
		const struct hca_port *p = &list->port[i];
		bool unlisted = p->open_errno == REACH_NO_PROVIDER;
		char why[128];

		if (p->open_errno) {
			fault_errno_text(p->open_errno, why, sizeof(why));
			printf("%-12s    - %s%s\n", p->device,
				unlisted
					? "the kernel has it, but libibverbs has no provider for it"
					: "cannot be opened: ",
				unlisted ? "" : why);
			continue;
		}
		print_port(p);
		marked |= print_findings(p, list, &host);
		print_gids(p);
	}
	return marked;
}

static void print_gpus(const struct host *h)
{
	const struct fault *f = &h->no_gpu;

	if (!h->gpus && f->cause[0])
		printf("no GPU. %s (%s).\n", f->cause, f->call);
	else if (!h->gpus)
		printf("no GPU: %s%s%s\n", fault_is(f) ? f->call : "none found",
		       f->text[0] ? ": " : "", f->text);
	for (size_t g = 0; g < h->gpus; g++) {
		const struct gpu_info *gpu = &h->gpu[g];
		const struct hca_port *p;
		size_t i = 0;

		printf("GPU %-2d %s, %s, %s%s, GPUDirect RDMA: %s\n", gpu->index, gpu->name,
		       gpu->pci[0] ? gpu->pci : "-", units_size(gpu->memory_bytes).text,
		       gpu->integrated ? " of the host's memory (an integrated GPU)" : "",
		       gpu->gpudirect ? gpu->dmabuf ? "yes, by dma-buf" : "yes" : "no");
		while ((p = next_device(h, &i)) != NULL) {
			enum path_class class = path_of(h, p, gpu).class;

			printf("    to %-12s %-7s %s\n", p->device, path_row(class)->name,
			       path_row(class)->words);
		}
	}
}

static json_t *gids_json(const struct hca_port *p)
{
	json_t *to = json_array();
	char text[64], netdev[IF_NAMESIZE];

	for (size_t i = 0; i < p->gid_count; i++) {
		const struct gid *g = &p->gids[i];
		bool named = g->ifindex && if_indextoname(g->ifindex, netdev);

		json_array_append_new(to, json_pack("{s:i, s:s, s:s, s:s}", "index", g->index,
						    "type", gid_kind_name(g->kind), "gid",
						    gid_format(&g->raw, text, sizeof(text)),
						    "netdev", named ? netdev : ""));
	}
	return to;
}

static json_t *port_json(const struct hca_port *p)
{
	char link[96];

	if (p->open_errno)
		return json_pack("{s:s, s:i}", "device", p->device, "open_errno", p->open_errno);
	topo_format_link(&p->place, link, sizeof(link));
	return json_pack("{s:s, s:i, s:s, s:s, s:f, s:i, s:s, s:i, s:s, s:s, s:s, s:i, s:o}",
			 "device", p->device, "port", p->port, "state",
			 hca_state_name(p), "link", list_link_name(p),
			 "rate_gbps", hca_rate_gbps(p), "mtu_bytes",
			 (int)hca_mtu_bytes(p->port_attr.active_mtu), "netdev", p->netdev,
			 "numa_node", p->place.numa_node, "pci", p->place.pci, "pcie_link", link,
			 "firmware", p->attr.fw_ver, "lid", p->port_attr.lid, "gids", gids_json(p));
}

static json_t *gpu_json(const struct host *h, const struct gpu_info *gpu)
{
	json_t *paths = json_array();
	const struct hca_port *p;
	size_t i = 0;

	while ((p = next_device(h, &i)) != NULL) {
		struct path path = path_of(h, p, gpu);
		json_t *one = path_to_json(&path);

		json_object_set_new(one, "device", json_string(p->device));
		json_array_append_new(paths, one);
	}
	return json_pack("{s:i, s:s, s:s, s:s, s:s, s:I, s:I, s:b, s:b, s:b, s:o}", "index",
			 gpu->index, "driver", gpu->ops->name, "name", gpu->name, "uuid", gpu->uuid,
			 "pci", gpu->pci, "memory_bytes", (json_int_t)gpu->memory_bytes,
			 "bar1_bytes", (json_int_t)gpu->bar1_bytes, "integrated", gpu->integrated,
			 "gpudirect", gpu->gpudirect, "dmabuf", gpu->dmabuf, "paths", paths);
}

static int print_json(const struct host *h, struct fault *f)
{
	json_t *ports = json_array(), *gpus = json_array();

	for (size_t i = 0; i < h->ports.count; i++)
		json_array_append_new(ports, port_json(&h->ports.port[i]));
	for (size_t g = 0; g < h->gpus; g++)
		json_array_append_new(gpus, gpu_json(h, &h->gpu[g]));
	return document_save("-", false,
			     json_pack("{s:s, s:o, s:o}", "generator", "rdmark " RDMARK_VERSION,
				       "ports", ports, "gpus", gpus),
			     f);
}

int list_command(char **argv)
{
	static const struct option_row options[] = {
		{"json", 0, OPTION_FLAG, .help = "print a JSON document"},
		{.name = NULL},
	};
	static const struct command list = {
		.name = "rdmark list", .synopsis = "[--json]", .options = options};
	struct host h = {.gpus = 0};
	struct fault f = {0};
	uint64_t json = 0;
	bool marked = false;
	int status;
	char **rest;

	status = command_read(&list, &json, argv + 2, &rest, &f);
	if (status)
		return list_finish(RDMARK, &f, 0);
	hwtree_prepare();
	look_at_host(&h);
	if (json) {
		print_json(&h, &f);
	} else {
		marked = h.ports.count && print_ports(&h.ports);
		print_gpus(&h);
	}
	if (fault_is(&h.no_port))
		status = fault_print(&h.no_port, RDMARK, stderr);
	if (fault_is(&h.no_memory))
		status = fault_print(&h.no_memory, RDMARK, stderr);
	status = list_finish(RDMARK, &f, status);
	if (marked && status != FAULT_LOCAL)
		terminal_note(stderr, "(!): a finding, which `rdmark check` explains");
	path_close(h.tree);
	hca_list_free(&h.ports);
	free(h.gpu);
	return status;
}
