// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Text that is cut off ends before a UTF-8 character, not within one. */
void text_copy(char *to, size_t size, const char *from)
{
	size_t n = strnlen(from, size);

	if (n == size)
		for (n--; n && (from[n] & 0xc0) == 0x80; n--)
			;
	memcpy(to, from, n);
	to[n] = '\0';
	text_disarm(to);
}

/* Bytes at C that are one character to replace; 0: none is. */
static size_t harmful(const unsigned char *c)
{
	if (*c < 0x20 || *c == 0x7f)
		return 1;
	if (*c == 0xc2) /* U+0080 */
		return c[1] >= 0x80 && c[1] < 0xa0 ? 2 : 0;
	if (*c == 0xd8) /* U+0600 */
		return c[1] == 0x9c ? 2 : 0;
	if (*c != 0xe2) /* U+2000 */
		return 0;
	if (c[1] == 0x80)
		return c[2] == 0x8e || c[2] == 0x8f || (c[2] >= 0xa8 && c[2] <= 0xae) ? 3 : 0;
	return c[1] == 0x81 && c[2] >= 0xa6 && c[2] <= 0xa9 ? 3 : 0;
}

void text_disarm(char *text)
{
	size_t n;

	for (unsigned char *c = (unsigned char *)text; *c; c++)
		if ((n = harmful(c)))
			memset(c, '?', n);
}

void text_add(char *text, size_t size, const char *fmt, ...)
{
	size_t used = strlen(text);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text + used, size - used, fmt, ap);
	va_end(ap);
}

bool text_same_letter(char a, char b)
{
	return a == b || (strchr("-_", a) && strchr("-_", b) && a && b);
}

unsigned text_distance(const char *name, const char *word, size_t size)
{
	unsigned row[TEXT_WORD_MAX + 1];

	if (size > TEXT_WORD_MAX)
		return TEXT_WORD_MAX;
	for (unsigned i = 0; i <= size; i++)
		row[i] = i;
	for (; *name; name++) {
		unsigned diagonal = row[0]++;

		for (size_t i = 1; i <= size; i++) {
			unsigned least = diagonal + !text_same_letter(*name, word[i - 1]);

			diagonal = row[i];
			least = row[i] + 1 < least ? row[i] + 1 : least;
			row[i] = row[i - 1] + 1 < least ? row[i - 1] + 1 : least;
		}
	}
	return row[size];
}

const char *text_word(const char **list, char separator, size_t *size)
{
	const char *word = *list;

	*size = word ? (size_t)(strchrnul(word, separator) - word) : 0;
	*list = word && word[*size] ? word + *size + 1 : NULL;
	return word;
}

const char *text_word_at(const char *list, uint64_t n, size_t *size)
{
	const char *word;

	do
		word = text_word(&list, '|', size);
	while (word && n--);
	return word ? word : "";
}

const char *text_next(const char **list, char *buf, size_t size)
{
	size_t n;
	const char *word = text_word(list, ',', &n);

	if (word)
		snprintf(buf, size, "%.*s", (int)(n < size ? n : size), word);
	return word ? buf : NULL;
}

ssize_t text_read_bytes(const char *file, void *buf, size_t size)
{
	struct stat st;
	size_t used = 0;
	ssize_t n;
	int fd;

	if (stat(file, &st))
		return -errno;
	if (!S_ISREG(st.st_mode))
		return S_ISDIR(st.st_mode) ? -EISDIR : -EINVAL;
	fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return -errno;
	do {
		n = read(fd, (char *)buf + used, size - used);
		if (n > 0)
			used += (size_t)n;
	} while (n > 0 || (n < 0 && errno == EINTR));
	n = n < 0 ? -errno : (ssize_t)used;
	close(fd);
	return n;
}

size_t text_read(const char *file, char *buf, size_t size)
{
	ssize_t n = text_read_bytes(file, buf, size - 1);

	buf[n > 0 ? n : 0] = '\0';
	return n > 0 ? (size_t)n : 0;
}

const char *text_value(const char *text, const char *key)
{
	size_t n = strlen(key);

	for (; text; text = strchr(text, '\n')) {
		const char *at = text + (*text == '\n');

		text = at;
		if (strncmp(at, key, n) != 0)
			continue;
		at += n + strspn(at + n, " \t");
		if (*at == ':')
			return at + 1 + strspn(at + 1, " \t");
	}
	return NULL;
}
