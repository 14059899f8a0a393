// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* nccl: each variable, by a host that needs it and by hosts that do not; and what is read. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <string.h>

#include "explain/nccl.h"
#include "interfaces.h"
#include "machine.h"
#include "verbs/hca.h"

#define EDR 32
#define HDR 64
#define NDR 128

/* A host with two InfiniBand ports of 400 Gb/s, no GPU and no network interface. */
struct world {
	struct hca_port port[3];
	struct gid gid[3][6];
	struct hca_list list;
	struct gpus gpus;
	struct nccl_facts x;
};

static struct world *two_alike(void)
{
	static struct world w;

	memset(&w, 0, sizeof(w));
	for (int i = 0; i < 3; i++) {
		snprintf(w.port[i].device, sizeof(w.port[i].device), "mlx5_%d", i);
		w.port[i].port = 1;
		w.port[i].port_attr.state = IBV_PORT_ACTIVE;
		w.port[i].port_attr.active_speed = NDR;
		w.port[i].port_attr.active_width = 2;
		w.port[i].attr = (struct ibv_device_attr){
			.vendor_id = 0x02c9, .vendor_part_id = 4129, .phys_port_cnt = 1};
	}
	for (int i = 0; i < NVIDIA_MAX; i++)
		for (int n = 0; n < GPUS_PORTS; n++)
			w.gpus.class[i][n] = PATH_UNKNOWN;
	w.list = (struct hca_list){w.port, 2};
	w.x.list = &w.list;
	w.x.gpus = &w.gpus;
	return &w;
}

/* VALUE of the variable NAME is needed, for a reason with the text WHY, and no other; NULL: none.
 */
static void needs(const struct world *w, const char *name, const char *value, const char *why)
{
	struct nccl_variable got[NCCL_VARIABLES];
	size_t n = nccl_variables(&w->x, got);

	if (!name) {
		if (n)
			fail_msg("needs %s=%s: %s", got[0].name, got[0].value, got[0].reason);
		return;
	}
	assert_int_equal(n, 1);
	assert_string_equal(got[0].name, name);
	assert_string_equal(got[0].value, value);
	if (!strstr(got[0].reason, why))
		fail_msg("\"%s\" is not in: %s", why, got[0].reason);
}

/* The third port is there, with 25 Gb/s of another kind. */
static struct world *and_a_slow_one(void)
{
	struct world *w = two_alike();

	w->list.count = 3;
	w->port[2].port_attr.active_speed = EDR;
	w->port[2].port_attr.active_width = 1;
	w->port[2].attr.vendor_part_id = 4117;
	w->port[2].fabric = FABRIC_ROCE;
	return w;
}

#define BOTH "=mlx5_0:1,mlx5_1:1"

static void a_port_to_leave_out(void **state)
{
	struct world *w = and_a_slow_one();

	(void)state;
	needs(w, "NCCL_IB_HCA", BOTH, "mlx5_2 has 25 Gb/s, the others up to 400");
	w->list.count = 2;
	needs(w, NULL, NULL, NULL);
	w = and_a_slow_one();
	w->port[2].port_attr.state = IBV_PORT_DOWN; /* NCCL does not use it */
	needs(w, NULL, NULL, NULL);
	w->port[0].port_attr.state = w->port[1].port_attr.state = IBV_PORT_DOWN;
	w->port[2].port_attr.state = IBV_PORT_ACTIVE; /* the only one */
	needs(w, NULL, NULL, NULL);
	w = and_a_slow_one();
	w->port[1].open_errno = 13;
	needs(w, "NCCL_IB_HCA", "=mlx5_0:1", "mlx5_2 has 25 Gb/s, mlx5_0 400");
	w->port[0].attr.phys_port_cnt = 2;
	w->port[2] = w->port[0];
	w->port[2].port = 2;
	w->port[2].port_attr.active_speed = EDR;
	w->port[2].port_attr.active_width = 1;
	needs(w, "NCCL_IB_HCA", "=mlx5_0:1", "mlx5_0 port 2 has 25 Gb/s");
	w = and_a_slow_one();
	for (int i = 0; i < 3; i++) /* of rates that are not known none is the highest */
		w->port[i].port_attr.active_speed = 0;
	needs(w, NULL, NULL, NULL);
}

