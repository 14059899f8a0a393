/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * record: one result: one message size and one direction, as measured by one end. An end that does
 * not measure (the server of write_bw) may have a record with its CPU use and without messages.
 *
 * record.def has its fields: from there come the members, the JSON form (for the protocol and the
 * document), the CSV columns and what is said of them in rdmark-json(5). Names have the units; Gb
 * is 10^9 bits. A field that was not measured is 0 and omitted; if a field depends on another one,
 * it was measured if that one is not 0. An unknown real number is NaN: null in JSON, empty in CSV.
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

#define PERCENTILE_NAME   24
#define PERCENTILE_BEYOND 10 /* minimum number of samples beyond a percentile */

/* The percentiles of a latency. */
#define PERCENTILE(symbol, ...) PERCENTILE_##symbol,
enum percentile {
#include "proto/record.def"
	PERCENTILES
};

/* The words of `step`. */
enum record_step {
	RECORD_NO_STEP,
	RECORD_REG,
	RECORD_DEREG,
	RECORD_CREATE,
	RECORD_INIT,
	RECORD_EXCHANGE,
	RECORD_PEER,
	RECORD_RTR,
	RECORD_RTS,
	RECORD_RDMA_CM,
	RECORD_DESTROY,
	RECORD_CONNECTION
};

/* The members are explained in record.def. */
struct record {
#define ROW(type, member, ...) type member;
#define PART(...)
#define LIMIT(...)
#include "proto/record.def"
	struct { /* and the limits of their 95 % rank intervals; NaN: no sample is one */
		double us[PERCENTILES], low_us[PERCENTILES], high_us[PERCENTILES];
	} percentile;
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

/* The percentile that FIELD is, or whose limit; PERCENTILES: it is neither. */
enum percentile record_percentile(const struct field *field);

/* The user's name for it, "p99.9". Returns BUF. */
const char *percentile_name(enum percentile p, char buf[PERCENTILE_NAME]);

/*
 * What it is in percent; and the number of samples that it needs: with fewer than PERCENTILE_BEYOND
 * beyond it, it depends on chance and counts as unknown. Perftest's form shows it anyway.
 */
double percentile_percent(enum percentile p);
uint64_t percentile_needs(enum percentile p);

/* The number of samples of REC, a latency test's: lost round trips have none. */
uint64_t percentile_samples(const struct record *rec);

/* True if REC has enough samples for FIELD, or if FIELD is not a percentile. */
bool percentile_known(const struct record *rec, const struct field *field);

/* R, in which a percentile with too few samples is NaN, and without its limits. */
struct record record_known(const struct record *r);

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
