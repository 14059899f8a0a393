// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* path: NICs and GPUs in the machines of tests/standin/topologies. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>

#include "machine.h"
#include "memory/gpu.h"
#include "nomem.h"

static void every_class(void **state)
{
	static const struct {
		const char *name, *words;
		enum path_class class;
	} row[] = {
		{"pix", "PIX", PATH_PIX},
		{"pxb", "PXB", PATH_PXB},
		{"phb", "PHB", PATH_PHB},
		{"uneven", "PHB", PATH_PHB},
		{"node", "NODE", PATH_NODE},
		{"sys", "SYS", PATH_SYS},
		{"memory-node", "NODE", PATH_NODE},
		{"memory-socket", "NODE", PATH_NODE},
		{"everywhere", "unknown", PATH_UNKNOWN},
		{"gpu-x4", "PIX", PATH_PIX},
		{"slow-riser", "PHB", PATH_PHB},
		{"virtual", "PHB", PATH_PHB}, /* last: its name stays */
	};
	struct path p;

	for (size_t i = 0; i < COUNT(row); i++) {
		machine_use(state, row[i].name);
		machine_find(NIC, GPU, &p);
		assert_string_equal(path_row(p.class)->name, row[i].words);
		assert_int_equal(p.class, row[i].class);
		assert_int_equal(p.virtual_machine, strcmp(row[i].name, "virtual") == 0);
		machine_find(GPU, NIC, &p);
		assert_int_equal(p.class, row[i].class);
	}
}

static void memory_that_is_everybodys(void **state)
{
	struct path p;

	machine_use(state, "memory-node");
	machine_find(NIC, "0000:c1:00.0", &p);
	assert_int_equal(p.class, PATH_SYS);
}

/* The GPUs at the addresses PCI, nearest first, have these indexes into it. */
static void expect_order(const struct path_tree *t, const char *const *pci, const int *order,
			 size_t count)
{
	struct gpu_info *list = calloc(count, sizeof(*list));
	struct fault f = {.code = FAULT_NONE};

	assert_non_null(list);
	for (size_t i = 0; i < count; i++) {
		list[i].index = (int)i;
		strcpy(list[i].pci, pci[i]);
	}
	assert_int_equal(gpu_sort(list, count, t, NIC, &f), 0);
	for (size_t i = 0; i < count; i++)
		assert_int_equal(list[i].index, order[i]);
	free(list);
}

static void each_gpu_of_many(void **state)
{
	static const char *const gpu[] = {"0000:c1:00.0", "0000:4a:00.0", "0000:49:00.0",
					  "0000:99:00.0", "0000:48:00.0", "0000:45:00.0",
					  "0000:81:00.0"};
	static const enum path_class class[] = {PATH_SYS, PATH_PIX, PATH_PHB, PATH_UNKNOWN,
						PATH_PXB, PATH_PIX, PATH_NODE};
	static const int order[] = {5, 1, 4, 2, 6, 0, 3};
	struct fault f = {.code = FAULT_NONE};
	struct path_tree *t;
	struct path p;

	machine_use(state, "many");
	assert_int_equal(path_open(&t, &f), 0);
	for (size_t i = 0; i < COUNT(gpu); i++) {
		path_find(t, NIC, gpu[i], &p);
		assert_int_equal(p.class, class[i]);
	}
	expect_order(t, gpu, order, COUNT(gpu));
	assert_int_equal(gpu_sort(NULL, 0, t, NIC, &f), 0);
	path_close(t);
}

/* Else the first one would be taken for the nearest. */
static void ranks_need_memory(void **state)
{
	struct gpu_info list[2] = {{.index = 0}, {.index = 1}};
	struct fault f = {.code = FAULT_NONE};
	struct path_tree *t;

	if (!NOMEM)
		skip();
	machine_use(state, "many");
	assert_int_equal(path_open(&t, &f), 0);
	nomem_from(1, false);
	assert_int_equal(gpu_sort(list, 2, t, NIC, &f), -1);
	nomem_from(0, false);
	assert_int_equal(f.errnum, ENOMEM);
	path_close(t);
}

