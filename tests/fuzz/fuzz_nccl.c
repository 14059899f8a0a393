// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * NCCL's variables for a host of anything: the environment's values, the interfaces' addresses, the
 * ports' names and states come from the input.
 */
#include <fcntl.h>
#include <unistd.h>

#include "../lib/interfaces.c"
#include "explain/nccl.h"
#include "fuzz.h"
#include "verbs/hca.h"

#define PORTS 6
#define GIDS  3

static char root[64], file[96];

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	const char *in = getenv("TMPDIR");

	(void)argc;
	(void)argv;
	snprintf(root, sizeof(root), "%.40s/nccl-XXXXXX", in ? in : "/tmp");
	if (!mkdtemp(root))
		return -1;
	snprintf(file, sizeof(file), "%s/addresses", root);
	return setenv("RDMARK_SYSFS", root, 1);
}

static void fill(struct fuzz_input *in, char *to, size_t size)
{
	char *text = fuzz_text(in, '\n');

	snprintf(to, size, "%s", text);
	free(text);
}

static void fill_port(struct fuzz_input *in, struct hca_port *p, struct gid *gids)
{
	uint8_t bits = fuzz_u8(in);

	fill(in, p->device, sizeof(p->device));
	fill(in, p->netdev, sizeof(p->netdev));
	p->port = fuzz_u8(in);
	p->fabric = bits & 2 ? FABRIC_IWARP : bits & 1 ? FABRIC_ROCE : FABRIC_INFINIBAND;
	p->open_errno = bits & 4 ? 13 : 0;
	p->place.numa_node = bits & 8 ? 0 : -1;
	fuzz_bytes(in, &p->port_attr.active_speed, 2);
	p->port_attr.state = fuzz_u8(in) % 6;
	p->attr.vendor_id = 0x02c9;
	p->attr.vendor_part_id = fuzz_u8(in);
	p->gids = gids;
	p->gid_count = bits >> 6;
	for (size_t i = 0; i < p->gid_count; i++) {
		fuzz_bytes(in, &gids[i].raw, sizeof(gids[i].raw));
		gids[i].index = fuzz_u8(in);
		gids[i].kind = fuzz_u8(in) % GID_KINDS;
	}
}

static void write_addresses(struct fuzz_input *in)
{
	int fd = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (fd < 0 || write(fd, in->at, in->left) != (ssize_t)in->left || close(fd))
		abort();
}

/* The environment as the input has it; an empty line: it is not set. */
static void fill_environment(struct fuzz_input *in)
{
	for (unsigned i = 0; i < NCCL_VARIABLES; i++) {
		char *text = fuzz_text(in, '\n');

		if (!*text)
			unsetenv(nccl_name(i));
		else if (setenv(nccl_name(i), text, 1))
			abort();
		free(text);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct gpus gpus;
	struct fuzz_input in = {data, size};
	struct hca_port port[PORTS] = {0};
	struct gid gids[PORTS][GIDS + 1] = {0};
	const struct hca_list list = {port, fuzz_u8(&in) % (PORTS + 1)};
	struct nccl_variable got[NCCL_VARIABLES];
	struct nccl_facts x;
	size_t n;

	fill_environment(&in);
	memset(&gpus, 0, sizeof(gpus));
	gpus.nvidia.gpus = fuzz_u8(&in) % (NVIDIA_MAX + 1);
	for (size_t i = 0; i < list.count; i++) {
		fill_port(&in, &port[i], gids[i]);
		for (unsigned g = 0; g < gpus.nvidia.gpus; g++)
			gpus.class[g][i] = fuzz_u8(&in) % (PATH_UNKNOWN + 1);
	}
	write_addresses(&in);
	if (nccl_facts_read(&x, &list, &gpus, &(struct fault){0}))
		return 0;
	n = nccl_variables(&x, got);
	FUZZ_CHECK(n <= NCCL_VARIABLES);
	for (size_t i = 0; i < n; i++) {
		json_t *d = nccl_to_json(&got[i]);

		FUZZ_CHECK(d && *got[i].name && got[i].value[0] && got[i].reason[0]);
		FUZZ_CHECK(strnlen(got[i].value, sizeof(got[i].value)) < sizeof(got[i].value));
		FUZZ_CHECK(strnlen(got[i].reason, sizeof(got[i].reason)) < sizeof(got[i].reason));
		json_decref(d);
	}
	return 0;
}
