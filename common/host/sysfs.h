/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sysfs: small readers for attribute files, which may be absent, empty or full of anything.
 *
 * The tree is /sys unless the environment names another one in RDMARK_SYSFS (for tests). Paths are
 * relative to it. Nothing here raises a fault: what is missing is unknown, and the caller says so.
 * No state; any thread may call.
 */
#ifndef RDMARK_HOST_SYSFS_H
#define RDMARK_HOST_SYSFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define SYSFS_SET_MAX 8192u /* the most CPUs that Linux can have; nodes are at most 1024 */

/* A set of small numbers, as in "0-3,8": CPUs or nodes. A zeroed one is empty. */
struct sysfs_set {
	uint64_t word[SYSFS_SET_MAX / 64];
};

/* The root: RDMARK_SYSFS if set and absolute, else "/sys". */
const char *sysfs_root(void);

/*
 * First line of the file at the path (printf), without the newline and trailing blanks, cut to
 * SIZE. What is not printable ASCII becomes '?'. An empty file is 0 and "". Only regular files are
 * read, never waited for. Returns 0 or -errno (then BUF is "").
 */
int sysfs_read(char *buf, size_t size, const char *path, ...) __attribute__((format(printf, 3, 4)));

/* As sysfs_read(), line NTH, counted from 0; -ENOENT if the file (of which 4 KiB are read) has not
 * so many. */
int sysfs_read_nth(char *buf, size_t size, unsigned nth, const char *path, ...)
	__attribute__((format(printf, 4, 5)));

/* Up to SIZE bytes of the file, whatever they are: their number or -errno. */
ssize_t sysfs_read_raw(void *buf, size_t size, const char *path, ...)
	__attribute__((format(printf, 3, 4)));

/* The file as a signed decimal or 0x-hex number; trailing junk is -EINVAL, *VALUE is then
 * unchanged. */
int sysfs_read_int(int64_t *value, const char *path, ...) __attribute__((format(printf, 2, 3)));

/* The file as a list of numbers ("0-3,8", or nothing). Returns 0 or -errno (then *SET is empty). */
int sysfs_read_set(struct sysfs_set *set, const char *path, ...)
	__attribute__((format(printf, 2, 3)));

/* Absolute path with all links resolved. Returns 0 or -errno (then BUF is ""). */
int sysfs_resolve(char *buf, size_t size, const char *path, ...)
	__attribute__((format(printf, 3, 4)));

/* Is N in the set? Numbers that cannot be are not. */
static inline bool sysfs_set_has(const struct sysfs_set *set, int n)
{
	return n >= 0 && (unsigned)n < SYSFS_SET_MAX &&
	       (set->word[(unsigned)n / 64] >> ((unsigned)n % 64) & 1);
}

/* How many numbers are in the set. */
int sysfs_set_count(const struct sysfs_set *set);

/* The set as a list, "0-15,32-47"; cut at a number and ended with "…" if longer. Returns BUF. */
const char *sysfs_set_format(const struct sysfs_set *set, char *buf, size_t size);

#endif