/* Ports of the other link layer are no rails, however fast: the kind that has most of the rate is. */
static void another_kind(void **state)
{
	struct world *w = two_alike();

	(void)state;
	w->list.count = 3;
	w->port[2].fabric = FABRIC_ROCE;
	needs(w, "NCCL_IB_HCA", BOTH, "mlx5_2 is Ethernet");
	w->port[0].fabric = FABRIC_ROCE;
	needs(w, "NCCL_IB_HCA", "=mlx5_0:1,mlx5_2:1", "mlx5_1 is InfiniBand");
}

/* A link of the same kind that trained low is to be repaired, not left out. */
static void a_port_to_repair(void **state)
{
	struct world *w = two_alike();

	(void)state;
	w->port[1].port_attr.active_speed = HDR;
	w->port[1].port_attr.active_width = 2;
	assert_true(hca_rate_gbps(&w->port[1]) * 2 == hca_rate_gbps(&w->port[0]));
	needs(w, NULL, NULL, NULL);
	w->port[1].attr.vendor_part_id = 1;
	needs(w, "NCCL_IB_HCA", "=mlx5_0:1", "mlx5_1 has 200 Gb/s, mlx5_0 400");
	w->port[0].port_attr.active_speed = w->port[1].port_attr.active_speed = 0; /* unknown */
	needs(w, NULL, NULL, NULL);
}

static void devices_of_software(void **state)
{
	struct world *w = two_alike();

	(void)state;
	w->list.count = 3;
	w->port[2].fabric = FABRIC_IWARP;
	needs(w, "NCCL_IB_HCA", BOTH, "mlx5_2 is iWARP, which NCCL does not support");
	w->port[2].fabric = FABRIC_ROCE;
	w->port[2].attr.vendor_id = 0xffffff;
	needs(w, "NCCL_IB_HCA", BOTH, "mlx5_2 is soft-RoCE");
	w->port[0].attr.vendor_id = w->port[1].attr.vendor_id = 0xffffff; /* there is no other */
	w->port[0].fabric = w->port[1].fabric = FABRIC_ROCE;
	needs(w, NULL, NULL, NULL);
}

static void what_the_environment_has(void **state)
{
	static const char *const same[] = {BOTH,           "mlx5_0,mlx5_1",  "^mlx5_2",
					   "^=mlx5_2:1,x", "=mlx5_1,mlx5_0", "mlx5_0:1,mlx5_1:1"};
	static const char *const others[] = {"",          "mlx5",    "=mlx5_0", "^mlx5_0",
					     "=mlx5_0:2", "=mlx5,x", "^",       "=,:,mlx5_1,"};
	struct world *w = and_a_slow_one();
	char has[64];

	(void)state;
	for (size_t i = 0; i < COUNT(same); i++) {
		w->x.set[NCCL_HCA] = same[i];
		needs(w, NULL, NULL, NULL);
	}
	for (size_t i = 0; i < COUNT(others); i++) {
		w->x.set[NCCL_HCA] = others[i];
		snprintf(has, sizeof(has), "; the environment has \"%s\"", others[i]);
		needs(w, "NCCL_IB_HCA", BOTH, has);
	}
	w->x.set[NCCL_HCA] = "\xff\n";
	needs(w, "NCCL_IB_HCA", BOTH, "\"\?\?\"");
}

static void put_gid(struct world *w, int port, int index, const char *text, uint32_t type)
{
	struct hca_port *p = &w->port[port];
	struct gid *g = &w->gid[port][p->gid_count++];

	p->gids = w->gid[port];
	p->fabric = FABRIC_ROCE;
	g->index = index;
	assert_int_equal(inet_pton(AF_INET6, text, g->raw.raw), 1);
	g->kind = gid_kind_of(FABRIC_ROCE, &g->raw, type);
}

#define V1 IBV_GID_TYPE_ROCE_V1
#define V2 IBV_GID_TYPE_ROCE_V2

/* Two RoCE ports with the address TEXT, after the link-local one. */
static struct world *roce(const char *text)
{
	struct world *w = two_alike();

	for (int i = 0; i < 2; i++) {
		put_gid(w, i, 0, "fe80::1", V1);
		put_gid(w, i, 1, "fe80::1", V2);
		put_gid(w, i, 2, text, V1);
		put_gid(w, i, 3, text, V2);
	}
	return w;
}

