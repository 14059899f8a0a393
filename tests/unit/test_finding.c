// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* finding: the catalogue's words, and a list of findings. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include <string.h>

#include "finding/finding.h"
#include "finding/why.h"

static char text[512];

static const char *words(const char *template, const struct finding_facts *f)
{
	return finding_words(text, sizeof(text), template, f);
}

static void values(void **state)
{
	const struct finding_facts f = {
		.end = "client",
		.share = 0.217,
		.value = {FINDING_NUMBER("count", 12, ""), FINDING_NUMBER("link", 98.04, "Gb/s"),
			  FINDING_NUMBER("slow", 0.0321, "Gb/s"), FINDING_NUMBER("port", 100, "Gb/s"),
			  FINDING_NUMBER("size", 65536, "B"), FINDING_NUMBER("cpu", 0.045, "share"),
			  FINDING_NUMBER("unknown", NAN, "us"), FINDING_WORD("who", "n17")}};
	const struct finding_facts slow = {.value = {FINDING_NUMBER("took", 10273.6, "us")}};

	(void)state;
	assert_string_equal(words("{count} of {link} or {slow}, {port}", &f),
			    "12 of 98.0 Gb/s or 0.0321 Gb/s, 100 Gb/s");
	assert_string_equal(words("{who}: {size}, {cpu}", &f), "n17: 64 KiB, 4.5 %");
	assert_string_equal(words("{took}", &slow), "10274 us");
	assert_string_equal(words("the {end} for {share}", &f), "the client for 22 %");
	assert_string_equal(words("{unknown} {nothing}", &f), "? ?");
	assert_string_equal(words("a[, b {unknown}][, c {who}][, d]", &f), "a, c n17, d");
	assert_string_equal(words("open { brace", &f), "open { brace");
}

/* A share that is not worth saying, or none, is as if it were unknown. */
static void shares(void **state)
{
	struct finding f;

	(void)state;
	assert_string_equal(words("a[ {share}]", &(struct finding_facts){.share = 0.009}), "a");
	assert_string_equal(words("a[ {end}]", &(struct finding_facts){.share = 0.009}), "a");
	finding_make(&f, &(struct finding_facts){.code = FINDING_PAUSED});
	assert_true(isnan(f.is.share));
	finding_make(&f, &(struct finding_facts){.code = FINDING_PAUSED, .share = 6.85});
	assert_true(f.is.share == 1);
}

/* Every code has a name of its own in its group, and words without a slip. */
static void catalogue(void **state)
{
	static const char *const group[] = {
#define FINDING(symbol, group, ...) #group,
#include "finding/catalogue.def"
#undef FINDING
	};

	(void)state;
	for (int i = 0; i < FINDING_CODES; i++) {
		const char *next = finding_next(i);
		int depth = 0;

		assert_true(finding_name(i)[strspn(finding_name(i), "abcdefghijklmnopqrstuvwxyz_")] ==
			    '\0');
		for (int k = 0; k < i; k++)
			assert_true(strcmp(group[i], group[k]) != 0 ||
				    strcmp(finding_name(i), finding_name(k)) != 0);
		for (; *next; next++)
			depth += *next == '[' || *next == '{' ? 1 : *next == ']' || *next == '}' ? -1 : 0;
		assert_int_equal(depth, 0);
	}
}

static void more_than_fit(void **state)
{
	struct findings to = {.count = 0};

	(void)state;
	for (int i = 0; i < FINDINGS_MAX + 3; i++)
		finding_add(&to, &(struct finding_facts){.code = i % FINDING_CODES});
	assert_int_equal(to.count, FINDINGS_MAX);
	assert_int_equal(to.list[FINDINGS_MAX - 1].is.code, FINDINGS_MAX + 2);
	assert_non_null(findings_find(&to, 3));
	assert_null(findings_find(&to, FINDINGS_MAX));
}

static void faults_and_large_shares_first(void **state)
{
	struct findings to = {.count = 0};

	(void)state;
	finding_add(&to, &(struct finding_facts){.code = FINDING_CONGESTION});
	finding_add(&to, &(struct finding_facts){.code = FINDING_PAUSED, .share = 0.1});
	finding_add(&to, &(struct finding_facts){.code = FINDING_PACKET_LOSS, .share = 0.2});
	finding_add(&to, &(struct finding_facts){.code = FINDING_LINK_WENT_DOWN,
						 .level = FINDING_FAULT});
	findings_sort(&to);
	assert_int_equal(to.list[0].is.code, FINDING_LINK_WENT_DOWN);
	assert_int_equal(to.list[1].is.code, FINDING_PACKET_LOSS);
	assert_int_equal(to.list[2].is.code, FINDING_PAUSED);
	assert_int_equal(to.list[3].is.code, FINDING_CONGESTION);
}

static void document(void **state)
{
	struct findings to = {.count = 0};
	json_t *j = finding_to_json(finding_add(
		&to, &(struct finding_facts){.code = FINDING_PAUSED,
					     .level = FINDING_WARN,
					     .strength = FINDING_MAY_BE,
					     .end = "client",
					     .share = 0.5,
					     .value = {FINDING_NUMBER("a", 3, "us"),
						       FINDING_WORD("sink", "server"),
						       FINDING_NUMBER("b", NAN, "")}}));
	const char *code, *level, *strength, *end, *name;
	double value;
	json_t *b;

	(void)state;
	assert_int_equal(json_unpack(j, "{s:s, s:s, s:s, s:s, s:[{s:s, s:F}, {s:o}!]}", "code", &code,
				     "level", &level, "strength", &strength, "end", &end, "evidence",
				     "name", &name, "value", &value, "value", &b),
			 0);
	assert_string_equal(code, "paused");
	assert_string_equal(level, "warn");
	assert_string_equal(strength, "may_be");
	assert_string_equal(end, "client");
	assert_string_equal(name, "a");
	assert_true(value == 3 && json_is_null(b));
	json_decref(j);
}

/* Cause and fix of a fault are in the words of why.def; a part whose value is not known is left out. */
static void a_fault_says_why(void **state)
{
	struct fault f = {0};

	(void)state;
	fault_raise(&f, FAULT_LOCAL, 0, "export");
	assert_int_equal(EXPLAIN(&f, EXPORT_REFUSED, {"result", "E"}, FINDING_NUMBER("number", 7, "")), -1);
	assert_string_equal(f.cause, "The driver does not export this memory: E (7)");
	assert_string_equal(f.fix, "");
	fault_clear(&f);
	fault_raise(&f, FAULT_LOCAL, 0, "again");
	EXPLAIN(&f, CM_LATE, {"way", "the cable"});
	assert_string_equal(f.fix, "check the cable; --timeout sets the deadline");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_fault_says_why),
		cmocka_unit_test(values),        cmocka_unit_test(shares),
		cmocka_unit_test(catalogue),     cmocka_unit_test(more_than_fit),
		cmocka_unit_test(faults_and_large_shares_first),
		cmocka_unit_test(document),
	};

	return cmocka_run_group_tests_name("finding", tests, NULL, NULL);
}
