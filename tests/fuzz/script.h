/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * script: what a peer sends, as text that a mutator and a reader can edit. A line is a step:
 *
 *	{"type": "bye"}  (or any other text) is sent as a frame with a valid header
 *	!RDMK\x00\x00    is sent as it is; \xNN is a byte
 *	#text            is sent as it is on another connection
 *	^                a signal is received
 *	> before any of these: at once, without waiting for the other end's message
 */
#ifndef RDMARK_FUZZ_SCRIPT_H
#define RDMARK_FUZZ_SCRIPT_H

#include "fuzz.h"

enum script_kind {
	SCRIPT_SEND,
	SCRIPT_STRANGER,
	SCRIPT_SIGNAL
};

struct script_step {
	enum script_kind kind;
	bool at_once;
	char *bytes; /* owned */
	size_t size;
};

/* Read the next step of IN; false at its end. Free it with script_release(). */
bool script_next(struct fuzz_input *in, struct script_step *step);
void script_release(struct script_step *step);

#endif
