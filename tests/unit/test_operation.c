// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* operation: what follows from what a test's messages are. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/rate.h"
#include "cli/options.h"
#include "plan/test.h"
#include "verbs/hca.h"
#include "verbs/transports.h"

static const struct operation sends = {"SEND", IBV_WR_SEND, IBV_WR_SEND_WITH_IMM};
static const struct operation writes = {.name = "RDMA WRITE",
					.opcode = IBV_WR_RDMA_WRITE,
					.another = IBV_WR_RDMA_WRITE_WITH_IMM,
					.peer_allows = IBV_ACCESS_REMOTE_WRITE,
					.halved = true};
static const struct operation reads = {.name = "RDMA READ",
				       .opcode = IBV_WR_RDMA_READ,
				       .another = IBV_WR_RDMA_READ,
				       .peer_allows = IBV_ACCESS_REMOTE_READ};
static const struct operation atomics = {.name = "an atomic operation",
					 .opcode = IBV_WR_ATOMIC_CMP_AND_SWP,
					 .another = IBV_WR_ATOMIC_FETCH_AND_ADD,
					 .peer_allows = IBV_ACCESS_REMOTE_ATOMIC,
					 .fixed_bytes = 8};

static struct test test_of(const struct operation *o, bool latency)
{
	return (struct test){.name = "x",
			     .operation = *o,
			     .latency = latency};
}

static struct experiment defaults(void)
{
	return (struct experiment){EXPERIMENT_DEFAULTS, .size_bytes = 8, .tx_depth = 1};
}

static void traits_follow(void **state)
{
	struct test t = test_of(&sends, true);

	(void)state;
	assert_int_equal(operation_traits(&t), TRAIT_LATENCY | TRAIT_RECEIVES);
	t = test_of(&writes, false);
	assert_int_equal(operation_traits(&t), TRAIT_BANDWIDTH | TRAIT_WRITES);
	t = test_of(&reads, true);
	assert_int_equal(operation_traits(&t), TRAIT_LATENCY | TRAIT_READS);
	t = test_of(&atomics, false);
	assert_int_equal(operation_traits(&t), TRAIT_BANDWIDTH | TRAIT_ATOMICS);
}

static void options_follow_from_traits(void **state)
{
	static const struct {
		const char *option;
		bool send_lat, write_bw, read_lat, atomic_bw;
	} table[] = {
		{"iters", true, true, true, true},
		{"qp", false, true, false, true},
		{"size", true, true, true, false},
		{"rx-depth", true, true, false, false},
		{"inline_size", true, true, false, false},
		{"outs", false, false, true, true},
		{"atomic_type", false, false, false, true},
		{"write_with_imm", false, true, false, false},
		{"send_with_imm", true, false, false, false},
		{"latency_gap", true, false, true, false},
		{"gpu", true, true, true, false},
		{"plain", false, false, false, false},
	};
	struct test send_lat = test_of(&sends, true), write_bw = test_of(&writes, false);
	struct test read_lat = test_of(&reads, true), atomic_bw = test_of(&atomics, false);

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		const struct option_row *row = options_find(table[i].option);

		assert_int_equal(options_applies(row, operation_traits(&send_lat)), table[i].send_lat);
		assert_int_equal(options_applies(row, operation_traits(&write_bw)), table[i].write_bw);
		assert_int_equal(options_applies(row, operation_traits(&read_lat)), table[i].read_lat);
		assert_int_equal(options_applies(row, operation_traits(&atomic_bw)),
				 table[i].atomic_bw);
		assert_true(options_applies(row, 0));
	}
}

