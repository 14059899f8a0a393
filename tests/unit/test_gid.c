// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* gid: kinds, their order, and which entry is picked. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>

#include "verbs/gid.h"

static struct gid entry(int index, const char *text, uint32_t type)
{
	struct gid g = {.index = index};

	assert_int_equal(inet_pton(AF_INET6, text, g.raw.raw), 1);
	g.kind = gid_kind_of(FABRIC_ROCE, &g.raw, type);
	return g;
}

static struct sockaddr_in v4(const char *text)
{
	struct sockaddr_in sa = {.sin_family = AF_INET};

	inet_pton(AF_INET, text, &sa.sin_addr);
	return sa;
}

static struct sockaddr_in6 v6(const char *text)
{
	struct sockaddr_in6 sa = {.sin6_family = AF_INET6};

	inet_pton(AF_INET6, text, &sa.sin6_addr);
	return sa;
}

static void kinds_of_entries(void **state)
{
	(void)state;
	assert_int_equal(entry(0, "::ffff:192.0.2.1", IBV_GID_TYPE_ROCE_V2).kind, GID_V2_IPV4);
	assert_int_equal(entry(0, "2001:db8::1", IBV_GID_TYPE_ROCE_V2).kind, GID_V2_IPV6);
	assert_int_equal(entry(0, "fe80::1", IBV_GID_TYPE_ROCE_V2).kind, GID_V2_LINK_LOCAL);
	assert_int_equal(entry(0, "::ffff:192.0.2.1", IBV_GID_TYPE_ROCE_V1).kind, GID_V1);
	assert_int_equal(entry(0, "fe80::1", IBV_GID_TYPE_IB).kind, GID_IB);
}

/* As mlx5 lists them: v1 and v2 of each address. */
static size_t table(struct gid *t)
{
	t[0] = entry(0, "fe80::1", IBV_GID_TYPE_ROCE_V1);
	t[1] = entry(1, "fe80::1", IBV_GID_TYPE_ROCE_V2);
	t[2] = entry(2, "::ffff:192.0.2.1", IBV_GID_TYPE_ROCE_V1);
	t[3] = entry(3, "::ffff:192.0.2.1", IBV_GID_TYPE_ROCE_V2);
	t[4] = entry(7, "2001:db8::1", IBV_GID_TYPE_ROCE_V2);
	t[5] = entry(9, "::ffff:198.51.100.1", IBV_GID_TYPE_ROCE_V2);
	return 6;
}

static void order_of_kinds(void **state)
{
	struct gid t[6];
	size_t n = table(t);
	enum gid_kind kinds[GID_KINDS];
	struct sockaddr_in6 local = v6("2001:db8::1"), stranger = v6("2001:db8::2");

	(void)state;
	assert_int_equal(gid_kinds(t, n, NULL, kinds), 4);
	assert_int_equal(kinds[0], GID_V2_IPV4);
	assert_int_equal(kinds[1], GID_V2_IPV6);
	assert_int_equal(kinds[2], GID_V2_LINK_LOCAL);
	assert_int_equal(kinds[3], GID_V1);
	assert_int_equal(gid_kinds(t, n, (struct sockaddr *)&stranger, kinds), 4);
	assert_int_equal(kinds[0], GID_V2_IPV4);
	/* the address that TCP uses leads, each kind stands once */
	assert_int_equal(gid_kinds(t, n, (struct sockaddr *)&local, kinds), 4);
	assert_int_equal(kinds[0], GID_V2_IPV6);
	assert_int_equal(kinds[1], GID_V2_IPV4);
	assert_int_equal(gid_kinds(NULL, 0, NULL, kinds), 0);
}

static void only_ipv6(void **state)
{
	enum gid_kind kinds[GID_KINDS] = {GID_V2_IPV4, GID_V2_LINK_LOCAL, GID_V1, GID_V2_IPV6};

	(void)state;
	assert_int_equal(gid_kinds_ipv6(kinds, 4), 2);
	assert_int_equal(kinds[0], GID_V2_LINK_LOCAL);
	assert_int_equal(kinds[1], GID_V2_IPV6);
	assert_int_equal(gid_kinds_ipv6(kinds, 0), 0);
}

static void picked_entry(void **state)
{
	struct gid t[6];
	size_t n = table(t);
	struct sockaddr_in local = v4("198.51.100.1"), other = v4("203.0.113.1");

	(void)state;
	assert_int_equal(gid_pick(t, n, GID_V2_IPV4, NULL)->index, 3);
	assert_int_equal(gid_pick(t, n, GID_V2_IPV4, (struct sockaddr *)&other)->index, 3);
	assert_int_equal(gid_pick(t, n, GID_V2_IPV4, (struct sockaddr *)&local)->index, 9);
	assert_int_equal(gid_pick(t, n, GID_V2_IPV6, NULL)->index, 7);
	assert_null(gid_pick(t, n, GID_IB, NULL));
}

static void text_forms(void **state)
{
	struct gid g = entry(0, "::ffff:192.0.2.1", IBV_GID_TYPE_ROCE_V2);
	char text[64];

	(void)state;
	assert_string_equal(gid_format(&g.raw, text, sizeof(text)), "192.0.2.1");
	g = entry(0, "2001:db8::1", IBV_GID_TYPE_ROCE_V2);
	assert_string_equal(gid_format(&g.raw, text, sizeof(text)), "2001:db8::1");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kinds_of_entries), cmocka_unit_test(order_of_kinds),
		cmocka_unit_test(only_ipv6),        cmocka_unit_test(picked_entry),
		cmocka_unit_test(text_forms),
	};

	return cmocka_run_group_tests_name("gid", tests, NULL, NULL);
}
