/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * tree: a temporary directory in place of /sys (RDMARK_SYSFS), for the tests of common/host.
 *
 * tree_make() and tree_remove() are cmocka's setup and teardown; *state is the directory's path.
 */
#ifndef RDMARK_TESTS_UNIT_TREE_H
#define RDMARK_TESTS_UNIT_TREE_H

#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static inline int tree_make(void **state)
{
	char name[] = "/tmp/rdmark-tree.XXXXXX";
	const char *made = mkdtemp(name);
	char *real = made ? realpath(made, NULL) : NULL;

	*state = real;
	return real ? setenv("RDMARK_SYSFS", real, 1) : -1;
}

/* The same without hwloc's plugins (such as libxml2's), whichever are installed. */
static inline int tree_make_without_plugins(void **state)
{
	return tree_make(state) ? -1 : setenv("HWLOC_PLUGINS_PATH", *state, 1);
}

/* TEST with this host's plugins, and without any. */
#define TREE_WITH_AND_WITHOUT_PLUGINS(test)                                                        \
	cmocka_unit_test_setup_teardown(test, tree_make, tree_remove),                             \
		{#test "_without_plugins", test, tree_make_without_plugins, tree_remove, NULL}

static inline int tree_remove_one(const char *path, const struct stat *st, int kind, struct FTW *at)
{
	(void)st;
	(void)kind;
	(void)at;
	return remove(path);
}

static inline int tree_remove(void **state)
{
	unsetenv("RDMARK_SYSFS");
	unsetenv("HWLOC_XMLFILE");
	unsetenv("HWLOC_PLUGINS_PATH");
	nftw(*state, tree_remove_one, 16, FTW_DEPTH | FTW_PHYS);
	free(*state);
	return 0;
}

/* The absolute path of PATH in the tree; creates the directories above it. Static buffer. */
static inline const char *tree_path(void **state, const char *path)
{
	static char full[PATH_MAX];

	snprintf(full, sizeof(full), "%s/%s", (const char *)*state, path);
	for (char *at = full + strlen(*state) + 1; (at = strchr(at, '/')) != NULL; at++) {
		*at = '\0';
		mkdir(full, 0755);
		*at = '/';
	}
	return full;
}

static inline void tree_write(void **state, const char *path, const void *data, size_t size)
{
	FILE *out = fopen(tree_path(state, path), "we");

	if (!out || fwrite(data, 1, size, out) != size || fclose(out))
		abort();
}

static inline void tree_put(void **state, const char *path, const char *text)
{
	tree_write(state, path, text, strlen(text));
}

/* Make PATH a link to TARGET; a leading "/" means the tree's root. */
static inline void tree_link(void **state, const char *path, const char *target)
{
	char to[PATH_MAX];

	snprintf(to, sizeof(to), "%s%s", target[0] == '/' ? (const char *)*state : "", target);
	if (symlink(to, tree_path(state, path)))
		abort();
}

static inline void tree_dir(void **state, const char *path)
{
	mkdir(tree_path(state, path), 0755);
}

#endif
