// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* pci: addresses, and config spaces that hold anything. Links are in test_topo and test_path. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "host/pci.h"
#include "tree.h"

static void addresses(void **state)
{
	static const char *const good[] = {"0000:41:00.0", "10000:e1:00.7", "ABCD:ef:1F.0"};
	static const char *const bad[] = {
		"", "41:00.0", "0000:41:00.8", "0000:41:00.", "0000:41:0.0", "0000:41:00.0 "};

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		assert_true(pci_is_address(good[i]));
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_false(pci_is_address(bad[i]));
}

/* SIZE bytes of a config space whose capability list is power management, then PCI Express. */
static unsigned payload(void **state, const uint8_t config[256], size_t size)
{
	tree_write(state, "bus/pci/devices/0000:41:00.0/config", config, size);
	return pci_read_sizes("0000:41:00.0").payload_bytes;
}

static void make_config(uint8_t config[256], unsigned code)
{
	memset(config, 0, 256);
	config[0x06] = 0x10;
	config[0x34] = 0x40;
	config[0x40] = 0x01;
	config[0x41] = 0x60;
	config[0x60] = 0x10;
	config[0x68] = (uint8_t)(code << 5 | 0x1f);
}

static void payloads(void **state)
{
	static const unsigned want[8] = {128, 256, 512, 1024, 2048, 4096, 0, 0};
	uint8_t config[256];

	for (unsigned code = 0; code < 8; code++) {
		make_config(config, code);
		assert_int_equal(payload(state, config, 256), want[code]);
	}
	make_config(config, 1);
	assert_int_equal(payload(state, config, 64), 0); /* all that others than root see */
	assert_int_equal(payload(state, config, 0x68), 0);
	assert_int_equal(payload(state, config, 0x69), 0);
	assert_int_equal(payload(state, config, 0x6a), 256);
	assert_int_equal(pci_read_sizes("0000:41:00.0").request_bytes, 128);
	config[0x69] = 0x2f;
	assert_int_equal(payload(state, config, 256), 256);
	assert_int_equal(pci_read_sizes("0000:41:00.0").request_bytes, 512);
	assert_int_equal(pci_read_sizes("nowhere").payload_bytes, 0);
}

static void lists_that_lead_nowhere(void **state)
{
	uint8_t config[256];

	make_config(config, 1);
	config[0x06] = 0;
	assert_int_equal(payload(state, config, 256), 0);
	make_config(config, 1);
	config[0x41] = 0x40; /* in a circle */
	assert_int_equal(payload(state, config, 256), 0);
	config[0x41] = 0x3c; /* into the header */
	assert_int_equal(payload(state, config, 256), 0);
	config[0x41] = 0xfc; /* past the end */
	config[0xfc] = 0x10;
	assert_int_equal(payload(state, config, 256), 0);
	config[0x34] = 0;
	assert_int_equal(payload(state, config, 256), 0);
	memset(config, 0xff, sizeof(config)); /* a device that does not answer */
	assert_int_equal(payload(state, config, 256), 0);
	assert_int_equal(payload(state, config, 0), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, tree_make, tree_remove)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(addresses),
		TEST(payloads),
		TEST(lists_that_lead_nowhere),
	};

	return cmocka_run_group_tests_name("pci", tests, NULL, NULL);
}
