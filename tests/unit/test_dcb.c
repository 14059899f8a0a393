// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* dcb, ethtool: answers whole, cut and damaged; interfaces that are not there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>
#include <linux/dcbnl.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>

#include "host/dcb.h"
#include "host/ethtool.h"
#include "interfaces.h"
#include "tree.h"

/* What the kernel answers: the name, then ETS, which is not asked for, a table of priorities, PFC. */
struct reply {
	struct nlmsghdr header;
	struct dcbmsg dcb;
	struct nlattr ifname;
	char name[12];
	struct nlattr ieee;
	struct nlattr ets;
	uint8_t table[12];
	struct nlattr apps;
	struct {
		struct nlattr is;
		struct dcb_app app;
	} app[4];
	struct nlattr pfc;
	struct ieee_pfc is;
};

static struct reply good_reply(void)
{
	struct reply r = {
		.header = {.nlmsg_len = offsetof(struct reply, is) + sizeof(struct ieee_pfc),
			   .nlmsg_type = RTM_GETDCB},
		.dcb = {.cmd = DCB_CMD_IEEE_GET},
		.ifname = {sizeof(struct nlattr) + 9, DCB_ATTR_IFNAME},
		.name = "enp1s0",
		.ets = {sizeof(struct nlattr) + 9, DCB_ATTR_IEEE_ETS},
		.apps = {sizeof(struct nlattr) + sizeof(r.app), DCB_ATTR_IEEE_APP_TABLE},
		.app = {{.app = {IEEE_8021QAZ_APP_SEL_DSCP, 3, 26}},
			{.app = {IEEE_8021QAZ_APP_SEL_DSCP, 5, 46}},
			{.app = {IEEE_8021QAZ_APP_SEL_DSCP, 6, 46}},
			{.app = {IEEE_8021QAZ_APP_SEL_DGRAM, 7, 48}}},
		.pfc = {sizeof(struct nlattr) + sizeof(struct ieee_pfc), DCB_ATTR_IEEE_PFC},
		.is = {.pfc_cap = 8, .pfc_en = 0x48, .requests = {[3] = 7}, .indications = {[6] = 9}},
	};

	for (int i = 0; i < 4; i++)
		r.app[i].is = (struct nlattr){sizeof(r.app[i]), DCB_ATTR_IEEE_APP};
	r.ieee.nla_type = DCB_ATTR_IEEE | NLA_F_NESTED;
	r.ieee.nla_len = (uint16_t)(r.header.nlmsg_len - offsetof(struct reply, ieee));
	return r;
}

static void answers(void **state)
{
	struct reply r = good_reply();
	struct dcb_pfc pfc;

	(void)state;
	assert_int_equal(dcb_parse_pfc(&pfc, &r, r.header.nlmsg_len), 0);
	assert_int_equal(pfc.enabled, 0x48);
	assert_int_equal(pfc.requests[3], 7);
	assert_int_equal(pfc.indications[6], 9);
	assert_true(pfc.has_dscp);
	assert_int_equal(pfc.dscp[26], 3);
	assert_true(pfc.dscp[46] < 0 && pfc.dscp[48] < 0 && pfc.dscp[0] < 0);
	r.app[0].app.protocol = 64;
	r.app[1].app.priority = 8;
	r.app[2].app.priority = 8;
	assert_int_equal(dcb_parse_pfc(&pfc, &r, r.header.nlmsg_len), 0);
	assert_false(pfc.has_dscp);
	r.pfc.nla_type = DCB_ATTR_IEEE_APP_TABLE;
	assert_int_equal(dcb_parse_pfc(&pfc, &r, r.header.nlmsg_len), -EOPNOTSUPP);
	assert_int_equal(pfc.enabled, 0);
}

static void errors(void **state)
{
	struct {
		struct nlmsghdr header;
		struct nlmsgerr error;
	} r = {{.nlmsg_len = sizeof(r), .nlmsg_type = NLMSG_ERROR}, {.error = -ENODEV}};
	struct dcb_pfc pfc;

	(void)state;
	assert_int_equal(dcb_parse_pfc(&pfc, &r, sizeof(r)), -ENODEV);
	r.error.error = 0;
	assert_int_equal(dcb_parse_pfc(&pfc, &r, sizeof(r)), -EBADMSG);
	r.error.error = INT32_MIN;
	assert_int_equal(dcb_parse_pfc(&pfc, &r, sizeof(r)), -EBADMSG);
	r.header.nlmsg_type = RTM_NEWLINK;
	assert_int_equal(dcb_parse_pfc(&pfc, &r, sizeof(r)), -EBADMSG);
}

