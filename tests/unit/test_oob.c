// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* oob and message: frames over a socket pair, and what any bytes at all do. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "nomem.h"
#include "proto/json_memory.h"
#include "proto/message.h"

struct pair {
	struct oob oob;
	int peer;
};

static struct pair new_pair(void)
{
	struct pair p;
	int fd[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fd), 0);
	oob_adopt(&p.oob, NULL, fd[0]);
	p.peer = fd[1];
	return p;
}

static void end_pair(struct pair *p)
{
	oob_release(&p->oob);
	if (p->peer >= 0)
		close(p->peer);
}

static void put(struct pair *p, const void *data, size_t size)
{
	assert_int_equal(write(p->peer, data, size), size);
}

static size_t frame(char *to, uint32_t length, const char *body)
{
	uint32_t be = htonl(length);

	memcpy(to, "RDMK", 4);
	memcpy(to + 4, &be, 4);
	memcpy(to + 8, body, strlen(body));
	return 8 + strlen(body);
}

static void put_text(struct pair *p, const char *body)
{
	char data[256];

	put(p, data, frame(data, (uint32_t)strlen(body), body));
}

static uint64_t soon(void)
{
	return clock_now_ns() + 50000000;
}

static void messages_cross_whole(void **state)
{
	struct pair a = new_pair();
	struct oob b;
	struct fault f = {0};
	json_t *m;

	(void)state;
	oob_adopt(&b, NULL, dup(a.peer));
	assert_int_equal(oob_send(&b, json_pack("{s:s}", "type", "bye"), soon(), &f), 0);
	assert_int_equal(oob_send(&b, message_new("alive"), soon(), &f), 0);
	assert_int_equal(
		oob_send(&b, json_pack("{s:s, s:i}", "type", "done", "messages", 7), soon(), &f),
		0);
	assert_int_equal(oob_recv(&a.oob, &m, soon(), &f), 0);
	assert_true(message_is(m, "bye"));
	json_decref(m);
	assert_int_equal(message_expect(&a.oob, "done", &m, soon(), &f), 0); /* passes over alive */
	json_decref(m);
	assert_int_equal(b.sent, 3);
	assert_int_equal(a.oob.received, 3);
	oob_release(&b);
	end_pair(&a);
}

static void single_bytes_make_a_frame(void **state)
{
	struct pair p = new_pair();
	struct fault f = {0};
	char data[64];
	size_t n = frame(data, 2, "{}");
	json_t *m;

	(void)state;
	for (size_t i = 0; i + 1 < n; i++) {
		put(&p, data + i, 1);
		assert_int_equal(oob_poll(&p.oob, &m, &f), 0);
	}
	put(&p, data + n - 1, 1);
	assert_int_equal(oob_poll(&p.oob, &m, &f), 1);
	json_decref(m);
	end_pair(&p);
}

static void refused(const char *bytes, size_t size, const char *word)
{
	struct pair p = new_pair();
	struct fault f = {0};
	json_t *m = NULL;

	put(&p, bytes, size);
	assert_int_equal(oob_recv(&p.oob, &m, soon(), &f), -1);
	assert_int_equal(f.code, FAULT_PEER);
	if (!strstr(f.call, word))
		fail_msg("'%s' lacks '%s'", f.call, word);
	end_pair(&p);
}

static void wrong_frames(void **state)
{
	char data[64];

	(void)state;
	refused("GET / HTTP/1.1\r\n", 16, "GET / HT");
	refused("\0\0\0\0", 4, "does not speak");
	refused("6.06\0\0\0\0", 8, "6.06");
	refused(data, frame(data, 1u << 30, ""), "1073741824");
	refused(data, frame(data, 2, "[]"), "not a JSON object");
	refused(data, frame(data, 2, "{{"), "not a JSON object");
	refused(data, frame(data, 0, ""), "not a JSON object");
	refused(data, frame(data, 15, "{\"a\":1,\"a\":  2}"),
		"not a JSON object"); /* which one counts? */
}

static void silence_has_a_deadline(void **state)
{
	struct pair p = new_pair();
	struct fault f = {0};
	json_t *m;

	(void)state;
	put(&p, "RDM", 3);
	assert_int_equal(oob_recv(&p.oob, &m, soon(), &f), -1);
	assert_int_equal(f.code, FAULT_DEADLINE);
	end_pair(&p);
}

static void the_peer_is_gone(void **state)
{
	struct pair p = new_pair();
	struct fault f = {0};
	json_t *m;

	(void)state;
	put(&p, "RDMK", 4);
	close(p.peer);
	p.peer = -1;
	assert_int_equal(oob_recv(&p.oob, &m, soon(), &f), -1);
	assert_int_equal(f.code, FAULT_PEER);
	assert_non_null(strstr(f.call, "lost"));
	end_pair(&p);
}

