// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "gpu.h"

#include <dlfcn.h>
#include <unistd.h>

/* A call of the stand-in for a GPU's driver; NULL if the program has not loaded that. */
static void *driver_call(const char *library, const char *name)
{
	void *opened = dlopen(library, RTLD_NOLOAD | RTLD_LAZY);
	void *call = opened ? dlsym(opened, name) : NULL;

	if (opened)
		dlclose(opened); /* the program still has it open */
	return call;
}

int gpu_memory(const struct desc_dev *d, void *addr, size_t length, void **host)
{
	int (*ask)(uint64_t, size_t, void **);
	int answer = 0;

	*(void **)&ask = driver_call("libcuda.so.1", "simcuda_peer_memory");
	if (ask)
		answer = ask((uintptr_t)addr, length, host);
	*(void **)&ask = answer ? NULL : driver_call("libhsa-runtime64.so.1", "simhip_peer_memory");
	if (ask)
		answer = ask((uintptr_t)addr, length, host);
	return answer > 0 && !(d->features & DESC_PEERMEM) ? -1 : answer;
}

bool gpu_window(int fd, uint64_t page, uint64_t length, uint64_t *offset)
{
	off_t at = lseek(fd, 0, SEEK_CUR);
	uint64_t first = at > 0 ? at & 0x7fffffff : 0, pages = at > 0 ? at >> 31 : 0;

	if (!pages)
		return true;
	if (*offset > pages * page || length > pages * page - *offset)
		return false;
	*offset += first * page;
	return true;
}

void gpu_attached(int fd, size_t length)
{
	void (*tell)(int, size_t, bool);

	*(void **)&tell = driver_call("libhsa-runtime64.so.1", "simhip_attached");
	if (tell)
		tell(fd, length, true);
}
