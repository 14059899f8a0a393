/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * record: one result: one message size, one direction, as one end measured it. An end that has no
 * part in the measuring (the server of write_bw) may still have one, of its CPU use: then without
 * messages.
 *
 * One table of fields makes the JSON form (on the wire and in the document) and the CSV columns.
 * Units are in the names; Gb is 10^9 bits. A field that was not measured is 0 and left out; one
 * that names another beside it was measured if that is not 0.
 */
#ifndef RDMARK_WIRE_RECORD_H
#define RDMARK_WIRE_RECORD_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"

struct record {
	uint64_t message_bytes;
	uint64_t qps;
	uint64_t messages; /* measured, all QPs */
	double seconds;    /* from first post to last completion */
	double bandwidth_gbps;
	double bandwidth_peak_gbps; /* best span of one full send queue; 0: not measured */
	double messages_per_s;
	double latency_min_us; /* half of the round trip, as all that follow */
	double latency_max_us;
	double latency_mean_us;
	double latency_stdev_us;
	double latency_p50_us;
	double latency_p90_us;
	double latency_p99_us;
	double latency_p99_9_us;
	double latency_p99_99_us;
	double rate_limit_gbps; /* what the schedule asked for */
	uint64_t late_messages; /* posted later than 1 us after they were due */
	double late_max_us;     /* the most that one was late by */
	double load_gbps;       /* of the stream beside the ping-pong */
	uint64_t interrupted;   /* 1: the run ended early; all of the above is of what was done */
	uint64_t lost; /* messages sent that did not come; latency: round trips without a sample */
	/* with --interval: of those that were whole */
	uint64_t intervals;         /* bandwidth tests: how many */
	double worst_interval_gbps; /* the least bandwidth */
	double worst_interval_us;   /* the largest mean latency */
	/* with --cpu_util: this end's process, while the round ran */
	double cpu_percent; /* of one CPU */
	double cpu_user_s;
	double cpu_system_s;
	double cpu_s_per_gb; /* 10^9 bytes of messages */
	uint64_t run;        /* with --repeat: which one of this size, from 1 */
};

struct record_field {
	const char *name;
	size_t offset;
	bool is_integer;
	size_t with; /* where the field is that says whether this one was measured; 0: itself */
};

/* The table of fields. Static storage. */
const struct record_field *record_fields(size_t *count);

/* The field called NAME; NULL: there is none. And what is in it, whatever its type. */
const struct record_field *record_find(const char *name);
double record_value(const struct record *r, const struct record_field *field);

/* The record as a new JSON object: the fields that were measured, and message_bytes. */
json_t *record_to_json(const struct record *r);

/* Read what the peer sent; what is missing is 0. Raises FAULT_PEER for a wrong type or range. */
int record_from_json(struct record *r, const json_t *from, struct fault *f);

/* One field as text; "" if it is no integer and was not measured. Returns BUF. */
const char *record_format(const struct record *r, const struct record_field *field, char *buf,
			  size_t size);

#endif
