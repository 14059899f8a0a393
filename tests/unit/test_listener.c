// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* listener: why it cannot listen. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "wire/listener.h"

static int no_check(struct fault *f)
{
	(void)f;
	return 0;
}

static int no_descriptor(int family)
{
	(void)family;
	errno = EMFILE;
	return -1;
}

static int no_memory(int family)
{
	(void)family;
	errno = ENOBUFS;
	return -1;
}

static int not_permitted(int family)
{
	(void)family;
	errno = EACCES;
	return -1;
}

static int taken(int family)
{
	(void)family;
	errno = EADDRINUSE;
	return -1;
}

/* The fault of a listener whose sockets fail as SOCKET does. */
static struct fault fault_of(int (*socket)(int family))
{
	struct oob_ops ops = {.port = "TCP port", .check = no_check, .socket = socket};
	struct listener l = {.ops = &ops};
	struct fault f = {0};

	assert_int_equal(listener_open(&l, NULL, 18515, NULL, &f), -1);
	assert_int_equal(l.fd, -1);
	assert_int_equal(f.code, FAULT_LOCAL);
	return f;
}

static void another_port_helps_if_this_one_is_the_cause(void **state)
{
	struct fault f = fault_of(taken);

	(void)state;
	assert_non_null(strstr(f.cause, "already listens"));
	assert_non_null(strstr(f.fix, "another port"));
	f = fault_of(not_permitted);
	assert_string_equal(f.cause, "");
	assert_non_null(strstr(f.fix, "another port"));
}

static void another_port_does_not_help_without_descriptors(void **state)
{
	struct fault f = fault_of(no_descriptor);

	(void)state;
	assert_non_null(strstr(f.fix, "ulimit -n"));
	assert_null(strstr(f.fix, "port"));
	f = fault_of(no_memory);
	assert_string_equal(f.fix, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(another_port_helps_if_this_one_is_the_cause),
		cmocka_unit_test(another_port_does_not_help_without_descriptors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
