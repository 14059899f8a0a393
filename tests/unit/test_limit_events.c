// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * limit: situations that the counters of the ports show, each of which is named rightly; and
 * healthy or noisy ones, in which nothing is accused.
 */
#include "limit_world.h"

/* The receiver's port stopped the sender's for a share of the time. */
static void by_pause(void **state)
{
	static const double shares[] = {0.06, 0.217, 0.5, 0.9};
	struct world *w;

	(void)state;
	for (size_t i = 0; i < sizeof(shares) / sizeof(shares[0]); i++) {
		w = slowed(97.6 * (1 - shares[i]));
		stopped(w, shares[i]);
		limited(w, LIMIT_PAUSE, false, "paused");
		assert_non_null(strstr(found.list[0].cause, "A switch"));
		w->server.event[PORT_PAUSE_SENT_US] = shares[i] * 1e6;
		limited(w, LIMIT_PAUSE, false, "paused");
		assert_null(strstr(found.list[0].cause, "A switch"));
		/* and why: the host is too slow for its port */
		w->server.event[PORT_NIC_DISCARDS] = 1;
		limited(w, LIMIT_MEMORY, false, "host_too_slow");
		assert_int_equal(found.count, 1);
		w->server.event[PORT_NIC_DISCARDS] = 0;
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
	/* a NAK proves no timeout */
	w = slowed(60);
	w->client.event[PORT_LOSS_NAKS] = 1;
	w->client.event[PORT_ACK_TIMEOUT] = 5;
	limited(w, LIMIT_LOSS, false, "ack_timeouts");
	/* one timeout is 67 ms of the second; one or two happen, and are no limit */
	for (unsigned timeouts = 1; timeouts < 10; timeouts++) {
		w = slowed(97.6 * (1 - timeouts * 0.0671));
		w->client.event[PORT_ACK_TIMEOUT] = timeouts;
		limited(w, timeouts < 3 ? LIMIT_UNKNOWN : LIMIT_LOSS, false, "ack_timeouts");
		assert_true(fabs(found.list[0].is.share - timeouts * 0.0671) < 0.001);
	}
	/* late is not lost: the end that answers lacked its CPU */
	assert_non_null(strstr(judge(w).finding.text, "limited by late or lost ACKs: none came in"));
	w->server.cpu_share = 0.45;
	limited(w, LIMIT_RECEIVER, false, "ack_timeouts");
}

/* Software has no switch, no PFC and no discards: it has its own next step. */
static void of_software(void **state)
{
	struct world *w = slowed(60);

	(void)state;
	for (int software = 0; software < 2; software++) {
		w->r.software = software;
		w->client.event[PORT_ACK_TIMEOUT] = 5;
		w->client.event[PORT_LOSS_NAKS] = 5;
		judge(w);
		assert_int_equal(found.count, 2);
		for (int i = 0; i < 2; i++) {
			assert_int_equal(!strstr(found.list[i].next, "switch"), software);
			assert_int_equal(!strstr(found.list[i].next, "which is software"),
					 !software);
		}
		w->client.event[PORT_ACK_TIMEOUT] = w->client.event[PORT_LOSS_NAKS] = 0;
		w->r.resent_share = 0.159;
		assert_int_equal(!strstr(judge(w).finding.next, "PFC"), software);
		w->r.resent_share = NAN;
	}
}

/*
 * On a wire of 40 Mb/s of which netem dropped 1 %: 0.0162 Gb/s in place of 0.0296. With the packets
 * that were sent, the share is theirs. The shaper cost the rest, so it may be.
 */
static void by_measured_loss(void **state)
{
	struct world *w = slowed(0.0162459406);

	(void)state;
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
	/* one message at a time, as fast as the way allows for 0.7 of the second */
	w->client.event[PORT_ACK_TIMEOUT] = 6;
	w->r.tx_depth = 1;
	w->client.completion_ns = (double)w->r.message_bytes * 8 / w->r.gbps;
	w->client.alone_ns = 0.7 * w->client.completion_ns;
	limited(w, LIMIT_UNKNOWN, false, "ack_timeouts");
	/* software sends late where its CPU is another task's */
	w->client.alone_ns /= 10;
	limited(w, LIMIT_LOSS, false, "ack_timeouts");
	w->r.software = true;
	w->client.cpu_share = 0.3;
	limited(w, LIMIT_UNKNOWN, false, "ack_timeouts");
	/* and its timer, set for one message, sends a later one again */
	w->r.resent_share = 0.1;
	limited(w, LIMIT_UNKNOWN, false, "ack_timeouts");
	w->r.tx_depth = 128;
	limited(w, LIMIT_UNKNOWN, false, "ack_timeouts"); /* it lacked its CPU for longer */
	w->r.resent_share = 0.75;
	limited(w, LIMIT_LOSS, false, "ack_timeouts");
}

/* In both directions in turn: each end as the sender, and each link's faults once. */
static void both_ways(void **state)
{
	struct world *w = slowed(60);
	struct findings to = {0};

	(void)state;
	stopped(w, 0.3);
	w->server.event[PORT_PAUSE_RECEIVED_US] = 0.6e6;
	w->server.event[PORT_LINK_DOWNED] = 1;
	w->client.event[PORT_PAUSE_SENT_US] = 0.6e6;
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
	/* in software each costs as much as a message; and before that of its CPU, and of loss */
	w = slowed(1);
	w->r.software = true;
	w->client.rate_gbps = w->server.rate_gbps = w->client.pcie_gbps = w->server.pcie_gbps = NAN;
	w->r.messages = 5000;
	w->r.seconds = 16.3;
	w->r.resent_share = 0.12;
	w->client.cpu_share = w->server.cpu_share = 0.77;
	w->client.full_share = 0.2;
	w->client.event[PORT_RNR_RECEIVED] = w->server.event[PORT_NO_RECEIVE] = 730;
	limited(w, LIMIT_RECEIVER, false, "receiver_not_ready");
	assert_non_null(strstr(judge(w).finding.text, "not ready for 730 messages"));
	assert_non_null(strstr(judge(w).finding.next, "a larger -r"));
	/* its loop never waits, and there is no counter that says more */
	w = slowed(40);
	w->server.busy_share = 0.99;
	limited(w, LIMIT_RECEIVER, false, NULL);
	assert_null(strstr(judge(w).finding.text, "other tasks"));
	/* nor waits a thread that is seldom on its CPU */
	w->server.cpu_share = 0.1;
	limited(w, LIMIT_RECEIVER, false, NULL);
	assert_non_null(strstr(judge(w).finding.text, "the server's CPU, which other tasks used, too: "));
	w->server.cpu_share = 1;
	/* of a WRITE there is no receiver */
	w->r.receives = false;
	limited(w, LIMIT_UNKNOWN, false, NULL);
}

/* What this run cannot have had is other QPs': it needs no receives, or they did not wait so long. */
static void of_other_qps(void **state)
{
	(void)state;
	for (int receives = 0; receives < 2; receives++) {
		struct world *w = slowed(60);

		w->r.receives = receives;
		w->client.event[PORT_RNR_RECEIVED] = receives ? 3000 : 36;
		limited(w, LIMIT_UNKNOWN, false, "other_traffic");
		assert_int_equal(found.count, 1);
		assert_non_null(strstr(found.list[0].text, "messages of other QPs of the client's"));
	}
}

/* What is said next to the limit. */
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(by_pause),
		cmocka_unit_test(by_loss),
		cmocka_unit_test(by_measured_loss),
		cmocka_unit_test(spurious_timeouts),
		cmocka_unit_test(both_ways),
		cmocka_unit_test(by_receiver),
		cmocka_unit_test(of_other_qps),
		cmocka_unit_test(of_software),
		cmocka_unit_test(events),
		cmocka_unit_test(pci_errors),
		cmocka_unit_test(by_what_was_sent_again),
		cmocka_unit_test(accuses_nothing),
	};

	return cmocka_run_group_tests_name("limit_events", tests, NULL, NULL);
}
