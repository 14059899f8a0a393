/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* virt: whether a machine is virtual. Then the hypervisor makes up PCIe addresses and distances. */
#pragma once

#include <stdbool.h>

/* True if DMI's vendor and product name a virtual machine. NULL or "": unknown. */
bool virt_is_name(const char *vendor, const char *product);

/* The same with the names in sysfs (RDMARK_SYSFS changes its root). */
bool virt_in_sysfs(void);

/*
 * True if this machine's processor reports a hypervisor. Only x86 has such a bit; false elsewhere.
 */
bool virt_processor(void);

/* Is this a virtual machine? Of a tree made up (RDMARK_SYSFS), its names alone say so. */
bool virt_is_machine(void);
