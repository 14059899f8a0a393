// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* verdict: level, cause, status and words, from windows and facts of both ends that are made up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "gdr_windows.h"

#define NIC "0000:41:00.0"
#define GPU "0000:45:00.0"
#define GEN5                                                           \
	{                                                              \
		.gts = 32, .width = 16, .max_gts = 32, .max_width = 16 \
	}

static struct made m;
static struct gdr_side end[2];
static struct verdict_facts x;
static struct verdict v;

/* GPUs behind one switch at both ends, 200 Gb/s; GPU memory at GBPS of 196. */
static void ends(double gbps)
{
	made_results(&m, 7, 196, gbps, 0);
	for (unsigned i = 0; i < 2; i++) {
		end[i] = (struct gdr_side){
			.gpu = true,
			.gpudirect = true,
			.direct = true,
			.relaxed_ordering = true,
			.ordering = 200,
			.path = {.class = PATH_PIX,
				 .nic = GEN5,
				 .gpu = GEN5,
				 .iommu = "identity",
				 .payload_bytes = 256,
				 .ceiling_write_gbps = 460.9,
				 .ceiling_read_gbps = 467.6},
		};
		strcpy(end[i].path.nic.pci, NIC);
		strcpy(end[i].path.gpu.pci, GPU);
	}
	x = (struct verdict_facts){.attr = &m.attr, .side = {&end[0], &end[1]}, .line_gbps = 200};
}

/* Give every judged cell but the client's NAME the rate of host memory. */
static void only(const char *name)
{
	for (unsigned i = 0; i < m.attr.results; i++)
		if (i != made_cell(&m, name))
			made_windows(&m, i, m.result[i].turns, 196, 0);
}

static void reach(void)
{
	memset(&v, 0xa5, sizeof(v));
	verdict_reach(&x, &v);
	assert_true(strlen(v.line) < sizeof(v.line) && strlen(v.next) < sizeof(v.next));
	assert_memory_equal(v.line, verdict_level_name(v.level),
			    strlen(verdict_level_name(v.level)));
}

/* The verdict has that level, status and cause, and WORD in its line or in what is next. */
static void expect(enum verdict_level level, int exit_status, const char *cause, const char *word)
{
	reach();
	if (v.level != level || v.exit_status != exit_status || strcmp(v.cause, cause) != 0 ||
	    (!strstr(v.line, word) && !strstr(v.next, word)))
		fail_msg("want %d, %d, %s, \"%s\": %d, %d, %s: %s / %s", level, exit_status, cause,
			 word, v.level, v.exit_status, v.cause, v.line, v.next);
}

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
	end[0].direct = end[0].gpudirect = false;
	expect(VERDICT_NONE, 77, "shared_memory", "the GPU of the client shares");
	end[0].gpu = false;
	end[1].gpu = true;
	expect(VERDICT_NONE, 77, "shared_memory", "the GPU of the server shares");
	m.result[0].wrong_bytes = 1;
	expect(VERDICT_FAIL, 5, "data", "wrong data");
	ends(98);
	end[0].integrated = true;
	end[0].direct = false;
	expect(VERDICT_FAIL, 6, "unknown", "GPU");
	end[1].direct = false;
	strcpy(end[1].route, "staged");
	expect(VERDICT_FAIL, 77, "no_route", "staged");
}

