// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "host/sysfs.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/text.h"

#define ELLIPSIS "…"

/*
 * Let FULL, an array of PATH_BYTES, be the PATH (printf) below the root. One that is too long for
 * the kernel is left so long that the kernel says so.
 */
#define PATH_BYTES (PATH_MAX + 1)
#define FORMAT_PATH(full, path)                                          \
	do {                                                             \
		size_t used = start_path(full);                          \
		va_list ap;                                              \
                                                                         \
		va_start(ap, path);                                      \
		vsnprintf((full) + used, sizeof(full) - used, path, ap); \
		va_end(ap);                                              \
	} while (0)

const char *sysfs_root(void)
{
	const char *root = getenv("RDMARK_SYSFS");

	return root && root[0] == '/' ? root : "/sys";
}

bool sysfs_is_made_up(void)
{
	return strcmp(sysfs_root(), "/sys") != 0;
}

static size_t start_path(char full[PATH_BYTES])
{
	full[0] = '\0';
	text_add(full, PATH_BYTES, "%s/", sysfs_root());
	return strlen(full);
}

bool sysfs_exists(const char *path, ...)
{
	char full[PATH_BYTES];

	FORMAT_PATH(full, path);
	return access(full, F_OK) == 0;
}

/* Terminate the line of LEN bytes in BUF, without trailing blanks. Bytes that are not printable
 * ASCII become '?'. */
static void clean_text(char *buf, size_t len)
{
	while (len && isspace((unsigned char)buf[len - 1]))
		len--;
	buf[len] = '\0';
	for (size_t i = 0; i < len; i++)
		if (buf[i] < ' ' || buf[i] > '~')
			buf[i] = '?';
}

/* Like sysfs_read(), but return -E2BIG, with BUF filled, if the first line does not fit. */
static int read_line(char *buf, size_t size, const char *full)
{
	const char *newline;
	ssize_t got;
	size_t len;

	if (!size)
		return -EINVAL;
	got = text_read_bytes(full, buf, size);
	buf[got > 0 && (size_t)got < size ? (size_t)got : size - 1] = '\0';
	if (got <= 0) {
		buf[0] = '\0';
		return (int)got;
	}
	newline = memchr(buf, '\n', (size_t)got);
	len = newline ? (size_t)(newline - buf) : (size_t)got;
	clean_text(buf, len < size ? len : size - 1);
	return newline || (size_t)got < size ? 0 : -E2BIG;
}

int sysfs_read(char *buf, size_t size, const char *path, ...)
{
	char full[PATH_BYTES];
	int rc;

	FORMAT_PATH(full, path);
	rc = read_line(buf, size, full);
	return rc == -E2BIG ? 0 : rc;
}

ssize_t sysfs_read_raw(void *buf, size_t size, const char *path, ...)
{
	char full[PATH_BYTES];

	FORMAT_PATH(full, path);
	return text_read_bytes(full, buf, size);
}

int sysfs_read_int(int64_t *value, const char *path, ...)
{
	char full[PATH_BYTES], text[64], *end;
	const char *digits;
	long long v;
	int rc;

	FORMAT_PATH(full, path);
	rc = read_line(text, sizeof(text), full);
	if (rc)
		return rc == -E2BIG ? -EINVAL : rc;
	digits = text + (text[0] == '-');
	if (!isdigit((unsigned char)digits[0]))
		return -EINVAL;
	errno = 0;
	v = strtoll(text, &end, digits[0] == '0' && (digits[1] | 0x20) == 'x' ? 16 : 10);
	if (*end)
		return -EINVAL;
	if (errno)
		return -errno;
	*value = v;
	return 0;
}

/* Parse the number at AT; *END points after it. Returns SYSFS_SET_MAX, which is invalid, if there
 * is none. */
static unsigned long parse_number(const char *at, char **end)
{
	return isdigit((unsigned char)*at) ? strtoul(at, end, 10) : SYSFS_SET_MAX;
}

/* Add the numbers of a list such as "0-3,8", or "", to SET. Returns 0 or -EINVAL. */
static int parse_list(const char *at, struct sysfs_set *set)
{
	char *end = NULL;

	for (; *at; at = *end ? end + 1 : end) {
		unsigned long low = parse_number(at, &end), high = low;

		if (low < SYSFS_SET_MAX && *end == '-')
			high = parse_number(end + 1, &end);
		if (low > high || high >= SYSFS_SET_MAX || (*end && (*end != ',' || !end[1])))
			return -EINVAL;
		for (unsigned long n = low; n <= high; n++)
			CPU_SET_S(n, sizeof(*set), set->mask);
	}
	return 0;
}

