// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What must be right: buffers, exports, copies, and that a wrong byte is found. */
#include "check.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PART_BYTES ((size_t)4 << 20)

/* Several at a time; each aligned, zero at both ends and in the middle. */
void check_buffers(struct check *c, struct fault *f)
{
	static const size_t size[] = {1, 4096, 65537, 2 << 20, (2 << 20) + 1, 64 << 20};
	enum {
		COUNT = sizeof(size) / sizeof(size[0])
	};
	struct memory m[COUNT] = {{0}};

	for (int i = 0; i < COUNT; i++) {
		unsigned char at[3] = {1, 1, 1};

		if (check_alloc(c, &m[i], size[i], f))
			break;
		gpu_copy_out(c->g, at, m[i].addr, 1, f);
		gpu_copy_out(c->g, at + 1, m[i].addr + size[i] / 2, 1, f);
		gpu_copy_out(c->g, at + 2, m[i].addr + size[i] - 1, 1, f);
		check_print(c, m[i].addr % GPU_ALIGN_BYTES == 0 && !at[0] && !at[1] && !at[2],
			    "buffer of %zu bytes at 0x%" PRIx64 ": aligned and zero", size[i],
			    m[i].addr);
	}
	for (int i = 0; i < COUNT; i++)
		memory_free(&m[i]);
}

static void export_one(struct check *c, uint64_t addr, uint64_t from, size_t bytes, bool outside)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), offset = UINT64_MAX;
	int fd, rc = c->g->ops->export(c->g, addr + from, bytes, false, &fd, &offset);
	bool dmabuf = c->g->info.dmabuf;

	check_print(c,
		    outside || !dmabuf ? rc && fd < 0
				       : !rc && fd >= 0 && offset == (addr + from) % page,
		    "export of %zu bytes at +%" PRIu64 "%s: %s (%d), offset %" PRIu64, bytes, from,
		    outside ? ", past the end" : "", c->g->ops->error_name(rc), rc, offset);
	if (fd >= 0)
		close(fd);
}

void check_exports(struct check *c, struct fault *f)
{
	struct memory m;
	uint64_t addr, offset;
	int fd, rc;

	if (check_alloc(c, &m, PART_BYTES, f))
		return;
	addr = m.addr;
	export_one(c, addr, 0, PART_BYTES, false);
	export_one(c, addr, 0, 65536, false);
	export_one(c, addr, 65536, 65536, false);
	export_one(c, addr, 4096, 4096, false);
	export_one(c, addr, 100, 1, false);
	export_one(c, addr, 65535, 70000, false);
	export_one(c, addr, PART_BYTES - 1, 1, false);
	export_one(c, addr, 0, (size_t)1 << 40, true);
	rc = c->g->ops->export(c->g, addr, 65536, true, &fd, &offset);
	printf("# export with the PCIe flag, for Data Direct: %s (%d)\n", c->g->ops->error_name(rc),
	       rc);
	if (fd >= 0)
		close(fd);
	memory_free(&m);
}

/* In one piece, out in pieces that do not begin where pages or words do. */
void check_copies(struct check *c, struct fault *f)
{
	struct memory m;
	uint64_t addr = check_alloc(c, &m, PART_BYTES, f) ? 0 : m.addr;
	uint8_t *out = malloc(PART_BYTES), *in = calloc(1, PART_BYTES);

	if (addr && out && in) {
		check_fill(out, PART_BYTES, 1);
		gpu_copy_in(c->g, addr, out, PART_BYTES, f);
		for (size_t at = 0, n = 1; at < PART_BYTES; at += n, n = n * 3 + 1) {
			n = n < PART_BYTES - at ? n : PART_BYTES - at;
			gpu_copy_out(c->g, in + at, addr + at, n, f);
		}
		check_print(c, !memcmp(in, out, PART_BYTES), "copy in, copy out in uneven pieces");
		gpu_flush(c->g, false, f);
		check_print(c, !fault_is(f), "flush (%s)",
			    c->g->info.ordering < GPU_ORDERS ? "needed" : "not needed");
	}
	free(out);
	free(in);
	memory_free(&m);
}

/* One byte in GPU memory is made wrong: comparing must find it, and only it. */
void check_planted_fault(struct check *c, struct fault *f)
{
	const size_t wrong = PART_BYTES / 3 & ~(size_t)7;
	struct memory m;
	uint64_t addr = check_alloc(c, &m, PART_BYTES, f) ? 0 : m.addr;
	uint8_t *data = malloc(PART_BYTES), byte;
	size_t found;

	if (addr && data) {
		check_fill(data, PART_BYTES, 2);
		gpu_copy_in(c->g, addr, data, PART_BYTES, f);
		memset(data, 0, PART_BYTES);
		gpu_copy_out(c->g, data, addr, PART_BYTES, f);
		found = check_compare(data, PART_BYTES, 2);
		check_print(c, found == PART_BYTES, "verification of what is right");
		byte = data[wrong + 3] ^ 0x10;
		gpu_copy_in(c->g, addr + wrong + 3, &byte, 1, f);
		gpu_copy_out(c->g, data, addr, PART_BYTES, f);
		found = check_compare(data, PART_BYTES, 2);
		check_print(c, found == wrong, "a planted bit flip in word +%zu is found at +%zu",
			    wrong, found);
		check_print(c, check_compare(data, PART_BYTES, 3) == 0,
			    "another seed's data are not taken for it");
	}
	free(data);
	memory_free(&m);
}
