// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* limits: what a client may ask for, up to the very number that is allowed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/units.h"
#include "base/rate.h"
#include "plan/limits.h"
#include "verbs/transports.h"

static const struct experiment defaults = {EXPERIMENT_DEFAULTS, .size_bytes = 65536, .iters = 1000};

/* RDMA WRITE */
static const struct test stream_test = {
	.operation = {.opcode = IBV_WR_RDMA_WRITE,
		      .another = IBV_WR_RDMA_WRITE_WITH_IMM,
		      .peer_allows = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_LOCAL_WRITE},
};
static const struct test latency_test = {
	.latency = true,
	.operation = {.opcode = IBV_WR_RDMA_WRITE,
		      .another = IBV_WR_RDMA_WRITE_WITH_IMM,
		      .peer_allows = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_LOCAL_WRITE,
		      .halved = true},
};

static struct local_options limits(uint64_t memory_bytes, uint64_t duration_ns, uint64_t qps)
{
	return (struct local_options){
		.max_memory_bytes = memory_bytes, .max_duration_ns = duration_ns, .max_qps = qps};
}

static void assert_allowed(const struct local_options *l, const struct experiment *e, bool latency)
{
	struct fault f = {0};

	assert_int_equal(limits_check(l, latency ? &latency_test : &stream_test, e, 1, &f), 0);
	assert_false(fault_is(&f));
}

/* The fault names all of WORD. */
static void assert_refused(const struct local_options *l, const struct experiment *e, bool latency,
			   const char *const word[3])
{
	struct fault f = {0};
	char text[1024];

	assert_int_equal(limits_check(l, latency ? &latency_test : &stream_test, e, 1, &f), -1);
	assert_int_equal(f.code, FAULT_USAGE);
	fault_format(&f, text, sizeof(text));
	for (int i = 0; i < 3; i++)
		if (!strstr(text, word[i]))
			fail_msg("no '%s' in: %s", word[i], text);
}

static void without_limits_all_is_allowed(void **state)
{
	struct local_options l = limits(EXPERIMENT_AUTO, EXPERIMENT_AUTO, EXPERIMENT_AUTO);
	struct experiment e = defaults;
	struct fault f = {0};

	(void)state;
	e.qps = 65536;
	e.size_bytes = UINT64_C(1) << 60;
	e.duration_ns = UINT64_C(1) << 60;
	e.sweep = 1;
	assert_allowed(&l, &e, false);
	assert_int_equal(limits_memory(&l, UINT64_MAX, &f), 0);
}

static void qps(void **state)
{
	struct local_options l = limits(EXPERIMENT_AUTO, EXPERIMENT_AUTO, 8);
	struct experiment e = defaults;

	(void)state;
	e.qps = 8;
	assert_allowed(&l, &e, false);
	e.qps = 9;
	assert_refused(&l, &e, false, (const char *const[]){"--qp", "9 QPs", "allows 8"});
	e.qps = 5;
	e.verify = 1; /* has as many of its own */
	assert_refused(&l, &e, false, (const char *const[]){"--qp with --verify", "10 QPs", "allows 8"});
}

static void memory(void **state)
{
	struct local_options l = limits(4 * 65536, EXPERIMENT_AUTO, EXPERIMENT_AUTO);
	struct experiment e = defaults;
	struct fault f = {0};

	(void)state;
	e.qps = 4;
	assert_allowed(&l, &e, false);
	e.qps = 5;
	assert_refused(&l, &e, false,
		       (const char *const[]){"--max-memory", "320 KiB", "allows 256 KiB"});
	e.qps = 1;
	e.size_bytes = 2 * 65536;
	assert_allowed(&l, &e, true);
	e.size_bytes += 1;
	assert_allowed(&l, &e, false);
	assert_refused(&l, &e, true, (const char *const[]){"--max-memory", "requests", "256 KiB"});
	e.size_bytes = 1;
	e.sweep = 1;
	assert_refused(&l, &e, false, (const char *const[]){"--max-memory", "8 MiB", "256 KiB"});
	e.sweep = 0;
	e.qps = 65536;
	e.size_bytes = UINT64_C(1) << 50; /* the product does not fit */
	assert_refused(&l, &e, false, (const char *const[]){"--max-memory", "requests", "256 KiB"});
	assert_int_equal(limits_memory(&l, 4 * 65536, &f), 0);
	assert_int_equal(limits_memory(&l, 4 * 65536 + 1, &f), -1);
	assert_int_equal(f.code, FAULT_USAGE);
}

static void a_datagram_is_no_larger_than_an_mtu(void **state)
{
	struct local_options l = limits(1024 * 4096, EXPERIMENT_AUTO, EXPERIMENT_AUTO);
	struct experiment e = defaults;

	(void)state;
	e.connection = CONNECTION_UD;
	e.qps = 1024;
	e.size_bytes = 1 << 20;
	assert_allowed(&l, &e, false);
	e.sweep = 1;
	assert_allowed(&l, &e, false);
	e.qps = 1025;
	assert_refused(&l, &e, false,
		       (const char *const[]){"--max-memory", "requests", "allows 4 MiB"});
	e.qps = 513;
	assert_refused(&l, &e, true,
		       (const char *const[]){"--max-memory", "requests", "allows 4 MiB"});
}

