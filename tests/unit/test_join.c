// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Files and plans that travel to the nodes as words of a command line: pairs/sweep/join.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "../../pairs/lines.h"
#include "../../pairs/sweep/join.h"

static char file_name[64]; /* set at the start */

static int forget(void **state)
{
	(void)state;
	snprintf(file_name, sizeof(file_name), "test_join.%d.tmp", (int)getpid());
	remove(file_name);
	return 0;
}

static void write_file(const char *text, size_t n)
{
	FILE *to = fopen(file_name, "w");

	assert_non_null(to);
	assert_int_equal(fwrite(text, 1, n, to), n);
	fclose(to);
}

/* What FILE of TEXT is as one word. */
static const char *joined(const char *text)
{
	static char word[256];
	struct fault f = {0};
	char *made;

	write_file(text, strlen(text));
	made = join_lines(file_name, NULL, &f);
	assert_non_null(made);
	snprintf(word, sizeof(word), "%s", made);
	free(made);
	return word;
}

/* Of a plan the hosts that are known become numbers, unless that is the name of another. */
static void hosts_of_plans_are_numbers(void **state)
{
	static const char text[] = "0 node1 node2/mlx5_0 test\n12 b.example x control\n";
	struct fault f = {0};
	struct hosts h = {0}, none = {0};
	struct plan p;

	(void)state;
	assert_int_equal(hosts_expand(&h, "node[1-2],1,b.example", "test", &f), 0);
	assert_int_equal(hosts_complete(&h, &f), 0);
	write_file(text, strlen(text));
	assert_int_equal(join_plan(&p, file_name, &h, &f), 0);
	assert_string_equal(p.words, "lines:0,0,node2/mlx5_0,test+12,3,x,control");
	assert_true(p.slots == 13 && p.tests && h.host[0].planned && h.host[1].planned);
	assert_true(h.host[3].planned && !h.host[2].planned);
	free(p.words);
	hosts_release(&h);
	assert_int_equal(join_plan(&p, file_name, &none, &f), 0);
	assert_string_equal(p.words, "lines:0,node1,node2/mlx5_0,test+12,b.example,x,control");
	free(p.words);
	write_file("0 a b\n", 6);
	assert_int_equal(join_plan(&p, file_name, &none, &f), -1);
	assert_null(p.words);
}

/* Files travel as words, and what cannot goes by its name. */
static void files_are_words(void **state)
{
	char many[JOIN_BYTES_MAX + 100];
	struct fault f = {0};
	struct lines l;

	(void)state;
	assert_string_equal(joined("# rack\n n1 \n\nn2 n3 # x\n"), "lines:n1+n2,n3");
	assert_string_equal(joined("a+ n1\n"), file_name);
	assert_string_equal(joined("#\n"), file_name);
	memset(many, 'n', sizeof(many) - 1);
	many[sizeof(many) - 1] = '\0';
	assert_string_equal(joined(many), file_name);
	assert_null(join_lines("/nowhere/at/all", NULL, &f));
	assert_int_equal(f.code, FAULT_USAGE);
	assert_int_equal(lines_open(&l, "lines:n1+n2,n3", &f), 0);
	assert_int_equal(lines_next(&l, &f), 1);
	assert_int_equal(l.words, 1);
	assert_int_equal(lines_next(&l, &f), 1);
	assert_string_equal(l.word[1], "n3");
	assert_int_equal(lines_next(&l, &f), 0);
	lines_release(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(files_are_words, forget, forget),
		cmocka_unit_test_setup_teardown(hosts_of_plans_are_numbers, forget, forget),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
