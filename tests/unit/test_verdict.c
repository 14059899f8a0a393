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
	       "PASS GPUDirect within 5 % of host memory: GPU to GPU, a -> b: 194.0 Gb/s, 99.0 % of "
	       "host memory's 196.0 Gb/s",
	       "");
	x.verified = false;
	x.cell = VERDICT_READ;
	x.direction = NULL;
	x.within = 0.025;
	expect(&x, 0, "none",
	       "PASS GPUDirect within 2.5 % of host memory: GPU to host: 194.0 Gb/s, 99.0 % of host "
	       "memory's 196.0 Gb/s (data not verified)",
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
	       "FAIL wrong data: GPU to GPU, a -> b: first wrong byte at 4096",
	       "Do not use this route, however fast it is. Compare --gpu-path dmabuf, peermem and "
	       "staged, and look for newer GPU drivers and NIC firmware.");
}

static void a_transfer_that_failed(void **state)
{
	struct verdict_facts x = healthy();

	(void)state;
	x.cell = VERDICT_WRITE;
	x.wc_status = "remote operation error";
	x.wc_vendor = 0x51;
	x.path.class = PATH_SYS;
	x.better_gpu = "GPU 2 (PIX)";
	expect(&x, 1, "transfer",
	       "FAIL host to GPU, a -> b: the transfer failed: remote operation error, vendor error "
	       "0x51",
	       "The memory was registered, but the NIC could not reach it: the way between them lets "
	       "no peer-to-peer traffic through (SYS, IOMMU identity). Try GPU 2 (PIX), iommu=pt, ACS "
	       "off on the bridges between them; --gpu-path staged works without.");
	x.wc_vendor = 0;
	x.better_gpu = NULL;
	x.path.iommu[0] = '\0';
	expect_cause(&x, VERDICT_FAIL, "transfer", "through (SYS). Try iommu=pt");
	x.path.virtual_machine = true;
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
	x.host_gbps = 0;
	expect(&x, 0, "not_measured", "UNAVAILABLE no verdict: host memory was not measured", "");
	x.gbps = 0;
	expect(&x, 0, "not_measured", "UNAVAILABLE no verdict: GPU memory was not measured", "");
	x.host_gbps = 100;
	expect(&x, 0, "not_measured", "UNAVAILABLE no verdict: GPU memory was not measured", "");
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
	x.line_gbps = 400;
	expect(&x, 0, "none",
	       "PASS GPUDirect within 5 % of host memory: GPU to GPU, a -> b: 194.0 Gb/s, 99.0 % of "
	       "host memory's 196.0 Gb/s",
	       "The host baseline is low, too: 196.0 of 400.0 Gb/s (49.0 %).");
	x.flush_note = "Each batch needs a flush of 2.1 us.";
	expect_cause(&x, VERDICT_PASS, "none", "(49.0 %). Each batch needs a flush of 2.1 us.");
	x.line_gbps = 196 / 0.9;
	expect_cause(&x, VERDICT_PASS, "none", "Each batch");
	assert_null(strstr(reach(&x).next, "baseline"));
}

static void what_was_to_be_expected(void **state)
{
	struct verdict_facts x = healthy();
	struct verdict v = reach(&x);

	(void)state;
	assert_true(fabs(v.expected_gbps - 190) < 1e-9);
	assert_string_equal(v.expected_from, "line rate");
	x.peer_ceiling_gbps = 115.2;
	v = reach(&x);
	assert_true(fabs(v.expected_gbps - 110.592) < 1e-9);
	assert_string_equal(v.expected_from, "PCIe");
	x.line_gbps = 0;
	x.peer_ceiling_gbps = 0;
	v = reach(&x);
	assert_true(fabs(v.expected_gbps - 0.96 * 460.9) < 1e-9);
	x.path.ceiling_write_gbps = 0;
	v = reach(&x);
	assert_true(v.expected_gbps == 0);
	assert_string_equal(v.expected_from, "");
	x.peer_ceiling_gbps = 100;
	assert_string_equal(reach(&x).expected_from, "PCIe");
}

static void long_and_hostile_texts(void **state)
{
	struct verdict_facts x = healthy();
	char text[2048];
	struct verdict v;

	(void)state;
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	x.flush_note = x.wrong_data = text;
	verdict_reach(&x, &v);
	assert_int_equal(strlen(v.line), sizeof(v.line) - 1);
	x.wrong_data = NULL;
	verdict_reach(&x, &v);
	assert_int_equal(strlen(v.next), sizeof(v.next) - 1);
	x.direction = "a\033[2J -> b";
	x.flush_note = "\n";
	verdict_reach(&x, &v);
	assert_non_null(strstr(v.line, "a?[2J -> b"));
	assert_string_equal(v.next, "?");
}

static void every_level_and_cell_has_a_name(void **state)
{
	(void)state;
	assert_string_equal(verdict_level_name(VERDICT_PASS), "PASS");
	assert_string_equal(verdict_level_name(VERDICT_NONE), "UNAVAILABLE");
	assert_string_equal(verdict_level_name(99), "UNAVAILABLE");
	assert_string_equal(verdict_cell_words(VERDICT_READ), "GPU to host");
	assert_string_equal(verdict_cell_words(VERDICT_WRITE), "host to GPU");
	assert_string_equal(verdict_cell_words(99), "GPU to GPU");
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
		cmocka_unit_test(what_was_to_be_expected),
		cmocka_unit_test(long_and_hostile_texts),
		cmocka_unit_test(every_level_and_cell_has_a_name),
	};

	return cmocka_run_group_tests_name("verdict", tests, NULL, NULL);
}
