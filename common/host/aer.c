// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "host/aer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/pci.h"
#include "host/sysfs.h"

#define FILE_BYTES 4096 /* sysfs shows no more */

/* Read the number after KEY at the start of a line of the file. Returns false if there is none. */
static bool read_total(const char *pci, const char *file, const char *key, int64_t *total)
{
	char text[FILE_BYTES + 1], *at, *end;
	ssize_t n = sysfs_read_raw(text, FILE_BYTES, "bus/pci/devices/%s/%s", pci, file);

	if (n <= 0)
		return false;
	text[n] = '\0';
	for (at = text; at && strncmp(at, key, strlen(key)) != 0;) {
		at = strchr(at, '\n');
		at = at ? at + 1 : NULL;
	}
	if (!at)
		return false;
	*total = strtoll(at + strlen(key), &end, 10);
	return end != at + strlen(key) && *total >= 0;
}

void aer_read(struct aer *a, const char *pci)
{
	*a = (struct aer){.known = false};
	if (!pci_is_address(pci) || strlen(pci) >= sizeof(a->pci))
		return;
	strcpy(a->pci, pci);
	a->known = read_total(pci, "aer_dev_correctable", "TOTAL_ERR_COR", &a->correctable) &&
		   read_total(pci, "aer_dev_nonfatal", "TOTAL_ERR_NONFATAL", &a->nonfatal) &&
		   read_total(pci, "aer_dev_fatal", "TOTAL_ERR_FATAL", &a->fatal);
}