int sysfs_read_set(struct sysfs_set *set, const char *path, ...)
{
	char full[PATH_BYTES], text[16384];
	int rc;

	memset(set, 0, sizeof(*set));
	FORMAT_PATH(full, path);
	rc = read_line(text, sizeof(text), full);
	if (!rc)
		rc = parse_list(text, set);
	if (rc)
		memset(set, 0, sizeof(*set));
	return rc;
}

int sysfs_resolve(char *buf, size_t size, const char *path, ...)
{
	char full[PATH_BYTES], real[PATH_MAX];

	if (!size)
		return -EINVAL;
	buf[0] = '\0';
	FORMAT_PATH(full, path);
	if (!realpath(full, real))
		return -errno;
	if (strlen(real) >= size)
		return -ENAMETOOLONG;
	strcpy(buf, real);
	return 0;
}

bool sysfs_proc_number(uint64_t *value, const char *file, const char *key, int base)
{
	char text[16384], *end;
	const char *at;

	text_read(file, text, sizeof(text));
	at = text_value(text, key);
	if (!at)
		return false;
	*value = strtoull(at, &end, base);
	return end > at;
}

size_t sysfs_proc_bytes(const char *file, const char *key)
{
	uint64_t kib = 0;

	return sysfs_proc_number(&kib, file, key, 10) ? kib * 1024 : 0;
}

int sysfs_node_count(void)
{
	struct sysfs_set nodes;

	sysfs_read_set(&nodes, "devices/system/node/online");
	return sysfs_set_count(&nodes) ? sysfs_set_count(&nodes) : 1;
}

const char *sysfs_set_format(const struct sysfs_set *set, char *buf, size_t size)
{
	size_t used = 0;

	if (size)
		buf[0] = '\0';
	for (int low = 0, high; low < (int)SYSFS_SET_MAX; low = high + 1) {
		char item[32];

		high = low;
		if (!sysfs_set_has(set, low))
			continue;
		while (sysfs_set_has(set, high + 1))
			high++;
		snprintf(item, sizeof(item), high > low ? "%s%d-%d" : "%s%d", used ? "," : "", low,
			 high);
		if (used + strlen(item) + sizeof(ELLIPSIS) > size) {
			if (used + sizeof(ELLIPSIS) <= size)
				strcpy(buf + used, ELLIPSIS);
			break;
		}
		used = (size_t)(stpcpy(buf + used, item) - buf);
	}
	return buf;
}

/*
 * Write the name of the directory FD that follows LAST, by bytes, to NEXT; "": there is none. Needs
 * no memory, unlike readdir(3): without it there would seem to be no device. Returns 0 or -errno.
 */
static int find_next_entry(int fd, const char *last, char next[NAME_MAX + 1])
{
	_Alignas(struct dirent64) char some[4096];
	const struct dirent64 *e;
	ssize_t n;

	next[0] = '\0';
	if (lseek(fd, 0, SEEK_SET) < 0)
		return -errno;
	while ((n = syscall(SYS_getdents64, fd, some, sizeof(some))) > 0)
		for (ssize_t at = 0; at < n; at += e->d_reclen) {
			e = (const struct dirent64 *)(some + at);
			if (e->d_name[0] != '.' && strcmp(e->d_name, last) > 0 &&
			    (!next[0] || strcmp(e->d_name, next) < 0))
				snprintf(next, NAME_MAX + 1, "%s", e->d_name);
		}
	return n < 0 ? -errno : 0;
}

int sysfs_names(char *names, size_t size, const char *path, ...)
{
	_Alignas(struct dirent64) char some[4096];
	char full[PATH_BYTES], *to = names;
	const struct dirent64 *e;
	ssize_t n;
	int fd;

	*to = '\0';
	FORMAT_PATH(full, path);
	fd = open(full, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	while ((n = syscall(SYS_getdents64, fd, some, sizeof(some))) > 0)
		for (ssize_t at = 0; at < n; at += e->d_reclen) {
			e = (const struct dirent64 *)(some + at);
			if (e->d_name[0] == '.' ||
			    strlen(e->d_name) + 3 > size - (size_t)(to - names))
				continue;
			to = stpcpy(stpcpy(to, to == names ? "\n" : ""), e->d_name);
			to = stpcpy(to, "\n");
		}
	close(fd);
	return 0;
}

int sysfs_name(char name[SYSFS_NAME], unsigned nth, const char *path, ...)
{
	char full[PATH_BYTES], last[NAME_MAX + 1], next[NAME_MAX + 1] = "";
	int rc = 0, fd;

	name[0] = '\0';
	FORMAT_PATH(full, path);
	fd = open(full, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	for (unsigned i = 0; i <= nth && !rc; i++) {
		memcpy(last, next, sizeof(last));
		rc = find_next_entry(fd, last, next);
		if (!rc && !next[0])
			rc = -ENODATA;
	}
	close(fd);
	if (!rc)
		snprintf(name, SYSFS_NAME, "%.*s", SYSFS_NAME - 1, next);
	return rc;
}