/* Cut anywhere, on the heap so that a sanitizer sees what is read behind it: never a success. */
static void cut(void **state)
{
	struct reply r = good_reply();
	struct dcb_pfc pfc;

	(void)state;
	for (uint32_t n = 0; n < r.header.nlmsg_len; n++) {
		void *copy = malloc(n + 1);

		memcpy(copy, &r, n);
		assert_true(dcb_parse_pfc(&pfc, copy, n) < 0);
		if (n >= sizeof(r.header)) { /* and where it says itself that it is so short */
			((struct nlmsghdr *)copy)->nlmsg_len = n;
			assert_true(dcb_parse_pfc(&pfc, copy, n) < 0);
		}
		free(copy);
	}
}

/* Each 16 bits of it set to lengths and types that cannot be. */
static void damaged(void **state)
{
	static const uint16_t bad[] = {0, 1, 3, 4, 5, 0x7fff, 0x8000, 0xffff};
	struct dcb_pfc pfc;

	(void)state;
	for (size_t at = 0; at + 2 <= offsetof(struct reply, is); at += 2)
		for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
			struct reply r = good_reply();
			uint32_t size = r.header.nlmsg_len;
			char *copy = malloc(size);
			int rc;

			memcpy(copy, &r, size);
			memcpy(copy + at, &bad[i], 2);
			rc = dcb_parse_pfc(&pfc, copy, size);
			assert_true(rc <= 0 && rc > -4096);
			free(copy);
		}
}

static void recorded(void **state)
{
	struct dcb_pfc pfc;

	assert_int_equal(dcb_read_pfc(&pfc, "eth0"), -EOPNOTSUPP);
	tree_put(state, "dcb/eth0", "pfc_en: 8\nindications: 1 2 3\n");
	assert_int_equal(dcb_read_pfc(&pfc, "eth0"), 0);
	assert_int_equal(pfc.enabled, 8);
	assert_int_equal(pfc.indications[2], 3);
	assert_int_equal(pfc.requests[0], 0);
	tree_put(state, "dcb/eth0", "pfc_en: 256\n");
	assert_int_equal(dcb_read_pfc(&pfc, "eth0"), -EBADMSG);
	assert_int_equal(dcb_read_pfc(&pfc, "../eth0"), -EINVAL);
	assert_int_equal(dcb_read_pfc(&pfc, "a-name-that-is-too-long"), -EINVAL);
}

static int priority(const struct priority_packets *of)
{
	struct dcb_pfc pfc;

	assert_int_equal(dcb_read_pfc(&pfc, "eth0"), 0);
	return priority_of(of, "class/infiniband/dev0/ports/1", "eth0", &pfc);
}

/* Which priority packets have: by their DSCP or their SL, as the interface's driver has it. */
static void priorities(void **state)
{
#define UP_TO_28 "0 0 0 0 0 0 0 0 1 1 1 1 1 1 1 1 2 2 2 2 2 2 2 2 3 3 3 3 3"
	struct priority_packets of = {3, 104, 0};
	static const struct {
		const char *driver, *trust, *map;
		int of_104, of_sl; /* with --tos 104; with --sl 5 and no tag */
	} one[] = {
		{"mlx5_core", NULL, UP_TO_28, 3, 3},
		{"ice", NULL, UP_TO_28, 3, 3},
		{"mlx5_core", NULL, "0 0 0", -1, -1}, /* nothing is said of this DSCP */
		{"mlx5_core", NULL, "9 -1 x", 0, -1},
		{"mlx5_core", NULL, NULL, 0, -1}, /* by the SL, 0 */
		{"ice", NULL, NULL, -1, -1},
		{"bnxt_en", NULL, UP_TO_28, -1, -1},
		{NULL, "dscp", UP_TO_28, 3, 3},
		{NULL, "pcp", UP_TO_28, 0, -1},
		{"mlx5_core", "both", NULL, -1, -1},
	};

	tree_dir(state, "drivers");
	for (size_t i = 0; i < sizeof(one) / sizeof(one[0]); i++) {
		char text[512];

		snprintf(text, sizeof(text), "pfc_en: 8\n%s%s\n", one[i].map ? "dscp_prio: " : "",
			 one[i].map ? one[i].map : "");
		tree_put(state, "dcb/eth0", text);
		remove(tree_path(state, "class/net/eth0/device/driver"));
		remove(tree_path(state, "class/net/eth0/qos/trust"));
		snprintf(text, sizeof(text), "/drivers/%s", one[i].driver ? one[i].driver : "x");
		tree_dir(state, text + 1);
		tree_link(state, "class/net/eth0/device/driver", text);
		if (one[i].trust)
			tree_put(state, "class/net/eth0/qos/trust", one[i].trust);
		of.sl = 0;
		assert_int_equal(priority(&of), one[i].of_104);
		of.sl = 5;
		assert_int_equal(priority(&of), one[i].of_sl);
	}
}

