// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* simverbs-sysfs DIR: the described devices (SIMVERBS_DEVICES) as a sysfs. */
#include "sysfs.h"

#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	static struct desc d;

	if (argc != 2) {
		fprintf(stderr, "usage: [SIMVERBS_DEVICES=...] %s DIR\n", argv[0]);
		return 2;
	}
	if (desc_load(&d, getenv("SIMVERBS_DEVICES")))
		return 2;
	return sysfs_write(argv[1], &d) ? 1 : 0;
}
