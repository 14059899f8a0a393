// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* peer_log: how many lines peers may cause. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/peer_log.h"
#include "base/units.h"

#define NOW (UINT64_C(5) * UNITS_NS_PER_S)

/* How many of N lines at NS are written. */
static unsigned written(struct peer_log *l, unsigned n, uint64_t ns)
{
	uint64_t omitted;
	unsigned count = 0;

	for (unsigned i = 0; i < n; i++)
		count += peer_log_may(l, 1, ns, &omitted);
	return count;
}

static void at_once_and_later(void **state)
{
	struct peer_log l = PEER_LOG_TO(NULL);
	uint64_t omitted;

	(void)state;
	assert_int_equal(written(&l, 500, NOW), 100);
	assert_int_equal(written(&l, 500, NOW + UNITS_NS_PER_S - 1), 0);
	assert_true(peer_log_may(&l, 1, NOW + UNITS_NS_PER_S, &omitted));
	assert_int_equal(omitted, 400 + 500);
	assert_false(peer_log_may(&l, 1, NOW + UNITS_NS_PER_S, &omitted));
	assert_int_equal(written(&l, 500, NOW + 11 * UNITS_NS_PER_S), 10);
	assert_int_equal(written(&l, 500, NOW + 3600 * UNITS_NS_PER_S), 100);
}

static void several_lines(void **state)
{
	struct peer_log l = {.lock = PTHREAD_MUTEX_INITIALIZER, .most = 100, .period_ns = 10};
	uint64_t omitted;

	(void)state;
	assert_false(peer_log_may(&l, 101, NOW, &omitted));
	assert_false(peer_log_may(&l, UINT64_MAX, NOW, &omitted));
	assert_true(peer_log_may(&l, 100, NOW, &omitted));
	assert_int_equal(omitted, 2);
	assert_false(peer_log_may(&l, 1, NOW + 9, &omitted));
	assert_true(peer_log_may(&l, 1, NOW + 10, &omitted));
	assert_false(peer_log_may(&l, 100, NOW + 1009, &omitted));
	assert_true(peer_log_may(&l, 100, NOW + 1010, &omitted));
}

static void lines(void **state)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	struct peer_log l = PEER_LOG_TO(out);

	(void)state;
	for (int i = 0; i < 110; i++)
		peer_log(&l, "line %d", i);
	l.free_ns = 0; /* much later */
	peer_log(&l, "dropped 192.0.2.1:1: refused");
	peer_log(&l, "the end");
	fclose(out);
	assert_non_null(strstr(text, "rdmark: line 99\n"
				     "rdmark: 10 more lines, not shown\n"
				     "rdmark: dropped 192.0.2.1:1: refused\n"
				     "rdmark: the end\n"));
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(at_once_and_later),
		cmocka_unit_test(several_lines),
		cmocka_unit_test(lines),
	};

	return cmocka_run_group_tests_name("peer_log", tests, NULL, NULL);
}