static void as_fast_as_host_memory(void **state)
{
	(void)state;
	ends(194);
	reach();
	assert_string_equal(
		v.line, "PASS GPUDirect within 5 % of host memory: GPU to host, client->server: "
			"194.0 Gb/s, 99.0 % of host memory's 196.0 Gb/s (99.4 % interval: 99.0 to "
			"99.0 %; 7 windows)");
	assert_string_equal(v.next, "");
	assert_true(v.ratio.count == 7 && fabs(v.ratio.mean - 194.0 / 196) < 1e-9);
	m.result[made_cell(&m, "read")].verified = false;
	expect(VERDICT_PASS, 0, "none", "(data not verified)");
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
	assert_string_equal(v.cause, "noise");
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
	r = &m.result[made_cell(&m, "gdr")];
	r->wrong_bytes = 3;
	r->checked_bytes = 100;
	r->first_wrong = 40;
	expect(VERDICT_FAIL, 5, "data", "Do not use this route");
	assert_string_equal(v.line,
			    "FAIL wrong data: gdr client->server: 3 of 100 bytes, the first "
			    "at offset 40");
	assert_true(v.ratio.mean == 0 && v.ratio.count == 0 && isinf(v.ratio.high));
	r->wrong_bytes = 0;
	m.result[made_cell(&m, "host")].wrong_bytes = 1;
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
	strcpy(end[1].better_gpu, "GPU 2 (PIX)");
	expect(VERDICT_FAIL, 1, "transfer",
	       "traffic (SYS, IOMMU identity). Try GPU 2 (PIX), iommu");
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
	end[0] = end[1] = (struct gdr_side){.absent = "no driver", .fix = "install it"};
	m.attr.results = 0;
	expect(VERDICT_NONE, 77, "no_gpu",
	       "To measure host memory alone, say for how long (-D 2).");
	assert_string_equal(v.line, "UNAVAILABLE no GPU: both ends: no driver");
	m.attr.results = 1;
	m.result[0].median = 0.0312;
	expect(VERDICT_NONE, 77, "no_gpu", "install it. Host memory reached 0.0312 Gb/s.");
	strcpy(end[1].absent, "none fits");
	expect(VERDICT_NONE, 77, "no_gpu", "no GPU: client: no driver; server: none fits");
}

