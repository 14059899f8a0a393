// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * limit: made situations, each of which is named rightly, and healthy or noisy ones, in which
 * nothing is accused. The rate of a situation is what its cause leaves of a link of 100 Gb/s, by
 * the physics of the cause and not by the arithmetic of the rules.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "explain/during.h"
#include "explain/limit.h"

struct world {
	struct run_facts r;
	struct run_end client, server;
};

/* RoCE at RATE_GBPS with MTU 4096, one QP, SIZE bytes a message, a second; all counters at 0. */
static void at_rate(struct world *w, double rate_gbps, uint64_t size, double gbps)
{
	double in_flight;

	run_end_unknown(&w->client, "client");
	run_end_unknown(&w->server, "server");
	w->client.rate_gbps = w->server.rate_gbps = rate_gbps;
	w->client.pcie_gbps = w->server.pcie_gbps = 230.5 * ceil(rate_gbps / 200);
	w->client.pcie_link = w->server.pcie_link = "gen4 x16 at 0000:41:00.0";
	for (int i = 0; i < PORT_EVENTS; i++)
		w->client.event[i] = w->server.event[i] = 0;
	w->r = (struct run_facts){.message_bytes = size,
				  .messages = (uint64_t)(gbps * 1e9 / 8 / (double)size),
				  .seconds = 1,
				  .gbps = gbps,
				  .mtu_bytes = 4096,
				  .packet_header_bytes = 82,
				  .qps = 1,
				  .tx_depth = 128,
				  .receives = true,
				  .reliable = true,
				  .ack_timeout_ns = 67.1e6,
				  .rnr_timer_ns = 0.64e6,
				  .sender = &w->client,
				  .receiver = &w->server,
				  .source = &w->client,
				  .sink = &w->server};
	w->client.event[PORT_SENT_BYTES] = w->server.event[PORT_RECEIVED_BYTES] =
		(double)w->r.messages * ((double)size + ceil((double)size / 4096) * 82);
	w->client.counted_s = w->server.counted_s = 1.01;
	in_flight = 128.0;
	w->client.full_share = 0.97;
	w->client.alone_ns = 5000 + (double)size * 8 / rate_gbps;
	w->client.completion_ns = in_flight * (double)size * 8 / gbps;
	w->server.busy_share = 0.4;
}

static struct world *healthy(void)
{
	static struct world w;

	at_rate(&w, 100, 65536, 97.6);
	return &w;
}

/* The rate becomes GBPS; so do the times that follow from it. */
static struct world *slowed(double gbps)
{
	struct world *w = healthy();

	at_rate(w, 100, 65536, gbps);
	return w;
}

static struct findings found;

static struct limit judge(const struct world *w)
{
	struct limit l;

	memset(&found, 0, sizeof(found));
	explain_run(&w->r, &l, &found);
	return l;
}

/* BY is the limit, and certainly so; the first finding is CODE; NULL: there is none. */
static void limited(const struct world *w, enum finding_code by, bool certain, const char *code)
{
	struct limit l = judge(w);

	bool is = l.finding.is.strength == FINDING_IS;

	if (l.finding.is.code != by || is != certain)
		fail_msg("%s%s in place of %s%s: %s", is ? "" : "maybe ",
			 finding_name(l.finding.is.code), certain ? "" : "maybe ", finding_name(by),
			 l.finding.text);
	if (code && (!found.count || strcmp(finding_name(found.list[0].is.code), code) != 0))
		fail_msg("the first finding is %s in place of %s",
			 found.count ? finding_name(found.list[0].is.code) : "none", code);
	if (!code && found.count)
		fail_msg("found %s: %s", finding_name(found.list[0].is.code), found.list[0].text);
	if (by != LIMIT_UNKNOWN) {
		assert_true(l.finding.text[0]);
		assert_null(strchr(l.finding.text, '?'));
		assert_non_null(strstr(l.finding.text, certain ? "limited by " : "may be limited by "));
	}
}

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

/* The client's port was stopped for this SHARE of the second, in the run's own priority. */
static void stopped(struct world *w, double share)
{
	w->client.event[PORT_PAUSE_RECEIVED_US] = share * 1e6;
	w->client.event[PORT_OWN_PAUSE_RECEIVED_US] = share * 1e6;
}

