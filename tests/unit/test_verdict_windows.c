// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* verdict: what its windows leave open. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "verdict_facts.h"

static void how_sure_it_is(void **state)
{
	struct eval_cell c = unsure(196, 1, 0.04);
	struct verdict_facts x = facts_of(&c);
	struct verdict v = reach(&x);

	(void)state;
	assert_string_equal(
		v.line,
		"PASS GPUDirect within 5 % of host memory: GPU to GPU, client->server: 196.0 Gb/s, "
		"100.0 % of host memory's 196.0 Gb/s (95 % interval: 96.0 to 104.0 %; 70 windows)");
	assert_true(v.ratio == 1 && fabs(v.ratio_low - 0.96) < 1e-9 &&
		    fabs(v.ratio_high - 1.04) < 1e-9 && v.windows == 70);
	c.ratio.count = 1;
	c.ratio.high = INFINITY;
	assert_non_null(strstr(reach(&x).line, "(1 window: no interval)"));
}

#define TOO_DIFFERENT                                                                           \
	"The windows differ too much to tell. Measure longer ones (-D 30), allow more of them " \
	"(--extra-windows 200), or wait until hosts and fabric are quiet."

/* Where the interval has a limit in it: neither side of it, and 0 only for who asked for nothing.
 */
static void inconclusive(void **state)
{
	static const struct {
		double ratio, half;
		const char *open;
	} row[] = {
		{0.96, 0.02, ": too noisy to tell whether that is within 5 %"},
		{0.90, 0.08, ": too noisy to tell whether that is within 5 %"},
		{0.90, 0.12, ": too noisy to tell whether that is within 5 %"},
		{0.82, 0.03, ": less than 95 %, but too noisy to tell whether it is 80 %"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		struct eval_cell c = unsure(200, row[i].ratio, row[i].half);
		struct verdict_facts x = facts_of(&c);
		struct verdict v = reach(&x);

		assert_int_equal(v.level, VERDICT_INCONCLUSIVE);
		assert_int_equal(v.exit_status, 0);
		assert_string_equal(v.cause, "noise");
		assert_non_null(strstr(v.line, row[i].open));
		assert_string_equal(v.next, TOO_DIFFERENT);
		/* Who looks for these words must not find them. */
		assert_null(strstr(v.line, "PASS"));
		assert_null(strstr(v.line, "FAIL"));
		x.within_given = true;
		assert_int_equal(reach(&x).exit_status, 6);
	}
}

static void windows_at_two_rates(void **state)
{
	struct eval_cell c = unsure(196, 0.75, 0.06);
	struct verdict_facts x = facts_of(&c);

	(void)state;
	c.gpu.groups = WINDOWS_TWO;
	c.gpu.modes = (struct modes){80, 190, 30};
	eval_set_levels(&c, 0.05);
	expect(&x, 0, "two_groups",
	       "WARN GPU to GPU, client->server: 147.0 Gb/s, 75.0 % of host memory's 196.0 Gb/s: "
	       "its windows fall into two groups: 30 of 70 at 80.0 Gb/s, the others at 190.0",
	       "Something slows it down at times: check for other work on GPU, NIC and fabric, "
	       "the ports' counters and throttling (nvidia-smi -q -d PERFORMANCE), and measure "
	       "longer windows (-D 30).");
	c.ratio.high = 0.79;
	eval_set_levels(&c, 0.05);
	expect_cause(&x, VERDICT_FAIL, "unknown",
		     "Also: its windows fall into two groups: 30 of 70");
	c = unsure(196, 1, 0.01);
	c.host.groups = WINDOWS_PERHAPS_TWO; /* too few windows to say, too many to pass */
	c.host.modes = (struct modes){150, 199, 3};
	eval_set_levels(&c, 0.05);
	x = facts_of(&c);
	expect_cause(
		&x, VERDICT_INCONCLUSIVE, "two_groups",
		": it seems that host memory's windows fall into two groups: 3 of 71 at 150.0");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(how_sure_it_is),
		cmocka_unit_test(inconclusive),
		cmocka_unit_test(windows_at_two_rates),
	};

	return cmocka_run_group_tests_name("verdict_windows", tests, NULL, NULL);
}
