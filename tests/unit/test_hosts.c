// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* hosts, players: lists as Slurm writes them, files, which of them this one is, and any bytes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../pairs/run/players.h"

static char file_name[64]; /* set at the start */

static const char *const variables[] = {"SLURM_PROCID",        "SLURM_STEP_NODELIST",
					"SLURMD_NODENAME",     "OMPI_COMM_WORLD_RANK",
					"PMIX_RANK",           "PMI_RANK",
					"JOB_COMPLETION_INDEX"};

static int forget(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++)
		unsetenv(variables[i]);
	snprintf(file_name, sizeof(file_name), "test_hosts.%d.tmp", (int)getpid());
	remove(file_name);
	return 0;
}

/* The names of LIST, each followed by a blank; "" if it is refused. */
static const char *expanded(const char *list)
{
	static char text[4096];
	struct fault f = {0};
	struct hosts h = {0};

	text[0] = '\0';
	if (!hosts_expand(&h, list, "list", &f))
		for (uint32_t i = 0; i < h.n && strlen(text) < 3800; i++)
			sprintf(text + strlen(text), "%s ", h.host[i].name);
	else
		assert_int_equal(f.code, FAULT_USAGE);
	hosts_release(&h);
	return text;
}

static void lists_are_expanded(void **state)
{
	(void)state;
	assert_string_equal(expanded("n1"), "n1 ");
	assert_string_equal(expanded("n[1-3,07],login"), "n1 n2 n3 n07 login ");
	assert_string_equal(expanded("n[08-11].a"), "n08.a n09.a n10.a n11.a ");
	assert_string_equal(expanded("r[1-2]n[1-2]"), "r1n1 r1n2 r2n1 r2n2 ");
	assert_string_equal(expanded("a,b,"), "a b ");
	assert_string_equal(expanded(""), "");
}

static void bad_lists_are_refused(void **state)
{
	static const char *const bad[] = {
		"n[",
		"n[1",
		"n[1-",
		"n[]",
		"n[-]",
		"n[2-1]",
		"n[1-2",
		"n[1,]",
		"n[a]",
		"n[1--2]",
		"[",
		"]",
		",",
		"-x",
		"a b",
		"\xff",
		"n[1]]",
		"n[[1]]",
		"n[1-99999999999]",
		"n[0-70000]",
		"a;b",
		"ALL",
		"all",
		"n[1-2],All",
		".",
		"..",
		".n1",
		"@n1",
		"=n1",
		"+n1",
		"%n1",
		"n1=2",
		"n1@2",
		"n1%2",
		"n1+2",
		"_",
		"\"n1",
		"n[1-2][1-2][1-2][1-2][1-2]",
		"x[1-60000][1-60000]",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_string_equal(expanded(bad[i]), "");
}

/* A list of the hosts of LIST, of those whose place in OUT has an "x" or not. */
static const char *folded(const char *list, const char *out, bool wanted)
{
	static char text[4096];
	struct fault f = {0};
	struct hosts h = {0};
	char *made;

	assert_int_equal(hosts_expand(&h, list, "list", &f), 0);
	for (uint32_t i = 0; out && i < h.n; i++)
		h.host[i].left_out = out[i] == 'x';
	made = hosts_list(&h, wanted);
	assert_non_null(made);
	snprintf(text, sizeof(text), "%s", made);
	free(made);
	hosts_release(&h);
	return text;
}

static void lists_are_folded(void **state)
{
	static const char *const same[] = {"n1",
					   "n[1-3],n07,login",
					   "n[8-11].a1",
					   "n[008-011]",
					   "r1n[1-2],r2n[1-2]",
					   "b,a",
					   "n3,n2",
					   "n[999999998-999999999],n1000000000",
					   "n9a[9-10]x",
					   "n1.a,n2.b"};

	(void)state;
	for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++)
		assert_string_equal(folded(same[i], NULL, false), same[i]);
	assert_string_equal(folded("n[1-8]", "--xx---x", false), "n[1-2],n[5-7]");
	assert_string_equal(folded("n[1-8]", "--xx---x", true), "n[3-4],n8");
	assert_string_equal(folded("n[1-3]", NULL, true), "");
	assert_string_equal(folded("n1,n2,n09,n010", NULL, false), "n[1-2],n09,n010");
}

