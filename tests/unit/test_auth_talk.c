// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * auth, tls: both ends with a key, with somebody between them. The faults that users see are
 * in tests/cli/auth.bats.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "admit/auth.h"
#include "base/clock.h"
#include "base/phase.h"
#include "proto/message.h"

#define PATIENCE_NS UINT64_C(60000000000)

/* So long both ends are quiet after a change, since which one may wait for what never comes. */
#define QUIET_MS 200

/* What one end has sent, as it came to the other. */
struct sent {
	unsigned char bytes[4096];
	size_t size;
};

/* Both ends, each in a thread, and the main one between them. */
struct world {
	struct auth auth, other; /* with two keys */
	struct end {
		struct auth *auth;
		struct oob oob;
		int fd; /* the other end of its connection */
		struct fault fault;
		int rc;
		pthread_t thread;
	} server, client;
};

/* A byte to change on the way: the Nth that WHO sends in the bodies of records; WHO NULL: none. */
struct change {
	const struct end *who;
	size_t at;
	bool done;
};

static void open_key(struct auth *a, const char *text)
{
	char file[] = "/tmp/rdmark-key-XXXXXX", how[48];
	struct fault f = {0};
	int key = mkstemp(file); /* mode 0600 */

	assert_int_equal(write(key, text, strlen(text)), strlen(text));
	close(key);
	snprintf(how, sizeof(how), "key:%s", file);
	assert_int_equal(auth_read(a, how, &f) | auth_open(a, &f), 0);
	unlink(file);
}

static int set_up(void **state)
{
	struct world *w = test_calloc(1, sizeof(*w));

	signal(SIGPIPE, SIG_IGN);
	open_key(&w->auth, "0123456789abcdef0123456789abcdef");
	open_key(&w->other, "0123456789abcdef0123456789abcdef0");
	*state = w;
	return 0;
}

static int tear_down(void **state)
{
	struct world *w = *state;

	auth_release(&w->auth);
	auth_release(&w->other);
	test_free(w);
	return 0;
}

static void open_end(struct end *e, struct auth *auth)
{
	int fd[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fd), 0);
	*e = (struct end){.auth = auth, .fd = fd[1]};
	oob_adopt(&e->oob, NULL, fd[0]);
}

static int expect(struct end *e, const char *type)
{
	json_t *m = NULL;
	int rc = message_expect(&e->oob, type, &m, PATIENCE_NS, &e->fault);

	json_decref(m);
	return rc;
}

/* Introduce itself, and wait for the answer. */
static void *be_client(void *end)
{
	struct end *e = end;

	e->rc = auth_introduce(e->auth, &e->oob,
			       json_pack("{s:s, s:s}", "type", "hello", "test", "send_lat"),
			       PATIENCE_NS, &e->fault) ||
				expect(e, "welcome")
			? -1
			: 0;
	shutdown(e->oob.fd, SHUT_RDWR);
	return NULL;
}

/* Let a client in, and answer it. */
static void *be_server(void *end)
{
	struct end *e = end;
	struct auth_visit visit = {false};
	json_t *m = NULL;
	int rc = 0;

	while (rc == 0 && oob_recv(&e->oob, &m, clock_now_ns() + PATIENCE_NS, &e->fault) == 0) {
		/* Nothing of the experiment comes before TLS. */
		assert_true(e->oob.tls || !json_object_get(m, "test"));
		rc = auth_receive(e->auth, &visit, &e->oob, &m, &e->fault);
	}
	if (rc > 0)
		assert_string_equal(json_string_value(json_object_get(m, "test")), "send_lat");
	json_decref(m);
	e->rc = rc > 0 && oob_send(&e->oob, message_new("welcome"), clock_now_ns(), &e->fault) == 0
			? 0
			: -1;
	shutdown(e->oob.fd, SHUT_RDWR);
	return NULL;
}

static void close_end(struct end *e)
{
	pthread_join(e->thread, NULL);
	oob_release(&e->oob);
	close(e->fd);
}

/* Apply C to what FROM has sent of TLS: its records' bodies. Returns how many bytes these are. */
static size_t bodies(const struct end *from, struct sent *s, struct change *c)
{
	size_t at = 0, body, count = 0;

	while (s->size > at + 8 && memcmp(s->bytes + at, "RDMK", 4) == 0)
		at += 8u + s->bytes[at + 7] + 256u * s->bytes[at + 6];
	for (; s->size > at + 5; at += 5 + body) {
		body = 256u * s->bytes[at + 3] + s->bytes[at + 4];
		if (c->who == from && !c->done && c->at < count + body &&
		    at + 5 + c->at - count < s->size) {
			s->bytes[at + 5 + c->at - count] ^= 1;
			c->done = true;
		}
		count += body;
	}
	return count;
}

/* Pass on what FROM has sent to TO; false: FROM has ended. Only whole pieces come. */
static bool pass(struct end *from, struct end *to, struct sent *s, struct change *c)
{
	size_t had = s->size;
	ssize_t n = read(from->fd, s->bytes + s->size, sizeof(s->bytes) - s->size);

	if (n < 0)
		return true;
	s->size += (size_t)n;
	bodies(from, s, c);
	if (n == 0 || send(to->fd, s->bytes + had, s->size - had, MSG_NOSIGNAL) < 0) {
		shutdown(to->fd, SHUT_WR);
		return false;
	}
	return true;
}

/* A whole conversation of A and B with C between them; SENT gets what the client, and the server
 * sent. */
static void converse(struct world *w, struct auth *a, struct auth *b, struct change c,
		     struct sent sent[2])
{
	struct pollfd p[2];

