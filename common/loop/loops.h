/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* loops: those that a program (plan/test.h) gives as they are. */
#pragma once

struct round;

/* A whole sender: build the rings, run, free. For programs that need nothing else. */
int stream_run(struct round *r);

/*
 * Run the receiver until all expected messages have arrived. The count starts from R's messages,
 * which a bidirectional sender has received before.
 */
int stream_receive(struct round *r);

/*
 * Run a round whose messages each consume a receive, at the client and at the server. Messages have
 * numbers if the transport may lose some. Return 0, or -1 with the fault raised.
 */
int pingpong_run(struct round *r);
int pingpong_answer(struct round *r);

/*
 * The same for READs and atomics, at the requester; the peer runs no loop. The completion is the
 * answer, so every request is signalled, and a sample is the time from one completion to the next.
 */
int fetch_run(struct round *r);
