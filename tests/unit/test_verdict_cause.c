// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* verdict: what may be the cause, word for word, and which comes first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "verdict_facts.h"

/* Path P's GPU leg becomes a link of which ceilings are known. */
static void narrow(struct path *p, double gts, unsigned width, const char *pci)
{
	p->gpu = (struct pci_link){.gts = gts, .width = width, .max_gts = gts, .max_width = width};
	strcpy(p->gpu.pci, pci);
	p->ceiling_write_gbps = pci_link_gbps(&p->gpu, 256, false);
	p->ceiling_read_gbps = pci_link_gbps(&p->gpu, 256, true);
}

static void limited_by_pcie(void **state)
{
	struct verdict_facts x = slow(27.6);

	(void)state;
	narrow(&x.route.path, 8, 4, "0000:43:00.0");
	x.route.path.class = PATH_SYS; /* the link alone explains it */
	expect(&x, 6, "pcie_ceiling",
	       "FAIL GPU to GPU, client->server: 27.6 Gb/s, 14.1 % of host memory's 196.0 Gb/s: "
	       "limited by PCIe gen3 x4 at 0000:43:00.0, which carries 28.8 Gb/s of payload; no "
	       "better than a synchronous host copy",
	       "Move the card at 0000:43:00.0 to a faster slot. Also: the distance from GPU to NIC "
	       "is SYS (between two NUMA nodes), where half of host memory's rate is usual, but "
	       "not guaranteed.");
	x.gbps = 0.9 * x.route.path.ceiling_write_gbps;
	expect_cause(&x, VERDICT_FAIL, "pcie_ceiling", "gen3 x4");
	x.gbps -= 0.1;
	expect_cause(&x, VERDICT_FAIL, "distance", "SYS");
	x.cell = &reading; /* completions have less overhead: another ceiling */
	x.gbps = 0.9 * x.route.path.ceiling_read_gbps;
	expect_cause(&x, VERDICT_FAIL, "pcie_ceiling", "29.2 Gb/s of payload");
}

static void limited_by_a_link_that_trained_down(void **state)
{
	struct verdict_facts x = slow(110);

	(void)state;
	narrow(&x.route.path, 32, 4, GPU);
	x.route.path.gpu.max_width = 16;
	x.route.path.trained_down = true;
	x.route.path.down = x.route.path.gpu;
	expect(&x, 6, "pcie_ceiling",
	       "FAIL GPU to GPU, client->server: 110.0 Gb/s, 56.1 % of host memory's 196.0 Gb/s: "
	       "limited by PCIe gen5 x4 at 0000:45:00.0, which carries 115.2 Gb/s of payload, "
	       "although both of its ends support gen5 x16",
	       "Reseat the card at 0000:45:00.0, and check its riser, the slot's speed in the "
	       "firmware setup, and `dmesg` for PCIe errors.");
	/* Another link trained down: that is no longer the same thing. */
	strcpy(x.route.path.down.pci, NIC);
	expect_cause(&x, VERDICT_FAIL, "pcie_ceiling", "Move the card at " GPU " to a faster slot");
	expect_cause(&x, VERDICT_FAIL, "pcie_ceiling", "Also: a PCIe link trained down to gen5 x4");
}

static void the_nics_leg_may_be_the_slower(void **state)
{
	struct verdict_facts x = slow(110);

	(void)state;
	narrow(&x.route.path, 32, 4, NIC);
	x.route.path.nic = x.route.path.gpu;
	x.route.path.gpu = (struct pci_link){.gts = 0};
	expect_cause(&x, VERDICT_FAIL, "pcie_ceiling", "gen5 x4 at " NIC);
	x.route.path.gpu = (struct pci_link)GEN5;
	expect_cause(&x, VERDICT_FAIL, "pcie_ceiling", "gen5 x4 at " NIC);
}

static void too_far(void **state)
{
	struct verdict_facts x = slow(88);

	(void)state;
	x.route.path.class = PATH_SYS;
	x.route.better_gpu = "GPU 2 (PIX)";
	expect(&x, 6, "distance",
	       "FAIL GPU to GPU, client->server: 88.0 Gb/s, 44.9 % of host memory's 196.0 Gb/s: "
	       "the distance from GPU to NIC is SYS (between two NUMA nodes), where half of host "
	       "memory's rate is usual, but not guaranteed",
	       "Try GPU 2 (PIX).");
	x.route.path.class = PATH_NODE;
	x.route.better_gpu = NULL;
	x.gbps = 160;
	expect(&x, 0, "distance",
	       "WARN GPU to GPU, client->server: 160.0 Gb/s, 81.6 % of host memory's 196.0 Gb/s: "
	       "the distance from GPU to NIC is NODE (between two PCIe host bridges of one NUMA "
	       "node), where 80 % or more is usual",
	       "No GPU here is nearer to this NIC; try another NIC, or move one card so that both "
	       "are under one PCIe switch.");
	x.route.path.class = PATH_PHB;
	expect_cause(&x, VERDICT_WARN, "distance", "the distance from GPU to NIC is PHB");
	x.route.path.class = PATH_PXB;
	expect_cause(&x, VERDICT_WARN, "unknown", "PXB");
	x.route.path.class = PATH_UNKNOWN;
	expect_cause(&x, VERDICT_WARN, "unknown", "unknown");
}

static void translated(void **state)
{
	struct verdict_facts x = slow(150);

	(void)state;
	strcpy(x.route.path.iommu, "DMA-FQ");
	x.route.path.iommu_translates = true;
	expect(&x, 6, "iommu",
	       "FAIL GPU to GPU, client->server: 150.0 Gb/s, 76.5 % of host memory's 196.0 Gb/s: "
	       "the IOMMU translates the NIC's requests (DMA-FQ), which sends them through the "
	       "root port",
	       "Boot with iommu=pt (pass-through) and compare.");
}

