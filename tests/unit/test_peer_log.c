// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* peer_log: how many lines a peer, and all peers together, may cause. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/peer_log.h"
#include "base/units.h"

#define NOW UINT64_C(1000000000000)

/* How many of N lines of PEER at NS are written. */
static unsigned written(struct peer_log *l, const char *peer, unsigned n, uint64_t ns)
{
	uint64_t omitted;
	unsigned count = 0;

	for (unsigned i = 0; i < n; i++)
		count += peer_log_may(l, peer, 1, ns, &omitted);
	return count;
}

static void one_peer(void **state)
{
	struct peer_log l = PEER_LOG_TO(NULL);
	uint64_t omitted;

	(void)state;
	assert_int_equal(written(&l, "192.0.2.1:1", 500, NOW), 20);
	assert_int_equal(written(&l, "192.0.2.1:2", 500, NOW), 0); /* another port */
	assert_int_equal(written(&l, "192.0.2.11:1", 5, NOW), 5);  /* another peer */
	assert_int_equal(written(&l, "[2001:db8::1]:1", 25, NOW), 20);
	assert_int_equal(written(&l, "192.0.2.1:1", 10, NOW + 59 * UNITS_NS_PER_S), 0);
	assert_true(peer_log_may(&l, "192.0.2.1:1", 1, NOW + 60 * UNITS_NS_PER_S, &omitted));
	assert_int_equal(omitted, 480 + 500 + 10);
	assert_false(peer_log_may(&l, "192.0.2.1:1", 1, NOW + 60 * UNITS_NS_PER_S, &omitted));
	assert_int_equal(written(&l, "192.0.2.1:1", 500, NOW + 86400 * UNITS_NS_PER_S), 20);
}

static void credit(void **state)
{
	struct peer_log l = {.lock = PTHREAD_MUTEX_INITIALIZER, .each = {10, 100}, .together = {1, 250}};
	uint64_t omitted;

	(void)state;
	assert_false(peer_log_may(&l, "192.0.2.1:1", 101, NOW, &omitted));
	assert_true(peer_log_may(&l, "192.0.2.1:1", 100, NOW, &omitted));
	assert_false(peer_log_may(&l, "192.0.2.1:1", 1, NOW + 9, &omitted));
	assert_true(peer_log_may(&l, "192.0.2.1:1", 1, NOW + 10, &omitted));
	assert_true(peer_log_may(&l, "192.0.2.2:1", 100, NOW + 10, &omitted));
	assert_false(peer_log_may(&l, "192.0.2.3:1", 100, NOW + 10, &omitted));
	assert_true(peer_log_may(&l, "192.0.2.3:2", 59, NOW + 10, &omitted));
	assert_int_equal(omitted, 1);
	assert_int_equal(l.peers, 3);
}

static void all_peers(void **state)
{
	struct peer_log l = PEER_LOG_TO(NULL);
	unsigned count = 0;
	char peer[32];

	(void)state;
	for (int i = 0; i < 5000; i++) {
		snprintf(peer, sizeof(peer), "10.0.%d.%d:7", i / 250, i % 250);
		count += written(&l, peer, 2, NOW + (unsigned)i);
	}
	assert_int_equal(count, 200);
	assert_int_equal(written(&l, "192.0.2.1:1", 20, NOW + 5 * UNITS_NS_PER_S), 5);
}

static void lines(void **state)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	struct peer_log l = PEER_LOG_TO(out);

	(void)state;
	for (int i = 0; i < 30; i++)
		peer_log(&l, "192.0.2.1:1", "line %d of 192.0.2.1", i);
	l.peer[0].account.at_ns = 0; /* much later */
	peer_log(&l, "192.0.2.1:1", "dropped 192.0.2.1:1: refused");
	peer_log(&l, "192.0.2.1:1", "the end");
	fclose(out);
	assert_non_null(strstr(text, "rdmark: line 19 of 192.0.2.1\n"
				     "rdmark: 192.0.2.1: 10 more lines, not shown\n"
				     "rdmark: dropped 192.0.2.1:1: refused\n"
				     "rdmark: the end\n"));
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_peer),
		cmocka_unit_test(credit),
		cmocka_unit_test(all_peers),
		cmocka_unit_test(lines),
	};

	return cmocka_run_group_tests_name("peer_log", tests, NULL, NULL);
}
