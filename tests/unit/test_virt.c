// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* virt: what firmware calls machines. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "host/virt.h"
#include "tree.h"

/* True if a machine of these names is virtual. */
static bool is_virtual(void **state, const char *vendor, const char *product)
{
	tree_put(state, "class/dmi/id/sys_vendor", vendor);
	tree_put(state, "class/dmi/id/product_name", product);
	return virt_is_machine();
}

static void names_of_virtual_machines(void **state)
{
	assert_true(is_virtual(state, "QEMU", "Standard PC (Q35 + ICH9, 2009)"));
	assert_true(is_virtual(state, "VMware, Inc.", "VMware7,1"));
	assert_true(is_virtual(state, "Amazon EC2", "p4d.24xlarge"));
	assert_false(is_virtual(state, "Amazon EC2", "i3.metal"));
	assert_true(is_virtual(state, "Microsoft Corporation", "Virtual Machine"));
	assert_false(is_virtual(state, "Microsoft Corporation", "Surface Pro"));
	assert_true(is_virtual(state, "Red Hat", "KVM"));
	assert_true(is_virtual(state, "Google", "Google Compute Engine"));
	assert_false(is_virtual(state, "Dell Inc.", "PowerEdge R730"));
	assert_true(is_virtual(state, "Apple Inc.", "Apple Virtualization Generic Platform"));
	assert_false(is_virtual(state, "Supermicro", ""));
	assert_false(is_virtual(state, "", ""));
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
