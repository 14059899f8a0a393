// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "wire/json_text.h"

#include <stdlib.h>
#include <string.h>

json_t *json_text(const char *text)
{
	json_t *to = json_string(text);
	char *copy;

	if (to)
		return to;
	copy = strdup(text);
	for (char *c = copy; c && *c; c++)
		if ((unsigned char)*c > 127)
			*c = '?';
	to = copy ? json_string(copy) : NULL;
	free(copy);
	return to;
}
