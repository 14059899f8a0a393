// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * limit: situations that a run shows itself, each of which is named rightly: its ceilings, its
 * schedule, its window, its CPU; and such as look alike.
 */
#include "limit_world.h"

static void by_link(void **state)
{
	static const double rates[] = {10, 25, 40, 56, 100, 200, 400, 800};
	static const uint64_t sizes[] = {4096, 65536, 1 << 20};
	struct world w;

	(void)state;
	for (size_t i = 0; i < sizeof(rates) / sizeof(rates[0]); i++)
		for (size_t k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++) {
			/* 4096 of 4178 bytes are data, and an adapter loses a percent more */
			at_rate(&w, rates[i], sizes[k], 0.99 * rates[i] * 4096 / 4178);
			limited(&w, LIMIT_LINK, true, NULL);
		}
	/* the slower of the two ports */
	at_rate(&w, 100, 65536, 24.3);
	w.server.rate_gbps = 25;
	limited(&w, LIMIT_LINK, true, NULL);
	assert_string_equal(judge(&w).ceilings.link_end, "server");
	assert_string_equal(judge(&w).finding.is.end, "server");
	/* healthy adapters reach more, so it may be something else */
	at_rate(&w, 100, 65536, 94);
	limited(&w, LIMIT_LINK, false, NULL);
	/* of which another program has half */
	at_rate(&w, 100, 65536, 48.5);
	w.client.event[PORT_SENT_BYTES] *= 2;
	limited(&w, LIMIT_LINK, false, "other_traffic");
}

static void by_pcie(void **state)
{
	/* payload of 256 B of each link: gen3 x4, x8, x16 or gen4 x8 */
	static const double carries[] = {28.8, 57.6, 92.2};
	struct world *w;

	(void)state;
	for (size_t i = 0; i < sizeof(carries) / sizeof(carries[0]); i++) {
		w = slowed(0.955 * carries[i]);
		w->server.pcie_gbps = carries[i];
		limited(w, LIMIT_PCIE, true, NULL);
		assert_non_null(strstr(judge(w).finding.text, "the PCIe link of the server"));
		assert_string_equal(judge(w).finding.next, ""); /* the adapter can do no more */
		w = slowed(0.95 * carries[i]);
		w->client.pcie_gbps = carries[i];
		w->client.pcie_trained_down = true;
		limited(w, LIMIT_PCIE, true, NULL);
		assert_non_null(strstr(judge(w).finding.text, "the PCIe link of the client (gen4"));
		assert_non_null(strstr(judge(w).finding.next, "reseat"));
	}
}

static void by_schedule(void **state)
{
	static const double limits[] = {0.5, 10, 50, 90};

	(void)state;
	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
		struct world *w = slowed(limits[i] * 0.998);

		w->r.limit_gbps = limits[i];
		w->client.full_share = 0;
		w->client.schedule_share = 0.9;
		limited(w, LIMIT_SCHEDULE, true, NULL);
		/* on the way into a queue that a slower place has not yet filled */
		w->r.limit_gbps *= 1.02;
		limited(w, LIMIT_SCHEDULE, false, NULL);
		w->r.limit_gbps = limits[i];
		w->client.schedule_share = NAN;
		limited(w, LIMIT_SCHEDULE, false, NULL);
		/* it never waited for it: the window is what held it back */
		w->client.full_share = 0.97;
		w->client.schedule_share = 0;
		w->client.completion_ns = w->client.alone_ns = 1e5;
		limited(w, LIMIT_WINDOW, true, NULL);
	}
}

static void by_core(void **state)
{
	static const struct {
		uint64_t size;
		double messages_per_s, full;
	} cases[] = {
		{8, 5e6, 0}, {64, 8e6, 0.02}, {64, 20e6, 0.09}, {256, 12e6, 0}, {1024, 7e6, 0}};
	struct world w;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		at_rate(&w, 100, cases[i].size,
			cases[i].messages_per_s * (double)cases[i].size * 8 / 1e9);
		w.client.full_share = cases[i].full;
		limited(&w, LIMIT_CORE, false, NULL);
		/* which is not known of a run that ends before its queue can be full */
		w.r.messages = 1000;
		w.client.event[PORT_SENT_BYTES] = w.server.event[PORT_RECEIVED_BYTES] = 0;
		limited(&w, LIMIT_UNKNOWN, false, NULL);
	}
	/* it cannot keep up with the schedule */
	at_rate(&w, 100, 64, 4);
	w.r.limit_gbps = 10;
	w.client.full_share = 0;
	limited(&w, LIMIT_CORE, false, NULL);
}

