/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * program_line: the command lines of the programs that measure, from what the user wrote after
 * "--": a program and its options. The client gets them all, the server those that are about an end
 * (device, memory, GPU).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"
#include "base/process.h"

#define PROGRAM_WORDS_MAX 128

struct program_line {
	const char *program;
	bool latency, both_ways;   /* what it measures; and whether --reversed makes sense */
	bool to_client;            /* its payload goes to the client: RDMA READ */
	uint64_t duration_ns;      /* of -D; 0: none */
	uint64_t omit_ns;          /* of --omit, before it */
	const char *auth;          /* of --auth; NULL: none */
	char *word[PROGRAM_WORDS_MAX + 1]; /* the options */
	size_t words;
	bool about_end[PROGRAM_WORDS_MAX + 1]; /* the server has this word, too */
};

/* What a run adds. */
struct program_call {
	const char *rail; /* "": no device is named */
	const char *auth;
	uint16_t port;
	uint64_t timeout_ns;
	const char *address; /* of the server; NULL: this is the server */
	uint64_t connect_ns; /* how long to try */
	bool reversed;
};

/* The words of a command line, and the texts that they need. */
struct program_words {
	char *argv[PROGRAM_WORDS_MAX + 16];
	size_t n, texts;
	char text[5][512];
};

/*
 * Read WORDS, which NULL ends: a program and its options. None: write_bw for half a second. Raises
 * FAULT_USAGE for an unknown program, and for options that a run sets itself.
 */
int program_line_read(struct program_line *l, char **words, struct fault *f);

/* Start L for CALL: its output is read, and it dies with this process. Else as process_start(). */
int program_line_start(const struct program_line *l, const struct program_call *call,
		       struct process *p, struct fault *f);

/* Write the command line of L for CALL. It points into L, CALL and TO. */
void program_line_write(const struct program_line *l, const struct program_call *call,
			struct program_words *to);
