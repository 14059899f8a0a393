/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * experiment: the parameters that the client decides and the server applies.
 *
 * Every field is a uint64_t, so one row of the option table can parse, check, transmit and compare
 * it; only several flow labels do not fit in one. The values are those of the command line or of
 * the program's defaults. plan/plan.h and verbs/qp.h compute what a device makes of them (inline,
 * MTU).
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/fault.h"

#define EXPERIMENT_AUTO UINT64_MAX /* not given: chosen automatically, and shown */
#define EXPERIMENT_DEVICES_MAX 16 /* of an end, at once */
#define EXPERIMENT_LABELS_MAX 64 /* dealt to the QPs in turn */

struct flow_labels {
	uint64_t count; /* 0: there is one, experiment.flow_label; otherwise that is the first */
	uint32_t value[EXPERIMENT_LABELS_MAX];
};

struct experiment {
	uint64_t size_bytes;
	uint64_t sweep;       /* 1: 2 B to 8 MiB in powers of two instead of size_bytes */
	uint64_t iters;       /* messages for each QP */
	uint64_t duration_ns; /* 0: run by iters */
	uint64_t qps;         /* of each thread */
	uint64_t threads;     /* for each device */
	uint64_t share;       /* enum share: what the threads of a device have in common */
	uint64_t reversed;    /* 1: the server sends */
	uint64_t bidirectional;
	uint64_t tx_depth;
	uint64_t rx_depth;
	uint64_t post_list;    /* work requests for each ibv_post_send() */
	uint64_t post_api;     /* enum post_api */
	uint64_t cq_mod;       /* work requests per completion; AUTO */
	uint64_t mtu_bytes;    /* AUTO: the smaller of both ports' active MTU */
	uint64_t inline_bytes; /* AUTO: the program's choice, up to the device's limit */
	uint64_t connection;   /* enum connection */
	uint64_t mcg;          /* QPs attached to a multicast group; 0: none is used */
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
	uint64_t send_with_imm;  /* 1: SENDs carry one, too */
	uint64_t recv_post_list; /* receives for each ibv_post_recv(); AUTO */
	uint64_t latency_gap_us; /* pause after each arrival */
	uint64_t latency_rate;   /* messages a second, of all threads; 0: a closed loop */
	uint64_t run_infinitely; /* 1: until a signal comes */
	uint64_t strict_order;   /* 1: without PCIe relaxed ordering */
	uint64_t reconnect;      /* which connection of --reconnect it is, from 1; 0: there is one */
	uint64_t omit_ns;        /* what is not measured, before the warm-up */
	uint64_t warmup;         /* messages for each QP before the clock; AUTO */
	uint64_t verify;         /* 1: check data after each size; more: of so many messages */
	uint64_t rate_limit;     /* of all QPs together, see base/rate.h; 0: no limit */
	uint64_t rate_units;     /* enum rate_unit, of a rate_limit without a unit */
	uint64_t rate_type;      /* enum rate_type */
	uint64_t burst;          /* messages per burst; AUTO: one post */
	uint64_t mr_per_qp;      /* 1: an MR for each QP */
	uint64_t footprint_bytes; /* each QP's messages walk through this much memory; 0: a page */
	uint64_t align_bytes;     /* offset of each message from the start of a page */
	uint64_t outs;            /* outstanding READs or atomics; AUTO: what both ends support */
	uint64_t atomic_type;     /* enum atomic_type */
	/* for gdr_bw; 0 in other programs */
	uint64_t plain;   /* 1: one row instead of all cells */
	uint64_t windows; /* per cell */
	struct flow_labels labels; /* dealt to the QPs in turn */
};

/* What threads post through: each its own doorbell register, or those of the device's context. */
enum share {
	SHARE_NONE, /* where the device has thread domains */
	SHARE_CONTEXT
};

enum atomic_type {
	ATOMIC_CMP_AND_SWAP,
	ATOMIC_FETCH_AND_ADD
};

/* The calls of a stream: ibv_post_send and ibv_poll_cq, or ibv_wr_* and ibv_start_poll. */
enum post_api {
	POST_API_AUTO, /* ibv_wr_* where the device has them, but not soft-RoCE */
	POST_API_SEND,
	POST_API_WR
};

/* perftest's --rate_limit_type; only SW, the program itself, is supported. */
enum rate_type {
	RATE_TYPE_SW,
	RATE_TYPE_HW,
	RATE_TYPE_PP
};

/* The flow label of QP I of all QPs of an end: those of worker 0, then those of worker 1. */
static inline uint32_t experiment_flow_label(const struct experiment *e, uint64_t i)
{
	return e->labels.count ? e->labels.value[i % e->labels.count] : (uint32_t)e->flow_label;
}

struct options;
struct option_row;
struct transport;

/* The transport of -c; and whether that may lose messages without an error. */
const struct transport *experiment_transport(const struct experiment *e);
bool experiment_loses(const struct experiment *e);

/* How often a message arrives: once, or at each QP of a multicast group. */
static inline uint64_t experiment_copies(const struct experiment *e)
{
	return e->mcg ? e->mcg : 1;
}

/* True if the clock or a signal ends a round, not the number of its messages. */
static inline bool experiment_endless(const struct experiment *e)
{
	return e->duration_ns || e->run_infinitely;
}

/* What E has of ROW, an option of the experiment. */
uint64_t experiment_value(const struct experiment *e, const struct option_row *row);

/* True if A and B are equal but for the size of a message. */
bool experiment_same_qps(const struct experiment *a, const struct experiment *b);

/* The experiment as a new JSON object, by long options: those of a test with TRAITS (0: all). */
json_t *experiment_to_json(const struct experiment *e, unsigned traits);

/*
 * Returns the experiment for the document: a new JSON object with the unit in each key that has one
 * (size_bytes, duration_s), words for choices, and null for automatic values.
 */
json_t *experiment_describe(const struct experiment *e, unsigned traits);

/* The same, but only for the options that O's sweep varies; NULL: none. */
json_t *experiment_varied(const struct options *o);

/*
 * Read a client's experiment into E, which has the defaults. Each key is checked by its row of the
 * table; a test with TRAITS takes only defaults of options that it does not have. Raises FAULT_PEER.
 */
int experiment_from_json(struct experiment *e, const json_t *from, unsigned traits,
			 struct fault *f);

/*
 * Server: compare THEIRS with the experiment options that were given on this command line; with a
 * sweep any of its values fits. Raises FAULT_USAGE with the option and both values if they differ.
 * Under perftest's names the client decides sizes, iterations and duration, as perftest had it:
 * these differences are written to DECIDED, "" if there are none.
 */
int experiment_check(const struct options *mine, const struct experiment *theirs, char *decided,
		     size_t size, struct fault *f);
