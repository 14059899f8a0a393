// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The messages of --auth, to the server and to the client. Input: a byte that says which end this
 * is and how it authenticates, then a script (script.h). The nonces of this end are zeros. What a
 * credential is worth is easy to say, so that the fuzzer finds what comes after it: munge's is
 * "ERROR UID GID MADE NOW TEXT", as munged would answer. With a key it is OpenSSL that gets what
 * comes after the challenge, and no bytes that do not know the key are let in. What is made of a
 * hello takes no more memory than one that is bounded (proto/bounds.h).
 */
#include <ctype.h>
#include <signal.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "script.h"
#include "admit/auth.h"
#include "proto/message.h"

#define NONE "0000000000000000000000000000000000000000000000000000000000000000"

#define HELLO_BYTES (768u * 1024u)

static size_t allocated; /* by jansson so far */

static void *allocate(size_t size)
{
	allocated += size;
	return malloc(size);
}

struct munge_ctx {
	long times[2];
};

ssize_t __wrap_getrandom(void *to, size_t size, unsigned flags)
{
	(void)flags;
	memset(to, 0, size);
	return (ssize_t)size;
}

static unsigned char *hash(const unsigned char *d, size_t n, unsigned char *to)
{
	memset(to, n ? d[0] & 15 : 0, 32);
	return to;
}

static munge_ctx_t make_context(void)
{
	return calloc(1, sizeof(struct munge_ctx));
}

static void free_context(munge_ctx_t c)
{
	free(c);
}

static const char *context_error(munge_ctx_t c)
{
	(void)c;
	return "Doh!";
}

static const char *error_text(munge_err_t e)
{
	return e == EMUNGE_BAD_CRED ? "Invalid credential format" : "Internal error";
}

static munge_err_t set_option(munge_ctx_t c, int option, ...)
{
	(void)c, (void)option;
	return EMUNGE_SUCCESS;
}

static munge_err_t get_option(munge_ctx_t c, int option, ...)
{
	va_list ap;

	va_start(ap, option);
	if (option == MUNGE_OPT_SOCKET)
		*va_arg(ap, const char **) = "/nonexistent/socket";
	else
		*va_arg(ap, time_t *) = c->times[option == MUNGE_OPT_DECODE_TIME];
	va_end(ap);
	return EMUNGE_SUCCESS;
}

static munge_err_t encode(char **credential, munge_ctx_t c, const void *text, int size)
{
	(void)c;
	return asprintf(credential, "0 0 0 0 0 %.*s", size, (const char *)text) < 0
		       ? EMUNGE_NO_MEMORY
		       : EMUNGE_SUCCESS;
}

static munge_err_t decode(const char *credential, munge_ctx_t c, void **text, int *size, uid_t *uid,
			  gid_t *gid)
{
	unsigned error = 0;
	int used = 0;

	if (sscanf(credential, "%2u %9u %9u %9ld %9ld %n", &error, uid, gid, &c->times[0],
		   &c->times[1], &used) < 5 ||
	    !used)
		return EMUNGE_BAD_CRED;
	if (error == EMUNGE_BAD_CRED || error == EMUNGE_SOCKET) /* these say nothing of it */
		return (munge_err_t)error;
	*text = strdup(credential + used);
	*size = (int)strlen(credential + used);
	return (munge_err_t)error;
}

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

/* A client that is accepted has sent its credential over this end's nonce, as an allowed user. */
static void check_let_in(const struct auth *a, const json_t *m)
{
	const char *credential = json_string_value(json_object_get(m, "credential"));
	unsigned error = 1, uid = 1, gid;

	FUZZ_CHECK(a->method == AUTH_MUNGE);
	FUZZ_CHECK(credential && strstr(credential, "rdmark client 3 " NONE " "));
	FUZZ_CHECK(sscanf(credential, "%2u %9u %9u", &error, &uid, &gid) == 3);
	FUZZ_CHECK(!error && (uid == 0 || uid == 1000));
}

static void be_server(const struct auth *a, struct oob *o)
{
	struct auth_visit visit = {false};
	struct fault f = {0};
	json_t *m = NULL, *copy;
	size_t before;
	int rc = 0;

	while (rc == 0 && oob_poll(o, &m, &f) > 0) {
		copy = json_deep_copy(m);
		before = allocated;
		rc = auth_receive(a, &visit, o, &m, &f);
		FUZZ_CHECK(allocated - before <= HELLO_BYTES);
		FUZZ_CHECK((rc > 0) == json_is_object(m) && (rc > 0 || !m));
		FUZZ_CHECK((rc < 0) == fault_is(&f));
		if (rc > 0)
			check_let_in(a, copy);
		json_decref(copy);
		json_decref(m);
		m = NULL;
	}
	FUZZ_CHECK(rc > 0 || !getenv("FUZZ_MUST_SUCCEED"));
	if (fault_is(&f))
		check_fault(&f);
}

static void be_client(const struct auth *a, struct oob *o)
{
	struct fault f = {0};
	int rc = auth_introduce(a, o, message_new("hello"), 1000000, &f);

	FUZZ_CHECK((rc == 0) != fault_is(&f));
	FUZZ_CHECK(rc == 0 || !getenv("FUZZ_MUST_SUCCEED"));
	if (rc)
		check_fault(&f);
}

static struct auth a = {
	.uid = 1000,
	.munge = {encode, decode, error_text, make_context, free_context, context_error, get_option,
		  set_option, NULL},
	.allow = {.entry = {{.id = 1000}, {.id = 0}}, .count = 2},
};

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	static const unsigned char key[CRYPTO_HASH];
	static struct crypto openssl;
	struct fault f = {0};

	(void)argc, (void)argv;
	signal(SIGPIPE, SIG_IGN);
	if (crypto_open(&openssl, &f) || tls_open(&a.tls, &openssl, key, &f))
		abort();
	a.crypto = openssl;
	a.crypto.SHA256 = hash;
	json_set_alloc_funcs(allocate, free);
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
	a.method = how & 1 ? AUTH_MUNGE : AUTH_KEY;
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
