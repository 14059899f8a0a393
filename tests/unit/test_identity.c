// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* identity: kernel, CPU, rdma-core and command line, of this machine and of made-up ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>
#include <sys/utsname.h>

#include "host/identity.h"
#include "tree.h"

static void the_kernel_is_what_uname_says(void **state)
{
	struct utsname u;
	char text[80], cut[4];

	(void)state;
	assert_int_equal(uname(&u), 0);
	identity_kernel(text, sizeof(text));
	assert_string_equal(text, u.release);
	identity_kernel(cut, sizeof(cut));
	assert_int_equal(strlen(cut), 3);
}

/* The model in a cpuinfo of TEXT, cut to SIZE. */
static const char *model_of(void **state, const char *text, size_t size)
{
	static char model[96];

	tree_put(state, "cpuinfo", text);
	identity_cpu_model(tree_path(state, "cpuinfo"), model, size);
	return model;
}

static void the_cpu_has_a_name_or_numbers(void **state)
{
	const size_t all = 96;

	assert_string_equal(model_of(state,
				     "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\n"
				     "model\t\t: 143\nmodel name\t: Intel(R) Xeon(R) Gold 6430\n"
				     "cpu MHz\t\t: 800.0\n\nprocessor\t: 1\nmodel name\t: another\n",
				     all),
			    "Intel(R) Xeon(R) Gold 6430");
	assert_string_equal(model_of(state,
				     "processor\t: 0\ncpu\t\t: POWER9, altivec supported\n"
				     "clock\t\t: 3800.0MHz\n",
				     all),
			    "POWER9, altivec supported");
	assert_string_equal(model_of(state,
				     "processor\t: 0\nBogoMIPS\t: 50.00\nCPU implementer\t: 0x41\n"
				     "CPU architecture: 8\nCPU variant\t: 0x3\nCPU part\t: 0xd0c\n",
				     all),
			    "implementer 0x41, part 0xd0c");
	/* nothing for a terminal to obey, nothing behind the end */
	assert_string_equal(model_of(state, "model name: a\033b", all), "a?b");
	assert_string_equal(model_of(state, "model name\t: abcdef\n", 4), "abc");
	assert_string_equal(model_of(state, "model name", all), "");
	assert_string_equal(model_of(state, "", all), "");
	assert_string_equal(model_of(state, "cpu family\t: 6\nCPU part\t: 1\n", all), "");
}

static void where_there_is_no_cpuinfo(void **state)
{
	char model[96] = "x";

	identity_cpu_model(tree_path(state, "none"), model, sizeof(model));
	assert_string_equal(model, "");
}

static void rdma_core_is_in_the_name_of_its_library(void **state)
{
	static const struct {
		const char *file, *version;
	} names[] = {
		{"/usr/lib/x86_64-linux-gnu/libibverbs.so.1.14.44.0", "44.0"},
		{"/lib64/libibverbs.so.1.14.2404.56.1", "2404.56.1"},
		{"libibverbs.so.1.1.17", "17"},
		{"/opt/44.0/libibverbs.so.1.14", ""},
		{"/opt/libibverbs.so.1", ""},
		{"/opt/libibverbs.so", ""},
		{"/opt/libibverbs.so.1.14.mine", ""},
		{"/opt/libibverbs.so.1.14.44.0/other.so", ""},
		{"/build/tests/libsimverbs.so", ""},
		{"", ""},
	};
	char version[32];

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		identity_rdma_core_of(names[i].file, version, sizeof(version));
		assert_string_equal(version, names[i].version);
	}
	/* This program has it loaded; wherever it is from, only a version is one. */
	identity_rdma_core(version, sizeof(version));
	assert_int_equal(strspn(version, "0123456789."), strlen(version));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_kernel_is_what_uname_says),
		cmocka_unit_test_setup_teardown(the_cpu_has_a_name_or_numbers, tree_make,
						tree_remove),
		cmocka_unit_test_setup_teardown(where_there_is_no_cpuinfo, tree_make, tree_remove),
		cmocka_unit_test(rdma_core_is_in_the_name_of_its_library),
	};

	return cmocka_run_group_tests_name("identity", tests, NULL, NULL);
}
