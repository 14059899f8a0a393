// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The sequence of rounds: for each size a warm-up and a timed round, both again for each run of
 * --repeat (here a run is one of these); and one round, at the client, which asks for it, and at
 * the server.
 */
#include <math.h>

#include "base/phase.h"
#include "cli/sweep.h"
#include "finding/thresholds.h"
#include "loop/staged.h"
#include "measure/meter.h"
#include "measure/results.h"
#include "plan/test.h"
#include "proto/fields.h"

#define ROW(member, ...) FIELD(struct round_attr, member, __VA_ARGS__)
static const struct field ask_rows[] = {
	ROW(message_bytes, FIELD_REQUIRED),
	ROW(target, FIELD_REQUIRED, .max = INT64_MAX / 65536),
	ROW(warmup, FIELD_ALWAYS),
	ROW(duration_ns, .max = OPTIONS_TIME_MAX_NS),
	ROW(reverse),
	ROW(kind),
	ROW(cpu_util),
	ROW(run),
	ROW(within_ppm, .max = REPEAT_PPM),
	ROW(at, .max = SWEEP_VALUES_MAX),
};
static const struct fields ask_table = FIELDS(ask_rows, NULL);

void measure_set_point(struct measure *ms)
{
	char at[sizeof(ms->fault->at)];

	sweep_point(ms->options, at, sizeof(at));
	fault_set_point(ms->fault, at);
	fault_set_point(&ms->gates->first, at);
	fault_set_point(&ms->gates->unknown, at);
	fault_set_point(&ms->verdict, at);
}

/* The size at AT of the list begins, unless it is this one. */
static void use_size(struct measure *ms, unsigned at)
{
	if (at == ms->at)
		return;
	measure_repeated(ms);
	measure_set_point(ms);
	ms->at = at;
	endpoint_use_size(ms->ep, at);
	ms->audience.size(ms);
}

/* The last size of -a; else the only one, until the next one of a list. */
static uint64_t last_size(const struct endpoint *ep)
{
	const struct experiment *e = &ep->options->experiment;

	return e->sweep ? ep->largest_bytes : e->size_bytes;
}

/* Client: ask the server for round MEAS, wait until it is ready, and run it. */
static int round_client(struct measurement *meas)
{
	struct measure *ms = meas->ms;
	json_t *m;

	fault_phase(ms->fault, meas->attr.warmup ? PHASE_WARM_UP : PHASE_MEASURE);
	meas->attr.cpu_util = ms->options->output.cpu_util && !meas->attr.warmup;
	if (round_prepare(meas))
		return -1;
	m = fields_write(&ask_table, &meas->attr, message_new("round"));
	if (link_send(ms->link, m))
		return -1;
	conditions_start(meas); /* while the server does the same */
	if (link_expect(ms->link, "ready", &m))
		return -1;
	json_decref(m);
	return pass_run(meas);
}

/*
 * Server: count the client's runs, and check that those of a size are numbered 1, 2, … Run 1 starts
 * a new series, so the last one is over.
 */
static int count_run(struct measure *ms, const struct round_attr *attr)
{
	if (!attr->run) /* without --repeat, or a warm-up */
		return 0;
	if (attr->run == 1)
		measure_repeated(ms);
	ms->repeat->within_ppm = attr->within_ppm;
	if (attr->run == ++ms->repeat->number)
		return 0;
	return fault_raise(ms->fault, FAULT_PEER, 0, "the client's runs are out of order");
}

/* True if BYTES is a size of the experiment, or of a copy: memory is allocated only for these. */
static bool is_planned(const struct endpoint *ep, uint64_t bytes)
{
	if (ep->own_schedule && bytes == STAGED_CHUNK_BYTES)
		return true;
	for (uint64_t n = plan_first_size(&ep->options->experiment); n <= last_size(ep); n *= 2)
		if (n == bytes)
			return true;
	return false;
}

