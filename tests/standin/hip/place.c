// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Where the memory lies: mem_info_vram_used and mem_info_gtt_used of the GPU in a made-up /sys
 * (SIMHIP_SYSFS, else RDMARK_SYSFS), if they are there. As amdgpu does, an exported buffer of a GPU with
 * gtt=1 moves to the host's memory when a NIC attaches it, without a word, and stays there.
 */
#include "simhip.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static void add(const struct sim_gpu *g, const char *file, int64_t bytes)
{
	const char *root = getenv("SIMHIP_SYSFS");
	char path[512];
	int64_t used;
	FILE *f;

	root = root ? root : getenv("RDMARK_SYSFS");
	if (!root)
		return;
	snprintf(path, sizeof(path), "%s/bus/pci/devices/%s/%s", root, g->pci, file);
	for (char *at = strrchr(path, '/') - strlen(g->pci); *at != '/'; at++)
		if (*at >= 'A' && *at <= 'F')
			*at += 'a' - 'A';
	f = fopen(path, "r+e");
	if (!f)
		return;
	if (fscanf(f, "%" SCNd64, &used) == 1) {
		rewind(f);
		fprintf(f, "%-20" PRId64 "\n", used + bytes);
	}
	fclose(f);
}

void sim_placed(struct sim_gpu *g, int64_t bytes)
{
	/* what moved away is freed there; the numbers are of all allocations together */
	if (bytes < 0 && g->gtt > 1) {
		add(g, "mem_info_gtt_used", bytes);
		g->gtt = 1;
		return;
	}
	add(g, "mem_info_vram_used", bytes);
}

void simhip_attached(int fd, size_t bytes, bool attached)
{
	struct sim_conf *c = sim_conf();

	(void)fd;
	sim_lock();
	for (int i = 0; attached && i < c->ngpu; i++) {
		struct sim_gpu *g = &c->gpu[i];

		if (g->gtt != 1 || g->used_bytes < bytes)
			continue;
		add(g, "mem_info_vram_used", -(int64_t)bytes);
		add(g, "mem_info_gtt_used", (int64_t)bytes);
		g->gtt = 2; /* there until it is freed */
		break;
	}
	sim_unlock();
}
