// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* `rdmark self`: every port of this host with every memory, without a second host. */
#include "base/phase.h"
#include "self.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/outlet.h"
#include "base/terminal.h"
#include "base/text.h"
#include "cli/command.h"
#include "host/hwtree.h"
#include "host/path.h"
#include "host/sysfs.h"
#include "measure/loopback.h"
#include "proto/fields.h"
#include "proto/json_memory.h"
#include "rdmark.h"
#include "report/document.h"
#include "report/list.h"

#define LONG_S 5 /* what takes longer is announced */

/* What a run has while it goes on. */
struct running {
	uint64_t json;
	const char *device; /* NULL: any */
	struct stop stop;
	struct streams streams;
	struct fault fault;
};

static void add_memory(struct self *s, const struct gpu_info *gpu, int node)
{
	struct self_memory *m = &s->memory[s->memories++];

	*m = (struct self_memory){.gpu = gpu, .node = node};
	snprintf(m->name, sizeof(m->name), gpu ? "GPU %d" : "node %d", gpu ? gpu->index : node);
}

/* The memories: of the NUMA nodes with CPUs, and of the GPUs that a NIC can reach. */
static int find_memories(struct self *s, struct fault *f)
{
	struct sysfs_set nodes, memory;
	struct fault absent = {0};
	size_t gpus = 0;

	gpu_list(&s->gpu, &gpus, &absent);
	s->memory = calloc(gpus + SYSFS_SET_MAX, sizeof(*s->memory));
	if (!s->memory)
		return fault_raise(f, FAULT_LOCAL, ENOMEM, "listing this host's memory");
	if (sysfs_read_set(&nodes, "devices/system/node/has_cpu") ||
	    sysfs_read_set(&memory, "devices/system/node/has_memory"))
		add_memory(s, NULL, 0); /* a kernel without NUMA */
	else
		for (int n = 0; n < (int)SYSFS_SET_MAX; n++)
			if (sysfs_set_has(&nodes, n) && sysfs_set_has(&memory, n))
				add_memory(s, NULL, n);
	for (size_t g = 0; g < gpus; g++)
		if (s->gpu[g].gpudirect)
			add_memory(s, &s->gpu[g], -1);
	return 0;
}

/* How far NODE is from that of PORT, as the kernel's table says; of one node 10; -1: unknown. */
static int node_distance(const struct hca_port *port, int node)
{
	char text[4096], *rest = text, *word = NULL;

	if (sysfs_node_count() == 1)
		return 10;
	if (port->place.numa_node < 0 ||
	    sysfs_read(text, sizeof(text), "devices/system/node/node%d/distance",
		       port->place.numa_node))
		return -1;
	for (int i = 0; i <= node; i++)
		word = strsep(&rest, " ");
	return word ? atoi(word) : -1;
}

/* The cells of all ports that can be measured, and are DEVICE's (NULL: any). */
static int make_cells(struct self *s, const char *device, struct fault *f)
{
	struct path_tree *tree = NULL;
	struct fault no_tree = {0};

	s->cell = calloc(s->ports.count * s->memories + 1, sizeof(*s->cell));
	if (!s->cell)
		return fault_raise(f, FAULT_LOCAL, ENOMEM, "listing this host's ports");
	path_open(&tree, &no_tree);
	for (size_t i = 0; i < s->ports.count; i++) {
		const struct hca_port *p = &s->ports.port[i];

		if (!hca_is_usable(p) || (device && !hca_is_named(p, device)))
			continue;
		for (size_t m = 0; m < s->memories; m++) {
			const struct self_memory *to = &s->memory[m];

			s->cell[s->cells++] = (struct self_cell){
				.port = p,
				.memory = to,
				.slow = true,
				.distance = to->gpu ? (int)path_classify(tree, p->place.pci,
									 to->gpu->pci)
						    : node_distance(p, to->node)};
		}
	}
	path_close(tree);
	return 0;
}

/* Find what there is to measure. Returns 0, or -1 with the fault raised: nothing. */
static int look_at_host(struct self *s, const char *device, struct fault *f)
{
	struct hca_attr wanted = {.device = device};
	char reason[160];

	fault_phase(f, PHASE_FIND_DEVICES);
	if (hca_scan(&s->ports, NULL, f) || find_memories(s, f) || make_cells(s, device, f))
		return -1;
	if (s->cells)
		return 0;
	if (hca_choose(&s->ports, &wanted, reason, sizeof(reason), f))
		return -1;
	return fault_raise(f, FAULT_UNAVAILABLE, 0, "no port here can be measured");
}

