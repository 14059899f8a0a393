// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Numbers with units, and sysfs: attribute files that hold anything, and trees in which a NIC may
 * be anywhere. The first byte says which; for a tree, each line is the content of the next file or
 * the target of the next link.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/units.h"
#include "fuzz.h"
#include "host/sysfs.h"
#include "host/topo.h"

/* Only these are written, so nothing outside the tree is. */
static const char *const directories[] = {
	"class",
	"class/infiniband",
	"class/infiniband/a",
	"class/infiniband/b",
	"class/net",
	"class/net/eth0",
	"devices",
	"devices/pci0000:40",
	"devices/pci0000:40/0000:41:00.0",
	"devices/pci0000:40/0000:41:00.0/virtio1",
	"devices/system",
	"devices/system/node",
};

static const char *const links[] = {
	"class/infiniband/a/device",
	"class/net/eth0/device",
	"class/infiniband/c",
};

static const char *const files[] = {
	"devices/pci0000:40/0000:41:00.0/numa_node",
	"devices/pci0000:40/0000:41:00.0/current_link_speed",
	"devices/pci0000:40/0000:41:00.0/max_link_speed",
	"devices/pci0000:40/0000:41:00.0/current_link_width",
	"devices/pci0000:40/0000:41:00.0/max_link_width",
	"devices/pci0000:40/0000:41:00.0/virtio1/numa_node",
	"devices/system/node/online",
	"class/infiniband/b/parent",
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static char root[128];
static int root_fd;

static void remove_tree(void)
{
	for (size_t i = 0; i < COUNT(files); i++)
		unlinkat(root_fd, files[i], 0);
	for (size_t i = 0; i < COUNT(links); i++)
		unlinkat(root_fd, links[i], 0);
	unlinkat(root_fd, "attribute", 0);
	for (size_t i = COUNT(directories); i--;)
		unlinkat(root_fd, directories[i], AT_REMOVEDIR);
	rmdir(root);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	const char *tmp = getenv("TMPDIR");

	(void)argc;
	(void)argv;
	snprintf(root, sizeof(root), "%s/tree-XXXXXX", tmp ? tmp : "/dev/shm");
	if (!mkdtemp(root))
		abort();
	root_fd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	for (size_t i = 0; i < COUNT(directories); i++)
		if (mkdirat(root_fd, directories[i], 0700))
			abort();
	setenv("RDMARK_SYSFS", root, 1);
	unsetenv("HWLOC_XMLFILE");
	atexit(remove_tree);
	return 0;
}

static void write_file(const char *name, const void *content, size_t size)
{
	int fd = openat(root_fd, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);

	if (fd < 0 || write(fd, content, size) != (ssize_t)size)
		abort();
	close(fd);
}

static void try_number(int (*parse)(const char *text, uint64_t *value), const char *text)
{
	uint64_t v = 4711, zero = 0;
	char buf[64];
	int rc = parse(text, &v);

	FUZZ_CHECK(rc == 0 || rc == -EINVAL || rc == -ERANGE);
	FUZZ_CHECK(rc == 0 || v == 4711);
	FUZZ_CHECK(rc || text[0] == '.' || (text[0] >= '0' && text[0] <= '9'));
	if (rc)
		return;
	FUZZ_CHECK(strlen(units_size(v).text) >= 3 && strlen(units_size(v).text) < 31);
	FUZZ_CHECK(strlen(units_ns(v).text) >= 3 && strlen(units_ns(v).text) < 31);
	snprintf(buf, sizeof(buf), "%llu", (unsigned long long)v);
	FUZZ_CHECK(units_parse_u64(buf, &zero) == 0 && zero == v);
}

static void try_units(struct fuzz_input *in)
{
	char *text = fuzz_text(in, '\0');

	try_number(units_parse_u64, text);
	try_number(units_parse_size, text);
	try_number(units_parse_seconds, text);
	free(text);
}

static void check_line(const char *text, size_t size)
{
	size_t n = strnlen(text, size);

	FUZZ_CHECK(n < size);
	for (size_t i = 0; i < n; i++)
		FUZZ_CHECK(text[i] >= ' ' && text[i] <= '~');
}

static void try_attribute(struct fuzz_input *in)
{
	size_t room = 1 + fuzz_u8(in);
	char *buf = malloc(room), list[128];
	struct sysfs_set set;
	int64_t v = 4711;
	int rc;

	if (!buf)
		abort();
	write_file("attribute", in->at, in->left);
	FUZZ_CHECK(sysfs_read(buf, room, "%s", "attribute") == 0);
	check_line(buf, room);
	rc = sysfs_read_int(&v, "attribute");
	FUZZ_CHECK(rc == 0 || v == 4711);
	rc = sysfs_read_set(&set, "attribute");
	FUZZ_CHECK(rc == 0 || sysfs_set_count(&set) == 0);
	sysfs_set_format(&set, list, sizeof(list));
	FUZZ_CHECK(strlen(list) < sizeof(list));
	if (!rc && !strstr(list, "…")) {
		struct sysfs_set again;

		write_file("attribute", list, strlen(list));
		FUZZ_CHECK(sysfs_read_set(&again, "attribute") == 0);
		FUZZ_CHECK(memcmp(&set, &again, sizeof(set)) == 0);
	}
	sysfs_set_format(&set, buf, room);
	FUZZ_CHECK(strnlen(buf, room) < room);
	free(buf);
}

static void check_place(const struct topo_place *place)
{
	char text[96];

	check_line(place->pci, sizeof(place->pci));
	FUZZ_CHECK(place->numa_node >= -1);
	FUZZ_CHECK(place->link.gts >= 0 && place->link.max_gts >= 0);
	topo_format_link(place, text, sizeof(text));
	check_line(text, sizeof(text));
}

static void try_tree(struct fuzz_input *in)
{
	static const char *const devices[] = {"a", "b", "c", "..", "", "a/../b"};
	struct topo_place place;

	for (size_t i = 0; i < COUNT(links); i++) {
		char *target = fuzz_text(in, '\n');

		unlinkat(root_fd, links[i], 0);
		if (target[0] && strlen(target) < 4000 && symlinkat(target, root_fd, links[i]))
			abort();
		free(target);
	}
	for (size_t i = 0; i < COUNT(files); i++) {
		char *content = fuzz_text(in, '\n');

		if (content[0])
			write_file(files[i], content, strlen(content));
		else
			unlinkat(root_fd, files[i], 0);
		free(content);
	}
	for (size_t i = 0; i < COUNT(devices); i++) {
		topo_locate(devices[i], &place);
		check_place(&place);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = {data, size};

	switch (fuzz_u8(&in) % 4) {
	case 0:
	case 1:
		try_units(&in);
		break;
	case 2:
		try_attribute(&in);
		break;
	default:
		try_tree(&in);
	}
	return 0;
}
