/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sysfs: reads attribute files, which may be missing, empty or contain anything.
 *
 * The root is /sys, unless RDMARK_SYSFS names another one (for tests). Paths are relative to it. No
 * fault is raised: a missing value is unknown, and the caller reports that. No state; any thread
 * may call.
 */
#pragma once

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define SYSFS_SET_MAX 8192u /* Linux's maximum of CPUs; it has at most 1024 nodes */

/*
 * A set of CPU or node numbers, as in "0-3,8". A zeroed one is empty. It is an affinity mask as for
 * sched_getaffinity(2), so the macros of <sched.h> for masks of any size (CPU_COUNT_S and so on)
 * work on it.
 */
struct sysfs_set {
	cpu_set_t mask[SYSFS_SET_MAX / CPU_SETSIZE];
};

/* The root: RDMARK_SYSFS if set and absolute, else "/sys". */
const char *sysfs_root(void);

/* Is it a tree that RDMARK_SYSFS names? */
bool sysfs_is_made_up(void);

/* Is there something at the path (printf)? */
bool sysfs_exists(const char *path, ...) __attribute__((format(printf, 1, 2)));

/*
 * Read the first line of the file at the path (printf), without newline and trailing blanks, cut to
 * SIZE. A character that is not printable ASCII becomes '?'. An empty file gives 0 and "". Reads
 * only regular files, and never blocks. Returns 0, or -errno with BUF "".
 */
int sysfs_read(char *buf, size_t size, const char *path, ...) __attribute__((format(printf, 3, 4)));

/* Read up to SIZE bytes of the file. Returns their number or -errno. */
ssize_t sysfs_read_raw(void *buf, size_t size, const char *path, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * Read the file as a signed decimal or 0x-hex number. Other trailing characters are -EINVAL, and
 * *VALUE does not change then.
 */
int sysfs_read_int(int64_t *value, const char *path, ...) __attribute__((format(printf, 2, 3)));

/*
 * Read the file as a list of numbers ("0-3,8", or nothing). Returns 0, or -errno with *SET empty.
 */
int sysfs_read_set(struct sysfs_set *set, const char *path, ...)
	__attribute__((format(printf, 2, 3)));

/* Resolve all links of the path. Returns 0, or -errno with BUF "". */
int sysfs_resolve(char *buf, size_t size, const char *path, ...)
	__attribute__((format(printf, 3, 4)));

#define SYSFS_NAME 64 /* of a device, including the 0 */

/*
 * Read the name of entry NTH, from 0 and sorted by bytes, of the directory at the path. Returns 0,
 * or -errno with NAME ""; -ENODATA: there are fewer entries.
 */
int sysfs_name(char name[SYSFS_NAME], unsigned nth, const char *path, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * Write the names of all entries of the directory at the path to NAMES, in any order, between
 * newlines: "\nRTO\nRNR sent\n"; what does not fit is left out. Returns 0, or -errno with NAMES "".
 */
int sysfs_names(char *names, size_t size, const char *path, ...)
	__attribute__((format(printf, 3, 4)));

/* True if N is in the set; false for an impossible number. */
static inline bool sysfs_set_has(const struct sysfs_set *set, int n)
{
	return CPU_ISSET_S((size_t)n, sizeof(*set), set->mask);
}

/* The number of members. */
static inline int sysfs_set_count(const struct sysfs_set *set)
{
	return CPU_COUNT_S(sizeof(*set), set->mask);
}

/* Read "KEY: N", of that BASE, from the kernel's FILE. False: it is not there. */
bool sysfs_proc_number(uint64_t *value, const char *file, const char *key, int base);

/*
 * Read "KEY: N kB" from the kernel's FILE ("/proc/meminfo") and return it in bytes; 0: not found.
 */
size_t sysfs_proc_bytes(const char *file, const char *key);

/* The number of NUMA nodes of this machine; 1 for a kernel without NUMA. */
int sysfs_node_count(void);

/*
 * Write the set as a list, "0-15,32-47". If it does not fit, it is cut after a number and ends with
 * "…". Returns BUF.
 */
const char *sysfs_set_format(const struct sysfs_set *set, char *buf, size_t size);
