/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* machine: the machines of tests/standin/topologies, for the tests of path. Include it after <cmocka.h>. */
#ifndef RDMARK_TESTS_UNIT_MACHINE_H
#define RDMARK_TESTS_UNIT_MACHINE_H

#include <math.h>
#include <sys/wait.h>

#include "host/path.h"
#include "tree.h"

#define MAKE "tests/standin/topologies/make"
#define NIC  "0000:41:00.0"
#define GPU  "0000:45:00.0"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Create the machine NAME in the tree of STATE, and set the environment to it. */
static inline void machine_use(void **state, const char *name)
{
	char xml[PATH_MAX], sys[PATH_MAX];
	int status = -1;
	pid_t child;

	if (access(MAKE, X_OK)) {
		print_message(MAKE ": not found; run this in the repository's root\n");
		skip();
	}
	unsetenv("HWLOC_THISSYSTEM");
	child = fork();
	if (child == 0) {
		execl(MAKE, MAKE, name, (const char *)*state, NULL);
		_exit(127);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	snprintf(xml, sizeof(xml), "%s/topology.xml", (const char *)*state);
	snprintf(sys, sizeof(sys), "%s/sys", (const char *)*state);
	setenv("HWLOC_XMLFILE", xml, 1);
	setenv("RDMARK_SYSFS", sys, 1);
}

static inline void machine_find(const char *nic, const char *gpu, struct path *p)
{
	struct fault f = {.code = FAULT_NONE};
	struct path_tree *t;

	memset(p, 0xa5, sizeof(*p));
	assert_int_equal(path_open(&t, &f), 0);
	path_find(t, nic, gpu, p);
	path_close(t);
	assert_false(fault_is(&f));
}

static inline void expect_link(const struct pci_link *l, const char *want)
{
	char text[64] = "stale";

	assert_ptr_equal(pci_link_format(l, text, sizeof(text)), text);
	assert_string_equal(text, want);
}

static inline void expect_gbps(double got, double want)
{
	if (fabs(got - want) > 0.06)
		fail_msg("%f Gb/s, not %f", got, want);
}

#endif
