// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * pin, the thread: on this machine, and on others made up in RDMARK_SYSFS, since most have one node
 * only. test_pin_memory.c has the memory.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <numaif.h>
#include <sched.h>
#include <sys/syscall.h>

#include "host/pin.h"
#include "host/sysfs.h"
#include "child.h"
#include "tree.h"

/* The lowest and the highest CPU that this thread may use, and how many there are. */
static int my_cpus(int *first, int *last)
{
	cpu_set_t set;
	int count = 0;

	CHECK(sched_getaffinity(0, sizeof(set), &set) == 0);
	for (int i = 0; i < CPU_SETSIZE; i++) {
		if (!CPU_ISSET(i, &set))
			continue;
		if (!count++)
			*first = i;
		*last = i;
	}
	return count;
}

static void run_on(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	CHECK(sched_setaffinity(0, sizeof(set), &set) == 0);
}

/* A machine of two nodes: node 0 with the CPUs of NODE0, node 1 with those of NODE1. */
static void make_nodes(void **state, const char *node0, const char *node1)
{
	tree_put(state, "devices/system/node/online", "0-1\n");
	tree_put(state, "devices/system/node/node0/cpulist", node0);
	tree_put(state, "devices/system/node/node1/cpulist", node1);
}

static void check_fault(const struct fault *f, enum fault_code code, int errnum, const char *call,
			const char *cause)
{
	if (f->code != code || f->errnum != errnum || strcmp(f->call, call))
		fprintf(stderr, "have %d %d '%s'\n", f->code, f->errnum, f->call);
	CHECK(f->code == code);
	CHECK(f->errnum == errnum);
	CHECK(strcmp(f->call, call) == 0);
	if (!strstr(f->cause, cause))
		fprintf(stderr, "have '%s'\n", f->cause);
	CHECK(strstr(f->cause, cause));
	CHECK(f->fix[0]);
}

static void check_pin(const struct pin *p, int node, const char *cpus, int count,
		      const char *reason)
{
	int first, last;

	if (strcmp(p->cpus, cpus) || strcmp(p->reason, reason))
		fprintf(stderr, "have '%s' '%s'\n", p->cpus, p->reason);
	CHECK(p->node == node);
	CHECK(my_cpus(&first, &last) == count);
	CHECK(strcmp(p->cpus, cpus) == 0);
	CHECK(strcmp(p->reason, reason) == 0);
}

static void show_mine(char *buf, size_t size)
{
	struct sysfs_set set = {0};

	CHECK(sched_getaffinity(0, sizeof(set), set.mask) == 0);
	sysfs_set_format(&set, buf, size);
}

/* This machine, as it is. */
static void body_here(void **state)
{
	int first, last, count = my_cpus(&first, &last);
	struct sysfs_set node0;
	struct fault f = {0};
	char mine[128];
	struct pin p;

	(void)state;
	unsetenv("RDMARK_SYSFS");
	show_mine(mine, sizeof(mine));
	memset(&p, 0xa5, sizeof(p));
	CHECK(pin_thread(&p, PIN_NONE, 0, &f) == 0);
	check_pin(&p, -1, mine, count, "not pinned: --numa none");
	CHECK(pin_thread(&p, PIN_AUTO, -1, &f) == 0);
	check_pin(&p, -1, mine, count, "not pinned: the NIC's NUMA node is unknown");
	CHECK(my_cpus(&first, &last) == count);
	CHECK(pin_thread(&p, PIN_AUTO, 0, &f) == 0);
	CHECK(!fault_is(&f));
	if (p.node < 0)
		child_skip(p.reason);
	CHECK(p.node == 0);
	CHECK(strncmp(p.reason, "the NIC's node", 14) == 0);
	if (!sysfs_read_set(&node0, "devices/system/node/node0/cpulist")) {
		my_cpus(&first, &last);
		CHECK(sysfs_set_has(&node0, first) && sysfs_set_has(&node0, last));
	}
	show_mine(mine, sizeof(mine));
	check_pin(&p, 0, mine, my_cpus(&first, &last), p.reason);
	CHECK(pin_thread(&p, 0, -1, &f) == 0);
	CHECK(p.node == 0 && strncmp(p.reason, "--numa 0", 8) == 0);
}

static void pinning_on_this_machine(void **state)
{
	in_child(body_here, state);
}

