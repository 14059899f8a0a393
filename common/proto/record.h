/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * record: one result: one message size and one direction, as measured by one end. An end that does
 * not measure (the server of write_bw) may have a record with its CPU use and without messages.
 *
 * One table of fields (proto/fields.h) defines the JSON form (for the protocol and the document) and
 * the CSV columns. Names have the units; Gb is 10^9 bits. A field that was not measured is 0 and
 * omitted; if a field depends on another one, it was measured if that one is not 0. An unknown real
 * number is NaN: null in JSON, empty in CSV.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"
#include "finding/quality.h"

struct field;
struct fields;
struct interval;

#define RECORD_COUNT_MAX (INT64_C(1) << 48) /* of messages and events that a peer may tell */

struct record {
	uint64_t message_bytes;
	uint64_t qps;
	uint64_t messages; /* measured, all QPs */
	double seconds;    /* from first post to last completion */
	uint64_t timed_messages; /* the messages within those seconds, which the rates count */
	double bandwidth_gbps;   /* timed_messages / seconds; so is messages_per_s */
	double bandwidth_peak_gbps; /* best span of one full send queue; 0: not measured */
	double messages_per_s;
	struct {
		double min_us, max_us, mean_us, stdev_us; /* half a round trip each */
		double p50_us, p90_us, p99_us, p99_9_us, p99_99_us;
		/* 95 % rank intervals of two (stat/quantile.h); NaN: no sample is a limit */
		struct percentile_limits {
			double p50_us, p99_us;
		} low, high;
	} latency;
	/* round trips of at least ten times the median, and their excess as a share of the run */
	uint64_t stalls;
	double stall_percent;
	struct {
		double limit_gbps;      /* rate of the schedule */
		uint64_t late_messages; /* posted later than 1 us after they were due */
		double late_max_us;     /* maximum lateness */
	} pace;
	uint64_t interrupted;   /* 1: the run ended early; all values are of the part that was
				   measured */
	uint64_t lost;   /* messages sent that did not arrive; latency: round trips without a
			    sample */
	uint64_t copies; /* multicast: QPs that each message is for. Counts are of all of them,
			    rates of one, on average; 0: no multicast */
	uint64_t resent; /* latency: messages that either end sent again */
	double sent_gbps; /* UC, UD: rate of sending; the other rates are of received messages */
	struct { /* with --interval: over the complete intervals */
		uint64_t count;    /* bandwidth tests: number of intervals */
		double worst_gbps; /* lowest bandwidth */
		double worst_us;   /* highest mean latency */
	} intervals;
	struct { /* with --cpu_util: this end's process during the round */
		double percent; /* percentage of one CPU */
		double user_s, system_s;
		double s_per_gb; /* per 10^9 bytes of messages */
	} cpu;
	uint64_t run; /* with --repeat: number of the run of this size, from 1 */
	/* the confidence interval of bandwidth_gbps or latency_mean_us */
	struct plus_minus {
		uint64_t slices; /* slices of the run that it is computed from; 0: none */
		double percent;  /* half of the 95 % interval; NaN: not known, */
		uint64_t unknown; /* enum interval_state: because */
	} plus_minus;
	struct quality quality; /* conditions of the end that measured */
};

/* The table of fields. Integers are uint64_t. The names of the rows are the CSV columns. */
const struct fields *record_fields(void);

/* The field KEY outside groups; NULL: there is none. And the value of any field. */
const struct field *record_find(const char *key);
double record_value(const struct record *r, const struct field *field);

/* Set a real number. */
void record_set(struct record *r, const struct field *field, double value);

static inline double record_copies(const struct record *r)
{
	return r->copies ? (double)r->copies : 1;
}

/* Set the rates from timed_messages and SECONDS. */
void record_set_rates(struct record *r, double seconds);

/* The interval IN as a share of its mean. */
struct plus_minus plus_minus_of(const struct interval *in);

/* Whether R has rates: two directions (-b) that never ran at the same time have none together. */
bool record_has_rate(const struct record *r);

/* Returns the record as a new JSON object: the measured fields, and message_bytes. */
json_t *record_to_json(const struct record *r);

/* Read the peer's record; missing fields are 0. Raises FAULT_PEER for a wrong type or range. */
int record_from_json(struct record *r, const json_t *from, struct fault *f);

/* Write a field as text; "" for a real number that was not measured or is unknown. Returns BUF. */
const char *record_format(const struct record *r, const struct field *field, char *buf,
			  size_t size);
