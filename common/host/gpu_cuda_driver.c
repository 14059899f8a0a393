// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* NVIDIA's driver library: opened at run time, and every way of not having it told apart. */
#include "host/gpu_cuda.h"

#include <dlfcn.h>
#include <link.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "host/sysfs.h"

#define TEXT(x)               #x
#define NAME_OF(x)            TEXT(x) /* after cuda.h's macros had their turn */
#define ROW(member, function) {NAME_OF(function), offsetof(struct cuda_driver, member)},

struct entry {
	const char *name;
	size_t offset;
};

/* The file that the loader took; the name it was asked for if that is not known. */
static const char *file_of(void *library)
{
	struct link_map *map = NULL;

	if (dlinfo(library, RTLD_DI_LINKMAP, &map) || !map || !map->l_name || !map->l_name[0])
		return CUDA_LIBRARY;
	return map->l_name;
}

static void set_entry(struct cuda_driver *cu, size_t offset, void *symbol)
{
	memcpy((char *)cu + offset, &symbol, sizeof(symbol));
}

/* Returns the name of the first of the COUNT entries that is missing, NULL if none is. */
static const char *look_up(struct cuda_driver *cu, void *library, const struct entry *entry,
			   size_t count)
{
	const char *missing = NULL;

	for (size_t i = 0; i < count; i++) {
		void *symbol = dlsym(library, entry[i].name);

		set_entry(cu, entry[i].offset, symbol);
		if (!symbol && !missing)
			missing = entry[i].name;
	}
	return missing;
}

static const char *look_up_all(struct cuda_driver *cu, void *library)
{
	static const struct entry needed[] = {CUDA_ENTRIES(ROW)};
	static const struct entry optional[] = {CUDA_OPTIONAL_ENTRIES(ROW)};
	const char *missing = look_up(cu, library, needed, sizeof(needed) / sizeof(needed[0]));

	look_up(cu, library, optional, sizeof(optional) / sizeof(optional[0]));
	/* cuda.h 13 says _v2, which older drivers do not have */
	if (!cu->device_get_uuid)
		set_entry(cu, offsetof(struct cuda_driver, device_get_uuid),
			  dlsym(library, "cuDeviceGetUuid"));
	return missing;
}

static int no_library(struct fault *f)
{
	const char *why = dlerror();

	fault_raise(f, FAULT_UNAVAILABLE, 0, "%s", why ? why : "dlopen(" CUDA_LIBRARY ")");
	fault_cause(f, "NVIDIA's driver library is not on this machine, or not in this container");
	return fault_fix(f, "install the NVIDIA driver; start a container with its GPUs "
			    "(docker run --gpus all)");
}

static int too_old(struct fault *f, int version, const char *file)
{
	fault_raise(f, FAULT_UNAVAILABLE, 0, "%s is the driver of CUDA %d.%d", file, version / 1000,
		    version % 1000 / 10);
	fault_cause(f, "The NVIDIA driver is too old: GPU memory needs the one of CUDA %d.%d",
		    CUDA_OLDEST / 1000, CUDA_OLDEST % 1000 / 10);
	return fault_fix(f, "install NVIDIA driver 450 or newer");
}

static int no_symbol(struct fault *f, const char *name, const char *file)
{
	fault_raise(f, FAULT_UNAVAILABLE, 0, "%s has no %s", file, name);
	fault_cause(f, "It is not the NVIDIA driver's library, or a damaged one");
	return fault_fix(f, "reinstall the NVIDIA driver; look at LD_LIBRARY_PATH");
}

static int stub(struct fault *f, const char *file)
{
	fault_raise(f, FAULT_UNAVAILABLE, 0, "cuInit: CUDA_ERROR_STUB_LIBRARY (34)");
	fault_cause(f,
		    "%s is the CUDA toolkit's stub, which programs are linked with, not the "
		    "driver",
		    file);
	return fault_fix(f, "take the toolkit's stubs directory out of LD_LIBRARY_PATH and "
			    "ld.so.conf; install the NVIDIA driver");
}

static int no_device(struct fault *f)
{
	const char *visible = getenv("CUDA_VISIBLE_DEVICES");

	fault_raise(f, FAULT_UNAVAILABLE, 0, "cuInit: CUDA_ERROR_NO_DEVICE (100)");
	if (visible) {
		fault_cause(f, "CUDA_VISIBLE_DEVICES is '%s', and that leaves no GPU", visible);
		return fault_fix(f, "unset CUDA_VISIBLE_DEVICES, or name a GPU in it");
	}
	fault_cause(f, "The driver is there and sees no GPU");
	return fault_fix(f, "look at nvidia-smi and at lspci -d 10de:; start a container with its "
			    "GPUs (docker run --gpus all)");
}

static int not_ready(struct fault *f)
{
	fault_raise(f, FAULT_UNAVAILABLE, 0, "cuInit: CUDA_ERROR_SYSTEM_NOT_READY (802)");
	fault_cause(f, "The GPUs are joined by NVSwitches, and the fabric manager has not set "
		       "them up");
	return fault_fix(f, "systemctl start nvidia-fabricmanager, of the driver's own version");
}

static int mismatch(struct fault *f, const char *file)
{
	char kernel[64];

	if (sysfs_read(kernel, sizeof(kernel), "module/nvidia/version"))
		kernel[0] = '\0';
	fault_raise(f, FAULT_UNAVAILABLE, 0, "cuInit: CUDA_ERROR_SYSTEM_DRIVER_MISMATCH (803)");
	fault_cause(f, "The kernel module (%s) and %s are of different versions",
		    kernel[0] ? kernel : "nvidia", file);
	return fault_fix(f, "reboot, or reload the nvidia modules; in a container use the host's "
			    "library");
}

static int does_not_start(struct fault *f, CUresult rc)
{
	char text[64];

	fault_raise(f, FAULT_UNAVAILABLE, 0, "cuInit: %s (%d)", gpu_error_name((int)rc), (int)rc);
	if (sysfs_read(text, sizeof(text), "module/nvidia/version"))
		fault_cause(f, "The nvidia kernel module is not loaded");
	else if (sysfs_read(text, sizeof(text), "module/nvidia_uvm/initstate"))
		fault_cause(f, "The nvidia kernel module is loaded, nvidia_uvm is not");
	else
		fault_cause(f, "The driver does not start, though its kernel modules are loaded");
	return fault_fix(f, "modprobe nvidia nvidia_uvm; look at dmesg for NVRM and Xid, and "
			    "whether this user may open /dev/nvidia*");
}

static int init_failed(struct fault *f, CUresult rc, const char *file)
{
	switch ((int)rc) {
	case 34:
		return stub(f, file);
	case 100:
		return no_device(f);
	case 802:
		return not_ready(f);
	case 803:
		return mismatch(f, file);
	default:
		return does_not_start(f, rc);
	}
}

int cuda_driver_start(struct cuda_driver *cu, struct fault *f)
{
	const char *missing, *file;
	void *library;
	CUresult rc;

	memset(cu, 0, sizeof(*cu));
	library = dlopen(CUDA_LIBRARY, RTLD_NOW | RTLD_LOCAL);
	if (!library)
		return no_library(f);
	file = file_of(library);
	missing = look_up_all(cu, library);
	/* needs no cuInit() */
	if (!cu->driver_get_version || cu->driver_get_version(&cu->version))
		cu->version = 0;
	if (cu->version && cu->version < CUDA_OLDEST)
		return too_old(f, cu->version, file);
	if (missing)
		return no_symbol(f, missing, file);
	rc = cu->init(0);
	return rc ? init_failed(f, rc, file) : 0;
}