/* Server: read the client's request M for a round, and check it against what was agreed. */
static int read_request(const json_t *m, struct measure *ms, struct round_attr *attr)
{
	const struct endpoint *ep = ms->ep;
	const struct experiment *e = &ep->options->experiment;
	unsigned kinds = ep->own_schedule ? ep->test->kinds : 0;
	struct fault *f = ep->fault;

	if (fields_read(&ask_table, attr, m, f) || message_has(m, "kind", attr->kind <= kinds, f) ||
	    message_has(m, "at", attr->at < ep->sizes, f) ||
	    message_has(m, "run", attr->run <= options_find("repeat")->max, f))
		return -1;
	use_size(ms, attr->at);
	attr->cpu_util |= ep->options->output.cpu_util && round_is_timed(attr);
	if (!is_planned(ep, attr->message_bytes))
		return fault_raise(f, FAULT_PEER, 0,
				   "the client requested messages of %llu bytes, which were not "
				   "announced",
				   (unsigned long long)attr->message_bytes);
	/* QPs and memory fit only the direction that was agreed on. */
	attr->both = !kinds && e->bidirectional;
	attr->reverse = kinds ? attr->reverse : e->reversed;
	return 0;
}

static int round_server(struct measurement *meas, const json_t *request)
{
	struct measure *ms = meas->ms;

	fault_phase(ms->fault, PHASE_MEASURE);
	if (read_request(request, ms, &meas->attr) || count_run(ms, &meas->attr) ||
	    round_prepare(meas))
		return -1;
	conditions_start(meas);
	return link_send(ms->link, message_new("ready")) ? -1 : pass_run(meas);
}

/* A round has ended with RC: verify the data (--verify), show its rows, release it. */
static int conclude_round(struct measurement *meas, int rc)
{
	struct measure *ms = meas->ms;

	if (rc == 0 && ms->verify && !meas->attr.warmup)
		rc = verify_round(meas);
	if (!meas->attr.kind)
		round_tell(meas);
	return fault_is(ms->fault) ? -1 : rc;
}

int measure_one_round(struct measure *ms, const json_t *request)
{
	struct measurement meas = {.ms = ms};

	return conclude_round(&meas, round_server(&meas, request));
}

static struct measurement round_of_size(struct measure *ms, uint64_t size)
{
	const struct experiment *e = &ms->options->experiment;

	return (struct measurement){
		.ms = ms,
		.attr.message_bytes = size,
		.attr.at = ms->at,
		.attr.target = experiment_endless(e) ? 0 : e->iters,
		.attr.duration_ns = e->run_infinitely ? 0 : e->duration_ns,
		.attr.reverse = e->reversed,
		.attr.both = e->bidirectional,
	};
}

/* Measure one round of SIZE. RUN counts from 1; 0: without --repeat. */
static int measure_one_run(struct measure *ms, uint64_t size, uint64_t run)
{
	struct measurement meas = round_of_size(ms, size);

	meas.attr.run = run;
	meas.attr.within_ppm = ms->repeat->within_ppm;
	return conclude_round(&meas, round_client(&meas));
}

/* Run the warm-up before each run of a size: caches may be cold again by then. */
static int warm_up(struct measure *ms, uint64_t size)
{
	const struct experiment *e = &ms->options->experiment;
	struct measurement meas = round_of_size(ms, size), omitted = meas;

	omitted.attr.target = 0;
	omitted.attr.duration_ns = e->omit_ns;
	meas.attr.target = plan_warmup(e, size, ms->test->latency);
	meas.attr.duration_ns = 0;
	meas.attr.warmup = omitted.attr.warmup = true;
	if (e->omit_ns && round_client(&omitted))
		return -1;
	return meas.attr.target && !ms->link->interrupted ? round_client(&meas) : 0;
}

/* Report the median of all runs of a size. */
static void show_repeated(struct measure *ms)
{
	struct result result = repeat_median_result(ms->repeat);
	char text[512];

	link_alive_start(ms->link);
	round_judge(ms, &result);
	ms->audience.repeated(ms->report, &result, repeat_summary(ms->repeat),
			      repeat_text(ms->repeat, text, sizeof(text)));
	link_alive_stop(ms->link);
}

