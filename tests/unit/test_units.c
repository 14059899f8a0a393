// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* units: what is a number, what is not, and how one is written. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"

#define UNTOUCHED UINT64_C(0xdeadbeefcafe)

struct row {
	const char *text;
	int rc;
	uint64_t value;
};

typedef int (*parse_fn)(const char *text, uint64_t *value);

static void check_rows(parse_fn parse, const struct row *row, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		uint64_t value = UNTOUCHED;
		uint64_t want = row[i].rc ? UNTOUCHED : row[i].value;
		int rc = parse(row[i].text, &value);

		if (rc != row[i].rc || value != want)
			fail_msg("'%s': %d and %llu, want %d and %llu", row[i].text, rc,
				 (unsigned long long)value, row[i].rc, (unsigned long long)want);
	}
}

#define CHECK(parse, row) check_rows(parse, row, sizeof(row) / sizeof((row)[0]))

/* No reader takes these. */
static const struct row junk[] = {
	{"", -EINVAL},      {" ", -EINVAL},   {" 1", -EINVAL},   {"1 ", -EINVAL},
	{"\t1", -EINVAL},   {"+1", -EINVAL},  {"-1", -EINVAL},   {"-0", -EINVAL},
	{"1e", -EINVAL},    {"x", -EINVAL},   {"k", -EINVAL},    {"0x", -EINVAL},
	{"0xg", -EINVAL},   {"1Gx", -EINVAL}, {"64kk", -EINVAL}, {"1 k", -EINVAL},
	{"1,000", -EINVAL}, {"inf", -EINVAL}, {"nan", -EINVAL},  {"1\n", -EINVAL},
	{"1_000", -EINVAL}, {"--", -EINVAL},  {"1-2", -EINVAL},  {"\xd9\xa1", -EINVAL},
};

static void junk_is_refused(void **state)
{
	(void)state;
	CHECK(units_parse_u64, junk);
	CHECK(units_parse_size, junk);
	CHECK(units_parse_seconds, junk);
}

static void plain_numbers(void **state)
{
	static const struct row row[] = {
		{"0", 0, 0},
		{"1", 0, 1},
		{"010", 0, 10},
		{"0x10", 0, 16},
		{"0XfF", 0, 255},
		{"18446744073709551615", 0, UINT64_MAX},
		{"0xffffffffffffffff", 0, UINT64_MAX},
		{"18446744073709551616", -ERANGE},
		{"0x10000000000000000", -ERANGE},
		{"99999999999999999999999999999999999999999999", -ERANGE},
		{"1k", 0, 1000},
		{"1.5M", 0, 1500000},
		{"8.1k", 0, 8100},
		{"4.05k", 0, 4050},
		{"1.0001k", -EINVAL},
		{"0x1p4", -EINVAL},
		{"0x1.8", -EINVAL},
		{"1e6", 0, 1000000},
		{"1.0", 0, 1},
		{"18446744073709551.615k", 0, UINT64_MAX},
		{"1.5", -EINVAL},
		{"1e-1", -EINVAL},
		{"1e99999", -ERANGE},
		{"1e-99999", -ERANGE},
		{"1ki", -EINVAL},
		{"1kB", -EINVAL},
		{"0x-1", -EINVAL},
		{"0x0x1", -EINVAL},
	};

	(void)state;
	CHECK(units_parse_u64, row);
}

static void sizes(void **state)
{
	static const struct row row[] = {
		{"0", 0, 0},
		{"65536", 0, 65536},
		{"64k", 0, 65536},
		{"64K", 0, 65536},
		{"64ki", 0, 65536},
		{"64Ki", 0, 65536},
		{"64KI", 0, 65536},
		{"8m", 0, UINT64_C(8) << 20},
		{"8Mi", 0, UINT64_C(8) << 20},
		{"1g", 0, UINT64_C(1) << 30},
		{"1G", 0, UINT64_C(1) << 30},
		{"1Gi", 0, UINT64_C(1) << 30},
		{"2t", 0, UINT64_C(2) << 40},
		{"2TI", 0, UINT64_C(2) << 40},
		{"0x10", 0, 16},
		{"0x10k", 0, 16384},
		{"0t", 0, 0},
		{"18446744073709551615", 0, UINT64_MAX},
		{"16777215t", 0, UINT64_C(16777215) << 40},
		{"16777216t", -ERANGE},
		{"18014398509481984k", -ERANGE},
		{"18446744073709551616", -ERANGE},
		{"99999999999999999999k", -ERANGE},
		{"1i", -EINVAL},
		{"1ib", -EINVAL},
		{"1p", -EINVAL},
		{"1.0001k", -EINVAL},
		{"0.5", -EINVAL},
		{"1kbb", -EINVAL},
		{"1b", 0, 1},
		{"4KB", 0, 4000},
		{"4KiB", 0, 4096},
		{"1.5k", 0, 1536},
		{"1e6", 0, 1000000},
		{"64kii", -EINVAL},
		{"ki", -EINVAL},
	};

	(void)state;
	CHECK(units_parse_size, row);
}

