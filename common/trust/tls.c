// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/phase.h"
#include "trust/tls.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define IDENTITY "rdmark" /* of the key; sent in the clear */
#define TURNS    8 /* of a rehearsal: a handshake needs two */
#define SUITES   "TLS_AES_128_GCM_SHA256:TLS_CHACHA20_POLY1305_SHA256"

#define ALERT(name) (SSL_AD_REASON_OFFSET + SSL3_AD_##name) /* the reason, if the peer sent it */

/* The reason of an error if the peer has closed; OpenSSL 1.1.1 has none then. */
#ifdef SSL_R_UNEXPECTED_EOF_WHILE_READING
#define CLOSED SSL_R_UNEXPECTED_EOF_WHILE_READING
#else
#define CLOSED (-1)
#endif

#define RECORD_LAYER_FAILURE 313 /* SSL_R_RECORD_LAYER_FAILURE, since OpenSSL 3.2 */

struct tls {
	const struct tls_context *context;
	SSL *ssl;
	unsigned long error; /* OpenSSL's code */
	bool server;
	bool agreed; /* the handshake is over, and data have passed */
};

/* OpenSSL gives the callbacks below no pointer of ours: the context of what calls it. */
static _Thread_local const struct tls_context *calling;

static unsigned put_key(unsigned char *key, unsigned room)
{
	if (room < sizeof(calling->key))
		return 0;
	memcpy(key, calling->key, sizeof(calling->key));
	return sizeof(calling->key);
}

/* Client: offer the key. OpenSSL makes one of TLS 1.3 with SHA-256 of it. */
static unsigned use_key(SSL *ssl, const char *hint, char *id, unsigned id_room, unsigned char *key,
			unsigned room)
{
	(void)ssl, (void)hint;
	snprintf(id, id_room, IDENTITY);
	return put_key(key, room);
}

/* Server: a client offers key ID. */
static unsigned find_key(SSL *ssl, const char *id, unsigned char *key, unsigned room)
{
	(void)ssl;
	return strcmp(id, IDENTITY) == 0 ? put_key(key, room) : 0;
}

/* No certificate proves anything here, whatever OpenSSL's configuration says of some. */
static int refuse_certificate(int valid, X509_STORE_CTX *certificate)
{
	(void)valid, (void)certificate;
	return 0;
}

int tls_open(struct tls_context *x, const struct crypto *c, const unsigned char key[CRYPTO_HASH],
	     struct fault *f)
{
	/* What is left of a message is sent from its own place; who waits needs no buffers. */
	const long modes = SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
			   SSL_MODE_RELEASE_BUFFERS;
	const char *why;
	SSL_CTX *ctx;

	c->ERR_clear_error();
	errno = 0;
	ctx = c->SSL_CTX_new(c->TLS_method());
	*x = (struct tls_context){.crypto = c, .ctx = ctx};
	memcpy(x->key, key, sizeof(x->key));
	if (!ctx || !c->SSL_CTX_ctrl(ctx, SSL_CTRL_SET_MIN_PROTO_VERSION, TLS1_3_VERSION, NULL) ||
	    !c->SSL_CTX_ctrl(ctx, SSL_CTRL_SET_MAX_PROTO_VERSION, TLS1_3_VERSION, NULL) ||
	    !c->SSL_CTX_set_ciphersuites(ctx, SUITES) || !c->SSL_CTX_set_num_tickets(ctx, 0)) {
		why = c->ERR_reason_error_string(c->ERR_peek_last_error());
		fault_raise(f, FAULT_LOCAL, errno == ENOMEM ? ENOMEM : 0,
			    "OpenSSL: no TLS 1.3 with " SUITES ": %s", why ? why : "it failed");
		return fault_fix(f, "see what OPENSSL_CONF names, or OpenSSL's own configuration");
	}
	c->SSL_CTX_clear_options(ctx, SSL_OP_ALLOW_NO_DHE_KEX); /* a configuration may have it */
	c->SSL_CTX_ctrl(ctx, SSL_CTRL_SET_SESS_CACHE_MODE, SSL_SESS_CACHE_OFF, NULL);
	/* What a peer sends to TLS alone, without end, must not keep SSL_read() from returning. */
	c->SSL_CTX_ctrl(ctx, SSL_CTRL_CLEAR_MODE, SSL_MODE_AUTO_RETRY, NULL);
	c->SSL_CTX_ctrl(ctx, SSL_CTRL_MODE, modes, NULL);
	c->SSL_CTX_set_psk_client_callback(ctx, use_key);
	c->SSL_CTX_set_psk_server_callback(ctx, find_key);
	return 0;
}

