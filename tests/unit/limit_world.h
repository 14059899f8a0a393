/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * limit_world: a run in a made situation, and what is said to limit it. The rate of a situation is
 * what its cause leaves of a link of 100 Gb/s, by the physics of the cause and not by the
 * arithmetic of the rules.
 */
#ifndef RDMARK_TESTS_UNIT_LIMIT_WORLD_H
#define RDMARK_TESTS_UNIT_LIMIT_WORLD_H

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
#include "run_end.h"

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
				  .noise = NAN,
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
		assert_non_null(
			strstr(l.finding.text, certain ? "limited by " : "may be limited by "));
	}
}

/* The client's port was stopped for this SHARE of the second. */
static void stopped(struct world *w, double share)
{
	w->client.event[PORT_PAUSE_RECEIVED_US] = share * 1e6;
}

#endif