/* So many messages in flight, for a way of so many microseconds, fill so much of the link. */
static void by_window(void **state)
{
	static const struct {
		unsigned depth, qps;
		uint64_t size;
		double way_us;
		bool may_be; /* a lone message is on the wire for much of its time */
	} cases[] = {{1, 1, 65536, 20, true},
		     {1, 1, 4096, 3, true},
		     {2, 1, 4096, 10},
		     {16, 1, 4096, 100},
		     {4, 4, 4096, 50},
		     {128, 1, 4096, 1000},
		     {128, 4, 4096, 2000},
		     {1, 1, 8, 20},
		     {1, 1, 65536, 524, true}, /* or a cap of 1 Gb/s */
		     {1, 8, 8192, 50, true},
		     {1, 8, 64, 50},
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
		assert_non_null(strstr(judge(&w).finding.next, "-t "));
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

/* The receiver's port stopped the sender's for a share of the time. */
static void by_pause(void **state)
{
	static const double shares[] = {0.06, 0.217, 0.5, 0.9};
	struct world *w;

	(void)state;
	for (size_t i = 0; i < sizeof(shares) / sizeof(shares[0]); i++) {
		w = slowed(97.6 * (1 - shares[i]));
		stopped(w, shares[i]);
		limited(w, LIMIT_PAUSE, true, "paused");
		assert_non_null(strstr(found.list[0].cause, "A switch"));
		w->server.event[PORT_PAUSE_SENT_US] = shares[i] * 1e6;
		w->server.event[PORT_OWN_PAUSE_SENT_US] = shares[i] * 1e6;
		limited(w, LIMIT_PAUSE, true, "paused");
		assert_null(strstr(found.list[0].cause, "A switch"));
		/* and why: the host is too slow for its port */
		w->server.event[PORT_NIC_DISCARDS] = 1;
		limited(w, LIMIT_MEMORY, true, "host_too_slow");
		assert_int_equal(found.count, 1);
		/* which priority it was is not known, or it was another */
		w->server.event[PORT_NIC_DISCARDS] = 0;
		w->client.event[PORT_OWN_PAUSE_RECEIVED_US] = NAN;
		limited(w, LIMIT_PAUSE, false, "paused");
		w->client.event[PORT_OWN_PAUSE_RECEIVED_US] = 0;
		limited(w, LIMIT_UNKNOWN, false, NULL);
		stopped(w, shares[i]);
		if (shares[i] < 0.1)
			continue; /* with the other traffic the link would be full */
		/* others may have been stopped, where others were there */
		w->client.event[PORT_SENT_BYTES] *= 1.06;
		limited(w, LIMIT_PAUSE, false, "paused");
	}
}

/* Of PACKETS a second so many are lost; each costs what is in flight on a way of 10 us. */
static void by_loss(void **state)
{
	static const double lost[] = {1e-3, 3e-3, 1e-2, 0.1};
	struct world *w;
	double share;

	(void)state;
	for (size_t i = 0; i < sizeof(lost) / sizeof(lost[0]); i++) {
		double in_flight = 100 * 10e3 / (4096 * 8), good = 1 / (1 + lost[i] * in_flight);

		w = slowed(97.6 * good);
		w->client.alone_ns = 10e3;
		w->client.event[PORT_LOSS_NAKS] = lost[i] * 97.6e9 * good / 8 / 4096;
		w->server.event[PORT_LOSS_SEEN] = w->client.event[PORT_LOSS_NAKS];
		share = judge(w).finding.is.share;
		if (1 - good < 0.04)
			continue;
		limited(w, LIMIT_LOSS, true, "packet_loss");
		if (!(share > (1 - good) / 2 && share < (1 - good) * 2))
			fail_msg("%g in place of %g of the time", share, 1 - good);
	}
	/*
	 * On a wire of 40 Mb/s of which netem dropped 1 %: 0.0162 Gb/s in place of 0.0296. With
	 * the packets that were sent, the share is theirs. The shaper cost the rest, so it may be.
	 */
	w = slowed(0.0162459406);
	w->r.messages = 3072;
	w->r.message_bytes = 4096;
	w->r.seconds = 3072 * 4096 * 8 / 0.0162459406e9;
	w->r.mtu_bytes = 1024;
	w->client.alone_ns = 6167.53746e3;
	w->client.completion_ns = 129087.755e3;
	w->client.full_share = 0.742292459;
	w->client.event[PORT_LOSS_NAKS] = 109;
	limited(w, LIMIT_LOSS, false, "packet_loss");
	assert_true(found.list[0].is.share > 0.45 / 2 && found.list[0].is.share < 0.45 * 2);
	assert_non_null(strstr(found.list[0].text, "which took 11 % to 69 % of the run"));
	w->client.event[PORT_SENT_PACKETS] = 3072 * 4 / (1 - 0.45);
	limited(w, LIMIT_LOSS, false, "packet_loss");
	assert_true(fabs(found.list[0].is.share - 0.45) < 0.001);
	assert_non_null(strstr(found.list[0].text, "which took about 45 % of the run"));
	w->r.one_port = true; /* then ACKs are among them */
	limited(w, LIMIT_LOSS, false, "packet_loss");
	assert_non_null(strstr(found.list[0].text, "which took 11 % to 69 % of the run"));
	w->r.one_port = false;
	w->client.event[PORT_SENT_PACKETS] = 3072 * 400; /* other programs' */
	limited(w, LIMIT_LOSS, false, "packet_loss");
	assert_true(found.list[0].is.share < 0.7);
	/* a NAK proves no timeout */
	w = slowed(60);
	w->client.event[PORT_LOSS_NAKS] = 1;
	w->client.event[PORT_ACK_TIMEOUT] = 5;
	limited(w, LIMIT_LOSS, false, "ack_timeouts");
	/* one timeout is 67 ms of the second */
	for (unsigned timeouts = 1; timeouts < 10; timeouts++) {
		w = slowed(97.6 * (1 - timeouts * 0.0671));
		w->client.event[PORT_ACK_TIMEOUT] = timeouts;
		limited(w, LIMIT_LOSS, false, "ack_timeouts");
		assert_true(fabs(judge(w).finding.is.share - timeouts * 0.0671) < 0.001);
	}
}

/* Timeouts that are counted, while the sender never waits: soft-RoCE on a busy machine. */
static void spurious_timeouts(void **state)
{
	struct world *w = slowed(40);

	(void)state;
	w->client.event[PORT_ACK_TIMEOUT] = 12;
	w->client.full_share = 0.005;
	judge(w);
	assert_string_equal(finding_name(found.list[0].is.code), "ack_timeouts");
	assert_int_equal(found.list[0].is.level, FINDING_NOTE);
	assert_true(found.list[0].is.share <= 0.005);
	w->client.full_share = 0.9;
	judge(w);
	assert_int_equal(found.list[0].is.level, FINDING_WARN);
}

/* In both directions in turn: each end as the sender, and each link's faults once. */
static void both_ways(void **state)
{
	struct world *w = slowed(60);
	struct findings to = {0};

	(void)state;
	stopped(w, 0.3);
	w->server.event[PORT_OWN_PAUSE_RECEIVED_US] = 0.6e6;
	w->server.event[PORT_LINK_DOWNED] = 1;
	w->client.event[PORT_OWN_PAUSE_SENT_US] = 0.6e6;
	explain_both_ways(&w->r, &to);
	assert_int_equal(to.count, 3);
	assert_string_equal(finding_name(to.list[0].is.code), "link_went_down");
	assert_string_equal(to.list[0].is.end, "server");
	assert_string_equal(to.list[1].is.end, "server");
	assert_true(fabs(to.list[1].is.share - 0.6) < 0.001);
	assert_non_null(strstr(to.list[1].cause, "The client's port sent"));
	assert_string_equal(to.list[2].is.end, "client");
	assert_true(fabs(to.list[2].is.share - 0.3) < 0.001);
}

static void by_receiver(void **state)
{
	static const double naks[] = {100, 500, 1000};
	struct world *w;

	(void)state;
	for (size_t i = 0; i < sizeof(naks) / sizeof(naks[0]); i++) {
		w = slowed(97.6 * (1 - naks[i] * 0.64e-3));
		w->client.event[PORT_RNR_RECEIVED] = naks[i];
		w->server.event[PORT_NO_RECEIVE] = naks[i];
		limited(w, LIMIT_RECEIVER, true, "receiver_not_ready");
	}
	/* its loop never waits, and there is no counter that says more */
	w = slowed(40);
	w->server.busy_share = 0.99;
	limited(w, LIMIT_RECEIVER, false, NULL);
	assert_null(strstr(judge(w).finding.text, "other tasks"));
	/* nor waits a thread that is seldom on its CPU */
	w->server.cpu_share = 0.1;
	limited(w, LIMIT_RECEIVER, false, NULL);
	assert_non_null(strstr(judge(w).finding.text, "other tasks on the server's CPU"));
	w->server.cpu_share = 1;
	/* of a WRITE there is no receiver */
	w->r.receives = false;
	limited(w, LIMIT_UNKNOWN, false, NULL);
}

static void by_other_tasks(void **state)
{
	struct world *w = slowed(40);

	(void)state;
	w->client.cpu_share = 0.37;
	w->server.cpu_share = 0.9;
	limited(w, LIMIT_CORE, false, NULL);
	w->client.cpu_share = 1;
	w->server.cpu_share = 0.37;
	limited(w, LIMIT_RECEIVER, false, NULL);
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

/* What is said beside the limit. */
static void events(void **state)
{
	static const struct {
		bool at_client;
		enum port_event event;
		const char *code;
		enum finding_level level;
	} cases[] = {
		{true, PORT_LINK_DOWNED, "link_went_down", FINDING_FAULT},
		{false, PORT_LINK_DOWNED, "link_went_down", FINDING_FAULT},
		{false, PORT_CRC, "corrupt_packets", FINDING_FAULT},
		{true, PORT_SYMBOL_ERROR, "link_errors", FINDING_NOTE},
		{false, PORT_LOSS_SEEN, "out_of_order", FINDING_NOTE},
		{true, PORT_CNP_HANDLED, "congestion", FINDING_NOTE},
		{true, PORT_CNP_IGNORED, "ecn_ignored", FINDING_WARN},
		{false, PORT_ECN_MARKED, "ecn_unanswered", FINDING_WARN},
		{false, PORT_NIC_DISCARDS, "host_too_slow", FINDING_WARN},
		{false, PORT_PCI_OVERFLOW, "host_too_slow", FINDING_WARN},
		{true, PORT_LOSS_NAKS, "packet_loss", FINDING_NOTE},
		{true, PORT_PCI_CORRECTABLE, "pcie_errors_grow", FINDING_NOTE},
		{false, PORT_UPSTREAM_CORRECTABLE, "pcie_errors_grow", FINDING_NOTE},
		{false, PORT_UPSTREAM_NONFATAL, "pcie_errors_grow", FINDING_WARN},
		{true, PORT_PCI_FATAL, "pcie_errors_grow", FINDING_FAULT},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct world *w = healthy();

		(cases[i].at_client ? &w->client : &w->server)->event[cases[i].event] = 1;
		limited(w, LIMIT_LINK, true, cases[i].code);
		assert_int_equal(found.count, 1);
		assert_int_equal(found.list[0].is.level, cases[i].level);
		assert_string_equal(found.list[0].is.end, cases[i].at_client ? "client" : "server");
	}
}

/* PCIe's errors at both ends of the link are told as one; what cannot be read says nothing. */
static void pci_errors(void **state)
{
	struct world *w = healthy();

	(void)state;
	w->server.event[PORT_PCI_CORRECTABLE] = 7;
	w->server.event[PORT_UPSTREAM_CORRECTABLE] = 5;
	w->server.event[PORT_PCI_NONFATAL] = 2;
	w->server.event[PORT_UPSTREAM_FATAL] = NAN;
	limited(w, LIMIT_LINK, true, "pcie_errors_grow");
	assert_int_equal(found.count, 1);
	assert_string_equal(found.list[0].text, "the server's PCIe link had 12 correctable and 2 "
						"nonfatal errors during the run");
	assert_int_equal(found.list[0].is.level, FINDING_WARN);
	assert_string_equal(found.list[0].is.value[5].name, "errors");
	w->server.event[PORT_PCI_NONFATAL] = 0;
	judge(w);
	assert_int_equal(found.list[0].is.level, FINDING_WARN);
	for (int i = PORT_PCI_CORRECTABLE; i <= PORT_UPSTREAM_FATAL; i++)
		w->server.event[i] = NAN;
	limited(w, LIMIT_LINK, true, NULL);
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
	limited(w, LIMIT_PAUSE, true, "paused");
	assert_int_equal(found.count, 2);
	/* who stopped it is not known */
	w->server.event[PORT_NIC_DISCARDS] = 0;
	w->server.event[PORT_PAUSE_SENT_US] = w->server.event[PORT_OWN_PAUSE_SENT_US] = NAN;
	limited(w, LIMIT_PAUSE, true, "paused");
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

static double random_share(void)
{
	static uint64_t x = 88172645463325252;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	return (double)(x >> 11) / 9007199254740992.0;
}

/* What was sent again disturbs, and nothing else explains the rate; of two messages it does not. */
static void by_what_was_sent_again(void **state)
{
	struct world *w = slowed(60);

	(void)state;
	w->r.resent_share = 0.159;
	limited(w, LIMIT_LOSS, false, NULL);
	assert_non_null(strstr(judge(w).finding.text, "16 % of the messages were sent again"));
	/* an adapter in software sends again in the sender's calls, whose queue never fills */
	w->client.full_share = 0;
	limited(w, LIMIT_LOSS, false, NULL);
	w->r.resent_share = 0.01;
	limited(w, LIMIT_CORE, false, NULL);
	w = slowed(60);
	w->r.resent_share = 2 / (double)w->r.messages;
	limited(w, LIMIT_UNKNOWN, false, NULL);
	w->r.messages = 320;
	w->client.event[PORT_SENT_BYTES] = w->server.event[PORT_RECEIVED_BYTES] = 0;
	w->r.resent_share = 2 / 320.0;
	limited(w, LIMIT_UNKNOWN, false, NULL);
}

/* Rates that nothing explains, counters that moved a little, ends that tell nothing. */
static void accuses_nothing(void **state)
{
	(void)state;
	for (int i = 0; i < 1000; i++) {
		struct world *w = slowed(97.6 * (0.3 + 0.69 * random_share()));
		struct limit l;

		w->client.full_share = 0.1 + 0.9 * random_share();
		w->server.busy_share = 0.89 * random_share();
		w->client.event[PORT_PAUSE_RECEIVED_US] = 9e3 * random_share();
		w->client.event[PORT_RNR_RECEIVED] = floor(15 * random_share());
		w->client.event[PORT_LOSS_NAKS] = floor(10 * random_share());
		w->server.event[PORT_LOSS_SEEN] = floor(1000 * random_share());
		if (i % 3 == 0)
			run_end_unknown(&w->server, "server");
		if (i % 5 == 0)
			w->client.alone_ns = w->client.completion_ns = NAN;
		l = judge(w);
		if (l.finding.is.code != LIMIT_UNKNOWN && l.finding.is.code != LIMIT_LINK)
			fail_msg("%d: %s", i, l.finding.text);
		for (size_t k = 0; k < found.count; k++)
			assert_int_equal(found.list[k].is.level, FINDING_NOTE);
	}
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
		cmocka_unit_test(by_window),        cmocka_unit_test(by_pause),
		cmocka_unit_test(by_loss),          cmocka_unit_test(spurious_timeouts),
		cmocka_unit_test(both_ways),        cmocka_unit_test(by_receiver),
		cmocka_unit_test(by_other_tasks),   cmocka_unit_test(by_one_qp),
		cmocka_unit_test(events),           cmocka_unit_test(pci_errors),
		cmocka_unit_test(looks_alike),      cmocka_unit_test(accuses_nothing),
		cmocka_unit_test(unknown_ceilings), cmocka_unit_test(by_what_was_sent_again),
	};

	return cmocka_run_group_tests_name("limit", tests, NULL, NULL);
}
