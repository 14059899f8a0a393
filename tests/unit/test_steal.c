// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* steal: from what /proc/stat says before and after; and where it says nothing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <unistd.h>

#include "host/steal.h"
#include "tree.h"

#define SECOND UINT64_C(1000000000)

#define STAT(one, two)                                       \
	"cpu  9 9 9 9 9 9 9 999 0 0\n"                       \
	"cpu0 10881 13019 4453 118005 213 0 8 " one " 0 0\n" \
	"cpu1 9600 16304 5788 114030 866 0 71 " two " 0 0\n" \
	"intr 1 2 3\n"

/* A span of so long in which the file changed from BEFORE to AFTER. */
static struct steal span(void **state, const char *before, const char *after, uint64_t ns)
{
	struct steal s;

	tree_put(state, "stat", before);
	steal_open(&s, tree_path(state, "stat"));
	steal_start(&s);
	tree_put(state, "stat", after);
	steal_stop(&s);
	s.elapsed_ns = ns;
	return s;
}

static void of_that_cpu(void **state)
{
	struct steal s = span(state, STAT("24", "28"), STAT("24", "39"), SECOND);

	/* 11 ticks, the first of which may be older, are 100 ms at least */
	assert_int_equal(sysconf(_SC_CLK_TCK), 100);
	assert_true(steal_percent(&s, 0) == 0);
	assert_true(fabs(steal_percent(&s, 1) - 10) < 1e-9);
	assert_true(isnan(steal_percent(&s, 2)));
	assert_true(isnan(steal_percent(&s, -1)));
	steal_close(&s);
	s = span(state, STAT("24", "28"), STAT("25", "999"), SECOND);
	assert_true(steal_percent(&s, 0) == 0);
	assert_true(steal_percent(&s, 1) == 100);
	steal_close(&s);
}

static void not_known(void **state)
{
	struct steal s = span(state, STAT("24", "28"), STAT("24", "39"), SECOND / 10 - 1);

	assert_true(isnan(steal_percent(&s, 1))); /* so short */
	steal_close(&s);
	s = span(state, STAT("24", "28"), STAT("24", "3"), SECOND);
	assert_true(isnan(steal_percent(&s, 1))); /* backwards */
	steal_close(&s);
	s = span(state, "cpu 1 2 3\ncpu1 1 2 3 4\n", "", SECOND);
	assert_true(isnan(steal_percent(&s, 1)));
	steal_close(&s);
	steal_close(&s);
	steal_open(&s, tree_path(state, "nothing"));
	steal_start(&s);
	steal_stop(&s);
	assert_true(isnan(steal_percent(&s, 0)));
	steal_close(&s);
}

/* This machine's own file is one that it can read, of all CPUs. */
static void of_this_machine(void **state)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	unsigned known = 0;
	struct steal s;

	(void)state;
	steal_open(&s, "/proc/stat");
	steal_start(&s);
	steal_stop(&s);
	s.elapsed_ns = 100 * SECOND;
	for (int i = 0; i < 8192; i++)
		known += !isnan(steal_percent(&s, i));
	assert_int_equal(known, cpus);
	steal_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(of_that_cpu, tree_make, tree_remove),
		cmocka_unit_test_setup_teardown(not_known, tree_make, tree_remove),
		cmocka_unit_test(of_this_machine),
	};

	return cmocka_run_group_tests_name("steal", tests, NULL, NULL);
}