static void body_no_such_node(void **state)
{
	static const int wishes[] = {999, 1023, 1024, 100000, INT_MAX, -3, INT_MIN};
	struct fault f = {0};
	char call[64], cause[64], before[128], after[128];
	struct pin p;

	(void)state;
	unsetenv("RDMARK_SYSFS");
	show_mine(before, sizeof(before));
	for (size_t i = 0; i < sizeof(wishes) / sizeof(wishes[0]); i++) {
		fault_clear(&f);
		CHECK(pin_thread(&p, wishes[i], 0, &f) == -1);
		snprintf(call, sizeof(call), "--numa %d", wishes[i]);
		snprintf(cause, sizeof(cause), "NUMA node %d does not exist here", wishes[i]);
		check_fault(&f, FAULT_USAGE, ENODEV, call, cause);
		CHECK(p.node == -1);
	}
	/* The NIC's node is not the user's fault. */
	fault_clear(&f);
	CHECK(pin_thread(&p, PIN_AUTO, 999, &f) == 0);
	CHECK(!fault_is(&f) && p.node == -1);
	CHECK(strcmp(p.reason, "not pinned: the NIC's node 999 does not exist here") == 0);
	show_mine(after, sizeof(after));
	CHECK(strcmp(before, after) == 0);
}

static void a_node_that_is_not_there(void **state)
{
	in_child(body_no_such_node, state);
}

/* Nothing of pin, nor of libnuma, may end up on stdout or stderr. */
static void body_silent(void **state)
{
	struct fault f = {0};
	char buf[64];
	struct pin p;
	int out[2];

	CHECK(pipe(out) == 0);
	CHECK(dup2(out[1], 1) == 1);
	CHECK(dup2(out[1], 2) == 2);
	close(out[1]);
	make_nodes(state, "0-1\n", "7000-7001\n");
	pin_thread(&p, 999, 0, &f);
	pin_thread(&p, PIN_AUTO, 999, &f);
	pin_thread(&p, 1, -1, &f);
	pin_thread(&p, PIN_AUTO, 1, &f);
	pin_thread(&p, PIN_AUTO, 0, &f);
	unsetenv("RDMARK_SYSFS");
	pin_thread(&p, 999, 0, &f);
	pin_thread(&p, 0, 0, &f);
	fflush(NULL);
	close(1);
	close(2);
	if (read(out[0], buf, sizeof(buf)) != 0)
		_exit(2);
	_exit(0);
}

static void nothing_is_printed(void **state)
{
	in_child(body_silent, state);
}

static void body_taskset(void **state)
{
	int first, last, count = my_cpus(&first, &last);
	char list[32], one[32];
	struct fault f = {0};
	struct pin p;

	if (count < 2)
		child_skip("needs two CPUs");
	/* Node 0 has more than this thread may use. */
	snprintf(list, sizeof(list), "0-%d\n", last + 100);
	make_nodes(state, list, "");
	run_on(last);
	snprintf(one, sizeof(one), "%d", last);
	CHECK(pin_thread(&p, PIN_AUTO, 0, &f) == 0);
	CHECK(p.node == 0 && strcmp(p.cpus, one) == 0);
	CHECK(pin_thread(&p, 0, 0, &f) == 0);
	CHECK(strcmp(p.cpus, one) == 0);
	CHECK(my_cpus(&first, &last) == 1 && first == atoi(one));
}

static void a_mask_from_outside_is_respected(void **state)
{
	in_child(body_taskset, state);
}

static void body_part(void **state)
{
	int first, last, count = my_cpus(&first, &last);
	char list[32], one[32];
	struct fault f = {0};
	struct pin p;

	if (count < 2)
		child_skip("needs two CPUs");
	snprintf(one, sizeof(one), "%d", last);
	snprintf(list, sizeof(list), "%d,7000-7010\n", last);
	make_nodes(state, list, "");
	CHECK(pin_thread(&p, PIN_AUTO, 0, &f) == 0);
	CHECK(p.node == 0 && strcmp(p.cpus, one) == 0);
	CHECK(my_cpus(&first, &last) == 1 && first == atoi(one));
}

static void the_thread_gets_the_common_part(void **state)
{
	in_child(body_part, state);
}

/* Of fast and slow CPUs the fast ones are taken, if all are known, and if they differ by much. */
static void body_fast(void **state)
{
	static const struct {
		const char *first, *last;
		int count;
	} one[] = {{"400", "1024", 1}, {"1009", "1024", 2}, {"1024", "1024", 2}, {"1024", "", 2}};
	int first, last, lowest, highest;
	char list[32], path[64];
	struct fault f = {0};
	struct pin p;

	if (my_cpus(&first, &last) < 2)
		child_skip("needs two CPUs");
	snprintf(list, sizeof(list), "%d,%d\n", first, last);
	make_nodes(state, list, "");
	for (size_t i = 0; i < sizeof(one) / sizeof(one[0]); i++) {
		snprintf(path, sizeof(path), "devices/system/cpu/cpu%d/cpu_capacity", first);
		tree_put(state, path, one[i].first);
		snprintf(path, sizeof(path), "devices/system/cpu/cpu%d/cpu_capacity", last);
		tree_put(state, path, one[i].last);
		CHECK(pin_thread(&p, PIN_AUTO, 0, &f) == 0);
		CHECK(my_cpus(&lowest, &highest) == one[i].count && highest == last);
		CHECK((strstr(p.reason, "its fast CPUs") != NULL) == (one[i].count == 1));
		pin_undo(&p);
	}
}

