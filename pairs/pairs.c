// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* rdmark-pairs: reads which command is meant. */
#include "pairs.h"

#include <stdio.h>
#include <string.h>

#include "pairs/judge/judge.h"
#include "proto/json_memory.h"
#include "report/list.h"

static const char usage[] =
	"rdmark-pairs " RDMARK_VERSION ": which node, rail or link of a cluster is slow?\n"
	"\n"
	"  rdmark-pairs sweep --launch LAUNCHER [OPTION...] [-- PROGRAM [OPTION...]]\n"
	"      measure pairs of nodes, judge them, test who may be slow, report\n"
	"  rdmark-pairs run --start EPOCH [OPTION...] [-- PROGRAM [OPTION...]]\n"
	"      measure the pairs of this host; start it on every host at once\n"
	"  rdmark-pairs judge [OPTION...] FILE...\n"
	"      say which nodes, rails and links are slow or lost, from what run wrote\n"
	"\n"
	"Example, on Slurm:\n"
	"  salloc -N 64 --no-kill rdmark-pairs sweep --launch srun -- write_bw -D 0.5\n"
	"\n"
	"rdmark-pairs COMMAND --help shows its options. See rdmark-pairs(1).\n";

int main(int argc, char **argv)
{
	const char *word = argc > 1 ? argv[1] : "--help";
	struct fault f = {0};

	json_memory_init();
	if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0 || strcmp(word, "help") == 0) {
		fputs(usage, stdout);
		return list_finish(PAIRS, &f, 0);
	}
	if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0) {
		printf("%s %s\n", PAIRS, RDMARK_VERSION);
		return list_finish(PAIRS, &f, 0);
	}
	if (strcmp(word, "run") == 0)
		return run_command(argv + 2);
	if (strcmp(word, "judge") == 0)
		return judge_command(argv + 2);
	if (strcmp(word, "sweep") == 0)
		return sweep_command(argv + 2);
	fault_raise(&f, FAULT_USAGE, 0, "no such command: %s", word);
	fault_fix(&f, "`rdmark-pairs --help` shows the commands");
	return fault_print(&f, PAIRS, stderr);
}
