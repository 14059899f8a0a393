// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A sweep of several message sizes: a whole sweep for each, with files of its own, and which hosts
 * are suspects with some sizes only.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/composed.h"
#include "base/text.h"
#include "pairs/grow.h"
#include "pairs/lines.h"
#include "pairs/pairs.h"
#include "report/forms.h"
#include "sweep.h"

#define SIZES_MAX 16

struct sizes {
	char text[SIZES_MAX][32]; /* "4k" */
	unsigned n;
	struct found {
		char host[HOSTS_NAME_BYTES];
		unsigned with; /* a bit for each size with which it is a suspect */
	} * found;
	size_t founds;
};

static int read_sizes(struct node_sweep *s, struct sizes *z)
{
	const char *at = s->sizes;

	for (size_t bytes; z->n < SIZES_MAX; at += bytes + 1) {
		bytes = strcspn(at, ",");
		if (!bytes || bytes >= sizeof(z->text[0]) || memchr(at, '/', bytes))
			break;
		text_copy(z->text[z->n++], bytes + 1, at);
		if (!at[bytes])
			return 0;
	}
	fault_raise(&s->fault, FAULT_USAGE, 0, "-s %.60s", s->sizes);
	return fault_fix(&s->fault, "separate up to %d sizes with commas: -s 4k,1m", SIZES_MAX);
}

/*
 * Sweep with SIZE: with the command line ARGV, but that in place of the list, and with files of its
 * own. Returns the exit status, or -1.
 */
static int sweep_one(struct node_sweep *s, char **argv, const char *size)
{
	char output[PATH_MAX], suspects[PATH_MAX], with[PATH_MAX];
	struct words command = {0};

	snprintf(output, sizeof(output), "--output=%s.%s", s->output, size);
	snprintf(suspects, sizeof(suspects), "--suspects=%s.%s", s->suspects, size);
	words_put(&command, PAIRS);
	words_put(&command, "sweep");
	for (; strcmp(*argv, "--") != 0; argv++)
		words_put(&command, *argv);
	words_put(&command, output);
	words_put(&command, suspects);
	for (; *argv; argv++) {
		size_t all = strlen(*argv), list = strlen(s->sizes);
		bool has = all >= list && *argv + all - list == s->sizes; /* it ends a word */

		if (has)
			snprintf(with, sizeof(with), "%.*s%s", (int)(all - list), *argv, size);
		words_put(&command, has ? with : *argv);
	}
	printf("-s %s\n", size);
	return sweep_start(s, &command, NULL);
}

/* Note that HOST is a suspect with size I. */
static int add_found(struct sizes *z, const char *host, unsigned i, struct fault *f)
{
	struct found *more;
	size_t at = 0;

	while (at < z->founds && strcmp(z->found[at].host, host) != 0)
		at++;
	if (at == z->founds) {
		more = grow(z->found, z->founds, sizeof(*more));
		if (!more)
			return fault_raise(f, FAULT_LOCAL, ENOMEM, "realloc");
		z->found = more;
		z->found[z->founds++] = (struct found){.with = 0};
		text_copy(z->found[at].host, sizeof(z->found[at].host), host);
	}
	z->found[at].with |= 1u << i;
	return 0;
}

static int read_suspects(struct node_sweep *s, struct sizes *z)
{
	char name[PATH_MAX];
	struct lines l;
	int rc = 0;

	for (unsigned i = 0; !rc && i < z->n; i++) {
		snprintf(name, sizeof(name), "%s.%s", s->suspects, z->text[i]);
		rc = lines_open(&l, name, &s->fault);
		while (!rc && (rc = lines_next(&l, &s->fault)) > 0)
			rc = add_found(z, l.word[0], i, &s->fault);
		lines_release(&l);
	}
	return rc;
}

/* Say which hosts are suspects with some sizes only, and write all of them to one file. */
static int say_found(struct node_sweep *s, const struct sizes *z)
{
	struct composed suspects;
	FILE *to = composed_open(&suspects);
	char *text;
	int rc;

	for (size_t k = 0; to && k < z->founds; k++) {
		const struct found *h = &z->found[k];
		const char *before = ": suspect only with -s ";

		fprintf(to, "%s\n", h->host);
		if (h->with == (1u << z->n) - 1)
			continue;
		fputs(h->host, stdout);
		for (unsigned i = 0; i < z->n; i++)
			if (h->with >> i & 1) {
				printf("%s%s", before, z->text[i]);
				before = ",";
			}
		puts("");
	}
	text = composed_close(&suspects);
	rc = document_put(s->suspects, text, &s->stop, &s->fault);
	free(text);
	return rc;
}

/* A sweep for each size. Returns the worst exit status, that of a failure at once; or -1. */
static int sweep_each(struct node_sweep *s, char **argv, const struct sizes *z)
{
	static const int order[] = {0, FAULT_UNAVAILABLE, FAULT_THRESHOLD, FAULT_PEER};
	unsigned worst = 0;

	for (unsigned i = 0; i < z->n; i++) {
		int status = sweep_one(s, argv, z->text[i]);

		if (!sweep_is_verdict(status))
			return status;
		for (unsigned k = worst; k < sizeof(order) / sizeof(order[0]); k++)
			worst = order[k] == status ? k : worst;
	}
	return order[worst];
}

int sweep_sizes(struct node_sweep *s, char **argv)
{
	struct sizes z = {.n = 0};
	int status = -1;

	if (s->judged[SWEEP_MATRIX] || s->judged[SWEEP_PROM]) {
		fault_raise(&s->fault, FAULT_USAGE, 0, "--matrix or --prom with -s %s", s->sizes);
		fault_fix(&s->fault, "sweep one size, or judge the lines of each again");
	} else if (!read_sizes(s, &z)) {
		status = sweep_each(s, argv, &z);
	}
	if (sweep_is_verdict(status) && !s->dry_run && (read_suspects(s, &z) || say_found(s, &z)))
		status = -1;
	free(z.found);
	return status;
}
