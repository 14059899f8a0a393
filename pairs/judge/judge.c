// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Reads the command line of `judge` and the files, and has the judgement written. */
#include "judge.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/composed.h"
#include "pairs/pairs.h"
#include "proto/json_memory.h"
#include "report/document.h"
#include "report/list.h"

#define MATRIX_MAX 4096 /* players of a square of numbers */

struct judge {
	const char *groups, *hosts, *baseline, *suspects, *plan, *matrix;
	double expect; /* Gb/s; 0: not given */
	uint64_t json;
	char **files;
	struct hosts known; /* of --hosts */
	struct groups group;
	struct evidence evidence;
};

#define OPTION(...) COMMAND_OPTION(judge, __VA_ARGS__)

static const struct option_row options[] = {
	OPTION(groups, "groups", "FILE", OPTION_TEXT, 0,
	       "lines \"GROUP HOST...\": which hosts share a switch or a rack"),
	OPTION(hosts, "hosts", "LIST", OPTION_TEXT, 0,
	       "use only lines of these hosts: n[1-4], or a file"),
	OPTION(baseline, "baseline", "FILE", OPTION_TEXT, 0,
	       "an earlier run, to compare each node with"),
	OPTION(expect, "expect", "GBPS", COMMAND_RATE, 0, "what each pair must reach"),
	OPTION(suspects, "suspects", "FILE", OPTION_TEXT, 0,
	       "write who is lost or slow by the test, a host a line"),
	OPTION(plan, "plan", "FILE", OPTION_TEXT, 0,
	       "write what to measure next, for `run --plan FILE`"),
	OPTION(matrix, "matrix", "FILE", OPTION_TEXT, 0,
	       "write all figures as CSV: rows send, columns receive"),
	OPTION(json, "json", NULL, OPTION_FLAG, 0, "print a JSON document in place of the report"),
	{.name = NULL},
};

/* Read the options; the files are the start of ARGV then. Returns 0; 1: help was printed; -1. */
static int read_arguments(struct judge *k, char **argv, struct fault *f)
{
	static const struct command judge = {
		.name = "rdmark-pairs judge",
		.synopsis = "[OPTION...] FILE...",
		.about =
			"Reads what `rdmark-pairs run` wrote, and says which nodes, rails and links "
			"are\nslow or lost. Several files are judged together; - is stdin.\n",
		.more = "Exit status: 0 all is well, 2 usage, 3 nodes are lost or no pair was "
			"measured,\n6 something is slow, 77 a slow node might not have been seen.\n",
		.options = options,
		.operands = true,
	};
	char **rest;
	int rc = command_read(&judge, k, argv, &rest, f);

	k->files = argv;
	if (rc || *argv)
		return rc;
	fault_raise(f, FAULT_USAGE, 0, "judge: no file");
	return fault_fix(f, "name the files that `rdmark-pairs run` wrote, or - for stdin");
}

static int read_file(struct evidence *b, const char *name, struct fault *f)
{
	bool in = strcmp(name, "-") == 0;
	FILE *file = in ? stdin : fopen(name, "r");
	int status = file ? evidence_read(b, file) : -1;

	if (status)
		fault_raise(f, FAULT_USAGE, errno, "reading %s", in ? "stdin" : name);
	if (status && errno == ENOENT)
		fault_fix(f, "name the files that `rdmark-pairs run` or sweep wrote");
	if (file && !in)
		fclose(file);
	return status;
}

/* Say on stderr which lines were not used. */
static void print_counts(const struct evidence *e)
{
	static const char *const why[COUNTS] = {
#define WHY(name, why) [COUNT_##name] = why,
		EVIDENCE_COUNTS(WHY)
#undef WHY
	};

	for (size_t i = 0; i < COUNTS; i++)
		if (e->counts[i])
			fprintf(stderr, PAIRS ": lines not used, %s: %llu\n", why[i],
				(unsigned long long)e->counts[i]);
}

/* Read FILES (NULL at the end) into B, which is then settled. */
static int read_evidence(struct evidence *b, char **files, struct fault *f)
{
	char **first = files;

	for (; *files; files++)
		if (read_file(b, *files, f))
			return -1;
	if (evidence_complete(b))
		return fault_raise(f, FAULT_LOCAL, ENOMEM, "sorting the lines");
	print_counts(b);
	if (b->count)
		return 0;
	fault_raise(f, FAULT_USAGE, 0, "%s: no line is about a pair%s%s", *first,
		    b->counts[COUNT_OTHER_UNIT] ? " of " : "",
		    b->counts[COUNT_OTHER_UNIT] ? b->whats.text[0] : "");
	return fault_fix(f, "use the output of `rdmark-pairs run`, with the same program and options");
}

