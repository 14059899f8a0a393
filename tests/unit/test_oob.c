// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* oob: frames over a socket pair, and what any bytes at all do. */
#include "oob_pair.h"

#include <signal.h>

#include "proto/message.h"

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
		cmocka_unit_test(no_escape_reaches_the_terminal),
	};

	return cmocka_run_group_tests_name("oob", tests, NULL, NULL);
}
