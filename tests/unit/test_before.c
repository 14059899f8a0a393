// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* before: each rule, by facts that fire it alone and by facts that must not; and what is read. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "explain/before.h"
#include "interfaces.h"
#include "tree.h"
#include "verbs/hca.h"

/* A healthy InfiniBand port at 100 Gb/s in a gen4 x16 slot. */
struct world {
	struct host_facts host;
	struct hca_port port;
	struct port_facts x;
};

static struct world *healthy(void)
{
	static struct world w;

	memset(&w, 0, sizeof(w));
	w.host.nodes = 2;
	strcpy(w.port.device, "mlx5_0");
	w.port.port = 1;
	w.port.port_attr.state = IBV_PORT_ACTIVE;
	w.port.port_attr.active_mtu = w.port.port_attr.max_mtu = IBV_MTU_4096;
	w.port.port_attr.sm_lid = 1;
	w.port.port_attr.link_layer = IBV_LINK_LAYER_INFINIBAND;
	w.port.port_attr.active_speed = 32;
	w.port.port_attr.active_width = 2;
	w.port.place.numa_node = 1;
	w.port.gid_count = 1;
	w.x.port = &w.port;
	w.x.host = &w.host;
	w.x.link = (struct pci_link){"0000:41:00.0", 16, 16, 16, 16};
	w.x.own = w.x.upstream = (struct aer){.pci = "0000:41:00.0", .known = true};
	w.x.sibling_gbps = hca_rate_gbps(&w.port);
	w.x.cpus = 32;
	strcpy(w.x.iommu, "identity");
	return &w;
}

static void counter(struct world *w, const char *name, int64_t before, int64_t after)
{
	struct counter *k = &w->x.counter[w->x.counters++];

	snprintf(k->name, sizeof(k->name), "counters/%s", name);
	k->before = before;
	k->after = after;
}

/* CODE at LEVEL is found, alone; NULL: nothing is. */
static void finds(const struct world *w, const char *code, enum finding_level level)
{
	struct findings to = {.count = 0};

	explain_host(&w->host, &to);
	explain_port(&w->x, &to);
	if (!code) {
		if (to.count)
			fail_msg("found %s: %s", finding_name(to.list[0].is.code), to.list[0].text);
		return;
	}
	if (to.count != 1 || strcmp(finding_name(to.list[0].is.code), code) != 0 || to.list[0].is.level != level)
		fail_msg("%zu findings, the first is %s, level %d, in place of %s, level %d",
			 to.count, to.count ? finding_name(to.list[0].is.code) : "-",
			 to.count ? (int)to.list[0].is.level : -1, code, level);
	assert_true(to.list[0].text[0]);
}

static void nothing_wrong(void **state)
{
	(void)state;
	finds(healthy(), NULL, 0);
}

static void host_rules(void **state)
{
	struct world *w = healthy();

	(void)state;
	w->host.memlock_limited = true;
	w->host.memlock_bytes = 65536;
	finds(w, "memlock", FINDING_FAULT);
	w->host.memlock_bytes = UINT64_C(1) << 30;
	finds(w, "memlock", FINDING_WARN);
	w->host.memlock_limited = false; /* CAP_IPC_LOCK */
	finds(w, NULL, 0);
	w->host.cm_errnum = ENOENT;
	finds(w, "no_rdma_cm", FINDING_NOTE);
	w->host.cm_errnum = 0;
	w->host.virtual_machine = true;
	finds(w, "virtual_machine", FINDING_NOTE);
	w->x.link.width = 8; /* as the hypervisor has it */
	w->port.place.numa_node = -1;
	finds(w, "virtual_machine", FINDING_NOTE);
}

static void port_rules(void **state)
{
	struct world *w = healthy();

	(void)state;
	w->port.port_attr.state = IBV_PORT_INIT;
	finds(w, "port_not_active", FINDING_FAULT);
	w->port.port_attr.active_mtu = IBV_MTU_256; /* these are no findings then */
	w->x.sibling_gbps *= 4;
	w->port.port_attr.sm_lid = 0;
	finds(w, "port_not_active", FINDING_FAULT);
	w->x.unplugged = true;
	finds(w, "port_unplugged", FINDING_NOTE);
	w->x.named = true;
	finds(w, "port_not_active", FINDING_FAULT);
	w = healthy();
	w->port.port_attr.sm_lid = 0;
	finds(w, "no_subnet_manager", FINDING_WARN);
	w->port.port_attr.link_layer = IBV_LINK_LAYER_UNSPECIFIED; /* EFA */
	finds(w, NULL, 0);
	w->port.port_attr.link_layer = IBV_LINK_LAYER_ETHERNET;
	w->port.fabric = FABRIC_ROCE;
	finds(w, NULL, 0);
	w = healthy();
	w->port.open_errno = EACCES;
	w->port.port_attr.state = 0;
	finds(w, "cannot_open", FINDING_FAULT);
	w = healthy();
	w->x.sibling_gbps *= 2;
	finds(w, "link_below_siblings", FINDING_WARN);
	w->x.sibling_gbps = 0; /* none is up */
	finds(w, NULL, 0);
	w->port.port_attr.active_mtu = IBV_MTU_2048;
	finds(w, "mtu_below_maximum", FINDING_WARN);
	w->port.fabric = FABRIC_ROCE;
	strcpy(w->port.netdev, "eth0");
	w->x.netdev_mtu = 1500;
	finds(w, "mtu_below_maximum", FINDING_NOTE);
	w->port.fabric = FABRIC_IWARP; /* TCP has its own */
	finds(w, NULL, 0);
}