static void equals_rank_as_given(void **state)
{
	static const char *const gpu[] = {"0000:49:00.0", "0000:45:00.0", GPU, "0000:45:00.0"};
	static const int order[] = {1, 2, 3, 0};
	struct fault f = {.code = FAULT_NONE};
	struct path_tree *t;
	struct path p;

	machine_use(state, "phb");
	assert_int_equal(path_open(&t, &f), 0);
	expect_order(t, gpu, order, COUNT(gpu));
	path_find(t, NIC, NIC, &p); /* functions of one device are as near as can be */
	assert_int_equal(p.class, PATH_PIX);
	assert_string_equal(p.nic.pci, "");
	path_close(t);
}

static void healthy_links(void **state)
{
	struct path p;

	machine_use(state, "pxb");
	machine_find(NIC, GPU, &p);
	expect_link(&p.nic, "gen5 x16 at " NIC);
	expect_link(&p.gpu, "gen5 x16 at " GPU);
	assert_false(p.trained_down);
	expect_link(&p.down, "");
	assert_int_equal(p.payload_bytes, 256);
	assert_true(p.payload_assumed);
	expect_gbps(p.ceiling_write_gbps, 460.9);
	expect_gbps(p.ceiling_read_gbps, 467.6);
}

/* DEVICE's config space, as root sees it, with MaxPayload 128 << CODE. */
static void put_payload(void **state, const char *device, unsigned code)
{
	char path[128];
	uint8_t config[256] = {[0x06] = 0x10, [0x34] = 0x40, [0x40] = 0x10};

	config[0x48] = (uint8_t)(code << 5);
	snprintf(path, sizeof(path), "sys/bus/pci/devices/%s/config", device);
	tree_write(state, path, config, sizeof(config));
}

static void root_knows_the_payload(void **state)
{
	struct path p;

	machine_use(state, "pix");
	put_payload(state, NIC, 2);
	machine_find(NIC, GPU, &p);
	assert_int_equal(p.payload_bytes, 256);
	assert_true(p.payload_assumed);
	put_payload(state, GPU, 3);
	machine_find(NIC, GPU, &p);
	assert_int_equal(p.payload_bytes, 512);
	assert_false(p.payload_assumed);
	expect_gbps(p.ceiling_write_gbps, 481.6);
	put_payload(state, GPU, 0);
	machine_find(NIC, GPU, &p);
	assert_int_equal(p.payload_bytes, 128);
	expect_gbps(p.ceiling_write_gbps, 424.5);
	put_payload(state, NIC, 7); /* reserved */
	machine_find(NIC, GPU, &p);
	assert_int_equal(p.payload_bytes, 128);
	assert_true(p.payload_assumed);
}

static void a_nic_at_half_speed(void **state)
{
	struct path p;

	machine_use(state, "nic-half-speed");
	machine_find(NIC, GPU, &p);
	expect_link(&p.nic, "gen4 x16 at " NIC);
	expect_link(&p.gpu, "gen5 x16 at " GPU);
	assert_true(p.trained_down);
	expect_link(&p.down, "gen4 x16 at " NIC);
	assert_true(p.down.max_gts == 32 && p.down.max_width == 16);
	expect_gbps(p.ceiling_write_gbps, 230.5);
}

static void a_gpu_at_four_lanes(void **state)
{
	struct path p;

	machine_use(state, "gpu-x4");
	machine_find(NIC, GPU, &p);
	expect_link(&p.nic, "gen5 x16 at " NIC);
	expect_link(&p.gpu, "gen5 x4 at " GPU);
	assert_true(p.trained_down);
	expect_link(&p.down, "gen5 x4 at " GPU);
	expect_gbps(p.ceiling_write_gbps, 115.2);
}

static void a_riser_counts_but_is_not_trained_down(void **state)
{
	struct path p;

	machine_use(state, "slow-riser");
	machine_find(NIC, GPU, &p);
	expect_link(&p.nic, "gen5 x16 at " NIC);
	expect_link(&p.gpu, "gen3 x4 at 0000:43:00.0");
	assert_false(p.trained_down);
	expect_gbps(p.ceiling_write_gbps, 28.8);
}

static void a_slow_slot_is_no_bad_training(void **state)
{
	struct path p;

	machine_use(state, "phb");
	tree_put(state, "sys/bus/pci/devices/" NIC "/current_link_speed", "16.0 GT/s PCIe\n");
	tree_put(state, "sys/bus/pci/devices/0000:40:01.0/max_link_speed", "16.0 GT/s PCIe\n");
	machine_find(NIC, GPU, &p);
	expect_link(&p.nic, "gen4 x16 at " NIC);
	assert_false(p.trained_down);
	tree_put(state, "sys/bus/pci/devices/0000:40:01.0/max_link_speed", "Unknown\n");
	machine_find(NIC, GPU, &p);
	assert_false(p.trained_down);
}

