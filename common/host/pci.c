// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "host/pci.h"

#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "host/sysfs.h"

#define PCI_MAX_GTS 1024.0

/* Offsets and values of PCI config space. */
#define CONFIG_BYTES       256
#define CONFIG_HEAD_BYTES  64
#define STATUS             0x06
#define STATUS_HAS_LIST    0x10
#define CAPABILITY_LIST    0x34
#define CAPABILITY_EXPRESS 0x10
#define DEVICE_CONTROL     8 /* in that capability; bits 5 to 7 are MaxPayload */

bool pci_is_address(const char *name)
{
	static const char hex[] = "0123456789abcdefABCDEF";
	size_t domain = strspn(name, hex);
	const char *rest = name + domain;

	return domain >= 4 && rest[0] == ':' && strspn(rest + 1, hex) == 2 && rest[3] == ':' &&
	       strspn(rest + 4, hex) == 2 && rest[6] == '.' && rest[7] >= '0' && rest[7] <= '7' &&
	       !rest[8];
}

void pci_find_upstream(const char *pci, char upstream[16])
{
	char path[PATH_MAX], *slash;

	upstream[0] = '\0';
	if (!pci_is_address(pci) || sysfs_resolve(path, sizeof(path), "bus/pci/devices/%s", pci))
		return;
	slash = strrchr(path, '/');
	if (!slash)
		return;
	*slash = '\0';
	slash = strrchr(path, '/');
	if (slash && pci_is_address(slash + 1) && strlen(slash + 1) < 16)
		strcpy(upstream, slash + 1);
}

/*
 * The speed in GT/s from "16.0 GT/s PCIe" or the older "8 GT/s"; 0 if the kernel prints "Unknown".
 */
static double read_link_speed(const char *dir, const char *name)
{
	char text[64], *end;
	double gts;

	if (sysfs_read(text, sizeof(text), "%s/%s", dir, name) || text[0] < '0' || text[0] > '9')
		return 0;
	gts = strtod(text, &end);
	return strncmp(end, " GT/s", 5) == 0 && gts <= PCI_MAX_GTS ? gts : 0;
}

/* The number of lanes; 0 if unknown, for which the kernel prints 0 or 255. */
static unsigned read_link_width(const char *dir, const char *name)
{
	int64_t lanes;

	if (sysfs_read_int(&lanes, "%s/%s", dir, name) || lanes < 0 || lanes > PCI_MAX_LANES)
		return 0;
	return (unsigned)lanes;
}

void pci_read_link(const char *dir, struct pci_link *link)
{
	link->gts = read_link_speed(dir, "current_link_speed");
	link->max_gts = read_link_speed(dir, "max_link_speed");
	link->width = read_link_width(dir, "current_link_width");
	link->max_width = read_link_width(dir, "max_link_width");
}

unsigned pci_read_payload_bytes(const char *dir)
{
	uint8_t config[CONFIG_BYTES];
	ssize_t size = sysfs_read_raw(config, sizeof(config), "%s/config", dir);
	unsigned at, code;

	if (size <= CONFIG_HEAD_BYTES || !(config[STATUS] & STATUS_HAS_LIST))
		return 0;
	at = config[CAPABILITY_LIST] & ~3u;
	/* The limit ends a circular list: config space has room for no more capabilities. */
	for (unsigned left = CONFIG_BYTES / 4; left && at >= CONFIG_HEAD_BYTES; left--) {
		if (at + DEVICE_CONTROL >= (size_t)size)
			return 0;
		if (config[at] == CAPABILITY_EXPRESS) {
			code = config[at + DEVICE_CONTROL] >> 5;
			return code <= 5 ? 128u << code : 0;
		}
		at = config[at + 1] & ~3u;
	}
	return 0;
}
