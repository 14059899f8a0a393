/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * outcome: what a run came to, from the document of its client. The document is read as untrusted:
 * a program that is killed leaves half of one, or none.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define OUTCOME_FINDINGS 3

/* The end that a fault or a finding is about. */
enum outcome_end {
	OUTCOME_UNKNOWN,
	OUTCOME_CLIENT,
	OUTCOME_SERVER
};

struct outcome {
	bool has_value, interrupted;
	double value;   /* Gb/s, or the median latency in us: the mean of few messages */
	double p99;     /* of a latency; 0: none */
	/* the part of its CPU that the client's thread had, and the server's; NaN: not known */
	double client_cpu, server_cpu;
	int exit;
	const char *cause; /* NULL: none; static storage */
	enum outcome_end fault;
	char error[400], fix[300];    /* without a document the error ends with its fix */
	int64_t server_ns, client_ns; /* the clocks of both; 0: unknown */
	double server_gbps, client_gbps; /* the rates of the ports that it used; 0: unknown */
	struct outcome_finding {
		char id[48];
		enum outcome_end end;
		char text[240];
	} finding[OUTCOME_FINDINGS];
	unsigned findings;
};

/* Read SAID, a document of N bytes or less than one, of a program that measures LATENCY or not. */
void outcome_read(struct outcome *o, const char *said, size_t n, bool latency);

/*
 * The program has ended with STATUS (waitpid(2)), and LINE is its last error. If there was neither
 * figure nor error in its document, these say what happened.
 */
void outcome_ended(struct outcome *o, int status, const char *line);
