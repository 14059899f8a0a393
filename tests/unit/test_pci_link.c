// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* path: the arithmetic of one link, and words. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "machine.h"

/* What line coding and the packets' headers leave of a link. */
static void payload_rates(void **state)
{
	static const struct {
		double gts;
		unsigned width, payload;
		double write;
	} row[] = {
		{8, 4, 128, 26.5},    {8, 4, 256, 28.8},    {8, 4, 512, 30.1},
		{8, 8, 128, 53.1},    {8, 8, 256, 57.6},    {8, 8, 512, 60.2},
		{8, 16, 128, 106.1},  {8, 16, 256, 115.2},  {8, 16, 512, 120.4},
		{16, 8, 128, 106.1},  {16, 8, 256, 115.2},  {16, 8, 512, 120.4},
		{16, 16, 128, 212.3}, {16, 16, 256, 230.5}, {16, 16, 512, 240.8},
		{32, 8, 128, 212.3},  {32, 8, 256, 230.5},  {32, 8, 512, 240.8},
		{32, 16, 128, 424.5}, {32, 16, 256, 460.9}, {32, 16, 512, 481.6},
		{2.5, 8, 256, 14.63}, {5, 8, 256, 29.26},   {64, 16, 256, 911.06},
		{0, 16, 256, 0},      {16, 0, 256, 0},      {16, 16, 0, 0},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(row); i++) {
		struct pci_link l = {.gts = row[i].gts, .width = row[i].width};

		expect_gbps(pci_link_gbps(&l, row[i].payload, false), row[i].write);
	}
	expect_gbps(pci_link_gbps(&(struct pci_link){.gts = 16, .width = 16}, 256, true), 233.8);
	expect_gbps(pci_link_gbps(&(struct pci_link){.gts = 64, .width = 16}, 256, true), 924.7);
}

static void words_for_links_and_classes(void **state)
{
	const struct pci_link odd = {.pci = NIC, .gts = 20, .width = 3};
	char buf[8] = "stale";

	(void)state;
	expect_link(&(struct pci_link){.pci = NIC, .gts = 2.5, .width = 1}, "gen1 x1 at " NIC);
	expect_link(&(struct pci_link){.pci = NIC, .gts = 5, .width = 1}, "gen2 x1 at " NIC);
	expect_link(&(struct pci_link){.pci = NIC, .gts = 64, .width = 8}, "gen6 x8 at " NIC);
	expect_link(&odd, "20.0 GT/s x3 at " NIC);
	expect_link(&(struct pci_link){.pci = NIC}, "");
	pci_link_format(&odd, buf, 5);
	assert_string_equal(buf, "20.0");
	pci_link_format(&odd, NULL, 0);
	assert_true(pci_link_share(&odd) == 1);
	for (int c = 0; c < PATH_CLASSES + 2; c++) {
		assert_true(path_row(c)->name[0]);
		assert_true(path_row(c)->words[0]);
	}
	assert_string_equal(path_row(PATH_CLASSES)->name, "unknown");
}

#define TEST(name) cmocka_unit_test(name)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(payload_rates),
		TEST(words_for_links_and_classes),
	};

	return cmocka_run_group_tests_name("pci_link", tests, NULL, NULL);
}
