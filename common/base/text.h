/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* text: copying untrusted text safely, composing text in a buffer, and reading small files. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Copy FROM into the SIZE bytes at TO, and call text_disarm(). If it does not fit, it is cut at the
 * start of a UTF-8 character, because half of one would make the whole text invalid in JSON.
 */
void text_copy(char *to, size_t size, const char *from);

/*
 * Replace with '?' what a terminal may interpret: control characters, those of C1 in UTF-8 (U+0080
 * to U+009F), and those that change the direction of the text or begin a line, after which it reads
 * as another one (U+061C, U+200E, U+200F, U+2028 to U+202E, U+2066 to U+2069). In place; the length
 * in bytes does not change.
 */
void text_disarm(char *text);

/* Append (printf) to the string TEXT, which has SIZE bytes. What does not fit is cut off. */
void text_add(char *text, size_t size, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* True if A and B are the same letter of a name, in which - and _ are the same. */
bool text_same_letter(char a, char b);

/*
 * How many letters of NAME must be changed, added or left out to get the first SIZE letters of
 * WORD; TEXT_WORD_MAX if that is longer. Up to TEXT_NEAR of them NAME may be what was meant.
 */
#define TEXT_WORD_MAX 40
#define TEXT_NEAR(size) ((size) < 5 ? 1u : 2u) /* few letters make another word of a short one */
unsigned text_distance(const char *name, const char *word, size_t size);

/*
 * The first word of *LIST, which SEPARATOR or the end of the text ends, and its *SIZE; *LIST
 * becomes the rest, NULL after the last word. Returns NULL, and 0 as the size: *LIST was NULL.
 */
const char *text_word(const char **list, char separator, size_t *size);

/* The word N, from 0, of LIST, "a|b", and its *SIZE; "" and 0: there are not so many. */
const char *text_word_at(const char *list, uint64_t n, size_t *size);

/*
 * Copy the first of *LIST, texts separated by commas, to BUF, and step to the rest, NULL after the
 * last one. Returns BUF; NULL: *LIST was NULL.
 */
const char *text_next(const char **list, char *buf, size_t size);

/*
 * Read up to SIZE bytes of FILE, such as one of /proc. Other than regular files are refused before
 * they are opened: one in the place of an attribute must neither block nor be disturbed. Returns
 * the number of bytes, or -errno.
 */
ssize_t text_read_bytes(const char *file, void *buf, size_t size);

/* The same up to SIZE - 1 bytes, ended by a 0; "" if it cannot be read. Returns their number. */
size_t text_read(const char *file, char *buf, size_t size);

/* What stands behind "KEY:" in the first such line of TEXT; NULL: there is none. */
const char *text_value(const char *text, const char *key);