static void pfc_rules(void **state)
{
	struct world *w = healthy();

	(void)state;
	w->port.fabric = FABRIC_ROCE;
	strcpy(w->port.netdev, "eth0");
	finds(w, NULL, 0); /* it cannot be read */
	w->x.pfc_known = true;
	finds(w, "no_pfc", FINDING_NOTE);
	w->x.pfc.enabled = 8;
	finds(w, NULL, 0);
	w->x.pfc.enabled = 0;
	w->port.attr.vendor_id = 0xffffff; /* soft-RoCE */
	finds(w, NULL, 0);
	w->port.attr.vendor_id = 0;
	w->port.fabric = FABRIC_IWARP;
	finds(w, NULL, 0);
	w->port.fabric = FABRIC_INFINIBAND;
	finds(w, NULL, 0);
	w->x.no_pkey = true;
	finds(w, "no_pkey", FINDING_FAULT);
	w->x.no_pkey = false;
	w->port.fabric = FABRIC_ROCE;
	w->port.port_attr.state = IBV_PORT_DOWN;
	finds(w, "port_not_active", FINDING_FAULT);
	w->port.gid_count = 0;
	w->port.port_attr.state = IBV_PORT_ACTIVE;
	w->x.pfc.enabled = 8;
	finds(w, "no_gid", FINDING_FAULT);
	w->port.fabric = FABRIC_IWARP;
	finds(w, NULL, 0);
}

/* CODE is found, alone, about the GPUs, with TEXT in it; NULL: nothing is. */
static void finds_gpus(const struct gpus *g, const struct hca_list *list, const char *code,
		       const char *text)
{
	struct findings to = {.count = 0};

	explain_gpus(g, list, &to);
	assert_int_equal(to.count, code != NULL);
	if (!code)
		return;
	assert_string_equal(finding_name(to.list[0].is.code), code);
	assert_int_equal(to.list[0].is.level, FINDING_NOTE);
	if (!strstr(to.list[0].text, text))
		fail_msg("\"%s\" is not in: %s", text, to.list[0].text);
}

static void gpu_rules(void **state)
{
	static struct gpus g;
	struct hca_port port[2] = {healthy()->port, healthy()->port};
	struct hca_list list = {port, 2};

	(void)state;
	memset(&g, 0, sizeof(g));
	strcpy(port[1].device, "mlx5_1");
	g.nvidia.closed = true; /* loaded, and no GPU */
	finds_gpus(&g, &list, NULL, NULL);
	g.nvidia.gpus = 2;
	strcpy(g.nvidia.gpu[1], "0000:c1:00.0");
	g.class[0][0] = PATH_PIX;
	g.class[0][1] = PATH_SYS;
	g.class[1][0] = PATH_SYS;
	g.class[1][1] = PATH_PXB;
	finds_gpus(&g, &list, "no_gpu_route", "nvidia_peermem is not loaded");
	g.nvidia.peermem = true;
	finds_gpus(&g, &list, NULL, NULL);
	g.nvidia.peermem = g.nvidia.closed = false;
	finds_gpus(&g, &list, NULL, NULL);
	port[1].port_attr.state = IBV_PORT_DOWN;
	finds_gpus(&g, &list, "gpu_far",
		   "1 of the 2 GPUs is farther than PXB from every active "
		   "port: 0000:c1:00.0 and mlx5_0 are connected between two "
		   "NUMA nodes (SYS)");
	g.class[0][0] = PATH_PHB;
	finds_gpus(&g, &list, "gpu_far",
		   "all GPUs are farther than PXB from every active "
		   "port: 0000:c1:00.0");
	g.coherent = true;
	finds_gpus(&g, &list, NULL, NULL);
	g.coherent = false;
	port[0].attr.vendor_id = 0xffffff;
	finds_gpus(&g, &list, NULL, NULL);
	port[0].attr.vendor_id = 0;
	/* a port whose distance is not known may be near */
	port[1].port_attr.state = IBV_PORT_ACTIVE;
	g.class[0][1] = g.class[1][1] = PATH_UNKNOWN;
	finds_gpus(&g, &list, NULL, NULL);
	port[1].port_attr.state = IBV_PORT_DOWN;
	finds_gpus(&g, &list, "gpu_far", "all GPUs are farther than PXB");
	g.class[0][0] = g.class[1][0] = PATH_UNKNOWN;
	finds_gpus(&g, &list, NULL, NULL);
}

