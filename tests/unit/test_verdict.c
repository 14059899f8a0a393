// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* verdict: level, status and words, from windows and facts of both ends that are made up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "verdict_ends.h"

/*
 * There is no GPUDirect to judge, with or without a direct route. Wrong data are a fault all the
 * same, and a discrete GPU at the other end is judged.
 */
static void integrated_gpus(void **state)
{
	(void)state;
	ends(98);
	end[0].integrated = end[1].integrated = true;
	expect(VERDICT_NONE, 0, "shared_memory", "the GPU of both ends shares the host's memory");
	assert_true(v.ratio.mean > 0 && v.ratio.mean < 0.6);
	assert_non_null(strstr(v.line, "50.0 % of host memory"));
	x.within_given = true;
	expect(VERDICT_NONE, 77, "shared_memory", "no GPUDirect to judge");
	end[1].gpu = false;
	end[0].direct = false;
	expect(VERDICT_NONE, 77, "shared_memory", "the GPU of the client shares");
	end[0].gpu = false;
	end[1].gpu = true;
	expect(VERDICT_NONE, 77, "shared_memory", "the GPU of the server shares");
	x.wrong = &m.result[0];
	expect(VERDICT_FAIL, 5, "data", "wrong data");
	ends(98);
	end[0].integrated = true;
	end[0].direct = false;
	expect(VERDICT_FAIL, 6, "unknown", "GPU");
	end[1].direct = false;
	strcpy(end[1].reason, "not peermem");
	expect(VERDICT_FAIL, 77, "no_route", "not peermem");
}

static void as_fast_as_host_memory(void **state)
{
	(void)state;
	ends(194);
	reach();
	assert_string_equal(
		v.line, "PASS GPUDirect within 5 % of host memory: GPU to host, client->server: "
			"194.0 Gb/s, 99.0 % of host memory's 196.0 Gb/s (means; 99.3 % interval: 99.0 to "
			"99.0 %; 7 windows)");
	assert_string_equal(v.next, "");
	assert_true(v.ratio.count == 7 && fabs(v.ratio.mean - 194.0 / 196) < 1e-9);
}

static void the_statuses(void **state)
{
	static const struct {
		double gbps, spread;
		enum verdict_level level;
		int exit_status, exit_if_given;
	} row[] = {
		{196, 0, VERDICT_PASS, 0, 0},
		{170, 0, VERDICT_WARN, 0, 6},
		{150, 0, VERDICT_FAIL, 6, 6},
		{196, 0.4, VERDICT_INCONCLUSIVE, 0, 77},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		ends(0);
		made_results(&m, 7, 196, row[i].gbps, row[i].spread);
		reach();
		assert_int_equal(v.level, row[i].level);
		assert_int_equal(v.exit_status, row[i].exit_status);
		x.within_given = true;
		reach();
		assert_int_equal(v.exit_status, row[i].exit_if_given);
	}
	/* Who looks for these words must not find them where it is open. */
	assert_true(!strstr(v.line, "PASS") && !strstr(v.line, "FAIL"));
	assert_int_equal(v.cause, VERDICT_NOISE);
	made_results(&m, 1, 196, 196, 0);
	expect(VERDICT_INCONCLUSIVE, 77, "noise", "(1 window: no interval)");
}

static void wrong_data_is_worse_than_slow(void **state)
{
	struct gdr_result *r;

	(void)state;
	ends(20);
	x.failed = &m.result[1];
	x.wc_status = "remote access error";
	x.wrong = r = &m.result[made_cell(&m, "gdr")];
	r->wrong_bytes = 3;
	r->checked_bytes = 100;
	r->first_wrong = 40;
	expect(VERDICT_FAIL, 5, "data", "Do not use this route");
	assert_string_equal(v.line,
			    "FAIL wrong data: gdr client->server: 3 of 100 bytes, the first "
			    "at offset 40");
	assert_true(v.ratio.mean == 0 && v.ratio.count == 0 && isinf(v.ratio.high));
	x.wrong = &m.result[made_cell(&m, "host")];
	expect(VERDICT_FAIL, 5, "data", "No NIC accesses GPU memory in this cell");
}

static void a_transfer_that_failed(void **state)
{
	(void)state;
	ends(190);
	x.failed = &m.result[made_cell(&m, "write")];
	x.wc_status = "remote operation error";
	x.wc_vendor = 0x51;
	end[1].path.class = PATH_SYS;
	expect(VERDICT_FAIL, 1, "transfer", "traffic (SYS, IOMMU identity). Try iommu");
	assert_string_equal(v.line, "FAIL host to GPU, client->server: the transfer failed: remote "
				    "operation error, vendor error 0x51");
	end[1].path.virtual_machine = true;
	x.wc_vendor = 0;
	expect(VERDICT_FAIL, 1, "transfer", "(virtual machine)");
	assert_null(strstr(v.line, "vendor"));
}