void tls_close(struct tls_context *x)
{
	if (x->ctx)
		x->crypto->SSL_CTX_free(x->ctx);
	explicit_bzero(x, sizeof(*x));
}

struct tls *tls_new(const struct tls_context *x, int fd, bool server, struct fault *f)
{
	struct tls *t = calloc(1, sizeof(*t));
	SSL *ssl = t ? x->crypto->SSL_new(x->ctx) : NULL;

	if (!ssl || !x->crypto->SSL_set_fd(ssl, fd)) {
		if (ssl)
			x->crypto->SSL_free(ssl);
		free(t);
		fault_raise(f, FAULT_LOCAL, ENOMEM, "OpenSSL: a new connection");
		return NULL;
	}
	/* The server sends no certificate, and requests none. */
	x->crypto->SSL_set_verify(ssl, server ? SSL_VERIFY_NONE : SSL_VERIFY_PEER,
				  refuse_certificate);
	(server ? x->crypto->SSL_set_accept_state : x->crypto->SSL_set_connect_state)(ssl);
	*t = (struct tls){.context = x, .ssl = ssl, .server = server};
	return t;
}

void tls_free(struct tls *t)
{
	if (t)
		t->context->crypto->SSL_free(t->ssl);
	free(t);
}

/* Before a call: what an earlier one left behind must not be taken for its outcome. */
static const struct crypto *begin(struct tls *t)
{
	calling = t->context;
	calling->crypto->ERR_clear_error();
	errno = 0;
	return calling->crypto;
}

/* What SSL_read() or SSL_write() has returned, as recv(2) says it. */
static ssize_t outcome(struct tls *t, int n, short *events)
{
	const struct crypto *c = t->context->crypto;
	int err = errno, what;

	if (n > 0) {
		t->agreed = true;
		return n;
	}
	what = c->SSL_get_error(t->ssl, n);
	*events = what == SSL_ERROR_WANT_WRITE ? POLLOUT : POLLIN;
	if (what == SSL_ERROR_WANT_WRITE || what == SSL_ERROR_WANT_READ) {
		errno = EAGAIN;
		return -1;
	}
	t->error = c->ERR_peek_last_error();
	if (ERR_GET_REASON(t->error) == RECORD_LAYER_FAILURE) /* said after what made it fail */
		t->error = c->ERR_peek_error();
	c->ERR_clear_error();
	if (what == SSL_ERROR_ZERO_RETURN || (what == SSL_ERROR_SYSCALL && !err) ||
	    ERR_GET_REASON(t->error) == CLOSED)
		return 0;
	errno = what == SSL_ERROR_SYSCALL || err == ENOMEM ? err : EPROTO;
	return -1;
}

ssize_t tls_recv(struct tls *t, void *to, size_t size)
{
	short events = POLLIN;
	ssize_t n = outcome(t, begin(t)->SSL_read(t->ssl, to, size < INT_MAX ? (int)size : INT_MAX),
			    &events);

	/* It has sent requests to TLS without end, and reads none of the answers. */
	if (n < 0 && errno == EAGAIN && events == POLLOUT)
		errno = ENOBUFS;
	return n;
}

ssize_t tls_send(struct tls *t, const void *from, size_t size, short *events)
{
	ssize_t n = outcome(
		t, begin(t)->SSL_write(t->ssl, from, size < INT_MAX ? (int)size : INT_MAX), events);

	if (n)
		return n;
	errno = EPIPE;
	return -1;
}

bool tls_pending(const struct tls *t)
{
	return t->context->crypto->SSL_pending(t->ssl) > 0;
}

