// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What each kind of suspect is called, and what to do about it. */
#include <string.h>

#include "judge.h"

static const struct judge_kind kind[SUSPECT_KINDS] = {
	[SUSPECT_NEVER_CAME] = {"never_came", "did not start",
				"is the host up, and does the launcher start a process there?"},
	[SUSPECT_ENDED] = {"ended_early", "ended early",
			   "the launcher's output and the host's log say what ended the process"},
	[SUSPECT_DEVICE] = {"device", "device cannot be used",
			    "run `write_bw --check` there: port state, driver, limits"},
	[SUSPECT_DATA] = {"data", "data arrived wrong",
			  "do not use it: check memory (ECC), cable and firmware; `--verify` with "
			  "other partners"},
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
	[SUSPECT_RAIL] = {"rail_slow", "slow rails",
			  "check that device's cable, its port's counters and its PCIe link"},
	[SUSPECT_GROUP] = {"group_slow", "slow between groups, and good within them",
			   "check the uplinks of either group, and the counters of their ports"},
	[SUSPECT_LATENCY] = {"latency_high", "high latency",
			     "check C-states and frequency (`--check`), and the routes"},
	[SUSPECT_TAIL] = {"tail_long", "p99 latency far above the median",
			  "what else runs there? check interrupts, C-states, pause frames"},
	[SUSPECT_STARVES] = {"sender_starves", "senders that starve in an incast",
			     "measure it alone (--retest); if it is good there, compare its "
			     "service level, ECN and PFC with the others'",
			     "run `write_bw --check` there"},
	[SUSPECT_WORSE] = {"worse", "slower than in the baseline", "what has changed there since?"},
	[SUSPECT_PAIR] = {"pair_slow", "slow pairs of good nodes",
			  "measure them again alone (--retest); then try other routes: "
			  "--flow_label, more QPs",
			  "try other routes: --flow_label, more QPs"},
	[SUSPECT_PAIR_BROKE] = {"pair_lost", "pairs of good nodes without a figure",
				"measure them again (--retest)"},
};

static const struct judge_kind few = {
	"pair_slow", "slow pairs, too few partners to say which of both nodes it is",
	"measure them with more nodes, or run `write_bw --check` on both"};

static const struct judge_kind loaded = {"slow_under_load", "slow only under load, good alone",
					 "check oversubscription, PFC and ECN, adaptive routing"};

const struct judge_kind *judge_kind(const struct suspect *s)
{
	if (s->proof == SUSPECT_LOAD && s->kind != SUSPECT_STARVES)
		return &loaded;
	return s->kind == SUSPECT_PAIR && s->few_partners ? &few : &kind[s->kind];
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

/* What is known of a host; the largest one counts. */
enum {
	HOST_UNKNOWN,
	HOST_GOOD,
	HOST_UNDECIDED,
	HOST_SUSPECT,
	HOST_LOST
};

static void set_host(const struct judgement *j, uint32_t player, char state)
{
	char *to = &j->hosts[j->body->player[player].host];

	*to = *to > state ? *to : state;
}

/* An end of a bad pair that has too few other partners may be the cause, or not. */
static void set_ends(const struct judgement *j, const struct suspect *s)
{
	if (!level_is_known(&j->level, MATRIX_SEND, s->a))
		set_host(j, s->a, HOST_UNDECIDED);
	if (!level_is_known(&j->level, MATRIX_RECEIVE, s->b))
		set_host(j, s->b, HOST_UNDECIDED);
}

struct judge_count judge_count(const struct judgement *j)
{
	const struct body *b = j->body;
	struct judge_count c = {0};

	memset(j->hosts, HOST_UNKNOWN, b->hosts.count);
	for (uint32_t i = 0; i < j->m.cells; i++) {
		if (!j->m.cell[i].measured)
			continue;
		set_host(j, j->m.cell[i].from, HOST_GOOD);
		set_host(j, j->m.cell[i].to, HOST_GOOD);
	}
	for (uint32_t i = 0; i < j->suspects.count; i++) {
		const struct suspect *s = &j->suspects.of[i];

		if (s->b == SUSPECT_NONE)
			set_host(j, s->a, suspect_is_lost(s->kind) ? HOST_LOST : HOST_SUSPECT);
		else if (s->kind != SUSPECT_GROUP)
			set_ends(j, s);
	}
	for (uint32_t i = 0; i < b->hosts.count; i++) {
		c.good += j->hosts[i] == HOST_GOOD;
		c.suspect += j->hosts[i] == HOST_SUSPECT;
		c.lost += j->hosts[i] == HOST_LOST;
	}
	c.undecided = b->hosts.count - c.good - c.suspect - c.lost;
	return c;
}

double judge_covered(const struct judgement *j)
{
	double all = (double)j->m.players * (j->m.players - 1);

	return all > 0 ? j->m.cells / all : 1;
}
