// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* cm_address(): by which IP address rdma_cm finds a device, among all that a host has. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <string.h>

#include "verbs/cm.h"
#include "verbs/hca.h"

/* A host: the loopback interface, the device's netdev ib0, another one, and ib0 without address. */
#define ADDRESSES 7

static struct {
	struct sockaddr_storage address[ADDRESSES];
	struct ifaddrs list[ADDRESSES + 2];
} host;

static void set(struct sockaddr_storage *to, const char *text)
{
	memset(to, 0, sizeof(*to));
	to->ss_family = strchr(text, ':') ? AF_INET6 : AF_INET;
	if (to->ss_family == AF_INET)
		assert_int_equal(inet_pton(AF_INET, text, &((struct sockaddr_in *)to)->sin_addr),
				 1);
	else
		assert_int_equal(inet_pton(AF_INET6, text, &((struct sockaddr_in6 *)to)->sin6_addr),
				 1);
}

static int setup(void **state)
{
	static const struct {
		const char *netdev, *address;
	} all[ADDRESSES] = {
		{"lo", "127.0.0.1"},   {"eth0", "192.0.2.7"},  {"ib0", "fe80::1"},
		{"ib0", "10.0.0.1"},   {"ib0", "2001:db8::1"}, {"ib0", "10.0.0.2"},
		{"vlan7", "10.7.0.1"},
	};
	static struct sockaddr packet = {.sa_family = AF_PACKET};
	struct ifaddrs *a = host.list;

	(void)state;
	/* What getifaddrs() has, too: no address, and one that is no IP address. */
	a[0] = (struct ifaddrs){.ifa_name = (char *)"ib0", .ifa_next = &a[1]};
	a[1] = (struct ifaddrs){.ifa_name = (char *)"ib0", .ifa_addr = &packet, .ifa_next = &a[2]};
	for (int i = 0; i < ADDRESSES; i++) {
		set(&host.address[i], all[i].address);
		a[i + 2] = (struct ifaddrs){
			.ifa_name = (char *)all[i].netdev,
			.ifa_addr = (struct sockaddr *)&host.address[i],
			.ifa_next = i + 1 < ADDRESSES ? &a[i + 3] : NULL,
		};
	}
	return 0;
}

static bool iwarp; /* the device is */

/* The address for a device of NETDEV whose GID and whose end of the TCP connection are these. */
static const char *found(const char *netdev, const char *gid, const char *local, int family)
{
	static char text[CM_ADDRESS_SIZE];
	struct sockaddr_storage to, from;
	struct hca_port port = {.device = "sim0", .fabric = iwarp ? FABRIC_IWARP : FABRIC_ROCE};
	union ibv_gid raw;

	strcpy(port.netdev, netdev);
	assert_int_equal(inet_pton(AF_INET6, gid, raw.raw), 1);
	if (local) {
		set(&from, local);
		((struct sockaddr_in *)&from)->sin_port = htons(18515);
	}
	if (!cm_address(&port, &raw, local ? (struct sockaddr *)&from : NULL, family, host.list,
			&to)) {
		assert_int_equal(to.ss_family, AF_UNSPEC);
		return "none";
	}
	assert_int_equal(((struct sockaddr_in *)&to)->sin_port, 0);
	return cm_address_format((struct sockaddr *)&to, text, sizeof(text));
}

static void a_gid_that_is_an_address_of_this_host(void **state)
{
	(void)state;
	assert_string_equal(found("ib0", "::ffff:10.0.0.2", "10.0.0.1", AF_UNSPEC), "10.0.0.2");
	assert_string_equal(found("ib0", "2001:db8::1", "10.0.0.1", AF_UNSPEC), "2001:db8::1");
	assert_string_equal(found("ib0", "fe80::1", "10.0.0.1", AF_UNSPEC), "fe80::1");
	/* of a VLAN on the device's netdev */
	assert_string_equal(found("ib0", "::ffff:10.7.0.1", NULL, AF_UNSPEC), "10.7.0.1");
}

static void a_gid_that_is_none(void **state)
{
	static const char *const gids[] = {"fe80::2:c903:a:1b2c", "::ffff:10.0.0.9", "::"};

	(void)state;
	for (size_t i = 0; i < sizeof(gids) / sizeof(gids[0]); i++) {
		/* this end of the TCP connection, if it is the netdev's */
		assert_string_equal(found("ib0", gids[i], "10.0.0.2", AF_UNSPEC), "10.0.0.2");
		assert_string_equal(found("ib0", gids[i], "192.0.2.7", AF_UNSPEC), "10.0.0.1");
		assert_string_equal(found("ib0", gids[i], NULL, AF_UNSPEC), "10.0.0.1");
	}
}

static void of_the_peer_s_family_only(void **state)
{
	(void)state;
	assert_string_equal(found("ib0", "::ffff:10.0.0.2", NULL, AF_INET6), "2001:db8::1");
	assert_string_equal(found("ib0", "2001:db8::1", "10.0.0.2", AF_INET), "10.0.0.2");
	assert_string_equal(found("eth0", "2001:db8::9", "192.0.2.7", AF_INET6), "none");
}

static void a_netdev_without(void **state)
{
	(void)state;
	assert_string_equal(found("", "fe80::2:c903:a:1b2c", "192.0.2.7", AF_UNSPEC), "none");
	assert_string_equal(found("ib9", "fe80::2:c903:a:1b2c", "192.0.2.7", AF_UNSPEC), "none");
}

/* Then it is the way to the peer, and rdma_cm's to say whether that is the device's. */
static void iwarp_without_a_known_netdev(void **state)
{
	(void)state;
	iwarp = true;
	assert_string_equal(found("", "::", "192.0.2.7", AF_UNSPEC), "192.0.2.7");
	assert_string_equal(found("", "::", "192.0.2.7", AF_INET), "192.0.2.7");
	assert_string_equal(found("", "::", "192.0.2.7", AF_INET6), "none");
	assert_string_equal(found("", "::", NULL, AF_UNSPEC), "none");
	assert_string_equal(found("ib9", "::", "192.0.2.7", AF_UNSPEC), "none");
	iwarp = false;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_gid_that_is_an_address_of_this_host, setup),
		cmocka_unit_test_setup(a_gid_that_is_none, setup),
		cmocka_unit_test_setup(of_the_peer_s_family_only, setup),
		cmocka_unit_test_setup(a_netdev_without, setup),
		cmocka_unit_test_setup(iwarp_without_a_known_netdev, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
