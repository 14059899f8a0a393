// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* verdict: why a rate is too low, the first cause of several, and what else was seen. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "verdict_ends.h"

/* Give every judged cell but the client's NAME the rate of host memory. */
static void only(const char *name)
{
	for (unsigned i = 0; i < m.attr.results; i++)
		if (i != made_cell(&m, name))
			made_windows(&m, i, m.result[i].turns, 196, 0);
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
	       "limited by PCIe gen3 x4 at 0000:43:00.0, which carries 28.8 Gb/s of payload");
	assert_string_equal(v.next,
			    "Move the card at 0000:43:00.0 to a faster slot. Also: the distance "
			    "from GPU to NIC is SYS (between two NUMA nodes), where half of host "
			    "memory's rate is usual, but not guaranteed.");
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
	expect(VERDICT_WARN, 0, "distance", "under one PCIe switch. Also: the IOMMU translates");
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
	/* Below what is expected for sure; whether GPU memory is slower as well, is not. */
	for (unsigned i = 0; i < m.attr.results; i++)
		if (gdr_cell_is_direct(&m.result[i].cell))
			made_windows(&m, i, 7, 90, 0.5);
	expect(VERDICT_WARN, 6, "host_low", "the GPU is not the cause");
}

/* Case 42: from window 5 of 56 on at 70 %, or along a line to 85 %; host memory stays. */
static void a_gpu_that_throttles(void **state)
{
	double *gbps;

	(void)state;
	ends(0);
	made_results(&m, 56, 196, 196, 0.01);
	gbps = m.gbps[made_cell(&m, "read")];
	for (unsigned t = 4; t < 56; t++)
		gbps[t] *= 0.7;
	expect(VERDICT_WARN, 0, "fell", "% from window 5 on, and host memory did not");
	assert_int_equal(v.fell_from, 5);
	x.within_given = true;
	expect(VERDICT_WARN, 6, "fell", "nvidia-smi -q -d PERFORMANCE");
	for (unsigned t = 0; t < 56; t++)
		gbps[t] = 196 * (1 - 0.15 * t / 55 + 0.01 * made_noise(3, t));
	expect(VERDICT_WARN, 6, "fell", ": it sank steadily to 8");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(limited_by_pcie),
		cmocka_unit_test(the_first_that_fits),
		cmocka_unit_test(host_memory),
		cmocka_unit_test(a_gpu_that_throttles),
	};

	return cmocka_run_group_tests_name("verdict_cause", tests, NULL, NULL);
}
