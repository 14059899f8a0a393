// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "trust/allow.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ENTRY_BYTES (64u * 1024u) /* an entry of a group with many members */
#define GROUPS_MAX  1024

/* Look up the user, or GROUP, NAME. Returns 0, or an errno: ENOENT if there is none. */
static int find_id(bool group, const char *name, char *buf, size_t size, unsigned *id)
{
	struct passwd user, *as_user = NULL;
	struct group all, *as_group = NULL;
	int rc = group ? getgrnam_r(name, &all, buf, size, &as_group)
		       : getpwnam_r(name, &user, buf, size, &as_user);

	if (!rc && as_user)
		*id = as_user->pw_uid;
	if (!rc && as_group)
		*id = as_group->gr_gid;
	return rc || as_user || as_group ? rc : ENOENT;
}

/* Read TEXT as an ID. The last one, (uid_t)-1, means none to the kernel. */
static bool read_id(const char *text, unsigned *id)
{
	unsigned long value;
	char *end;

	if (!*text || strspn(text, "0123456789") != strlen(text))
		return false;
	errno = 0;
	value = strtoul(text, &end, 10);
	*id = (unsigned)value;
	return !errno && value < UINT32_MAX;
}

/* Add the user NAME, or the group @NAME. */
static int add_entry(struct allow *a, const char *name, char *buf, size_t size, struct fault *f)
{
	bool group = name[0] == '@';
	unsigned id = 0;
	int rc;

	if (a->count == ALLOW_MAX)
		return fault_raise(f, FAULT_USAGE, 0, "--allow has more than %d entries",
				   ALLOW_MAX);
	name += group;
	if (!name[0])
		return fault_usage(
			f, "give users and @groups, separated by commas: --allow=alice,@hpc",
			"--allow has an empty entry");
	/* As chown(1) does: a name of digits only is a name first. */
	rc = find_id(group, name, buf, size, &id);
	if (rc == ENOMEM)
		return fault_raise(f, FAULT_LOCAL, ENOMEM, "--allow: looking up '%.40s'", name);
	if (rc && !read_id(name, &id)) {
		fault_raise(f, FAULT_USAGE, 0, "--allow: %s '%.40s' does not exist",
			    group ? "group" : "user", name);
		return fault_fix(f, "check the name with `getent %s %.40s`, or give the number",
				 group ? "group" : "passwd", name);
	}
	a->entry[a->count].group = group;
	a->entry[a->count++].id = id;
	return 0;
}

/* Read all of LIST, which is changed. */
static int add_entries(struct allow *a, char *list, struct fault *f)
{
	char *buf = malloc(ENTRY_BYTES), *name;
	int rc = buf ? 0 : fault_raise(f, FAULT_LOCAL, ENOMEM, "reading --allow");

	while (rc == 0 && (name = strsep(&list, ",")))
		rc = add_entry(a, name, buf, ENTRY_BYTES, f);
	free(buf);
	return rc;
}

int allow_read(struct allow *a, const char *list, uid_t own, struct fault *f)
{
	char *copy;
	int rc;

	*a = (struct allow){.entry = {{.id = own}, {.id = 0}}, .count = 2};
	if (!list)
		return 0;
	a->count = 0;
	copy = strdup(list);
	if (!copy)
		return fault_raise(f, FAULT_LOCAL, ENOMEM, "reading --allow");
	rc = add_entries(a, copy, f);
	free(copy);
	return rc;
}

/* True if UID's entry names groups among A's. */
static bool is_member(const struct allow *a, uid_t uid, gid_t gid)
{
	char *buf = malloc(ENTRY_BYTES);
	gid_t *groups = calloc(GROUPS_MAX, sizeof(*groups));
	struct passwd entry, *found = NULL;
	int count = GROUPS_MAX;
	bool member = false;

	if (!buf || !groups || getpwuid_r(uid, &entry, buf, ENTRY_BYTES, &found) || !found ||
	    getgrouplist(found->pw_name, gid, groups, &count) < 0)
		count = 0;
	for (int i = 0; i < count; i++)
		for (size_t k = 0; k < a->count; k++)
			member |= a->entry[k].group && a->entry[k].id == groups[i];
	free(groups);
	free(buf);
	return member;
}

bool allow_has(const struct allow *a, uid_t uid, gid_t gid)
{
	bool groups = false;

	for (size_t i = 0; i < a->count; i++) {
		if (a->entry[i].id == (a->entry[i].group ? gid : uid))
			return true;
		groups |= a->entry[i].group;
	}
	return groups && is_member(a, uid, gid);
}

const char *allow_user(uid_t uid, char *buf, size_t size)
{
	struct passwd entry, *found = NULL;
	char text[4096];

	if (getpwuid_r(uid, &entry, text, sizeof(text), &found) || !found)
		snprintf(buf, size, "uid %u", (unsigned)uid);
	else
		snprintf(buf, size, "%s (uid %u)", found->pw_name, (unsigned)uid);
	return buf;
}
