/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* text: making a text from outside harmless. */
#ifndef RDMARK_BASE_TEXT_H
#define RDMARK_BASE_TEXT_H

/*
 * Put '?' for everything a terminal may obey: control characters, and the C1 ones as UTF-8 (0xc2
 * followed by 0x80 to 0x9f). In place; the length stays.
 */
void text_disarm(char *text);

#endif