static void the_worst_of_two_is_named(void **state)
{
	struct path p;

	machine_use(state, "nic-half-speed");
	tree_put(state, "sys/bus/pci/devices/" GPU "/current_link_width", "1\n");
	machine_find(NIC, GPU, &p);
	expect_link(&p.down, "gen5 x1 at " GPU);
	tree_put(state, "sys/bus/pci/devices/" NIC "/current_link_width", "1\n");
	tree_put(state, "sys/bus/pci/devices/" GPU "/current_link_width", "2\n");
	machine_find(NIC, GPU, &p);
	expect_link(&p.down, "gen4 x1 at " NIC);
}

/* A link above the meeting point is not on the way. */
static void the_link_above_the_switch_does_not_count(void **state)
{
	struct path p;

	machine_use(state, "pix");
	tree_put(state, "sys/bus/pci/devices/0000:3d:00.0/current_link_width", "1\n");
	machine_find(NIC, GPU, &p);
	expect_link(&p.nic, "gen5 x16 at " NIC);
	assert_false(p.trained_down);
}

static void the_other_end_knows_it_too(void **state)
{
	struct path p;

	machine_use(state, "phb");
	tree_put(state, "sys/bus/pci/devices/" NIC "/current_link_speed", "Unknown\n");
	tree_put(state, "sys/bus/pci/devices/0000:40:01.0/current_link_speed", "8.0 GT/s PCIe\n");
	machine_find(NIC, GPU, &p);
	expect_link(&p.nic, "gen3 x16 at " NIC);
	assert_true(p.trained_down);
}

static void the_iommu_is_the_nics(void **state)
{
	struct path p;

	machine_use(state, "iommu");
	machine_find(NIC, GPU, &p);
	assert_string_equal(p.iommu, "DMA-FQ");
	assert_true(p.iommu_translates);
	tree_put(state, "sys/bus/pci/devices/" NIC "/iommu_group/type", "DMA\n");
	machine_find(NIC, GPU, &p);
	assert_true(p.iommu_translates);
	tree_put(state, "sys/bus/pci/devices/" NIC "/iommu_group/type", "identity\n");
	machine_find(NIC, GPU, &p);
	assert_string_equal(p.iommu, "identity");
	assert_false(p.iommu_translates);
	unlink(tree_path(state, "sys/bus/pci/devices/" NIC "/iommu_group/type"));
	machine_find(NIC, GPU, &p);
	assert_string_equal(p.iommu, "");
	rmdir(tree_path(state, "sys/bus/pci/devices/" NIC "/iommu_group"));
	machine_find(NIC, GPU, &p);
	assert_string_equal(p.iommu, "off");
	machine_find("0000:99:00.0", GPU, &p);
	assert_string_equal(p.iommu, "");
}

static void a_virtual_machine(void **state)
{
	struct path p;

	machine_use(state, "virtual");
	machine_find(NIC, GPU, &p);
	assert_true(p.virtual_machine);
	assert_string_equal(p.iommu, "off");
	/* On the root bus, a device's own word for its link has to do, without the other end's. */
	expect_link(&p.gpu, "gen5 x16 at " GPU);
	tree_put(state, "sys/bus/pci/devices/" GPU "/current_link_width", "8\n");
	machine_find(NIC, GPU, &p);
	expect_link(&p.gpu, "gen5 x8 at " GPU);
	assert_false(p.trained_down);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, tree_make, tree_remove)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(every_class),
		TEST(memory_that_is_everybodys),
		TEST(each_gpu_of_many),
		TEST(equals_rank_as_given),
		TEST(ranks_need_memory),
		TEST(healthy_links),
		TEST(root_knows_the_payload),
		TEST(a_nic_at_half_speed),
		TEST(a_gpu_at_four_lanes),
		TEST(a_riser_counts_but_is_not_trained_down),
		TEST(a_slow_slot_is_no_bad_training),
		TEST(the_worst_of_two_is_named),
		TEST(the_link_above_the_switch_does_not_count),
		TEST(the_other_end_knows_it_too),
		TEST(the_iommu_is_the_nics),
		TEST(a_virtual_machine),
	};

	return cmocka_run_group_tests_name("path", tests, NULL, NULL);
}
