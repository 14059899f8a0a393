// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * rdmark: lists this host's devices, runs a tour of tests, compares two runs. The other programs,
 * in the same folder or in PATH, do all measurements.
 */
#include "rdmark.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/sibling.h"
#include "report/list.h"
#include "wire/json_memory.h"

#define SERVER "send_lat" /* any would do: one server serves every test */

static const char usage[] =
	"rdmark " RDMARK_VERSION ": how fast and how steady is the RDMA link between two hosts?\n"
	"\n"
	"  rdmark server [OPTION...]     serve every test, one client after another\n"
	"  rdmark HOST [OPTION...]       a tour: one second and one line per test\n"
	"  rdmark TEST [OPTION...] HOST  one test; rdmark TEST --help shows its options\n"
	"  rdmark list [--json]          RDMA devices, GPUs and the distance between them\n"
	"  rdmark compare A.json B.json  what changed; --within PERCENT, --json\n"
	"\n"
	"TEST is one of\n" RDMARK_PROGRAMS "\n"
	"\n"
	"Examples, with `rdmark server --auth=none` (for everybody) on the host node1:\n"
	"  rdmark node1\n"
	"  rdmark write_bw -a --json=before.json node1\n"
	"\n"
	"See rdmark(1), and rdmark(7) for how to read the numbers.\n";

static int exec_program(char **argv)
{
	struct fault f = {0};
	char path[PATH_MAX];

	fflush(stdout);
	if (sibling_path(argv[0], path, sizeof(path)))
		execv(path, argv);
	else
		execvp(argv[0], argv);
	fault_phase(&f, "starting the program");
	fault_raise(&f, FAULT_LOCAL, errno, "execv(%s)", argv[0]);
	fault_fix(&f, "install all of rdmark's programs in one folder");
	return rdmark_failed(&f);
}

/* Execute the server's program with the options REST. Returns only if that fails: exit status. */
static int become_server(int argc, char **rest)
{
	char **argv = calloc((size_t)argc + 2, sizeof(*argv));
	struct fault f = {0};
	int n = 0;

	if (!argv) {
		fault_raise(&f, FAULT_LOCAL, ENOMEM, "calloc");
		return rdmark_failed(&f);
	}
	argv[n++] = (char *)(uintptr_t)SERVER;
	argv[n++] = (char *)(uintptr_t) "--persistent";
	while (*rest)
		argv[n++] = *rest++;
	return exec_program(argv);
}

/* True if NAME is a test, with _ or - as in "send-bw". NAME then gets the program's spelling. */
static bool names_a_test(char *name)
{
	char *c, *copy = strdup(name);
	bool known;

	for (c = copy; c && *c; c++)
		if (*c == '-')
			*c = '_';
	known = copy && sibling_known(copy);
	if (known)
		memcpy(name, copy, strlen(copy));
	free(copy);
	return known;
}

static bool asks_for_help(const char *word)
{
	return strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0;
}

int main(int argc, char **argv)
{
	const char *word = argc > 1 ? argv[1] : "--help";
	bool own = strcmp(word, "list") == 0 || strcmp(word, "compare") == 0 ||
		   strcmp(word, "server") == 0;

	json_memory_init();
	if (asks_for_help(word) || strcmp(word, "help") == 0 ||
	    (own && argv[2] && asks_for_help(argv[2]))) {
		fputs(usage, stdout);
		return list_finish(stdout, RDMARK);
	}
	if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0) {
		printf("rdmark %s\n", RDMARK_VERSION);
		return list_finish(stdout, RDMARK);
	}
	if (strcmp(word, "list") == 0 || strcmp(word, "--list") == 0) /* as the tests have it */
		return list_command(argv + 2);
	if (strcmp(word, "compare") == 0)
		return compare_command(argv + 2);
	if (strcmp(word, "server") == 0)
		return become_server(argc, argv + 2);
	if (names_a_test(argv[1]))
		return exec_program(argv + 1);
	if (word[0] == '-' || !word[0])
		return rdmark_unknown(RDMARK, word,
				      "give the host or the command first; `rdmark` shows the "
				      "commands");
	return tour_command(argv + 1);
}
