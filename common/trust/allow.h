/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * allow: the users and groups of --allow. Names are looked up when the list is read; whether a user
 * is a member of a group is looked up when that user comes. Any thread may call allow_has().
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/fault.h"

#define ALLOW_MAX 64

struct allow {
	struct {
		bool group;
		unsigned id;
	} entry[ALLOW_MAX];
	size_t count;
};

/*
 * Read LIST: names or numbers of users, and of groups with '@', separated by commas. NULL: the user
 * OWN, and root. Raises FAULT_USAGE for an unknown name.
 */
int allow_read(struct allow *a, const char *list, uid_t own, struct fault *f);

/* True if A has the user UID, or the group GID, or another group that the user is a member of. */
bool allow_has(const struct allow *a, uid_t uid, gid_t gid);

/* Write "alice (uid 1000)", or "uid 1000" if there is no name. Returns BUF. */
const char *allow_user(uid_t uid, char *buf, size_t size);
