// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "option.h"

#include <string.h>

const char *option_value(char ***argv, const char *name, struct fault *f)
{
	size_t bytes = strlen(name);
	const char *is = **argv;

	if (strncmp(is, name, bytes) != 0 || (is[bytes] && is[bytes] != '='))
		return NULL;
	if (is[bytes] == '=')
		return is + bytes + 1;
	if ((*argv)[1])
		return *++*argv;
	fault_raise(f, FAULT_USAGE, 0, "%s needs a value", name);
	return "";
}
