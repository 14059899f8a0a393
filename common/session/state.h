/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* state: what a running session holds; shared by the files of session/ alone. main owns it. */
#ifndef RDMARK_SESSION_STATE_H
#define RDMARK_SESSION_STATE_H

#include <sys/socket.h>

#include "base/clock.h"
#include "base/slots.h"
#include "base/stop.h"
#include "base/usage.h"
#include "host/counters.h"
#include "host/gpu.h"
#include "host/pin.h"
#include "loop/paced.h"
#include "loop/recv.h"
#include "report/report.h"
#include "session/crew.h"
#include "session/gate.h"
#include "session/repeat.h"
#include "session/session.h"
#include "session/watch.h"
#include "session/worst.h"
#include "verbs/cm.h"
#include "verbs/hca.h"
#include "verbs/mem.h"
#include "verbs/qp.h"
#include "wire/door.h"
#include "wire/message.h"

#define SESSION_RAILS_MAX 16

/* A device of this end and the way from it to the peer's: rail I here talks to rail I there. */
struct rail {
	struct hca hca;
	struct qp_route route;
	union ibv_gid gid; /* of this end, as route.gid_index names it */
	struct end mine, theirs;
	struct counters counters;
};

/*
 * One measuring thread with all it works on: strand I here talks to strand I there. They take the
 * rails in turn.
 */
struct strand {
	struct session *session;
	struct rail *rail;
	unsigned index;
	bool is_load; /* measures nothing (load.c) */
	struct pin pin;
	struct qp_set qps;
	struct cm cm; /* with -R: what connects them */
	struct mem mem;
	uint64_t out;        /* where QP 0's messages are sent from; its peer writes to mine.addr */
	uint64_t gpu_buffer; /* what mem registers, where it is a GPU's; 0: none */
	struct recv_queue receives;
	bool extended;            /* the calls of its stream: calls.c */
	struct trial trial;       /* of both, */
	uint32_t trial_median[2]; /* and what it found, in ticks */
	struct verify *verify;    /* NULL: without --verify */
	struct qp_address mine, theirs;
	struct fault fault; /* its thread's own */
	/* measuring */
	struct round_control *control;
	struct round round, arrivals; /* arrivals: of a round in both directions */
	struct paced paced;           /* with --rate_limit, and a load's */
	struct hist *hist;
	struct peak peak;
	bool peak_ready;
	uint64_t *samples;
	uint64_t lost; /* of what the peer sent in this round */
	struct record record;
};

struct session {
	const struct test *test;
	const char *program; /* as it was called */
	struct options options;
	struct options asked; /* a server's as they were given: what a client wants must agree */
	struct stop stop;
	struct clock clock;
	struct fault fault;
	struct fault wrong_data; /* what a verification has found; raised at the end */
	bool interrupted; /* a run was ended early by a signal; what was measured is reported */
	bool measured;    /* there is a result */
	struct report report;
	struct gates gates; /* what the rows must reach; judged by the client */
	struct repeat repeat;
	/* the connection */
	struct door door; /* server */
	struct oob oob;
	struct sockaddr_storage local; /* this end of it */
	uint64_t peer_timeout_ns;      /* the peer's --timeout */
	/* this end's devices and what stands on them */
	struct rail rail[SESSION_RAILS_MAX];
	unsigned rails;
	struct strand *strand;
	unsigned strands;
	unsigned loads;                /* strands behind these, which only make load (load.c) */
	struct round_control *control; /* of all strands, loads too */
	struct crew crew;
	struct gpu *gpu;         /* NULL: none is used */
	struct fault gpu_absent; /* why there is none, where that is no failure */
	bool matrix;             /* all cells: a schedule of the program's own */
	bool gpu_memory;         /* this end's messages lie in GPU memory */
	bool immediate;          /* at one end they do: the program's other loops run */
	struct report_effective effective;
	bool calls_settled;     /* it is known by which calls the streams are posted and polled */
	uint64_t largest_bytes; /* the largest message of the experiment */
	uint64_t message_max;   /* and of all rounds: also a staged chunk */
	void *own;              /* the program's, from test->open */
};

/* All of its strands, and the threads of its crew: those that measure, then the loads. */
static inline unsigned session_all_strands(const struct session *s)
{
	return s->strands + s->loads;
}

/* Read the peer's timeout from its hello or welcome M. */
int session_read_timeout(struct session *s, const json_t *m);

/* Whose memory is a GPU's, here or by the hello or welcome M there? Then other loops are needed. */
int session_read_memory(struct session *s, const json_t *m);