/* Measure C once. Returns -1 with the fault raised: a signal. */
static int run_window(struct self_cell *c, struct running *r)
{
	const struct gpu_info *gpu = c->memory->gpu;
	char memory[24];
	struct loopback l = {.device = c->port->device, .port = c->port->port, .memory = memory};

	snprintf(memory, sizeof(memory), "--%s=%d", gpu ? "gpu" : "numa",
		 gpu ? gpu->index : c->memory->node);
	if (loopback_run(&l, &r->stop, &r->fault))
		return -1;
	if (l.gbps > 0)
		c->gbps[c->windows++] = l.gbps;
	else
		text_copy(c->failed, sizeof(c->failed), l.failed);
	return 0;
}

/*
 * All cells that lack windows in turns, there and back: what changes slowly changes all of them
 * alike. The first window tells how long it takes; of what is measured AGAIN nothing is said.
 */
static int run_turns(struct self *s, struct running *r, bool again)
{
	uint64_t start_ns = clock_now_ns();
	double all_s;

	for (size_t i = 0; i < s->cells * SELF_TURNS; i++) {
		size_t at = i % s->cells;
		struct self_cell *c = &s->cell[i / s->cells % 2 ? s->cells - 1 - at : at];

		if (c->windows < SELF_TURNS && run_window(c, r))
			return -1;
		all_s = (double)(clock_now_ns() - start_ns) / 1e9 * (double)s->cells * SELF_TURNS;
		if (!i && !again && all_s > LONG_S)
			fprintf(stderr, RDMARK ": %zu cells, %d times each: about %.0f s\n",
				s->cells, SELF_TURNS, all_s);
	}
	return 0;
}

/* Measure all cells; and what is slow again. */
static int measure(struct self *s, struct running *r)
{
	fault_phase(&r->fault, PHASE_MEASURE);
	if (run_turns(s, r, false) || !self_judge(s))
		return fault_is(&r->fault) ? -1 : 0;
	self_doubt(s);
	if (run_turns(s, r, true))
		return -1;
	self_judge(s);
	return 0;
}

/* Print what was measured. Returns the exit status. */
static int conclude(struct self *s, bool json, struct fault *f)
{
	size_t slow = 0, measured = 0;

	fault_phase(f, PHASE_WRITE);
	for (size_t i = 0; i < s->cells; i++) {
		measured += s->cell[i].windows > 0;
		slow += s->cell[i].slow;
	}
	if (json)
		document_save("-", false, self_json(s), f);
	else
		self_print(s, stdout);
	if (!measured)
		return FAULT_UNAVAILABLE;
	return slow ? FAULT_THRESHOLD : 0;
}

static void release(struct self *s)
{
	free(s->cell);
	free(s->memory);
	free(s->gpu);
	hca_list_free(&s->ports);
}

int self_command(char **argv)
{
	static const struct option_row options[] = {
		{"json", 0, OPTION_FLAG, .field = offsetof(struct running, json),
		 .help = "print a JSON document"},
		{"ib-dev", 'd', OPTION_TEXT, .field = offsetof(struct running, device),
		 .value = "DEV", .help = "only the ports of this device (-d)"},
		{.name = NULL},
	};
	static const struct command self = {
		.name = "rdmark self",
		.synopsis = "[OPTION...]",
		.about =
			"Each ACTIVE port of this host WRITEs to itself, from and to the memory of each\n"
			"NUMA node and GPU. In Gb/s.\n",
		.options = options,
		.more = "Exit status: 0 none is slow, 6 one is slow, 77 none could be measured.\n"
			"See rdmark(1).\n"};
	struct running r = {.stop = {.fd = -1}};
	struct self s = {0};
	char **rest;
	int status = command_read(&self, &r, argv + 2, &rest, &r.fault);

	if (status)
		return list_finish(RDMARK, &r.fault, 0);
	hwtree_prepare();
	if (look_at_host(&s, r.device, &r.fault) == 0 && stop_init(&r.stop, &r.fault) == 0) {
		streams_open(&r.streams, &r.stop);
		if (measure(&s, &r) == 0)
			status = conclude(&s, r.json, &r.fault);
	}
	status = list_finish(RDMARK, &r.fault, status);
	streams_close(&r.streams);
	stop_release(&r.stop);
	release(&s);
	if (r.stop.signal == SIGINT)
		stop_die(SIGINT);
	return status;
}