void measure_repeated(struct measure *ms)
{
	if (ms->repeat->all)
		show_repeated(ms);
	repeat_start(ms->repeat);
}

int measure_verdict(struct measure *ms)
{
	if (!fault_is(&ms->verdict))
		return 0;
	*ms->fault = ms->verdict;
	return -1;
}

int measure_unfinished(struct measure *ms, unsigned phase)
{
	fault_phase(ms->fault, phase);
	if (ms->link->stop->signal)
		return stop_raise(ms->link->stop, ms->fault);
	fault_raise(ms->fault, FAULT_INTERRUPTED, 0, "the server was interrupted");
	ms->fault->from_peer = true;
	return -1;
}

/* Measure SIZE once, or until --repeat has enough runs; then report the median. */
static int measure_one_size(struct measure *ms, uint64_t size)
{
	struct repeat *r = ms->repeat;
	int rc;

	do {
		rc = warm_up(ms, size);
		if (!rc && !ms->link->interrupted)
			rc = measure_one_run(ms, size, r->most ? ++r->number : 0);
	} while (!rc && !fault_is(ms->fault) && !ms->link->interrupted && repeat_goes_on(r));
	measure_repeated(ms);
	if (rc || fault_is(ms->fault))
		return -1;
	return ms->link->interrupted && !ms->measured ? measure_unfinished(ms, PHASE_WARM_UP) : 0;
}

int measure_sizes(struct measure *ms)
{
	const struct experiment *e = &ms->options->experiment;

	for (unsigned i = 0; i < ms->ep->sizes && !ms->link->interrupted; i++) {
		use_size(ms, i);
		for (uint64_t size = plan_first_size(e); size <= last_size(ms->ep); size *= 2)
			if (!ms->link->interrupted && measure_one_size(ms, size))
				return -1;
	}
	return 0;
}

static bool lacked_cpu(const struct found *found)
{
	return found->record.quality.on_cpu_percent < 100 * CPU_LEAST;
}

int measure_trial(struct measure *ms, double *gbps)
{
	const struct experiment *e = &ms->options->experiment;
	struct measurement meas = round_of_size(ms, e->size_bytes);
	int rc = warm_up(ms, e->size_bytes);

	*gbps = NAN;
	if (!rc && !ms->link->interrupted)
		rc = round_client(&meas);
	if (rc || ms->link->interrupted || lacked_cpu(&meas.mine) || lacked_cpu(&meas.theirs))
		return rc;
	*gbps = (e->reversed ? &meas.theirs : &meas.mine)->record.bandwidth_gbps;
	if (e->bidirectional)
		*gbps += meas.theirs.record.bandwidth_gbps;
	return 0;
}

int measure_window(struct measure *ms, const struct round_attr *attr, struct record *rec)
{
	struct measurement meas = {.ms = ms, .attr = *attr};
	const struct found *leader = attr->reverse ? &meas.theirs : &meas.mine;
	int rc;

	rc = round_client(&meas);
	*rec = leader->measured ? leader->record : (struct record){0};
	return rc;
}

int measure_task(struct measure *ms, json_t *what, json_t **result)
{
	json_t *m = message_new("task");

	json_object_update(m, what);
	json_decref(what);
	return link_send(ms->link, m) ? -1 : link_expect(ms->link, "result", result);
}

int measure_answer_task(struct measure *ms, const json_t *m)
{
	json_t *result;
	int rc;

	if (!ms->test->task)
		return fault_raise(ms->fault, FAULT_PEER, 0,
				   "the client requested a task, but %s has none", ms->test->name);
	result = message_new("result");
	link_alive_start(ms->link); /* it may take long */
	rc = ms->test->task(ms, m, result);
	link_alive_stop(ms->link);
	if (!rc)
		return link_send(ms->link, result);
	json_decref(result);
	return -1;
}
