// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What each launcher is started with. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/text.h"
#include "../../pairs/sweep/launch.h"

static char *const run[] = {"rdmark-pairs", "run", "--start=7", "--",
			    "write_bw",     "-s",  "1 m",       NULL};
static struct hosts hosts;

static int make_hosts(void **state)
{
	struct fault f = {0};

	(void)state;
	return hosts_expand(&hosts, "n1,n2,n3", "test", &f);
}

static int forget_hosts(void **state)
{
	(void)state;
	hosts_release(&hosts);
	return 0;
}

/* The command line, its words in <>, and after it what is in the file of names, each with a /. */
static const char *made_of(const char *launcher, const struct hosts *names)
{
	static char text[2048];
	struct launch l;
	struct fault f = {0};
	char **words, in[64];
	ssize_t n = 0;

	text[0] = '\0';
	assert_int_equal(launch_read(&l, launcher, &f), 0);
	words = launch_command(&l, run, names, &f);
	for (size_t i = 0; words && words[i]; i++)
		text_add(text, sizeof(text), "<%s>", words[i]);
	if (l.names >= 0)
		n = pread(l.names, in, sizeof(in), 0);
	for (ssize_t i = 0; i < n; i++)
		text_add(text, sizeof(text), "%c", in[i] == '\n' ? '/' : in[i]);
	launch_free_command(words);
	launch_release(&l);
	if (!words)
		text_copy(text, sizeof(text), f.call);
	return text;
}

static const char *made(const char *launcher, const struct hosts *names)
{
	return made_of(launcher, names ? names : &(struct hosts){0});
}

/* The same where n2 is left out. */
static const char *made_without(const char *launcher)
{
	const char *text;

	hosts.host[1].left_out = true;
	text = made_of(launcher, &hosts);
	hosts.host[1].left_out = false;
	return text;
}

static void srun_takes_all_nodes_of_the_allocation(void **state)
{
	(void)state;
	unsetenv("SLURM_JOB_NUM_NODES");
	assert_string_equal(made("srun", NULL),
			    "<srun><--kill-on-bad-exit=0><--wait=0><--no-kill>"
			    "<--ntasks-per-node=1><rdmark-pairs><run><--start=7><--><write_bw>"
			    "<-s><1 m>");
	setenv("SLURM_JOB_NUM_NODES", "64", 1);
	assert_non_null(strstr(made("/usr/bin/srun -p x", NULL), "<-p><x>"));
	assert_non_null(strstr(made("srun -p x", NULL), "<-N><64><-n><64><rdmark-pairs>"));
	assert_null(strstr(made("srun -N4", NULL), "<64>"));
	assert_null(strstr(made("srun --nodelist=n[1-3]", NULL), "<64>"));
	assert_non_null(strstr(made_without("srun"),
			       "<-x><n2><-N><2><-n><2><rdmark-pairs>"));
	assert_non_null(strstr(made_without("srun -N3"), "<-N3>"));
	assert_non_null(strstr(made_without("srun -N3"),
			       "<-x><n2><-N><2><-n><2><rdmark-pairs>"));
	unsetenv("SLURM_JOB_NUM_NODES");
}

static void mpirun_goes_on_when_a_process_dies(void **state)
{
	(void)state;
	assert_non_null(strstr(made("mpirun", NULL), "<mpirun><-N><1><--enable-recovery>"));
	assert_non_null(strstr(made("mpirun -n 4", NULL), "<-n><4><--enable-recovery>"));
}

static void shells_start_all_at_once_and_words_survive_them(void **state)
{
	(void)state;
	assert_string_equal(made("clush -g all", &hosts),
			    "<clush><-g><all><-f><3><-S><-N><rdmark-pairs><run><--start=7><-->"
			    "<write_bw><-s><'1 m'>");
	assert_non_null(strstr(made_without("clush -g all"),
			       "<-g><all><-x><n2><-f><2>"));
	assert_non_null(strstr(made("pdsh -f 9 -w a", &hosts), "<-f><9><-w><a><-b><-N>"));
	assert_non_null(strstr(made("clush -a", NULL), "<-f><4096>"));
}

static void names_are_in_a_file_however_many(void **state)
{
	const char *text = made("clush", &hosts);

	(void)state;
	assert_non_null(strstr(text, "<clush><--hostfile=/dev/fd/"));
	assert_non_null(strstr(text, "<-f><3><-S><-N>"));
	assert_non_null(strstr(text, ">n1/n2/n3/"));
	text = made_without("pdsh");
	assert_non_null(strstr(text, "<pdsh><-w><^/dev/fd/"));
	assert_non_null(strstr(text, "<-f><2><-b><-N>"));
	assert_non_null(strstr(text, ">n1/n3/"));
}

static void ssh_has_one_command_and_the_hosts(void **state)
{
	const char *text = made("ssh", &hosts);

	(void)state;
	assert_non_null(strstr(text, "<sh><-c><"));
	assert_non_null(
		strstr(text, "<rdmark-pairs run --start=7 -- write_bw -s '1 m'><n1><n2><n3>"));
	assert_non_null(strstr(made_without("ssh"), "><n1><n3>"));
	assert_string_equal(made("ssh", NULL), "--launch=ssh needs --hosts");
	assert_string_equal(made("ssh -v", &hosts), "--launch=ssh takes no options");
}

static void refused(const char *launcher)
{
	struct launch l;
	struct fault f = {0};

	assert_int_equal(launch_read(&l, launcher, &f), -1);
	assert_int_equal(f.code, FAULT_USAGE);
	launch_release(&l);
}

static void what_is_no_launcher_is_refused(void **state)
{
	(void)state;
	refused("");
	refused("  ");
	refused("bash -c srun");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(srun_takes_all_nodes_of_the_allocation),
		cmocka_unit_test(mpirun_goes_on_when_a_process_dies),
		cmocka_unit_test(shells_start_all_at_once_and_words_survive_them),
		cmocka_unit_test(names_are_in_a_file_however_many),
		cmocka_unit_test(ssh_has_one_command_and_the_hosts),
		cmocka_unit_test(what_is_no_launcher_is_refused),
	};

	return cmocka_run_group_tests(tests, make_hosts, forget_hosts);
}
