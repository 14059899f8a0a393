// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* gpus: what is read of a machine whose GPU is behind another root port than the NIC. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include <string.h>

#include "explain/gpus.h"
#include "machine.h"
#include "verbs/hca.h"

static void facts_of_a_machine(void **state)
{
	static struct hca_port port[2];
	struct hca_list list = {port, 2};
	struct gpus gpus;
	struct fault f = {0};

	machine_use(state, "phb");
	tree_put(state, "sys/bus/pci/drivers/nvidia/0000:45:00.0/x", "");
	tree_put(state, "sys/bus/pci/drivers/nvidia/new_id", "");
	tree_put(state, "sys/module/nvidia/taint", "POE");
	strcpy(port[0].place.pci, NIC);
	strcpy(port[1].place.pci, "0000:99:00.0");
	assert_int_equal(gpus_read(&gpus, &list, false, &f), 0);
	assert_int_equal(gpus.nvidia.gpus, 1);
	assert_string_equal(gpus.nvidia.gpu[0], GPU);
	assert_true(gpus.nvidia.closed && !gpus.nvidia.peermem);
	assert_int_equal(gpus.class[0][0], PATH_PHB);
	assert_int_equal(gpus.class[0][1], PATH_UNKNOWN);
	assert_int_equal(gpus_read(&gpus, &list, true, &f), 0);
	assert_int_equal(gpus.class[0][0], PATH_UNKNOWN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(facts_of_a_machine, tree_make, tree_remove),
	};

	return cmocka_run_group_tests_name("gpus", tests, NULL, NULL);
}
