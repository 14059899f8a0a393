// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The way between a NIC and GPUs, where the attributes of every device and port on it hold
 * anything: each line is the content of the next file, config spaces take what is left. The tree is
 * a fixed one: hwloc's reading of XML is hwloc's.
 */
#include <fcntl.h>
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fuzz.h"
#include "host/path.h"
#include "host/pci.h"
#include "memory/gpu.h"

#define ONE_NODE "cpuset=\"0x1\" complete_cpuset=\"0x1\" nodeset=\"0x1\" complete_nodeset=\"0x1\""
#define PCI(address, type) \
	"pci_busid=\"" address "\" pci_type=\"" type "\" pci_link_speed=\"15.75\""
#define PORT(id, address, depth)                                                         \
	"<object type=\"Bridge\" gp_index=\"" id "\" bridge_type=\"1-1\" depth=\"" depth \
	"\" bridge_pci=\"0000:[41-45]\" " PCI(address, "0604 [1000:c030] [1000:100b] b0") ">"
#define DEVICE(id, address, type) \
	"<object type=\"PCIDev\" gp_index=\"" id "\" " PCI(address, type) "/>"
#define NIC_TYPE "0207 [15b3:1021] [15b3:0023] 00"
#define GPU_TYPE "0302 [10de:2330] [10de:16c1] a1"

/* clang-format off */
static const char xml[] =
	"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
	"<!DOCTYPE topology SYSTEM \"hwloc2.dtd\">\n"
	"<topology version=\"2.0\">\n"
	"<object type=\"Machine\" os_index=\"0\" gp_index=\"1\" " ONE_NODE
		" allowed_cpuset=\"0x1\" allowed_nodeset=\"0x1\">"
	"<object type=\"NUMANode\" os_index=\"0\" gp_index=\"2\" " ONE_NODE "/>"
	"<object type=\"PU\" os_index=\"0\" gp_index=\"3\" " ONE_NODE "/>"
	"<object type=\"Bridge\" gp_index=\"4\" bridge_type=\"0-1\" depth=\"0\""
		" bridge_pci=\"0000:[41-45]\">"
	PORT("5", "0000:40:01.0", "1")
		PORT("6", "0000:42:00.0", "2")
			PORT("7", "0000:43:00.0", "3") DEVICE("8", "0000:41:00.0", NIC_TYPE) "</object>"
			PORT("9", "0000:43:01.0", "3") DEVICE("10", "0000:45:00.0", GPU_TYPE) "</object>"
		"</object>"
	"</object>"
	PORT("11", "0000:40:02.0", "1") DEVICE("12", "0000:44:00.0", GPU_TYPE) "</object>"
	"</object></object></topology>\n";
/* clang-format on */

static const char *const devices[] = {
	"0000:40:01.0", "0000:42:00.0", "0000:43:00.0", "0000:41:00.0", "0000:43:01.0",
	"0000:45:00.0", "0000:40:02.0", "0000:44:00.0", "0000:99:00.0", /* not in the tree */
};

static const char *const files[] = {
	"current_link_speed", "max_link_speed",   "current_link_width",
	"max_link_width",     "iommu_group/type",
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define BUS          "bus/pci/devices/"

static char root[128];
static struct path_tree *tree;

static const char *in_root(const char *fmt, const char *device, const char *file)
{
	static char path[512];
	size_t used = (size_t)snprintf(path, sizeof(path), "%s/", root);

	snprintf(path + used, sizeof(path) - used, fmt, device, file);
	return path;
}

static void write_file(const char *path, const void *content, size_t size)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);

	if (fd < 0 || write(fd, content, size) != (ssize_t)size)
		abort();
	close(fd);
}