/* Refuse groups of which no host is in the runs: it is named otherwise there. */
static int refuse_strangers(const struct judge *k, struct fault *f)
{
	const struct names *in = &k->evidence.hosts;

	for (uint32_t i = 0; i < in->count; i++)
		if (groups_of(&k->group, in->text[i]) != NAMES_NONE)
			return 0;
	return fault_usage(f, "name the hosts as the runs do, which are those of --hosts or of Slurm",
			   "%s: none of its hosts is in these runs", k->groups);
}

/* Read what the options name that is about hosts. */
static int read_hosts(struct judge *k, struct fault *f)
{
	if (k->hosts && (hosts_read(&k->known, k->hosts, f) || hosts_complete(&k->known, f)))
		return -1;
	return k->groups ? groups_read(&k->group, k->groups, f) : 0;
}

/* Write TEXT, which is freed, to NAME. */
static int put(const char *name, char *text, struct fault *f)
{
	int rc = document_put(name, text, NULL, f);

	free(text);
	return rc;
}

static int write_files(const struct judge *k, const struct judgement *j, struct fault *f)
{
	const struct {
		const char *name;
		void (*write)(FILE *, const struct judgement *);
	} of[] = {{k->matrix, judge_matrix}, {k->suspects, judge_suspects}, {k->plan, judge_plan}};

	if (k->matrix && j->players > MATRIX_MAX)
		return fault_raise(f, FAULT_USAGE, 0, "--matrix: %u players, at most %u",
				   j->players, MATRIX_MAX);
	for (size_t i = 0; i < sizeof(of) / sizeof(of[0]); i++) {
		struct composed text;

		if (of[i].name && composed_open(&text))
			of[i].write(text.out, j);
		if (of[i].name && put(of[i].name, composed_close(&text), f))
			return -1;
	}
	return 0;
}

static int compare_with(struct judgement *j, const char *name, struct fault *f)
{
	char *files[] = {(char *)name, NULL};
	struct judgement before = {0};
	struct evidence b;
	int rc;

	evidence_init(&b);
	if (j->e->whats.count) /* lines of another experiment are not used */
		names_put(&b.whats, j->e->whats.text[0]);
	rc = read_evidence(&b, files, f);
	if (!rc && judgement_init(&before, &b, j->groups, 0))
		rc = fault_raise(f, FAULT_LOCAL, ENOMEM, "comparing with %s", name);
	if (!rc)
		judge_compare(j, &before);
	judgement_release(&before);
	evidence_release(&b);
	return rc;
}

static int judge_files(struct judge *k, struct judgement *j, struct fault *f)
{
	if (read_hosts(k, f) || read_evidence(&k->evidence, k->files, f) ||
	    (k->groups && refuse_strangers(k, f)))
		return -1;
	if (judgement_init(j, &k->evidence, &k->group, k->expect))
		return fault_raise(f, FAULT_LOCAL, ENOMEM, "%u pairs", k->evidence.count);
	if (k->baseline && compare_with(j, k->baseline, f))
		return -1;
	if (!k->json)
		judge_report(stdout, j);
	return (k->json && put("-", judge_json(j), f)) || write_files(k, j, f) ? -1 : 0;
}

static void release(struct judge *k)
{
	hosts_release(&k->known);
	groups_release(&k->group);
	evidence_release(&k->evidence);
}

int judge_command(char **argv)
{
	struct judgement j = {0};
	struct judge k = {0};
	struct fault f = {0};
	int status = read_arguments(&k, argv, &f);

	if (status)
		return list_finish(PAIRS, &f, 0);
	evidence_init(&k.evidence);
	k.evidence.known = &k.known;
	if (!judge_files(&k, &j, &f))
		status = judge_status(&j);
	judgement_release(&j);
	release(&k);
	return list_finish(PAIRS, &f, status);
}

/* What is read for each judgement of several must be there each time. */
static int refuse_pipe(const char *name, struct fault *f)
{
	struct stat st;

	if (!name || stat(name, &st) || !(S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode)))
		return 0;
	fault_raise(f, FAULT_USAGE, 0, "%s is a pipe, and is read more than once", name);
	return fault_fix(f, "write it to a file first");
}

int judge_check(char **argv, struct fault *f)
{
	struct judge k = {0};
	int rc;

	if (read_arguments(&k, argv, f) || refuse_pipe(k.groups, f) || refuse_pipe(k.baseline, f))
		return -1;
	evidence_init(&k.evidence);
	rc = read_hosts(&k, f);
	if (!rc && k.baseline)
		rc = read_evidence(&k.evidence, (char *[]){(char *)k.baseline, NULL}, f);
	if (!rc) {
		const char *written[] = {k.suspects, k.plan, k.matrix};

		for (size_t i = 0; !rc && i < sizeof(written) / sizeof(written[0]); i++)
			rc = document_try(&(struct output_options){.json = written[i]}, f);
	}
	release(&k);
	return rc;
}
