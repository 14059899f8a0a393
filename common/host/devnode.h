/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * devnode: whether this process can open a device node, and why not.
 *
 * The root is /dev, unless RDMARK_DEV names another one (for tests). devnode_read() opens the node
 * and closes it again, which has no effect on an RDMA device. No state; any thread may call.
 */
#pragma once

#include <stdbool.h>

#include "base/fault.h"

struct devnode {
	char path[128];     /* "/dev/infiniband/uverbs0" */
	int errnum;         /* why it cannot be opened; 0: it can */
	bool there;         /* the node exists, and the fields below are valid */
	bool allowed;       /* its mode allows this user to open it */
	bool is_device;     /* a character device, with NUMBER */
	unsigned number[2]; /* major, minor */
	unsigned mode, owner, group;
};

/* Read the state of the node NAME below /dev. */
void devnode_read(struct devnode *n, const char *name);

/* Set errnum to ENXIO if N does not have the number MAJOR:MINOR, unless errnum is set. */
void devnode_expect(struct devnode *n, unsigned major, unsigned minor);

/*
 * Add the cause and the fix to the fault just raised: why N, the node of DEVICE (the kernel's
 * name), cannot be opened. Returns -1.
 */
int devnode_explain(const struct devnode *n, const char *device, struct fault *f);