static void gid_index(void **state)
{
	struct world *w = roce("::ffff:10.0.0.1");

	(void)state;
	needs(w, NULL, NULL, NULL); /* NCCL finds it */
	w = two_alike();
	put_gid(w, 0, 2, "::ffff:10.0.0.1", V1); /* nothing at 0 */
	put_gid(w, 0, 4, "::ffff:10.0.0.2", V2);
	put_gid(w, 0, 5, "::ffff:10.0.0.3", V2);
	w->list.count = 1;
	needs(w, NULL, NULL, NULL);
	w = roce("2001:db8::1");
	needs(w, "NCCL_IB_GID_INDEX", "3",
	      "it is the first RoCE v2 IPv6 GID of mlx5_0, and NCCL would use 0 (RoCE v1)");
	w->x.set[NCCL_GID_INDEX] = "3";
	needs(w, NULL, NULL, NULL);
	w->x.set[NCCL_GID_INDEX] = "1"; /* link-local */
	needs(w, "NCCL_IB_GID_INDEX", "3", "; the environment has \"1\"");
	w->x.set[NCCL_GID_INDEX] = NULL;
	w->x.gid_filtered = true; /* NCCL_IB_ADDR_FAMILY and others */
	needs(w, NULL, NULL, NULL);
	w = roce("2001:db8::1");
	w->gid[1][3].index = 5; /* no value fits both */
	needs(w, NULL, NULL, NULL);
	w = roce("2001:db8::1");
	w->port[0].gid_count = w->port[1].gid_count = 2; /* no address at all */
	needs(w, NULL, NULL, NULL);
	w = roce("2001:db8::1");
	w->port[0].fabric = w->port[1].fabric = FABRIC_INFINIBAND;
	needs(w, NULL, NULL, NULL);
}

static void put_netdev(struct world *w, const char *name, int port)
{
	size_t at = w->x.netdevs.count++;

	w->x.netdevs.list[at] = (struct netdev){.routable = true, .hardware = true};
	snprintf(w->x.netdevs.list[at].name, IF_NAMESIZE, "%s", name);
	w->x.netdev_port[at] = port;
}

static void interface(void **state)
{
	struct world *w = two_alike();

	(void)state;
	put_netdev(w, "eth0", -1);
	needs(w, NULL, NULL, NULL);
	put_netdev(w, "ib0", 0); /* NCCL prefers it */
	needs(w, "NCCL_SOCKET_IFNAME", "=eth0",
	      "NCCL would connect over ib0, the interface of mlx5_0");
	w->x.set[NCCL_IFNAME] = "eth";
	needs(w, NULL, NULL, NULL);
	w->x.set[NCCL_IFNAME] = "=ib0";
	needs(w, "NCCL_SOCKET_IFNAME", "=eth0", "; the environment has \"=ib0\"");
	w->x.set[NCCL_IFNAME] = NULL;
	w->x.netdevs.list[0].routable = false; /* a BMC's, for example */
	needs(w, NULL, NULL, NULL);
	w->x.netdevs.list[0].routable = true;
	w->x.netdevs.list[0].hardware = false; /* docker0, for example */
	needs(w, NULL, NULL, NULL);
	w = and_a_slow_one();
	w->x.set[NCCL_HCA] = BOTH;
	put_netdev(w, "lo", -1);
	w->x.netdevs.list[0].hardware = false;
	put_netdev(w, "eth0", 0);
	put_netdev(w, "eth1", 1);
	needs(w, NULL, NULL, NULL); /* there is no other one */
	put_netdev(w, "eth2", 2);   /* that of a port which NCCL does not use */
	w->x.netdevs.list[0].hardware = false;
	needs(w, "NCCL_SOCKET_IFNAME", "=eth2", "over eth0, the interface of mlx5_0");
}

static void put_gpu(struct world *w, const char *pci, enum path_class first, enum path_class second)
{
	unsigned at = w->gpus.nvidia.gpus++;

	snprintf(w->gpus.nvidia.gpu[at], 16, "%s", pci);
	w->gpus.class[at][0] = first;
	w->gpus.class[at][1] = second;
}

