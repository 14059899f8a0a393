// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Streams and events on GPU 0. */
#include "probe.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"

enum {
	CHUNK = 64 << 10,
	SLOTS = GPU_STREAM_SLOTS
};

struct bench {
	struct gpu *g;
	struct gpu_stream *s;
	struct memory memory;
	uint64_t addr;
	uint8_t *host;
};

static void close_bench(struct bench *b)
{
	gpu_stream_close(b->s);
	gpu_stream_close(NULL);
	memory_free(&b->memory);
	gpu_close(b->g);
	free(b->host);
}

static int open_bench(struct bench *b, struct fault *f)
{
	const struct gpu_attr wish = {.index = 0};

	*b = (struct bench){0};
	if (gpu_open(&b->g, &wish, f))
		return -1;
	b->addr = probe_memory(b->g, &b->memory, SLOTS * CHUNK, f);
	b->host = aligned_alloc(4096, SLOTS * CHUNK);
	if (b->addr && !gpu_stream_open(&b->s, b->g, b->host, SLOTS * CHUNK, f))
		return 0;
	close_bench(b);
	return -1;
}

static int wait_for(struct gpu_stream *s, unsigned slot, struct fault *f)
{
	uint64_t give_up = clock_now_ns() + UINT64_C(20000000000);
	int rc;

	while ((rc = gpu_stream_done(s, slot)) == 0 && clock_now_ns() < give_up)
		;
	MUST(f, rc == 1);
	return rc == 1 ? 0 : -1;
}

/* In and out through a stream, the content and what events say. */
int probe_stream(char **arg, struct fault *f)
{
	struct bench b;

	(void)arg;
	if (open_bench(&b, f))
		return -1;
	MUST(f, gpu_stream_done(b.s, 3) == 1); /* never marked */
	memset(b.host, 0x11, CHUNK);
	MUST(f, !gpu_stream_copy_in(b.s, 0, b.addr, b.host, CHUNK));
	wait_for(b.s, 0, f);
	MUST(f, !gpu_stream_copy_out(b.s, 1, b.host + CHUNK, b.addr, CHUNK));
	wait_for(b.s, 1, f);
	MUST(f, !memcmp(b.host, b.host + CHUNK, CHUNK));
	if (!fault_is(f)) {
		int rc = gpu_stream_copy_in(b.s, 2, b.addr + (16 << 20), b.host, CHUNK);

		MUST(f, rc == -1);
		gpu_stream_failed(b.s, rc, f);
	}
	close_bench(&b);
	return fault_is(f) ? -1 : 0;
}

/*
 * With slow copies (64 KiB take a millisecond and more): order, old data while in flight, the time
 * of all.
 */
int probe_order(char **arg, struct fault *f)
{
	struct bench b;
	uint64_t started, took;

	(void)arg;
	if (open_bench(&b, f))
		return -1;
	memset(b.host, 0, SLOTS * CHUNK);
	gpu_copy_in(b.g, b.addr, b.host, SLOTS * CHUNK, f);
	memset(b.host, 0x22, SLOTS * CHUNK);
	started = clock_now_ns();
	for (unsigned i = 0; i < SLOTS; i++)
		MUST(f, !gpu_stream_copy_out(b.s, i, b.host + i * CHUNK, b.addr, CHUNK));
	MUST(f, gpu_stream_done(b.s, SLOTS - 1) == 0);
	MUST(f, b.host[(SLOTS - 1) * CHUNK] == 0x22);
	for (unsigned i = 0; i < SLOTS; i++) {
		wait_for(b.s, i, f);
		MUST(f, b.host[i * CHUNK] == 0 && b.host[(i + 1) * CHUNK - 1] == 0);
	}
	took = clock_now_ns() - started;
	printf("%" PRIu64 " us\n", took / 1000);
	close_bench(&b);
	return fault_is(f) ? -1 : 0;
}
