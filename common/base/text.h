/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* text: taking a text from outside and making it harmless, and putting one together. */
#ifndef RDMARK_BASE_TEXT_H
#define RDMARK_BASE_TEXT_H

#include <stddef.h>

/*
 * Copy FROM into the SIZE bytes at TO, disarmed. What does not fit is cut off where a character
 * begins (UTF-8): half of one would make the whole text unfit for JSON.
 */
void text_copy(char *to, size_t size, const char *from);

/*
 * Put '?' for everything a terminal may obey: control characters, and the C1 ones as UTF-8 (0xc2
 * followed by 0x80 to 0x9f). In place; the length stays.
 */
void text_disarm(char *text);

/* Append (printf) to TEXT, which has SIZE bytes and holds a string; what does not fit is cut. */
void text_add(char *text, size_t size, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

#endif