static void slot_rules(void **state)
{
	struct world *w = healthy();

	(void)state;
	w->x.link.width = 8; /* enough for 100 Gb/s, but not what it should be */
	finds(w, "pcie_trained_below", FINDING_FAULT);
	w->x.link.max_width = 8; /* a slot of eight lanes */
	finds(w, NULL, 0);
	w->x.link.gts = w->x.link.max_gts = 8;
	finds(w, "pcie_below_link", FINDING_WARN);
	w->x.link = (struct pci_link){"0000:41:00.0", 16, 16, 0, 0}; /* the other end is unknown */
	finds(w, NULL, 0);
	w->port.place.numa_node = -1;
	finds(w, "numa_unknown", FINDING_NOTE);
	w->host.nodes = 1;
	finds(w, NULL, 0);
	strcpy(w->x.iommu, "DMA-FQ");
	finds(w, "iommu_translates", FINDING_WARN);
	w->port.port_attr.active_speed = 16; /* 50 Gb/s */
	w->x.sibling_gbps = hca_rate_gbps(&w->port);
	finds(w, NULL, 0);
	w = healthy();
	w->x.own.correctable = 1;
	finds(w, "pcie_errors", FINDING_NOTE);
	w->x.own.known = false;
	finds(w, NULL, 0);
	w->x.upstream.fatal = 1;
	finds(w, "pcie_errors", FINDING_WARN);
	w = healthy();
	w->x.slow_cpus = 3;
	finds(w, "governor", FINDING_NOTE);
}

static void counter_rules(void **state)
{
	struct world *w = healthy();

	(void)state;
	counter(w, "symbol_error", 0, 0);
	counter(w, "link_downed", 0, 0);
	finds(w, NULL, 0);
	w = healthy();
	counter(w, "symbol_error", 7, 7);
	counter(w, "link_downed", 1, 1);
	finds(w, "errors_before", FINDING_NOTE);
	w = healthy();
	counter(w, "symbol_error", 7, 8);
	finds(w, "errors_grow", FINDING_WARN);
	counter(w, "link_error_recovery", 7, 8);
	finds(w, "errors_grow", FINDING_FAULT);
	w = healthy();
	counter(w, "excessive_buffer_overrun_errors", 15, 15);
	finds(w, "counter_saturated", FINDING_NOTE);
	counter(w, "link_downed", 255, 255); /* the link was lost so often */
	finds(w, "counter_saturated", FINDING_WARN);
	w = healthy();
	counter(w, "link_error_recovery", 255, 255);
	finds(w, "counter_saturated", FINDING_WARN);
	w = healthy();
	counter(w, "link_downed", 254, 254); /* old counts are no fault */
	counter(w, "excessive_buffer_overrun_errors", 14, 14);
	finds(w, "errors_before", FINDING_NOTE);
	w = healthy();
	counter(w, "symbol_error", 0, 0);
	w->x.counter[0].unreadable = true;
	finds(w, NULL, 0);
}

#define NIC  "/devices/pci0000:40/0000:40:01.0/0000:41:00.0"
#define ROOT "/devices/pci0000:40/0000:40:01.0"

/* A card that can do gen5 x16, which got eight lanes, in a gen4 x16 slot. */
static void put_slot(void **state)
{
	static const char *const files[][2] = {
		{NIC "/current_link_speed", "16.0 GT/s PCIe"},
		{NIC "/current_link_width", "8"},
		{NIC "/max_link_speed", "32.0 GT/s PCIe"},
		{NIC "/max_link_width", "16"},
		{ROOT "/current_link_speed", "16.0 GT/s PCIe"},
		{ROOT "/current_link_width", "8"},
		{ROOT "/max_link_speed", "16.0 GT/s PCIe"},
		{ROOT "/max_link_width", "16"},
		{ROOT "/aer_dev_correctable", "RxErr 2\nBadTLP 5\nTOTAL_ERR_COR 7\n"},
		{ROOT "/aer_dev_nonfatal", "Undefined 0\nTOTAL_ERR_NONFATAL 0\n"},
		{ROOT "/aer_dev_fatal", "Undefined 0\nTOTAL_ERR_FATAL 1\n"},
		{NIC "/aer_dev_correctable", "garbage\n"},
	};

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		tree_put(state, files[i][0] + 1, files[i][1]);
	tree_link(state, "bus/pci/devices/0000:41:00.0", NIC);
	tree_link(state, "bus/pci/devices/0000:40:01.0", ROOT);
	tree_put(state, "class/net/eth0/mtu", "9000");
	tree_put(state, "dcb/eth0", "pfc_en: 0x08\n");
	tree_put(state, "class/infiniband/mlx5_0/ports/1/counters/symbol_error", "4");
	tree_put(state, "class/infiniband/mlx5_0/ports/1/counters/link_downed", "N/A (no PMA)");
	tree_put(state, "devices/system/node/node1/cpulist", "4-6");
	tree_put(state, "devices/system/cpu/cpu4/cpufreq/scaling_governor", "performance");
	tree_put(state, "devices/system/cpu/cpu5/cpufreq/scaling_governor", "schedutil");
}