/* -H and -U can have every sample: there are so many iterations, and one run of them. */
bool session_keeps_samples(const struct session *s);

/* Let the peer know why this end stops, if there still is one that does not know. */
void session_tell_peer(struct session *s);

/* Both ends are connected: tell the report. */
void session_show_ends(struct session *s);

/* --wait_destroy: the run is over, and its QPs stay for a while. Ends early on a signal. */
void session_linger(struct session *s);

/* Deadline of a wait that starts now: --timeout. */
uint64_t session_deadline(const struct session *s);

/*
 * endpoint.c: this end as a whole: the devices, the threads, and what stands on them; each raises
 * its fault.
 */
int endpoint_look(struct session *s, struct hca_list *list); /* is there a usable device at all? */
int endpoint_open(struct session *s);                        /* choose, open, pin */
void endpoint_agreed(struct session *s);                     /* on the MTU: datagrams must fit */
int endpoint_make(struct session *s);                        /* every strand */
int endpoint_connect(struct session *s);                     /* every strand, to its peer */
void endpoint_release(struct session *s);                    /* may be opened anew then */
bool endpoint_leads(const struct session *s); /* this end's messages are timed: a plain round's */

/* How the other end reaches this one, in "qps", and reading that. */
json_t *endpoint_describe(const struct session *s);
int endpoint_read_peer(struct session *s, const json_t *m);

/* rail.c: choose and open the device that TEXT names (NULL: choose one). */
int rail_open(struct session *s, struct rail *r, const char *text);
void rail_release(struct rail *r);
/* The GIDs of this end as kinds in order of preference, and taking the one that was agreed on. */
size_t rail_kinds(struct session *s, const struct rail *r, enum gid_kind kinds[GID_KINDS]);
int rail_use_gid(struct session *s, struct rail *r, enum gid_kind kind);
unsigned rail_mtu(const struct session *s, const struct rail *r); /* what this end can, in bytes */

/* strand.c: QPs, memory, receives, and the addresses for the peer; faults are the strand's. */
int strand_pin(struct strand *t);
int strand_make(struct strand *t);
int strand_memory(struct strand *t); /* strand_memory.c: its buffer */
/* What the rail's end says of threads and memory is of its first strand. */
bool strand_is_first(const struct strand *t);
int strand_connect(struct strand *t);
void strand_quiesce(struct strand *t); /* nothing may touch memory that is about to go */
void strand_release(struct strand *t);

/*
 * endpoint_gpu.c: the command line's GPU options make sense; the GPU that they name, if any; this
 * end's GPU, if there is to be one; its memory of BYTES for a strand, registered in M; *BUFFER is
 * the caller's to free after that.
 */
int endpoint_gpu_check(struct session *s);
int endpoint_gpu_look(struct session *s);
void endpoint_gpu_start(struct session *s); /* the driver, which may take long: no peer waits yet */
void endpoint_gpu_before_open(struct session *s); /* the NIC */
int endpoint_gpu_open(struct session *s);
int endpoint_gpu_memory(struct strand *t, size_t bytes, unsigned access, struct mem *m,
			uint64_t *buffer);

/*
 * endpoint_cm.c, with -R (else they do nothing): the server listens, and says where in its WELCOME;
 * the client reads that; then both wait until their QPs are connected. Where the client is done
 * first, its "qps" message may be there meanwhile: the server has it in *QPS then.
 */
int endpoint_cm_listen(struct session *s, json_t *welcome);
int endpoint_cm_aim(struct session *s, const json_t *welcome);
int endpoint_cm_connect(struct session *s, json_t **qps);

/*
 * rail_route.c: the port is what --force-link and --dlid say; the peer hears of --pkey_index by its
 * key, in this end's OFFER or choice; from the peer's the index of the same partition here; the
 * route filled from the options.
 */
int rail_check_link(struct session *s, const struct rail *r);
int rail_tell_pkey(struct session *s, const struct rail *r, json_t *offer);
int rail_agree_on_pkey(struct session *s, struct rail *r, const json_t *offer);
void rail_set_route(struct session *s, struct rail *r);

/*
 * counting.c: --report-counters. Read them when the ends are connected; read them again, show and
 * forget them, and put them into BYE (NULL: the run failed); show what the peer's BYE has.
 */
int counting_start(struct session *s);
void counting_stop(struct session *s, json_t *bye);
int counting_hear(struct session *s, const json_t *bye);

/*
 * rounds.c: one round. The end that leads it posts and decides when it is over: the client, or the
 * server if the round is reversed; the other follows. In a round of both directions each end does
 * both. What was measured is in the round afterwards, also after a failure.
 */
