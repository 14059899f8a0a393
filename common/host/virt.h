/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* virt: whether a machine is virtual. Then the hypervisor makes up PCIe addresses and distances. */
#pragma once

#include <stdbool.h>

/* True if DMI's vendor and product name a virtual machine. NULL or "": unknown. */
bool virt_is_name(const char *vendor, const char *product);

/*
 * Is this a virtual machine, by its names in sysfs or its processor? Of a tree made up
 * (RDMARK_SYSFS), the names alone say so.
 */
bool virt_is_machine(void);