static void opcodes_and_rights(void **state)
{
	struct experiment e = defaults();

	(void)state;
	assert_int_equal(operation_opcode(&writes, &e, false), IBV_WR_RDMA_WRITE);
	assert_int_equal(operation_opcode(&writes, &e, true), IBV_WR_RDMA_WRITE_WITH_IMM);
	assert_int_equal(operation_opcode(&reads, &e, false), IBV_WR_RDMA_READ);
	assert_int_equal(operation_opcode(&sends, &e, false), IBV_WR_SEND);
	e.send_with_imm = 1;
	assert_int_equal(operation_opcode(&sends, &e, false), IBV_WR_SEND_WITH_IMM);
	e.send_with_imm = 0;
	assert_int_equal(operation_send_ops(&sends),
			 IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM);
	e.atomic_type = ATOMIC_CMP_AND_SWAP;
	assert_int_equal(operation_opcode(&atomics, &e, false), IBV_WR_ATOMIC_CMP_AND_SWP);
	e.atomic_type = ATOMIC_FETCH_AND_ADD;
	assert_int_equal(operation_opcode(&atomics, &e, false), IBV_WR_ATOMIC_FETCH_AND_ADD);
	assert_int_equal(operation_send_ops(&atomics), IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP |
							       IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD);
	assert_true(operation_latency_us(&writes, 3000) == 1.5);
	assert_true(operation_latency_us(&reads, 3000) == 3);
}

static int refused(const struct operation *o, const struct experiment *e)
{
	struct test t = test_of(o, false);
	struct fault f = {0};

	if (operation_check(&t, e, &f) == 0)
		return 0;
	assert_int_equal(f.code, FAULT_USAGE);
	assert_true(f.call[0] && f.fix[0]);
	return 1;
}

static void what_a_transport_cannot_do(void **state)
{
	struct experiment e = defaults();

	(void)state;
	e.connection = CONNECTION_UC;
	assert_false(refused(&sends, &e) || refused(&writes, &e));
	assert_true(refused(&reads, &e) && refused(&atomics, &e));
	e.connection = CONNECTION_UD;
	assert_false(refused(&sends, &e));
	assert_true(refused(&writes, &e) && refused(&reads, &e) && refused(&atomics, &e));
	e.connection = CONNECTION_SRD;
	assert_false(refused(&sends, &e) || refused(&writes, &e) || refused(&reads, &e));
	assert_true(refused(&atomics, &e));
	e.inline_bytes = 16;
	assert_true(!refused(&sends, &e) && refused(&writes, &e));
	e.inline_bytes = 0;
	e.post_api = POST_API_SEND;
	assert_true(!refused(&sends, &e) && refused(&reads, &e));
	e = defaults();
	e.use_srq = 1;
	assert_true(refused(&writes, &e) && refused(&reads, &e));
	assert_false(refused(&sends, &e));
	e = defaults();
	e.align_bytes = 12;
	assert_true(refused(&atomics, &e));
	assert_false(refused(&reads, &e));
	e.align_bytes = 16;
	assert_false(refused(&atomics, &e));
}

/* True if P's device can take part; else it is unavailable. */
static bool can(const struct operation *o, const struct hca_port *p, bool asks, bool answers)
{
	struct fault f = {0};
	bool may = !operation_check_device(o, p, asks, answers, &f);

	assert_int_equal(f.code, may ? FAULT_NONE : FAULT_UNAVAILABLE);
	return may;
}

