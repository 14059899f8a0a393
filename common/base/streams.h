/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * streams: stdout and stderr of a program with a stop. While its signals are blocked, a write(2)
 * that waits for a reader would be deaf to them, so both streams write through outlets.
 */
#pragma once

#include "base/outlet.h"

struct streams {
	struct outlet out, err;
	FILE *was_out, *was_err; /* stdout and stderr before; NULL: not replaced */
};

/* Replace stdout and stderr, until streams_close(). STOP is lent. Without memory they stay. */
void streams_open(struct streams *s, struct stop *stop);

/* Write what is left, and put the former streams back. Safe on a zeroed object. */
void streams_close(struct streams *s);
