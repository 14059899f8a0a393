// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What the driver and sysfs know about a GPU, and which GPU a wish means. */
#include "host/gpu_cuda.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "host/sysfs.h"

/*
 * Attributes by their numbers: cuda.h of the build may be older than they are, and a driver that
 * is older answers with an error.
 */
enum {
	ATTR_CAPABILITY_MAJOR = 75,
	ATTR_CAPABILITY_MINOR = 76,
	ATTR_GPUDIRECT = 116,
	ATTR_FLUSH_OPTIONS = 117,
	ATTR_WRITES_ORDERING = 118,
	ATTR_DMABUF = 124,
	FLUSH_OPTION_HOST = 1 << 0,
};

static int attribute(const struct cuda_driver *cu, CUdevice dev, int number, int unknown)
{
	int value;

	if (cu->device_get_attribute(&value, (CUdevice_attribute)number, dev))
		return unknown;
	return value;
}

static void get_uuid(const struct cuda_driver *cu, CUdevice dev, char *buf, size_t size)
{
	CUuuid id;
	unsigned char b[16];

	if (!cu->device_get_uuid || cu->device_get_uuid(&id, dev))
		return;
	memcpy(b, id.bytes, sizeof(b));
	snprintf(buf, size,
		 "GPU-%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", b[0],
		 b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12], b[13],
		 b[14], b[15]);
}

struct address {
	unsigned domain, bus, device, function;
};

/* "17:00.0", "0000:17:00.0", "00000000:17:00.0"; the function may be missing. */
static int parse_address(const char *text, struct address *a)
{
	int end = 0;

	*a = (struct address){0};
	if (sscanf(text, "%8x:%2x:%2x.%1x%n", &a->domain, &a->bus, &a->device, &a->function,
		   &end) == 4 &&
	    !text[end])
		return 0;
	*a = (struct address){0};
	if (sscanf(text, "%8x:%2x:%2x%n", &a->domain, &a->bus, &a->device, &end) == 3 && !text[end])
		return 0;
	*a = (struct address){0};
	if (sscanf(text, "%2x:%2x.%1x%n", &a->bus, &a->device, &a->function, &end) == 3 &&
	    !text[end])
		return 0;
	*a = (struct address){0};
	if (sscanf(text, "%2x:%2x%n", &a->bus, &a->device, &end) == 2 && !text[end])
		return 0;
	return -1;
}

static void get_pci(const struct cuda_driver *cu, CUdevice dev, char *buf, size_t size)
{
	char text[32] = "";
	struct address a;

	if (cu->device_get_pci(text, sizeof(text), dev) || parse_address(text, &a))
		return;
	if (snprintf(buf, size, "%04x:%02x:%02x.%x", a.domain, a.bus, a.device, a.function) >=
	    (int)size)
		buf[0] = '\0';
}

/*
 * BAR1 is the second memory window. Where BAR0 is a 64-bit one it takes two of the file's lines,
 * the second of them empty.
 */
static uint64_t bar1_bytes(const char *pci)
{
	for (unsigned line = 1; line <= 2 && pci[0]; line++) {
		uint64_t first, last;
		char text[128];

		if (sysfs_read_nth(text, sizeof(text), line, "bus/pci/devices/%s/resource", pci) ||
		    sscanf(text, "%" SCNx64 " %" SCNx64, &first, &last) != 2)
			return 0;
		if (last > first)
			return last - first + 1;
	}
	return 0;
}

int cuda_describe(const struct cuda_driver *cu, int index, struct gpu_info *info, struct fault *f)
{
	size_t memory = 0;
	CUdevice dev;
	CUresult rc = cu->device_get(&dev, index);

	memset(info, 0, sizeof(*info));
	if (rc)
		return cuda_failed(f, rc, "cuDeviceGet(%d)", index);
	info->index = index;
	info->driver_version = cu->version;
	if (cu->device_get_name(info->name, sizeof(info->name), dev))
		info->name[0] = '\0';
	get_uuid(cu, dev, info->uuid, sizeof(info->uuid));
	get_pci(cu, dev, info->pci, sizeof(info->pci));
	info->capability = attribute(cu, dev, ATTR_CAPABILITY_MAJOR, 0) * 10 +
			   attribute(cu, dev, ATTR_CAPABILITY_MINOR, 0);
	/* a driver that does not know the question may well do it */
	info->gpudirect = attribute(cu, dev, ATTR_GPUDIRECT, 1) > 0;
	info->dmabuf = cu->get_handle && attribute(cu, dev, ATTR_DMABUF, 0) > 0;
	info->can_flush =
		cu->flush_writes && (attribute(cu, dev, ATTR_FLUSH_OPTIONS, 0) & FLUSH_OPTION_HOST);
	info->ordering = attribute(cu, dev, ATTR_WRITES_ORDERING, -1);
	if (!cu->device_total_mem(&memory, dev))
		info->memory_bytes = memory;
	info->bar1_bytes = bar1_bytes(info->pci);
	return 0;
}

