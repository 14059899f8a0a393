// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/fault.h"
#include "nomem.h"

/* A terminal: the end that a user has, and in *PROGRAM that of a program. */
static int open_terminal(FILE **program)
{
	int user = posix_openpt(O_RDWR | O_NOCTTY);

	assert_true(user >= 0);
	assert_int_equal(grantpt(user), 0);
	assert_int_equal(unlockpt(user), 0);
	*program = fopen(ptsname(user), "r+e");
	assert_non_null(*program);
	return user;
}

static void set_columns(int user, unsigned columns)
{
	const struct winsize size = {.ws_row = 24, .ws_col = (unsigned short)columns};

	assert_int_equal(ioctl(user, TIOCSWINSZ, &size), 0);
}

static void the_width_is_the_terminals(void **state)
{
	FILE *program;
	int user = open_terminal(&program), file = open("/dev/null", O_RDWR | O_CLOEXEC);

	(void)state;
	assert_int_equal(terminal_columns(fileno(program)), 0);
	set_columns(user, 72);
	assert_int_equal(terminal_columns(fileno(program)), 72);
	assert_int_equal(terminal_columns(file), 0);
	assert_int_equal(terminal_columns(-1), 0);
	close(file);
	fclose(program);
	close(user);
}

static void expect_wrapped(const char *text, unsigned columns, const char *want)
{
	char got[128] = "";

	terminal_wrap(got, sizeof(got), text, columns, 2);
	assert_string_equal(got, want);
}

static void a_number_stays_with_its_sign(void **state)
{
	(void)state;
	expect_wrapped("it is 20 % too slow", 9, "it is\n  20 %\n  too\n  slow\n");
}

static void what_does_not_fit_is_cut(void **state)
{
	char got[8] = "";

	(void)state;
	terminal_wrap(got, sizeof(got), "one two three", 0, 2);
	assert_string_equal(got, "one tw\n");
	got[0] = '\0';
	terminal_wrap(got, sizeof(got), "one two three", 4, 2);
	assert_string_equal(got, "one\n  \n");
}

static void lines_break_at_blanks(void **state)
{
	(void)state;
	expect_wrapped("", 10, "\n");
	expect_wrapped("one two three", 0, "one two three\n");
	expect_wrapped("one two three", 13, "one two three\n");
	expect_wrapped("one two three", 12, "one two\n  three\n");
	expect_wrapped("one two three", 7, "one two\n  three\n");
	expect_wrapped("one two three", 6, "one\n  two\n  three\n");
	/* a word is never broken */
	expect_wrapped("a/very/long/name is it", 8, "a/very/long/name\n  is it\n");
	expect_wrapped("is a/very/long/name it", 8, "is\n  a/very/long/name\n  it\n");
	/* the blanks before the first word are its indent, and two stay two within a line */
	expect_wrapped("  Fix: do  it", 13, "  Fix: do  it\n");
	expect_wrapped("  Fix: do  it", 12, "  Fix: do\n  it\n");
	/* three characters, six bytes */
	expect_wrapped("\xc3\xa9\xc3\xa9\xc3\xa9 x", 5, "\xc3\xa9\xc3\xa9\xc3\xa9 x\n");
}

/* What a user with so many columns is shown of F. */
static void expect_shown(const struct fault *f, unsigned columns, const char *want)
{
	char got[512] = "";
	FILE *program;
	int user = open_terminal(&program);
	size_t used = 0;
	ssize_t n;

	set_columns(user, columns);
	fault_print(f, "send_bw", program);
	fclose(program);
	/* in as many pieces as the terminal likes; its end is an error */
	while ((n = read(user, got + used, sizeof(got) - 1 - used)) > 0)
		used += (size_t)n;
	assert_string_equal(got, want);
	close(user);
}

