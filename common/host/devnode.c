// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "host/devnode.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

void devnode_read(struct devnode *n, const char *name)
{
	const char *root = getenv("RDMARK_DEV");
	struct stat st;
	int fd;

	memset(n, 0, sizeof(*n));
	snprintf(n->path, sizeof(n->path), "%s/%s", root && root[0] == '/' ? root : "/dev", name);
	if (stat(n->path, &st)) {
		n->errnum = errno;
		return;
	}
	n->there = true;
	n->is_device = S_ISCHR(st.st_mode);
	n->number[0] = major(st.st_rdev);
	n->number[1] = minor(st.st_rdev);
	n->mode = st.st_mode & 07777;
	n->owner = st.st_uid;
	n->group = st.st_gid;
	n->allowed = faccessat(AT_FDCWD, n->path, R_OK | W_OK, AT_EACCESS) == 0;
	fd = open(n->path, O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		n->errnum = errno;
	else
		close(fd);
}

void devnode_expect(struct devnode *n, unsigned major, unsigned minor)
{
	if (!n->errnum && n->is_device && (n->number[0] != major || n->number[1] != minor))
		n->errnum = ENXIO;
}

/* FOLDER is the length of the path's folder: a container is given that, with all nodes. */
static int explain_denied_node(const struct devnode *n, int folder, struct fault *f)
{
	if (n->allowed) {
		fault_cause(f,
			    "This user may open %s by its mode, but the device rules (cgroup) of "
			    "the container or unit forbid it",
			    n->path);
		return fault_fix(
			f,
			"start the container with --device=%.*s (docker, podman), or the unit with "
			"DeviceAllow=%s rw",
			folder, n->path, n->path);
	}
	if (!n->there) {
		fault_cause(f, "User %u may not search the directory of %s", (unsigned)geteuid(),
			    n->path);
		return fault_fix(f, "chmod a+x %.*s", folder, n->path);
	}
	fault_cause(f, "User %u may not open %s: mode %04o, owner %u, group %u",
		    (unsigned)geteuid(), n->path, n->mode, n->owner, n->group);
	return fault_fix(f, "chmod a+rw %s, as the udev rules of rdma-core do", n->path);
}

int devnode_explain(const struct devnode *n, const char *device, struct fault *f)
{
	int folder = (int)(strrchr(n->path, '/') - n->path);

	switch (n->errnum) {
	case ENOENT:
	case ENOTDIR:
		fault_cause(f,
			    "The kernel has %s, but its node %s does not exist: the container was "
			    "not given the device, or udev does not run",
			    device, n->path);
		return fault_fix(f,
				 "start the container with --device=%.*s (docker, podman), or with "
				 "an RDMA device plugin's resource (Kubernetes)",
				 folder, n->path);
	case EACCES:
	case EPERM:
		return explain_denied_node(n, folder, f);
	case ENXIO:
	case ENODEV:
		fault_cause(f,
			    "%s is no longer the node of %s: the driver was reloaded after the "
			    "node was created, or was removed",
			    n->path, device);
		return fault_fix(f, "restart the container; on a host, create the nodes again with "
				    "udevadm trigger");
	default:
		fault_cause(f, "The kernel refuses to open %s, the node of %s", n->path, device);
		return fault_fix(f, "check dmesg");
	}
}