static void no_gpu(void **state)
{
	(void)state;
	ends(190);
	end[0] = end[1] = (struct gdr_side){.reason = "no driver", .fix = "install it"};
	m.attr.results = 0;
	expect(VERDICT_NONE, 77, "no_gpu",
	       "To measure host memory alone, say for how long (-D 2).");
	assert_string_equal(v.line, "UNAVAILABLE no GPU: both ends: no driver");
	m.attr.results = 1;
	m.result[0].median = 0.0312;
	expect(VERDICT_NONE, 77, "no_gpu", "install it. Host memory reached 0.0312 Gb/s.");
	strcpy(end[1].reason, "none fits");
	expect(VERDICT_NONE, 77, "no_gpu", "no GPU: client: no driver; server: none fits");
}

static void no_direct_route(void **state)
{
	(void)state;
	ends(190);
	end[1].gpu = end[0].direct = false;
	strcpy(end[0].reason, "not peermem: not loaded");
	strcpy(end[0].fix, "modprobe it");
	m.result[made_cell(&m, "staged")].median = 88.12;
	expect(VERDICT_FAIL, 77, "no_route",
	       "modprobe it. Copies through host memory reached 88.1 Gb/s. Host memory reached 196.0");
	assert_string_equal(v.line, "FAIL no GPUDirect RDMA: client: not peermem: not loaded");
}

static void nothing_to_compare(void **state)
{
	(void)state;
	ends(190);
	m.result[made_cell(&m, "gdr")].windows = 0;
	expect(VERDICT_NONE, 77, "not_measured", "no verdict: the run did not finish");
	m.attr.results = 1;
	expect(VERDICT_NONE, 77, "not_measured", "no verdict: GPU memory was not measured");
}

static void what_was_to_be_expected(void **state)
{
	const char *from;
	const struct gdr_cell write = {.into_gpu = true}, host = {0};

	(void)state;
	ends(196);
	assert_true(fabs(verdict_expect(&x, &write, &from) - 190) < 1e-9);
	assert_string_equal(from, "line rate");
	end[1].path.ceiling_write_gbps = 115.2;
	assert_true(fabs(verdict_expect(&x, &write, &from) - 110.592) < 1e-9);
	assert_string_equal(from, "PCIe");
	assert_true(verdict_expect(&x, NULL, &from) == 190);
	end[0].path.nic.width = 4; /* of host memory: the NICs' own links */
	assert_true(fabs(verdict_expect(&x, &host, &from) - 0.96 * 115.2) < 0.1);
	x.given = true; /* the user knows better than the line rate, not than PCIe */
	x.given_gbps = 130;
	assert_true(fabs(verdict_expect(&x, &write, &from) - 110.592) < 1e-9);
	x.given_gbps = 95;
	assert_true(verdict_expect(&x, &write, &from) == 95);
	assert_string_equal(from, "--expected-gbps");
	x.given_gbps = 0;
	assert_true(verdict_expect(&x, &write, &from) == 0);
	x.given = false;
	x.line_gbps = end[1].path.ceiling_write_gbps = 0;
	assert_true(verdict_expect(&x, &write, &from) == 0);
	assert_string_equal(from, "");
}

static void hostile_texts(void **state)
{
	(void)state;
	ends(196);
	end[1].gpu = end[0].direct = false;
	memset(end[0].reason, 'x', sizeof(end[0].reason) - 1);
	memset(end[0].fix, 'x', sizeof(end[0].fix) - 1);
	memcpy(end[0].reason, "a\033[2J", 5);
	memcpy(end[0].fix, "\n", 1);
	expect(VERDICT_FAIL, 77, "no_route", "a?[2J");
	assert_memory_equal(v.next, "?x", 2);
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
		cmocka_unit_test(integrated_gpus),
		cmocka_unit_test(as_fast_as_host_memory),
		cmocka_unit_test(the_statuses),
		cmocka_unit_test(wrong_data_is_worse_than_slow),
		cmocka_unit_test(a_transfer_that_failed),
		cmocka_unit_test(no_gpu),
		cmocka_unit_test(no_direct_route),
		cmocka_unit_test(nothing_to_compare),
		cmocka_unit_test(what_was_to_be_expected),
		cmocka_unit_test(hostile_texts),
		cmocka_unit_test(every_level_has_a_name),
	};

	return cmocka_run_group_tests_name("verdict", tests, NULL, NULL);
}
