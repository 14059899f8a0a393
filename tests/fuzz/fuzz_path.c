// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The way between a NIC and GPUs, where the attributes of every device and port on it hold
 * anything: each line is the content of the next file, config spaces take what is left. The tree is
 * a fixed one.
 */
#include <fcntl.h>
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fuzz.h"
#include "host/path.h"
#include "host/pci.h"

/* Each below its host bridge and ports. */
static const char *const devices[][2] = {
	{"0000:40:01.0", "0000:40:01.0"},
	{"0000:42:00.0", "0000:40:01.0/0000:42:00.0"},
	{"0000:43:00.0", "0000:40:01.0/0000:42:00.0/0000:43:00.0"},
	{"0000:41:00.0", "0000:40:01.0/0000:42:00.0/0000:43:00.0/0000:41:00.0"},
	{"0000:43:01.0", "0000:40:01.0/0000:42:00.0/0000:43:01.0"},
	{"0000:45:00.0", "0000:40:01.0/0000:42:00.0/0000:43:01.0/0000:45:00.0"},
	{"0000:40:02.0", "0000:40:02.0"},
	{"0000:44:00.0", "0000:40:02.0/0000:44:00.0"},
	{"0000:99:00.0", "../0000:99:00.0"}, /* below no bridge */
};

static const char *const files[] = {
	"current_link_speed", "max_link_speed",   "current_link_width",
	"max_link_width",     "iommu_group/type",
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define BUS          "bus/pci/devices/"
#define BRIDGE       "devices/pci0000:40"

static char root[128];

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
	static const char *const above[] = {"bus", "bus/pci", "bus/pci/devices", "devices",
					    BRIDGE};
	char target[256];
	const char *tmp = getenv("TMPDIR");

	(void)argc;
	(void)argv;
	snprintf(root, sizeof(root), "%s/path-XXXXXX", tmp ? tmp : "/dev/shm");
	if (!mkdtemp(root))
		abort();
	for (size_t i = 0; i < COUNT(above); i++)
		if (mkdir(in_root("%s%s", above[i], ""), 0700))
			abort();
	for (size_t i = 0; i < COUNT(devices); i++) {
		snprintf(target, sizeof(target), "../../../" BRIDGE "/%s", devices[i][1]);
		if (mkdir(in_root(BRIDGE "/%s%s", devices[i][1], ""), 0700) ||
		    symlink(target, in_root(BUS "%s%s", devices[i][0], "")) ||
		    mkdir(in_root(BUS "%s/%s", devices[i][0], "iommu_group"), 0700))
			abort();
	}
	setenv("RDMARK_SYSFS", root, 1);
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

			write_file(in_root(BUS "%s/%s", devices[i][0], files[k]), content,
				   strlen(content));
			free(content);
		}
	}
	write_file(in_root(BUS "%s/%s", "0000:41:00.0", "config"), in.at, in.left);
	write_file(in_root(BUS "%s/%s", "0000:45:00.0", "config"), in.at, in.left / 2);
	for (size_t i = 0; i < COUNT(gpu); i++) {
		path_find("0000:41:00.0", gpu[i], &p);
		check_path(&p, class[i]);
		list[i].index = (int)i;
		strcpy(list[i].pci, gpu[i]);
	}
	path_sort("0000:41:00.0", list, COUNT(gpu), &(struct fault){0});
	FUZZ_CHECK(list[0].index == 0 && list[1].index == 1);
	FUZZ_CHECK(list[2].index + list[3].index == 5);
	return 0;
}
