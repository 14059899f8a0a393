// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A file of the user's, mapped shared. */
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "base/units.h"
#include "memory/memory.h"

/* Map BYTES of the file, open as FD, which has them if it is a regular file: touching the buffer
 * past its end would raise SIGBUS. */
static int map_file(struct memory *m, const struct memory_attr *attr, int fd, size_t bytes,
		    struct fault *f)
{
	uint64_t end = attr->file_offset_bytes + bytes;
	struct stat st;
	void *addr;

	if (fstat(fd, &st))
		return fault_raise(f, FAULT_LOCAL, errno, "fstat(%s)", attr->file);
	if (S_ISREG(st.st_mode) && (uint64_t)st.st_size < end) {
		fault_raise(f, FAULT_USAGE, 0,
			    "--mmap %s: the file has %s, but the buffers need %s", attr->file,
			    units_size((uint64_t)st.st_size).text, units_size(end).text);
		return fault_fix(f, "truncate -s %llu %s", (unsigned long long)end, attr->file);
	}
	addr = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
		    (off_t)attr->file_offset_bytes);
	if (addr == MAP_FAILED) {
		fault_raise(f, FAULT_LOCAL, errno, "mmap(%s, offset %llu)", attr->file,
			    (unsigned long long)attr->file_offset_bytes);
		return fault_fix(f, "give --mmap a file that can be mapped shared and writable, "
				    "and --mmap-offset a multiple of the page size");
	}
	m->host = addr;
	m->mapped_bytes = bytes;
	text_add(m->what, sizeof(m->what), "file %s", attr->file);
	return 0;
}

static int alloc_file(struct memory *m, const struct memory_attr *attr, struct fault *f)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	int fd = open(attr->file, O_RDWR | O_CLOEXEC), rc;

	if (fd < 0) {
		fault_raise(f, FAULT_LOCAL, errno, "open(%s)", attr->file);
		return fault_fix(f, "give --mmap a file that this user may read and write");
	}
	rc = map_file(m, attr, fd, (attr->bytes + page - 1) / page * page, f);
	close(fd);
	return rc;
}

const struct memory_ops *memory_file(void)
{
	static const struct memory_ops ops = {.name = "file", .alloc = alloc_file};

	return &ops;
}
