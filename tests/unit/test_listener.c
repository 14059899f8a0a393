// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* listener: why it cannot listen. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <sys/resource.h>

#include "admit/listener.h"

/* The fault of a listener on PORT. */
static struct fault fault_of(uint16_t port)
{
	struct listener l;
	struct fault f = {0};

	assert_int_equal(listener_open(&l, "127.0.0.1", port, NULL, &f), -1);
	assert_int_equal(l.fd, -1);
	assert_int_equal(f.code, FAULT_LOCAL);
	return f;
}

static void another_port_helps_if_this_one_is_taken(void **state)
{
	struct listener l;
	struct fault f = {0};

	(void)state;
	assert_int_equal(listener_open(&l, "127.0.0.1", 0, NULL, &f), 0);
	f = fault_of(l.port);
	assert_non_null(strstr(f.cause, "already listens"));
	assert_non_null(strstr(f.fix, "another port"));
	listener_close(&l);
}

static void another_port_does_not_help_without_descriptors(void **state)
{
	struct rlimit had, none;
	struct listener l;
	struct fault f = {0};

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &had), 0);
	none = (struct rlimit){.rlim_cur = 0, .rlim_max = had.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	listener_open(&l, NULL, 0, NULL, &f);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &had), 0);
	assert_int_equal(f.code, FAULT_LOCAL);
	assert_non_null(strstr(f.fix, "ulimit -n"));
	assert_null(strstr(f.fix, "port"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(another_port_helps_if_this_one_is_taken),
		cmocka_unit_test(another_port_does_not_help_without_descriptors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