static void sending_to_one_who_does_not_read(void **state)
{
	struct pair p = new_pair();
	struct fault f = {0};
	int rc = 0;

	(void)state;
	for (int i = 0; i < 10000 && rc == 0; i++)
		rc = oob_send(
			&p.oob,
			json_pack("{s:s%}", "x", "yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy", (size_t)32),
			soon(), &f);
	assert_int_equal(rc, -1);
	assert_int_equal(f.code, FAULT_DEADLINE);
	end_pair(&p);
}

static void a_fault_travels(void **state)
{
	struct fault mine = {0}, theirs = {0};
	json_t *m;

	(void)state;
	fault_phase(&mine, "registering memory");
	fault_raise(&mine, FAULT_LOCAL, 12, "ibv_reg_mr(8 MiB)");
	fault_cause(&mine, "RLIMIT_MEMLOCK is 64 KiB");
	m = message_from_fault(&mine);
	assert_int_equal(message_raise(m, &theirs), -1);
	assert_int_equal(theirs.code, FAULT_PEER);
	assert_true(theirs.from_peer);
	assert_string_equal(theirs.phase, mine.phase);
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
	fault_phase(&mine, "registering memory");
	fault_raise(&mine, FAULT_LOCAL, ENOMEM, "calloc");
	json_memory_init();
	json_memory_lacked();
	nomem_from(1, true);
	message_send_fault(&p.oob, &mine, soon());
	nomem_from(0, false);
	assert_int_equal(oob_recv(&q.oob, &m, soon(), &none), 0);
	assert_int_equal(message_raise(m, &theirs), -1);
	assert_string_equal(theirs.phase, mine.phase);
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
	assert_memory_equal(a.qpn, b.qpn, 512 * sizeof(*a.qpn));
	assert_memory_equal(a.psn, b.psn, 512 * sizeof(*a.psn));
	assert_memory_equal(a.gid.raw, b.gid.raw, 16);
	assert_true(a.lid == b.lid && a.addr == b.addr && a.stride == b.stride && a.rkey == b.rkey);
	qp_address_release(&b);
	assert_int_equal(message_read_qps(m, 511, &b, &f),
			 -1); /* not the number that was agreed on */
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

static void messages_that_are_never_waited_for_hide_no_signal(void **state)
{
	struct pair p = new_pair();
	struct fault f = {0};
	struct stop stop;
	json_t *m;
	int n = 0;

	(void)state;
	assert_int_equal(stop_init(&stop, &f), 0);
	p.oob.stop = &stop;
	for (int i = 0; i < 250; i++)
		put_text(&p, "{\"type\":\"round\"}");
	raise(SIGTERM);
	for (; oob_recv(&p.oob, &m, soon(), &f) == 0; n++)
		json_decref(m);
	assert_int_equal(f.code, FAULT_INTERRUPTED);
	assert_in_range(n, 1, 100);
	/* it has been reported: what is left of the run goes on */
	memset(&f, 0, sizeof(f));
	for (n = 0; n < 150; n++) {
		assert_int_equal(oob_recv(&p.oob, &m, soon(), &f), 0);
		json_decref(m);
	}
	end_pair(&p);
	stop_release(&stop);
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

/* What the peer wrote is in the fault, but cannot move the cursor. */
static void no_escape_reaches_the_terminal(void **state)
{
	static const char *const bad[] = {
		"{\x1b[2Jx}",
		"{\"\x1b[2J\":1}",
		"{\"a\":\x1b}",
		"{\"a\":1}\x1b",
		"{\"type\":\"\\u001b[2J\"}",
		"{\"a\":\x7f}",
		/* two literals, or the 2 would be a digit of the escape */
		("{\"type\":\"\xc2\x9b"
		 "2J\"}"),
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct pair p = new_pair();
		struct fault f = {0};
		char text[1024];
		json_t *m;

		put_text(&p, bad[i]);
		assert_int_equal(message_expect(&p.oob, "qps", &m, 50000000, &f), -1);
		fault_format(&f, text, sizeof(text));
		for (const char *c = text; *c; c++)
			if ((unsigned char)*c < 0x20 || *c == 0x7f || (unsigned char)*c == 0x9b)
				fail_msg("%zu: %s", i, text);
		end_pair(&p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(messages_cross_whole),
		cmocka_unit_test(single_bytes_make_a_frame),
		cmocka_unit_test(wrong_frames),
		cmocka_unit_test(silence_has_a_deadline),
		cmocka_unit_test(the_peer_is_gone),
		cmocka_unit_test(sending_to_one_who_does_not_read),
		cmocka_unit_test(messages_that_are_never_waited_for_hide_no_signal),
		cmocka_unit_test(alive_alone_has_an_end),
		cmocka_unit_test(finish_does_not_prolong_a_wait),
		cmocka_unit_test(alive_does_not_prolong_a_wait_after_a_signal),
		cmocka_unit_test(no_escape_reaches_the_terminal),
		cmocka_unit_test(a_fault_travels),
		cmocka_unit_test(a_fault_travels_without_memory),
		cmocka_unit_test(a_lost_connection_has_the_peers_reason),
		cmocka_unit_test(details_of_many_qps),
	};

	return cmocka_run_group_tests_name("oob", tests, NULL, NULL);
}
