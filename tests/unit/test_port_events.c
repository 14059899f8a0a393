// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * port_events: a port without counters, sources that come and go, several ports at once. The
 * drivers are in test_port_drivers.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include <math.h>

#include "base/clock.h"
#include "host/port_events.h"
#include "interfaces.h"
#include "tree.h"

#define PORT "class/infiniband/dev0/ports/1/"

static struct port_changes changes(struct port_events *p)
{
	struct port_changes to;

	port_events_stop(p);
	port_events_changes(p, &to);
	return to;
}

/* A port without any counter, such as siw's: all is unknown, with a reason, and nothing is 0. */
static void nothing_there(void **state)
{
	struct port_snapshot s = {.ports = 1};
	struct port_events p;
	bool packets;

	(void)state;
	port_events_open(&p, "dev0", 1, NULL, "0000:41:00.0");
	port_events_start(&p);
	s.port[0] = changes(&p);
	for (int i = 0; i < PORT_EVENTS; i++) {
		assert_true(s.port[0].event[i].known > PORT_AT_LEAST);
		assert_true(isnan(port_snapshot_value(&s, i)));
		assert_non_null(port_known_row(s.port[0].event[i].known)->text);
	}
	assert_true(isnan(port_snapshot_resent(&s, &packets)));
	assert_true(isnan(port_snapshot_timeouts(&s, &s)));
	assert_true(isnan(port_snapshot_lost(&s)));
	s.ports = 0;
	assert_int_equal(port_snapshot_event(&s, PORT_DEAD).known, PORT_UNTOLD);
}

/* What was there before the run is gone after it, or came in its course. */
static void sources_that_vanish(void **state)
{
	struct port_events p;
	struct port_changes to;

	tree_put(state, PORT "hw_counters/packet_seq_err", "1\n");
	tree_put(state, "ethtool/eth0", "rx_discards_phy: 4\nrx_prio0_pause_duration: 9\n");
	port_events_open(&p, "dev0", 1, "eth0", "0000:41:00.0");
	port_events_start(&p);
	remove(tree_path(state, PORT "hw_counters/packet_seq_err"));
	tree_put(state, "ethtool/eth0", "rx_prio0_pause_duration: 9\n");
	to = changes(&p);
	assert_int_equal(to.event[PORT_LOSS_NAKS].known, PORT_UNREADABLE);
	assert_string_equal(to.event[PORT_LOSS_NAKS].own, "packet_seq_err");
	assert_int_equal(to.event[PORT_NIC_DISCARDS].known, PORT_UNREADABLE);
	assert_int_equal(to.event[PORT_PAUSE_RECEIVED_US].known, PORT_UNREADABLE);
}

/* An interface of another namespace may have a name that is also here: its PCI device tells. */
static void namesakes(void **state)
{
	static const struct {
		const char *netdev, *device; /* NULL: a virtual interface */
		enum port_known known;
	} one[] = {
		{"eth0", "/devices/0000:41:00.0", PORT_EXACT},
		{"eth1", "/devices/0000:42:00.0", PORT_OTHER_NAMESPACE},
		{"veth", NULL, PORT_OTHER_NAMESPACE},
		{"bond0", NULL, PORT_EXACT},
		{"nowhere", NULL, PORT_OTHER_NAMESPACE},
	};
	char path[128];

	tree_put(state, "devices/0000:41:00.0/vendor", "0x15b3\n");
	tree_put(state, "devices/0000:42:00.0/vendor", "0x15b3\n");
	tree_link(state, "class/infiniband/dev0/device", "/devices/0000:41:00.0");
	tree_put(state, "class/net/veth/mtu", "1500\n");
	tree_put(state, "class/net/bond0/bonding/mode", "802.3ad 4\n");
	for (size_t i = 0; i < sizeof(one) / sizeof(one[0]); i++) {
		struct port_events p;

		snprintf(path, sizeof(path), "class/net/%s/device", one[i].netdev);
		if (one[i].device)
			tree_link(state, path, one[i].device);
		snprintf(path, sizeof(path), "ethtool/%s", one[i].netdev);
		if (strcmp(one[i].netdev, "nowhere") != 0)
			tree_put(state, path, "     rx_discards_phy: 0\n");
		port_events_open(&p, "dev0", 1, one[i].netdev, "0000:41:00.0");
		assert_int_equal(p.ethtool_known, one[i].known);
		port_events_start(&p);
		assert_int_equal(changes(&p).event[PORT_FCS_ERRORS].known,
				 one[i].known == PORT_EXACT ? PORT_NOT_COUNTED : one[i].known);
	}
}

