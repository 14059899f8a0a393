// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "host/pci.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "host/sysfs.h"

#define PCI_MAX_GTS  1024.0
#define DEVICES      "bus/pci/devices"
#define ERRORS_BYTES 4096 /* sysfs shows no more */

/* Offsets and values of PCI config space. */
#define CONFIG_BYTES       256
#define CONFIG_HEAD_BYTES  64
#define STATUS             0x06
#define STATUS_HAS_LIST    0x10
#define CAPABILITY_LIST    0x34
#define CAPABILITY_EXPRESS 0x10
#define DEVICE_CONTROL     8 /* in that capability; bits 5 to 7 are MaxPayload, 12 to 14 MaxReadReq */

/*
 * Per packet: header 16 (writes, 64-bit address) or 12 (completions), LCRC 4, framing and sequence
 * number 4. From gen 6 on, the last two are part of the flit and of its coding.
 */
#define WRITE_HEADER_BYTES      16
#define COMPLETION_HEADER_BYTES 12
#define FRAME_BYTES             8

#define LEAST_FLIT_GTS 64.0

/* Line coding, by generation. */
static const struct {
	double gts;
	double coding;
} generations[] = {
	{2.5, 8.0 / 10},    {5, 8.0 / 10},     {8, 128.0 / 130},
	{16, 128.0 / 130},  {32, 128.0 / 130}, {LEAST_FLIT_GTS, 242.0 / 256},
	{128, 242.0 / 256},
};

#define GENERATIONS (sizeof(generations) / sizeof(generations[0]))

bool pci_is_address(const char *name)
{
	static const char hex[] = "0123456789abcdefABCDEF";
	size_t domain = strspn(name, hex);
	const char *rest = name + domain;

	return domain >= 4 && rest[0] == ':' && strspn(rest + 1, hex) == 2 && rest[3] == ':' &&
	       strspn(rest + 4, hex) == 2 && rest[6] == '.' && rest[7] >= '0' && rest[7] <= '7' &&
	       !rest[8];
}

bool pci_parse(const char *text, char pci[16])
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
	return snprintf(pci, 16, "%04x:%02x:%02x.%x", part[0], part[1], part[2], part[3]) < 16;
}

