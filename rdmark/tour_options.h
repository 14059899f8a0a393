/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * tour_options: the command line of a tour. Each of its tests gets the options that it has; one
 * that none has is refused.
 */
#pragma once

#include "cli/options.h"
#include "plan/test.h"

struct tour_options {
	struct tour_option {
		const struct option_row *row;
		char *word; /* owned: "--name=value" */
	} * option;         /* for the tests; owned */
	size_t options;
	const struct test **test; /* that are run, in this order; owned */
	size_t tests;
	char *host;
	const char *json; /* the file that gets the documents, "-": stdout; NULL: none */
	bool plain;       /* gdr_bw runs no schedule */
	bool lasts;       /* the options set the number of messages or the duration */
};

/*
 * Read ARGV: "rdmark", the host and the rest, with gdr_bw among the usual tests if there is a GPU.
 * Returns 0, or -1 with the fault raised; O needs ARGV, and to be released, in both cases.
 */
int tour_options_read(struct tour_options *o, char **argv, bool gpu, struct fault *f);
void tour_options_release(struct tour_options *o);

/*
 * The command line of TEST, which the caller frees: quiet, with its document on stdout. NULL: no
 * memory. LACKS gets the options that TEST does not have: "--qp, --outs".
 */
char **tour_options_of(const struct tour_options *o, const struct test *test, char *lacks,
		       size_t size);