/* So many messages in flight, for a way of so many microseconds, fill so much of the link. */
static void by_window(void **state)
{
	static const struct {
		unsigned depth, qps;
		uint64_t size;
		double way_us;
		bool may_be; /* a lone message is on the wire for much of its time */
	} cases[] = {{1, 1, 65536, 20, true},  {1, 1, 4096, 3, true},
		     {2, 1, 4096, 10},         {16, 1, 4096, 100},
		     {4, 4, 4096, 50},         {128, 1, 4096, 1000},
		     {128, 4, 4096, 2000},     {1, 1, 8, 20},
		     {1, 1, 65536, 524, true}, /* or a cap of 1 Gb/s */
		     {1, 8, 8192, 50, true},   {1, 8, 64, 50},
		     {64, 1, 65536, 1000}};
	struct world w;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		double bits = (double)cases[i].size * 8;
		double trip_ns = cases[i].way_us * 1e3 + bits / 100;
		double gbps = cases[i].depth * cases[i].qps * bits / trip_ns;

		at_rate(&w, 100, cases[i].size, gbps);
		w.r.tx_depth = cases[i].depth;
		w.r.qps = cases[i].qps;
		w.client.alone_ns = trip_ns;
		w.client.completion_ns = trip_ns * 1.02;
		limited(&w, LIMIT_WINDOW, !cases[i].may_be, NULL);
		assert_non_null(strstr(judge(&w).finding.next, cases[i].may_be ? "--prove" : "-t "));
		/* whatever else the port counted: nothing queues */
		w.client.event[PORT_RNR_RECEIVED] = w.server.event[PORT_NO_RECEIVE] = 300;
		stopped(&w, 0.3);
		limited(&w, LIMIT_WINDOW, !cases[i].may_be, "paused");
		w.r.both = true;
		limited(&w, LIMIT_WINDOW, false, "paused");
		w.r.both = false;
		/* a lone message that was slower than those of the run was not alone */
		w.client.alone_ns = trip_ns * 2;
		assert_int_not_equal(judge(&w).finding.is.code, LIMIT_WINDOW);
	}
}

static void by_other_tasks(void **state)
{
	struct world *w = slowed(40);

	(void)state;
	w->client.cpu_share = 0.37;
	w->server.cpu_share = 0.9;
	limited(w, LIMIT_UNKNOWN, false, NULL); /* the queues are full, and never empty, all the same */
	w->client.event[PORT_RNR_RECEIVED] = NAN;
	limited(w, LIMIT_RECEIVER, false, NULL);
	w->server.cpu_share = 1;
	w->client.full_share = 0.9; /* so that explains but a tenth of the time */
	limited(w, LIMIT_UNKNOWN, false, NULL);
	w->client.full_share = 0.35;
	limited(w, LIMIT_CORE, false, NULL);
	/* each time it lost its CPU, the queue held work for so long */
	w->client.preempted = (double)w->r.messages / 128;
	limited(w, LIMIT_UNKNOWN, false, NULL);
	w->client.preempted /= 10;
	limited(w, LIMIT_CORE, false, NULL);
	w->client.preempted = NAN;
	w->client.full_share = 0.97;
	w->client.cpu_share = 1;
	w->server.cpu_share = 0.37;
	limited(w, LIMIT_RECEIVER, false, NULL);
	/* its CPU limit is no other task */
	w->server.stopped = 47;
	w->server.stopped_s = 0.7;
	limited(w, LIMIT_RECEIVER, false, NULL);
	assert_non_null(strstr(judge(w).finding.text,
			       "the CPU limit of the server's cgroup, which stopped it 47 times for "
			       "0.7 s"));
	assert_non_null(strstr(judge(w).finding.next, "raise the CPU limit"));
	/* a queue that is always full, and a steady rate: no thread's CPU */
	w->server.stopped = NAN;
	w->client.cpu_share = 0.5;
	w->client.full_share = 0.99;
	w->r.noise = 6e-4;
	limited(w, LIMIT_UNKNOWN, false, NULL);
	assert_non_null(strstr(judge(w).finding.text,
			       "a steady 40 Gb/s ± 0.06 %, the queue always full: neither end's CPU"));
	/* the rate follows the turns of the other end's thread */
	w->r.noise = 0.1;
	limited(w, LIMIT_RECEIVER, false, NULL);
	w->client.cpu_share = 1;
	w->client.full_share = 0.97;
	w->r.noise = NAN;
	/* the kernel's own work is no other task */
	w->server.cpu_share = 0.98;
	limited(w, LIMIT_UNKNOWN, false, NULL);
	/* the queue was full all the same: what is shown goes first */
	w->client.cpu_share = 0.37;
	stopped(w, 0.6);
	limited(w, LIMIT_PAUSE, false, "paused");
	/* it was not: the thread had no CPU to fill it */
	w->client.full_share = 0.2;
	limited(w, LIMIT_CORE, false, "paused");
}

