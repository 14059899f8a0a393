/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* clang-format off: the table keeps its form */
/*
 * message: the messages of the protocol, and reading them. Every key is checked for type and range;
 * unknown keys are ignored. [] is an array, [, key] an optional key.
 *
 * Handshake:
 *	client  hello    protocol, version, test, experiment, timeout_ns,
 *			 rails[]{fabric, gid_kinds, mtu_bytes
 *			 [, pkey, default_pkey, reads_*]}
 *			 [, gpu_memory, varied[]: options that differ from those of the client's
 *			 other experiments, default_depth: of -t, which the server may cut,
 *			 sizes[]: of the experiment and of those that differ from it by that alone]
 *	server  welcome  protocol, version, timeout_ns,
 *			 rails[]: the same, with one of gid_kinds
 *			 [, tx_depth, gpu_memory, rdma_cm[]{address, port, token} of each worker,
 *			 decided: what the client decided otherwise than an ib_* server's
 *			 command line];
 *			 or error; or, while it serves another client:
 *	server  busy     with: the client being served; the server closes, and the client tries again
 *
 *	with -R, while rdma_cm connects the QPs:
 *	both    alive    every second
 *
 *	both    qps      strands[]{qpn[], psn[], lid, gid, addr, stride, rkey [, rkeys[],
 *			 senders[], srqns[]: with XRC]} of all workers, ends[] of all rails
 *
 * With --auth other messages come before the hello (admit/auth.h).
 *
 * Then, for the warm-up and the measurement of each size. The client is the leader, or the server
 * if the round is reversed; in a round of both directions each end is leader and follower:
 *	client  round    message_bytes, target, warmup
 *			 [, duration_ns, reverse: of a kind, kind, cpu_util, run, within_ppm,
 *			 at: of sizes[]]
 *	server  ready
 *	in both directions, to compare the clocks; after the last one both begin:
 *	client  clock    eight times
 *	server  clock    raw_ns: its clock; each time
 *	both    alive    every second, while the loops run
 *	follower finish  request to end early, after a signal
 *			 [, max_duration_ns: or at this limit of the server, which also tells it
 *			 as the leader]
 *	leader  done     messages[] sent by each worker [, record, parts[] of its workers and
 *			 devices, snapshot[], evidence, resent]
 *	follower over    messages[] received by each worker [, receivers[] and the same];
 *			 in both directions the server's first
 *			 in both directions either also has sent{began_ns, ended_ns: since the last
 *			 "clock"; messages: while both sent, known in "over"}
 *
 * With --verify, after each measured round:
 *	client  verify   go (another window), room (messages of a QP in it), found{} so far: the places are
 *			 filled, or everything is sent, in turns
 *	server  verify   the same, as both ends have it
 *
 * A program with a schedule of its own, between rounds:
 *	client  task     what the program needs to run at the server
 *	server  result   of the task; or error
 *
 * At the end:
 *	client  bye      instead of another hello, and all of the above
 *	server  bye
 *	either end at any time: error (a struct fault). If a client exceeds one of the server's
 *	--max-… limits its code is `usage`.
 *
 * The number of messages does not depend on the number of QPs.
 */
/* clang-format on */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"

struct oob;
struct qp_address;

#define MESSAGE_PROTOCOL 5

/* A new message of TYPE without keys. */
json_t *message_new(const char *type);

/* True if M is of TYPE. */
bool message_is(const json_t *m, const char *type);

/* Read integer KEY of M, 0 … MAX. Raises FAULT_PEER if it is missing or invalid. */
int message_u64(const json_t *m, const char *key, uint64_t max, uint64_t *value, struct fault *f);

/* The same for an optional key: 0, or false, if KEY is missing. */
int message_u64_if(const json_t *m, const char *key, uint64_t max, uint64_t *value,
		   struct fault *f);
int message_flag(const json_t *m, const char *key, bool *value, struct fault *f);

/* Raises FAULT_PEER for KEY of M, unless VALID. For keys of other types. */
int message_has(const json_t *m, const char *key, bool valid, struct fault *f);

/* Raises FAULT_PEER unless KEY of M is an array of COUNT integers, each 0 … MAX. */
int message_numbers(const json_t *m, const char *key, size_t count, uint64_t max, struct fault *f);

/* Read text KEY of M, cut to SIZE. Raises FAULT_PEER if it is missing or not a text. */
int message_text(const json_t *m, const char *key, char *buf, size_t size, struct fault *f);

/*
 * How long this end waits for the peer's next step: until TIMEOUT_NS after the last "alive", and
 * for MESSAGE_ALIVE_ONLY_NS at most. An "alive" after a signal at this end does not prolong it.
 */
#define MESSAGE_ALIVE_ONLY_NS UINT64_C(1800000000000)

struct message_wait {
	uint64_t timeout_ns, deadline_ns, alive_until_ns;
};
struct message_wait message_wait(uint64_t timeout_ns);

/*
 * Receive the next message that is not "alive". The same W for several messages is one deadline for
 * all of them. The caller releases *M.
 */
int message_next(struct oob *o, struct message_wait *w, json_t **m, struct fault *f);

/*
 * Wait for a message of TYPE, ignoring a "finish" that crossed the round's end, which does not
 * prolong the wait. An "error" is raised as the peer's fault; any other type is a violation of the
 * protocol. The caller releases *M.
 */
int message_expect(struct oob *o, const char *type, json_t **m, uint64_t timeout_ns,
		   struct fault *f);

/*
 * As oob_send(). A peer that fails sends "error" and closes, so a message to it may find the
 * connection closed: then raises the peer's fault.
 */
int message_send(struct oob *o, json_t *m, uint64_t deadline_ns, struct fault *f);

/* Create an "error" message from a fault; and raise the fault of the received message. */
json_t *message_from_fault(const struct fault *f);
int message_raise(const json_t *m, struct fault *f);

/* Send F as an "error" to O, if that is possible. Needs no memory of the heap. */
void message_send_fault(struct oob *o, const struct fault *f, uint64_t deadline_ns);

/* The fault in the form of the JSON document. */
json_t *message_fault_json(const struct fault *f);

/*
 * The details of all QPs in one message. message_read_qps() allocates A, which the caller releases,
 * also after a failure.
 */
json_t *message_from_qps(const struct qp_address *a);
int message_read_qps(const json_t *m, unsigned count, struct qp_address *a, struct fault *f);
