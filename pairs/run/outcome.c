// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/phase.h"
#include "outcome.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "base/fault.h"
#include "base/text.h"
#include "proto/fields.h"
#include "proto/json_memory.h"

static double number_of(const json_t *from, const char *key)
{
	double v = json_number_value(json_object_get(from, key));

	return isfinite(v) && v > 0 ? v : 0;
}

/* True if WORD is one of the WORDS, which end with NULL. */
static bool is_one_of(const char *word, const char *const *words)
{
	while (*words && strcmp(word, *words) != 0)
		words++;
	return *words;
}

/* One word for the error E of a document. */
static const char *cause_of(const json_t *e)
{
	static const char *const lost[] = {"peer", "deadline", "interrupted", NULL};
	const char *code = json_text_at(e, "code"), *stage = json_text_at(e, "stage");
	const char *const device[] = {stage_word(STAGE_DEVICE), stage_word(STAGE_RESOURCES), NULL};

	if (json_integer_value(json_object_get(e, "errno")) == EADDRINUSE)
		return "port";
	if (strcmp(code, "data") == 0)
		return "data";
	if (strcmp(code, "unavailable") == 0 || is_one_of(stage, device))
		return "device";
	if (strcmp(code, "usage") == 0)
		return "refused";
	if (strcmp(stage, stage_word(STAGE_CONNECT)) == 0)
		return "connect";
	return json_text_at(e, "completion_status")[0] || is_one_of(code, lost) ? "lost" : "other";
}

/* Whose fault it is: of the end that reports it, or of the one that does not answer. */
static enum outcome_end end_of(const json_t *e, const char *cause)
{
	if (json_is_true(json_object_get(e, "from_peer")))
		return OUTCOME_SERVER;
	if (strcmp(cause, "device") == 0)
		return OUTCOME_CLIENT;
	if (strcmp(cause, "connect") == 0 ||
	    (strcmp(cause, "lost") == 0 && !json_text_at(e, "completion_status")[0]))
		return OUTCOME_SERVER;
	return OUTCOME_UNKNOWN;
}

static void read_error(struct outcome *o, const json_t *e)
{
	const char *fix = json_text_at(e, "fix"), *message = json_text_at(e, "message");
	/* The message ends with " Fix: ", the fix and a full stop. */
	size_t all = strlen(message), end = *fix ? strlen(" Fix: .") + strlen(fix) : 0;

	o->cause = cause_of(e);
	o->fault = end_of(e, o->cause);
	text_copy(o->fix, sizeof(o->fix), fix);
	snprintf(o->error, sizeof(o->error), "%.*s", (int)(all > end ? all - end : all), message);
	text_disarm(o->error);
}

/* Add a finding of FROM, with CODE after PREFIX. */
static void add_finding(struct outcome *o, const char *prefix, const char *code, const json_t *from)
{
	struct outcome_finding *to = &o->finding[o->findings++];
	const char *end = json_text_at(from, "end");
	char id[2 * sizeof(to->id)];

	snprintf(id, sizeof(id), "%s%s", prefix, code);
	text_copy(to->id, sizeof(to->id), id);
	text_copy(to->text, sizeof(to->text), json_text_at(from, "text"));
	to->end = !strcmp(end, "client")   ? OUTCOME_CLIENT
		  : !strcmp(end, "server") ? OUTCOME_SERVER
					   : OUTCOME_UNKNOWN;
}

/*
 * The worst findings of ROW; notes cost nothing and are left out. If nothing went wrong, what
 * certainly held the run back is one: the link is what should, the others are what was asked for.
 */
static void read_findings(struct outcome *o, const json_t *row)
{
	static const char *const good[] = {"", "link", "schedule", "window", "unknown", NULL};
	const json_t *v, *limit = json_object_get(row, "limit");
	const char *by = json_text_at(limit, "bound_by");
	size_t i;

	json_array_foreach (json_object_get(row, "diagnosis"), i, v)
		if (o->findings < OUTCOME_FINDINGS && json_text_at(v, "code")[0] &&
		    strcmp(json_text_at(v, "level"), "note") != 0)
			add_finding(o, "", json_text_at(v, "code"), v);
	if (!o->findings && json_text_at(limit, "text")[0] &&
	    json_is_true(json_object_get(limit, "certain")) && !is_one_of(by, good))
		add_finding(o, "limited_by_", by, limit);
}