static void seconds(void **state)
{
	static const struct row row[] = {
		{"0", 0, 0},
		{"10", 0, 10 * UNITS_NS_PER_S},
		{"10s", 0, 10 * UNITS_NS_PER_S},
		{"10S", 0, 10 * UNITS_NS_PER_S},
		{"2.5", 0, 2500000000},
		{"0.1", 0, 100000000},
		{"1.000000001", 0, 1000000001},
		{"50ms", 0, 50000000},
		{"1.5ms", 0, 1500000},
		{"7us", 0, 7000},
		{"9ns", 0, 9},
		{"0.4ns", 0, 0},
		{"0.5ns", 0, 1},
		{"2m", 0, 120 * UNITS_NS_PER_S},
		{"1h", 0, 3600 * UNITS_NS_PER_S},
		{"1.25h", 0, 4500 * UNITS_NS_PER_S},
		{"9007199", 0, UINT64_C(9007199) * UNITS_NS_PER_S}, /* 104 days: below 2^53 ns */
		{"8589934592", 0, UINT64_C(8589934592) * UNITS_NS_PER_S},
		{"9200000000", -ERANGE},
		{"2555556h", -ERANGE},
		{"9999999999999999999999999999999", -ERANGE},
		{"99999999999999999999999999999999999999999999", -ERANGE},
		{"1.2.3", -EINVAL},
		{".", -EINVAL},
		{"..", -EINVAL},
		{".5", 0, 500000000},
		{"1sec", 0, UNITS_NS_PER_S},
		{"1min", 0, 60 * UNITS_NS_PER_S},
		{"1e3us", 0, 1000000},
		{"1 s", -EINVAL},
		{"1d", -EINVAL},
		{"1mss", -EINVAL},
		{"1,5", -EINVAL},
	};

	(void)state;
	CHECK(units_parse_seconds, row);
}

static void expect_size(uint64_t bytes, const char *want)
{
	assert_string_equal(units_size(bytes).text, want);
}

static void sizes_are_written(void **state)
{
	(void)state;
	expect_size(0, "0 B");
	expect_size(1, "1 B");
	expect_size(1000, "1000 B");
	expect_size(1023, "1023 B");
	expect_size(1024, "1 KiB");
	expect_size(1536, "1536 B");
	expect_size(65536, "64 KiB");
	expect_size(65537, "64.00 KiB");
	expect_size(100000, "97.66 KiB");
	expect_size(8 << 20, "8 MiB");
	expect_size(1536 << 10, "1536 KiB");
	expect_size((1 << 20) - 1, "1.00 MiB");
	expect_size((UINT64_C(1) << 40) - 1, "1.00 TiB");
	expect_size(UINT64_C(5) << 30, "5 GiB");
	expect_size(UINT64_C(146591680) << 10, "139.80 GiB");
	expect_size(UINT64_C(1) << 40, "1 TiB");
	expect_size(UINT64_C(1) << 60, "1048576 TiB");
	expect_size(UINT64_MAX, "16777216.00 TiB");
}

static void written_sizes_can_be_read(void **state)
{
	static const char *const unit[] = {"B", "KiB", "MiB", "GiB", "TiB"};

	(void)state;
	for (unsigned shift = 0; shift < 64; shift++) {
		unsigned long long n;
		char name[8];
		unsigned i = 0;

		assert_int_equal(
			sscanf(units_size(UINT64_C(1) << shift).text, "%llu %7s", &n, name), 2);
		while (i < 5 && strcmp(name, unit[i]))
			i++;
		assert_in_range(i, 0, 4);
		assert_true(n << (10 * i) == UINT64_C(1) << shift);
	}
}

static void expect_ns(uint64_t ns, const char *want)
{
	assert_string_equal(units_ns(ns).text, want);
}

static void times_are_written(void **state)
{
	(void)state;
	expect_ns(0, "0 ns");
	expect_ns(999, "999 ns");
	expect_ns(1000, "1 us");
	expect_ns(1500, "1.5 us");
	expect_ns(50000000, "50 ms");
	expect_ns(999999999, "1000 ms");
	expect_ns(UNITS_NS_PER_S, "1 s");
	expect_ns(2500000000, "2.5 s");
	expect_ns(10 * UNITS_NS_PER_S, "10 s");
	expect_ns(3600 * UNITS_NS_PER_S, "3600 s");
	expect_ns(1000000 * UNITS_NS_PER_S, "1000000 s");
	expect_ns(UINT64_MAX, "18446744074 s");
}

