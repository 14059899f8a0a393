// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "script.h"

#include <ctype.h>

/* Undo \xNN in TEXT of SIZE bytes, in place; the new size. */
static size_t unescape(char *text, size_t size)
{
	size_t n = 0;

	for (size_t i = 0; i < size; i++) {
		char hex[3] = "";

		text[n++] = text[i];
		if (i + 3 >= size || text[i] != '\\' || text[i + 1] != 'x' ||
		    !isxdigit((unsigned char)text[i + 2]) || !isxdigit((unsigned char)text[i + 3]))
			continue;
		memcpy(hex, text + i + 2, 2);
		text[n - 1] = (char)strtoul(hex, NULL, 16);
		i += 3;
	}
	return n;
}

/* Put the header of a frame before the text. */
static void frame(struct script_step *step)
{
	memmove(step->bytes + 8, step->bytes, step->size);
	memcpy(step->bytes, "RDMK", 4);
	for (unsigned i = 0; i < 4; i++)
		step->bytes[4 + i] = (char)(step->size >> (24 - 8 * i));
	step->size += 8;
}

bool script_next(struct fuzz_input *in, struct script_step *step)
{
	const uint8_t *end;
	size_t n;

	memset(step, 0, sizeof(*step));
	if (!in->left)
		return false;
	step->at_once = *in->at == '>';
	if (step->at_once)
		fuzz_u8(in);
	end = in->left ? memchr(in->at, '\n', in->left) : NULL;
	n = end ? (size_t)(end - in->at) : in->left;
	step->bytes = malloc(n + 8);
	if (!step->bytes)
		abort();
	fuzz_bytes(in, step->bytes, n);
	step->size = n;
	if (end)
		fuzz_u8(in);
	if (n && (step->bytes[0] == '!' || step->bytes[0] == '#')) {
		step->kind = step->bytes[0] == '#' ? SCRIPT_STRANGER : SCRIPT_SEND;
		memmove(step->bytes, step->bytes + 1, n - 1);
		step->size = unescape(step->bytes, n - 1);
	} else if (n && step->bytes[0] == '^') {
		step->kind = SCRIPT_SIGNAL;
	} else {
		frame(step);
	}
	return true;
}

void script_release(struct script_step *step)
{
	free(step->bytes);
	memset(step, 0, sizeof(*step));
}
