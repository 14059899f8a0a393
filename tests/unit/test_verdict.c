// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* verdict: every one of them, word for word. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "verdict_facts.h"

static void as_fast_as_host_memory(void **state)
{
	struct verdict_facts x = healthy();

	(void)state;
	expect(&x, 0, "none",
	       "PASS GPUDirect within 5 % of host memory: GPU to GPU, client->server: 194.0 Gb/s, "
	       "99.0 % of host memory's 196.0 Gb/s",
	       "");
	x.verified = false;
	x.cell = &reading;
	x.within = 0.025;
	expect(&x, 0, "none",
	       "PASS GPUDirect within 2.5 % of host memory: GPU to host, client->server: 194.0 "
	       "Gb/s, 99.0 % of host memory's 196.0 Gb/s (data not verified)",
	       "");
}

static void the_edges_of_the_levels(void **state)
{
	struct verdict_facts x = healthy();
	struct verdict v;
	static const struct {
		double gbps;
		enum verdict_level level;
		int exit_status, exit_if_given;
	} row[] = {
		{200, VERDICT_PASS, 0, 0}, {95, VERDICT_PASS, 0, 0},   {94.9, VERDICT_WARN, 0, 6},
		{80, VERDICT_WARN, 0, 6},  {79.9, VERDICT_FAIL, 6, 6}, {1, VERDICT_FAIL, 6, 6},
	};

	(void)state;
	x.host_gbps = x.line_gbps = 100;
	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		x.gbps = row[i].gbps;
		x.within_given = false;
		v = reach(&x);
		assert_int_equal(v.level, row[i].level);
		assert_int_equal(v.exit_status, row[i].exit_status);
		assert_true(fabs(v.ratio - row[i].gbps / 100) < 1e-9);
		x.within_given = true;
		assert_int_equal(reach(&x).exit_status, row[i].exit_if_given);
	}
	x.gbps = 85;
	x.within = 0.2;
	assert_int_equal(reach(&x).level, VERDICT_PASS);
}

static void wrong_data_is_worse_than_slow(void **state)
{
	struct verdict_facts x = healthy();

	(void)state;
	x.wrong_data = "first wrong byte at 4096";
	x.wc_status = "remote access error";
	x.no_route = "x";
	expect(&x, 5, "data",
	       "FAIL wrong data: GPU to GPU, client->server: first wrong byte at 4096",
	       "Do not use this route, however fast it is. Compare --gpu-path dmabuf, peermem and "
	       "staged, and check for newer GPU drivers and NIC firmware.");
}

static void a_transfer_that_failed(void **state)
{
	struct verdict_facts x = healthy();

	(void)state;
	x.cell = &writing;
	x.wc_status = "remote operation error";
	x.wc_vendor = 0x51;
	x.route.path.class = PATH_SYS;
	x.route.better_gpu = "GPU 2 (PIX)";
	expect(&x, 1, "transfer",
	       "FAIL host to GPU, client->server: the transfer failed: remote operation error, "
	       "vendor error 0x51",
	       "The memory was registered, but the NIC could not access it: the path between them "
	       "blocks peer-to-peer traffic (SYS, IOMMU identity). Try GPU 2 (PIX), iommu=pt, or "
	       "ACS off on the bridges between them; --gpu-path staged works without peer-to-peer "
	       "traffic.");
	x.wc_vendor = 0;
	x.route.better_gpu = NULL;
	x.route.path.iommu[0] = '\0';
	expect_cause(&x, VERDICT_FAIL, "transfer", "traffic (SYS). Try iommu=pt");
	x.route.path.virtual_machine = true;
	expect_cause(&x, VERDICT_FAIL, "transfer", "(virtual machine)");
	assert_null(strstr(reach(&x).line, "vendor"));
}

static void no_gpu(void **state)
{
	struct verdict_facts x = {.within = 0.05, .no_gpu = "libcuda.so.1: not found"};

	(void)state;
	expect(&x, 77, "no_gpu", "UNAVAILABLE no GPU: libcuda.so.1: not found", "");
	x.host_gbps = 97.5;
	expect(&x, 77, "no_gpu", "UNAVAILABLE no GPU: libcuda.so.1: not found",
	       "Host memory reached 97.5 Gb/s.");
}

