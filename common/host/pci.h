/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pci: PCI addresses, a device's link in sysfs, and the bandwidth of a link.
 *
 * A missing or invalid value is 0: unknown. No fault is raised. No state; any thread may call.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define PCI_MAX_LANES           32
#define PCI_USUAL_PAYLOAD_BYTES 256 /* what servers' firmware nearly always sets */

/*
 * One PCIe link, named after the device at its lower end. Its maximum is the lesser of the
 * capabilities of both ends, known only if both are: a gen-5 card in a gen-4 slot is trained
 * correctly.
 */
struct pci_link {
	char pci[16];   /* "": unknown */
	double gts;     /* current transfer rate of a lane, GT/s */
	unsigned width; /* current lanes */
	double max_gts; /* maximum of both ends, or of the one that was read; 0 unknown */
	unsigned max_width;
};

/* True if NAME is like "0000:41:00.0"; the domain may be longer than four digits (VMD). */
bool pci_is_address(const char *name);

/* Parse "17:00.0", "0000:17:00.0" or "00000000:17:00.0", whose function may be missing, and write
 * the address to PCI as sysfs does. False if it is no PCI address. */
bool pci_parse(const char *text, char pci[16]);

/*
 * Write the address of the port above the function PCI to UPSTREAM: a root port or a switch's
 * port; "" if there is none.
 */
void pci_find_upstream(const char *pci, char upstream[16]);

/*
 * Read the link of the function PCI, as that end knows it; all zero if PCI is no address. For a
 * root port or a switch's downstream port it is the link below, for all others the link above. The
 * same of the device whose directory below sysfs's root is DIR; its name is not set.
 */
void pci_read_link(const char *pci, struct pci_link *link);
void pci_read_link_in(const char *dir, struct pci_link *link);

/* Lower the maximum of L to what the other END can do, too. */
void pci_link_limit(struct pci_link *l, const struct pci_link *end);

/* What a function is set to, 128 to 4096 bytes. 0: unknown. */
struct pci_sizes {
	unsigned payload_bytes; /* MaxPayload */
	unsigned request_bytes; /* MaxReadReq */
};

/*
 * Read the sizes of the function PCI; unknown, as always without privilege: only root can read more
 * than the first 64 bytes of `config`.
 */
struct pci_sizes pci_read_sizes(const char *pci);

/*
 * Read how many errors PCIe's Advanced Error Reporting has counted at the function PCI since boot,
 * from its FILE "aer_dev_correctable", "aer_dev_nonfatal" or "aer_dev_fatal", which any user may
 * read (Linux 4.19 and newer). Both ends of a link count: replays of what a NIC receives at the
 * NIC, replays of what it sends at the port above. Returns 0, or -1 if there is no such number.
 */
int pci_read_errors(const char *pci, const char *file, int64_t *total);

#define PCI_IOMMU 24

/* Read the type of the function's IOMMU group: "identity", "DMA", "DMA-FQ"; "": unknown or off. */
void pci_read_iommu(const char *pci, char type[PCI_IOMMU]);

/* True if a group of that type translates the addresses of DMA. */
static inline bool pci_iommu_translates(const char *type)
{
	return strncmp(type, "DMA", 3) == 0;
}

/*
 * The payload rate in Gb/s of a link with MaxPayload PAYLOAD_BYTES; READ: of read completions. 0
 * unknown.
 */
double pci_link_gbps(const struct pci_link *l, unsigned payload_bytes, bool read);

/* Copy L to FOUND if L is slower. Unknown links are ignored. */
void pci_link_slower(struct pci_link *found, const struct pci_link *l);

/*
 * The current bandwidth as a fraction of the maximum of both ends: 1, or less if the link is
 * trained down. 1 if unknown.
 */
double pci_link_share(const struct pci_link *l);

/* Write "gen4 x16 at 0000:17:00.0" (16 GT/s is gen4); "" if unknown. Returns BUF. */
const char *pci_link_format(const struct pci_link *l, char *buf, size_t size);
