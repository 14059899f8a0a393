// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/touch.h"

#include <stdlib.h>
#include <string.h>

void *touch_calloc(size_t count, size_t bytes)
{
	void *at = reallocarray(NULL, count, bytes);

	if (at)
		explicit_bzero(at, count * bytes); /* malloc and memset would become calloc(3) */
	return at;
}
