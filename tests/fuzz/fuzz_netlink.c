// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What netlink answers about a network interface: PFC, and the priority of packets. */
#include "fuzz.h"
#include "host/dcb.h"

/* Nothing of it is there. */
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	return setenv("RDMARK_SYSFS", "/nowhere", 1);
}

static void check_pfc(const struct dcb_pfc *pfc, int rc)
{
	const struct priority_packets p = {.gid_index = 3, .tos = 104, .sl = 3};
	bool some = false;
	int is;

	FUZZ_CHECK(rc <= 0 && rc > -4096);
	for (int i = 0; i < DCB_DSCPS; i++) {
		FUZZ_CHECK(pfc->dscp[i] < DCB_PRIORITIES);
		some |= pfc->dscp[i] >= 0;
	}
	FUZZ_CHECK(pfc->has_dscp || !some);
	is = priority_of(&p, "class/infiniband/mlx5_0/ports/1", "eth0", pfc);
	FUZZ_CHECK(is >= -1 && is < DCB_PRIORITIES);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	void *copy = malloc(size ? size : 1); /* as many bytes as there are, so that ASan sees more */
	struct dcb_pfc pfc;

	memcpy(copy, data, size);
	check_pfc(&pfc, dcb_parse_pfc(&pfc, copy, size));
	free(copy);
	return 0;
}
