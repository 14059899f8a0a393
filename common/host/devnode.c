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

#include "finding/why.h"

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

int devnode_explain(const struct devnode *n, const char *device, struct fault *f)
{
	char folder[sizeof(n->path)], mode[8];
	const struct finding_value values[FINDING_VALUES] = {{"node", n->path},
							     {"device", device},
							     {"folder", folder},
							     {"mode", mode},
							     FINDING_NUMBER("user", geteuid(), ""),
							     FINDING_NUMBER("owner", n->owner, ""),
							     FINDING_NUMBER("group", n->group, "")};

	snprintf(folder, sizeof(folder), "%.*s", (int)(strrchr(n->path, '/') - n->path), n->path);
	snprintf(mode, sizeof(mode), "%04o", n->mode);
	switch (n->errnum) {
	case ENOENT:
	case ENOTDIR:
		return why_explain(f, WHY_NODE_MISSING, values);
	case EACCES:
	case EPERM:
		return why_explain(f,
				   n->allowed ? WHY_NODE_RULES
				   : n->there ? WHY_NODE_MODE
					      : WHY_NODE_FOLDER,
				   values);
	case ENXIO:
	case ENODEV:
		return why_explain(f, WHY_NODE_OLD, values);
	default:
		return why_explain(f, WHY_NODE_REFUSED, values);
	}
}
