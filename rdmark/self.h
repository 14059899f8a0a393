/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * self: what `rdmark self` measured. A cell is a port that WRITEs to itself, from and to one memory
 * of this host: of a NUMA node, or of a GPU. Cells of the same kind tell which one is slow.
 */
#pragma once

#include <jansson.h>
#include <stdio.h>

#include "memory/gpu.h"
#include "verbs/hca.h"

#define SELF_TURNS 3 /* windows of each cell */

struct self_memory {
	const struct gpu_info *gpu; /* NULL: of a NUMA node */
	int node;
	char name[24]; /* "node 0", "GPU 3" */
};

struct self_cell {
	const struct hca_port *port;
	const struct self_memory *memory;
	int distance; /* from the port to the memory: that of the kernel, or enum path_class */
	double gbps[SELF_TURNS];
	unsigned windows; /* that were measured with all of the CPU */
	double median;    /* of them; 0: none */
	double like;      /* what cells like it reach; 0: there are none */
	bool slow;        /* all its windows are below all of theirs, and by a tenth; before: may be */
	char failed[512]; /* why a window was not measured; "": all were */
};

struct self {
	struct hca_list ports;
	struct gpu_info *gpu;
	struct self_memory *memory;
	size_t memories;
	struct self_cell *cell; /* port by port, each with all memories */
	size_t cells;
};

/*
 * self_judge.c: find the cells that are slow, of those that may be. Then, if there are any, take the
 * windows of these away, and of all that are like them, so that they are measured again: a cell is
 * slow if it is so both times. self_judge() returns how many are.
 */
size_t self_judge(struct self *s);
void self_doubt(struct self *s);

/* Print the table to OUT and what follows from it, returns the number of findings; or all as JSON.
 */
size_t self_print(const struct self *s, FILE *out);
json_t *self_json(const struct self *s);
