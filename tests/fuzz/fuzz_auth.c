// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The messages of --auth, to the server and to the client. Input: a byte that says which end this
 * is, then a script (script.h). OpenSSL gets what comes after the challenge, and no bytes that do
 * not know the key are let in.
 */
#include <ctype.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include "script.h"
#include "admit/auth.h"
#include "proto/message.h"

static void check_fault(const struct fault *f)
{
	char line[2048];
	json_t *m;

	FUZZ_CHECK(fault_is(f));
	fault_format(f, line, sizeof(line));
	for (const char *c = line; *c; c++)
		FUZZ_CHECK(!iscntrl((unsigned char)*c));
	m = message_from_fault(f);
	FUZZ_CHECK(m);
	json_decref(m);
}

static void be_server(const struct auth *a, struct oob *o)
{
	struct auth_visit visit = {false};
	struct fault f = {0};
	json_t *m = NULL;
	int rc = 0;

	while (rc == 0 && oob_poll(o, &m, &f) > 0) {
		rc = auth_receive(a, &visit, o, &m, &f);
		FUZZ_CHECK(rc <= 0 && !m);
		FUZZ_CHECK((rc < 0) == fault_is(&f));
	}
	if (fault_is(&f))
		check_fault(&f);
}

static void be_client(const struct auth *a, struct oob *o)
{
	struct fault f = {0};
	int rc = auth_introduce(a, o, message_new("hello"), 1000000, &f);

	FUZZ_CHECK((rc == 0) != fault_is(&f));
	if (rc)
		check_fault(&f);
}

static struct auth a = {.file = "key"};

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	static const unsigned char key[CRYPTO_HASH];
	struct fault f = {0};

	(void)argc, (void)argv;
	signal(SIGPIPE, SIG_IGN);
	if (crypto_open(&a.crypto, &f) || tls_open(&a.tls, &a.crypto, key, &f))
		abort();
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = {data, size};
	uint8_t how = fuzz_u8(&in);
	struct script_step step;
	struct oob o;
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair))
		abort();
	oob_adopt(&o, NULL, pair[0]);
	snprintf(o.peer, sizeof(o.peer), "192.0.2.1:18515"); /* a socketpair has no address */
	while (script_next(&in, &step)) {
		if (step.kind == SCRIPT_SEND)
			send(pair[1], step.bytes, step.size, MSG_NOSIGNAL);
		script_release(&step);
	}
	shutdown(pair[1], SHUT_WR);
	if (how & 2)
		be_client(&a, &o);
	else
		be_server(&a, &o);
	close(pair[1]);
	oob_release(&o);
	return 0;
}
