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
	p->gpu = (struct path_link){.gts = gts, .width = width, .max_gts = gts, .max_width = width};
	strcpy(p->gpu.pci, pci);
	p->ceiling_write_gbps = path_link_gbps(&p->gpu, 256, false);
	p->ceiling_read_gbps = path_link_gbps(&p->gpu, 256, true);
}

static void limited_by_pcie(void **state)
{
	struct verdict_facts x = slow(27.6);

	(void)state;
	narrow(&x.path, 8, 4, "0000:43:00.0");
	x.path.class = PATH_SYS; /* the link alone explains it */
	expect(&x, 6, "pcie_ceiling",
	       "FAIL GPU to GPU, a -> b: 27.6 Gb/s, 14.1 % of host memory's 196.0 Gb/s: limited by "
	       "PCIe gen3 x4 at 0000:43:00.0, which carries 28.8 Gb/s of payload; no better than a "
	       "synchronous host copy",
	       "A faster slot for the card at 0000:43:00.0 is what would help. Also: GPU is SYS from "
	       "NIC (between two NUMA nodes), where half of host memory's rate is usual and nothing "
	       "is promised.");
	x.gbps = 0.9 * x.path.ceiling_write_gbps;
	expect_cause(&x, VERDICT_FAIL, "pcie_ceiling", "gen3 x4");
	x.gbps -= 0.1;
	expect_cause(&x, VERDICT_FAIL, "distance", "SYS");
	x.cell = VERDICT_READ; /* completions have less overhead: another ceiling */
	x.gbps = 0.9 * x.path.ceiling_read_gbps;
	expect_cause(&x, VERDICT_FAIL, "pcie_ceiling", "29.2 Gb/s of payload");
}

static void limited_by_a_link_that_trained_down(void **state)
{
	struct verdict_facts x = slow(110);

	(void)state;
	narrow(&x.path, 32, 4, GPU);
	x.path.gpu.max_width = 16;
	x.path.trained_down = true;
	x.path.down = x.path.gpu;
	expect(&x, 6, "pcie_ceiling",
	       "FAIL GPU to GPU, a -> b: 110.0 Gb/s, 56.1 % of host memory's 196.0 Gb/s: limited by "
	       "PCIe gen5 x4 at 0000:45:00.0, which carries 115.2 Gb/s of payload, though both of "
	       "its ends can do gen5 x16",
	       "Reseat the card at 0000:45:00.0, look at its riser and at the slot's speed in the "
	       "firmware setup, and at `dmesg` for PCIe errors.");
	/* Another link trained down: that is no longer the same thing. */
	strcpy(x.path.down.pci, NIC);
	expect_cause(&x, VERDICT_FAIL, "pcie_ceiling", "A faster slot for the card at " GPU);
	expect_cause(&x, VERDICT_FAIL, "pcie_ceiling", "Also: a PCIe link trained down to gen5 x4");
}

static void the_nics_leg_may_be_the_slower(void **state)
{
	struct verdict_facts x = slow(110);

	(void)state;
	narrow(&x.path, 32, 4, NIC);
	x.path.nic = x.path.gpu;
	x.path.gpu = (struct path_link){.gts = 0};
	expect_cause(&x, VERDICT_FAIL, "pcie_ceiling", "gen5 x4 at " NIC);
	x.path.gpu = (struct path_link)GEN5;
	expect_cause(&x, VERDICT_FAIL, "pcie_ceiling", "gen5 x4 at " NIC);
}

static void too_far(void **state)
{
	struct verdict_facts x = slow(88);

	(void)state;
	x.path.class = PATH_SYS;
	x.better_gpu = "GPU 2 (PIX)";
	expect(&x, 6, "distance",
	       "FAIL GPU to GPU, a -> b: 88.0 Gb/s, 44.9 % of host memory's 196.0 Gb/s: GPU is SYS "
	       "from NIC (between two NUMA nodes), where half of host memory's rate is usual and "
	       "nothing is promised",
	       "Try GPU 2 (PIX).");
	x.path.class = PATH_NODE;
	x.better_gpu = NULL;
	x.gbps = 160;
	expect(&x, 0, "distance",
	       "WARN GPU to GPU, a -> b: 160.0 Gb/s, 81.6 % of host memory's 196.0 Gb/s: GPU is NODE "
	       "from NIC (between two PCIe host bridges of one NUMA node), where 80 % and more is "
	       "usual",
	       "No GPU here is nearer to this NIC; try another NIC, or move one card so that both are "
	       "behind one PCIe switch.");
	x.path.class = PATH_PHB;
	expect_cause(&x, VERDICT_WARN, "distance", "GPU is PHB from NIC");
	x.path.class = PATH_PXB;
	expect_cause(&x, VERDICT_WARN, "unknown", "PXB");
	x.path.class = PATH_UNKNOWN;
	expect_cause(&x, VERDICT_WARN, "unknown", "not known how far");
}

