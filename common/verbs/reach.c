// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "verbs/reach.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "finding/why.h"
#include "host/devnode.h"
#include "host/sysfs.h"
#include "verbs/vfault.h"

/*
 * Read the state of DEVICE's node below /dev into N. False if ib_uverbs does not know the device.
 */
static bool examine_devnode(const char *device, struct devnode *n)
{
	char name[SYSFS_NAME], ibdev[SYSFS_NAME], number[32], path[SYSFS_NAME + 16];
	unsigned major, minor;

	for (unsigned i = 0; !sysfs_name(name, i, "class/infiniband_verbs"); i++) {
		if (strncmp(name, "uverbs", 6) != 0 ||
		    sysfs_read(ibdev, sizeof(ibdev), "class/infiniband_verbs/%s/ibdev", name) ||
		    strcmp(ibdev, device) != 0)
			continue;
		snprintf(path, sizeof(path), "infiniband/%s", name);
		devnode_read(n, path);
		if (!sysfs_read(number, sizeof(number), "class/infiniband_verbs/%s/dev", name) &&
		    sscanf(number, "%u:%u", &major, &minor) == 2)
			devnode_expect(n, major, minor);
		return true;
	}
	return false;
}

/*
 * Write to LIST the devices that ib_uverbs has, but this network namespace has not: each is in
 * another one ("rdma system" says exclusive). False if there is none.
 */
static bool list_elsewhere(char *list, size_t size)
{
	char name[SYSFS_NAME], ibdev[SYSFS_NAME];

	list[0] = '\0';
	for (unsigned i = 0; !sysfs_name(name, i, "class/infiniband_verbs"); i++)
		if (!sysfs_read(ibdev, sizeof(ibdev), "class/infiniband_verbs/%s/ibdev", name) &&
		    !reach_in_kernel(ibdev))
			text_add(list, size, "%s%s", list[0] ? ", " : "", ibdev);
	return list[0];
}

/* Explain why sysfs shows no RDMA device: it is not mounted, or no driver is loaded. */
static int explain_none_in_kernel(struct fault *f)
{
	char name[SYSFS_NAME], devices[160];

	if (sysfs_name(name, 0, "class"))
		return EXPLAIN(f, NO_SYSFS, {"sysfs", sysfs_root()});
	if (list_elsewhere(devices, sizeof(devices)))
		return EXPLAIN(f, ELSEWHERE, {"devices", devices});
	return EXPLAIN(f, NO_DEVICE, {"sysfs", sysfs_root()},
		       {"state",
			sysfs_name(name, 0, "class/infiniband") == -ENOENT ? "missing" : "empty"});
}

/* Add cause and fix: why libibverbs does not list DEVICE, which the kernel has. */
static int explain_unlisted(const char *device, struct fault *f)
{
	struct devnode n;

	if (!examine_devnode(device, &n))
		return why_explain(
			f, sysfs_exists("class/infiniband_verbs") ? WHY_NOT_OFFERED : WHY_NO_UVERBS,
			WHY_VALUES({"device", device}));
	if (n.errnum)
		return devnode_explain(&n, device, f);
	return EXPLAIN(f, NO_PROVIDER, {"device", device});
}

int reach_none(int errnum, struct fault *f)
{
	char device[SYSFS_NAME];
	struct devnode n;
	bool any = !sysfs_name(device, 0, "class/infiniband");

	if (errnum == ENOMEM)
		return fault_raise(f, FAULT_LOCAL, ENOMEM, "ibv_get_device_list");
	fault_raise(f, FAULT_UNAVAILABLE, errnum, "%s",
		    errnum ? "ibv_get_device_list"
		    : any  ? "no RDMA device of this machine can be used"
		    : list_elsewhere(device, sizeof(device))
			    ? "there is no RDMA device in this network namespace"
			    : "there is no RDMA device on this machine");
	if (!any)
		return explain_none_in_kernel(f);
	for (unsigned i = 0; !sysfs_name(device, i, "class/infiniband"); i++)
		if (!examine_devnode(device, &n) || n.errnum)
			return explain_unlisted(device, f);
	sysfs_name(device, 0, "class/infiniband");
	return explain_unlisted(device, f);
}

bool reach_elsewhere(const char *device)
{
	struct devnode n;

	return !reach_in_kernel(device) && examine_devnode(device, &n);
}

bool reach_in_kernel(const char *device)
{
	char path[PATH_MAX];

	return !strchr(device, '/') &&
	       !sysfs_resolve(path, sizeof(path), "class/infiniband/%s", device);
}

bool reach_lacks_provider(const char *device)
{
	struct devnode n;

	return examine_devnode(device, &n) && !n.errnum;
}

int reach_unlisted(const char *device, struct fault *f)
{
	fault_raise(f, FAULT_UNAVAILABLE, 0, "%.60s cannot be used", device);
	return reach_elsewhere(device) ? EXPLAIN(f, ELSEWHERE, {"devices", device})
				       : explain_unlisted(device, f);
}

/*
 * libibverbs failed to open DEVICE with ERRNUM: is it because its node cannot be opened? Then N
 * tells why. *KNOWN: ib_uverbs has the device. An ERRNUM that denies access came from an existing
 * node, so a node that is missing by now belongs to a device that was removed.
 */
static bool devnode_is_refused(const char *device, int errnum, struct devnode *n, bool *known)
{
	bool denied = errnum == EACCES || errnum == EPERM;

	*known = examine_devnode(device, n) && (!n->errnum || n->there || !denied);
	return *known && n->errnum;
}

int reach_errno(const char *device, int errnum)
{
	struct devnode n;
	bool known;

	return devnode_is_refused(device, errnum, &n, &known) ? n.errnum : errnum;
}

int reach_refused(const char *device, int errnum, struct fault *f)
{
	struct devnode n;
	bool known;

	if (errnum == REACH_NO_PROVIDER)
		return reach_unlisted(device, f);
	if (devnode_is_refused(device, errnum, &n, &known)) {
		fault_raise(f, FAULT_LOCAL, n.errnum, "ibv_open_device(%s)", device);
		return devnode_explain(&n, device, f);
	}
	vfault_raise(f, errnum, 0, "ibv_open_device(%s)", device);
	if (!known)
		return EXPLAIN(f, DEVICE_GONE, {"sysfs", sysfs_root()});
	return EXPLAIN(f, DEVICE_REFUSES, {"node", n.path});
}
