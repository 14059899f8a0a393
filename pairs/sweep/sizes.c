// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A sweep of several message sizes: a whole sweep for each, with files of its own, and which hosts
 * are suspects with some sizes only.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/composed.h"
#include "base/text.h"
#include "pairs/pairs.h"
#include "report/document.h"
#include "sweep.h"

#define SIZES_MAX 16

struct sizes {
	char text[SIZES_MAX][32]; /* "4k" */
	unsigned n;
	struct hosts suspects[SIZES_MAX]; /* with each of them */
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

/* The sizes with which the host NAME is a suspect: a bit for each. */
static unsigned sizes_of(const struct sizes *z, const char *name)
{
	unsigned with = 0;

	for (unsigned i = 0; i < z->n; i++)
		for (uint32_t k = 0; k < z->suspects[i].n; k++)
			if (strcmp(z->suspects[i].host[k].name, name) == 0)
				with |= 1u << i;
	return with;
}

static void say_sizes(const struct sizes *z, const char *name, unsigned with)
{
	const char *before = ": suspect only with -s ";

	if (with == (1u << z->n) - 1)
		return;
	fputs(name, stdout);
	for (unsigned i = 0; i < z->n; i++)
		if (with >> i & 1) {
			printf("%s%s", before, z->text[i]);
			before = ",";
		}
	puts("");
}

/* Say which hosts are suspects with some sizes only, and write all of them to one file. */
static int gather_suspects(struct node_sweep *s, struct sizes *z)
{
	struct composed all;
	FILE *to = composed_open(&all);
	char name[PATH_MAX], *text;
	int rc = 0;

	for (unsigned i = 0; !rc && i < z->n; i++) {
		snprintf(name, sizeof(name), "%s.%s", s->suspects, z->text[i]);
		rc = hosts_read(&z->suspects[i], name, &s->fault);
	}
	for (unsigned i = 0; !rc && to && i < z->n; i++)
		for (uint32_t k = 0; k < z->suspects[i].n; k++) {
			const char *host = z->suspects[i].host[k].name;
			unsigned with = sizes_of(z, host);

			if (with & ((1u << i) - 1))
				continue; /* it was said before */
			fprintf(to, "%s\n", host);
			say_sizes(z, host, with);
		}
	text = composed_close(&all);
	if (!rc)
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

	if (s->writes) {
		fault_raise(&s->fault, FAULT_USAGE, 0, "--matrix or --prom with -s %s", s->sizes);
		fault_fix(&s->fault, "sweep one size, or judge the lines of each again");
	} else if (!read_sizes(s, &z)) {
		status = sweep_each(s, argv, &z);
	}
	if (sweep_is_verdict(status) && !s->dry_run && gather_suspects(s, &z))
		status = -1;
	for (unsigned i = 0; i < z.n; i++)
		hosts_release(&z.suspects[i]);
	return status;
}
