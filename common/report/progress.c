// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Output during a run: intervals, and the live line on a terminal. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/composed.h"
#include "base/terminal.h"
#include "base/text.h"
#include "base/units.h"
#include "plan/test.h"
#include "proto/fields.h"
#include "proto/json_memory.h"
#include "report/report.h"

#define END_OF_LINE "\033[K" /* erases the rest of it */
#define WIPE        "\r" END_OF_LINE

void progress_wipe(struct report *r)
{
	if (r->live_shown)
		fprintf(stderr, WIPE);
	r->live_shown = false;
}

/* Say on ERR how many lines, WHAT of them, O has dropped; again later if ERR drops that, too. */
static void print_dropped(const struct outlet *err, struct outlet *o, const char *what,
			  const char *where)
{
	uint64_t dropped = o->dropped, before = err->dropped;

	if (!dropped)
		return;
	terminal_note(stderr, "%" PRIu64 " %s were dropped: %s was blocked", dropped, what, where);
	o->dropped = err->dropped > before ? dropped : 0;
}

void progress_print_dropped(struct report *r)
{
	bool stays = r->about.options->local.persistent;
	struct streams *s = r->about.streams;
	struct outlet *err = &s->err;

	print_dropped(err, err, stays ? "lines of the log" : "progress lines", "standard error");
	print_dropped(err, &s->out, stays ? "lines" : "intervals", "standard output");
	print_dropped(err, &r->csv.outlet, "rows", r->about.options->output.csv);
	if (r->run.dropped)
		terminal_note(stderr,
			      "the document has only the first %d intervals; %" PRIu64
			      " more were dropped",
			      REPORT_INTERVALS_MAX, r->run.dropped);
}

static void put_line(struct outlet *o, const char *line)
{
	outlet_put(o, line, strlen(line));
}

/* Write TEXT, an interval, to stdout. */
static void put_shown(struct report *r, const char *text, size_t size)
{
	struct outlet *out = &r->about.streams->out;
	uint64_t dropped = out->dropped;

	outlet_put(out, text, size);
	r->run.unshown += out->dropped - dropped;
}

/* An interval as a record; the mean latency is 0 if it is unknown. */
static struct record interval_record(const struct report *r, const struct progress *p)
{
	double trip_us = p->messages ? (double)p->trips_ns / 1e3 / (double)p->messages : 0;
	struct record rec = {
		.message_bytes = p->message_bytes,
		.messages = p->messages,
		.seconds = (double)p->interval_ns / 1e9,
		.latency_mean_us = trip_us / (r->about.test->operation.halved ? 2 : 1),
	};

	rec.messages_per_s = rec.seconds > 0 ? (double)p->messages / rec.seconds : 0;
	rec.bandwidth_gbps = rec.messages_per_s * (double)p->message_bytes * 8 / 1e9;
	return rec;
}

/*
 * With --run_infinitely the table has a row for each interval and one for the whole run. Prints P
 * as such a row and returns true; false in other runs, and in latency tests, whose rows have more
 * columns than are known of an interval.
 */
static bool interval_row(struct report *r, const struct progress *p)
{
	struct record rec = interval_record(r, p);
	const struct result result = {.rows = 0};
	struct composed row;
	FILE *out;
	char *text;

	if (!r->about.options->experiment.run_infinitely || r->about.test->latency || !r->form->row)
		return false;
	if (p->partial) /* the row of the whole comes at once */
		return true;
	r->table.interval = true;
	out = composed_open(&row);
	if (out)
		report_row(r, &result, &(struct result_row){.record = &rec}, out);
	text = composed_close(&row);
	if (text)
		put_shown(r, text, row.used);
	free(text);
	r->table.interval = false;
	return true;
}

/* Add "5.0 s: 64 KiB: 10979.12 MiB/s, 0.1757 M messages/s", or the mean latency. */
static void add_progress(const struct report *r, const struct progress *p, char *buf, size_t size)
{
	bool gbits = r->about.options->output.gbits;
	struct record rec = interval_record(r, p);

	text_add(buf, size, "%.1f s: %s: ", (double)p->elapsed_ns / 1e9,
		 units_size(p->message_bytes).text);
	if (!r->about.test->latency)
		text_add(buf, size, "%s, %s", unit_rate(gbits, rec.bandwidth_gbps).text,
			 unit_messages(rec.messages_per_s).text);
	else if (rec.latency_mean_us > 0)
		text_add(buf, size, "%.2f us on average, ", rec.latency_mean_us);
	if (r->about.test->latency)
		text_add(buf, size, "%" PRIu64 " messages", p->messages);
	if (p->partial)
		text_add(buf, size, " (partial, %.3g s)", rec.seconds);
}