struct session_round {
	uint64_t message_bytes;
	uint64_t target;      /* messages of each QP, or ROUND_ENDLESS with -D */
	uint64_t duration_ns; /* with ROUND_ENDLESS */
	unsigned way;         /* of the program's own; 0: there is but one */
	uint64_t run;         /* which one of this size; 0: it is not repeated */
	bool warmup;
	bool reverse;
	bool both;
	bool answered;              /* this end had a loop to follow with */
	struct record mine, theirs; /* of all strands, unless warmup */
	bool measured;              /* this end has a record of its own; each strand has its own */
	bool theirs_measured;
	bool cpu_util; /* at either end it is asked for: this end's record has its CPU use */
	struct usage usage;
	struct worst worst;             /* of the intervals, if there are any */
	struct slots_tally verified[2]; /* to the server, to the client */
	json_t *their_parts;      /* array of the records of their strands; NULL: one strand */
	struct session *session;  /* for callbacks */
	uint64_t messages_due;    /* of all strands and QPs; 0: as many as come */
	_Atomic unsigned sending; /* strands that have not sent all of theirs */
	_Atomic unsigned pinging; /* strands that still want their load */
	struct watch *watch;
};
int round_client(struct session *s, struct session_round *sr);
int round_server(struct session *s, const json_t *request, struct session_round *sr);
void round_release(struct session_round *sr);

/* pass.c: run the loops of a round that is prepared, and exchange what came of it. */
int pass_lead(struct session *s, struct session_round *sr);
int pass_follow(struct session *s, struct session_round *sr);
int pass_both(struct session *s, struct session_round *sr);

/*
 * settle.c: loops and watch have ended: which failure is the cause and which the consequence? And
 * what the peer knows of one here, or that it is gone: wait for it, briefly; into TOLD.
 */
void pass_settle(struct session *s, struct watch *w);
void pass_ask_peer(struct session *s, struct fault *told);

/*
 * By which calls the streams of bandwidth tests are posted and polled (calls.c): does this end want
 * QPs and CQs that have the extended ones; has T what --post-api asks for (0, or -1 with T's fault
 * raised); for T's round; and when the first warm-up is over.
 */
bool calls_wanted(const struct session *s);
int calls_check(struct strand *t);
void calls_set(struct strand *t, const struct session_round *sr);
void calls_settle(struct session *s);

/*
 * pace.c: with --rate_limit, a strand's schedule for the round; before that, whether the pauses of
 * it are too long for the deadlines; how it was kept, into the strand's record; records of what ran
 * at once add up; and what the table has no column for, as a note.
 */
void pace_set(struct strand *t, const struct session_round *sr);
int pace_check(struct session *s, const struct session_round *sr);
void pace_measure(const struct strand *t, struct record *rec);
void pace_add(struct record *sum, const struct record *by);
void pace_remark(const struct session *s, const struct session_round *sr);

/*
 * load.c: the stream beside a ping-pong (--load): a strand of its own for each rail, from the
 * client into memory that nobody reads. load_make() makes its QP and memory; load_prepare() is part
 * of preparing a round. In a pass the load's thread runs load_run() while each strand that measures
 * waits in load_await() for it to move, and says with load_leave() that it needs no more of it.
 */
int load_make(struct strand *t);
void load_prepare(struct session *s, struct session_round *sr);
int load_run(struct strand *t);
void load_await(const struct session *s, const struct strand *t);
void load_leave(struct session *s, struct session_round *sr);
double load_gbps(const struct session *s); /* what it was in the round, all rails */

/*
 * results.c: make this end's records of a round that has run; add what CPU it took, in which
 * MESSAGES (of all QPs) went by; hand both ends' to the report.
 */
void round_measure(struct session *s, struct session_round *sr);
void round_add_usage(struct session_round *sr, uint64_t messages);
void round_show(struct session *s, const struct session_round *sr);

/*
 * runs.c: the client judges what its table shows; the last run of a size is over, if there was any:
 * show what they come to.
 */
void round_judge(struct session *s, const struct report_result *result);
void round_repeated(struct session *s);

/*
 * Around work that may take longer than the peer's patience (registering much memory, a slow
 * reader of stdout): the peer hears that this end is alive. Nothing may be sent or received
 * between.
 */
void session_alive_start(struct session *s, struct watch *w);
void session_alive_stop(struct session *s, struct watch *w);

/* client.c, server.c: a whole run in that role. */
int session_client(struct session *s);
int session_server(struct session *s);

#endif