static void translated(void **state)
{
	struct verdict_facts x = slow(150);

	(void)state;
	strcpy(x.path.iommu, "DMA-FQ");
	x.path.iommu_translates = true;
	expect(&x, 6, "iommu",
	       "FAIL GPU to GPU, a -> b: 150.0 Gb/s, 76.5 % of host memory's 196.0 Gb/s: the IOMMU "
	       "translates what the NIC asks for (DMA-FQ), which takes it by way of the root port",
	       "Boot with iommu=pt (pass-through) and compare.");
}

static void trained_down_but_not_the_limit(void **state)
{
	struct verdict_facts x = slow(150);

	(void)state;
	x.path.trained_down = true;
	x.path.down = x.path.nic;
	x.path.down.gts = 16;
	expect(&x, 6, "trained_down",
	       "FAIL GPU to GPU, a -> b: 150.0 Gb/s, 76.5 % of host memory's 196.0 Gb/s: a PCIe link "
	       "trained down to gen4 x16 at 0000:41:00.0, though both of its ends can do gen5 x16",
	       "Reseat the card at 0000:41:00.0, look at its riser and at the slot's speed in the "
	       "firmware setup, and at `dmesg` for PCIe errors.");
}

static void strictly_ordered(void **state)
{
	struct verdict_facts x = slow(150);

	(void)state;
	x.relaxed_ordering = false;
	expect(&x, 6, "relaxed_ordering",
	       "FAIL GPU to GPU, a -> b: 150.0 Gb/s, 76.5 % of host memory's 196.0 Gb/s: PCIe relaxed "
	       "ordering is off",
	       "Run without --disable_pcie_relaxed, and look at the firmware's setting.");
}

static void no_cause_found(void **state)
{
	struct verdict_facts x = slow(150);

	(void)state;
	expect(&x, 6, "unknown",
	       "FAIL GPU to GPU, a -> b: 150.0 Gb/s, 76.5 % of host memory's 196.0 Gb/s: no cause was "
	       "found (PIX: through one PCIe switch at most)",
	       "Compare the routes (--gpu-path dmabuf, then peermem), look whether ACS redirects "
	       "(`lspci -vvv`, ACSCtl ReqRedir+ on the bridges between them), and try larger messages "
	       "(-s) and more QPs (-q).");
}

static void distance_is_no_cause_in_a_virtual_machine(void **state)
{
	struct verdict_facts x = slow(150);

	(void)state;
	x.path.class = PATH_PHB;
	x.path.virtual_machine = true;
	expect(&x, 6, "unknown",
	       "FAIL GPU to GPU, a -> b: 150.0 Gb/s, 76.5 % of host memory's 196.0 Gb/s: no cause was "
	       "found; in a virtual machine the PCIe distance means nothing",
	       "Compare the routes (--gpu-path dmabuf, then peermem), ask the provider which GPU and "
	       "NIC belong together, and try larger messages (-s) and more QPs (-q).");
	x.path.iommu_translates = true;
	expect_cause(&x, VERDICT_FAIL, "iommu", "iommu=pt");
}

/* One after the other is mended: the causes come in order. */
static void the_first_that_fits(void **state)
{
	struct verdict_facts x = slow(27.6);

	(void)state;
	narrow(&x.path, 8, 4, GPU);
	x.path.class = PATH_NODE;
	x.path.iommu_translates = true;
	x.path.trained_down = true;
	x.path.down = x.path.nic;
	x.relaxed_ordering = false;
	expect_cause(&x, VERDICT_FAIL, "pcie_ceiling", "Also: PCIe relaxed ordering is off.");
	x.path.ceiling_write_gbps = 400;
	expect_cause(&x, VERDICT_FAIL, "distance", "Also: the IOMMU translates");
	x.path.class = PATH_PIX;
	expect_cause(&x, VERDICT_FAIL, "iommu", "Also: a PCIe link trained down");
	x.path.iommu_translates = false;
	expect_cause(&x, VERDICT_FAIL, "trained_down", "Also: PCIe relaxed");
	x.path.trained_down = false;
	expect_cause(&x, VERDICT_FAIL, "relaxed_ordering", "Run without");
	x.relaxed_ordering = true;
	expect_cause(&x, VERDICT_FAIL, "unknown", "no better than a synchronous host copy");
	x.gbps = 0.41 * x.host_gbps;
	assert_null(strstr(reach(&x).line, "synchronous"));
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
	};

	return cmocka_run_group_tests_name("verdict_cause", tests, NULL, NULL);
}
