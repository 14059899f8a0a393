/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * fault: the one error type of rdmark.
 *
 * A fault is raised once, at the leaf that knows the facts, and says five things: the phase the
 * program was in, the call that failed, the errno text, the probable cause (found by looking, not
 * guessed) and the fix. Callers only pass -1 up. The same fault goes to stderr, into the JSON
 * document and to the peer.
 *
 * Invariant: the first fault raised wins; later ones on the same object are dropped, because they
 * are consequences. A zeroed object is valid and empty. Not thread-safe: one object per thread.
 */
#ifndef RDMARK_BASE_FAULT_H
#define RDMARK_BASE_FAULT_H

#include <stdbool.h>
#include <stdio.h>

/* The values are the exit codes of the programs (rdmark(7), EXIT STATUS). */
enum fault_code {
	FAULT_NONE = 0,
	FAULT_LOCAL = 1,        /* something failed on this host */
	FAULT_USAGE = 2,        /* bad command line, or the two ends disagree */
	FAULT_PEER = 3,         /* the peer failed or is gone */
	FAULT_DEADLINE = 4,     /* a wait ran out */
	FAULT_DATA = 5,         /* verification found wrong data */
	FAULT_THRESHOLD = 6,    /* measured, and below what was asked for */
	FAULT_UNAVAILABLE = 77, /* cannot be had on this machine */
	FAULT_INTERRUPTED = 128 /* plus the signal's number; see struct fault.signal */
};

struct fault {
	enum fault_code code;
	int errnum;     /* positive errno, 0 if none */
	int signal;     /* with FAULT_INTERRUPTED: which one */
	bool from_peer; /* the peer reported it; phase, call, … are the peer's */
	bool dropping;  /* a later one was raised: its cause and fix are dropped, too */
	char phase[64];
	char call[192];
	char text[128];
	char cause[640];
	char fix[512];
};

/* Name the phase that the next fault belongs to, e.g. "registering memory". */
void fault_phase(struct fault *f, const char *phase);

/*
 * Record a failure unless one is recorded already. CALL (printf) names what failed with its
 * arguments, e.g. "ibv_reg_mr(%s)"; ERRNUM is a positive errno or 0. Always returns -1, so that
 * `return fault_raise(…)` reads as what it is.
 */
int fault_raise(struct fault *f, enum fault_code code, int errnum, const char *call, ...)
	__attribute__((format(printf, 4, 5)));

/*
 * Add the probable cause or the fix (printf) to the fault just raised. Does nothing if already set,
 * or if that fault was dropped. Return -1.
 */
int fault_cause(struct fault *f, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
int fault_fix(struct fault *f, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* True once something was raised. */
static inline bool fault_is(const struct fault *f)
{
	return f->code != FAULT_NONE;
}

/* Forget what was raised; the phase stays. For a server that drops one peer and goes on. */
void fault_clear(struct fault *f);

/* The process exit status that this fault calls for. */
int fault_exit_status(const struct fault *f);

/* One word for the code: "local", "usage", "peer", … Static storage. */
const char *fault_code_name(enum fault_code code);

/* Text of an errno, also for kernel-internal numbers that strerror() does not know (524). */
void fault_errno_text(int errnum, char *buf, size_t size);

/*
 * The whole message on one line without the program's name: phase: call: errno text. Cause. Fix: …
 * Control characters (the texts may be the peer's) become '?'.
 */
void fault_format(const struct fault *f, char *buf, size_t size);

/* Print "PROGRAM: message\n" to OUT in a single write. */
void fault_print(const struct fault *f, const char *program, FILE *out);

#endif
