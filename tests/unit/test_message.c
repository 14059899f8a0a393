// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* message: faults and QPs on their way, and waiting for one. */
#include "base/phase.h"
#include "oob_pair.h"

#include <errno.h>
#include <signal.h>

#include "nomem.h"
#include "proto/json_memory.h"
#include "proto/message.h"
#include "verbs/qp.h"

static void a_fault_travels(void **state)
{
	struct fault mine = {0}, theirs = {0};
	json_t *m;

	(void)state;
	fault_phase(&mine, PHASE_REGISTER);
	fault_raise(&mine, FAULT_LOCAL, 12, "ibv_reg_mr(8 MiB)");
	fault_cause(&mine, "RLIMIT_MEMLOCK is 64 KiB");
	m = message_from_fault(&mine);
	assert_int_equal(message_raise(m, &theirs), -1);
	assert_int_equal(theirs.code, FAULT_PEER);
	assert_true(theirs.from_peer);
	assert_int_equal(theirs.phase, mine.phase);
	assert_string_equal(theirs.call, mine.call);
	assert_string_equal(theirs.cause, mine.cause);
	assert_int_equal(theirs.errnum, 12);
	json_decref(m);
	/* both ends disagree: both exit with 2 */
	memset(&mine, 0, sizeof(mine));
	memset(&theirs, 0, sizeof(theirs));
	fault_raise(&mine, FAULT_USAGE, 0, "x");
	m = message_from_fault(&mine);
	message_raise(m, &theirs);
	assert_int_equal(theirs.code, FAULT_USAGE);
	json_decref(m);
}

/* No malloc() has to succeed for it; and what failed before is not missing in it. */
static void a_fault_travels_without_memory(void **state)
{
	struct fault mine = {0}, theirs = {0}, none = {0};
	struct pair p = new_pair(), q = {.oob = OOB_EMPTY, .peer = -1};
	json_t *m = NULL;

	(void)state;
	if (!NOMEM)
		skip();
	oob_adopt(&q.oob, NULL, p.peer);
	p.peer = -1;
	fault_phase(&mine, PHASE_REGISTER);
	fault_raise(&mine, FAULT_LOCAL, ENOMEM, "calloc");
	json_memory_init();
	json_memory_lacked();
	nomem_from(1, true);
	message_send_fault(&p.oob, &mine, soon());
	nomem_from(0, false);
	assert_int_equal(oob_recv(&q.oob, &m, soon(), &none), 0);
	assert_int_equal(message_raise(m, &theirs), -1);
	assert_int_equal(theirs.phase, mine.phase);
	assert_string_equal(theirs.call, mine.call);
	assert_int_equal(theirs.errnum, ENOMEM);
	json_decref(m);
	end_pair(&p);
	end_pair(&q);
}

static void a_lost_connection_has_the_peers_reason(void **state)
{
	struct pair p = new_pair();
	struct fault f = {0};

	(void)state;
	put_text(&p, "{\"type\":\"alive\"}");
	put_text(
		&p,
		"{\"type\":\"error\",\"code\":\"usage\",\"phase\":\"\",\"call\":\"too much\",\"errno\":0,"
		"\"text\":\"\",\"cause\":\"\",\"fix\":\"\"}");
	close(p.peer);
	p.peer = -1;
	assert_int_equal(message_send(&p.oob, message_new("qps"), soon(), &f), -1);
	assert_int_equal(f.code, FAULT_USAGE);
	assert_true(f.from_peer);
	assert_string_equal(f.call, "too much");
	end_pair(&p);
	p = new_pair();
	memset(&f, 0, sizeof(f));
	put_text(&p, "{\"type\":\"alive\"}");
	close(p.peer);
	p.peer = -1;
	assert_int_equal(message_send(&p.oob, message_new("qps"), soon(), &f), -1);
	assert_int_equal(f.code, FAULT_PEER);
	assert_false(f.from_peer);
	assert_non_null(strstr(f.call, "was lost"));
	end_pair(&p);
}

