// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The answers about a network interface: the input as netlink's about PFC; and as the record of
 * that and of its statistics in a tree that is made up.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fuzz.h"
#include "host/dcb.h"
#include "host/ethtool.h"

static char root[64];

static const char *in_root(const char *file)
{
	static char path[160];

	snprintf(path, sizeof(path), "%s/%s", root, file);
	return path;
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	const char *in = getenv("TMPDIR");

	(void)argc;
	(void)argv;
	snprintf(root, sizeof(root), "%.40s/netlink-XXXXXX", in ? in : "/tmp");
	if (!mkdtemp(root) || mkdir(in_root("dcb"), 0700) || mkdir(in_root("ethtool"), 0700))
		return -1;
	return setenv("RDMARK_SYSFS", root, 1);
}

static void write_file(const char *file, const uint8_t *data, size_t size)
{
	int fd = open(in_root(file), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (fd < 0 || write(fd, data, size) != (ssize_t)size || close(fd))
		abort();
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
	static const char *const names[] = {"rx_prio3_pause", "tx_prio3_pause", "rx_discards_phy", ""};
	uint64_t value[sizeof(names) / sizeof(names[0])] = {0};
	void *copy = malloc(size ? size : 1); /* as many bytes as there are, so that ASan sees more */
	struct ethtool e;
	struct dcb_pfc pfc;
	int rc;

	memcpy(copy, data, size);
	check_pfc(&pfc, dcb_parse_pfc(&pfc, copy, size));
	free(copy);
	write_file("dcb/eth0", data, size);
	write_file("ethtool/eth0", data, size);
	check_pfc(&pfc, dcb_read_pfc(&pfc, "eth0"));
	if (ethtool_find(&e, "eth0", names, sizeof(names) / sizeof(names[0])) == 0) {
		for (size_t i = 0; i < e.names; i++)
			FUZZ_CHECK(e.at[i] == ETHTOOL_ABSENT || e.at[i] < e.statistics);
		FUZZ_CHECK(ethtool_read(&e, value) == 0);
		write_file("ethtool/eth0", data, size / 2);
		rc = ethtool_read(&e, value);
		FUZZ_CHECK(rc == 0 || rc == -ESTALE);
	}
	return 0;
}
