// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A whole session, as client or server, against a peer that says what the input says. The first
 * line of the input says which program runs and with what options, a letter for each (and S: the
 * peer falls silent at the end, E: a request fails); the rest is a script (script.h) for the peer.
 * The RDMA device is the stand-in of tests/standin/verbs in its null mode: every request completes at once.
 */
#include "../lib/interfaces.c"
#include "peer.h"

#include <unistd.h>

#define WORDS_MAX    48
#define BLIND_INPUTS 64

int send_lat_main(int argc, char **argv);
int send_bw_main(int argc, char **argv);
int write_lat_main(int argc, char **argv);
int write_bw_main(int argc, char **argv);
int read_lat_main(int argc, char **argv);
int read_bw_main(int argc, char **argv);
int atomic_lat_main(int argc, char **argv);
int atomic_bw_main(int argc, char **argv);
int connect_lat_main(int argc, char **argv);

static const struct {
	const char *name;
	int (*main)(int argc, char **argv);
} programs[] = {
	{"send_lat", send_lat_main},    {"send_bw", send_bw_main},
	{"write_lat", write_lat_main},  {"ib_write_bw", write_bw_main},
	{"send_lat", send_lat_main},    {"send_bw", send_bw_main},
	{"ib_send_lat", send_lat_main}, {"send_bw", send_bw_main},
	{"read_bw", read_bw_main},      {"read_lat", read_lat_main},
	{"atomic_bw", atomic_bw_main},  {"atomic_lat", atomic_lat_main},
	/* 16, since the seeds' places begin at '0' */
	{"connect_lat", connect_lat_main}, {"connect_lat", connect_lat_main},
	{"connect_lat", connect_lat_main}, {"connect_lat", connect_lat_main},
};

/* What a letter of the first line adds to the command line. */
static const struct {
	char letter;
	const char *word[2];
} options[] = {
	{'a', {"-a"}},
	{'c', {"198.51.100.1"}},
	{'C', {"--csv"}},
	{'D', {"-D", "0.001"}},
	{'e', {"--interval", "0.001"}},
	{'f', {"--format", "perftest"}},
	{'g', {"--report_gbits"}},
	{'H', {"-H"}},
	{'i', {"-d", "ib0"}},
	{'I', {"-I", "0"}},
	{'j', {"--json"}},
	{'l', {"-l", "4"}},
	{'m', {"-m", "1024"}},
	{'n', {"-n", "7"}},
	{'N', {"-N"}},
	{'o', {"--output", "bandwidth"}},
	{'q', {"-q", "3"}},
	{'Q', {"-Q", "5"}},
	{'r', {"-r", "16"}},
	{'s', {"-s", "4096"}},
	{'t', {"-t", "16"}},
	{'u', {"-U"}},
	{'w', {"--warmup", "0"}},
	{'x', {"-x", "5"}},
	{'X', {"-x", "200"}},
	{'y', {"--quiet"}},
};

static int make_command_line(const char *letters, bool in_real_time, char **argv)
{
	int argc = 1;

	for (; *letters; letters++)
		for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++)
			for (size_t k = 0; options[i].letter == *letters && k < 2 &&
					   options[i].word[k] && argc < WORDS_MAX - 2;
			     k++)
				argv[argc++] = (char *)(uintptr_t)options[i].word[k];
	argv[argc++] = (char *)(uintptr_t)(in_real_time ? "--timeout=0.05" : "--timeout=2");
	argv[argc] = NULL;
	return argc;
}

/* What libFuzzer looks at: the counters of the code, by names that the linker makes, and the stack.
 */
extern uint8_t __start___sancov_cntrs[], __stop___sancov_cntrs[];
extern __thread uintptr_t __sancov_lowest_stack;

/*
 * A session has two threads, so two runs of one input need not cover the same, and what libFuzzer
 * learns differs from run to run. With FUZZ_BLIND it learns nothing: each of the first inputs, the
 * seeds among them, seems to cover something of its own, and no other one anything. So the inputs
 * that follow from a seed of its random numbers are always the same.
 */
static void blind(uintptr_t lowest_stack)
{
	static size_t inputs;

	memset(__start___sancov_cntrs, 0, (size_t)(__stop___sancov_cntrs - __start___sancov_cntrs));
	if (inputs < BLIND_INPUTS)
		__start___sancov_cntrs[inputs++] = 1;
	__sancov_lowest_stack = lowest_stack;
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	setenv("SIMVERBS_NULL", "1", 1);
	/* The polls of sim0 are peer.c's; ib0 has ibv_start_poll. */
	setenv("SIMVERBS_DEVICES",
	       "sim0 nocqex gid.0=v1/fe80::200:ff:fe00:1 gid.1=v2/fe80::200:ff:fe00:1 gid.3=v2/::1 "
	       "gid.4=v1/127.0.0.1 gid.5=v2/127.0.0.1; ib0 link=ib lid=3 sm_lid=1",
	       1);
	setenv("RDMARK_SYSFS", "/nonexistent", 1);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = {data, size};
	size_t which = fuzz_u8(&in) % (sizeof(programs) / sizeof(programs[0]));
	char *letters = fuzz_text(&in, '\n');
	char *argv[WORDS_MAX] = {(char *)(uintptr_t)programs[which].name};
	bool silent = strchr(letters, 'S') != NULL; /* then this end's patience must run out, */
	bool stuck = programs[which].main == write_lat_main; /* as where nobody writes to memory */
	int argc = make_command_line(letters, silent || stuck, argv), status;
	uintptr_t lowest_stack = __sancov_lowest_stack;

	peer_start(&in, silent, strchr(letters, 'E') ? 5 : 0);
	status = peer_run(programs[which].main, argc, argv);
	peer_end();
	FUZZ_CHECK((status >= 0 && status <= 4) || status == 77 || status == 130 || status == 143);
	/* Seeds that are whole sessions: a change of the protocol must not make them rot. */
	FUZZ_CHECK(!getenv("FUZZ_MUST_SUCCEED") || status == 0);
	free(letters);
	if (getenv("FUZZ_BLIND"))
		blind(lowest_stack);
	return 0;
}