/* The directory is the runner's (TMPDIR), which removes it. */
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	static const char *const above[] = {"bus", "bus/pci", "bus/pci/devices"};
	struct fault f = {.code = FAULT_NONE};
	const char *tmp = getenv("TMPDIR");

	(void)argc;
	(void)argv;
	snprintf(root, sizeof(root), "%s/path-XXXXXX", tmp ? tmp : "/dev/shm");
	if (!mkdtemp(root))
		abort();
	for (size_t i = 0; i < COUNT(above); i++)
		if (mkdir(in_root("%s%s", above[i], ""), 0700))
			abort();
	for (size_t i = 0; i < COUNT(devices); i++)
		if (mkdir(in_root(BUS "%s%s", devices[i], ""), 0700) ||
		    mkdir(in_root(BUS "%s/%s", devices[i], "iommu_group"), 0700))
			abort();
	write_file(in_root("%s%s", "topology.xml", ""), xml, sizeof(xml) - 1);
	setenv("HWLOC_XMLFILE", in_root("%s%s", "topology.xml", ""), 1);
	setenv("RDMARK_SYSFS", root, 1);
	if (path_open(&tree, &f))
		abort();
	return 0;
}

static void check_link(const struct pci_link *l)
{
	char text[64];

	FUZZ_CHECK(strnlen(l->pci, sizeof(l->pci)) < sizeof(l->pci));
	FUZZ_CHECK(isfinite(l->gts) && l->gts >= 0 && l->width <= PCI_MAX_LANES);
	FUZZ_CHECK(isfinite(l->max_gts) && l->max_gts >= 0 && l->max_width <= PCI_MAX_LANES);
	FUZZ_CHECK(!l->pci[0] || (l->gts > 0 && l->width));
	pci_link_format(l, text, sizeof(text));
	FUZZ_CHECK(strlen(text) < sizeof(text) - 1);
}

static void check_path(const struct path *p, enum path_class class)
{
	FUZZ_CHECK(p->class == class);
	check_link(&p->nic);
	check_link(&p->gpu);
	check_link(&p->down);
	FUZZ_CHECK(p->trained_down == (pci_link_share(&p->down) < 1));
	FUZZ_CHECK(strnlen(p->iommu, sizeof(p->iommu)) < sizeof(p->iommu));
	FUZZ_CHECK(p->payload_bytes >= 128 && p->payload_bytes <= 4096);
	FUZZ_CHECK(p->ceiling_write_gbps >= 0 && p->ceiling_write_gbps <= p->ceiling_read_gbps);
	FUZZ_CHECK(p->ceiling_read_gbps < 32 * 1024.0);
	for (int i = 0; i < 2; i++) {
		const struct pci_link *l = i ? &p->nic : &p->gpu;

		FUZZ_CHECK(!l->pci[0] ||
			   p->ceiling_write_gbps <= pci_link_gbps(l, p->payload_bytes, false));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const gpu[] = {"0000:45:00.0", "0000:44:00.0", "0000:99:00.0", ""};
	static const enum path_class class[] = {PATH_PIX, PATH_PHB, PATH_UNKNOWN, PATH_UNKNOWN};
	struct fuzz_input in = {data, size};
	struct gpu_info list[COUNT(gpu)] = {0};
	struct path p;

	for (size_t i = 0; i < COUNT(devices); i++) {
		for (size_t k = 0; k < COUNT(files); k++) {
			char *content = fuzz_text(&in, '\n');

			write_file(in_root(BUS "%s/%s", devices[i], files[k]), content,
				   strlen(content));
			free(content);
		}
	}
	write_file(in_root(BUS "%s/%s", "0000:41:00.0", "config"), in.at, in.left);
	write_file(in_root(BUS "%s/%s", "0000:45:00.0", "config"), in.at, in.left / 2);
	for (size_t i = 0; i < COUNT(gpu); i++) {
		path_find(tree, "0000:41:00.0", gpu[i], &p);
		check_path(&p, class[i]);
		list[i].index = (int)i;
		strcpy(list[i].pci, gpu[i]);
	}
	gpu_sort(list, COUNT(gpu), tree, "0000:41:00.0", &(struct fault){0});
	FUZZ_CHECK(list[0].index == 0 && list[1].index == 1);
	FUZZ_CHECK(list[2].index + list[3].index == 5);
	return 0;
}