void pci_find_upstream(const char *pci, char upstream[16])
{
	char path[PATH_MAX], *slash;

	upstream[0] = '\0';
	if (!pci_is_address(pci) || sysfs_resolve(path, sizeof(path), DEVICES "/%s", pci))
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

void pci_read_link_in(const char *dir, struct pci_link *link)
{
	link->gts = read_link_speed(dir, "current_link_speed");
	link->max_gts = read_link_speed(dir, "max_link_speed");
	link->width = read_link_width(dir, "current_link_width");
	link->max_width = read_link_width(dir, "max_link_width");
}

void pci_read_link(const char *pci, struct pci_link *link)
{
	char dir[64];

	*link = (struct pci_link){.gts = 0};
	if (!pci_is_address(pci) || strlen(pci) >= sizeof(link->pci))
		return;
	strcpy(link->pci, pci);
	snprintf(dir, sizeof(dir), DEVICES "/%s", pci);
	pci_read_link_in(dir, link);
}

/* 128 to 4096 bytes, from three bits of a register; 0: reserved. */
static unsigned bytes_of_code(unsigned code)
{
	return code <= 5 ? 128u << code : 0;
}

struct pci_sizes pci_read_sizes(const char *pci)
{
	struct pci_sizes none = {0};
	uint8_t config[CONFIG_BYTES];
	ssize_t size = pci_is_address(pci)
			       ? sysfs_read_raw(config, sizeof(config), DEVICES "/%s/config", pci)
			       : 0;
	unsigned at;

	if (size <= CONFIG_HEAD_BYTES || !(config[STATUS] & STATUS_HAS_LIST))
		return none;
	at = config[CAPABILITY_LIST] & ~3u;
	/* The limit ends a circular list: config space has room for no more capabilities. */
	for (unsigned left = CONFIG_BYTES / 4; left && at >= CONFIG_HEAD_BYTES; left--) {
		if (at + DEVICE_CONTROL + 1 >= (size_t)size)
			return none;
		if (config[at] == CAPABILITY_EXPRESS) {
			const uint8_t *control = config + at + DEVICE_CONTROL;

			return (struct pci_sizes){bytes_of_code(control[0] >> 5),
						  bytes_of_code(control[1] >> 4 & 7)};
		}
		at = config[at + 1] & ~3u;
	}
	return none;
}

int pci_read_errors(const char *pci, const char *file, int64_t *total)
{
	char text[ERRORS_BYTES];
	const char *at;
	ssize_t n = pci_is_address(pci)
			    ? sysfs_read_raw(text, sizeof(text) - 1, DEVICES "/%s/%s", pci, file)
			    : 0;

	text[n > 0 ? n : 0] = '\0';
	/* its line, such as "TOTAL_ERR_COR 7", is the last one */
	at = strstr(text, "TOTAL_ERR_");
	return at && sscanf(at, "%*s %" SCNd64, total) == 1 && *total >= 0 ? 0 : -1;
}

void pci_read_iommu(const char *pci, char type[PCI_IOMMU])
{
	type[0] = '\0';
	if (pci_is_address(pci))
		sysfs_read(type, PCI_IOMMU, DEVICES "/%s/iommu_group/type", pci);
}

/* The PCIe generation, 1 to 7, with speed GTS; 0 if there is none. */
static unsigned pcie_generation(double gts)
{
	for (unsigned i = 0; i < GENERATIONS; i++)
		if (fabs(gts - generations[i].gts) < 0.05)
			return i + 1;
	return 0;
}

/* The rate in Gb/s after line coding; 0 if unknown. */
static double raw_gbps(double gts, unsigned width)
{
	double coding = 1;

	if (!(gts > 0) || !width)
		return 0;
	for (unsigned i = 0; i < GENERATIONS; i++)
		if (gts > generations[i].gts - 0.05)
			coding = generations[i].coding;
	return gts * coding * width;
}

double pci_link_gbps(const struct pci_link *l, unsigned payload_bytes, bool read)
{
	double header = read ? COMPLETION_HEADER_BYTES : WRITE_HEADER_BYTES;

	if (!payload_bytes)
		return 0;
	if (l->gts < LEAST_FLIT_GTS)
		header += FRAME_BYTES;
	return raw_gbps(l->gts, l->width) * payload_bytes / (payload_bytes + header);
}

void pci_link_slower(struct pci_link *found, const struct pci_link *l)
{
	double speed = pci_link_gbps(l, PCI_USUAL_PAYLOAD_BYTES, false);

	if (speed > 0 &&
	    (!found->pci[0] || speed < pci_link_gbps(found, PCI_USUAL_PAYLOAD_BYTES, false)))
		*found = *l;
}

void pci_link_limit(struct pci_link *l, const struct pci_link *end)
{
	l->max_gts = fmin(l->max_gts, end->max_gts);
	if (end->max_width < l->max_width)
		l->max_width = end->max_width;
}

double pci_link_share(const struct pci_link *l)
{
	double now = raw_gbps(l->gts, l->width), could = raw_gbps(l->max_gts, l->max_width);

	return now > 0 && could > now ? now / could : 1;
}

const char *pci_link_format(const struct pci_link *l, char *buf, size_t size)
{
	unsigned gen = pcie_generation(l->gts);
	char rate[32];

	if (size)
		buf[0] = '\0';
	if (!(l->gts > 0) || !l->width)
		return buf;
	if (gen)
		snprintf(rate, sizeof(rate), "gen%u", gen);
	else
		snprintf(rate, sizeof(rate), "%.1f GT/s", l->gts);
	snprintf(buf, size, "%s x%u%s%s", rate, l->width, l->pci[0] ? " at " : "", l->pci);
	return buf;
}