static void what_a_device_cannot_do(void **state)
{
	struct hca_port p = {.device = "x",
			     .attr = {.max_qp_rd_atom = 16, .max_qp_init_rd_atom = 16}};
	struct experiment e = defaults();
	struct fault f = {0};

	(void)state;
	p.attr.atomic_cap = IBV_ATOMIC_NONE;
	assert_true(can(&reads, &p, true, true));
	assert_false(can(&atomics, &p, true, false));
	p.attr.atomic_cap = IBV_ATOMIC_HCA;
	assert_true(can(&atomics, &p, true, true));
	p.attr.max_qp_rd_atom = 0;
	assert_true(can(&writes, &p, true, true));
	assert_false(can(&reads, &p, false, true));
	assert_true(can(&reads, &p, true, false));
	p.attr.max_qp_rd_atom = 1;
	p.attr.max_qp_init_rd_atom = 0;
	assert_false(can(&atomics, &p, true, false));
	assert_true(can(&atomics, &p, false, true));
	p.fabric = FABRIC_EFA;
	assert_true(can(&sends, &p, true, true) && !can(&writes, &p, true, true));
	p.efa.device_caps = EFA_READ;
	assert_true(can(&reads, &p, true, true) && !can(&writes, &p, true, true));
	p.efa.device_caps = EFA_WRITE;
	assert_true(can(&writes, &p, true, true) && !can(&reads, &p, true, true));
	assert_int_equal(operation_check_iwarp(&reads, &e, "siw0", false, false, &f), 0);
	assert_int_equal(operation_check_iwarp(&atomics, &e, "siw0", false, false, &f), -1);
	assert_int_equal(f.code, FAULT_UNAVAILABLE);
	assert_int_equal(operation_check_iwarp(&writes, &e, "siw0", false, true, &f), -1);
}

static void what_a_fabric_has(void **state)
{
	struct hca_port p = {.device = "x", .fabric = FABRIC_EFA};
	struct experiment e = defaults();
	struct fault f = {0};

	(void)state;
	assert_int_equal(operation_check_fabric(&e, &p, "fix", &f), -1);
	assert_int_equal(f.code, FAULT_UNAVAILABLE);
	p.fabric = FABRIC_ROCE;
	memset(&f, 0, sizeof(f));
	assert_int_equal(operation_check_fabric(&e, &p, "fix", &f), 0);
	e.connection = CONNECTION_SRD;
	assert_int_equal(operation_check_fabric(&e, &p, "fix", &f), -1);
}

/* An EFA's SEND is a packet, the others are cut into some. */
static void how_large_a_message_is(void **state)
{
	struct hca_port p = {.fabric = FABRIC_EFA, .port_attr = {.max_msg_sz = 8928},
			     .efa = {.max_rdma_size = 1 << 30}};

	(void)state;
	assert_int_equal(operation_message_max(&sends, &p), 8928);
	assert_int_equal(operation_message_max(&reads, &p), 1 << 30);
	p.fabric = FABRIC_ROCE;
	assert_int_equal(operation_message_max(&reads, &p), 8928);
}

static void outstanding_ones_are_what_both_ends_can(void **state)
{
	struct ibv_device_attr big = {.max_qp_rd_atom = 1000, .max_qp_init_rd_atom = 128};
	struct ibv_device_attr small = {.max_qp_rd_atom = 16, .max_qp_init_rd_atom = 4}, none = {0};
	struct experiment e = defaults();
	struct operation_depth a = operation_depth(&reads, &e, &big), b, both;

	(void)state;
	assert_int_equal(a.sent, 128);
	assert_int_equal(a.answered, 255); /* what an attribute holds */
	b = operation_depth(&reads, &e, &small);
	both = operation_agree(&a, &b);
	assert_int_equal(both.sent, 16);
	assert_int_equal(both.answered, 4);
	both = operation_agree(&b, &a);
	assert_int_equal(both.sent, 4);
	assert_int_equal(both.answered, 16);
	e.outs = 3;
	assert_int_equal(operation_depth(&atomics, &e, &big).sent, 3);
	e.outs = 200;
	assert_int_equal(operation_depth(&atomics, &e, &big).sent, 128);
	a = operation_depth(&writes, &e, &big);
	assert_true(a.sent == 1 && a.answered == 1);
	a = operation_depth(&writes, &e, &none);
	assert_true(a.sent == 0 && a.answered == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(traits_follow),
		cmocka_unit_test(options_follow_from_traits),
		cmocka_unit_test(opcodes_and_rights),
		cmocka_unit_test(what_a_transport_cannot_do),
		cmocka_unit_test(what_a_device_cannot_do),
		cmocka_unit_test(what_a_fabric_has),
		cmocka_unit_test(how_large_a_message_is),
		cmocka_unit_test(outstanding_ones_are_what_both_ends_can),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
