// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "outcome.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "base/fault.h"
#include "base/text.h"

static const char *text_of(const json_t *from, const char *key)
{
	const char *text = json_string_value(json_object_get(from, key));

	return text ? text : "";
}

static double number_of(const json_t *from, const char *key)
{
	double v = json_number_value(json_object_get(from, key));

	return isfinite(v) && v > 0 ? v : 0;
}

/* True if TEXT starts with one of the WORDS, which end with NULL. */
static bool starts_with(const char *text, const char *const *words)
{
	for (; *words; words++)
		if (strncmp(text, *words, strlen(*words)) == 0)
			return true;
	return false;
}

/* One word for the error E of a document. */
static const char *cause_of(const json_t *e)
{
	/* Not "choosing the message sizes": that is the user's choice. */
	static const char *const devices[] = {"choosing the RDMA",
					      "choosing the device",
					      "choosing the GID",
					      "choosing the P_Key",
					      "choosing the path",
					      "looking for",
					      "opening the RDMA",
					      "opening the GPU",
					      "creating the",
					      "registering",
					      NULL};
	static const char *const reaching[] = {"connecting to the server", NULL};
	const char *code = text_of(e, "code"), *phase = text_of(e, "phase");

	if (strcmp(code, "data") == 0)
		return "data";
	if (strcmp(code, "unavailable") == 0 || starts_with(phase, devices))
		return "device";
	if (strcmp(code, "usage") == 0)
		return "refused";
	if (starts_with(phase, reaching))
		return "connect";
	if (text_of(e, "completion_status")[0] || strcmp(code, "peer") == 0 ||
	    strcmp(code, "deadline") == 0 || strcmp(code, "interrupted") == 0)
		return "lost";
	return "other";
}

/* Whose fault it is: of the end that reports it, or of the one that does not answer. */
static enum outcome_end end_of(const json_t *e, const char *cause)
{
	if (json_is_true(json_object_get(e, "from_peer")))
		return OUTCOME_SERVER;
	if (strcmp(cause, "device") == 0)
		return OUTCOME_CLIENT;
	if (strcmp(cause, "connect") == 0 ||
	    (strcmp(cause, "lost") == 0 && !text_of(e, "completion_status")[0]))
		return OUTCOME_SERVER;
	return OUTCOME_UNKNOWN;
}

/* A message ends where its fix begins. */
static void cut_fix(char *message)
{
	char *fix = strstr(message, " Fix: ");

	if (fix)
		*fix = '\0';
}

static void read_error(struct outcome *o, const json_t *e)
{
	const char *fix = text_of(e, "fix"), *message = text_of(e, "message");

	o->cause = cause_of(e);
	o->fault = end_of(e, o->cause);
	text_copy(o->error, sizeof(o->error), message);
	cut_fix(o->error);
	text_copy(o->fix, sizeof(o->fix), fix);
}

static enum outcome_end end_named(const char *name)
{
	return !strcmp(name, "client")   ? OUTCOME_CLIENT
	       : !strcmp(name, "server") ? OUTCOME_SERVER
					 : OUTCOME_UNKNOWN;
}

/* The worst findings; notes cost nothing and are left out. */
static void read_findings(struct outcome *o, const json_t *list)
{
	const json_t *v;
	size_t i;

	json_array_foreach (list, i, v) {
		struct outcome_finding *to = &o->finding[o->findings];

		if (o->findings == OUTCOME_FINDINGS || strcmp(text_of(v, "level"), "note") == 0 ||
		    !text_of(v, "code")[0])
			continue;
		text_copy(to->id, sizeof(to->id), text_of(v, "code"));
		text_copy(to->text, sizeof(to->text), text_of(v, "text"));
		to->end = end_named(text_of(v, "end"));
		o->findings++;
	}
}

/* The end that TEXT is about: the only one that it names. */
static enum outcome_end end_in(const char *text)
{
	bool client = strstr(text, "client"), server = strstr(text, "server");

	if (client == server)
		return OUTCOME_UNKNOWN;
	return client ? OUTCOME_CLIENT : OUTCOME_SERVER;
}

/*
 * What held the run back, as a finding, if that is certain and nothing went wrong. The link is what
 * should hold it back; what the user asked for is no finding.
 */
static void read_limit(struct outcome *o, const json_t *limit)
{
	static const char *const good[] = {"link", "schedule", "window", "unknown", NULL};
	const char *by = text_of(limit, "bound_by"), *text = text_of(limit, "text");
	struct outcome_finding *to = o->finding;

	if (o->findings || !*by || !*text || !json_is_true(json_object_get(limit, "certain")) ||
	    starts_with(by, good))
		return;
	text_copy(to->id, sizeof(to->id), "limited_by_");
	text_add(to->id, sizeof(to->id), "%.20s", by);
	text_copy(to->text, sizeof(to->text), text);
	to->end = end_in(to->text);
	o->findings = 1;
}

/* Nanoseconds of an END's clock; 0: unknown. */
static int64_t clock_of(const json_t *end)
{
	json_int_t us = json_integer_value(json_object_get(end, "utc_us"));

	return us > 0 && us < INT64_MAX / 1000 ? 1000 * (int64_t)us : 0;
}

static void read_document(struct outcome *o, const json_t *d, bool latency)
{
	const json_t *results = json_object_get(d, "results"), *ends = json_object_get(d, "ends");
	const json_t *last = json_array_get(results, json_array_size(results) - 1);
	const json_t *error = json_object_get(d, "error");

	o->interrupted = strcmp(text_of(d, "status"), "interrupted") == 0;
	o->value = number_of(last, latency ? "latency_p50_us" : "bandwidth_gbps");
	o->p99 = latency ? number_of(last, "latency_p99_us") : 0;
	o->has_value = o->value > 0;
	o->to_client = strcmp(text_of(last, "direction"), "server_to_client") == 0;
	o->client_ns = clock_of(json_object_get(ends, "client"));
	o->server_ns = clock_of(json_object_get(ends, "server"));
	read_findings(o, json_object_get(last, "diagnosis"));
	read_limit(o, json_object_get(last, "limit"));
	if (json_is_object(error))
		read_error(o, error);
}

void outcome_read(struct outcome *o, const char *said, size_t n, bool latency)
{
	json_error_t ignored;
	json_t *d = n ? json_loadb(said, n, JSON_DISABLE_EOF_CHECK, &ignored) : NULL;

	*o = (struct outcome){0};
	if (d)
		read_document(o, d, latency);
	json_decref(d);
}

void outcome_ended(struct outcome *o, int status, const char *line)
{
	const char *text = strstr(line, ": "), *fix = strstr(line, " Fix: ");

	o->exit = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
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
	else {
		text_copy(o->error, sizeof(o->error), text);
		text_copy(o->fix, sizeof(o->fix), fix ? fix + strlen(" Fix: ") : "");
		cut_fix(o->error);
	}
}
