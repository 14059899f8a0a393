// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The lines of a run. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "base/text.h"
#include "base/units.h"
#include "pairs/lines.h"
#include "run.h"

#define DIGITS    9
#define ERROR_MIN 16 /* of an error that is cut */

/* Drop the last element of the array KEY, and the last finding with its array. Returns false if
 * there is none. */
static bool drop_last(json_t *m, const char *key)
{
	json_t *list = json_object_get(m, key);
	size_t n = json_array_size(list);

	if (n == 1 && strcmp(key, "findings") == 0)
		return json_object_del(m, key) == 0;
	return n && json_array_remove(list, n - 1) == 0;
}

/* Make the error at least EXCESS bytes shorter. Returns false if nothing would be left. */
static bool cut_error(json_t *m, size_t excess)
{
	static const char dots[] = "...";
	json_t *error = json_object_get(m, "error");
	size_t bytes = json_string_length(error), cut = excess + sizeof(dots);
	char text[RUN_LINE_BYTES];
	size_t most = sizeof(text) - sizeof(dots);

	if (bytes < cut + ERROR_MIN)
		return false;
	text_copy(text, bytes - cut < most ? bytes - cut : most, json_string_value(error));
	text_add(text, sizeof(text), "%s", dots);
	return json_string_set(error, text) == 0;
}

char *run_line_text(json_t *m)
{
	for (;;) {
		char *text = json_dumps(m, JSON_COMPACT | JSON_REAL_PRECISION(DIGITS));
		size_t n = text ? strlen(text) : 0;

		/* Take off what matters least, if not all of it matters. */
		if (n <= RUN_LINE_BYTES ||
		    !(drop_last(m, "findings") || json_object_del(m, "fix") == 0 ||
		      cut_error(m, n - RUN_LINE_BYTES) || drop_last(m, "options")))
			return text;
		free(text);
	}
}

/* Write the line M (stolen) at once, or what fits into a line of it. */
static void say(struct run *r, json_t *m)
{
	char *text = run_line_text(m);
	size_t n = text ? strlen(text) : 0;

	json_decref(m);
	if (n) {
		text[n++] = '\n';
		if (!r->deaf)
			r->deaf = outlet_write(&r->streams.out, text, n);
	}
	free(text);
}

/* TEXT; NULL, which json_pack() leaves out after o*: there is none, or it is not UTF-8. */
static json_t *word(const char *text)
{
	return text && *text ? json_string(text) : NULL;
}

/* A rate in Gb/s; NULL: not known. */
static json_t *rate(double gbps)
{
	return gbps > 0 ? json_real(gbps) : NULL;
}

static const char *name_of(const struct run *r, uint32_t host)
{
	return r->players.hosts.host[host].name;
}

/* Seconds, to the millisecond. */
static json_t *seconds(double s)
{
	return json_real(round(s * 1e3) / 1e3);
}

/* A line of KIND of the player of RAIL. */
static json_t *player_line(const struct run *r, const char *kind, unsigned rail)
{
	return json_pack("{s:s, s:s, s:I, s:s, s:o*}", "kind", kind, "run", r->id, "player",
			 (json_int_t)r->players.self * r->players.rails + rail, "host",
			 name_of(r, r->players.self), "rail", word(r->players.rail[rail]));
}

void run_say_player(struct run *r, unsigned rail)
{
	json_t *m = player_line(r, "player", rail), *options = json_array();
	const char *name = r->asked.schedule.name, *joined = strstr(name, "=" LINES_JOINED);
	size_t bytes = joined ? (size_t)(joined - name) : strlen(name);
	uint64_t at_once = r->asked.schedule.at_once;
	time_t start_s = (time_t)(r->time.start_ns / UNITS_NS_PER_S);
	struct tm tm;
	char start[64];

	strftime(start, sizeof(start), "%Y-%m-%dT%H:%M:%S", gmtime_r(&start_s, &tm));
	text_add(start, sizeof(start), ".%03uZ", (unsigned)(r->time.start_ns / 1000000 % 1000));
	for (size_t i = 0; i < r->line.words; i++)
		json_array_append_new(options, json_string(r->line.word[i]));
	json_object_update_new(
		m,
		json_pack("{s:i, s:s, s:I, s:I, s:s%, s:I, s:I, s:s, s:o, s:b, s:b, s:s, s:o, s:s, "
			  "s:o*, s:o*}",
			  "rdmark_pairs", 1, "generator", "rdmark-pairs " RDMARK_VERSION, "players",
			  (json_int_t)r->players.hosts.n * r->players.rails, "hosts",
			  (json_int_t)r->players.hosts.n, "schedule", name, bytes, "seed",
			  (json_int_t)r->asked.schedule.seed, "rounds",
			  (json_int_t)r->schedule.rounds, "start_utc", start, "slot_s",
			  seconds((double)r->time.slot_ns / 1e9), "alone", r->asked.schedule.plan != NULL,
			  "both_ways", r->time.parts > 1, "program", r->line.program, "options",
			  options, "unit", r->line.latency ? "us" : "gbps", "at_once",
			  at_once ? json_integer((json_int_t)at_once) : NULL, "title",
			  word(r->asked.title)));
	say(r, m);
}

