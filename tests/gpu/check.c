// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * gpu_check: is gpu.h right on this GPU? `make gpu-check` runs it. Exit status: 0 all is well, 5
 * something is not, 77 there is no GPU here; else the fault's.
 */
#include "check.h"

#include <getopt.h>
#include <stdarg.h>
#include <stdlib.h>

#include "base/units.h"

void check_print(struct check *c, bool ok, const char *what, ...)
{
	va_list ap;

	c->failed += !ok;
	printf("%s - ", ok ? "ok" : "not ok");
	va_start(ap, what);
	vprintf(what, ap);
	va_end(ap);
	printf("\n");
	fflush(stdout);
}

void check_fill(void *to, size_t bytes, uint64_t seed)
{
	uint64_t *word = to;

	for (size_t i = 0; i < bytes / 8; i++)
		word[i] = check_word(seed, i);
}

size_t check_compare(const void *data, size_t bytes, uint64_t seed)
{
	const uint64_t *word = data;

	for (size_t i = 0; i < bytes / 8; i++)
		if (word[i] != check_word(seed, i))
			return i * 8;
	return bytes;
}

static void describe(const struct gpu_info *i)
{
	printf("GPU %d: %s, %s, PCI %s\n", i->index, i->name, i->uuid, i->pci);
	printf("  driver of CUDA %d.%d, compute capability %d.%d, memory %s, BAR1 %s\n",
	       i->driver_version / 1000, i->driver_version % 1000 / 10, i->capability / 10,
	       i->capability % 10, units_size(i->memory_bytes).text,
	       i->bar1_bytes ? units_size(i->bar1_bytes).text : "unknown");
	printf("  GPUDirect RDMA %s, dma-buf %s, flush %s, order of writes %d\n",
	       i->gpudirect ? "yes" : "no", i->dmabuf ? "yes" : "no", i->can_flush ? "yes" : "no",
	       i->ordering);
}

static int usage(void)
{
	fprintf(stderr, "usage: gpu_check [--gpu INDEX]\n");
	return FAULT_USAGE;
}

static int read_options(int argc, char **argv, struct gpu_attr *wanted)
{
	static const struct option options[] = {
		{"gpu", required_argument, NULL, 'g'},
		{NULL, 0, NULL, 0},
	};
	int o;

	while ((o = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (o != 'g')
			return -1;
		wanted->index = atoi(optarg);
	}
	return optind == argc ? 0 : -1;
}

int main(int argc, char **argv)
{
	struct check c = {0};
	struct gpu_attr wanted = {.index = 0};
	struct fault f = {0};

	if (read_options(argc, argv, &wanted))
		return usage();
	if (!gpu_open(&c.g, &wanted, &f)) {
		describe(&c.g->info);
		check_buffers(&c, &f);
		check_exports(&c, &f);
		check_copies(&c, &f);
		check_planted_fault(&c, &f);
	}
	gpu_close(c.g);
	if (fault_is(&f)) {
		fault_print(&f, "gpu_check", stderr);
		return fault_exit_status(&f);
	}
	printf("%s\n", c.failed ? "FAILED" : "all checks passed");
	return c.failed ? FAULT_DATA : 0;
}