/* Of a VLAN the SL is in the tag; and an administrator can set the TOS of all packets. */
static void priorities_by_others(void **state)
{
	struct priority_packets of = {3, 104, 5};

	tree_put(state, "dcb/eth0", "pfc_en: 8\ndscp_prio: 7 6 5 4\n");
	tree_put(state, "class/net/eth0/qos/trust", "pcp\n");
	tree_put(state, "class/infiniband/dev0/ports/1/gid_attrs/ndevs/3", "eth0.9\n");
	tree_put(state, "class/net/eth0.9/uevent", "DEVTYPE=vlan\nINTERFACE=eth0.9\n");
	assert_int_equal(priority(&of), 5);
	of.sl = 8;
	assert_int_equal(priority(&of), -1);
	of.sl = -1;
	assert_int_equal(priority(&of), -1);
	tree_put(state, "class/net/eth0/qos/trust", "dscp\n");
	assert_int_equal(priority(&of), -1);
	tree_put(state, "class/infiniband/dev0/tc/1/traffic_class", "Global tclass=4\n");
	assert_int_equal(priority(&of), 6);
	tree_put(state, "class/infiniband/dev0/tc/1/traffic_class", "Global tclass=256\n");
	assert_int_equal(priority(&of), -1);
	tree_put(state, "class/infiniband/dev0/tc/1/traffic_class", "src_ip=1.2.3.4,tclass=8\n");
	assert_int_equal(priority(&of), -1);
	of.tos = 12;
	tree_put(state, "class/infiniband/dev0/tc/1/traffic_class", "");
	assert_int_equal(priority(&of), 4);
	of.tos = -1; /* RoCE v1 */
	assert_int_equal(priority(&of), -1);
}

static void statistics(void **state)
{
	static const char *const names[] = {"rx_a", "rx with spaces", "absent"};
	uint64_t value[3] = {1, 1, 1};
	struct ethtool e;

	assert_int_equal(ethtool_find(&e, "eth0", names, 3), -ENODEV);
	tree_put(state, "ethtool/eth0",
		 "NIC statistics:\n     rx_a: 5\n     [0]: rx: 7\n     rx with spaces: "
		 "18446744073709551615\n     rx_b: words\n");
	assert_int_equal(ethtool_find(&e, "eth0", names, 3), 0);
	assert_int_equal(e.statistics, 3);
	assert_int_equal(e.at[2], ETHTOOL_ABSENT);
	assert_int_equal(ethtool_read(&e, value), 0);
	assert_int_equal(value[0], 5);
	assert_true(value[1] == UINT64_MAX);
	assert_int_equal(value[2], 1);
	tree_put(state, "ethtool/eth0", "rx_a: 6\n");
	assert_int_equal(ethtool_read(&e, value), -ESTALE);
	assert_int_equal(ethtool_find(&e, "a-name-that-is-too-long", names, 3), -EINVAL);
	assert_int_equal(ethtool_find(&e, "../../etc", names, 3), -EINVAL);
}

/* The kernel itself, of interfaces that no machine has, and of one that has no such things. */
static void kernel(void **state)
{
	static const char *const names[] = {"rx_discards_phy"};
	struct dcb_pfc pfc;
	struct ethtool e;

	(void)state;
	assert_true(ethtool_find(&e, "rdmark-none", names, 1) < 0); /* ENOTTY in an emulator */
	assert_true(ethtool_find(&e, "lo", names, 1) < 0);
	assert_true(dcb_read_pfc(&pfc, "rdmark-none") < 0);
	assert_true(dcb_read_pfc(&pfc, "lo") < 0);
}

#define WITH_TREE(test) cmocka_unit_test_setup_teardown(test, tree_make, tree_remove)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(answers), cmocka_unit_test(errors), cmocka_unit_test(cut),
		cmocka_unit_test(damaged), WITH_TREE(recorded),      WITH_TREE(statistics),
		cmocka_unit_test(kernel), WITH_TREE(priorities), WITH_TREE(priorities_by_others),
	};

	return cmocka_run_group_tests_name("dcb", tests, NULL, NULL);
}
