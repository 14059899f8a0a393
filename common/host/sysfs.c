// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "host/sysfs.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ELLIPSIS     "…"
#define FORMAT_AT(n) __attribute__((format(printf, n, 0)))

const char *sysfs_root(void)
{
	const char *root = getenv("RDMARK_SYSFS");

	return root && root[0] == '/' ? root : "/sys";
}

static FORMAT_AT(2) int make_path(char full[PATH_MAX], const char *path, va_list ap)
{
	int used = snprintf(full, PATH_MAX, "%s/", sysfs_root());
	int more;

	if (used >= PATH_MAX)
		return -ENAMETOOLONG;
	more = vsnprintf(full + used, (size_t)(PATH_MAX - used), path, ap);
	return more < 0 || more >= PATH_MAX - used ? -ENAMETOOLONG : 0;
}

/* A pipe or a device in the place of an attribute must neither block us nor be disturbed. */
static int open_attribute(const char *full)
{
	struct stat st;
	int fd;

	if (stat(full, &st))
		return -errno;
	if (!S_ISREG(st.st_mode))
		return S_ISDIR(st.st_mode) ? -EISDIR : -EINVAL;
	fd = open(full, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	return fd < 0 ? -errno : fd;
}

/* Up to SIZE bytes, not terminated: their number or -errno. */
static FORMAT_AT(3) ssize_t read_bytes(uint8_t *buf, size_t size, const char *path, va_list ap)
{
	char full[PATH_MAX];
	size_t used = 0;
	ssize_t n;
	int fd;
	int rc = make_path(full, path, ap);

	if (rc)
		return rc;
	fd = open_attribute(full);
	if (fd < 0)
		return fd;
	do {
		n = read(fd, buf + used, size - used);
		if (n > 0)
			used += (size_t)n;
	} while (n > 0 || (n < 0 && errno == EINTR));
	rc = n < 0 ? -errno : 0;
	close(fd);
	return rc ? rc : (ssize_t)used;
}

/* End the line of LEN bytes in BUF, which is larger, without trailing blanks and what is not text.
 */
static void clean(char *buf, size_t len)
{
	while (len && isspace((unsigned char)buf[len - 1]))
		len--;
	buf[len] = '\0';
	for (size_t i = 0; i < len; i++)
		if (buf[i] < ' ' || buf[i] > '~')
			buf[i] = '?';
}

/* As sysfs_read(), and -E2BIG (with BUF filled) if the first line did not fit. */
static FORMAT_AT(3) int read_line(char *buf, size_t size, const char *path, va_list ap)
{
	const char *newline;
	ssize_t got;
	size_t len;

	if (!size)
		return -EINVAL;
	got = read_bytes((uint8_t *)buf, size, path, ap);
	buf[got > 0 && (size_t)got < size ? (size_t)got : size - 1] = '\0';
	if (got <= 0) {
		buf[0] = '\0';
		return (int)got;
	}
	newline = memchr(buf, '\n', (size_t)got);
	len = newline ? (size_t)(newline - buf) : (size_t)got;
	clean(buf, len < size ? len : size - 1);
	return newline || (size_t)got < size ? 0 : -E2BIG;
}

int sysfs_read(char *buf, size_t size, const char *path, ...)
{
	va_list ap;
	int rc;

	va_start(ap, path);
	rc = read_line(buf, size, path, ap);
	va_end(ap);
	return rc == -E2BIG ? 0 : rc;
}

int sysfs_read_nth(char *buf, size_t size, unsigned nth, const char *path, ...)
{
	char text[4096], *at = text, *end;
	ssize_t got;
	va_list ap;

	if (!size)
		return -EINVAL;
	buf[0] = '\0';
	va_start(ap, path);
	got = read_bytes((uint8_t *)text, sizeof(text) - 1, path, ap);
	va_end(ap);
	if (got < 0)
		return (int)got;
	text[got] = '\0';
	for (; nth && at; nth--) {
		at = strchr(at, '\n');
		at = at ? at + 1 : NULL;
	}
	if (!at || !*at)
		return -ENOENT;
	end = strchr(at, '\n');
	snprintf(buf, size, "%.*s", (int)(end ? end - at : (ptrdiff_t)strlen(at)), at);
	clean(buf, strlen(buf));
	return 0;
}

ssize_t sysfs_read_raw(void *buf, size_t size, const char *path, ...)
{
	va_list ap;
	ssize_t got;

	va_start(ap, path);
	got = read_bytes(buf, size, path, ap);
	va_end(ap);
	return got;
}

int sysfs_read_int(int64_t *value, const char *path, ...)
{
	char text[64], *end;
	const char *digits;
	long long v;
	va_list ap;
	int rc;

	va_start(ap, path);
	rc = read_line(text, sizeof(text), path, ap);
	va_end(ap);
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

/* One item of a list, "3" or "0-3". Returns where it ends, NULL if it is none. */
static const char *parse_range(const char *at, struct sysfs_set *set)
{
	unsigned long low, high;
	char *end;

	if (!isdigit((unsigned char)*at))
		return NULL;
	low = high = strtoul(at, &end, 10);
	if (*end == '-') {
		if (!isdigit((unsigned char)end[1]))
			return NULL;
		high = strtoul(end + 1, &end, 10);
	}
	if (low > high || high >= SYSFS_SET_MAX)
		return NULL;
	for (unsigned long n = low; n <= high; n++)
		set->word[n / 64] |= UINT64_C(1) << (n % 64);
	return end;
}

static int parse_set(const char *text, struct sysfs_set *set)
{
	const char *at = text;

	while (*at) {
		at = parse_range(at, set);
		if (!at || (*at && *at != ','))
			return -EINVAL;
		if (*at == ',' && !*++at)
			return -EINVAL;
	}
	return 0;
}

int sysfs_read_set(struct sysfs_set *set, const char *path, ...)
{
	char text[16384];
	va_list ap;
	int rc;

	memset(set, 0, sizeof(*set));
	va_start(ap, path);
	rc = read_line(text, sizeof(text), path, ap);
	va_end(ap);
	if (!rc)
		rc = parse_set(text, set);
	if (rc)
		memset(set, 0, sizeof(*set));
	return rc;
}

int sysfs_resolve(char *buf, size_t size, const char *path, ...)
{
	char full[PATH_MAX], real[PATH_MAX];
	va_list ap;
	int rc;

	if (!size)
		return -EINVAL;
	buf[0] = '\0';
	va_start(ap, path);
	rc = make_path(full, path, ap);
	va_end(ap);
	if (rc)
		return rc;
	if (!realpath(full, real))
		return -errno;
	if (strlen(real) >= size)
		return -ENAMETOOLONG;
	strcpy(buf, real);
	return 0;
}

int sysfs_set_count(const struct sysfs_set *set)
{
	int count = 0;

	for (unsigned i = 0; i < SYSFS_SET_MAX / 64; i++)
		count += __builtin_popcountll(set->word[i]);
	return count;
}

const char *sysfs_set_format(const struct sysfs_set *set, char *buf, size_t size)
{
	const int max = (int)SYSFS_SET_MAX;
	size_t used = 0;

	if (size)
		buf[0] = '\0';
	for (int low = 0, high; low < max; low = high + 1) {
		char item[32];
		size_t len;

		high = low;
		if (!sysfs_set_has(set, low))
			continue;
		while (sysfs_set_has(set, high + 1))
			high++;
		len = (size_t)snprintf(item, sizeof(item), high > low ? "%s%d-%d" : "%s%d",
				       used ? "," : "", low, high);
		if (used + len + sizeof(ELLIPSIS) > size) {
			if (used + sizeof(ELLIPSIS) <= size)
				strcpy(buf + used, ELLIPSIS);
			break;
		}
		memcpy(buf + used, item, len + 1);
		used += len;
	}
	return buf;
}