/* What is no file is a list, and what could be either is a file. */
static void hosts_are_a_list_or_a_file(void **state)
{
	struct fault f = {0};
	struct hosts h = {0};

	(void)state;
	assert_int_equal(hosts_read(&h, "a,b[1-9]", &f), 0);
	assert_int_equal(h.n, 10);
	hosts_release(&h);
	assert_int_equal(hosts_read(&h, "lines:a,[fe80::1%x]:7+b+c,1.2.3.4", &f), 0);
	assert_int_equal(h.n, 3);
	assert_string_equal(h.host[0].address, "fe80::1%x");
	assert_int_equal(h.host[0].port, 7);
	assert_string_equal(h.host[2].address, "1.2.3.4");
	hosts_release(&h);
	assert_int_equal(hosts_read(&h, "nowhere", &f), -1);
	assert_non_null(strstr(f.call, "--hosts nowhere is neither"));
	f = (struct fault){0};
	assert_int_equal(hosts_read(&h, "/no,where", &f), -1);
	assert_non_null(strstr(f.call, "--hosts /no,where is neither"));
	hosts_release(&h);
}

/* Bytes of every kind in a row; what matters is that it ends, and in bounds. */
static void any_bytes_do_no_harm(void **state)
{
	static const char bytes[] = "n1[]-,.9\xc3 #:\t0";
	uint64_t random = 88172645463325252u;

	(void)state;
	for (int run = 0; run < 20000; run++) {
		char text[24];
		size_t n;

		for (n = 0; n < sizeof(text) - 1; n++) {
			random ^= random << 13;
			random ^= random >> 7;
			random ^= random << 17;
			text[n] = bytes[random % (sizeof(bytes) - 1)];
		}
		text[n] = '\0';
		expanded(text);
	}
}

static void write_file(const char *text, size_t n)
{
	FILE *to = fopen(file_name, "w");

	assert_non_null(to);
	assert_int_equal(fwrite(text, 1, n, to), n);
	fclose(to);
}

static int read_text(struct hosts *h, const char *text, struct fault *f)
{
	*h = (struct hosts){0};
	*f = (struct fault){0};
	write_file(text, strlen(text));
	return hosts_read(h, file_name, f) || hosts_complete(h, f) ? -1 : 0;
}

static void a_file_has_names_and_addresses(void **state)
{
	struct fault f;
	struct hosts h;

	(void)state;
	assert_int_equal(read_text(&h,
				   "# rack 1\nn2.a.org\n\n n1 10.0.0.1:700 # first\n"
				   "n3 [fe80::1%eth0]:8\nn4 2001:db8::1\nn5 n5-ib\nm.b\nm.c",
				   &f),
			 0);
	assert_int_equal(h.n, 7);
	assert_string_equal(h.host[1].address, "10.0.0.1");
	assert_int_equal(h.host[1].port, 700);
	assert_string_equal(h.host[2].address, "fe80::1%eth0");
	assert_int_equal(h.host[2].port, 8);
	assert_string_equal(h.host[3].address, "2001:db8::1");
	assert_int_equal(h.host[3].port, 0);
	assert_string_equal(h.host[4].address, "n5-ib");
	assert_int_equal(hosts_find(&h, "n1"), 1);
	assert_int_equal(hosts_find(&h, "n1.b.org"), 1);
	assert_int_equal(hosts_find(&h, "n2"), 0);
	assert_int_equal(hosts_find(&h, "n"), HOSTS_NONE);
	assert_int_equal(hosts_find(&h, "m"), HOSTS_NONE); /* there are two */
	assert_int_equal(hosts_find(&h, ""), HOSTS_NONE);
	hosts_release(&h);
}

static void bad_files_are_refused(void **state)
{
	static const char *const bad[] = {"",          "n1\n",       "n1\nn1\n",   "n1 a b\nn2\n",
					  "n1 :1\nn2", "n1 a:0\nn2", "n1 a:x\nn2", "n1 a:65536\nn2",
					  "n1 [a\nn2", "n1 []\nn2",  "n1 -x\nn2",  "n1 [a]b\nn2"};
	struct fault f;
	struct hosts h;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(read_text(&h, bad[i], &f), -1);
		assert_int_equal(f.code, FAULT_USAGE);
		hosts_release(&h);
	}
	write_file("n1\0n2\nn3\n", 9); /* binary */
	h = (struct hosts){0};
	f = (struct fault){0};
	assert_int_equal(hosts_read(&h, file_name, &f), -1);
	hosts_release(&h);
	f = (struct fault){0};
	assert_int_equal(hosts_read(&h, "/nowhere/at/all", &f), -1);
	hosts_release(&h);
}