/* True if CODE can come from another key at the other end. */
static bool is_other_key(unsigned long code)
{
	static const int reason[] = {
		SSL_R_BINDER_DOES_NOT_VERIFY, SSL_R_DECRYPTION_FAILED_OR_BAD_RECORD_MAC,
		SSL_R_DIGEST_CHECK_FAILED,    ALERT(ILLEGAL_PARAMETER),
		ALERT(BAD_RECORD_MAC),        SSL_AD_REASON_OFFSET + TLS1_AD_DECRYPT_ERROR};

	for (size_t i = 0; i < sizeof(reason) / sizeof(reason[0]); i++)
		if (reason[i] == ERR_GET_REASON(code))
			return true;
	return false;
}

/*
 * True if CODE says that this end's library failed: its reasons of TLS are 100 … 0xfff, and one of
 * them is that it failed without a reason.
 */
static bool is_own(unsigned long code)
{
	int reason = ERR_GET_REASON(code);

	return reason < 100 || reason > 0xfff || reason == SSL_R_MISSING_FATAL;
}

int tls_raise(const struct tls *t, struct fault *f)
{
	const char *why = t->context->crypto->ERR_reason_error_string(t->error);

	if (!t->agreed)
		fault_phase(f, t->server ? PHASE_PROVE_CLIENT
					 : PHASE_PROVE_TO_SERVER);
	if (!t->agreed && is_other_key(t->error)) {
		fault_raise(f, FAULT_USAGE, 0, "the two ends do not prove the same key");
		fault_cause(f,
			    "Their key files differ, or what they sent was changed between them");
		return fault_fix(f, "use the same key file on both ends; compare them with "
				    "sha256sum");
	}
	if (is_own(t->error)) {
		fault_raise(f, FAULT_LOCAL, 0, "OpenSSL: %s", why ? why : "it failed");
		return fault_cause(f, "This end has too little memory, or OpenSSL's configuration "
				      "does not allow what TLS 1.3 needs");
	}
	fault_raise(f, FAULT_PEER, 0, "TLS: %s", why ? why : "it failed");
	if (t->agreed)
		fault_cause(f, "What one end sent is not what came to the other: it was changed "
			       "between them");
	return -1;
}

/* Let the ends of TALK come to a byte of the client's. Returns 1 if it has arrived, or 0. */
static int talk(struct tls *const talk[2])
{
	char byte = 0;
	short events;

	for (int turn = 0; turn < TURNS; turn++) {
		bool sent = tls_send(talk[0], &byte, 1, &events) == 1;

		if (!sent && errno != EAGAIN)
			return 0;
		if (tls_recv(talk[1], &byte, 1) == 1)
			return 1;
		if (sent || errno != EAGAIN)
			return 0;
	}
	return 0;
}

/* Make both ends and let them talk. Returns 1 if they did; 0: they could not; -1: see F. */
static int connect_to_itself(const struct tls_context *x, struct fault *f)
{
	struct tls *end[2] = {NULL, NULL};
	int fd[2], rc;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fd))
		return fault_raise(f, FAULT_LOCAL, errno, "socketpair");
	for (int i = 0; i < 2; i++)
		end[i] = fault_is(f) ? NULL : tls_new(x, fd[i], i == 1, f);
	rc = fault_is(f) ? -1 : talk(end);
	for (int i = 0; i < 2; i++) {
		tls_free(end[i]);
		close(fd[i]);
	}
	return rc;
}

int tls_rehearse(const struct tls_context *x, struct fault *f)
{
	for (int i = 0; i < 2; i++) {
		fault_clear(f);
		if (connect_to_itself(x, f) > 0)
			return 0;
	}
	if (fault_is(f))
		return -1;
	fault_raise(f, FAULT_LOCAL, 0, "OpenSSL: this server cannot connect to itself by TLS");
	fault_cause(f, "It had too little memory, or OpenSSL's configuration does not allow what "
		       "TLS 1.3 needs");
	return fault_fix(f, "start it again; see what OPENSSL_CONF names");
}
