// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* transport: what each promises, and what follows from it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dlfcn.h>
#include <infiniband/efadv.h>

#include "cli/options.h"
#include "verbs/efa.h"
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
	assert_int_equal(transport_quiet_ns(transport_srd(), 1 << 20), 0);
}

static void only_the_next_one_needs_no_number(void **state)
{
	(void)state;
	assert_false(transport_numbers(transport_rc()));
	assert_true(transport_numbers(transport_uc()));
	assert_true(transport_numbers(transport_ud()));
	assert_true(transport_numbers(transport_srd()));
}

/* Our declarations of libefa's structures are those of its header, which may be older. */
static void libefa_s_structures(void **state)
{
#define SAME(ours, theirs, member) \
	assert_int_equal(offsetof(struct ours, member), offsetof(struct theirs, member))
	(void)state;
	SAME(efa_attr, efadv_device_attr, max_rq_wr);
	SAME(efa_attr, efadv_device_attr, max_rq_sge);
	SAME(efa_attr, efadv_device_attr, inline_buf_size);
	SAME(efa_attr, efadv_device_attr, device_caps);
	SAME(efa_attr, efadv_device_attr, max_rdma_size);
	assert_int_equal(sizeof(struct efa_attr), sizeof(struct efadv_device_attr));
	SAME(efa_qp_attr, efadv_qp_init_attr, comp_mask);
	SAME(efa_qp_attr, efadv_qp_init_attr, driver_qp_type);
	assert_true(sizeof(struct efa_qp_attr) >= sizeof(struct efadv_qp_init_attr));
	assert_int_equal(EFA_READ, EFADV_DEVICE_ATTR_CAPS_RDMA_READ);
	assert_int_equal(EFA_RNR_RETRY, EFADV_DEVICE_ATTR_CAPS_RNR_RETRY);
}

/* It is never linked: without it there is one error, with a fix. */
static void libefa_may_be_missing(void **state)
{
	void *library = dlopen("libefa.so.1", RTLD_NOW);
	struct fault f = {0};

	(void)state;
	assert_int_equal(efa_check("efa_0", &f), library ? 0 : -1);
	assert_int_equal(f.code, library ? FAULT_NONE : FAULT_UNAVAILABLE);
	if (library)
		dlclose(library);
}

static void only_acks_time_out(void **state)
{
	(void)state;
	assert_float_equal(transport_ack_timeout_ns(transport_rc(), 14), 67108864, 1);
	assert_float_equal(transport_ack_timeout_ns(transport_rc(), 0), 0, 0);
	assert_float_equal(transport_ack_timeout_ns(transport_uc(), 14), 0, 0);
	assert_float_equal(transport_ack_timeout_ns(transport_ud(), 14), 0, 0);
	assert_float_equal(transport_ack_timeout_ns(transport_srd(), 14), 0, 0);
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
		cmocka_unit_test(only_the_next_one_needs_no_number),
		cmocka_unit_test(libefa_s_structures),
		cmocka_unit_test(libefa_may_be_missing),
		cmocka_unit_test(only_acks_time_out),
		cmocka_unit_test(a_datagram_is_a_packet),
		cmocka_unit_test(a_device_has_it_or_not),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