static void details_of_many_qps(void **state)
{
	struct qp_address a, b = {0};
	struct fault f = {0};
	json_t *m;

	(void)state;
	assert_int_equal(qp_address_init(&a, 512), 0);
	for (unsigned i = 0; i < 512; i++) {
		a.qpn[i] = i + 0x100;
		a.psn[i] = 0xffffff - i;
		a.gid.raw[i % 16] = (uint8_t)i;
	}
	a.lid = 0xbeef;
	a.addr = 0x7f0123456000;
	a.stride = 8 << 20;
	a.rkey = 0xffffffff;
	m = message_from_qps(&a);
	assert_int_equal(message_read_qps(m, 512, &b, &f), 0);
	assert_true(!b.rkeys && !b.sender && !b.srqn);
	qp_address_release(&b);
	json_decref(m);
	a.sender = calloc(512, sizeof(*a.sender));
	a.srqn = calloc(512, sizeof(*a.srqn));
	assert_true(a.sender && a.srqn);
	a.sender[511] = a.srqn[3] = 0xffffff;
	m = message_from_qps(&a);
	assert_int_equal(message_read_qps(m, 512, &b, &f), 0);
	assert_memory_equal(a.sender, b.sender, 512 * sizeof(*a.sender));
	assert_memory_equal(a.srqn, b.srqn, 512 * sizeof(*a.srqn));
	assert_memory_equal(a.qpn, b.qpn, 512 * sizeof(*a.qpn));
	assert_memory_equal(a.psn, b.psn, 512 * sizeof(*a.psn));
	assert_memory_equal(a.gid.raw, b.gid.raw, 16);
	assert_true(a.lid == b.lid && a.addr == b.addr && a.stride == b.stride && a.rkey == b.rkey);
	qp_address_release(&b);
	assert_int_equal(message_read_qps(m, 511, &b, &f),
			 -1); /* not the number that was agreed on */
	qp_address_release(&b);
	memset(&f, 0, sizeof(f));
	json_array_set_new(json_object_get(m, "srqns"), 5, json_integer(1 << 24));
	assert_int_equal(message_read_qps(m, 512, &b, &f), -1);
	json_object_del(m, "srqns");
	qp_address_release(&b);
	memset(&f, 0, sizeof(f));
	json_array_set_new(json_object_get(m, "qpn"), 5, json_integer(1 << 24));
	assert_int_equal(message_read_qps(m, 512, &b, &f), -1);
	qp_address_release(&b);
	memset(&f, 0, sizeof(f));
	json_object_set_new(m, "gid", json_string("zz"));
	assert_int_equal(message_read_qps(m, 512, &b, &f), -1);
	qp_address_release(&b);
	qp_address_release(&a);
	json_decref(m);
}

static void alive_alone_has_an_end(void **state)
{
	struct pair p = new_pair();
	struct fault f = {0};
	struct message_wait w = message_wait(5000000000);
	json_t *m;

	(void)state;
	put_text(&p, "{\"type\":\"alive\"}");
	put_text(&p, "{\"type\":\"round\"}");
	assert_int_equal(message_next(&p.oob, &w, &m, &f), 0);
	assert_true(message_is(m, "round"));
	json_decref(m);
	w.alive_until_ns = clock_now_ns();
	put_text(&p, "{\"type\":\"alive\"}");
	assert_int_equal(message_next(&p.oob, &w, &m, &f), -1);
	assert_null(m);
	assert_int_equal(f.code, FAULT_DEADLINE);
	assert_non_null(strstr(f.call, "only \"alive\""));
	end_pair(&p);
}

/* It is no progress: neither one after the deadline, nor as many as can be read. */
static void finish_does_not_prolong_a_wait(void **state)
{
	struct pair p = new_pair();
	struct fault f = {0};
	struct message_wait w = message_wait(0);
	json_t *m;
	int n = 0;

	(void)state;
	put_text(&p, "{\"type\":\"finish\"}");
	assert_int_equal(message_expect(&p.oob, "qps", &m, 1000000, &f), -1);
	assert_int_equal(f.code, FAULT_DEADLINE);
	memset(&f, 0, sizeof(f));
	for (int i = 0; i < 250; i++)
		put_text(&p, "{\"type\":\"finish\"}");
	for (; message_next(&p.oob, &w, &m, &f) == 0; n++)
		json_decref(m);
	assert_int_equal(f.code, FAULT_DEADLINE);
	assert_in_range(n, 1, 100);
	end_pair(&p);
}

static void alive_does_not_prolong_a_wait_after_a_signal(void **state)
{
	struct pair p = new_pair();
	struct fault f = {0};
	struct stop stop;
	struct message_wait w = message_wait(1000000);
	json_t *m;

	(void)state;
	assert_int_equal(stop_init(&stop, &f), 0);
	p.oob.stop = &stop;
	raise(SIGTERM);
	stop_drain(&stop); /* as the watch does in a round */
	put_text(&p, "{\"type\":\"alive\"}");
	w.timeout_ns = UINT64_C(60000000000);
	assert_int_equal(message_next(&p.oob, &w, &m, &f), -1);
	assert_int_equal(f.code, FAULT_INTERRUPTED);
	assert_int_equal(f.signal, SIGTERM);
	end_pair(&p);
	stop_release(&stop);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(alive_alone_has_an_end),
		cmocka_unit_test(finish_does_not_prolong_a_wait),
		cmocka_unit_test(alive_does_not_prolong_a_wait_after_a_signal),
		cmocka_unit_test(a_fault_travels),
		cmocka_unit_test(a_fault_travels_without_memory),
		cmocka_unit_test(a_lost_connection_has_the_peers_reason),
		cmocka_unit_test(details_of_many_qps),
	};

	return cmocka_run_group_tests_name("message", tests, NULL, NULL);
}
