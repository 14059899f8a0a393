// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What is told of devices that programs do not reach: each cause on a made-up /sys and /dev. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "host/devnode.h"
#include "tree.h"
#include "verbs/cm.h"
#include "verbs/reach.h"

#define NODE "dev/infiniband/uverbs0"

static int make(void **state)
{
	if (tree_make(state) || setenv("RDMARK_DEV", tree_path(state, "dev"), 1))
		return -1;
	chmod(*state, 0755); /* for who is not root */
	tree_dir(state, "dev");
	return 0;
}

static int clean_up(void **state)
{
	unsetenv("RDMARK_DEV");
	return tree_remove(state);
}

static void put_device(void **state, const char *device, const char *uverbs)
{
	char path[128];

	snprintf(path, sizeof(path), "class/infiniband/%s/node_guid", device);
	tree_put(state, path, "0\n");
	snprintf(path, sizeof(path), "class/infiniband_verbs/%s/ibdev", uverbs);
	tree_put(state, path, device);
	tree_put(state, "class/infiniband_verbs/abi_version", "6\n");
}

/* As another user than root, whom no mode keeps out. */
static void as_nobody(void (*job)(void *), void *arg)
{
	bool root = !geteuid();

	assert_int_equal(root ? seteuid(65534) : 0, 0);
	job(arg);
	assert_int_equal(root ? seteuid(0) : 0, 0);
}

static void told(const struct fault *f, enum fault_code code, const char *cause, const char *fix)
{
	assert_int_equal(f->code, code);
	if (!strstr(f->cause, cause) || !strstr(f->fix, fix))
		fail_msg("'%s' and '%s' are not in: %s. Fix: %s", cause, fix, f->cause, f->fix);
}

static void none(const char *call, const char *cause, const char *fix)
{
	struct fault f = {.code = FAULT_NONE};

	assert_int_equal(reach_none(0, &f), -1);
	told(&f, FAULT_UNAVAILABLE, cause, fix);
	assert_string_equal(f.call, call);
}

#define NO_DEVICE "there is no RDMA device on this machine"
#define NO_USE    "no RDMA device of this machine can be used"

static void no_device(void **state)
{
	none(NO_DEVICE, ", where the kernel shows its devices, does not exist", "mount -t sysfs");
	tree_dir(state, "class/net");
	none(NO_DEVICE, "class/infiniband is missing: no RDMA NIC", "modprobe");
	tree_dir(state, "class/infiniband/.");
	none(NO_DEVICE, "class/infiniband is empty", "rdma link add");
}

static void in_another_namespace(void **state)
{
	const char *cause = "In another network namespace: rxe0", *fix = "rdma dev set";
	struct fault f = {.code = FAULT_NONE};

	tree_dir(state, "class/infiniband/.");
	tree_put(state, "class/infiniband_verbs/uverbs0/ibdev", "rxe0");
	none("there is no RDMA device in this network namespace", cause, fix);
	assert_true(reach_elsewhere("rxe0"));
	assert_false(reach_elsewhere("rxe1"));
	reach_unlisted("rxe0", &f);
	told(&f, FAULT_UNAVAILABLE, cause, fix);
	put_device(state, "rxe0", "uverbs0");
	assert_false(reach_elsewhere("rxe0"));
}

static void no_list(void **state)
{
	struct fault f = {.code = FAULT_NONE};

	tree_put(state, "class/infiniband/mlx5_3/node_guid", "0\n");
	reach_none(ENOSYS, &f);
	told(&f, FAULT_UNAVAILABLE, "The kernel has mlx5_3, but the module ib_uverbs",
	     "modprobe ib_uverbs");
	assert_string_equal(f.call, "ibv_get_device_list");
	assert_int_equal(f.errnum, ENOSYS);
	/* Another device has an entry, so the module is loaded. */
	put_device(state, "rxe0", "uverbs0");
	none(NO_USE, "The kernel has mlx5_3, but the module ib_uverbs, which gives programs access to it, "
		     "does not offer it", "dmesg");
}

static void no_node(void **state)
{
	put_device(state, "rxe0", "uverbs0");
	none(NO_USE, "The kernel has rxe0, but its node ", "/dev/infiniband (docker");
	none(NO_USE, NODE " does not exist: the container was not given the device", "Kubernetes");
	/* The first one's is: then it is about the other. */
	tree_put(state, NODE, "");
	put_device(state, "rxe1", "uverbs1");
	none(NO_USE, "The kernel has rxe1, but its node ", "--device=");
}

static void no_provider(void **state)
{
	put_device(state, "bnxt_re0", "uverbs0");
	tree_put(state, NODE, "");
	none(NO_USE, "libibverbs has no provider for it", "ibverbs-providers");
}

static void refuse(void *arg)
{
	reach_refused("rxe0", ENOENT, arg);
	assert_int_equal(reach_errno("rxe0", ENOENT), EACCES);
}