void run_say_done(struct run *r, unsigned rail)
{
	json_t *m = player_line(r, "done", rail);
	int64_t rounds = r->round < 0 ? 0 : r->round;
	struct rusage own;
	double cpu_s = 0;

	if (!getrusage(RUSAGE_SELF, &own))
		cpu_s = (double)(own.ru_utime.tv_sec + own.ru_stime.tv_sec) +
			(double)(own.ru_utime.tv_usec + own.ru_stime.tv_usec) / 1e6;
	json_object_update_new(
		m, json_pack("{s:I, s:I, s:I, s:o, s:o*}", "rounds", (json_int_t)rounds, "missed",
			     (json_int_t)r->seat[rail].missed, "server_restarts",
			     (json_int_t)r->restarts, "cpu_s", seconds(cpu_s), "slot_needed_s",
			     r->needed_s > 0 ? json_real(r->needed_s) : NULL));
	say(r, m);
}

static void put_problem(json_t *m, const struct outcome *o)
{
	json_object_update_new(m, json_pack("{s:o*, s:o*, s:o*}", "cause", word(o->cause), "error",
					    word(o->error), "fix", word(o->fix)));
}

void run_say_server(struct run *r, const struct run_server *s, const struct outcome *o)
{
	json_t *m = player_line(r, "server", s->rail);

	json_object_update_new(
		m, json_pack("{s:I, s:i}", "round", (json_int_t)r->round, "exit", o->exit));
	put_problem(m, o);
	say(r, m);
}

/* The host at END of the turn T, which is one of this host; NULL: it is not known. */
static const char *end_name(const struct run *r, const struct run_turn *t, enum outcome_end end)
{
	bool own = t->turn.client == (end == OUTCOME_CLIENT);

	return end == OUTCOME_UNKNOWN ? NULL : name_of(r, own ? r->players.self : t->turn.peer);
}

static json_t *pair_line(const struct run *r, unsigned rail, const struct run_turn *t)
{
	const char *client = end_name(r, t, OUTCOME_CLIENT), *name = r->players.rail[rail];
	const char *server = end_name(r, t, OUTCOME_SERVER);
	/* The client sends the payload, unless it is reversed; of a READ the other way. */
	bool from_client = r->line.to_client == run_reversed(r, t->part);

	return json_pack("{s:s, s:s, s:I, s:s, s:s, s:s, s:b, s:o*, s:o*, s:o*, s:o*}", "kind",
			 "pair", "run", r->id, "round", (json_int_t)t->round, "from",
			 from_client ? client : server, "to", from_client ? server : client,
			 "client", client, "alone", r->asked.schedule.plan != NULL, "from_rail",
			 word(name), "to_rail", word(name), "part",
			 word(schedule_word(t->turn.part)), "slot",
			 t->turn.part ? json_integer(t->round) : NULL);
}

static void put_findings(const struct run *r, const struct run_turn *t, const struct outcome *o,
			 json_t *m)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < o->findings; i++) {
		const struct outcome_finding *f = &o->finding[i];

		json_array_append_new(list,
				      json_pack("{s:s, s:s, s:o*}", "id", f->id, "text", f->text,
						"host", word(end_name(r, t, f->end))));
	}
	if (o->findings)
		json_object_set(m, "findings", list);
	json_decref(list);
}

/* The part of its CPU that a thread had, in percent, to a tenth; NULL: not known. */
static json_t *cpu_percent(double part)
{
	return isnan(part) ? NULL : json_real(round(part * 1e3) / 10);
}

/* What a figure is worth: the ports of both ends, and whether their threads had their CPUs. */
static void put_worth(json_t *m, const struct outcome *o)
{
	bool from_client = json_equal(json_object_get(m, "from"), json_object_get(m, "client"));

	json_object_update_new(
		m, json_pack("{s:o*, s:o*, s:o*, s:o*}", "from_cpu_percent",
			     cpu_percent(from_client ? o->client_cpu : o->server_cpu),
			     "to_cpu_percent",
			     cpu_percent(from_client ? o->server_cpu : o->client_cpu),
			     "from_port_gbps", rate(from_client ? o->client_gbps : o->server_gbps),
			     "to_port_gbps", rate(from_client ? o->server_gbps : o->client_gbps)));
}

void run_say_pair(struct run *r, const struct run_seat *seat, const struct run_turn *t,
		  const struct outcome *o, double ahead_s)
{
	json_t *m = pair_line(r, seat->rail, t);
	bool has = o->has_value;
	const char *status = !has ? "failed" : o->interrupted ? "cut" : "measured";

	json_object_update_new(m, json_pack("{s:s, s:o*, s:o*, s:o, s:o*, s:o*, s:o*}", "status",
					    status, "value", has ? json_real(o->value) : NULL,
					    "p99", o->p99 > 0 ? json_real(o->p99) : NULL, "late_s",
					    seconds(seat->late_s), "clock_s",
					    isnan(ahead_s) ? NULL : seconds(ahead_s), "exit",
					    has ? NULL : json_integer(o->exit), "node",
					    word(o->cause ? end_name(r, t, o->fault) : NULL)));
	if (has)
		put_worth(m, o);
	put_problem(m, o);
	put_findings(r, t, o, m);
	say(r, m);
}

void run_say_missed(struct run *r, struct run_seat *seat, const struct run_turn *t)
{
	json_t *m;

	if (t->round >= seat->missed_until) {
		seat->missed++;
		seat->missed_until = t->round + 1;
	}
	m = pair_line(r, seat->rail, t);
	json_object_update_new(
		m, json_pack("{s:s, s:s, s:s, s:s}", "status", "failed", "cause", "missed", "node",
			     end_name(r, t, OUTCOME_CLIENT), "error",
			     "it did not run when this slot began"));
	say(r, m);
}
