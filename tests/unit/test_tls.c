// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* tls: a rehearsal in which an allocation of OpenSSL's first handshake fails, each in a process of its own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "nomem.h"
#include "trust/tls.h"

enum {
	SERVES,
	SAYS_SO,
	LIES, /* it says that it is ready, and no later handshake comes to its end */
	OTHER_FAULT,
	PASSED, /* there are not so many allocations */
};

/* A client is served: its byte arrives. */
static bool serves(const struct tls_context *x)
{
	struct fault f = {0};
	struct tls *client, *server;
	bool came = false;
	short events;
	char byte = 1;
	int fd[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fd))
		return false;
	client = tls_new(x, fd[0], false, &f);
	server = tls_new(x, fd[1], true, &f);
	for (int turn = 0; client && server && turn < 8 && !came; turn++) {
		(void)tls_send(client, &byte, 1, &events);
		came = tls_recv(server, &byte, 1) == 1;
	}
	tls_free(client);
	tls_free(server);
	return came;
}

static int rehearse(const struct tls_context *x, long nth, bool all)
{
	struct fault f = {0};
	bool passed;
	int rc;

	nomem_from(nth, all);
	rc = tls_rehearse(x, &f);
	passed = nomem_count() < nth;
	nomem_from(0, false);
	if (passed)
		return PASSED;
	if (rc)
		return f.code == FAULT_LOCAL ? SAYS_SO : OTHER_FAULT;
	return serves(x) ? SERVES : LIES;
}

static int in_a_process(const struct tls_context *x, long nth, bool all)
{
	pid_t pid = fork();
	int status;

	if (!pid)
		_exit(rehearse(x, nth, all));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void after_a_rehearsal_clients_are_served(void **state)
{
	static const unsigned char key[CRYPTO_HASH] = {1};
	struct tls_context x = {0};
	struct fault f = {0};
	struct crypto c;
	int end;

	(void)state;
	if (!NOMEM)
		skip();
	assert_int_equal(crypto_open(&c, &f), 0);
	assert_int_equal(tls_open(&x, &c, key, &f), 0);
	assert_int_equal(in_a_process(&x, 1, true), SAYS_SO);
	/* OpenSSL 3.0: where one of 15 in a row fails all later handshakes fail. */
	for (long nth = 1; (end = in_a_process(&x, nth, false)) != PASSED; nth += 7)
		assert_in_range(end, SERVES, SAYS_SO);
	tls_close(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(after_a_rehearsal_clients_are_served),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