static void footprint_and_verify_are_memory(void **state)
{
	struct local_options l = limits(UINT64_C(2) << 30, EXPERIMENT_AUTO, EXPERIMENT_AUTO);
	struct experiment e = defaults;

	(void)state;
	e.footprint_bytes = UINT64_C(1) << 30;
	e.qps = 2;
	assert_allowed(&l, &e, false);
	assert_refused(&l, &e, true, (const char *const[]){"--max-memory", "4 GiB", "2 GiB"});
	e.qps = 3;
	assert_refused(&l, &e, false, (const char *const[]){"--max-memory", "3 GiB", "2 GiB"});
	e.footprint_bytes = 0;
	e.qps = 16;
	e.threads = 64;
	assert_allowed(&l, &e, false);
	e.verify = 1; /* up to 64 MiB of each thread, next to its buffer of 1 MiB */
	assert_refused(&l, &e, false, (const char *const[]){"--max-memory", "4.01 GiB", "2 GiB"});
	e.threads = 31;
	assert_allowed(&l, &e, false);
	assert_refused(&l, &e, true, (const char *const[]){"--max-memory", "3.88 GiB", "2 GiB"});
}

static void duration(void **state)
{
	struct local_options l = limits(EXPERIMENT_AUTO, 23 * UNITS_NS_PER_S, EXPERIMENT_AUTO);
	struct experiment e = defaults;

	(void)state;
	e.duration_ns = 23 * UNITS_NS_PER_S;
	assert_allowed(&l, &e, false);
	e.duration_ns++;
	assert_refused(&l, &e, false, (const char *const[]){"--duration", "23", "allows 23 s"});
	e.omit_ns = e.duration_ns;
	assert_refused(&l, &e, false, (const char *const[]){"and --omit", "46", "allows 23 s"});
	e.omit_ns = 0;
	e.sweep = 1; /* 23 sizes, from 2 B to 8 MiB */
	e.duration_ns = UNITS_NS_PER_S;
	assert_allowed(&l, &e, false);
	e.duration_ns = 2 * UNITS_NS_PER_S;
	assert_refused(&l, &e, false, (const char *const[]){"--all", "46 s", "allows 23 s"});
	e.duration_ns = UINT64_MAX / 2;
	assert_refused(&l, &e, false, (const char *const[]){"--all", "requests", "allows 23 s"});
}

static void threads_and_devices_count(void **state)
{
	struct local_options l = limits(EXPERIMENT_AUTO, EXPERIMENT_AUTO, 12);
	struct experiment e = defaults;
	struct fault f = {0};

	(void)state;
	e.qps = 2;
	e.threads = 3;
	assert_int_equal(limits_check(&l, &stream_test, &e, 2, &f), 0);
	assert_int_equal(limits_check(&l, &stream_test, &e, 3, &f), -1);
	fault_clear(&f);
	l = limits(12 * e.size_bytes, EXPERIMENT_AUTO, EXPERIMENT_AUTO);
	assert_int_equal(limits_check(&l, &stream_test, &e, 2, &f), 0);
	e.bidirectional = 1;
	assert_int_equal(limits_check(&l, &stream_test, &e, 2, &f), -1);
}

/* It is ended when its time is over. */
static void without_end(void **state)
{
	struct local_options l = limits(EXPERIMENT_AUTO, UINT64_C(1) << 40, EXPERIMENT_AUTO);
	struct experiment e = defaults;
	struct fault f = {0};

	(void)state;
	e.run_infinitely = 1;
	assert_int_equal(limits_check(&l, &stream_test, &e, 1, &f), 0);
}

static void who_stays_has_limits(void **state)
{
	struct local_options l = limits(EXPERIMENT_AUTO, EXPERIMENT_AUTO, EXPERIMENT_AUTO);
	struct local_options given = limits(1, 2000000, 3);
	struct experiment e = defaults;
	char text[160];

	(void)state;
	limits_default(&l);
	assert_string_equal(limits_text(&l, text, sizeof(text)),
			    "2 GiB of memory (--max-memory), 1024 QPs (--max-qps), "
			    "3600 s (--max-duration)");
	assert_allowed(&l, &e, false);
	e.qps = 1025;
	assert_refused(&l, &e, false, (const char *const[3]){"-q", "1025 QPs", "allows 1024"});
	limits_default(&given);
	assert_int_equal(given.max_memory_bytes, 1);
	assert_int_equal(given.max_duration_ns, 2000000);
	assert_int_equal(given.max_qps, 3);
}

static void queues_are_memory(void **state)
{
	struct local_options l = limits(UINT64_C(1) << 30, EXPERIMENT_AUTO, EXPERIMENT_AUTO);
	struct experiment e = defaults;

	(void)state;
	e.size_bytes = 1;
	e.qps = 512;
	e.tx_depth = e.rx_depth = 4096;
	assert_allowed(&l, &e, false);
	e.tx_depth = 4097;
	assert_refused(&l, &e, false, (const char *const[3]){"--max-memory", "of queues", "1 GiB"});
	l.max_memory_bytes = 1 << 20; /* small queues are always allowed */
	e.qps = 1;
	assert_allowed(&l, &e, false);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_limits_all_is_allowed),
		cmocka_unit_test(threads_and_devices_count),
		cmocka_unit_test(without_end),
		cmocka_unit_test(qps),
		cmocka_unit_test(memory),
		cmocka_unit_test(a_datagram_is_no_larger_than_an_mtu),
		cmocka_unit_test(footprint_and_verify_are_memory),
		cmocka_unit_test(duration),
		cmocka_unit_test(who_stays_has_limits),
		cmocka_unit_test(queues_are_memory),
	};

	return cmocka_run_group_tests_name("limits", tests, NULL, NULL);
}
