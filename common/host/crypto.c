// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "host/crypto.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define OPENSSL3_LIBRARY  "libcrypto.so.3"
#define OPENSSL11_LIBRARY "libcrypto.so.1.1"

#define HASH_BYTES    32
#define PIECE_MIN     16 /* bytes of a key that come again, and different bytes in it: fewer are guessed */
#define DIFFERENT_MIN 5
#define MAKE_KEY      "(umask 077; head -c 32 /dev/urandom >FILE)"
#define ROW(function) {#function, offsetof(struct crypto, function)},

/* Look up the functions in the library. */
static int look_up(struct crypto *c, struct fault *f)
{
	static const struct {
		const char *name;
		size_t offset;
	} entry[] = {CRYPTO_ENTRIES(ROW)};
	void *library = dlopen(OPENSSL3_LIBRARY, RTLD_NOW | RTLD_LOCAL);

	if (!library)
		library = dlopen(OPENSSL11_LIBRARY, RTLD_NOW | RTLD_LOCAL);
	if (!library) {
		fault_raise(f, FAULT_UNAVAILABLE, 0, "dlopen(" OPENSSL3_LIBRARY ")");
		fault_cause(f, "This host or container has no libcrypto, which --auth needs for "
			       "SHA-256");
		return fault_fix(f, "install OpenSSL 3 or 1.1 (libssl3 of Debian, openssl-libs of "
				    "Fedora)");
	}
	for (size_t i = 0; i < sizeof(entry) / sizeof(entry[0]); i++) {
		void *symbol = dlsym(library, entry[i].name);

		if (!symbol) {
			fault_raise(f, FAULT_UNAVAILABLE, 0, "libcrypto has no %s", entry[i].name);
			return fault_fix(f, "install OpenSSL 3 or 1.1");
		}
		memcpy((char *)c + entry[i].offset, &symbol, sizeof(symbol));
	}
	return 0;
}

/* "abc" of FIPS 180, and test case 2 of RFC 4231. */
static int check_answers(const struct crypto *c, struct fault *f)
{
	static const char question[] = "what do ya want for nothing?";
	static const char hashed[CRYPTO_HEX] =
		"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
	static const char sealed[CRYPTO_HEX] =
		"5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843";
	struct crypto_key jefe = {.bytes = "Jefe", .size = 4};
	struct crypto_text text = {question, strlen(question)};
	char hash[CRYPTO_HEX], mac[CRYPTO_HEX];

	if (crypto_hash(c, "abc", hash, f) || crypto_hmac(c, &jefe, text, mac, f))
		return -1;
	if (crypto_equal(c, hash, hashed) && crypto_equal(c, mac, sealed))
		return 0;
	fault_raise(f, FAULT_LOCAL, 0, "libcrypto computes a wrong SHA-256");
	return fault_fix(f, "install OpenSSL again");
}

int crypto_open(struct crypto *c, struct fault *f)
{
	return look_up(c, f) || check_answers(c, f) ? -1 : 0;
}

/*
 * The bits of a mode that make the key with state ST at PATH no secret. Those of the group are the
 * mask of an access list for a credential of systemd (LoadCredential), by which it lets the
 * service's user read it: that is a file in its folder, and no link to another one.
 */
static unsigned others_mode(const struct stat *st, const char *path)
{
	const char *folder = getenv("CREDENTIALS_DIRECTORY");
	size_t size = folder ? strlen(folder) : 0;
	struct stat itself;

	if (!size || strncmp(path, folder, size) != 0 || path[size] != '/' ||
	    strchr(path + size + 1, '/') || lstat(path, &itself))
		return 077;
	return itself.st_dev == st->st_dev && itself.st_ino == st->st_ino ? 037 : 077;
}

/* Check that only this user, or root, can read and change the key file with state ST at PATH. */
static int check_key_file(const struct stat *st, const char *path, struct fault *f)
{
	if (!S_ISREG(st->st_mode))
		return fault_raise(f, FAULT_USAGE, 0, "key file '%.80s' is not a regular file",
				   path);
	if (st->st_uid != geteuid() && st->st_uid != 0) {
		fault_raise(f, FAULT_USAGE, 0, "key file '%.80s' belongs to uid %u", path,
			    (unsigned)st->st_uid);
		fault_cause(f,
			    "Its owner can change it; the key must belong to uid %u, this "
			    "program's user, or to root",
			    (unsigned)geteuid());
		return fault_fix(f, "chown %u %.80s", (unsigned)geteuid(), path);
	}
	if (st->st_mode & others_mode(st, path)) {
		fault_raise(f, FAULT_USAGE, 0, "key file '%.80s' has mode %04o", path,
			    (unsigned)st->st_mode & 07777);
		fault_cause(f, "Other users can read or change it, so it is not a secret");
		return fault_fix(f, "make a new key: " MAKE_KEY);
	}
	if (st->st_size < CRYPTO_KEY_MIN) {
		fault_raise(f, FAULT_USAGE, 0, "key file '%.80s' has %lld bytes", path,
			    (long long)st->st_size);
		fault_cause(f, "A key has %u to %u bytes", CRYPTO_KEY_MIN, CRYPTO_KEY_MAX);
		return fault_fix(f, "make one: " MAKE_KEY);
	}
	return 0;
}

