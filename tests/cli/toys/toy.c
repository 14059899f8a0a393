// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A vendor without GPUs: its driver, which the variable TOY_GPUS starts, has as many, and each GPU's
 * memory is a file without a name, so it can be exported as a dma-buf is, to the stand-in for the
 * verbs. TOY_HOST names a file: what is exported then moves to the host, and the file has as many
 * bytes. TOY_CLOSED: the driver exports nothing.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/units.h"
#include "memory/gpu.h"
#include "memory/vendors.h"

#define MEMORY_BYTES ((uint64_t)4 << 30)
#define TOY_CLOSED   1 /* the driver's only error */

struct toy_gpu {
	struct gpu gpu;
	int fd;
	char *base;
	uint64_t used_bytes;
};

static struct toy_gpu *toy(struct gpu *g)
{
	return (struct toy_gpu *)g;
}

static const char *toy_error_name(int result)
{
	return result == TOY_CLOSED ? "TOY_CLOSED" : "unknown error";
}

__attribute__((format(printf, 3, 4))) static int toy_failed(struct fault *f, int result,
							    const char *call, ...)
{
	char text[128];
	va_list ap;

	va_start(ap, call);
	vsnprintf(text, sizeof(text), call, ap);
	va_end(ap);
	return fault_raise(f, FAULT_LOCAL, 0, "%s: %s (%d)", text, toy_error_name(result), result);
}

static int toy_why(const struct gpu_info *g, enum memory_refusal refusal, int number, size_t bytes,
		   struct fault *f)
{
	static const char *const causes[] = {
		[MEMORY_EXPORT] = "The driver exports no memory",
		[MEMORY_EXPORT_DIRECT] = "Data Direct is for NVIDIA's GPUs",
		[MEMORY_NO_DMABUF] = "The device cannot register dma-bufs",
		[MEMORY_DMABUF] = "The exported memory could not be registered",
		[MEMORY_PEERMEM] = "The device does not accept the toy's memory",
		[MEMORY_MOVED] = "The driver moved the buffer to host memory",
	};

	(void)g;
	fault_raise(f, FAULT_LOCAL, 0, "%s of a toy's memory: %d", units_size(bytes).text, number);
	fault_cause(f, "%s", causes[refusal]);
	return fault_fix(f, "use --gpu-path peermem");
}

static int toy_list(struct gpu_info **list, size_t *count, struct fault *f)
{
	const char *gpus = getenv("TOY_GPUS");
	size_t n = gpus ? strtoul(gpus, NULL, 10) : 0;

	if (!n) {
		fault_raise(f, FAULT_UNAVAILABLE, 0, "there is no toy");
		fault_cause(f, "TOY_GPUS is not set");
		return fault_fix(f, "set TOY_GPUS=1");
	}
	*list = calloc(n, sizeof(**list));
	if (!*list)
		return fault_raise(f, FAULT_LOCAL, ENOMEM, "allocating a list of %zu GPUs", n);
	for (*count = 0; *count < n; ++*count) {
		struct gpu_info *g = &(*list)[*count];

		snprintf(g->name, sizeof(g->name), "Toy %zu", *count);
		snprintf(g->uuid, sizeof(g->uuid), "GPU-7%zu790000-0", *count);
		g->memory_bytes = MEMORY_BYTES;
		g->gpudirect = g->dmabuf = true;
		g->ordering = 200;
	}
	return 0;
}

static void toy_close(struct gpu *g)
{
	if (toy(g)->base != MAP_FAILED)
		munmap(toy(g)->base, MEMORY_BYTES);
	if (toy(g)->fd >= 0)
		close(toy(g)->fd);
	free(g);
}

static int toy_open(struct gpu **out, const struct gpu_info *info, struct fault *f)
{
	struct toy_gpu *g = calloc(1, sizeof(*g));
	int prot = PROT_READ | PROT_WRITE;

	if (!g)
		return fault_raise(f, FAULT_LOCAL, ENOMEM, "allocating struct gpu");
	g->base = MAP_FAILED;
	g->fd = memfd_create("toy", MFD_CLOEXEC);
	if (g->fd >= 0 && !ftruncate(g->fd, (off_t)MEMORY_BYTES))
		g->base = mmap(NULL, MEMORY_BYTES, prot, MAP_SHARED | MAP_NORESERVE, g->fd, 0);
	if (g->base == MAP_FAILED) {
		fault_raise(f, FAULT_LOCAL, errno, "the memory of %s", info->name);
		toy_close(&g->gpu);
		return -1;
	}
	*out = &g->gpu;
	return 0;
}