static void facts_of_a_tree(void **state)
{
	struct world *w = healthy();
	struct hca_list list = {&w->port, 1};
	struct port_facts x;

	put_slot(state);
	strcpy(w->port.place.pci, "0000:41:00.0");
	strcpy(w->port.netdev, "eth0");
	port_facts_read(&x, &w->port, &list, &w->host);
	assert_true(x.link.gts == 16 && x.link.max_gts == 16);
	assert_int_equal(x.link.width, 8);
	assert_int_equal(x.link.max_width, 16);
	assert_false(x.own.known);
	assert_true(x.upstream.known && x.upstream.correctable == 7 && x.upstream.fatal == 1);
	assert_int_equal(x.netdev_mtu, 9000);
	assert_true(x.pfc_known && x.pfc.enabled == 8);
	assert_int_equal(x.cpus, 3);
	assert_int_equal(x.slow_cpus, 1);
	assert_string_equal(x.governor, "schedutil");
	assert_true(x.sibling_gbps == hca_rate_gbps(&w->port));
	assert_int_equal(x.counters, 1);
	tree_put(state, "class/infiniband/mlx5_0/ports/1/counters/symbol_error", "6");
	port_facts_read_again(&x, 1);
	assert_int_equal(x.counter[0].after - x.counter[0].before, 2);
}

/* A second port without a cable: DOWN, its counters at 0, the card's other port ACTIVE. */
static void facts_of_an_unplugged_port(void **state)
{
	static const char *const counters = "class/infiniband/mlx5_1/ports/1/counters/";
	struct world *w = healthy();
	struct hca_port port[2] = {w->port, w->port};
	struct hca_list list = {port, 2};
	char path[96];

	strcpy(port[0].place.pci, "0000:41:00.0");
	strcpy(port[1].place.pci, "0000:41:00.1");
	strcpy(port[1].device, "mlx5_1");
	port[1].port_attr.state = IBV_PORT_DOWN;
	port_facts_read(&w->x, &port[1], &list, &w->host);
	assert_false(w->x.unplugged); /* no counters */
	snprintf(path, sizeof(path), "%slink_downed", counters);
	tree_put(state, path, "0");
	snprintf(path, sizeof(path), "%sport_rcv_data", counters);
	tree_put(state, path, "0");
	port_facts_read(&w->x, &port[1], &list, &w->host);
	assert_true(w->x.unplugged);
	port[1].port_attr.state = IBV_PORT_INIT;
	port_facts_read(&w->x, &port[1], &list, &w->host);
	assert_false(w->x.unplugged);
	port[1].port_attr.state = IBV_PORT_DOWN;
	tree_put(state, path, "9");
	port_facts_read(&w->x, &port[1], &list, &w->host);
	assert_false(w->x.unplugged);
	tree_put(state, path, "0");
	strcpy(port[0].place.pci, "0000:42:00.0"); /* a rail that is missing */
	port_facts_read(&w->x, &port[1], &list, &w->host);
	assert_false(w->x.unplugged);
}

/* Nothing is there: nothing is known, and nothing is found. */
static void facts_of_nothing(void **state)
{
	struct world *w = healthy();
	struct hca_list list = {&w->port, 1};

	(void)state;
	strcpy(w->port.place.pci, "0000:41:00.0");
	port_facts_read(&w->x, &w->port, &list, &w->host);
	port_facts_read_again(&w->x, 1);
	finds(w, NULL, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_wrong),
		cmocka_unit_test(host_rules),
		cmocka_unit_test(port_rules),
		cmocka_unit_test(pfc_rules),
		cmocka_unit_test(gpu_rules),
		cmocka_unit_test(slot_rules),
		cmocka_unit_test(counter_rules),
		cmocka_unit_test_setup_teardown(facts_of_a_tree, tree_make, tree_remove),
		cmocka_unit_test_setup_teardown(facts_of_an_unplugged_port, tree_make, tree_remove),
		cmocka_unit_test_setup_teardown(facts_of_nothing, tree_make, tree_remove),
	};

	return cmocka_run_group_tests_name("before", tests, NULL, NULL);
}
