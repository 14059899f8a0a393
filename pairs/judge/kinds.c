// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What each kind of suspect is called, and what to do about it. */
#include <stdlib.h>

#include "judge.h"

static const struct judge_kind kind[SUSPECT_KINDS] = {
	[SUSPECT_NEVER_CAME] = {"never_came", "did not start",
				"is the host up, and does the launcher start a process there?"},
	[SUSPECT_ENDED] = {"ended_early", "ended early",
			   "the launcher's output and the host's log say what ended the process"},
	[SUSPECT_DEVICE] = {"device", "device cannot be used",
			    "run `write_bw --check` there: port state, driver, limits"},
	[SUSPECT_CLOCK] = {"clock", "clock is wrong",
			   "run `chronyc tracking` there; rounds start by the clock"},
	[SUSPECT_UNREACHABLE] = {"unreachable", "could not connect",
				 "check cable and port (`rdmark list`), address and firewall"},
	[SUSPECT_BROKE] = {"lost", "runs ended without a figure",
			   "run one pair by hand: its message names the call"},
	[SUSPECT_LATE] = {"late", "missed slots",
			  "what else ran there? longer slots (--slot) do not cure a busy host"},
	[SUSPECT_NODE] = {"node_slow", "slow nodes",
			  "run `write_bw --check` there; measure it again alone (--retest)",
			  "run `write_bw --check` there"},
	[SUSPECT_RAIL] = {"rail_slow", "slow rails (other devices of the host are good)",
			  "check that device's cable, its port's counters and its PCIe link"},
	[SUSPECT_GROUP] = {"group_slow", "slow between groups, and good within them",
			   "check the uplinks of either group, and the counters of their ports"},
	[SUSPECT_LATENCY] = {"latency_high", "high latency",
			     "check C-states and frequency (`--check`), and the routes"},
	[SUSPECT_TAIL] = {"tail_long", "p99 latency far above the median",
			  "what else runs there? check interrupts, C-states, pause frames"},
	[SUSPECT_WORSE] = {"worse", "slower than in the baseline", "what has changed there since?"},
	[SUSPECT_PAIR] = {"pair_slow", "slow pairs of good nodes",
			  "measure them again alone (--retest); then try other routes: "
			  "--flow_label, more QPs",
			  "try other routes: --flow_label, more QPs"},
	[SUSPECT_PAIR_BROKE] = {"pair_lost", "pairs of good nodes without a figure",
				"measure them again (--retest)"},
};

static const struct judge_kind loaded = {"slow_under_load", "slow only under load, good alone",
					 "check oversubscription, PFC and ECN, adaptive routing"};

const struct judge_kind *judge_kind(const struct suspect *s)
{
	return s->proof == SUSPECT_LOAD ? &loaded : &kind[s->kind];
}

const char *judge_next(const struct suspect *s, uint32_t count)
{
	const struct judge_kind *of = judge_kind(s);

	for (uint32_t i = 0; i < count; i++)
		if (s[i].proof != SUSPECT_CONFIRMED)
			return of->next;
	return of->next_alone ? of->next_alone : of->next;
}

const char *judge_name(const struct judgement *j, const struct suspect *s, uint32_t which)
{
	const struct body *b = j->body;

	if (s->kind == SUSPECT_GROUP)
		return j->groups->names.text[which];
	return s->is_host ? b->hosts.text[b->player[which].host] : b->names.text[which];
}

const char *judge_way(const struct suspect *s)
{
	if (s->sends == s->receives)
		return "both ways";
	return s->sends ? "sending" : "receiving";
}

void judge_count(const struct judgement *j, uint32_t *good, uint32_t *lost)
{
	const struct body *b = j->body;
	char *hosts = calloc((size_t)b->hosts.count + 1, 1);

	*good = *lost = 0;
	for (uint32_t i = 0; i < j->suspects.count && hosts; i++) {
		const struct suspect *s = &j->suspects.of[i];

		if (s->b != SUSPECT_NONE)
			continue;
		hosts[b->player[s->a].host] |= suspect_is_lost(s->kind) ? 2 : 1;
	}
	for (uint32_t i = 0; i < b->hosts.count && hosts; i++) {
		*good += !hosts[i];
		*lost += hosts[i] >= 2;
	}
	free(hosts);
}

double judge_covered(const struct judgement *j)
{
	double all = (double)j->m.players * (j->m.players - 1);

	return all > 0 ? j->m.cells / all : 1;
}
