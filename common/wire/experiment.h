/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * experiment: what the client decides and the server applies.
 *
 * Every field is a uint64_t, so that one row of the option table parses it, checks it, puts it on
 * the wire and compares it. Values are as the user gave them or as the program's defaults say;
 * what a device makes of them (inline, MTU) is in struct plan, not here.
 */
#ifndef RDMARK_WIRE_EXPERIMENT_H
#define RDMARK_WIRE_EXPERIMENT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/fault.h"
#include "base/rate.h"

#define EXPERIMENT_AUTO UINT64_MAX /* not given: chosen well, and the choice is shown */

struct experiment {
	uint64_t size_bytes;
	uint64_t sweep;       /* 1: 2 B to 8 MiB in powers of two instead of size_bytes */
	uint64_t iters;       /* messages for each QP */
	uint64_t duration_ns; /* 0: run by iters */
	uint64_t qps;         /* of each thread */
	uint64_t threads;     /* for each device */
	uint64_t reversed;    /* 1: the server sends */
	uint64_t bidirectional;
	uint64_t tx_depth;
	uint64_t rx_depth;
	uint64_t post_list;    /* work requests for each ibv_post_send() */
	uint64_t post_api;     /* enum post_api */
	uint64_t cq_mod;       /* one completion for so many work requests; AUTO */
	uint64_t mtu_bytes;    /* AUTO: the smaller of both ports' active MTU */
	uint64_t inline_bytes; /* AUTO: the program's wish, as far as the device goes */
	uint64_t connection;   /* enum connection */
	uint64_t rdma_cm;      /* 1: the QPs are connected through rdma_cm */
	uint64_t events;       /* 1: wait for completion events instead of polling */
	uint64_t use_srq;      /* 1: one receive queue for all QPs of a thread */
	uint64_t own_cqs;      /* 1: CQs for each QP instead of one for all */
	uint64_t sl;
	uint64_t tos;
	uint64_t hop_limit;
	uint64_t flow_label;
	uint64_t qp_timeout; /* 4.096 us * 2^n, IB specification 9.7.6.1.3 */
	uint64_t retry_count;
	uint64_t write_with_imm; /* 1: WRITEs carry an immediate, which the receiver counts */
	uint64_t recv_post_list; /* receives for each ibv_post_recv(); AUTO */
	uint64_t latency_gap_us; /* pause after each arrival */
	uint64_t run_infinitely; /* 1: until a signal comes */
	uint64_t strict_order;   /* 1: without PCIe relaxed ordering */
	uint64_t warmup;         /* messages for each QP before the clock; AUTO */
	uint64_t verify;         /* 1: check data after each size */
	uint64_t rate_limit;     /* of all QPs together, see base/rate.h; 0: as fast as it goes */
	uint64_t rate_units;     /* enum rate_unit, of a rate_limit without a unit */
	uint64_t rate_type;      /* enum rate_type */
	uint64_t burst;          /* messages that are due at once; AUTO: one post */
	uint64_t load;           /* latency: a stream of WRITEs beside it, as rate_limit; 0: none */
	uint64_t load_bytes;     /* size of these */
	uint64_t mr_per_qp;      /* 1: an MR for each QP */
	uint64_t footprint_bytes; /* each QP's messages walk through so much; 0: a page */
	uint64_t align_bytes;     /* each message begins so far behind a page's start */
	/* gdr_bw's; 0 in all others */
	uint64_t plain;   /* 1: one row instead of all cells */
	uint64_t windows; /* of each cell */
	uint64_t staged_chunk_bytes;
	uint64_t staged_slots;
};

/* Defaults that no program changes; as perftest's where it has the option. */
#define EXPERIMENT_DEFAULTS                                                                       \
	.qps = 1, .threads = 1, .rx_depth = EXPERIMENT_AUTO, .post_list = 1,                      \
	.cq_mod = EXPERIMENT_AUTO, .mtu_bytes = EXPERIMENT_AUTO, .inline_bytes = EXPERIMENT_AUTO, \
	.qp_timeout = 14, .recv_post_list = EXPERIMENT_AUTO, .hop_limit = 255, .retry_count = 7,  \
	.warmup = EXPERIMENT_AUTO, .rate_units = RATE_GBPS, .burst = EXPERIMENT_AUTO,             \
	.load_bytes = 65536

enum connection {
	CONNECTION_RC,
	CONNECTION_UC,
	CONNECTION_UD
};

/* The calls of a stream: ibv_post_send and ibv_poll_cq, or ibv_wr_* and ibv_start_poll. */
enum post_api {
	POST_API_AUTO, /* the quicker ones */
	POST_API_SEND,
	POST_API_WR
};

/* What keeps the schedule; only this program does. */
enum rate_type {
	RATE_TYPE_SW,
	RATE_TYPE_HW,
	RATE_TYPE_PP
};

struct options;

/* True if the clock or a signal ends a round, not the number of its messages. */
static inline bool experiment_endless(const struct experiment *e)
{
	return e->duration_ns || e->run_infinitely;
}

/*
 * The experiment as a new JSON object, keys as the long options: those that the program TEST has
 * (NULL: all).
 */
json_t *experiment_to_json(const struct experiment *e, const char *test);

/*
 * The experiment as a user reads it: a new JSON object for the document, with the unit in each key
 * that has one (size_bytes, duration_s), words for choices, null for what was left to choose.
 */
json_t *experiment_describe(const struct experiment *e, const char *test);

/*
 * Read what a client sent into E, which holds the defaults for keys that are not there. Every key
 * that is there is type- and range-checked by its row of the option table; unknown keys are
 * ignored. Raises FAULT_PEER naming the key.
 */
int experiment_from_json(struct experiment *e, const json_t *from, struct fault *f);

/*
 * Server: refuse what the client wants differently from an experiment option that was given on
 * this command line. Raises FAULT_USAGE naming the option and both values.
 */
int experiment_check(const struct options *mine, const struct experiment *theirs, struct fault *f);

#endif
