// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* transport: what each promises, and what follows from it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "cli/options.h"
#include "verbs/transports.h"

static void each_is_found_by_its_word(void **state)
{
	const struct option_row *row = options_find("connection");

	(void)state;
	for (unsigned i = 0; i < CONNECTIONS; i++) {
		uint64_t value;

		assert_int_equal(options_parse_value(row, transport_of(i)->name, &value, NULL), 0);
		assert_int_equal(value, i);
		assert_non_null(transport_of(i)->create);
	}
	assert_int_equal(row->max, CONNECTIONS - 1);
}

static void only_what_may_be_lost_is_waited_for(void **state)
{
	(void)state;
	assert_int_equal(transport_quiet_ns(transport_rc(), 1 << 20), 0);
	assert_int_equal(transport_quiet_ns(transport_xrc(), 1 << 20), 0);
	assert_int_equal(transport_quiet_ns(transport_uc(), 1000), 100080000);
	assert_int_equal(transport_quiet_ns(transport_ud(), 0), 100000000);
}

static void only_acks_time_out(void **state)
{
	(void)state;
	assert_float_equal(transport_ack_timeout_ns(transport_rc(), 14), 67108864, 1);
	assert_float_equal(transport_ack_timeout_ns(transport_rc(), 0), 0, 0);
	assert_float_equal(transport_ack_timeout_ns(transport_uc(), 14), 0, 0);
	assert_float_equal(transport_ack_timeout_ns(transport_ud(), 14), 0, 0);
}

static void a_device_has_it_or_not(void **state)
{
	struct ibv_device_attr device = {.device_cap_flags = IBV_DEVICE_SRQ_RESIZE};

	(void)state;
	assert_true(transport_is_on(transport_rc(), &device));
	assert_false(transport_is_on(transport_xrc(), &device));
	device.device_cap_flags |= IBV_DEVICE_XRC;
	assert_true(transport_is_on(transport_xrc(), &device));
}

static void a_datagram_is_a_packet(void **state)
{
	(void)state;
	assert_int_equal(transport_max_bytes(transport_rc(), 1024, 1 << 30), 1 << 30);
	assert_int_equal(transport_max_bytes(transport_ud(), 1024, 1 << 30), 1024);
	assert_int_equal(transport_max_bytes(transport_ud(), 4096, 2048), 2048);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_is_found_by_its_word),
		cmocka_unit_test(only_what_may_be_lost_is_waited_for),
		cmocka_unit_test(only_acks_time_out),
		cmocka_unit_test(a_datagram_is_a_packet),
		cmocka_unit_test(a_device_has_it_or_not),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
