/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sysfs - the part of /sys that programs read about RDMA devices, as files
 *
 * The tree has the kernel's shape: devices/pci*, and links to there from
 * class/infiniband, class/infiniband_verbs, class/net and bus/pci/devices.
 */
#ifndef SIMVERBS_SYSFS_H
#define SIMVERBS_SYSFS_H

#include "desc.h"

/* Write the tree for the described devices into dir; 0, or -1 after a line. */
int sysfs_write(const char *dir, const struct desc *d);

#endif
