/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* clang-format off: the table keeps its form */
/*
 * message: the protocol's messages and how they are read: every key type- and range-checked,
 * unknown keys ignored.
 *
 *	client  hello    protocol, version, test, experiment, gid_kinds, ethernet,
 *			 rails[]{ethernet, gid_kinds, mtu_bytes [, pkey]}, timeout_ns
 *			 [, gpu_memory]
 *	server  welcome  protocol, version, rails[]{gid_kind, mtu_bytes [, pkey]},
 *			 timeout_ns [, gpu_memory, rdma_cm[{address, port, token}]: a strand each];
 *			 or error; or, while it serves another client:
 *	server  busy     with, place: in line, and again when that changes and every second;
 *			 the client says nothing until it is its turn. Without place: the line
 *			 is full, with as many as `line` says; the server closes
 *	server  alive    to who waits in line: it is its turn, welcome or error follows
 *	server  ended    to who waits in line: there will be no turn; the server closes
 *
 *	with -R, while the QPs are connected through rdma_cm:
 *	both    alive    every second
 *
 *	both    qps      qpn[], psn[], lid, gid, addr, stride, rkey [, rkeys[]], end{}
 *
 *	then, for the warm-up and the measurement of every size:
 *	client  round    message_bytes, target [, duration_ns, warmup, reverse, way, cpu_util, run]
 *	server  ready
 *	both    alive    every second, while the loops run
 *	follower finish  please end early (it was interrupted)
 *	leader  done     messages[], lost[], record: of each thread: sent, and 0
 *	follower done    messages[], lost[], record: what came, and what did not
 *	both    over     lost[]; in a round of both directions, the server first
 *	The client leads, or the server if the round is reversed.
 *	client  repeated  [until_ppm]: the last run of a size is over, as run said which one it was
 *
 *	with --verify, after each measured round, step by step; the client says it first, then the
 *	server the same:
 *	both    verify   step "begin": places[] {addr, rkey, slots}, skip (interrupted: no more)
 *	both    verify   step "empty": receives[][]: so many empty messages are to consume
 *	both    verify   step "emptied": they are sent; then "empty" again, until there are none
 *	both    verify   step "armed" and "sent", of each window; then "empty" again
 *	both    verify   step "found": found {} (wire/verified.h), from an end that receives
 *
 *	a program with a schedule of its own, between rounds:
 *	client  task     whatever the program wants done there
 *	server  result   and what came of it; or error
 *
 *	at last:
 *	client  bye      [counters{}]
 *	server  bye      [counters{}]
 *	anybody, at any time: error  (a struct fault); the server's when a client asks for
 *	more than its --max-… allow or takes longer has the code `usage`
 *
 * The number of messages does not depend on the number of QPs.
 */
/* clang-format on */
#ifndef RDMARK_WIRE_MESSAGE_H
#define RDMARK_WIRE_MESSAGE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"
#include "verbs/qp.h"
#include "wire/oob.h"

#define MESSAGE_PROTOCOL 1

/* A new message of TYPE without keys. */
json_t *message_new(const char *type);

/* True if M is of TYPE. */
bool message_is(const json_t *m, const char *type);

/* Integer KEY of M, 0 … MAX. Raises FAULT_PEER if it is missing or something else. */
int message_u64(const json_t *m, const char *key, uint64_t max, uint64_t *value, struct fault *f);

/* The same for what has a default: 0, or false, if KEY is not there. */
int message_u64_if(const json_t *m, const char *key, uint64_t max, uint64_t *value,
		   struct fault *f);
int message_flag(const json_t *m, const char *key, bool *value, struct fault *f);

/* Raises that KEY of M is not VALID, if so. For keys of other types. */
int message_has(const json_t *m, const char *key, bool valid, struct fault *f);

/* Text KEY of M, cut to SIZE. Raises FAULT_PEER if it is missing or no text. */
int message_text(const json_t *m, const char *key, char *buf, size_t size, struct fault *f);

/*
 * Wait for a message of TYPE, at most TIMEOUT_NS from the last "alive", passing over that and a
 * "finish" that crossed the round's end. An "error" of the peer is raised as the peer's fault;
 * anything else is a breach of the protocol. The caller owns *M.
 */
int message_expect(struct oob *o, const char *type, json_t **m, uint64_t timeout_ns,
		   struct fault *f);

/* A fault as an "error" message, and raising the one that came. */
json_t *message_from_fault(const struct fault *f);
int message_raise(const json_t *m, struct fault *f);

/* The fault as the JSON document shows it: code, phase, call, errno, text, cause, fix, from_peer.
 */
json_t *message_fault_json(const struct fault *f);

/* QP details of all QPs in one message. message_read_qps() allocates A, also to be released after a
 * failure. */
json_t *message_from_qps(const struct qp_address *a);
int message_read_qps(const json_t *m, unsigned count, struct qp_address *a, struct fault *f);

#endif
