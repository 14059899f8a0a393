/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * reach: why programs cannot use the RDMA devices of this host. libibverbs omits inaccessible
 * devices from its list, and returns one errno for many reasons, so these functions check /sys and
 * /dev before they name a cause.
 *
 * From the kernel to libibverbs there are: a device in /sys/class/infiniband, its uverbsN in
 * /sys/class/infiniband_verbs, the node /dev/infiniband/uverbsN, and the provider's library.
 */
#pragma once

#include <errno.h>
#include <stdbool.h>

#include "base/fault.h"

/* The errno of a device that libibverbs does not list, though its node opens. */
#define REACH_NO_PROVIDER ELIBACC

/*
 * Raise FAULT_UNAVAILABLE: libibverbs lists no device, or failed with ERRNUM; FAULT_LOCAL with ENOMEM.
 * Returns -1.
 */
int reach_none(int errnum, struct fault *f);

/*
 * True if the kernel has DEVICE; and, if libibverbs does not list it, whether the provider is what
 * it lacks: its node opens.
 */
bool reach_in_kernel(const char *device);
bool reach_lacks_provider(const char *device);

/* True if DEVICE is in another network namespace than this process. */
bool reach_elsewhere(const char *device);

/*
 * Raise FAULT_UNAVAILABLE: the kernel has DEVICE, and libibverbs does not list it, or it is
 * elsewhere. Returns -1.
 */
int reach_unlisted(const char *device, struct fault *f);

/*
 * The errno of opening the device node of DEVICE, if that fails; otherwise ERRNUM, which libibverbs
 * returned.
 */
int reach_errno(const char *device, int errnum);

/* Raise FAULT_LOCAL: DEVICE cannot be opened. Returns -1. */
int reach_refused(const char *device, int errnum, struct fault *f);
