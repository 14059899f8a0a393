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
#include "tree.h"

/* What the kernel answers: the interface's name, then ETS, which is not asked for, and PFC. */
struct reply {
	struct nlmsghdr header;
	struct dcbmsg dcb;
	struct nlattr ifname;
	char name[8];
	struct nlattr ieee;
	struct nlattr ets;
	uint8_t table[12];
	struct nlattr pfc;
	struct ieee_pfc is;
};

static struct reply good_reply(void)
{
	struct reply r = {
		.header = {.nlmsg_len = offsetof(struct reply, is) + sizeof(struct ieee_pfc),
			   .nlmsg_type = RTM_GETDCB},
		.dcb = {.cmd = DCB_CMD_IEEE_GET},
		.ifname = {sizeof(struct nlattr) + 7, DCB_ATTR_IFNAME},
		.name = "enp1s0",
		.ets = {sizeof(struct nlattr) + 9, DCB_ATTR_IEEE_ETS},
		.pfc = {sizeof(struct nlattr) + sizeof(struct ieee_pfc), DCB_ATTR_IEEE_PFC},
		.is = {.pfc_cap = 8, .pfc_en = 0x48, .requests = {[3] = 7}, .indications = {[6] = 9}},
	};

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
		cmocka_unit_test(kernel),
	};

	return cmocka_run_group_tests_name("dcb", tests, NULL, NULL);
}