static void trained_down_but_not_the_limit(void **state)
{
	struct verdict_facts x = slow(150);

	(void)state;
	x.route.path.trained_down = true;
	x.route.path.down = x.route.path.nic;
	x.route.path.down.gts = 16;
	expect(&x, 6, "trained_down",
	       "FAIL GPU to GPU, client->server: 150.0 Gb/s, 76.5 % of host memory's 196.0 Gb/s: a "
	       "PCIe link trained down to gen4 x16 at 0000:41:00.0, although both of its ends support "
	       "gen5 x16",
	       "Reseat the card at 0000:41:00.0, and check its riser, the slot's speed in the "
	       "firmware setup, and `dmesg` for PCIe errors.");
}

static void strictly_ordered(void **state)
{
	struct verdict_facts x = slow(150);

	(void)state;
	x.route.relaxed_ordering = false;
	expect(&x, 6, "relaxed_ordering",
	       "FAIL GPU to GPU, client->server: 150.0 Gb/s, 76.5 % of host memory's 196.0 Gb/s: "
	       "PCIe relaxed ordering is off",
	       "Run without --disable_pcie_relaxed, and check the firmware's setting.");
}

static void no_cause_found(void **state)
{
	struct verdict_facts x = slow(150);

	(void)state;
	expect(&x, 6, "unknown",
	       "FAIL GPU to GPU, client->server: 150.0 Gb/s, 76.5 % of host memory's 196.0 Gb/s: "
	       "no cause was found (PIX: through one PCIe switch at most)",
	       "Compare the routes (--gpu-path dmabuf, then peermem), check whether ACS redirects "
	       "requests (`lspci -vvv`, ACSCtl ReqRedir+ on the bridges between them), and try larger "
	       "messages (-s) and more QPs (-q).");
}

static void distance_is_no_cause_in_a_virtual_machine(void **state)
{
	struct verdict_facts x = slow(150);

	(void)state;
	x.route.path.class = PATH_PHB;
	x.route.path.virtual_machine = true;
	expect(&x, 6, "unknown",
	       "FAIL GPU to GPU, client->server: 150.0 Gb/s, 76.5 % of host memory's 196.0 Gb/s: "
	       "no cause was found; in a virtual machine, the PCIe distance has no meaning",
	       "Compare the routes (--gpu-path dmabuf, then peermem), ask the provider which GPU "
	       "and NIC belong together, and try larger messages (-s) and more QPs (-q).");
	x.route.path.iommu_translates = true;
	expect_cause(&x, VERDICT_FAIL, "iommu", "iommu=pt");
}

/* One after the other is mended: the causes come in order. */
static void the_first_that_fits(void **state)
{
	struct verdict_facts x = slow(27.6);

	(void)state;
	narrow(&x.route.path, 8, 4, GPU);
	x.route.path.class = PATH_NODE;
	x.route.path.iommu_translates = true;
	x.route.path.trained_down = true;
	x.route.path.down = x.route.path.nic;
	x.route.relaxed_ordering = false;
	expect_cause(&x, VERDICT_FAIL, "pcie_ceiling", "Also: PCIe relaxed ordering is off.");
	x.route.path.ceiling_write_gbps = 400;
	expect_cause(&x, VERDICT_FAIL, "distance", "Also: the IOMMU translates");
	x.route.path.class = PATH_PIX;
	expect_cause(&x, VERDICT_FAIL, "iommu", "Also: a PCIe link trained down");
	x.route.path.iommu_translates = false;
	expect_cause(&x, VERDICT_FAIL, "trained_down", "Also: PCIe relaxed");
	x.route.path.trained_down = false;
	expect_cause(&x, VERDICT_FAIL, "relaxed_ordering", "Run without");
	x.route.relaxed_ordering = true;
	expect_cause(&x, VERDICT_FAIL, "unknown", "no better than a synchronous host copy");
	x.gbps = 0.41 * x.host_gbps;
	assert_null(strstr(reach(&x).line, "synchronous"));
}

/* What happened at the ports is told beside the cause: host memory ran in the same turns. */
static void what_happened_at_the_ports(void **state)
{
	struct verdict_facts x = slow(110);
	struct findings events = {0};
	struct finding *f = finding_add(
		&events, &(struct finding_facts){.code = FINDING_PAUSED,
						    .level = FINDING_WARN,
						    .value = {FINDING_WORD("own", "")}});

	(void)state;
	x.events = &events;
	x.route.path.class = PATH_SYS;
	expect_cause(&x, VERDICT_FAIL, "distance", "Also: the ?'s port was stopped for ? of the run.");
	f->is.level = FINDING_NOTE;
	assert_null(strstr(reach(&x).next, "stopped"));
	x = healthy();
	x.events = &events;
	f->is.level = FINDING_FAULT;
	expect_cause(&x, VERDICT_PASS, "none", "Also: the ?'s port was stopped for ? of the run.");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(limited_by_pcie),
		cmocka_unit_test(limited_by_a_link_that_trained_down),
		cmocka_unit_test(the_nics_leg_may_be_the_slower),
		cmocka_unit_test(too_far),
		cmocka_unit_test(translated),
		cmocka_unit_test(trained_down_but_not_the_limit),
		cmocka_unit_test(strictly_ordered),
		cmocka_unit_test(no_cause_found),
		cmocka_unit_test(distance_is_no_cause_in_a_virtual_machine),
		cmocka_unit_test(the_first_that_fits),
		cmocka_unit_test(what_happened_at_the_ports),
	};

	return cmocka_run_group_tests_name("verdict_cause", tests, NULL, NULL);
}
