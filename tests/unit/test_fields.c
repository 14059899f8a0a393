// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* fields: what was put into JSON comes back unchanged, and a peer's lie about any member is refused by its name. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "proto/fields.h"

enum fruit {
	APPLE,
	PEAR,
	OTHER
};

struct thing {
	uint8_t small;
	uint16_t lid;
	uint32_t key;
	uint64_t count, limited;
	int errnum;
	int64_t port;
	double seconds, perhaps;
	bool on, found;
	char name[8];
	enum fruit fruit, strict;
	uint64_t place;
	const char *own;
};

#define ROW(member, ...) FIELD(struct thing, member, __VA_ARGS__)
static const struct field rows[] = {
	ROW(small),
	ROW(lid),
	ROW(key),
	ROW(count, FIELD_REQUIRED),
	ROW(limited, .min = 2, .max = 10),
	ROW(errnum),
	ROW(port, FIELD_ALWAYS),
	ROW(seconds),
	ROW(perhaps, .may_be_unknown = true),
	ROW(on, FIELD_ALWAYS),
	ROW(name),
	ROW(fruit, FIELD_ALWAYS, .words = "apple|pear|other"),
	ROW(strict, .words = "apple|pear|other"),
	ROW(own),
	FIELD_OF(FIELD_SIGNED, "at", struct thing, place, FIELD_REQUIRED, .group = "where",
		 FIELD_IF(struct thing, found)),
};
static const struct fields table = FIELDS(rows, "the thing has an invalid");
static const struct fields message = FIELDS(rows, NULL);

static json_t *parse(const char *text)
{
	json_t *json = json_loads(text, 0, NULL);

	assert_non_null(json);
	return json;
}

static void comes_back_as_it_was(void **state)
{
	struct thing full, back;
	struct fault f = {0};
	json_t *json;

	(void)state;
	memset(&full, 0, sizeof(full));
	memset(&back, 0, sizeof(back));
	full.small = UINT8_MAX;
	full.lid = UINT16_MAX;
	full.key = UINT32_MAX;
	full.count = INT64_MAX;
	full.limited = 10;
	full.errnum = -5;
	full.port = INT64_MIN;
	full.seconds = 0.25;
	full.on = full.found = true;
	strcpy(full.name, "n1");
	full.fruit = full.strict = PEAR;
	full.place = UINT64_C(0x8000000000000001); /* a device address has all 64 bits */
	json = fields_write(&table, &full, json_object());
	assert_int_equal(json_object_size(json),
			 sizeof(rows) / sizeof(rows[0]) - 2); /* perhaps, own */
	assert_int_equal(fields_read(&table, &back, json, &f), 0);
	back.found = true;
	assert_memory_equal(&back, &full, sizeof(full));
	json_decref(json);
}

static void zero_is_left_out(void **state)
{
	struct thing zero = {0}, back = {.lid = 7, .perhaps = 1};
	json_t *json = fields_write(&table, &zero, json_object());
	struct fault f = {0};

	(void)state;
	assert_int_equal(json_object_size(json), 4); /* count, port, on, fruit */
	assert_int_equal(fields_read(&table, &back, json, &f), 0);
	assert_int_equal(back.lid, 7); /* the caller's default */
	assert_null(json_object_get(json, "own"));
	json_object_set_new(json, "perhaps", json_null());
	assert_int_equal(fields_read(&table, &back, json, &f), 0);
	assert_true(isnan(back.perhaps));
	json_decref(json);
}

static void a_text_is_cut(void **state)
{
	json_t *json = parse("{\"count\": 1, \"name\": \"0123456789\"}");
	struct thing t = {0};
	struct fault f = {0};

	(void)state;
	assert_int_equal(fields_read(&table, &t, json, &f), 0);
	assert_string_equal(t.name, "0123456");
	json_decref(json);
}

static void a_lie_is_refused_by_name(void **state)
{
	static const struct {
		const char *text, *key;
	} lies[] = {
		{"{}", "count"},
		{"[]", "count"},
		{"{\"count\": -1}", "count"},
		{"{\"count\": 1.0}", "count"},
		{"{\"count\": true}", "count"},
		{"{\"count\": null}", "count"},
		{"{\"count\": \"1\"}", "count"},
		{"{\"count\": 1, \"small\": 256}", "small"},
		{"{\"count\": 1, \"lid\": 65536}", "lid"},
		{"{\"count\": 1, \"key\": 4294967296}", "key"},
		{"{\"count\": 1, \"limited\": 1}", "limited"},
		{"{\"count\": 1, \"limited\": 11}", "limited"},
		{"{\"count\": 1, \"errnum\": 2147483648}", "errnum"},
		{"{\"count\": 1, \"port\": 1.5}", "port"},
		{"{\"count\": 1, \"seconds\": -0.5}", "seconds"},
		{"{\"count\": 1, \"seconds\": 1e16}", "seconds"},
		{"{\"count\": 1, \"seconds\": null}", "seconds"},
		{"{\"count\": 1, \"seconds\": \"1\"}", "seconds"},
		{"{\"count\": 1, \"perhaps\": false}", "perhaps"},
		{"{\"count\": 1, \"on\": 1}", "on"},
		{"{\"count\": 1, \"name\": 1}", "name"},
		{"{\"count\": 1, \"fruit\": 1}", "fruit"},
		{"{\"count\": 1, \"strict\": \"kiwi\"}", "strict"},
		{"{\"count\": 1, \"strict\": \"\"}", "strict"},
		{"{\"count\": 1, \"strict\": \"pear|other\"}", "strict"},
		{"{\"count\": 1, \"own\": \"text\"}", "own"}, /* nobody would free it */
		{"{\"count\": 1, \"where\": 1}", "where_at"},
		{"{\"count\": 1, \"where\": {}}", "where_at"},
		{"{\"count\": 1, \"where\": {\"at\": []}}", "where_at"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
		json_t *json = parse(lies[i].text);
		char want[64], also[80];
		struct fault f = {0}, g = {0};
		struct thing t = {0};

		snprintf(want, sizeof(want), "the thing has an invalid %s", lies[i].key);
		snprintf(also, sizeof(also), "the peer's message '' has no valid '%s'", lies[i].key);
		assert_int_equal(fields_read(&table, &t, json, &f), -1);
		assert_int_equal(fields_read(&message, &t, json, &g), -1);
		assert_int_equal(f.code, FAULT_PEER);
		assert_string_equal(f.call, want);
		assert_string_equal(g.call, also);
		json_decref(json);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(comes_back_as_it_was),
		cmocka_unit_test(zero_is_left_out),
		cmocka_unit_test(a_text_is_cut),
		cmocka_unit_test(a_lie_is_refused_by_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