/*
 * True for a key of few different bytes, or of a short piece over and over: one byte, a word, 0 1 2
 * 3. A newline at its end is none of it.
 */
static bool is_guessable(const struct crypto_key *k)
{
	const unsigned char *b = k->bytes;
	size_t size = k->size - (b[k->size - 1] == '\n'), different = 0;
	bool seen[256] = {false};

	for (size_t i = 0; i < size; i++) {
		different += !seen[b[i]];
		seen[b[i]] = true;
	}
	for (size_t piece = 1; piece < PIECE_MIN; piece++) {
		size_t i = piece;

		while (i < size && (unsigned char)(b[i] - b[i - piece]) ==
					   (unsigned char)(b[piece] - b[0]))
			i++;
		if (i == size)
			return true;
	}
	return different < DIFFERENT_MIN;
}

/* Read all of FD into K. */
static int read_key(struct crypto_key *k, int fd, const char *path, struct fault *f)
{
	unsigned char more;
	ssize_t n = 1;

	while (k->size < sizeof(k->bytes) && n > 0) {
		n = read(fd, k->bytes + k->size, sizeof(k->bytes) - k->size);
		if (n < 0)
			return fault_raise(f, FAULT_LOCAL, errno, "reading key file '%.80s'", path);
		k->size += (size_t)n;
	}
	if (k->size >= CRYPTO_KEY_MIN && read(fd, &more, 1) <= 0) {
		if (!is_guessable(k))
			return 0;
		fault_raise(f, FAULT_USAGE, 0, "key file '%.80s' is easy to guess", path);
		fault_cause(f, "It is a short piece over and over, or of few different bytes");
		return fault_fix(f, "make a new key: " MAKE_KEY);
	}
	fault_raise(f, FAULT_USAGE, 0, "key file '%.80s' has %s than %u bytes", path,
		    k->size < CRYPTO_KEY_MIN ? "fewer" : "more",
		    k->size < CRYPTO_KEY_MIN ? CRYPTO_KEY_MIN : CRYPTO_KEY_MAX);
	return fault_fix(f, "make one: " MAKE_KEY);
}

int crypto_read_key(struct crypto_key *k, const char *path, struct fault *f)
{
	/* A FIFO must not block. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), rc;
	struct stat st;

	k->size = 0;
	if (fd < 0) {
		fault_raise(f, FAULT_USAGE, errno, "key file '%.80s'", path);
		return fault_fix(f, "check the path in --auth=key:FILE; to make a key: " MAKE_KEY);
	}
	rc = fstat(fd, &st) ? fault_raise(f, FAULT_LOCAL, errno, "fstat(%.80s)", path)
			    : check_key_file(&st, path, f);
	if (rc == 0)
		rc = read_key(k, fd, path, f);
	close(fd);
	return rc;
}

void crypto_hex(const unsigned char *data, size_t size, char *hex)
{
	for (size_t i = 0; i < size; i++)
		snprintf(hex + 2 * i, 3, "%02x", data[i]);
}

/* Raise the fault that FUNCTION of the library failed, and clear HEX. */
static int failed(const char *function, char hex[CRYPTO_HEX], struct fault *f)
{
	bool memory = errno == ENOMEM;

	memset(hex, 0, CRYPTO_HEX);
	fault_raise(f, FAULT_LOCAL, memory ? ENOMEM : 0, "libcrypto: %s", function);
	if (memory)
		return -1;
	fault_cause(f, "Its configuration loads no provider of SHA-256, or forbids it");
	return fault_fix(f, "see `openssl list -providers`, and what OPENSSL_CONF names");
}

int crypto_hash(const struct crypto *c, const char *text, char hex[CRYPTO_HEX], struct fault *f)
{
	unsigned char hash[HASH_BYTES] = {0};

	errno = 0;
	if (!c->SHA256((const unsigned char *)text, strlen(text), hash))
		return failed("SHA256", hex, f);
	crypto_hex(hash, sizeof(hash), hex);
	return 0;
}

int crypto_hmac(const struct crypto *c, const struct crypto_key *k, struct crypto_text text,
		char hex[CRYPTO_HEX], struct fault *f)
{
	unsigned char mac[64] = {0}; /* EVP_MAX_MD_SIZE */
	unsigned int bytes = 0;

	errno = 0;
	if (!c->HMAC(c->EVP_sha256(), k->bytes, (int)k->size, (const unsigned char *)text.at,
		     text.size, mac, &bytes) ||
	    bytes != HASH_BYTES)
		return failed("HMAC", hex, f);
	crypto_hex(mac, HASH_BYTES, hex);
	return 0;
}

bool crypto_equal(const struct crypto *c, const char a[CRYPTO_HEX], const char b[CRYPTO_HEX])
{
	return c->CRYPTO_memcmp(a, b, CRYPTO_HEX) == 0;
}
