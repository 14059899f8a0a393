// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The command line of `rdmark-pairs run`. */
#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "pairs/option.h"
#include "run.h"

enum kind {
	FLAG,
	TEXT,
	NUMBER,
	TIME,
	EPOCH
};

static const struct {
	const char *name, *value;
	enum kind kind;
	size_t at;
	uint64_t most;
	const char *help;
} rows[] = {
#define ROW(name, value, kind, member, most, help)                                \
	{                                                                         \
		name, value, kind, offsetof(struct run_asked, member), most, help \
	}
	ROW("--start", "EPOCH", EPOCH, start_s, 0,
	    "when the first slot begins, in seconds since 1970"),
	ROW("--schedule", "NAME", TEXT, schedule.name, 0,
	    "quick, full, random=N, ring=D, group=F, file=F,\n"
	    "                    incast=K or incast=K,victim"),
	ROW("--seed", "N", NUMBER, schedule.seed, UINT32_MAX, "of the random pairs"),
	ROW("--slot", "S", TIME, slot_ns, 0, "length of a slot; without it, from -D"),
	ROW("--one-way", NULL, FLAG, one_way, 0, "leave the second direction out"),
	ROW("--only", "FILE", TEXT, schedule.only, 0, "only the pairs of these hosts, one a line"),
	ROW("--at-once", "N", NUMBER, schedule.at_once, SCHEDULE_HOSTS_MAX,
	    "at most N pairs in a slot"),
	ROW("--alone", NULL, FLAG, schedule.alone, 0,
	    "a pair in a slot is alone; so are the few of --at-once"),
	ROW("--for", "S", TIME, for_ns, 0, "leave out the rounds that end after S seconds"),
	ROW("--dry-run", NULL, FLAG, dry_run, 0, "say how many pairs, and how long; measure none"),
	ROW("--hosts", "LIST", TEXT, players.hosts, 0,
	    "a,b[1-9], or a file of lines: NAME [ADDRESS[:PORT]]"),
	ROW("--self", "NAME", TEXT, players.self, 0, "which of them this one is"),
	ROW("--rails", "LIST", TEXT, players.rails, 0,
	    "devices: each meets the others of its place"),
	ROW("--port", "P", NUMBER, players.port, UINT16_MAX, "TCP port of the first host's server"),
	ROW("--port-step", "N", NUMBER, players.port_step, UINT16_MAX,
	    "host I has port P + N * I: several hosts on one address"),
	ROW("--auth", "METHOD", TEXT, auth, 0,
	    "of both ends, as of write_bw; in a job of Slurm: munge"),
#undef ROW
};

#define ROWS (sizeof(rows) / sizeof(rows[0]))

static void print_help(void)
{
	puts("usage: rdmark-pairs run --start EPOCH [OPTION...] [-- PROGRAM [OPTION...]]\n");
	for (size_t i = 0; i < ROWS; i++) {
		char left[40];

		snprintf(left, sizeof(left), "%s%s%s", rows[i].name, rows[i].value ? " " : "",
			 rows[i].value ? rows[i].value : "");
		printf("  %-17s %s\n", left, rows[i].help);
	}
	puts("\nPROGRAM and its options: what a slot measures. Default: write_bw -D 0.5");
}

/* Store the value TEXT of row I. */
static int store(struct run_asked *a, size_t i, const char *text, struct fault *f)
{
	void *to = (char *)a + rows[i].at;
	bool bad = false;
	uint64_t v = 0;
	char *end;

	if (rows[i].kind == FLAG)
		*(bool *)to = true;
	else if (rows[i].kind == TEXT)
		*(const char **)to = text;
	else if (rows[i].kind == EPOCH) {
		*(double *)to = strtod(text, &end);
		bad = !*text || *end || !isfinite(*(double *)to) || !(*(double *)to > 0);
	} else {
		bad = rows[i].kind == TIME ? units_parse_seconds(text, &v)
					   : units_parse_u64(text, &v) || v > rows[i].most;
		*(uint64_t *)to = v;
	}
	if (!bad)
		return 0;
	return fault_raise(f, FAULT_USAGE, 0, "%s: invalid value '%.64s'", rows[i].name, text);
}

/* Read the option at *ARGV, which moves to its last word. Returns 0 or -1. */
static int read_option(struct run_asked *a, char ***argv, struct fault *f)
{
	for (size_t i = 0; i < ROWS; i++) {
		bool flag = rows[i].kind == FLAG;
		const char *value = flag ? NULL : option_value(argv, rows[i].name, f);

		if (value || (flag && strcmp(**argv, rows[i].name) == 0))
			return fault_is(f) ? -1 : store(a, i, value, f);
	}
	fault_raise(f, FAULT_USAGE, 0, "'%.64s' is not an option of rdmark-pairs run", **argv);
	return fault_fix(f, "`rdmark-pairs run --help` shows them; a program and its options "
			    "follow --");
}

int run_options(struct run_asked *a, char **argv, struct fault *f)
{
	*a = (struct run_asked){
		.players = {.port = 18600},
		.schedule = {.name = "quick", .seed = 1},
	};
	fault_phase(f, "reading the command line");
	for (; *argv; argv++) {
		if (strcmp(*argv, "--help") == 0 || strcmp(*argv, "-h") == 0) {
			print_help();
			return 1;
		}
		if (strcmp(*argv, "--") == 0)
			break;
		if (read_option(a, &argv, f))
			return -1;
	}
	a->program = *argv ? argv + 1 : argv;
	while (a->program[a->program_words])
		a->program_words++;
	if (a->start_s > 0 || a->dry_run)
		return 0;
	fault_raise(f, FAULT_USAGE, 0, "--start is missing");
	return fault_fix(f, "give all hosts the same: --start $(( $(date +%%s) + 5 ))");
}