/* Find the players with the environment as it is; returns this host's number, or -1. */
static int self_of(struct players_asked asked)
{
	struct fault f = {0};
	struct players p;
	int self = players_find(&p, &asked, &f) ? -1 : (int)p.self;

	assert_true(self >= 0 || f.code == FAULT_USAGE);
	players_release(&p);
	return self;
}

static void launchers_say_who_this_is(void **state)
{
	(void)state;
	assert_int_equal(self_of((struct players_asked){0}), -1);
	setenv("SLURM_STEP_NODELIST", "n[1-4]", 1);
	assert_int_equal(self_of((struct players_asked){0}), -1);
	setenv("SLURM_PROCID", "2", 1);
	assert_int_equal(self_of((struct players_asked){0}), 2);
	setenv("SLURMD_NODENAME", "n2", 1); /* the name is surer than the number */
	assert_int_equal(self_of((struct players_asked){0}), 1);
	assert_int_equal(self_of((struct players_asked){.self = "n4"}), 3);
	assert_int_equal(self_of((struct players_asked){.self = "n5"}), -1);
	forget(NULL);
	write_file("a\nb\nc\n", 6);
	for (size_t i = 3; i < sizeof(variables) / sizeof(variables[0]); i++) {
		setenv(variables[i], "1", 1);
		assert_int_equal(self_of((struct players_asked){.hosts = file_name}), 1);
		setenv(variables[i], "3", 1);
		assert_int_equal(self_of((struct players_asked){.hosts = file_name}), -1);
		setenv(variables[i], "1x\xff", 1);
		assert_int_equal(self_of((struct players_asked){.hosts = file_name}), -1);
		unsetenv(variables[i]);
	}
}

static void rails_and_ports(void **state)
{
	struct players_asked asked = {.hosts = file_name,
				      .self = "b",
				      .rails = "mlx5_0,mlx5_1",
				      .port = 18600,
				      .port_step = 10};
	struct fault f = {0};
	struct players p;

	(void)state;
	write_file("a\nb x:7\nc\n", 10);
	assert_int_equal(players_find(&p, &asked, &f), 0);
	assert_int_equal(p.rails, 2);
	assert_string_equal(p.rail[1], "mlx5_1");
	assert_int_equal(players_port(&p, 2, 1, 0), 18621);
	assert_int_equal(players_port(&p, 2, 1, 2), 18625);
	assert_int_equal(players_port(&p, 1, 0, 0), 7);
	assert_string_equal(players_address(&p, 1), "x");
	assert_string_equal(players_address(&p, 2), "c");
	assert_int_equal(players_check_ports(&p, 3, &f), 0);
	p.hosts.host[1].port = 65530;
	assert_int_equal(players_check_ports(&p, 3, &f), 0);
	assert_int_equal(players_port(&p, 1, 1, 2), 65535);
	assert_int_equal(players_check_ports(&p, 4, &f), -1);
	assert_non_null(strstr(f.call, "ports to 65537"));
	p.hosts.host[1].port = 7;
	p.port = 65535 - 2 * p.port_step;
	assert_int_equal(players_check_ports(&p, 1, &f), -1);
	players_release(&p);
	asked.rails = "a,,b";
	assert_int_equal(self_of(asked), -1);
	asked.rails = "1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17";
	assert_int_equal(self_of(asked), -1);
	asked.rails = "mlx5_0,mlx5_1,mlx5_0"; /* its two players would halve each other's rate */
	assert_int_equal(self_of(asked), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lists_are_expanded),
		cmocka_unit_test(bad_lists_are_refused),
		cmocka_unit_test(lists_are_folded),
		cmocka_unit_test(hosts_are_a_list_or_a_file),
		cmocka_unit_test(any_bytes_do_no_harm),
		cmocka_unit_test_setup_teardown(a_file_has_names_and_addresses, forget, forget),
		cmocka_unit_test_setup_teardown(bad_files_are_refused, forget, forget),
		cmocka_unit_test_setup_teardown(launchers_say_who_this_is, forget, forget),
		cmocka_unit_test_setup_teardown(rails_and_ports, forget, forget),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
