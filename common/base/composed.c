// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/composed.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

/* For stdio: add N BYTES to the text. Returns N, or 0: no memory, and none for the rest. */
static ssize_t add(void *composed, const char *bytes, size_t n)
{
	struct composed *c = composed;
	size_t size = c->size;
	char *more;

	while (size < c->used + n + 1)
		size *= 2;
	more = !c->text ? NULL : size > c->size ? realloc(c->text, size) : c->text;
	if (!more) {
		free(c->text);
		c->text = NULL;
		errno = ENOMEM;
		return 0;
	}
	memcpy(more + c->used, bytes, n);
	c->text = more;
	c->size = size;
	c->used += n;
	return (ssize_t)n;
}

FILE *composed_open(struct composed *c)
{
	*c = (struct composed){.size = 1024};
	c->text = malloc(c->size);
	c->out = c->text ? fopencookie(c, "w", (cookie_io_functions_t){.write = add}) : NULL;
	return c->out;
}

char *composed_close(struct composed *c)
{
	char *text;

	if (c->out)
		fclose(c->out);
	else
		free(c->text);
	text = c->out ? c->text : NULL;
	if (text)
		text[c->used] = '\0';
	*c = (struct composed){.used = c->used};
	return text;
}
