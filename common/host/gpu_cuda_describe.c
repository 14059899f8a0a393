// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Describes GPUs by what the driver and sysfs tell, and finds the GPU that the user names. */
#include "host/gpu_cuda.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"
#include "host/sysfs.h"

#define PCI_BYTES sizeof(((struct gpu_info *)0)->pci)

/* The attribute WHICH of the device; UNKNOWN if the driver does not know it. */
static int device_attribute(const struct cuda_driver *cu, CUdevice dev, CUdevice_attribute which,
			    int unknown)
{
	int value;

	if (cu->cuDeviceGetAttribute(&value, which, dev))
		return unknown;
	return value;
}

static void format_uuid(const struct cuda_driver *cu, CUdevice dev, char *buf, size_t size)
{
	CUuuid id;
	unsigned char b[16];

	if (!cu->cuDeviceGetUuid_v2 || cu->cuDeviceGetUuid_v2(&id, dev))
		return;
	memcpy(b, id.bytes, sizeof(b));
	snprintf(buf, size,
		 "GPU-%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", b[0],
		 b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12], b[13],
		 b[14], b[15]);
}

/* Parse "17:00.0", "0000:17:00.0" or "00000000:17:00.0", the function may be missing, and write the
 * address to PCI as sysfs does. False if it is no PCI address. */
static bool parse_pci_address(const char *text, char pci[PCI_BYTES])
{
	const char *domain = strchr(text, ':') == strrchr(text, ':') ? "0:" : "";
	const char *function = strchr(text, '.') ? "" : ".0";
	unsigned part[4];
	char full[64];
	int end = 0;

	snprintf(full, sizeof(full), "%s%s%s", domain, text, function);
	if (sscanf(full, "%8x:%2x:%2x.%1x%n", &part[0], &part[1], &part[2], &part[3], &end) != 4 ||
	    full[end])
		return false;
	return snprintf(pci, PCI_BYTES, "%04x:%02x:%02x.%x", part[0], part[1], part[2], part[3]) <
	       (int)PCI_BYTES;
}

/*
 * The size of BAR1, the second memory window; 0 if unknown. In `resource` each window is a line of
 * first byte, last byte and flags. A 64-bit BAR0 has two lines, the second of them all zeros.
 */
static uint64_t bar1_bytes(const char *pci)
{
	uint64_t first[2] = {0}, last[2] = {0};
	char text[512] = "";

	if (!pci[0] ||
	    sysfs_read_raw(text, sizeof(text) - 1, "bus/pci/devices/%s/resource", pci) < 0)
		return 0;
	sscanf(text, "%*s %*s %*s %" SCNx64 " %" SCNx64 " %*s %" SCNx64 " %" SCNx64, &first[0],
	       &last[0], &first[1], &last[1]);
	for (int i = 0; i < 2; i++)
		if (last[i] > first[i])
			return last[i] - first[i] + 1;
	return 0;
}

/* Fill INFO for device INDEX. What the driver does not tell is 0, "" or unknown (-1). */
static int describe_device(const struct cuda_driver *cu, int index, struct gpu_info *info,
			   struct fault *f)
{
	char pci[32] = "";
	size_t memory = 0;
	CUdevice dev;
	CUresult rc = cu->cuDeviceGet(&dev, index);

	memset(info, 0, sizeof(*info));
	if (rc)
		return cuda_failed(f, rc, "cuDeviceGet(%d)", index);
	info->index = index;
	info->driver_version = cu->version;
	if (cu->cuDeviceGetName(info->name, sizeof(info->name), dev))
		info->name[0] = '\0';
	format_uuid(cu, dev, info->uuid, sizeof(info->uuid));
	if (cu->cuDeviceGetPCIBusId(pci, sizeof(pci), dev) || !parse_pci_address(pci, info->pci))
		info->pci[0] = '\0';
	info->capability =
		device_attribute(cu, dev, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 0) * 10 +
		device_attribute(cu, dev, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 0);
	/* a driver that does not know this attribute may still support it */
	info->gpudirect =
		device_attribute(cu, dev, CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_SUPPORTED, 1) > 0;
	info->dmabuf = cu->cuMemGetHandleForAddressRange &&
		       device_attribute(cu, dev, CU_DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED, 0) > 0;
	info->can_flush =
		cu->cuFlushGPUDirectRDMAWrites &&
		(device_attribute(cu, dev, CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_FLUSH_WRITES_OPTIONS,
				  0) &
		 CU_FLUSH_GPU_DIRECT_RDMA_WRITES_OPTION_HOST);
	info->ordering =
		device_attribute(cu, dev, CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WRITES_ORDERING, -1);
	if (!cu->cuDeviceTotalMem_v2(&memory, dev))
		info->memory_bytes = memory;
	info->bar1_bytes = bar1_bytes(info->pci);
	return 0;
}

