// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Allocation, copies, export and flush on GPU 0. */
#include "probe.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct gpu *open_first(struct fault *f)
{
	const struct gpu_attr wish = {.index = 0};
	struct gpu *g;

	return gpu_open(&g, &wish, f) ? NULL : g;
}

/* alloc BYTES…: each aligned and zero, and freed */
int probe_alloc(char **arg, struct fault *f)
{
	struct gpu *g = open_first(f);
	unsigned char byte[2] = {1, 1};

	for (; g && *arg; arg++) {
		size_t bytes = strtoull(*arg, NULL, 0);
		struct memory m;
		uint64_t addr = probe_memory(g, &m, bytes, f);

		if (!addr)
			break;
		MUST(f, addr % GPU_ALIGN_BYTES == 0);
		gpu_copy_out(g, byte, addr, 1, f);
		gpu_copy_out(g, byte + 1, addr + bytes - 1, 1, f);
		MUST(f, !byte[0] && !byte[1]);
		memory_free(&m);
	}
	memory_free(&(struct memory){0});
	gpu_close(g);
	gpu_close(NULL);
	return fault_is(f) ? -1 : 0;
}

int probe_copies(char **arg, struct fault *f)
{
	enum {
		BYTES = 300000
	};
	static uint8_t out[BYTES], in[BYTES];
	struct gpu *g = open_first(f);
	struct memory m;
	uint64_t addr = probe_memory(g, &m, BYTES, f);

	(void)arg;
	if (addr) {
		for (size_t i = 0; i < BYTES; i++)
			out[i] = (uint8_t)(i * 31 >> 3);
		gpu_copy_in(g, addr, out, BYTES, f);
		gpu_copy_out(g, in, addr, BYTES, f);
		MUST(f, !memcmp(in, out, BYTES));
		gpu_copy_in(g, addr + 77, out, 1000, f);
		gpu_copy_out(g, in, addr + 76, 1001, f);
		MUST(f, in[0] == out[76] && !memcmp(in + 1, out, 1000));
		if (!fault_is(f)) /* outside what was allocated */
			gpu_copy_in(g, addr + (2 << 20) - 10, out, 11, f);
	}
	memory_free(&m);
	gpu_close(g);
	return fault_is(f) ? -1 : 0;
}

/* export OFFSET BYTES [pcie]: of 4 MiB */
int probe_export(char **arg, struct fault *f)
{
	struct gpu *g = open_first(f);
	struct memory m;
	uint64_t addr = probe_memory(g, &m, 4 << 20, f);
	uint64_t offset = 7;
	int fd = 5, rc;

	if (addr) {
		rc = g->ops->export(g, addr + strtoull(arg[0], NULL, 0), strtoull(arg[1], NULL, 0),
				    arg[2] != NULL, &fd, &offset);
		printf("%d %s fd %s offset %" PRIu64 "\n", rc, g->ops->error_name(rc),
		       fd >= 0 ? "open" : "none", offset);
		MUST(f, (fd >= 0) == !rc);
		if (fd >= 0)
			close(fd);
	}
	memory_free(&m);
	gpu_close(g);
	return fault_is(f) ? -1 : 0;
}

/* flush [direct]: after writes by Data Direct, or others */
int probe_flush(char **arg, struct fault *f)
{
	struct gpu *g = open_first(f);

	if (g && !gpu_flush(g, *arg != NULL, f))
		printf("%s\n", *arg || g->info.ordering < GPU_ORDERS ? "needed" : "not needed");
	gpu_close(g);
	return fault_is(f) ? -1 : 0;
}

/* The CPU reads a byte of device memory: that must be the end of us. */
int probe_touch(char **arg, struct fault *f)
{
	struct gpu *g = open_first(f);
	struct memory m;
	uint64_t addr = probe_memory(g, &m, 4096, f);

	(void)arg;
	if (addr)
		printf("%d\n", *(volatile char *)(uintptr_t)addr);
	return fault_is(f) ? -1 : 0;
}

/* Say which byte of the N copies in and out is wrong. */
int probe_flips(char **arg, struct fault *f)
{
	enum {
		BYTES = 4096
	};
	uint8_t zero[BYTES] = {0}, in[BYTES];
	struct gpu *g = open_first(f);
	struct memory m;
	uint64_t addr = probe_memory(g, &m, BYTES, f);

	for (int n = 1; addr && n <= atoi(arg[0]); n++) {
		gpu_copy_in(g, addr, zero, BYTES, f);
		gpu_copy_out(g, in, addr, BYTES, f);
		for (int i = 0; i < BYTES; i++)
			if (in[i])
				printf("round %d byte %d: %02x\n", n, i, in[i]);
	}
	memory_free(&m);
	gpu_close(g);
	return fault_is(f) ? -1 : 0;
}

static void *use_elsewhere(void *p)
{
	struct memory *m = p;
	struct fault f = {0};
	char byte = 1;

	gpu_copy_in(m->gpu, m->addr, &byte, 1, &f);
	return fault_is(&f) ? NULL : p;
}

/* A thread that did not open the GPU may use it. */
int probe_threads(char **arg, struct fault *f)
{
	struct gpu *g = open_first(f);
	struct memory m = {0};
	void *did = NULL;
	pthread_t t;

	(void)arg;
	if (!g || !probe_memory(g, &m, 4096, f))
		return -1;
	MUST(f, !pthread_create(&t, NULL, use_elsewhere, &m));
	pthread_join(t, &did);
	MUST(f, did);
	memory_free(&m);
	gpu_close(g);
	return fault_is(f) ? -1 : 0;
}