static void not_allowed(void **state)
{
	struct fault f = {.code = FAULT_NONE};

	put_device(state, "rxe0", "uverbs0");
	tree_put(state, NODE, "");
	chmod(tree_path(state, NODE), geteuid() ? 0 : 0600);
	as_nobody(refuse, &f);
	told(&f, FAULT_LOCAL, "may not open ", "chmod a+rw ");
	assert_non_null(strstr(f.cause, NODE ": mode 0"));
	assert_int_equal(f.errnum, EACCES);
	assert_string_equal(f.call, "ibv_open_device(rxe0)");

	fault_clear(&f);
	chmod(tree_path(state, NODE), 0666);
	chmod(tree_path(state, "dev/infiniband"), 0);
	as_nobody(refuse, &f);
	told(&f, FAULT_LOCAL, "may not search the directory of", "chmod a+x ");
	chmod(tree_path(state, "dev/infiniband"), 0755);
}

static void a_node_that_is_stale(void **state)
{
	struct devnode n = {.path = "/dev/x", .there = true, .is_device = true, .number = {231, 5}};
	struct sockaddr_un nobody = {.sun_family = AF_UNIX};
	struct fault f = {.code = FAULT_NONE};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	/* open(2) of a socket says ENXIO, as of a node without driver. */
	put_device(state, "rxe0", "uverbs0");
	snprintf(nobody.sun_path, sizeof(nobody.sun_path), "%.100s", tree_path(state, NODE));
	assert_int_equal(bind(fd, (struct sockaddr *)&nobody, sizeof(nobody)), 0);
	close(fd);
	reach_refused("rxe0", ENOENT, &f);
	told(&f, FAULT_LOCAL, "is no longer the node of rxe0", "restart the container");
	assert_int_equal(f.errnum, ENXIO);

	devnode_expect(&n, 231, 5);
	assert_int_equal(n.errnum, 0);
	devnode_expect(&n, 231, 192);
	assert_int_equal(n.errnum, ENXIO);
}

static void the_rules_of_a_container(void **state)
{
	struct devnode n = {.path = "/dev/infiniband/uverbs0",
			    .errnum = EPERM,
			    .there = true,
			    .allowed = true,
			    .mode = 0666};
	struct fault f = {.code = FAULT_NONE};

	(void)state;
	fault_raise(&f, FAULT_LOCAL, EPERM, "open");
	devnode_explain(&n, "rxe0", &f);
	told(&f, FAULT_LOCAL, "device rules (cgroup)", "--device=/dev/infiniband (");
}

static void what_the_node_does_not_know(void **state)
{
	struct fault f = {.code = FAULT_NONE};

	put_device(state, "rxe0", "uverbs0");
	/* Who was denied a node did not find none. */
	assert_int_equal(reach_errno("rxe0", EACCES), EACCES);
	assert_int_equal(reach_errno("rxe0", EINVAL), ENOENT);
	assert_int_equal(reach_errno("rxe7", EINVAL), EINVAL);
	tree_put(state, NODE, "");
	assert_int_equal(reach_errno("rxe0", EINVAL), EINVAL);
	reach_refused("rxe0", EINVAL, &f);
	told(&f, FAULT_LOCAL, NODE " opens, so libibverbs' provider", "dmesg");
	fault_clear(&f);
	reach_refused("rxe7", EINVAL, &f);
	told(&f, FAULT_LOCAL, "it was reset or removed", "dmesg");
	fault_clear(&f);
	reach_refused("rxe0", EMFILE, &f);
	told(&f, FAULT_LOCAL, "The process or the system has too many open files", "ulimit -n");
}

static void look_for_cm(void *arg)
{
	assert_int_equal(cm_check(arg), -1);
}

static void rdma_cm(void **state)
{
	struct fault f = {.code = FAULT_NONE};

	tree_dir(state, "dev/infiniband/.");
	cm_check(&f);
	told(&f, FAULT_UNAVAILABLE, "rdma_ucm is not loaded", "modprobe rdma_ucm");
	fault_clear(&f);
	tree_dir(state, "class/misc/rdma_cm/.");
	cm_check(&f);
	told(&f, FAULT_UNAVAILABLE, "The kernel has rdma_cm, but its node ", "--device=");
	fault_clear(&f);
	tree_put(state, "dev/infiniband/rdma_cm", "");
	assert_int_equal(cm_check(&f), 0);
	chmod(tree_path(state, "dev/infiniband/rdma_cm"), geteuid() ? 0 : 0600);
	as_nobody(look_for_cm, &f);
	told(&f, FAULT_LOCAL, "may not open ", "chmod a+rw ");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make, clean_up)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(no_device),
		TEST(in_another_namespace),
		TEST(no_list),
		TEST(no_node),
		TEST(no_provider),
		TEST(not_allowed),
		TEST(a_node_that_is_stale),
		TEST(the_rules_of_a_container),
		TEST(what_the_node_does_not_know),
		TEST(rdma_cm),
	};

	return cmocka_run_group_tests_name("reach", tests, NULL, NULL);
}
