// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

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

/*
 * Control characters are those of ASCII and the C1 set, which is 0xc2 0x80 to 0xc2 0x9f in UTF-8.
 */
void text_disarm(char *text)
{
	for (unsigned char *c = (unsigned char *)text; *c; c++) {
		if (*c < 0x20 || *c == 0x7f)
			*c = '?';
		else if (*c == 0xc2 && c[1] >= 0x80 && c[1] < 0xa0)
			c[0] = c[1] = '?';
	}
}

void text_add(char *text, size_t size, const char *fmt, ...)
{
	size_t used = strlen(text);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text + used, size - used, fmt, ap);
	va_end(ap);
}