	sent[0].size = sent[1].size = 0;
	open_end(&w->client, a);
	open_end(&w->server, b);
	pthread_create(&w->client.thread, NULL, be_client, &w->client);
	pthread_create(&w->server.thread, NULL, be_server, &w->server);
	p[0] = (struct pollfd){.fd = w->client.fd, .events = POLLIN};
	p[1] = (struct pollfd){.fd = w->server.fd, .events = POLLIN};
	while (p[0].fd >= 0 || p[1].fd >= 0) {
		int ready = poll(p, 2, c.done ? QUIET_MS : 60000);

		assert_true(ready > 0 || c.done);
		if (!ready) {
			shutdown(w->client.fd, SHUT_WR);
			shutdown(w->server.fd, SHUT_WR);
			continue;
		}
		if (p[0].revents && !pass(&w->client, &w->server, &sent[0], &c))
			p[0].fd = -1;
		if (p[1].revents && !pass(&w->server, &w->client, &sent[1], &c))
			p[1].fd = -1;
	}
	close_end(&w->client);
	close_end(&w->server);
	assert_true(!c.who || c.done);
}

static bool has(const struct sent *s, const char *text)
{
	return memmem(s->bytes, s->size, text, strlen(text));
}

static void both_ends_agree(void **state)
{
	struct world *w = *state;
	struct change none = {NULL};
	struct sent sent[2];

	converse(w, &w->auth, &w->auth, none, sent);
	assert_int_equal(w->client.rc | w->server.rc, 0);
	/* The method is said in clear, and nothing that matters. */
	assert_true(has(&sent[0], "hello") && !has(&sent[0], "send_lat"));
	assert_true(has(&sent[1], "challenge") && !has(&sent[1], "welcome"));
}

static void with_two_keys_both_ends_say_so(void **state)
{
	struct world *w = *state;
	struct change none = {NULL};
	struct sent sent[2];

	converse(w, &w->auth, &w->other, none, sent);
	assert_true(w->client.rc && w->server.rc);
	assert_int_equal(w->client.fault.code, FAULT_USAGE);
	assert_int_equal(w->server.fault.code, FAULT_USAGE);
	assert_string_equal(w->client.fault.call, w->server.fault.call);
	assert_int_equal(w->client.fault.phase, PHASE_PROVE_TO_SERVER);
	assert_int_equal(w->server.fault.phase, PHASE_PROVE_CLIENT);
}

/* Somebody between them changes one bit, each in turn, of what one of them sends. */
static void what_is_changed_is_found(void **state)
{
	struct world *w = *state;
	struct change c = {NULL};
	struct sent sent[2];

	for (int i = 0; i < 2; i++) {
		size_t count;

		converse(w, &w->auth, &w->auth, (struct change){NULL}, sent);
		count = bodies(NULL, &sent[i], &c);
		assert_true(count > 150);
		for (size_t at = 0; at < count; at++) {
			c = (struct change){.who = i ? &w->server : &w->client, .at = at};
			converse(w, &w->auth, &w->auth, c, sent);
			assert_int_equal((i ? &w->client : &w->server)->rc, -1);
			c.who = NULL;
		}
	}
}

/* Play BYTES to a server, all at once. */
static void play(struct world *w, struct auth *a, const struct sent *s)
{
	open_end(&w->server, a);
	assert_int_equal(write(w->server.fd, s->bytes, s->size), s->size);
	shutdown(w->server.fd, SHUT_WR);
	be_server(&w->server);
	oob_release(&w->server.oob);
	close(w->server.fd);
}

static void what_was_recorded_is_worth_nothing(void **state)
{
	struct world *w = *state;
	struct sent sent[2];

	converse(w, &w->auth, &w->auth, (struct change){NULL}, sent);
	play(w, &w->auth, &sent[0]);
	assert_int_equal(w->server.rc, -1);
	assert_int_equal(w->server.fault.code, FAULT_USAGE); /* the key of TLS was another one */
	play(w, &w->other, &sent[0]);
	assert_int_equal(w->server.rc, -1);
	play(w, &w->auth, &sent[1]);
	assert_int_equal(w->server.rc, -1);
}

/* A server that has no key sends the client's own bytes back. */
static void a_reflection_is_no_server(void **state)
{
	struct world *w = *state;
	char bytes[4096];
	struct pollfd p;
	json_t *m;
	struct oob other;

	open_end(&w->client, &w->auth);
	pthread_create(&w->client.thread, NULL, be_client, &w->client);
	oob_adopt(&other, NULL, dup(w->client.fd));
	assert_int_equal(oob_recv(&other, &m, clock_now_ns() + PATIENCE_NS, &w->server.fault), 0);
	json_object_set_new(m, "type", json_string("challenge"));
	oob_send(&other, m, clock_now_ns(), &w->server.fault);
	p = (struct pollfd){.fd = w->client.fd, .events = POLLIN};
	while (poll(&p, 1, 60000) > 0) {
		ssize_t n = read(w->client.fd, bytes, sizeof(bytes));

		if (n <= 0 || send(w->client.fd, bytes, (size_t)n, MSG_NOSIGNAL) < 0)
			break;
	}
	oob_release(&other);
	close_end(&w->client);
	assert_int_equal(w->client.rc, -1);
	assert_int_equal(w->client.fault.code, FAULT_PEER);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(both_ends_agree, set_up, tear_down),
		cmocka_unit_test_setup_teardown(with_two_keys_both_ends_say_so, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_is_changed_is_found, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_was_recorded_is_worth_nothing, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_reflection_is_no_server, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
