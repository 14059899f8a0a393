// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* snapshot: what is known comes back, so does why the rest is not; a peer's lie is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "host/port_events.h"
#include "proto/snapshot.h"

/* A port of each kind of knowledge. */
static struct port_snapshot some(void)
{
	struct port_snapshot s = {.ports = 2};

	for (int i = 0; i < PORT_EVENTS; i++) {
		s.port[0].event[i].known = PORT_EXACT + i % (PORT_KNOWN_KINDS - PORT_EXACT);
		if (port_change_is_known(&s.port[0].event[i]))
			s.port[0].event[i].change = i;
		s.port[1].event[i].known = PORT_NOT_COUNTED;
	}
	s.port[0].event[PORT_LOSS_NAKS] = (struct port_change){
		PORT_EXACT, INT64_MAX, port_event_own(PORT_LOSS_NAKS, "Nak Sequence Error")};
	s.port[0].event[PORT_LOSS_SEEN] = (struct port_change){PORT_UNTOLD};
	s.port[0].seconds = 1.25;
	return s;
}

static void comes_back(void **state)
{
	struct port_snapshot s = some(), back;
	json_t *json = snapshot_to_json(&s), *again;
	struct fault f = {0};

	(void)state;
	assert_int_equal(snapshot_from_json(&back, json, &f), 0);
	assert_int_equal(back.ports, 2);
	for (unsigned p = 0; p < 2; p++) {
		for (int i = 0; i < PORT_EVENTS; i++) {
			const struct port_change *a = &s.port[p].event[i];
			const struct port_change *b = &back.port[p].event[i];

			assert_int_equal(a->known, b->known);
			assert_int_equal(a->change, b->change);
			assert_ptr_equal(a->own, b->own);
		}
	}
	assert_true(back.port[0].seconds == 1.25);
	again = snapshot_to_json(&back);
	assert_true(json_equal(json, again));
	json_decref(json);
	json_decref(again);
}

#define PORT_JSON(changed, unchanged, unknown, rest)                                               \
	"[{\"seconds\": 1, \"changed\": {" changed "}, \"unchanged\": [" unchanged                 \
	"], \"unknown\": {" unknown "}" rest "}]"

static void lies(void **state)
{
	static const char *const bad[] = {
		"{}",
		"[1]",
		"[{}]",
		"[{\"seconds\": 1}]",
		"[{\"seconds\": -1, \"changed\": {}, \"unchanged\": [], \"unknown\": {}}]",
		"[{\"seconds\": 1e9, \"changed\": {}, \"unchanged\": [], \"unknown\": {}}]",
		PORT_JSON("\"crc\": 1", "", "", ""),
		PORT_JSON("\"crc\": {}", "", "", ""),
		PORT_JSON("\"crc\": {\"change\": -1}", "", "", ""),
		PORT_JSON("\"crc\": {\"change\": 1.5}", "", "", ""),
		PORT_JSON("\"crc\": {\"change\": 1, \"counter\": 2}", "", "", ""),
		PORT_JSON("\"crc\": {\"change\": 1, \"caveat\": {}}", "", "", ""),
		PORT_JSON("", "3", "", ""),
		PORT_JSON("\"hops\": {\"change\": 3}", "", "", ""),
		PORT_JSON("", "\"hope\"", "", ""),
		PORT_JSON("", "", "\"moon\": [\"duplicate\"]", ""),
		PORT_JSON("", "", "\"reset\": \"crc\"", ""),
		PORT_JSON("", "", "\"reset\": [[]]", ""),
		PORT_JSON("", "", "\"exact\": [\"crc\"]", ""),
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		json_t *json = json_loads(bad[i], 0, NULL);
		struct fault f = {0};
		struct port_snapshot s;

		assert_non_null(json);
		if (!snapshot_from_json(&s, json, &f))
			fail_msg("%s is taken", bad[i]);
		assert_int_equal(f.code, FAULT_PEER);
		assert_int_equal(s.ports, 0);
		json_decref(json);
	}
}

static void too_many_ports(void **state)
{
	json_t *json = json_array(), *list = json_loads(PORT_JSON("", "", "", ""), 0, NULL);
	json_t *one = json_array_get(list, 0);
	struct fault f = {0};
	struct port_snapshot s;

	(void)state;
	for (int i = 0; i < PORT_EVENTS_PORTS; i++)
		json_array_append(json, one);
	assert_int_equal(snapshot_from_json(&s, json, &f), 0);
	assert_int_equal(s.ports, PORT_EVENTS_PORTS);
	json_array_append(json, one);
	assert_int_equal(snapshot_from_json(&s, json, &f), -1);
	json_decref(json);
	json_decref(list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(comes_back),
		cmocka_unit_test(lies),
		cmocka_unit_test(too_many_ports),
	};

	return cmocka_run_group_tests_name("snapshot", tests, NULL, NULL);
}