static void no_direct_route(void **state)
{
	struct verdict_facts x = {.within = 0.05,
				  .gpudirect = true,
				  .no_route = "dma-buf: EOPNOTSUPP; peermem: not loaded"};

	(void)state;
	expect(&x, 77, "no_route",
	       "FAIL no GPUDirect RDMA: dma-buf: EOPNOTSUPP; peermem: not loaded", "");
	x.host_gbps = 100;
	x.staged_gbps = 90;
	expect(&x, 77, "no_route",
	       "FAIL no GPUDirect RDMA: dma-buf: EOPNOTSUPP; peermem: not loaded",
	       "Through host memory (--gpu-path staged): 90.0 Gb/s, 90.0 % of host memory.");
	x.host_gbps = 0;
	x.gpudirect = false;
	expect(&x, 77, "gpu_unsupported",
	       "FAIL no GPUDirect RDMA: dma-buf: EOPNOTSUPP; peermem: not loaded",
	       "Through host memory (--gpu-path staged): 90.0 Gb/s.");
	x.no_route = NULL;
	expect_cause(&x, VERDICT_FAIL, "gpu_unsupported", "this GPU does not support it");
}

static void nothing_to_compare(void **state)
{
	struct verdict_facts x = healthy();

	(void)state;
	x.gbps = 0;
	x.host_gbps = 0;
	expect(&x, 77, "not_measured", "UNAVAILABLE no verdict: GPU memory was not measured", "");
	x.host_gbps = 100;
	expect(&x, 77, "not_measured", "UNAVAILABLE no verdict: GPU memory was not measured", "");
}

static void what_else_was_seen(void **state)
{
	struct verdict_facts x = slow(60);

	(void)state;
	x.staged_gbps = 180;
	expect_cause(&x, VERDICT_FAIL, "unknown",
		     " Staging through host memory is faster here: 180.0 Gb/s.");
	x.staged_gbps = 65;
	assert_null(strstr(reach(&x).next, "Staging"));
	x = healthy();
	x.route.flush_note = "Each batch needs a flush of 2.1 us.";
	expect_cause(&x, VERDICT_PASS, "none", "Each batch");
	x.other_route = "--gpu-path peermem";
	x.other_gbps = 260;
	expect(&x, 0, "none",
	       "PASS GPUDirect within 5 % of host memory: GPU to GPU, client->server: 194.0 Gb/s, "
	       "99.0 % of host memory's 196.0 Gb/s",
	       "Another route is faster: --gpu-path peermem reaches 260.0 Gb/s. Each batch needs a "
	       "flush of 2.1 us.");
}

static void host_memory_itself_is_slow(void **state)
{
	struct eval_cell c = unsure(100, 1, 0.01);
	struct verdict_facts x = facts_of(&c);

	(void)state;
	expect(&x, 0, "host_low",
	       "WARN host memory itself is slow, client->server: 100.0 Gb/s, expected: "
	       "190.0 (line rate); GPU memory reaches 100.0 % of it",
	       "Fix this first, because the GPU is not the cause: compare with write_bw, several QPs "
	       "(-q 4) and larger messages (-s 1m); check both NICs' slots (--list), the MTU, "
	       "the NUMA node and other traffic. If these hosts cannot do better, give the rate "
	       "that they can reach with --expected-gbps.");
	x.within_given = true;
	assert_int_equal(reach(&x).exit_status, 6);
	/* That GPU memory is slower than that is worse. */
	c = unsure(100, 0.5, 0.01);
	x = facts_of(&c);
	expect_cause(&x, VERDICT_FAIL, "unknown",
		     "The host baseline is low, too: 100.0 Gb/s, expected: 190.0.");
	c = unsure(171, 1, 0.03); /* about nine tenths of what is expected */
	x = facts_of(&c);
	expect_cause(
		&x, VERDICT_INCONCLUSIVE, "noise",
		"71 windows), expected: 190.0 (line rate): too noisy to tell whether that is too low");
	c = unsure(175, 1, 0.02);
	c.host.expected_gbps = c.gpu.expected_gbps = 0;
	eval_set_levels(&c, 0.05);
	x = facts_of(&c);
	expect_cause(&x, VERDICT_PASS, "none", "100.0 %");
}

