/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * handover: one server for all tests. A persistent server starts another program of the suite for a
 * client of that program, as inetd does: with the server's options, the connection as standard
 * input, and a file in memory that has the client's hello, since that can be longer than a variable
 * of the environment may be. With --auth=key the file also has the key: the server tells the client
 * "again", which then begins a new TLS with that process. That process serves the client and exits.
 * Meanwhile the server keeps its listener.
 */
#pragma once

#include <jansson.h>

#include "session/program.h"

/* The name of the program for a client with this HELLO; NULL: serve it here. */
const char *handover_to(const struct program *p, const json_t *hello);

/* Start the program NAME for the client of S, and wait until it exits. */
int handover(struct session *s, const char *name, const json_t *hello);

/*
 * If another server handed a client to this process: set S's connection, and its program's
 * `accepted` to the hello. Returns 0, or -1 with the program's fault raised.
 */
int handover_adopt(struct session *s);

/* After that client: tell that server what it may still cause on stdout. */
void handover_return(struct program *p);
