// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/composed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "nomem.h"

#define NUMBERS 5000

/* The numbers up to NUMBERS, with commas; NULL: no memory. */
static char *compose(struct composed *c)
{
	FILE *out = composed_open(c);

	for (int i = 0; out && i < NUMBERS; i++)
		fprintf(out, "%d,", i);
	return composed_close(c);
}

static void a_text_is_what_was_written(void **state)
{
	struct composed c;
	char *text = compose(&c), *at = text;

	(void)state;
	for (int i = 0; i < NUMBERS; i++, at++)
		assert_int_equal(strtol(at, &at, 10), i);
	assert_int_equal(*at, '\0');
	assert_int_equal(c.used, at - text);
	free(text);
	assert_non_null(composed_open(&c));
	text = composed_close(&c);
	assert_string_equal(text, "");
	assert_int_equal(c.used, 0);
	free(text);
}

/* With open_memstream() of glibc 2.36 some bytes are missing. */
static void a_text_is_whole_or_none(void **state)
{
	struct composed c;
	char *whole = compose(&c), *text;
	int none = 0;

	(void)state;
	if (!NOMEM)
		skip();
	for (int all = 0; all < 2; all++)
		for (long nth = 1; nth < 12; nth++) {
			nomem_from(nth, all);
			text = compose(&c);
			nomem_from(0, false);
			none += !text;
			if (text)
				assert_string_equal(text, whole);
			free(text);
		}
	assert_in_range(none, 8, 21); /* where stdio finds no memory for a buffer, it does without */
	free(whole);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_text_is_what_was_written),
		cmocka_unit_test(a_text_is_whole_or_none),
	};

	return cmocka_run_group_tests_name("composed", tests, NULL, NULL);
}