static int describe_all_devices(const struct cuda_driver *cu, struct gpu_info **list, size_t *count,
				struct fault *f)
{
	int n = 0;
	CUresult rc = cu->cuDeviceGetCount(&n);

	if (rc)
		return cuda_failed(f, rc, "cuDeviceGetCount");
	*list = calloc((size_t)n + 1, sizeof(**list));
	if (!*list)
		return fault_raise(f, FAULT_LOCAL, ENOMEM, "allocating a list of %d GPUs", n);
	for (*count = 0; (int)*count < n; ++*count)
		if (describe_device(cu, (int)*count, &(*list)[*count], f))
			return -1;
	return 0;
}

int gpu_list(struct gpu_info **list, size_t *count, struct fault *f)
{
	struct cuda_driver cu;

	*list = NULL;
	*count = 0;
	fault_phase(f, "looking for GPUs");
	if (cuda_driver_start(&cu, f))
		return -1;
	if (!describe_all_devices(&cu, list, count, f))
		return 0;
	free(*list);
	*list = NULL;
	*count = 0;
	return -1;
}

/* "0 NVIDIA A100 0000:17:00.0 GPU-1234…, 1 …" */
static const char *format_gpu_list(const struct gpu_info *list, size_t count, char *buf,
				   size_t size)
{
	buf[0] = '\0';
	for (size_t i = 0; i < count; i++)
		text_add(buf, size, "%s%d %s %s %.12s", i ? ", " : "", list[i].index, list[i].name,
			 list[i].pci, list[i].uuid);
	return buf;
}

/* True if INFO matches the user's UUID (or its prefix), PCI address or index. */
static bool gpu_matches(const struct gpu_info *info, const struct gpu_attr *wanted)
{
	char pci[PCI_BYTES];

	if (wanted->uuid) {
		const char *uuid = wanted->uuid;

		if (strncasecmp(uuid, "GPU-", 4) == 0)
			uuid += 4;
		return info->uuid[0] && uuid[0] &&
		       strncasecmp(info->uuid + 4, uuid, strlen(uuid)) == 0;
	}
	if (wanted->pci)
		return parse_pci_address(wanted->pci, pci) && strcmp(info->pci, pci) == 0;
	return info->index == wanted->index;
}

static const char *format_wanted(const struct gpu_attr *wanted, char *buf, size_t size)
{
	if (wanted->uuid)
		snprintf(buf, size, "UUID '%s'", wanted->uuid);
	else if (wanted->pci)
		snprintf(buf, size, "PCI address '%s'", wanted->pci);
	else
		snprintf(buf, size, "index %d", wanted->index);
	return buf;
}

int cuda_choose(const struct cuda_driver *cu, const struct gpu_attr *wanted, struct gpu_info *info,
		struct fault *f)
{
	char what[96], all[400], pci[PCI_BYTES];
	struct gpu_info *list = NULL;
	size_t count = 0, found = 0;

	if (describe_all_devices(cu, &list, &count, f))
		goto out;
	for (size_t i = 0; i < count; i++)
		if (gpu_matches(&list[i], wanted)) {
			found++;
			*info = list[i];
		}
	if (found == 1)
		goto out;
	format_wanted(wanted, what, sizeof(what));
	if (!wanted->uuid && wanted->pci && !parse_pci_address(wanted->pci, pci))
		fault_raise(f, FAULT_USAGE, 0, "'%s' is not a PCI address", wanted->pci);
	else if (found)
		fault_raise(f, FAULT_USAGE, 0, "%zu GPUs have a %s", found, what);
	else
		fault_raise(f, FAULT_USAGE, 0, "no GPU has %s", what);
	if (getenv("CUDA_VISIBLE_DEVICES"))
		fault_cause(f, "CUDA_VISIBLE_DEVICES is '%s', which may hide GPUs",
			    getenv("CUDA_VISIBLE_DEVICES"));
	fault_fix(f, "name one of these by index, PCI address or UUID: %s",
		  format_gpu_list(list, count, all, sizeof(all)));
out:
	free(list);
	return found == 1 ? 0 : -1;
}
