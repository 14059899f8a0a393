// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* hca_choose(): which port, and what is said when there is none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#include "tree.h"
#include "verbs/hca.h"

/* Three ports: InfiniBand without subnet manager, Ethernet down, Ethernet active on lo. */
static struct hca_port ports[3];
static struct gid lo_gid, other_gid;

static int setup(void **state)
{
	(void)state;
	lo_gid = (struct gid){.index = 3, .kind = GID_V2_IPV4, .ifindex = if_nametoindex("lo")};
	inet_pton(AF_INET6, "::ffff:127.0.0.1", lo_gid.raw.raw);
	ports[0] =
		(struct hca_port){.device = "mlx5_0", .port = 1, .port_attr.state = IBV_PORT_INIT,
				  .attr.node_guid = 1};
	ports[1] = (struct hca_port){.device = "mlx5_1",
				     .port = 1,
				     .fabric = FABRIC_ROCE,
				     .netdev = "eth7",
				     .port_attr.state = IBV_PORT_DOWN,
				     .guid = 0x0002c903000a1b2cULL,
				     .place.pci = "0000:41:00.0"};
	ports[2] = (struct hca_port){.device = "rxe0",
				     .port = 1,
				     .fabric = FABRIC_ROCE,
				     .netdev = "lo",
				     .gids = &lo_gid,
				     .gid_count = 1,
				     .port_attr.state = IBV_PORT_ACTIVE,
				     .guid = 0xfeffULL};
	return 0;
}

static const struct hca_port *choose(size_t count, struct hca_attr wanted, struct fault *f)
{
	struct hca_list list = {ports, count};
	char reason[160];

	memset(f, 0, sizeof(*f));
	return hca_choose(&list, &wanted, reason, sizeof(reason), f);
}

static void active_port_without_a_attr(void **state)
{
	struct fault f;

	(void)state;
	assert_ptr_equal(choose(3, (struct hca_attr){NULL}, &f), &ports[2]);
}

static void by_all_its_names(void **state)
{
	static const char *const names[] = {"rxe0",
					    "lo",
					    "127.0.0.1",
					    "000000000000feff",
					    "0x000000000000feff",
					    "0000:0000:0000:feff"};
	struct fault f;

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		assert_ptr_equal(choose(3, (struct hca_attr){.device = names[i]}, &f), &ports[2]);
	ports[1].port_attr.state = IBV_PORT_ACTIVE;
	assert_null(
		choose(3, (struct hca_attr){.device = "41:00.0"}, &f)); /* all its GIDs are zero */
	assert_int_equal(fault_exit_status(&f), 77);
	ports[1].gids = &other_gid;
	ports[1].gid_count = 1;
	assert_ptr_equal(choose(3, (struct hca_attr){.device = "0000:41:00.0"}, &f), &ports[1]);
	assert_ptr_equal(choose(3, (struct hca_attr){.device = "41:00.0"}, &f), &ports[1]);
	assert_ptr_equal(choose(3, (struct hca_attr){.device = "00:02:c9:03:00:0a:1b:2c"}, &f),
			 &ports[1]);
}

