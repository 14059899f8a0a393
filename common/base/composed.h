/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * composed: a text that is written as to a file. open_memstream(3) is not used for this: where its
 * buffer finds no memory to grow, a part is missing in the text, and neither ferror() nor fclose()
 * of glibc tells.
 */
#pragma once

#include <stddef.h>
#include <stdio.h>

struct composed {
	char *text;
	size_t used, size;
	FILE *out; /* NULL: no memory */
};

/*
 * Start an empty text. Returns the stream that it is written to, or NULL: no memory. C must stay
 * where it is.
 */
FILE *composed_open(struct composed *c);

/*
 * End the text. Returns it, and the caller frees it; NULL: there was no memory for all of it, or for
 * composed_open(). c->used is its length.
 */
char *composed_close(struct composed *c);