static void distance(void **state)
{
	struct world *w = two_alike();

	(void)state;
	put_gpu(w, "0000:45:00.0", PATH_PXB, PATH_SYS);
	needs(w, NULL, NULL, NULL);
	put_gpu(w, "0000:c5:00.0", PATH_SYS, PATH_SYS); /* too far */
	put_gpu(w, "0000:c6:00.0", PATH_UNKNOWN, PATH_UNKNOWN);
	needs(w, NULL, NULL, NULL);
	put_gpu(w, "0000:c7:00.0", PATH_SYS, PATH_NODE);
	needs(w, "NCCL_NET_GDR_LEVEL", "PHB", "mlx5_1 and GPU 0000:c7:00.0 are connected between");
	w->gpus.translated[1] = true;
	needs(w, NULL, NULL, NULL);
	w->gpus.translated[1] = false;
	w->gpus.nvidia.closed = true;
	needs(w, NULL, NULL, NULL); /* no route to GPU memory */
	w->gpus.nvidia.peermem = true;
	w->x.set[NCCL_GDR_LEVEL] = "PIX";
	needs(w, "NCCL_NET_GDR_LEVEL", "PHB", "; the environment has \"PIX\"");
	w->x.set[NCCL_GDR_LEVEL] = "SYS";
	needs(w, NULL, NULL, NULL);
	w->x.set[NCCL_GDR_LEVEL] = "4";
	needs(w, NULL, NULL, NULL);
	w->x.set[NCCL_GDR_LEVEL] = NULL;
	w->gpus.coherent = true;
	needs(w, NULL, NULL, NULL);
}

/* What is read of a machine whose GPU is behind another root port than the NIC. */
static void facts_of_a_machine(void **state)
{
	struct world *w = two_alike();
	struct fault f = {0};

	machine_use(state, "phb");
	tree_put(state, "sys/bus/pci/drivers/nvidia/0000:45:00.0/x", "");
	tree_put(state, "sys/bus/pci/drivers/nvidia/new_id", "");
	tree_put(state, "sys/module/nvidia/taint", "POE");
	tree_put(state, "sys/addresses",
		 "eth0 192.0.2.1\nidrac 169.254.0.2\n\nx\nlo ::1\nlo 1.2.3\n"
		 "../x 192.0.2.3\nib0 fe80::1\nib0 2001:db8::1\nbond0 192.0.2.4");
	tree_put(state, "sys/class/net/eth0/device/x", "");
	tree_put(state, "sys/class/net/bond0/bonding/x", "");
	strcpy(w->port[0].place.pci, NIC);
	strcpy(w->port[1].place.pci, "0000:99:00.0");
	strcpy(w->port[1].netdev, "ib0");
	setenv("NCCL_IB_HCA", "x", 1);
	assert_int_equal(gpus_read(&w->gpus, &w->list, false, &f), 0);
	assert_int_equal(nccl_facts_read(&w->x, &w->list, &w->gpus, &f), 0);
	unsetenv("NCCL_IB_HCA");
	assert_int_equal(w->gpus.nvidia.gpus, 1);
	assert_string_equal(w->gpus.nvidia.gpu[0], GPU);
	assert_true(w->gpus.nvidia.closed && !w->gpus.nvidia.peermem);
	assert_int_equal(w->gpus.class[0][0], PATH_PHB);
	assert_int_equal(w->gpus.class[0][1], PATH_UNKNOWN);
	assert_string_equal(w->x.set[NCCL_HCA], "x");
	assert_int_equal(w->x.netdevs.count, 5);
	for (size_t i = 0; i < 5; i++) {
		static const struct netdev want[] = {{"eth0", true, true},
						     {"idrac", false, false},
						     {"lo", false, false},
						     {"ib0", true, false},
						     {"bond0", true, true}};
		const struct netdev *got = &w->x.netdevs.list[i];

		assert_string_equal(got->name, want[i].name);
		assert_int_equal(got->routable, want[i].routable);
		assert_int_equal(got->hardware, want[i].hardware);
		assert_int_equal(w->x.netdev_port[i], i == 3 ? 1 : -1);
	}
	assert_int_equal(gpus_read(&w->gpus, &w->list, true, &f), 0);
	assert_int_equal(w->gpus.class[0][0], PATH_UNKNOWN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_port_to_leave_out),
		cmocka_unit_test(a_port_to_repair),
		cmocka_unit_test(another_kind),
		cmocka_unit_test(devices_of_software),
		cmocka_unit_test(what_the_environment_has),
		cmocka_unit_test(gid_index),
		cmocka_unit_test(interface),
		cmocka_unit_test(distance),
		cmocka_unit_test_setup_teardown(facts_of_a_machine, tree_make, tree_remove),
	};

	return cmocka_run_group_tests_name("nccl", tests, NULL, NULL);
}
