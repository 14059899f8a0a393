// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * rdmark: lists this host's devices, serves all tests, runs a tour of them, compares two runs. For
 * the client's end of a test it starts that test's program, from the same folder or from PATH.
 */
#include "rdmark.h"

#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/process.h"
#include "base/text.h"
#include "proto/json_memory.h"
#include "report/list.h"
#include "session/session.h"

static const char usage[] =
	"rdmark " RDMARK_VERSION ": how fast and how steady is the RDMA link between two hosts?\n"
	"\n"
	"  rdmark server [OPTION...]     serve every test, one client after another\n"
	"  rdmark HOST [OPTION...]       a tour: one second and one line per test\n"
	"  rdmark TEST [OPTION...] HOST  one test; rdmark TEST --help shows its options\n"
	"  rdmark list [--json]          RDMA devices, GPUs and the distance between them\n"
	"  rdmark compare A.json B.json  what changed; --within PERCENT, --anyway, --json\n"
	"  rdmark check [OPTION...]      what is wrong with this host and its ports\n"
	"  rdmark pairs, rdmark plot     rdmark-pairs(1), rdmark-plot(1)\n"
	"\n"
	"TEST is one of\n%s\n"
	"\n"
	"Examples, with `rdmark server --auth=none` (for everybody) on the host node1:\n"
	"  rdmark node1\n"
	"  rdmark write_bw -a --json=before.json node1\n"
	"\n"
	"See rdmark(1), and rdmark(7) for how to read the numbers.\n";

static int exec_program(char **argv)
{
	struct fault f = {0};

	fflush(stdout);
	process_become(argv, &f);
	return rdmark_failed(&f);
}

/* Serve all tests, with the options that follow "server" in ARGV. Returns the exit status. */
static int server_command(int argc, char **argv)
{
	static char stays[] = "--persistent";
	const struct test *const *tests;
	size_t count = rdmark_tests(&tests);

	argv[1] = stays;
	return session_main(tests, count, argc, argv);
}

/* True if NAME is a test, with _ or - as in "send-bw". NAME then gets the program's spelling. */
static bool names_a_test(char *name)
{
	char *c, *copy = strdup(name);
	bool known;

	for (c = copy; c && *c; c++)
		if (*c == '-')
			*c = '_';
	known = copy && process_measures(copy);
	if (known)
		memcpy(name, copy, strlen(copy));
	free(copy);
	return known;
}

/* rdmark WORD … is another program of the suite, or one of its tests: start that. Returns if not.
 */
static void start_other(char **argv)
{
	static char pairs[] = "rdmark-pairs", plot[] = "rdmark-plot", test[] = "write_bw",
		    check[] = "--check";

	if (strcmp(argv[1], "check") == 0) {
		argv[0] = test;
		argv[1] = check;
		exit(exec_program(argv));
	}
	if (strcmp(argv[1], "pairs") == 0)
		argv[1] = pairs;
	else if (strcmp(argv[1], "plot") == 0)
		argv[1] = plot;
	else if (!names_a_test(argv[1]))
		return;
	exit(exec_program(argv + 1));
}

/* The command that WORD, which is no host, may be meant for; NULL: none is near. */
static const char *nearest(const char *word)
{
	static const char *const all[] = {"server", "list", "compare", "check",
					  "pairs",  "plot", "version", "help"};
	const char *best = NULL;
	size_t least = 3; /* two letters may be wrong, */

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		size_t n = text_distance(all[i], word, strlen(word));

		if (n < least && 2 * n < strlen(all[i])) { /* but not half of them */
			least = n;
			best = all[i];
		}
	}
	return best;
}

/* WORD is neither a command nor a name that resolves: exit status 2. */
static int no_host(const char *word, const char *why)
{
	const char *near = nearest(word);
	struct fault f = {0};

	fault_phase(&f, "reading the command line");
	if (why == gai_strerror(EAI_MEMORY))
		fault_raise(&f, FAULT_LOCAL, ENOMEM, "getaddrinfo(%s)", word);
	else
		fault_raise(&f, FAULT_USAGE, 0, "'%s' is no command of rdmark, and no host: %s",
			    word, why);
	if (near)
		fault_fix(&f, "rdmark %s", near);
	else
		fault_fix(&f, "`rdmark` alone shows the commands; check the name of the host");
	return rdmark_failed(&f);
}

/* Why the host WORD does not resolve; NULL: it does. */
static const char *unresolved(const char *word)
{
	struct addrinfo *list = NULL;
	int rc = getaddrinfo(word, NULL, NULL, &list);

	if (rc == 0)
		freeaddrinfo(list);
	return rc == 0 ? NULL : gai_strerror(rc);
}

static bool asks_for_help(const char *word)
{
	return strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0;
}

int main(int argc, char **argv)
{
	const char *word = argc > 1 ? argv[1] : "--help";
	bool server = strcmp(word, "server") == 0;
	const char *why;

	json_memory_init();
	if (asks_for_help(word) || strcmp(word, "help") == 0 ||
	    (server && argv[2] && asks_for_help(argv[2]))) {
		printf(usage, process_programs());
		return list_finish(stdout, RDMARK);
	}
	if (strcmp(word, "--version") == 0 || strcmp(word, "version") == 0 ||
	    strcmp(word, "-V") == 0) {
		printf("rdmark %s\n", RDMARK_VERSION);
		return list_finish(stdout, RDMARK);
	}
	if (strcmp(word, "list") == 0 || strcmp(word, "--list") == 0) /* as the tests have it */
		return list_command(argv + 2);
	if (strcmp(word, "compare") == 0)
		return compare_command(argv + 2);
	if (server)
		return server_command(argc, argv);
	start_other(argv);
	why = word[0] == '-' || !word[0] ? "a command or a host comes first" : unresolved(word);
	return why ? no_host(word, why) : tour_command(argv + 1);
}
