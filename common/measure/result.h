/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * result: what both ends found in a round, as rows: of each end, of both together, of each thread
 * and device. And what is known of a round while it runs.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "finding/quality.h"
#include "proto/verified.h"

struct evidence;
struct explained;
struct options;
struct port_snapshot;
struct record;

enum result_end {
	RESULT_CLIENT,
	RESULT_SERVER,
	RESULT_BOTH /* the sum of both ends */
};

enum result_direction {
	RESULT_FORWARD, /* from the client to the server */
	RESULT_BACKWARD,
	RESULT_BOTH_WAYS,
	RESULT_PING_PONG,
	RESULT_NO_WAY /* no messages: calls of this host */
};

/* A record, and what it describes. */
struct result_row {
	const struct record *record;
	enum result_end by;
	enum result_direction direction;
	int thread;                  /* -1: all threads */
	const char *device;          /* NULL: all devices */
	struct verified verified;     /* without messages: nothing was */
	struct disturbed {           /* of the client, and of the server */
		struct quality quality[2];
		unsigned reasons[2]; /* why the row is doubtful, as bits */
		bool same_ports;     /* what these counted is said of both ends */
	} disturbed;
	const struct explained *explained; /* lent; NULL: nothing is known */
};

/* All rows of one message size. */
struct result {
	const struct result_row *row;
	size_t rows;
	const struct result_row *main;     /* one of `row`: the client's table shows it, or with
					      --report-both its parts; NULL: no rows */
	const struct result_row *shown[2]; /* rows of this end's table; NULL: no more */
	/* If `shown` is a sum: its parts, of this end and of the other one; otherwise NULL. */
	const struct result_row *local, *remote;
	const double *samples_us; /* latency with -U or -H: one per message, in order; else NULL */
	json_t *histogram;        /* for the JSON document; lent; NULL: none */
	json_t *receivers;        /* the same, of the QPs of a multicast group */
	double cpu_percent;       /* CPU use of this end, with --cpu_util */
	const struct evidence *evidence;      /* two, by enum result_end; NULL: none */
	const struct port_snapshot *snapshot; /* the same */
	double runs_mean, runs_stdev; /* with --repeat, of the runs so far; 0: unknown */
	bool one_of_runs; /* of --repeat: in CSV and document; the table gets the median run */
	bool failed;      /* the run failed: only for the document */
};

/*
 * Progress of a round: MESSAGES (of MESSAGE_BYTES) completed in the last INTERVAL_NS, up to
 * ELAPSED_NS. In a latency test their round trips took TRIPS_NS (0: unknown). PARTIAL: the round
 * ended before the interval. RUN: number of the run of this size, from 1; 0: not repeated.
 */
struct progress {
	uint64_t message_bytes, elapsed_ns, interval_ns, messages, trips_ns;
	bool partial;
	uint64_t run;
};

/* The worst interval of a round, which shows a stall that the average hides. */
struct worst {
	uint64_t intervals;
	double messages_per_s; /* the lowest rate */
	double latency_us;     /* the highest mean */
};

/*
 * Add an interval of MESSAGES, whose latencies sum up to SUM_US (0: unknown). Without messages, the
 * first one's latency is at least the interval.
 */
void worst_note(struct worst *w, uint64_t interval_ns, uint64_t messages, double sum_us);

/* Store the worst interval in REC, whose message_bytes is set. */
void worst_to_record(const struct worst *w, bool latency, struct record *rec);

/* The names in documents: "client", "client_to_server". */
const char *result_end_name(enum result_end end);
const char *result_direction_name(enum result_direction direction);

/* In a sentence: "client to server". */
const char *result_direction_words(enum result_direction direction);

static inline bool result_is_disturbed(const struct result_row *row)
{
	return row->disturbed.reasons[0] || row->disturbed.reasons[1];
}

/* A disturbed ROW only may be: ports counted it all, and it may be other programs'. */
bool result_may_be_disturbed(const struct result_row *row);

/*
 * Write what disturbed ROW at each end: "client: the thread had 37 % of its CPU …"; once, of "this
 * host", what the port of both ends counted. Returns BUF.
 */
const char *result_disturbance(const struct result_row *row, char *buf, size_t size);

/* Write the experiment of O's sweep: "-t 16: "; "" if the size of a row says it. Returns BUF. */
const char *result_point(const struct options *o, char *buf, size_t size);