static void no_direct_route(void **state)
{
	(void)state;
	ends(190);
	end[1].gpu = end[0].direct = false;
	strcpy(end[0].route, "staged; peermem: not loaded");
	strcpy(end[0].fix, "modprobe it");
	m.result[made_cell(&m, "staged-pipe")].median = 98;
	expect(VERDICT_FAIL, 77, "no_route",
	       "modprobe it. Through host memory, --gpu-path staged reaches 98.0 Gb/s. Host memory "
	       "reached 196.0 Gb/s.");
	assert_string_equal(v.line, "FAIL no GPUDirect RDMA: client: staged; peermem: not loaded");
	end[0].gpudirect = false;
	expect(VERDICT_FAIL, 77, "gpu_unsupported", "peermem: not loaded");
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

/* END's GPU leg becomes a link of which ceilings are known. */
static void narrow(struct gdr_side *s, double gts, unsigned width, const char *pci)
{
	s->path.gpu =
		(struct pci_link){.gts = gts, .width = width, .max_gts = gts, .max_width = width};
	strcpy(s->path.gpu.pci, pci);
	s->path.ceiling_write_gbps = pci_link_gbps(&s->path.gpu, 256, false);
	s->path.ceiling_read_gbps = pci_link_gbps(&s->path.gpu, 256, true);
}

static void limited_by_pcie(void **state)
{
	(void)state;
	ends(27.6);
	only("write");
	narrow(&end[1], 8, 4, "0000:43:00.0");
	end[1].path.class = PATH_SYS; /* the link alone explains it */
	expect(VERDICT_FAIL, 6, "pcie_ceiling",
	       "limited by PCIe gen3 x4 at 0000:43:00.0, which carries 28.8 Gb/s of payload; no "
	       "better than a synchronous host copy");
	assert_string_equal(v.next,
			    "Move the card at 0000:43:00.0 to a faster slot. Also: the distance "
			    "from GPU to NIC is SYS (between two NUMA nodes), where half of host "
			    "memory's rate is usual, but not guaranteed. Staging through "
			    "host memory is faster here: 196.0 Gb/s.");
	assert_string_equal(v.expected_from, "PCIe");
	made_windows(&m, made_cell(&m, "write"), 7, 25.8, 0); /* below nine tenths of it */
	expect(VERDICT_FAIL, 6, "distance", "SYS");
	end[1].path.gpu.max_width = 16; /* it trained down, and limits */
	end[1].path.trained_down = true;
	end[1].path.down = end[1].path.gpu;
	made_windows(&m, made_cell(&m, "write"), 7, 27.6, 0);
	expect(VERDICT_FAIL, 6, "pcie_ceiling", "although both of its ends support gen3 x16");
	assert_non_null(strstr(v.next, "Reseat the card at 0000:43:00.0"));
	strcpy(end[1].path.down.pci, NIC); /* another one trained down */
	expect(VERDICT_FAIL, 6, "pcie_ceiling",
	       "Also: a PCIe link trained down to gen3 x4 at " NIC);
	/* What the client reads, completions carry; of both ends the slower one is the limit. */
	ends(29);
	only("gdr");
	narrow(&end[0], 8, 4, GPU);
	narrow(&end[1], 32, 4, GPU);
	expect(VERDICT_FAIL, 6, "pcie_ceiling", "29.2 Gb/s of payload");
	end[0].path.nic = end[0].path.gpu; /* the NIC's leg is the slower one */
	strcpy(end[0].path.nic.pci, NIC);
	end[0].path.gpu = (struct pci_link)GEN5;
	expect(VERDICT_FAIL, 6, "pcie_ceiling", "gen3 x4 at " NIC);
}

/* One after the other is mended: the causes come in order. */
static void the_first_that_fits(void **state)
{
	(void)state;
	ends(160);
	only("read");
	end[0].path.class = PATH_NODE;
	end[0].path.iommu_translates = true;
	strcpy(end[0].path.iommu, "DMA-FQ");
	end[0].path.trained_down = true;
	end[0].path.down = end[0].path.nic;
	end[0].path.down.gts = 16;
	end[0].relaxed_ordering = false;
	expect(VERDICT_WARN, 0, "distance", "No GPU here is nearer to this NIC");
	strcpy(end[0].better_gpu, "GPU 2 (PIX)");
	expect(VERDICT_WARN, 0, "distance", "Try GPU 2 (PIX). Also: the IOMMU translates");
	end[0].path.virtual_machine = true; /* where distance is none */
	expect(VERDICT_WARN, 0, "iommu", "requests (DMA-FQ), which");
	end[0].path.class = PATH_PXB;
	end[0].path.iommu_translates = false;
	expect(VERDICT_WARN, 0, "trained_down",
	       "a PCIe link trained down to gen4 x16 at " NIC ", although both of its ends support "
	       "gen5 x16");
	end[0].path.trained_down = false;
	expect(VERDICT_WARN, 0, "relaxed_ordering", "Run without --disable_pcie_relaxed");
	end[0].relaxed_ordering = true;
	expect(VERDICT_WARN, 0, "unknown", "virtual machine: the PCIe distance has no meaning");
	end[0].path.virtual_machine = false;
	expect(VERDICT_WARN, 0, "unknown", "no cause was found (PXB: ");
	/* Of two GPUs, the farther one; the other end is no matter where it has none in the cell.
	 */
	end[1].path.class = PATH_SYS;
	expect(VERDICT_WARN, 0, "unknown", "PXB");
	ends(160);
	only("gdr");
	end[1].path.class = PATH_SYS;
	expect(VERDICT_WARN, 0, "distance", "SYS");
}

static void what_else_was_seen(void **state)
{
	const unsigned has[2] = {MADE_HAS | 1u << GDR_PEERMEM, MADE_HAS};
	static struct findings events;
	struct finding *f;

	(void)state;
	ends(60);
	expect(VERDICT_FAIL, 6, "unknown", "Staging through host memory is faster here: 196.0");
	f = finding_add(&events,
			&(struct finding_facts){.code = FINDING_PAUSED, .level = FINDING_WARN});
	x.events = &events;
	expect(VERDICT_FAIL, 6, "unknown", "Also: the ?'s port was stopped for ? of the run");
	f->is.level = FINDING_NOTE;
	reach();
	assert_null(strstr(v.next, "was stopped"));
	ends(196);
	end[1].ordering = 0;
	end[1].flush_us = 2.1;
	made_windows(&m, made_cell(&m, "write"), 7, 195, 0);
	expect(VERDICT_PASS, 0, "none", "its kernels must flush (2.10 us).");
	m.attr.results = gdr_results(m.result, has, 65536, 1 << 20);
	for (unsigned i = 0; i < m.attr.results; i++) {
		m.result[i].gbps = m.gbps[i];
		made_windows(&m, i, 7, m.result[i].cell.from == GDR_PEERMEM ? 220 : 194, 0);
	}
	expect(VERDICT_PASS, 0, "none",
	       "Another route is faster: --gpu-path peermem reaches 220.0");
}

static void host_memory(void **state)
{
	(void)state;
	ends(0);
	made_results(&m, 20, 100, 100, 0.01);
	for (unsigned i = 0; i < m.attr.results; i++)
		m.result[i].expected_gbps = 190;
	expect(VERDICT_WARN, 0, "host_low", "expected: 190.0 (line rate); GPU memory reaches ");
	x.within_given = true;
	expect(VERDICT_WARN, 6, "host_low", "the GPU is not the cause");
	for (unsigned i = 0; i < m.attr.results; i++)
		if (gdr_cell_is_direct(&m.result[i].cell))
			made_windows(&m, i, 20, 50, 0.01);
	expect(VERDICT_FAIL, 6, "unknown", "The host baseline is low, too: ");
	/* That host memory is slow is sure; how much slower GPU memory is, is not. */
	for (unsigned i = 0; i < m.attr.results; i++)
		if (gdr_cell_is_direct(&m.result[i].cell))
			made_windows(&m, i, 7, 90, 0.5);
	expect(VERDICT_INCONCLUSIVE, 77, "noise", "too noisy to tell whether that is within 5 %");
	made_results(&m, 20, 160, 160, 0.01);
	for (unsigned i = 0; i < m.attr.results; i++) {
		m.result[i].expected_gbps = 190;
		for (unsigned t = 0; t < 20; t++)
			m.gbps[i][t] *= t % 2 ? 1.2 : 0.7;
	}
	expect(VERDICT_INCONCLUSIVE, 77, "host_groups", "10 of 20 at 11");
	for (unsigned i = 0; i < m.attr.results; i++)
		m.result[i].expected_gbps = 0;
	expect(VERDICT_PASS, 0, "none", "The host baseline is not steady: host memory's windows");
}

static void windows_at_two_rates(void **state)
{
	double *gbps;

	(void)state;
	ends(0);
	made_results(&m, 36, 196, 196, 0.01);
	gbps = m.gbps[made_cell(&m, "read")];
	for (unsigned t = 0; t < 36; t++)
		gbps[t] *= t % 2 ? 0.5 : 1;
	expect(VERDICT_WARN, 0, "two_groups", "its windows fall into two groups: 18 of 36 at ");
	for (unsigned t = 0; t < 36; t++)
		gbps[t] *= 0.5;
	expect(VERDICT_FAIL, 6, "unknown", "Also: its windows fall into two groups: 18 of 36 at ");
}

static void what_was_to_be_expected(void **state)
{
	const char *from;
	const struct gdr_cell write = {.into = GDR_DMABUF}, host = {0};

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
	memset(end[0].route, 'x', sizeof(end[0].route) - 1);
	memset(end[0].fix, 'x', sizeof(end[0].fix) - 1);
	memcpy(end[0].route, "a\033[2J", 5);
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
		cmocka_unit_test(limited_by_pcie),
		cmocka_unit_test(the_first_that_fits),
		cmocka_unit_test(what_else_was_seen),
		cmocka_unit_test(host_memory),
		cmocka_unit_test(windows_at_two_rates),
		cmocka_unit_test(what_was_to_be_expected),
		cmocka_unit_test(hostile_texts),
		cmocka_unit_test(every_level_has_a_name),
	};

	return cmocka_run_group_tests_name("verdict", tests, NULL, NULL);
}