/* Whoever asks may not know the interface: the port's first GID does, or its link says why not. */
static void unknown_netdev(void **state)
{
	struct port_events p;

	tree_put(state, PORT "link_layer", "InfiniBand\n");
	port_events_open(&p, "dev0", 1, "", "0000:41:00.0");
	assert_int_equal(p.ethtool_known, PORT_NO_NETDEV);
	tree_put(state, PORT "link_layer", "Ethernet\n");
	port_events_open(&p, "dev0", 1, "", "0000:41:00.0");
	assert_int_equal(p.ethtool_known, PORT_OTHER_NAMESPACE);
	tree_put(state, PORT "gid_attrs/ndevs/0", "eth3\n");
	tree_put(state, "ethtool/eth3", "rx_discards_phy: 4\n");
	port_events_open(&p, "dev0", 1, NULL, "0000:41:00.0");
	assert_int_equal(p.ethtool_known, PORT_EXACT);
	assert_string_equal(p.netdev, "eth3");
}

/* AER of the function and of the port above it; each may be missing, with its reason. */
static void pci_errors(void **state)
{
	struct port_events p;
	struct port_changes to;

	tree_put(state, "devices/pci0000:40/0000:40:01.0/aer_dev_correctable",
		 "RxErr 3\nBadTLP 4\nTOTAL_ERR_COR 7\n");
	tree_put(state, "devices/pci0000:40/0000:40:01.0/aer_dev_nonfatal",
		 "TOTAL_ERR_NONFATAL 1\n");
	tree_put(state, "devices/pci0000:40/0000:40:01.0/aer_dev_fatal", "TOTAL_ERR_FATAL 0\n");
	tree_put(state, "devices/pci0000:40/0000:40:01.0/0000:41:00.0/vendor", "0x15b3\n");
	tree_link(state, "bus/pci/devices/0000:41:00.0",
		  "/devices/pci0000:40/0000:40:01.0/0000:41:00.0");
	tree_link(state, "bus/pci/devices/0000:40:01.0", "/devices/pci0000:40/0000:40:01.0");
	port_events_open(&p, "dev0", 1, "", "0000:41:00.0");
	port_events_start(&p);
	tree_put(state, "devices/pci0000:40/0000:40:01.0/aer_dev_correctable",
		 "RxErr 3\nBadTLP 9\nTOTAL_ERR_COR 12\n");
	to = changes(&p);
	assert_int_equal(to.event[PORT_UPSTREAM_CORRECTABLE].known, PORT_EXACT);
	assert_int_equal(to.event[PORT_UPSTREAM_CORRECTABLE].change, 5);
	assert_string_equal(to.event[PORT_UPSTREAM_CORRECTABLE].own, "aer_dev_correctable");
	assert_int_equal(to.event[PORT_UPSTREAM_NONFATAL].known, PORT_EXACT);
	assert_int_equal(to.event[PORT_UPSTREAM_NONFATAL].change, 0);
	assert_int_equal(to.event[PORT_PCI_CORRECTABLE].known, PORT_NO_AER);
	/* it vanishes: no zero */
	remove(tree_path(state, "devices/pci0000:40/0000:40:01.0/aer_dev_fatal"));
	assert_int_equal(changes(&p).event[PORT_UPSTREAM_FATAL].known, PORT_UNREADABLE);
	port_events_open(&p, "dev0", 1, "", "");
	port_events_start(&p);
	to = changes(&p);
	assert_int_equal(to.event[PORT_PCI_FATAL].known, PORT_NO_PCI);
	assert_int_equal(to.event[PORT_UPSTREAM_FATAL].known, PORT_NO_PCI);
}

/* Several ports: counts add up, durations and gauges do not. */
static void several_ports(void **state)
{
	struct port_snapshot s = {.ports = 3};
	struct port_change c;

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		struct port_change *e = s.port[i].event;

		e[PORT_LOSS_NAKS] = (struct port_change){PORT_EXACT, i + 1, "packet_seq_err"};
		e[PORT_PAUSE_RECEIVED_US] = (struct port_change){PORT_EXACT, 70 - (int)i, "x"};
		e[PORT_DEAD].known = PORT_NOT_COUNTED;
	}
	s.port[0].event[PORT_CRC].known = PORT_SATURATED;
	s.port[2].event[PORT_CRC] = (struct port_change){PORT_AT_LEAST, 5, "y"};
	s.port[1].event[PORT_LOSS_NAKS].known = PORT_AT_LEAST;
	c = port_snapshot_event(&s, PORT_LOSS_NAKS);
	assert_int_equal(c.change, 6);
	assert_int_equal(c.known, PORT_AT_LEAST);
	assert_true(port_snapshot_value(&s, PORT_PAUSE_RECEIVED_US) == 70);
	assert_true(port_snapshot_value(&s, PORT_CRC) == 5);
	assert_int_equal(port_snapshot_event(&s, PORT_DEAD).known, PORT_NOT_COUNTED);
}

