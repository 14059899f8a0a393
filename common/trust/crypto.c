// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "trust/crypto.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Of the version whose headers this was built with; it brings libcrypto. */
#define TEXT(number)    #number
#define TEXT_OF(number) TEXT(number)
#ifdef OPENSSL_SHLIB_VERSION
#define LIBRARY "libssl.so." TEXT_OF(OPENSSL_SHLIB_VERSION)
#else
#define LIBRARY "libssl.so." SHLIB_VERSION_NUMBER
#endif

#define MAKE_KEY      "(umask 077; head -c 32 /dev/urandom >FILE)"
#define ROW(function) {#function, offsetof(struct crypto, function)},

int crypto_open(struct crypto *c, struct fault *f)
{
	static const struct {
		const char *name;
		size_t offset;
	} entry[] = {CRYPTO_ENTRIES(ROW)};
	void *library;

	errno = 0;
	library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
	if (!library && errno == ENOMEM)
		return fault_raise(f, FAULT_LOCAL, ENOMEM, "dlopen(" LIBRARY ")");
	if (!library) {
		fault_raise(f, FAULT_UNAVAILABLE, 0, "dlopen(" LIBRARY ")");
		fault_cause(f, "This host or container has no " LIBRARY ", which --auth needs");
		return fault_fix(f, "install OpenSSL (libssl3 of Debian, openssl-libs of Fedora)");
	}
	for (size_t i = 0; i < sizeof(entry) / sizeof(entry[0]); i++) {
		void *symbol = dlsym(library, entry[i].name);

		if (!symbol) {
			fault_raise(f, FAULT_UNAVAILABLE, 0, LIBRARY " has no %s", entry[i].name);
			return fault_fix(f, "install OpenSSL again");
		}
		memcpy((char *)c + entry[i].offset, &symbol, sizeof(symbol));
	}
	return 0;
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
	return 0;
}

/* Read FD, a regular file, into K. */
static int read_key(struct crypto_key *k, int fd, const char *path, struct fault *f)
{
	ssize_t n = read(fd, k->bytes, sizeof(k->bytes));

	if (n < 0)
		return fault_raise(f, FAULT_LOCAL, errno, "reading key file '%.80s'", path);
	k->size = (size_t)n;
	if (k->size >= CRYPTO_KEY_MIN && k->size <= CRYPTO_KEY_MAX)
		return 0;
	fault_raise(f, FAULT_USAGE, 0, "key file '%.80s' has fewer than %u bytes, or more than %u",
		    path, CRYPTO_KEY_MIN, CRYPTO_KEY_MAX);
	return fault_fix(f, "make one: " MAKE_KEY);
}

int crypto_read_key(struct crypto_key *k, const char *path, struct fault *f)
{
	/* A FIFO must not block. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), rc;
	struct stat st;

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

int crypto_derive(const struct crypto *c, const struct crypto_key *k, const char *purpose,
		  unsigned char derived[CRYPTO_HASH], struct fault *f)
{
	static const char no_salt[CRYPTO_HASH];
	unsigned char extracted[EVP_MAX_MD_SIZE] = {0}, info[64], mac[EVP_MAX_MD_SIZE] = {0};
	/* The first of HKDF's blocks ends with a 1, and one block is all that is needed. */
	size_t size = (size_t)snprintf((char *)info, sizeof(info), "%s\1", purpose);
	unsigned bytes = 0, more = 0;

	errno = 0;
	if (!c->HMAC(c->EVP_sha256(), no_salt, CRYPTO_HASH, k->bytes, k->size, extracted, &bytes) ||
	    !c->HMAC(c->EVP_sha256(), extracted, CRYPTO_HASH, info, size, mac, &more) ||
	    bytes != CRYPTO_HASH || more != CRYPTO_HASH) {
		fault_raise(f, FAULT_LOCAL, errno == ENOMEM ? ENOMEM : 0, "libcrypto: HMAC");
		fault_cause(f, "Its configuration loads no provider of SHA-256, or forbids it; or "
			       "there is no memory");
		return fault_fix(f, "see `openssl list -providers`, and what OPENSSL_CONF names");
	}
	memcpy(derived, mac, CRYPTO_HASH);
	return 0;
}
