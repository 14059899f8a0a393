/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * aer: the errors that PCIe's Advanced Error Reporting has counted at a function since boot. The
 * kernel shows them to any user (4.19 and newer).
 *
 * Both ends of a link count: replays of what a NIC receives are counted at the NIC, replays of what
 * it sends at the upstream port. No state; any thread may call.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct aer {
	char pci[16]; /* the function; "" if there is none */
	bool known;   /* all three could be read */
	int64_t correctable, nonfatal, fatal;
};

/* Read the totals of the function at the PCI address PCI. Never fails: see `known`. */
void aer_read(struct aer *a, const char *pci);