static int list_all(const struct cuda_driver *cu, struct gpu_info **list, size_t *count,
		    struct fault *f)
{
	int n = 0;
	CUresult rc = cu->device_get_count(&n);

	if (rc)
		return cuda_failed(f, rc, "cuDeviceGetCount");
	*list = calloc(n > 0 ? (size_t)n : 1, sizeof(**list));
	if (!*list)
		return fault_raise(f, FAULT_LOCAL, 12, "a list of %d GPUs", n);
	for (int i = 0; i < n; i++)
		if (cuda_describe(cu, i, &(*list)[i], f))
			return -1;
	*count = n > 0 ? (size_t)n : 0;
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
	if (!list_all(&cu, list, count, f))
		return 0;
	free(*list);
	*list = NULL;
	return -1;
}

/* "0 NVIDIA A100 0000:17:00.0 GPU-1234…, 1 …" */
static const char *format_all(const struct gpu_info *list, size_t count, char *buf, size_t size)
{
	size_t used = 0;

	buf[0] = '\0';
	for (size_t i = 0; i < count && used < size; i++)
		used += (size_t)snprintf(buf + used, size - used, "%s%d %s %s %.12s", i ? ", " : "",
					 list[i].index, list[i].name, list[i].pci, list[i].uuid);
	return buf;
}

static bool same_address(const char *pci, const struct address *a)
{
	struct address b;

	return !parse_address(pci, &b) && a->domain == b.domain && a->bus == b.bus &&
	       a->device == b.device && a->function == b.function;
}

static bool matches(const struct gpu_info *info, const struct gpu_wish *wish)
{
	struct address a;

	if (wish->uuid) {
		const char *uuid = wish->uuid;

		if (strncasecmp(uuid, "GPU-", 4) == 0)
			uuid += 4;
		return info->uuid[0] && uuid[0] &&
		       strncasecmp(info->uuid + 4, uuid, strlen(uuid)) == 0;
	}
	if (wish->pci)
		return !parse_address(wish->pci, &a) && same_address(info->pci, &a);
	return info->index == wish->index;
}

static const char *wish_text(const struct gpu_wish *wish, char *buf, size_t size)
{
	if (wish->uuid)
		snprintf(buf, size, "UUID '%s'", wish->uuid);
	else if (wish->pci)
		snprintf(buf, size, "PCI address '%s'", wish->pci);
	else
		snprintf(buf, size, "index %d", wish->index);
	return buf;
}

int cuda_choose(const struct cuda_driver *cu, const struct gpu_wish *wish, struct fault *f)
{
	char what[96], all[400];
	struct gpu_info *list = NULL;
	size_t count = 0, found = 0;
	struct address a;
	int chosen = -1;

	if (list_all(cu, &list, &count, f))
		goto out;
	for (size_t i = 0; i < count; i++)
		if (matches(&list[i], wish)) {
			found++;
			chosen = list[i].index;
		}
	if (found == 1)
		goto out;
	chosen = -1;
	wish_text(wish, what, sizeof(what));
	if (!wish->uuid && wish->pci && parse_address(wish->pci, &a))
		fault_raise(f, FAULT_USAGE, 0, "'%s' is not a PCI address", wish->pci);
	else if (found)
		fault_raise(f, FAULT_USAGE, 0, "%zu GPUs have a %s", found, what);
	else
		fault_raise(f, FAULT_USAGE, 0, "No GPU has %s", what);
	if (getenv("CUDA_VISIBLE_DEVICES"))
		fault_cause(f, "CUDA_VISIBLE_DEVICES is '%s', so not all GPUs may be seen",
			    getenv("CUDA_VISIBLE_DEVICES"));
	fault_fix(f, "name one of these by index, PCI address or UUID: %s",
		  format_all(list, count, all, sizeof(all)));
out:
	free(list);
	return chosen;
}