/* The kernel would say again what it said at the start; the first reading need not wait. */
static void old_values(void **state)
{
	uint64_t start_ns;
	struct port_events p;

	tree_put(state, PORT "hw_counters/packet_seq_err", "1");
	tree_put(state, PORT "hw_counters/lifespan", "15");
	port_events_open(&p, "dev0", 1, NULL, "0000:41:00.0");
	assert_true(p.age.read_ns == 0);
	port_events_start(&p);
	start_ns = clock_now_ns();
	port_events_stop(&p);
	assert_true(clock_now_ns() - start_ns >= 15000000);
	tree_put(state, PORT "hw_counters/lifespan", "999999999");
	port_events_open(&p, "dev0", 1, NULL, "0000:41:00.0");
	assert_true(p.age.lifespan_ns <= 50000000);
}

/* Each name finds itself. */
static void names(void **state)
{
	(void)state;
	for (int i = 0; i < PORT_EVENTS; i++) {
		assert_int_equal(port_event_find(port_event_row(i)->name), i);
		assert_non_null(port_event_row(i)->unit);
	}
	assert_int_equal(port_event_find("loss"), PORT_EVENTS);
	for (int i = 0; i < PORT_KNOWN_KINDS; i++)
		assert_int_equal(port_known_find(port_known_row(i)->name), i);
	assert_int_equal(port_known_find(""), PORT_KNOWN_KINDS);
	assert_string_equal(port_event_own(PORT_RNR_RECEIVED, "RNR received"), "RNR received");
	assert_null(port_event_own(PORT_RNR_RECEIVED, "packet_seq_err"));
}

/* rxe: restarts are NAKs as far as the peer saw gaps, and the rest are timeouts. */
static void restarts(void **state)
{
	static const struct {
		int naks, restarts, gaps, all_naks, timeouts;
	} cases[] = {{98, 121, 119, 119, 2}, {0, 2, 2, 2, 0}, {6, 9, 0, 6, 3},
		     {4, 9, 100, 4, 5},      {0, 3, 0, 0, 3}, {9, 9, 1, 9, 0}};
	struct port_snapshot s = {.ports = 1}, peer = {.ports = 1};
	struct port_change *mine = s.port[0].event, *theirs = peer.port[0].event;

	(void)state;
	for (int i = 0; i < PORT_EVENTS; i++)
		mine[i].known = theirs[i].known = PORT_NOT_COUNTED;
	mine[PORT_RETRANSMITTED] =
		(struct port_change){.known = PORT_EXACT, .own = "completer_retry_err"};
	mine[PORT_LOSS_NAKS].known = theirs[PORT_LOSS_SEEN].known = PORT_EXACT;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		mine[PORT_LOSS_NAKS].change = cases[i].naks;
		mine[PORT_RETRANSMITTED].change = cases[i].restarts;
		theirs[PORT_LOSS_SEEN].change = cases[i].gaps;
		assert_int_equal(port_snapshot_naks(&s, &peer), cases[i].all_naks);
		assert_int_equal(port_snapshot_timeouts(&s, &peer), cases[i].timeouts);
	}
	/* a peer that tells nothing */
	theirs[PORT_LOSS_SEEN].known = PORT_NOT_COUNTED;
	mine[PORT_RETRANSMITTED].change = 12;
	assert_int_equal(port_snapshot_naks(&s, &peer), 9);
	assert_int_equal(port_snapshot_timeouts(&s, &peer), 3);
}
#define WITH_TREE(test) cmocka_unit_test_setup_teardown(test, tree_make, tree_remove)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_TREE(nothing_there),        WITH_TREE(sources_that_vanish),
		WITH_TREE(namesakes),            WITH_TREE(unknown_netdev),
		WITH_TREE(old_values),           WITH_TREE(pci_errors),
		cmocka_unit_test(restarts),      cmocka_unit_test(several_ports),
		cmocka_unit_test(names),
	};

	return cmocka_run_group_tests_name("port_events", tests, NULL, NULL);
}