typedef int (*parse_real_fn)(const char *text, double *value);

struct real_row {
	const char *text;
	double value; /* below 0: it is refused */
};

static void check_reals(parse_real_fn parse, const struct real_row *row, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		double value = -7, want = row[i].value < 0 ? -7 : row[i].value;
		int rc = parse(row[i].text, &value);

		if ((rc != 0) != (row[i].value < 0) || fabs(value - want) > 1e-15 * fabs(want))
			fail_msg("'%s': %d and %.17g, want %.17g", row[i].text, rc, value, want);
	}
}

#define CHECK_REALS(parse, row) check_reals(parse, row, sizeof(row) / sizeof((row)[0]))

static void junk_is_no_real_number(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(junk) / sizeof(junk[0]); i++) {
		double value = 3;

		assert_int_equal(units_parse_decimal(junk[i].text, &value), -EINVAL);
		assert_int_equal(units_parse_count(junk[i].text, &value), -EINVAL);
		assert_int_equal(units_parse_rate(junk[i].text, &value), -EINVAL);
		assert_true(value == 3);
	}
}

static void decimals_and_counts(void **state)
{
	static const struct real_row decimal[] = {
		{"0", 0},
		{"5", 5},
		{"2.5", 2.5},
		{"0.001", 0.001},
		{"10.", 10},
		{"1.2.3", -1},
		{".5", .5},
		{"1e3", 1e3},
		{"5k", -1},
		{"5us", -1},
		{"9999999999999999999", -1},
	};
	static const struct real_row count[] = {
		{"1", 1},       {"1k", 1e3}, {"1K", 1e3}, {"1.5M", 1.5e6}, {"2g", 2e9},
		{"0.1T", 1e11}, {"1Mi", -1}, {"1kk", -1}, {"1M/s", -1},    {"M", -1},
	};
	static const struct real_row us[] = {
		{"5", 5}, {"1.5", 1.5}, {"5us", 5}, {"1ms", 1000}, {"250ns", 0.25}, {"1s", 1e6},
		{"5x", -1}, {"us", -1},
	};

	(void)state;
	CHECK_REALS(units_parse_us, us);
	CHECK_REALS(units_parse_decimal, decimal);
	CHECK_REALS(units_parse_count, count);
}

static void rates(void **state)
{
	static const struct real_row rate[] = {
		{"90", 90e9},
		{"97.5", 97.5e9},
		{"90G", 90e9},
		{"90g", 90e9},
		{"500M", 500e6},
		{"10k", 10e3},
		{"1.6T", 1.6e12},
		{"90Gb/s", 90e9},
		{"90Gbit/s", 90e9},
		{"90Gb/sec", 90e9},
		{"1000b/s", 1000},
		{"12.5GB/s", 100e9},
		{"1MB/s", 8e6},
		{"3B/s", 24},
		{"10MiB/s", 10 * 8388608.0},
		{"10mib/s", -1},
		{"10miB/sec", 10 * 8388608.0},
		{"1KiB/s", 8192},
		{"1GiB/s", 8 * 1073741824.0},
		{"1TiB/s", 8 * 1099511627776.0},
		{"10MiB", 10 * 8388608.0},
		{"10Gb", 10e9},
		{"90GB", 720e9},
		{"90Gbps", 90e9},
		{"90Gbitps", 90e9},
		{"1e5Mb/s", 100e9},
		{"10Mib/s", -1},
		{"10iB/s", -1},
		{"10Gbs", -1},
		{"10Bit/s", -1},
		{"10GBbps", -1},
		{"10 Gb/s", -1},
		{"10gB/S", -1},
		{"G", -1},
		{"10Gb/s/s", -1},
		{"10P", -1},
		{"10/s", -1},
		{"10GG", -1},
	};

	(void)state;
	CHECK_REALS(units_parse_rate, rate);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(junk_is_refused),
		cmocka_unit_test(plain_numbers),
		cmocka_unit_test(sizes),
		cmocka_unit_test(seconds),
		cmocka_unit_test(junk_is_no_real_number),
		cmocka_unit_test(decimals_and_counts),
		cmocka_unit_test(rates),
		cmocka_unit_test(sizes_are_written),
		cmocka_unit_test(written_sizes_can_be_read),
		cmocka_unit_test(times_are_written),
	};

	return cmocka_run_group_tests_name("units", tests, NULL, NULL);
}