static json_t *interval_json(const struct report *r, const struct progress *p)
{
	struct record rec = interval_record(r, p);
	json_t *to =
		json_pack("{s:I, s:f, s:f, s:I, s:f, s:b}", "message_bytes",
			  (json_int_t)rec.message_bytes, "elapsed_s", (double)p->elapsed_ns / 1e9,
			  "interval_s", rec.seconds, "messages", (json_int_t)rec.messages,
			  "messages_per_s", rec.messages_per_s, "partial", p->partial);

	if (p->run)
		json_object_set_new(to, "run", json_integer((json_int_t)p->run));
	varied_json(r, to);
	if (!r->about.test->latency)
		json_object_set_new(to, "bandwidth_gbps", json_real(rec.bandwidth_gbps));
	else
		json_object_set_new(to, "latency_mean_us",
				    rec.latency_mean_us > 0 ? json_real(rec.latency_mean_us)
							    : json_null());
	return to;
}

/* Keep P for the document. (A document on stdout has intervals as lines before it.) */
static void keep_interval(struct report *r, const struct progress *p)
{
	uint64_t failures = json_memory_failures(); /* of this thread, which writes no document */
	bool room = json_array_size(r->run.intervals) < REPORT_INTERVALS_MAX;
	json_t *one = room ? interval_json(r, p) : NULL;
	bool whole = json_memory_failures() == failures;

	if (json_array_append(r->run.intervals, whole ? one : NULL))
		r->run.dropped++;
	json_decref(one);
}

static void put_json(struct report *r, const struct progress *p)
{
	char *text = json_line(json_pack("{s:o}", "interval", interval_json(r, p)),
			       JSON_REAL_PRECISION(JSON_DIGITS));

	if (text)
		put_shown(r, text, strlen(text));
	free(text);
}

/*
 * Wipe the live line before a row or JSON line. If stderr is blocked, do not count it as dropped.
 */
static void wipe_quietly(struct report *r)
{
	uint64_t dropped = r->about.streams->err.dropped;

	if (r->live_shown)
		put_line(&r->about.streams->err, WIPE);
	r->about.streams->err.dropped = dropped;
	r->live_shown = false;
}

void report_interval(struct report *r, const struct progress *p)
{
	const char *json = r->about.options->output.json;
	char text[160] = "";

	wipe_quietly(r);
	if (document_has_intervals(&r->about.options->output))
		keep_interval(r, p);
	if (interval_row(r, p))
		return;
	if (document_to_stdout(json)) {
		put_json(r, p);
		return;
	}
	text_add(text, sizeof(text), "%s: ", r->about.program);
	add_progress(r, p, text, sizeof(text));
	text_add(text, sizeof(text), "\n");
	put_line(&r->about.streams->err, text);
}

/* Add "12 s", "3 min 20 s", "2 h 5 min": two units are enough to wait by. */
static void add_left(uint64_t left_ns, char *buf, size_t size)
{
	uint64_t s = (left_ns + UNITS_NS_PER_S / 2) / UNITS_NS_PER_S;

	if (s < 60)
		text_add(buf, size, ", %" PRIu64 " s left", s);
	else if (s < 3600)
		text_add(buf, size, ", %" PRIu64 " min %" PRIu64 " s left", s / 60, s % 60);
	else
		text_add(buf, size, ", %" PRIu64 " h %" PRIu64 " min left", s / 3600,
			 s % 3600 / 60);
}

void report_live(struct report *r, const struct progress *p, uint64_t left_ns)
{
	char text[256] = "\r";
	unsigned columns;

	if (!r->tty)
		return;
	add_progress(r, p, text, sizeof(text) - strlen(END_OF_LINE));
	if (left_ns)
		add_left(left_ns, text, sizeof(text) - strlen(END_OF_LINE));
	/* Cut the line to the terminal's width: of two lines only the last could be wiped. */
	columns = terminal_columns(STDERR_FILENO);
	if (columns && columns < sizeof(text) - strlen(END_OF_LINE))
		text[columns] = '\0'; /* behind the \r */
	text_add(text, sizeof(text), END_OF_LINE);
	put_line(&r->about.streams->err, text);
	r->live_shown = true;
}
