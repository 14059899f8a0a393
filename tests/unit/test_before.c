// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* before: each rule, by facts that fire it alone and by facts that must not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "explain/before.h"
#include "before_world.h"
#include "verbs/hca.h"

static void counter(struct world *w, const char *name, int64_t before, int64_t after)
{
	struct counter *k = &w->x.counter[w->x.counters++];

	snprintf(k->name, sizeof(k->name), "counters/%s", name);
	k->before = before;
	k->after = after;
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
	w->x.others = true;
	finds(w, "not_given", FINDING_NOTE);
	w->x.named = true;
	finds(w, "cannot_open", FINDING_FAULT);
	w = healthy();
	w->port.attr.node_guid = 0;
	finds(w, "no_guid", FINDING_WARN);
	w->port.fabric = FABRIC_EFA;
	finds(w, NULL, 0);
	w = healthy();
	w->x.sharing_gbps = 2 * hca_rate_gbps(&w->port);
	finds(w, NULL, 0);
	strcpy(w->x.sharing, "mlx5_0:1+mlx5_1:1");
	finds(w, NULL, 0); /* the slot carries both */
	w->x.sharing_gbps *= 2;
	finds(w, "pcie_shared", FINDING_NOTE);
	w->host.virtual_machine = true;
	finds(w, "virtual_machine", FINDING_NOTE);
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

static void addresses(void **state)
{
	struct world *w = healthy();

	(void)state;
	w->x.no_pkey = true;
	finds(w, "no_pkey", FINDING_FAULT);
	w->x.no_pkey = false;
	w->port.fabric = FABRIC_ROCE;
	w->port.port_attr.state = IBV_PORT_DOWN;
	finds(w, "port_not_active", FINDING_FAULT);
	w->port.gid_count = 0;
	w->port.port_attr.state = IBV_PORT_ACTIVE;
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_wrong), cmocka_unit_test(host_rules),
		cmocka_unit_test(port_rules),    cmocka_unit_test(addresses),
		cmocka_unit_test(gpu_rules),     cmocka_unit_test(slot_rules),
		cmocka_unit_test(counter_rules),
	};

	return cmocka_run_group_tests_name("before", tests, NULL, NULL);
}
