// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* virt: what firmware calls machines. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "host/virt.h"
#include "tree.h"

static void names_of_virtual_machines(void **state)
{
	(void)state;
	assert_true(virt_is_name("QEMU", "Standard PC (Q35 + ICH9, 2009)"));
	assert_true(virt_is_name("VMware, Inc.", "VMware7,1"));
	assert_true(virt_is_name("Amazon EC2", "p4d.24xlarge"));
	assert_false(virt_is_name("Amazon EC2", "i3.metal"));
	assert_true(virt_is_name("Microsoft Corporation", "Virtual Machine"));
	assert_false(virt_is_name("Microsoft Corporation", "Surface Pro"));
	assert_true(virt_is_name("Red Hat", "KVM"));
	assert_true(virt_is_name("Google", "Google Compute Engine"));
	assert_false(virt_is_name("Dell Inc.", "PowerEdge R730"));
	assert_false(virt_is_name("Supermicro", NULL));
	assert_false(virt_is_name(NULL, NULL));
	assert_false(virt_is_name("", ""));
}

/* In a tree that is made up, the processor says nothing. */
static void sysfs_has_the_names(void **state)
{
	assert_false(virt_is_machine());
	tree_put(state, "class/dmi/id/product_name", "KVM\n");
	assert_true(virt_is_machine());
	tree_put(state, "class/dmi/id/product_name", "PowerEdge R730\n");
	tree_put(state, "class/dmi/id/sys_vendor", "\xff\n");
	assert_false(virt_is_machine());
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, tree_make, tree_remove)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(names_of_virtual_machines),
		TEST(sysfs_has_the_names),
	};

	return cmocka_run_group_tests_name("virt", tests, NULL, NULL);
}
