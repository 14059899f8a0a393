/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * virt: is a machine a virtual one? There, PCIe addresses and distances are the hypervisor's
 * invention.
 */
#ifndef RDMARK_HOST_VIRT_H
#define RDMARK_HOST_VIRT_H

#include <stdbool.h>

/* What its firmware calls itself: DMI's vendor and product. NULL or "" : unknown. */
bool virt_named(const char *vendor, const char *product);

/* The names in sysfs (RDMARK_SYSFS moves its root). */
bool virt_in_sysfs(void);

/* The processor of this machine says so. Only x86 has such a bit; elsewhere false. */
bool virt_processor(void);

#endif