/* As fast as host memory, which is as fast as expected; but less than that of what is expected. */
static void a_little_slower_than_host_memory_that_is_a_little_slow(void **state)
{
	struct eval_cell c = unsure(173, 0.96, 0.005);
	struct verdict_facts x = facts_of(&c);

	(void)state;
	expect_cause(
		&x, VERDICT_WARN, "gpu_low",
		"but 166.1 Gb/s (95 % interval: 165.2 to 166.9 Gb/s; 70 windows), expected: 190.0 "
		"(line rate)");
	expect_cause(&x, VERDICT_WARN, "gpu_low", "Host memory is hardly faster");
}

static void what_was_to_be_expected(void **state)
{
	struct verdict_facts x = healthy();
	struct verdict v = reach(&x);

	(void)state;
	assert_true(fabs(v.expected_gbps - 190) < 1e-9);
	assert_string_equal(v.expected_from, "line rate");
	x.route.peer_ceiling_gbps = 115.2;
	v = reach(&x);
	assert_true(fabs(v.expected_gbps - 110.592) < 1e-9);
	assert_string_equal(v.expected_from, "PCIe");
	x.line_gbps = 0;
	x.route.peer_ceiling_gbps = 0;
	v = reach(&x);
	assert_true(fabs(v.expected_gbps - 0.96 * 460.9) < 1e-9);
	x.route.path.ceiling_write_gbps = 0;
	v = reach(&x);
	assert_true(v.expected_gbps == 0);
	assert_string_equal(v.expected_from, "");
	x.route.peer_ceiling_gbps = 100;
	assert_string_equal(reach(&x).expected_from, "PCIe");
	x.given = true; /* the user knows better than the line rate, not than PCIe */
	x.given_gbps = 97;
	v = reach(&x);
	assert_true(fabs(v.expected_gbps - 96) < 1e-9);
	x.given_gbps = 95;
	v = reach(&x);
	assert_true(v.expected_gbps == 95);
	assert_string_equal(v.expected_from, "--expected-gbps");
	x.given_gbps = 0;
	assert_true(reach(&x).expected_gbps == 0);
}

static void long_and_hostile_texts(void **state)
{
	struct verdict_facts x = healthy();
	struct eval_cell c = stats(&x);
	char text[2048];
	struct verdict v;

	(void)state;
	x.stats = &c;
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	x.route.flush_note = x.wrong_data = text;
	verdict_reach(&x, &v);
	assert_int_equal(strlen(v.line), sizeof(v.line) - 1);
	x.wrong_data = NULL;
	verdict_reach(&x, &v);
	assert_int_equal(strlen(v.next), sizeof(v.next) - 1);
	x.route.flush_note = "\n";
	verdict_reach(&x, &v);
	assert_string_equal(v.next, "?");
	x.wrong_data = "a\033[2J";
	verdict_reach(&x, &v);
	assert_non_null(strstr(v.line, "a?[2J"));
}

static void every_level_has_a_name(void **state)
{
	(void)state;
	assert_string_equal(verdict_level_name(VERDICT_PASS), "PASS");
	assert_string_equal(verdict_level_name(VERDICT_INCONCLUSIVE), "INCONCLUSIVE");
	assert_string_equal(verdict_level_name(VERDICT_NONE), "UNAVAILABLE");
	assert_string_equal(verdict_level_name(99), "UNAVAILABLE");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(as_fast_as_host_memory),
		cmocka_unit_test(the_edges_of_the_levels),
		cmocka_unit_test(wrong_data_is_worse_than_slow),
		cmocka_unit_test(a_transfer_that_failed),
		cmocka_unit_test(no_gpu),
		cmocka_unit_test(no_direct_route),
		cmocka_unit_test(nothing_to_compare),
		cmocka_unit_test(what_else_was_seen),
		cmocka_unit_test(host_memory_itself_is_slow),
		cmocka_unit_test(a_little_slower_than_host_memory_that_is_a_little_slow),
		cmocka_unit_test(what_was_to_be_expected),
		cmocka_unit_test(long_and_hostile_texts),
		cmocka_unit_test(every_level_has_a_name),
	};

	return cmocka_run_group_tests_name("verdict", tests, NULL, NULL);
}
