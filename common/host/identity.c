// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "host/identity.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/text.h"

#define CPUINFO_BYTES 8192 /* holds the first CPU */
#define LIBRARY       "libibverbs.so."

void identity_kernel(char *buf, size_t size)
{
	struct utsname u;

	text_copy(buf, size, uname(&u) ? "" : u.release);
}

/* Copy the value of KEY in TEXT to BUF. False if there is none. */
static bool copy_value(const char *text, const char *key, char *buf, size_t size)
{
	const char *at = text_value(text, key);
	size_t n = at ? strcspn(at, "\n") : 0;

	if (at)
		text_copy(buf, n < size ? n + 1 : size, at);
	return at;
}

void identity_cpu_model(const char *cpuinfo, char *buf, size_t size)
{
	char text[CPUINFO_BYTES], maker[32], core[32];

	text_read(cpuinfo, text, sizeof(text));
	buf[0] = '\0';
	if (copy_value(text, "model name", buf, size) || copy_value(text, "cpu", buf, size))
		return;
	if (copy_value(text, "CPU implementer", maker, sizeof(maker)) &&
	    copy_value(text, "CPU part", core, sizeof(core)))
		snprintf(buf, size, "implementer %s, part %s", maker, core);
}

void identity_rdma_core_of(const char *file, char *buf, size_t size)
{
	const char *slash = strrchr(file, '/'), *at = slash ? slash + 1 : file;

	buf[0] = '\0';
	if (strncmp(at, LIBRARY, strlen(LIBRARY)) != 0)
		return;
	at += strlen(LIBRARY);
	/* The ABI version precedes it: libibverbs.so.1.14.44.0 is of rdma-core 44.0. */
	for (int i = 0; i < 2 && at; i++) {
		at = strchr(at, '.');
		if (at)
			at++;
	}
	if (at && at[strspn(at, "0123456789.")] == '\0')
		text_copy(buf, size, at);
}

void identity_rdma_core(char *buf, size_t size)
{
	void *function = dlsym(RTLD_DEFAULT, "ibv_get_device_list");
	char path[PATH_MAX];
	Dl_info info;

	buf[0] = '\0';
	if (function && dladdr(function, &info) && realpath(info.dli_fname, path))
		identity_rdma_core_of(path, buf, size);
}
