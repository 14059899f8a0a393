// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* vfault: what is said of each completion status on each kind of link: words of that link only. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "verbs/hca.h"
#include "verbs/vfault.h"

/* Words that no message about a link has, by its number; "firewall" is of this host's too. */
static const char *const foreign[][16] = {
	[LINK_KIND_IB] = {"firewall", "UDP", "4791", "pause", "ECN", "PFC", "GIDs and", "security group",
			  "EFA", "TCP", "iWARP", "oft-RoCE", "RoCE", "ethtool", "netdev"},
	[LINK_KIND_ROCE] = {"LID", "subnet manager", "perfquery", "security group", "EFA", "TCP",
			    "iWARP", "oft-RoCE"},
	[LINK_KIND_ROCE_V1] = {"LID", "subnet manager", "perfquery", "security group", "EFA", "TCP",
			       "iWARP", "oft-RoCE", "UDP", "4791", "firewall", "route ", "ECN", "ping"},
	[LINK_KIND_IWARP] = {"LID", "subnet manager", "perfquery", "security group", "EFA", "UDP",
			     "4791", "RoCE", "pause", "PFC", "ECN"},
	[LINK_KIND_EFA] = {"LID", "subnet manager", "perfquery", "UDP", "4791", "firewall", "RoCE",
			   "pause", "PFC", "ECN", "switch", "TCP", "iWARP", "ethtool", "netdev"},
	[LINK_KIND_SOFT] = {"LID", "subnet manager", "perfquery", "security group", "EFA", "TCP",
			    "iWARP", "PFC", "ECN", "pause", "switch", "ethtool"},
};

static void fits(enum link_kind link, const char *text)
{
	for (unsigned i = 0; i < 16 && foreign[link][i]; i++)
		if (strstr(text, foreign[link][i]))
			fail_msg("link %d: \"%s\" in: %s", (int)link, foreign[link][i], text);
}

static void words_are_of_the_link(void **state)
{
	(void)state;
	for (enum link_kind link = 0; link < LINK_KINDS; link++) {
		const struct link_words *w = vfault_words(link);

		fits(link, w->way);
		fits(link, w->later);
		fits(link, w->ports);
		fits(link, w->gids);
	}
}

static void statuses_are_of_the_link(void **state)
{
	char text[2048];

	(void)state;
	for (enum link_kind link = 0; link < LINK_KINDS; link++)
		for (int status = IBV_WC_LOC_LEN_ERR; status <= IBV_WC_TM_RNDV_INCOMPLETE; status++)
			for (uint32_t vendor = 0; vendor < 20; vendor++) {
				struct ibv_wc wc = {.status = status, .vendor_err = vendor};
				struct fault f = {0};

				assert_int_equal(vfault_completion(&f, link, &wc, "SEND"), -1);
				fault_format(&f, text, sizeof(text));
				fits(link, text);
				assert_true(f.fix[0]);
				assert_null(strstr(text, "reset"));
				assert_null(strstr(text, "fewer"));
				assert_true(f.code == FAULT_LOCAL || f.code == FAULT_PEER);
			}
}

static void no_answer(void **state)
{
	static const char *const words[] = {
		[LINK_KIND_IB] = "subnet manager", [LINK_KIND_ROCE] = "UDP port 4791",
		[LINK_KIND_IWARP] = "iWARP uses TCP", [LINK_KIND_EFA] = "security group",
		[LINK_KIND_SOFT] = "netdevs of both ends are up", [LINK_KIND_ROCE_V1] = "one VLAN"};

	(void)state;
	for (enum link_kind link = 0; link < LINK_KINDS; link++) {
		struct ibv_wc wc = {.status = IBV_WC_RETRY_EXC_ERR};
		struct fault f = {0};

		vfault_completion(&f, link, &wc, "SEND");
		assert_int_equal(f.code, FAULT_PEER);
		assert_true(vfault_unanswered(&f));
		assert_non_null(strstr(f.fix, words[link]));
		fault_clear(&f);
		wc.status = IBV_WC_LOC_LEN_ERR;
		vfault_completion(&f, link, &wc, "SEND");
		assert_int_equal(strstr(f.fix, "--qp-timeout 18") != NULL, link == LINK_KIND_SOFT);
	}
}

static void kinds(void **state)
{
	struct hca_port p = {.fabric = FABRIC_ROCE};

	(void)state;
	assert_int_equal(hca_link(&p), LINK_KIND_ROCE);
	p.roce_v1 = true;
	assert_int_equal(hca_link(&p), LINK_KIND_ROCE_V1);
	p.attr.vendor_id = 0xffffff;
	assert_int_equal(hca_link(&p), LINK_KIND_SOFT);
	p = (struct hca_port){.fabric = FABRIC_EFA};
	assert_int_equal(hca_link(&p), LINK_KIND_EFA);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_are_of_the_link),
		cmocka_unit_test(statuses_are_of_the_link),
		cmocka_unit_test(no_answer),
		cmocka_unit_test(kinds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
