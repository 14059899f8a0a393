/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * fuzz: what the fuzz targets share: reading values from the input, and checks.
 *
 * After the end of the input, values are zeros and empty texts, so every input is complete.
 */
#ifndef RDMARK_FUZZ_H
#define RDMARK_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A condition that must hold for every input. The sanitizer's trace of the abort shows the line. */
#define FUZZ_CHECK(what)                                                                   \
	do {                                                                               \
		if (!(what)) {                                                             \
			fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #what); \
			abort();                                                           \
		}                                                                          \
	} while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max);

struct fuzz_input {
	const uint8_t *at;
	size_t left;
};

/* Read the next SIZE bytes into TO; zeros after the end. */
static inline void fuzz_bytes(struct fuzz_input *in, void *to, size_t size)
{
	size_t n = size < in->left ? size : in->left;

	memset(to, 0, size);
	if (n)
		memcpy(to, in->at, n);
	in->at += n;
	in->left -= n;
}

static inline uint8_t fuzz_u8(struct fuzz_input *in)
{
	uint8_t v;

	fuzz_bytes(in, &v, sizeof(v));
	return v;
}

static inline uint64_t fuzz_u64(struct fuzz_input *in)
{
	uint64_t v;

	fuzz_bytes(in, &v, sizeof(v));
	return v;
}

/* Read up to the next byte END, and skip that. Returns a new string. */
static inline char *fuzz_text(struct fuzz_input *in, char end)
{
	const uint8_t *stop = in->left ? memchr(in->at, end, in->left) : NULL;
	size_t n = stop ? (size_t)(stop - in->at) : in->left;
	char *text = malloc(n + 1);

	if (!text)
		abort();
	fuzz_bytes(in, text, n);
	text[n] = '\0';
	if (stop) {
		in->at++;
		in->left--;
	}
	return text;
}

#endif
