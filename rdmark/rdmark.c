// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * rdmark: lists this host's devices, serves all tests, runs a tour of them, compares two runs. For
 * the client's end of a test it starts that test's program, from the same folder or from PATH.
 */
#include "rdmark.h"

#include <errno.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>

#include "base/process.h"
#include "base/terminal.h"
#include "base/text.h"
#include "proto/json_memory.h"
#include "report/list.h"
#include "session/session.h"

static const char usage[] =
	"rdmark " RDMARK_VERSION ": how fast and how steady is the RDMA link between two hosts?\n"
	"\n"
	"  rdmark server [OPTION...]     serve every test, one client after another\n"
	"  rdmark HOST [OPTION...]       run a tour: a line for each test\n"
	"  rdmark TEST [OPTION...] HOST  run a test; rdmark TEST --help shows its options\n"
	"  rdmark list [--json]          show RDMA devices, GPUs and the distances\n"
	"  rdmark compare A.json B.json  show changes; --within PERCENT, --json\n"
	"  rdmark check [OPTION...]      find what is wrong with this host and its ports\n"
	"  rdmark self [OPTION...]       measure each port with each memory of this host\n"
	"  rdmark pairs, rdmark plot     start rdmark-pairs(1), rdmark-plot(1)\n"
	"\n"
	"TEST is one of\n%s"
	"\n"
	"Examples, with `rdmark server --auth=none` (serves anyone) on the host node1:\n"
	"  rdmark node1\n"
	"  rdmark write_bw -a --json=before.json node1\n"
	"\n"
	"See rdmark(1), and rdmark(7) for how to read the numbers.\n";

/* Become the program of ARGV. Returns the exit status if that fails. */
static int become(char **argv)
{
	struct fault f = {0};

	fflush(stdout);
	process_become(argv, &f);
	return fault_print(&f, RDMARK, stderr);
}

/* The commands get the whole command line. */

static int help_command(char **argv)
{
	char tests[512] = "";

	(void)argv;
	terminal_wrap(tests, sizeof(tests), process_programs(), 80, 0);
	printf(usage, tests);
	return list_finish(RDMARK, &(struct fault){0}, 0);
}

static int version_command(char **argv)
{
	(void)argv;
	printf("rdmark %s\n", RDMARK_VERSION);
	return list_finish(RDMARK, &(struct fault){0}, 0);
}

/* Serve all tests, with the options that follow. */
static int server_command(char **argv)
{
	static char stays[] = "--persistent";
	const struct test *const *tests;
	size_t count = rdmark_tests(&tests);

	argv[1] = stays;
	return session_main(tests, count, argv);
}

/* What --check finds; with --self then what the ports do with themselves. Each gets the options. */
static int check_command(char **argv)
{
	static char name[] = "rdmark check", check[] = "--check";
	const struct test *const *tests;
	size_t count = rdmark_tests(&tests);
	char **word = argv + 2;
	int status, own;
	bool self;

	argv[0] = name;
	argv[1] = check;
	while (*word && strcmp(*word, "--self") != 0)
		word++;
	self = *word;
	for (; *word; word++)
		word[0] = word[1];
	status = session_main(tests, count, argv);
	if (!self || (status && status != FAULT_THRESHOLD))
		return status;
	own = self_command(argv);
	return own ? own : status;
}

static const struct {
	const char *name, *option; /* the same as an option; NULL: none */
	char letter;
	int (*run)(char **argv);
	const char *program; /* NULL: none; what it becomes */
} commands[] = {
	{"server", .run = server_command},
	{"list", .run = list_command},
	{"compare", .run = compare_command},
	{"check", .run = check_command},
	{"self", .run = self_command},
	{"pairs", .program = "rdmark-pairs"},
	{"plot", .program = "rdmark-plot"},
	{"version", "--version", 'V', version_command},
	{"help", "--help", 'h', help_command},
};

#define COMMANDS (sizeof(commands) / sizeof(commands[0]))

/* The command or test that WORD may be meant for; NULL: there is none. */
static const char *near_name(const char *word)
{
	const struct test *const *tests;
	size_t count = rdmark_tests(&tests), size = strlen(word);

	for (unsigned d = 0; d <= TEXT_NEAR(size); d++)
		for (size_t i = 0; i < COMMANDS + count; i++) {
			const char *name = i < COMMANDS ? commands[i].name : tests[i - COMMANDS]->name;

			if (text_distance(name, word, size) == d)
				return name;
		}
	return NULL;
}

/* WORD is neither a command nor a name that resolves: exit status 2. */
static int no_host(const char *word, const char *why)
{
	const char *near = near_name(word);
	struct fault f = {0};

	if (why == gai_strerror(EAI_MEMORY))
		fault_raise(&f, FAULT_LOCAL, ENOMEM, "getaddrinfo(%s)", word);
	else
		fault_raise(&f, FAULT_USAGE, 0, "'%s' is no command of rdmark, and no host: %s",
			    word, why);
	if (near)
		fault_fix(&f, "did you mean `rdmark %s`?", near);
	else
		fault_fix(&f, "`rdmark` alone shows the commands; check the name of the host");
	return fault_print(&f, RDMARK, stderr);
}

/* Run the command or the test that argv[1] names. Returns its exit status; -1: it names none. */
static int run_named(char **argv)
{
	const char *word = argv[1];

	for (size_t i = 0; i < COMMANDS; i++) {
		const char *option = commands[i].option;
		bool letter =
			word[0] == '-' && word[1] && word[1] == commands[i].letter && !word[2];

		if (!letter && strcmp(word, commands[i].name) != 0 &&
		    !(option && strcmp(word, option) == 0))
			continue;
		if (commands[i].run)
			return commands[i].run(argv);
		argv[1] = (char *)(uintptr_t)commands[i].program;
		return become(argv + 1);
	}
	return process_measures(word) ? become(argv + 1) : -1;
}

int main(int argc, char **argv)
{
	struct addrinfo *list = NULL;
	int rc;

	json_memory_init();
	if (argc < 2)
		return help_command(argv);
	rc = run_named(argv);
	if (rc >= 0)
		return rc;
	if (argv[1][0] == '-')
		return no_host(argv[1], "options follow the command, the test or the host");
	if (!argv[1][0])
		return no_host(argv[1], "it is empty");
	rc = getaddrinfo(argv[1], NULL, NULL, &list);
	if (rc)
		return no_host(argv[1], gai_strerror(rc));
	freeaddrinfo(list);
	return tour_command(argv);
}