/* One after the other. What is freed is zero again, and used again if it was the last. */
static int toy_alloc(struct memory *m, const struct memory_attr *attr, struct fault *f)
{
	struct toy_gpu *g = toy(m->gpu);
	uint64_t bytes = (attr->bytes | (GPU_ALIGN_BYTES - 1)) + 1;

	if (bytes > MEMORY_BYTES - g->used_bytes)
		return fault_raise(f, FAULT_LOCAL, ENOMEM, "%s", units_size(bytes).text);
	m->base = m->addr = (uint64_t)(uintptr_t)(g->base + g->used_bytes);
	m->mapped_bytes = bytes;
	g->used_bytes += bytes;
	return 0;
}

static void toy_free(struct memory *m)
{
	struct toy_gpu *g = toy(m->gpu);

	madvise((void *)(uintptr_t)m->base, m->mapped_bytes, MADV_REMOVE);
	if (m->base + m->mapped_bytes == (uint64_t)(uintptr_t)g->base + g->used_bytes)
		g->used_bytes -= m->mapped_bytes;
}

static int64_t toy_moved_bytes(const struct gpu_info *g)
{
	const char *host = getenv("TOY_HOST");
	struct stat s;

	(void)g;
	return !host ? 0 : stat(host, &s) ? -1 : s.st_size;
}

static int toy_export(struct gpu *g, uint64_t addr, size_t bytes, bool pcie, int *fd,
		      uint64_t *offset)
{
	const char *host = getenv("TOY_HOST");

	*fd = -1;
	*offset = addr - (uint64_t)(uintptr_t)toy(g)->base;
	if (pcie || getenv("TOY_CLOSED"))
		return TOY_CLOSED;
	if (host && truncate(host, (off_t)(toy_moved_bytes(&g->info) + (int64_t)bytes)))
		return TOY_CLOSED;
	*fd = fcntl(toy(g)->fd, F_DUPFD_CLOEXEC, 0);
	return *fd < 0 ? TOY_CLOSED : 0;
}

static bool toy_has_peermem(void)
{
	return true;
}

static int toy_flush(struct gpu *g, struct fault *f)
{
	return fault_raise(f, FAULT_UNAVAILABLE, 0, "flushing the writes to %s", g->info.name);
}

static int copy(void *to, const void *from, size_t bytes)
{
	memcpy(to, from, bytes);
	return 0;
}

static int toy_copy_in(struct gpu *g, uint64_t to, const void *from, size_t bytes, struct fault *f)
{
	(void)g, (void)f;
	return copy((void *)(uintptr_t)to, from, bytes);
}

static int toy_copy_out(struct gpu *g, void *to, uint64_t from, size_t bytes, struct fault *f)
{
	(void)g, (void)f;
	return copy(to, (const void *)(uintptr_t)from, bytes);
}

static int toy_host_register(struct gpu *g, void *addr, size_t bytes)
{
	(void)g, (void)addr, (void)bytes;
	return 0;
}

static void toy_host_release(struct gpu *g, void *addr)
{
	(void)g, (void)addr;
}

/* A copy is complete when it was submitted, so a stream and an event need nothing. */
static int toy_create(struct gpu *g, void **made)
{
	*made = g;
	return 0;
}

static void toy_destroy(struct gpu *g, void *made)
{
	(void)g, (void)made;
}

static int toy_stream_in(struct gpu *g, void *stream, uint64_t to, const void *from, size_t bytes)
{
	(void)g, (void)stream;
	return copy((void *)(uintptr_t)to, from, bytes);
}

static int toy_stream_out(struct gpu *g, void *stream, void *to, uint64_t from, size_t bytes)
{
	(void)g, (void)stream;
	return copy(to, (const void *)(uintptr_t)from, bytes);
}

static int toy_stream_mark(struct gpu *g, void *stream, void *event)
{
	(void)g, (void)stream, (void)event;
	return 0;
}

static int toy_stream_done(struct gpu *g, void *event)
{
	(void)g, (void)event;
	return 1;
}

const struct memory_ops *memory_toy(void)
{
	static const struct memory_ops ops = {
		.name = "Toy",
		.module = "toy",
		.hidden_by = "TOY_VISIBLE_DEVICES",
		.option = "use_toy",
		.alloc = toy_alloc,
		.free = toy_free,
		.list = toy_list,
		.open = toy_open,
		.close = toy_close,
		.copy_in = toy_copy_in,
		.copy_out = toy_copy_out,
		.host_register = toy_host_register,
		.host_release = toy_host_release,
		.export = toy_export,
		.moved_bytes = toy_moved_bytes,
		.flush = toy_flush,
		.has_peermem = toy_has_peermem,
		.stream_create = toy_create,
		.stream_destroy = toy_destroy,
		.event_create = toy_create,
		.event_destroy = toy_destroy,
		.stream_in = toy_stream_in,
		.stream_out = toy_stream_out,
		.stream_mark = toy_stream_mark,
		.stream_done = toy_stream_done,
		.error_name = toy_error_name,
		.failed = toy_failed,
		.why = toy_why,
	};

	return &ops;
}
