/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * fault: the one error type of rdmark.
 *
 * The function that knows the facts raises a fault once. A fault says five things: the phase of the
 * program, the call that failed, the errno text, the probable cause (checked, not guessed) and the
 * fix. Callers only return -1. The same fault goes to stderr, into the JSON document and to the
 * peer.
 *
 * Invariant: the first fault on an object is kept. Later ones are dropped, because they are
 * consequences of it. A zeroed object is valid and empty. Not thread-safe: use one object per
 * thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>


/* The values are the exit codes of the programs (rdmark(7), EXIT STATUS). */
enum fault_code {
	FAULT_NONE = 0,
	FAULT_LOCAL = 1,        /* something failed on this host */
	FAULT_USAGE = 2,        /* bad command line, or the two ends disagree */
	FAULT_PEER = 3,         /* the peer failed or is gone */
	FAULT_DEADLINE = 4,     /* a wait ran out */
	FAULT_DATA = 5,         /* verification found wrong data */
	FAULT_THRESHOLD = 6,    /* measured, and worse than a limit that the user gave */
	FAULT_UNAVAILABLE = 77, /* this machine does not have what the program needs */
	FAULT_INTERRUPTED = 128 /* plus the signal's number; see struct fault.signal */
};

struct fault {
	enum fault_code code;
	int errnum;     /* positive errno, 0 if none */
	int signal;     /* with FAULT_INTERRUPTED: which one */
	unsigned phase; /* enum phase (base/phase.h) */
	bool from_peer; /* the peer reported it; phase, call, … are the peer's */
	bool dropping;  /* a later fault was raised and dropped: drop its cause and fix, too */
	char reporter[104]; /* if from_peer: that end, "the client (192.0.2.1:4711)" */
	char at[128];       /* the experiment of several during which it happened: "-q 16"; or "" */
	char call[192];
	char text[128];
	char cause[640];
	char fix[512];
	/*
	 * of a failed completion: its status by ibv_wc_status_str(), "none" if none came in time,
	 * otherwise "", and the vendor's error
	 */
	char completion[64];
	uint32_t vendor_error;
};

/* Set the phase of the next fault. */
void fault_phase(struct fault *f, unsigned phase); /* enum phase */

/* Set the values of the experiment during which the fault was raised: "-q 16"; "": the only one. */
void fault_set_point(struct fault *f, const char *at);

/*
 * Raise a fault, unless F has one already. CALL (printf) names the call that failed and its
 * arguments, e.g. "ibv_reg_mr(%s)". ERRNUM is a positive errno or 0. Always returns -1, so that a
 * caller can write `return fault_raise(…)`. The arguments may come from the peer: see text_disarm(). With
 * ENOMEM, FAULT_USAGE and FAULT_UNAVAILABLE become FAULT_LOCAL.
 */
int fault_raise(struct fault *f, enum fault_code code, int errnum, const char *call, ...)
	__attribute__((format(printf, 4, 5)));

/* Raise FAULT_USAGE without an errno, and with the FIX: a whole text. Returns -1. */
int fault_usage(struct fault *f, const char *fix, const char *call, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * Add the probable cause or the fix (printf) to the fault just raised. Does nothing if it has one,
 * or if that fault was dropped. Returns -1.
 */
int fault_cause(struct fault *f, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
int fault_fix(struct fault *f, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* True if a fault was raised. */
static inline bool fault_is(const struct fault *f)
{
	return f->code != FAULT_NONE;
}

/*
 * True if F is for want of memory: then something that may be unknown is not known, and not even
 * whether it is there. It goes to TO, unless that has one.
 */
bool fault_for_memory(const struct fault *f, struct fault *to);

/* Remove the fault; the phase stays. For a server that drops one peer and continues. */
void fault_clear(struct fault *f);

/* The exit status of the process for this fault. */
int fault_exit_status(const struct fault *f);

/* One word for the code: "local", "usage", "peer", … Static storage. */
const char *fault_code_name(enum fault_code code);

/*
 * Write the text of ERRNUM to BUF, also for kernel-internal numbers that strerror() does not know
 * (524).
 */
void fault_errno_text(int errnum, char *buf, size_t size);

/*
 * Write the message to BUF as one line without the program's name: phase, if it is spoken: call:
 * errno text. Cause.
 * Fix: … Control characters become '?', because the texts may come from the peer.
 */
void fault_format(const struct fault *f, char *buf, size_t size);

/*
 * Print "PROGRAM: message\n" to OUT in a single write. On a terminal the failure, the cause and the
 * fix each start a line, and lines are broken at the terminal's width. Returns the exit status.
 */
int fault_print(const struct fault *f, const char *program, FILE *out);
