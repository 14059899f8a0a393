// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <jansson.h>
#include <string.h>

#include "nomem.h"
#include "proto/fields.h"
#include "proto/json_memory.h"

static const char text[] = "{\"kind\":\"pair\",\"list\":[1,2.5,\"three\"],\"more\":{\"a\":true}}";

static bool is_in(const void *p, const char *room, size_t bytes)
{
	return (const char *)p >= room && (const char *)p < room + bytes;
}

/* Read the text and drop it. Returns where its object and its first text were. */
static void read_text(const void **object, const void **word)
{
	json_t *o = json_loads(text, 0, NULL);

	assert_non_null(o);
	assert_string_equal(json_string_value(json_object_get(o, "kind")), "pair");
	assert_int_equal(json_array_size(json_object_get(o, "list")), 3);
	*object = o;
	*word = json_string_value(json_object_get(o, "kind"));
	json_decref(o);
}

static void a_room_is_used_again_for_each_line(void **state)
{
	_Alignas(max_align_t) char room[16384];
	const void *object[2], *word[2];

	(void)state;
	for (int i = 0; i < 2; i++) {
		json_memory_room(room, sizeof(room));
		read_text(&object[i], &word[i]);
		assert_true(is_in(object[i], room, sizeof(room)));
		assert_true(is_in(word[i], room, sizeof(room)));
	}
	assert_ptr_equal(object[0], object[1]);
	assert_ptr_equal(word[0], word[1]);
	json_memory_room(NULL, 0);
	read_text(&object[0], &word[0]);
	assert_false(is_in(object[0], room, sizeof(room)));
}

/* From none to all of what the text needs: what has no room is malloc's, and freed. */
static void a_room_may_be_too_small(void **state)
{
	_Alignas(max_align_t) char room[4096];
	const void *object, *word;

	(void)state;
	for (size_t bytes = 0; bytes <= sizeof(room); bytes += 24) {
		json_memory_room(room, bytes);
		read_text(&object, &word);
	}
	json_memory_room(NULL, 0);
	assert_int_equal(json_memory_failures(), 0);
}

/* jansson 2.14 aborts where a number does not fit into a buffer that cannot grow. */
static void a_text_is_read_whole_or_not_at_all(void **state)
{
	static const char *const some[] = {text, "[1234567890.123456789,\"two\"]",
					   "{\"a\":12345678901234567,\"b\":1.5e-12}"};

	(void)state;
	if (!NOMEM)
		skip();
	for (size_t i = 0; i < 3; i++)
		for (int all = 0; all < 2; all++)
			for (long nth = 1; nth < 60; nth++) {
				json_t *whole = json_loads(some[i], 0, NULL), *o;
				uint64_t before = json_memory_failures();

				nomem_from(nth, all);
				o = json_memory_load(some[i], strlen(some[i]), 0, NULL);
				nomem_from(0, false);
				assert_int_equal(!o, json_memory_failures() != before);
				assert_true(!o || json_equal(o, whole));
				assert_true(o || nth < 40);
				json_decref(o);
				json_decref(whole);
			}
	assert_true(json_memory_failed());
}

/* What is written instead of a text that is not UTF-8 needs memory, too. */
static void a_strange_text_that_is_missing_is_counted(void **state)
{
	uint64_t before = json_memory_failures();

	(void)state;
	if (!NOMEM)
		skip();
	nomem_from(1, true);
	assert_null(json_text("\xff"));
	nomem_from(0, false);
	assert_true(json_memory_failures() != before);
	assert_true(json_memory_failed());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_room_is_used_again_for_each_line),
		cmocka_unit_test(a_room_may_be_too_small),
		cmocka_unit_test(a_text_is_read_whole_or_not_at_all),
		cmocka_unit_test(a_strange_text_that_is_missing_is_counted),
	};

	json_memory_init();
	return cmocka_run_group_tests_name("json_memory", tests, NULL, NULL);
}