static void fast_and_slow_cpus(void **state)
{
	in_child(body_fast, state);
}

static void body_masked(void **state)
{
	int first, last, count = my_cpus(&first, &last);
	char mine[128], cause[256];
	struct fault f = {0};
	struct pin p;

	make_nodes(state, "7000-7001\n", "");
	show_mine(mine, sizeof(mine));
	CHECK(pin_thread(&p, PIN_AUTO, 0, &f) == 0);
	check_pin(&p, -1, mine, count,
		  "not pinned: the affinity mask has no CPU of the NIC's node 0");
	CHECK(pin_thread(&p, 0, 0, &f) == -1);
	snprintf(cause, sizeof(cause),
		 "This process may use CPUs %s: the affinity mask has no CPU of NUMA node 0", mine);
	check_fault(&f, FAULT_USAGE, EPERM, "--numa 0", cause);
	CHECK(my_cpus(&first, &last) == count);
}

static void a_mask_without_a_cpu_of_the_node(void **state)
{
	in_child(body_masked, state);
}

static void body_memory_only(void **state)
{
	struct fault f = {0};
	struct pin p;

	make_nodes(state, "", "0\n");
	CHECK(pin_thread(&p, PIN_AUTO, 0, &f) == 0);
	CHECK(p.node == -1);
	CHECK(strcmp(p.reason, "not pinned: the NIC's node 0 has no CPU") == 0);
	CHECK(pin_thread(&p, 0, -1, &f) == -1);
	check_fault(&f, FAULT_USAGE, EINVAL, "--numa 0", "NUMA node 0 has no CPU");
}

static void a_node_without_cpus(void **state)
{
	in_child(body_memory_only, state);
}

/* The made-up node 1 is not in this machine's Mems_allowed. */
static void body_mems(void **state)
{
	struct sysfs_set online;
	struct fault f = {0};
	char list[32];
	struct pin p;
	int first, last;

	unsetenv("RDMARK_SYSFS");
	if (!sysfs_read_set(&online, "devices/system/node/online") && sysfs_set_has(&online, 1))
		child_skip("this machine has a node 1");
	if (get_mempolicy(NULL, NULL, 0, NULL, 0))
		child_skip("get_mempolicy(2) is forbidden here");
	setenv("RDMARK_SYSFS", *state, 1);
	my_cpus(&first, &last);
	snprintf(list, sizeof(list), "0-%d\n", last);
	make_nodes(state, "", list);
	CHECK(pin_thread(&p, PIN_AUTO, 1, &f) == 0);
	CHECK(p.node == -1);
	CHECK(strcmp(p.reason, "not pinned: memory of the NIC's node 1 is not allowed here") == 0);
	CHECK(pin_thread(&p, 1, -1, &f) == -1);
	check_fault(&f, FAULT_USAGE, EPERM, "--numa 1", "memory of NUMA node 1 is not allowed here");
}

static void memory_that_is_not_allowed(void **state)
{
	in_child(body_mems, state);
}

static void body_no_affinity(void **state)
{
	static const int calls[] = {SYS_sched_setaffinity};
	int first, last, count = my_cpus(&first, &last);
	struct fault f = {0};
	char list[32];
	struct pin p;

	if (count < 2)
		child_skip("needs two CPUs");
	snprintf(list, sizeof(list), "%d\n", first);
	make_nodes(state, list, "");
	child_forbid(calls, 1, EPERM);
	CHECK(pin_thread(&p, PIN_AUTO, 0, &f) == 0);
	CHECK(p.node == -1 && my_cpus(&first, &last) == count);
	CHECK(strcmp(p.reason, "not pinned: sched_setaffinity: Operation not permitted") == 0);
	CHECK(pin_thread(&p, 0, -1, &f) == -1);
	check_fault(&f, FAULT_LOCAL, EPERM, "sched_setaffinity(node 0)", "seccomp");
	/* Where nothing is to be narrowed nothing is asked of the kernel. */
	fault_clear(&f);
	snprintf(list, sizeof(list), "0-%d\n", last);
	make_nodes(state, list, "");
	CHECK(pin_thread(&p, 0, -1, &f) == 0 && p.node == 0);
}

static void containers_that_forbid_pinning(void **state)
{
	in_child(body_no_affinity, state);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, tree_make, tree_remove)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(pinning_on_this_machine),
		TEST(a_node_that_is_not_there),
		TEST(nothing_is_printed),
		TEST(a_mask_from_outside_is_respected),
		TEST(the_thread_gets_the_common_part),
		TEST(fast_and_slow_cpus),
		TEST(a_mask_without_a_cpu_of_the_node),
		TEST(a_node_without_cpus),
		TEST(memory_that_is_not_allowed),
		TEST(containers_that_forbid_pinning),
	};

	return cmocka_run_group_tests_name("pin", tests, NULL, NULL);
}
