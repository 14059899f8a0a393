/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pci: addresses of PCI devices, and what sysfs says about the link of one.
 *
 * What is missing or no number is 0: unknown. Nothing is raised, no state; any thread may call.
 */
#ifndef RDMARK_HOST_PCI_H
#define RDMARK_HOST_PCI_H

#include <stdbool.h>

#define PCI_MAX_LANES 32

/* A PCIe link as one of its ends sees it. */
struct pci_link {
	double gts; /* current transfer rate of a lane, GT/s */
	double max_gts;
	unsigned width; /* current lanes */
	unsigned max_width;
};

/* "0000:41:00.0"; the domain may be longer than four digits (VMD). */
bool pci_is_address(const char *name);

/*
 * The link of the device whose directory is DIR below sysfs's root. Of a root port or a switch's
 * downstream port it is the link below, of all others the one above.
 */
void pci_read_link(const char *dir, struct pci_link *link);

/*
 * The MaxPayload that the device in DIR is set to send, 128 to 4096 bytes. 0: unknown, as always
 * without privilege: the kernel shows only root what is behind the first 64 bytes of `config`.
 */
unsigned pci_read_payload_bytes(const char *dir);

#endif
