// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "host/counters.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/sysfs.h"

static const char *const folders[] = {"hw_counters", "counters"};

#define FOLDERS (sizeof(folders) / sizeof(folders[0]))

/* No way out of the port's folder. */
static bool is_name(const char *text)
{
	return *text && *text != '/' && !strstr(text, "..");
}

/* Add NAME if it can be read: 0, -errno. */
static int add(struct counters *c, const char *name)
{
	struct counter new = {0}, *list;
	int rc;

	if ((size_t)snprintf(new.name, sizeof(new.name), "%s", name) >= sizeof(new.name))
		return -ENAMETOOLONG;
	rc = sysfs_read_int(&new.before, "%s/%s", c->port, name);
	if (rc)
		return rc;
	list = realloc(c->list, (c->count + 1) * sizeof(*list));
	if (!list)
		return -ENOMEM;
	new.after = new.before;
	c->list = list;
	c->list[c->count++] = new;
	return 0;
}

/* NAME as given, or in one of the folders. */
static int add_named(struct counters *c, const char *name)
{
	char path[256];
	int rc = -ENOENT;

	if (!is_name(name))
		return -EINVAL;
	if (strchr(name, '/'))
		return add(c, name);
	for (size_t i = 0; rc == -ENOENT && i < FOLDERS; i++) {
		snprintf(path, sizeof(path), "%s/%s", folders[i], name);
		rc = add(c, path);
	}
	return rc;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct counter *)a)->name, ((const struct counter *)b)->name);
}

/* What is no number, such as hw_counters/lifespan's neighbours on some devices, is passed over. */
static int add_all(struct counters *c)
{
	char path[512];

	for (size_t i = 0; i < FOLDERS; i++) {
		DIR *d;

		snprintf(path, sizeof(path), "%s/%s/%s", sysfs_root(), c->port, folders[i]);
		d = opendir(path);
		for (struct dirent *e; d && (e = readdir(d));) {
			if (e->d_name[0] == '.' || strcmp(e->d_name, "lifespan") == 0)
				continue;
			snprintf(path, sizeof(path), "%s/%s", folders[i], e->d_name);
			add(c, path);
		}
		if (d)
			closedir(d);
	}
	if (!c->count)
		return -ENOENT;
	qsort(c->list, c->count, sizeof(*c->list), by_name);
	return 0;
}

static int refuse(const struct counters *c, const char *name, int rc, struct fault *f)
{
	fault_raise(f, rc == -ENOMEM ? FAULT_LOCAL : FAULT_USAGE, -rc,
		    "-W/--report-counters: '%.60s'", name);
	fault_cause(f, "This port has no counter of that name that can be read");
	return fault_fix(f,
			 "give names of files in %s/%s/hw_counters or counters, by comma, or all",
			 sysfs_root(), c->port);
}

int counters_start(struct counters *c, const char *device, unsigned port, const char *list,
		   struct fault *f)
{
	char *copy = strdup(list), *rest = copy;
	int rc = 0;

	memset(c, 0, sizeof(*c));
	fault_phase(f, "reading the port's counters");
	snprintf(c->port, sizeof(c->port), "class/infiniband/%.63s/ports/%u", device, port);
	if (!copy)
		return fault_raise(f, FAULT_LOCAL, ENOMEM, "names of counters");
	c->all = strcmp(list, "all") == 0;
	if (c->all)
		rc = add_all(c) ? refuse(c, list, -ENOENT, f) : 0;
	for (char *name; rc == 0 && !c->all && (name = strsep(&rest, ","));) {
		int err = add_named(c, name);

		if (err)
			rc = refuse(c, name, err, f);
	}
	free(copy);
	return rc;
}

void counters_stop(struct counters *c)
{
	for (size_t i = 0; i < c->count; i++)
		sysfs_read_int(&c->list[i].after, "%s/%s", c->port, c->list[i].name);
}

void counters_release(struct counters *c)
{
	free(c->list);
	memset(c, 0, sizeof(*c));
}