static void a_fault_is_shown_in_lines(void **state)
{
	struct fault f = {0};

	(void)state;
	fault_raise(&f, FAULT_LOCAL, 0, "open(%s)", "uverbs0");
	expect_shown(&f, 80, "send_bw: open(uverbs0).\r\n");
	fault_fix(&f, "make it");
	expect_shown(&f, 80, "send_bw: open(uverbs0).\r\n  Fix: make it.\r\n");
	fault_cause(&f, "it is\x1b not there");
	expect_shown(&f, 80,
		     "send_bw: open(uverbs0).\r\n  it is? not there.\r\n"
		     "  Fix: make it.\r\n");
	expect_shown(&f, 20,
		     "send_bw:\r\n  open(uverbs0).\r\n  it is? not there.\r\n"
		     "  Fix: make it.\r\n");
	/* a width that is not said limits nothing */
	expect_shown(&f, 0,
		     "send_bw: open(uverbs0).\r\n  it is? not there.\r\n"
		     "  Fix: make it.\r\n");
}

/* What a user with so many columns is shown of a note. */
static void expect_noted(unsigned columns, const char *want)
{
	char got[128] = "";
	FILE *program;
	int user = open_terminal(&program);
	size_t used = 0;
	ssize_t n;

	set_columns(user, columns);
	terminal_note(program, "%d QPs, MTU %s", 2, "4096");
	fclose(program);
	while ((n = read(user, got + used, sizeof(got) - 1 - used)) > 0)
		used += (size_t)n;
	assert_string_equal(got, want);
	close(user);
}

static void a_note_is_wrapped_on_a_terminal(void **state)
{
	(void)state;
	expect_noted(80, "write_bw: 2 QPs, MTU 4096\r\n");
	expect_noted(25, "write_bw: 2 QPs, MTU 4096\r\n");
	expect_noted(24, "write_bw: 2 QPs, MTU\r\n  4096\r\n");
	expect_noted(0, "write_bw: 2 QPs, MTU 4096\r\n");
}

static void a_note_is_one_write(void **state)
{
	char got[128] = "";
	int end[2];
	FILE *out;

	(void)state;
	/* of a pipe with O_DIRECT, a read returns what one write wrote */
	assert_int_equal(pipe2(end, O_DIRECT | O_CLOEXEC), 0);
	out = fdopen(end[1], "w");
	assert_non_null(out);
	setvbuf(out, NULL, _IONBF, 0); /* like stderr */
	terminal_note(out, "%d QPs, MTU %s", 2, "4096");
	assert_int_equal(read(end[0], got, sizeof(got) - 1), 26);
	assert_string_equal(got, "write_bw: 2 QPs, MTU 4096\n");
	fclose(out);
	close(end[0]);
}

/* A server that has no memory left says so in its log. */
static void a_note_needs_no_memory(void **state)
{
	char got[128] = "";
	struct fault f = {0};
	int user;
	FILE *program;
	ssize_t n;
	size_t used = 0;

	(void)state;
	if (!NOMEM)
		skip();
	user = open_terminal(&program);
	setvbuf(program, NULL, _IONBF, 0);
	set_columns(user, 20);
	fault_raise(&f, FAULT_LOCAL, 0, "malloc");
	nomem_from(1, true);
	terminal_note(program, "%d QPs, %s", 2, "and no more memory");
	fault_print(&f, "send_bw", program);
	nomem_from(0, false);
	fclose(program);
	while ((n = read(user, got + used, sizeof(got) - 1 - used)) > 0)
		used += (size_t)n;
	assert_string_equal(got, "write_bw: 2 QPs, and\r\n  no more memory\r\nsend_bw: malloc.\r\n");
	close(user);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_width_is_the_terminals),
		cmocka_unit_test(lines_break_at_blanks),
		cmocka_unit_test(a_fault_is_shown_in_lines),
		cmocka_unit_test(a_note_is_wrapped_on_a_terminal),
		cmocka_unit_test(a_note_is_one_write),
		cmocka_unit_test(a_number_stays_with_its_sign),
		cmocka_unit_test(what_does_not_fit_is_cut),
		cmocka_unit_test(a_note_needs_no_memory),
	};

	program_invocation_short_name = (char[]){"write_bw"};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
