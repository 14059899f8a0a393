// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Opens NVIDIA's driver library at run time, and finds out why that fails. */
#include "memory/cuda.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

#include "finding/why.h"
#include "host/sysfs.h"
#include "memory/vendors.h"

/* The file that the loader opened; CUDA_LIBRARY if that is not known. */
static const char *library_file(void *library)
{
	struct link_map *map = NULL;

	if (dlinfo(library, RTLD_DI_LINKMAP, &map) || !map || !map->l_name || !map->l_name[0])
		return CUDA_LIBRARY;
	return map->l_name;
}

/* Store the addresses of all functions in CU. Returns the first that is needed and missing, or
 * NULL. */
static const char *look_up_driver(struct cuda_driver *cu, void *library)
{
	const char *missing = NULL;

#define OPTIONAL(function) vendor_look_up(library, #function, &cu->function);
#define NEEDED(function)                                             \
	if (!vendor_look_up(library, #function, &cu->function) && !missing) \
		missing = #function;
	CUDA_ENTRIES(NEEDED)
	CUDA_OPTIONAL_ENTRIES(OPTIONAL)
#undef NEEDED
#undef OPTIONAL
	/* older drivers only have the function that does not know MIG instances */
	if (!cu->cuDeviceGetUuid_v2)
		vendor_look_up(library, "cuDeviceGetUuid", &cu->cuDeviceGetUuid_v2);
	return missing;
}

static int raise_no_library(struct fault *f)
{
	int errnum = errno;
	const char *why = dlerror();

	if (errnum == ENOMEM)
		return fault_raise(f, FAULT_LOCAL, ENOMEM, "dlopen(" CUDA_LIBRARY ")");
	fault_raise(f, FAULT_UNAVAILABLE, 0, "%s", why ? why : "dlopen(" CUDA_LIBRARY ")");
	return EXPLAIN(f, NO_CUDA);
}

static int raise_old_driver(struct fault *f, int version, const char *file)
{
	char oldest[16];

	fault_raise(f, FAULT_UNAVAILABLE, 0, "%s is the driver for CUDA %d.%d", file,
		    version / 1000, version % 1000 / 10);
	snprintf(oldest, sizeof(oldest), "%d.%d", CUDA_OLDEST / 1000, CUDA_OLDEST % 1000 / 10);
	return EXPLAIN(f, CUDA_TOO_OLD, {"cuda", oldest});
}

static int raise_missing_symbol(struct fault *f, const char *name, const char *file)
{
	fault_raise(f, FAULT_UNAVAILABLE, 0, "%s has no %s", file, name);
	return EXPLAIN(f, NOT_CUDA);
}

static int explain_no_device(struct fault *f)
{
	const char *visible = getenv("CUDA_VISIBLE_DEVICES");

	return visible ? EXPLAIN(f, CUDA_HIDDEN, {"visible", visible}) : EXPLAIN(f, CUDA_NO_GPU);
}

static int explain_driver_mismatch(struct fault *f, const char *file)
{
	char kernel[64];

	sysfs_read(kernel, sizeof(kernel), "module/nvidia/version");
	return EXPLAIN(f, CUDA_VERSIONS, {"module", kernel[0] ? kernel : "nvidia"}, {"file", file});
}

static int explain_not_starting(struct fault *f)
{
	char text[64];
	bool module = sysfs_read(text, sizeof(text), "module/nvidia/version") == 0;
	bool uvm = sysfs_read(text, sizeof(text), "module/nvidia_uvm/initstate") == 0;

	return EXPLAIN(f, CUDA_NOT_STARTING,
		       {!module ? "no_module"
			: !uvm  ? "no_uvm"
				: "loaded",
			""});
}

/* Raise the fault that cuInit() returned RC, with cause and fix. Returns -1. */
static int raise_init_failed(struct fault *f, CUresult rc, const char *file)
{
	if (rc == CUDA_ERROR_OUT_OF_MEMORY)
		return fault_raise(f, FAULT_LOCAL, ENOMEM, "cuInit: %s", cuda_error_name((int)rc));
	fault_raise(f, FAULT_UNAVAILABLE, 0, "cuInit: %s (%d)", cuda_error_name((int)rc), (int)rc);
	switch ((int)rc) {
	case CUDA_ERROR_STUB_LIBRARY:
		return EXPLAIN(f, CUDA_STUB, {"file", file});
	case CUDA_ERROR_NO_DEVICE:
		return explain_no_device(f);
	case CUDA_ERROR_SYSTEM_NOT_READY:
		return EXPLAIN(f, FABRIC_MANAGER);
	case CUDA_ERROR_SYSTEM_DRIVER_MISMATCH:
		return explain_driver_mismatch(f, file);
	default:
		return explain_not_starting(f);
	}
}

int cuda_driver_start(struct cuda_driver *cu, struct fault *f)
{
	const char *missing, *file;
	void *library;
	CUresult rc;

	memset(cu, 0, sizeof(*cu));
	errno = 0;
	library = dlopen(CUDA_LIBRARY, RTLD_NOW | RTLD_LOCAL);
	if (!library)
		return raise_no_library(f);
	file = library_file(library);
	missing = look_up_driver(cu, library);
	/* works before cuInit() */
	if (!cu->cuDriverGetVersion || cu->cuDriverGetVersion(&cu->version))
		cu->version = 0;
	if (cu->version && cu->version < CUDA_OLDEST)
		return raise_old_driver(f, cu->version, file);
	if (missing)
		return raise_missing_symbol(f, missing, file);
	rc = cu->cuInit(0);
	return rc ? raise_init_failed(f, rc, file) : 0;
}