static void by_one_qp(void **state)
{
	struct world w;

	(void)state;
	at_rate(&w, 400, 65536, 348);
	limited(&w, LIMIT_NIC_QP, false, NULL);
	at_rate(&w, 200, 65536, 150);
	limited(&w, LIMIT_NIC_QP, false, NULL);
	w.r.qps = 2;
	limited(&w, LIMIT_UNKNOWN, false, NULL);
	/* another counter moved: it may be that */
	at_rate(&w, 400, 65536, 348);
	w.client.event[PORT_CNP_HANDLED] = 10;
	limited(&w, LIMIT_UNKNOWN, false, "congestion");
}

/* What looks like a cause and is none, or the cause of something else. */
static void looks_alike(void **state)
{
	struct world *w = slowed(60);
	struct world other;

	(void)state;
	/* the port sends at line rate, half of it again: loss, and no other traffic */
	w->client.alone_ns = 20e3;
	w->client.event[PORT_LOSS_NAKS] = 0.01 * 60e9 / 8 / 4096;
	w->server.event[PORT_LOSS_SEEN] = 0.01 * 60e9 / 8 / 4096;
	w->client.event[PORT_SENT_BYTES] = 99e9 / 8;
	limited(w, LIMIT_LOSS, true, "packet_loss");
	/* losses whose price is not known */
	w = slowed(90);
	w->client.alone_ns = w->client.completion_ns = NAN;
	w->client.event[PORT_LOSS_NAKS] = 3;
	limited(w, LIMIT_UNKNOWN, false, "packet_loss");
	assert_true(isnan(found.list[0].is.share));
	/* a packet was dropped, and pauses are not counted */
	w = slowed(60);
	stopped(w, NAN);
	w->server.event[PORT_NIC_DISCARDS] = 1;
	limited(w, LIMIT_UNKNOWN, false, "host_too_slow");
	assert_true(isnan(found.list[0].is.share));
	/* the switch stopped the sender; that the receiver dropped a packet is something else */
	stopped(w, 0.4);
	limited(w, LIMIT_PAUSE, false, "paused");
	assert_int_equal(found.count, 2);
	/* who stopped it is not known */
	w->server.event[PORT_NIC_DISCARDS] = 0;
	w->server.event[PORT_PAUSE_SENT_US] = NAN;
	limited(w, LIMIT_PAUSE, false, "paused");
	assert_non_null(strstr(found.list[0].cause, "not known"));
	/* another priority was paused: this run had more than was left */
	w = slowed(88);
	stopped(w, 0.3);
	limited(w, LIMIT_UNKNOWN, false, "paused");
	/* the sender's port is busy with others, the receiver's is slow */
	at_rate(&other, 100, 65536, 12);
	other.server.rate_gbps = 25;
	other.client.event[PORT_SENT_BYTES] += 20e9 / 8;
	limited(&other, LIMIT_UNKNOWN, false, "other_traffic");
	/* small messages: the wire is half empty, though headers are most of it */
	at_rate(&other, 100, 64, 5);
	other.client.event[PORT_SENT_BYTES] += 40e9 / 8;
	limited(&other, LIMIT_UNKNOWN, false, "other_traffic");
	/* both ends on one host: the PCIe link of the netdev is not on the way */
	at_rate(&other, 1, 65536, 10);
	other.client.pcie_gbps = other.server.pcie_gbps = 1.8;
	limited(&other, LIMIT_UNKNOWN, false, "above_link");
	/* the schedule is not kept, because messages are lost: the CPU waits for it all the same */
	w = slowed(8);
	w->client.full_share = 0;
	w->client.schedule_share = 0.8;
	w->r.limit_gbps = 10;
	limited(w, LIMIT_UNKNOWN, false, NULL);
}

/* Of a port whose rate is only a name, and of ends that tell nothing, nothing is said. */
static void unknown_ceilings(void **state)
{
	struct world w;

	(void)state;
	at_rate(&w, 100, 65536, 97.6);
	w.client.rate_gbps = w.server.rate_gbps = w.client.pcie_gbps = w.server.pcie_gbps = NAN;
	limited(&w, LIMIT_UNKNOWN, false, NULL);
	at_rate(&w, 100, 65536, 50);
	run_end_unknown(&w.client, "client");
	run_end_unknown(&w.server, "server");
	limited(&w, LIMIT_UNKNOWN, false, NULL);
	assert_string_equal(judge(&w).finding.text, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(by_link),          cmocka_unit_test(by_pcie),
		cmocka_unit_test(by_schedule),      cmocka_unit_test(by_core),
		cmocka_unit_test(by_window),        cmocka_unit_test(by_other_tasks),
		cmocka_unit_test(by_one_qp),        cmocka_unit_test(looks_alike),
		cmocka_unit_test(unknown_ceilings),
	};

	return cmocka_run_group_tests_name("limit", tests, NULL, NULL);
}