static void the_route_decides(void **state)
{
	struct sockaddr_in local = {.sin_family = AF_INET,
				    .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct fault f;

	(void)state;
	ports[1].port_attr.state = IBV_PORT_ACTIVE; /* is first, but not on the route */
	assert_ptr_equal(choose(3, (struct hca_attr){NULL}, &f), &ports[2]); /* no GID */
	ports[1].gids = &other_gid;
	ports[1].gid_count = 1;
	assert_ptr_equal(choose(3, (struct hca_attr){NULL}, &f), &ports[1]);
	assert_ptr_equal(choose(3, (struct hca_attr){.local = (struct sockaddr *)&local}, &f),
			 &ports[2]);
}

static void nothing_there(void **state)
{
	struct fault f;

	(void)state;
	assert_null(choose(0, (struct hca_attr){NULL}, &f));
	assert_int_equal(f.code, FAULT_UNAVAILABLE);
}

static void wrong_name_lists_the_right_ones(void **state)
{
	struct fault f;

	(void)state;
	assert_null(choose(3, (struct hca_attr){.device = "mlx5_9"}, &f));
	assert_int_equal(f.code, FAULT_USAGE);
	assert_non_null(strstr(f.call, "mlx5_9"));
	assert_non_null(strstr(f.fix, "mlx5_0, mlx5_1, rxe0"));
	assert_null(choose(3, (struct hca_attr){.device = "rxe0", .port = 2}, &f));
	assert_int_equal(f.code, FAULT_USAGE);
	assert_non_null(strstr(f.call, "port 2"));
}

static void states_are_explained(void **state)
{
	struct fault f;

	(void)state;
	assert_null(choose(3, (struct hca_attr){.device = "mlx5_0"}, &f));
	assert_int_equal(f.code, FAULT_LOCAL);
	assert_non_null(strstr(f.cause, "subnet manager"));
	assert_null(choose(3, (struct hca_attr){.device = "mlx5_1"}, &f));
	assert_non_null(strstr(f.call, "DOWN"));
	assert_non_null(strstr(f.cause, "eth7"));
	ports[2].open_errno = EACCES;
	assert_null(choose(3, (struct hca_attr){.device = "rxe0"}, &f));
	assert_int_equal(f.errnum, EACCES);
	assert_non_null(strstr(f.fix, "/dev/infiniband"));
}

static void active_port_of_a_named_device(void **state)
{
	struct fault f;

	(void)state;
	snprintf(ports[0].device, sizeof(ports[0].device), "rxe0");
	ports[2].port = 2;
	assert_ptr_equal(choose(3, (struct hca_attr){.device = "rxe0"}, &f), &ports[2]);
}

static void rates_are_data_rates(void **state)
{
	struct hca_port p = {.port_attr = {.active_speed = 4, .active_width = 2}};

	(void)state;
	assert_true(hca_rate_gbps(&p) == 32); /* QDR 4x carries 32 of its 40 */
	p.fabric = FABRIC_ROCE;
	assert_true(hca_rate_gbps(&p) == 40);
	p.port_attr.active_speed = 128;
	assert_true(hca_rate_gbps(&p) == 400); /* NDR 4x */
	p.sysfs_gbps = 400;
	assert_true(hca_rate_gbps(&p) == 400);
	p.sysfs_gbps = 800; /* XDR, for which the code has no room */
	assert_true(hca_rate_gbps(&p) == 800);
	p.attr.vendor_id = 0x626d74; /* siw, whose rate is its netdev's, or a name */
	assert_true(hca_rate_gbps(&p) == 0);
	p.attr.vendor_id = 0;
	p.sysfs_gbps = 0;
	p.port_attr.active_width = 7;
	assert_true(hca_rate_gbps(&p) == 0);
	assert_int_equal(hca_mtu_bytes(IBV_MTU_4096), 4096);
	assert_int_equal(hca_mtu_enum(300), 0);
}

/* What rdma_cm of Linux before 6.6 goes by; a VLAN has it from the interface that it is on. */
static void iwarp_s_netdev_has_the_gid_s_mac(void **state)
{
	struct gid mac = {.kind = GID_IWARP, .raw.raw = {2, 0, 0, 0, 0, 7}};
	struct hca_port p = {
		.device = "siw0", .fabric = FABRIC_IWARP, .gids = &mac, .gid_count = 1};

	tree_put(state, "class/net/lo/address", "02:00:00:00:00:07\n");
	tree_put(state, "class/net/vlan7/address", "02:00:00:00:00:07\n");
	tree_put(state, "class/net/eth1/address", "02:00:00:00:00:08\n");
	tree_put(state, "class/net/tun0/address", "none\n");
	assert_true(hca_has_netdev(&p, "lo"));
	assert_true(hca_has_netdev(&p, "vlan7"));
	assert_false(hca_has_netdev(&p, "eth1"));
	assert_false(hca_has_netdev(&p, "tun0"));
	assert_false(hca_has_netdev(&p, "eth9"));
	hca_find_netdev(&p);
	assert_string_equal(p.netdev, "lo");
	assert_string_equal(fabric_row(p.fabric)->name, "iWARP");

	/* A GID of another kind may begin like that by chance. */
	p = (struct hca_port){.fabric = FABRIC_ROCE, .gids = &mac, .gid_count = 1};
	assert_false(hca_has_netdev(&p, "lo"));
	hca_find_netdev(&p);
	assert_string_equal(p.netdev, "");
	assert_string_equal(fabric_row(p.fabric)->name, "RoCE");
}

static void no_mac_is_nobody_s(void **state)
{
	struct gid none = {.kind = GID_IWARP};
	struct hca_port p = {.fabric = FABRIC_IWARP, .gids = &none, .gid_count = 1};

	tree_put(state, "class/net/lo/address", "00:00:00:00:00:00\n");
	assert_false(hca_has_netdev(&p, "lo"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(active_port_without_a_attr, setup),
		cmocka_unit_test_setup(by_all_its_names, setup),
		cmocka_unit_test_setup(the_route_decides, setup),
		cmocka_unit_test_setup(nothing_there, setup),
		cmocka_unit_test_setup(wrong_name_lists_the_right_ones, setup),
		cmocka_unit_test_setup(states_are_explained, setup),
		cmocka_unit_test_setup(active_port_of_a_named_device, setup),
		cmocka_unit_test(rates_are_data_rates),
		cmocka_unit_test_setup_teardown(iwarp_s_netdev_has_the_gid_s_mac, tree_make,
						tree_remove),
		cmocka_unit_test_setup_teardown(no_mac_is_nobody_s, tree_make, tree_remove),
	};

	return cmocka_run_group_tests_name("hca_choose", tests, NULL, NULL);
}