/* Nanoseconds of an END's clock; 0: unknown. */
static int64_t clock_of(const json_t *end)
{
	json_int_t us = json_integer_value(json_object_get(end, "utc_us"));

	return us > 0 && us < INT64_MAX / 1000 ? 1000 * (int64_t)us : 0;
}

/* The part of its CPU that a thread had, as QUALITY says; NaN: it does not. */
static double cpu_of(const json_t *quality)
{
	const json_t *percent = json_object_get(quality, "on_cpu_percent");
	double part = json_is_number(percent) ? json_number_value(percent) / 100 : NAN;

	return part >= 0 && part <= 1 ? part : NAN;
}

/* Of both ends: a row's quality is that of the end that measured, and has the other one's in it. */
static void read_cpu(struct outcome *o, const json_t *row)
{
	const json_t *quality = json_object_get(row, "quality");
	bool server = strcmp(json_text_at(row, "measured_by"), "server") == 0;
	double own = cpu_of(quality), other = cpu_of(json_object_get(quality, "other_end"));

	o->client_cpu = server ? other : own;
	o->server_cpu = server ? own : other;
}

/* RESULT, or of both directions (-b) the slower one. */
static const json_t *slower_way(const json_t *result)
{
	const json_t *ends = json_object_get(result, "by_end");
	const json_t *client = json_object_get(ends, "client");
	const json_t *server = json_object_get(ends, "server");

	if (strcmp(json_text_at(result, "direction"), "both") != 0 || !client || !server ||
	    !(number_of(result, "bandwidth_gbps") > 0))
		return result;
	return number_of(server, "bandwidth_gbps") < number_of(client, "bandwidth_gbps") ? server
											 : client;
}

static void read_document(struct outcome *o, const json_t *d, bool latency)
{
	const json_t *results = json_object_get(d, "results"), *ends = json_object_get(d, "ends");
	const json_t *last = slower_way(json_array_get(results, json_array_size(results) - 1));
	const json_t *error = json_object_get(d, "error");

	o->interrupted = strcmp(json_text_at(d, "status"), "interrupted") == 0;
	o->value = number_of(last, latency ? "latency_p50_us" : "bandwidth_gbps");
	if (latency && !(o->value > 0)) /* too few messages for a median */
		o->value = number_of(last, "latency_mean_us");
	o->p99 = latency ? number_of(last, "latency_p99_us") : 0;
	o->has_value = o->value > 0;
	read_cpu(o, last);
	o->client_ns = clock_of(json_object_get(ends, "client"));
	o->server_ns = clock_of(json_object_get(ends, "server"));
	o->client_gbps = number_of(json_object_get(ends, "client"), "rate_gbps");
	o->server_gbps = number_of(json_object_get(ends, "server"), "rate_gbps");
	read_findings(o, last);
	if (json_is_object(error))
		read_error(o, error);
}

void outcome_read(struct outcome *o, const char *said, size_t n, bool latency)
{
	json_error_t ignored;
	json_t *d = n ? json_memory_load(said, n, JSON_DISABLE_EOF_CHECK, &ignored) : NULL;

	*o = (struct outcome){.client_cpu = NAN, .server_cpu = NAN};
	if (d)
		read_document(o, d, latency);
	json_decref(d);
}

void outcome_ended(struct outcome *o, int status, const char *line)
{
	const char *text = strstr(line, ": ");

	o->exit = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
	if (o->exit == FAULT_UNAVAILABLE) /* gdr_bw without a GPU measured the host's memory only */
		o->has_value = false;
	if (o->has_value || o->cause)
		return;
	text = text ? text + 2 : line;
	o->cause = o->exit == FAULT_USAGE ? "refused" : o->exit > 128 ? "lost" : "other";
	o->fault = o->cause[0] == 'l' ? OUTCOME_UNKNOWN : OUTCOME_CLIENT;
	if (WIFSIGNALED(status))
		snprintf(o->error, sizeof(o->error), "the program was killed by signal %d",
			 WTERMSIG(status));
	else if (!*line)
		snprintf(o->error, sizeof(o->error),
			 "the program ended with exit status %d and no figure", o->exit);
	else
		text_copy(o->error, sizeof(o->error), text);
}
