/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * peer: the other end of a session, in the same process. It sends the steps of a script: one for
 * each message that this end sends, or when this end waits for one. After the script it closes the
 * connection.
 *
 * seams.c replaces the functions with which the program uses the network and the clock (linker's
 * --wrap): oob_connect(), listener_open(), oob_send(), ppoll(), clock_now_ns(), and so on. A wait
 * of the main thread for which nothing more can arrive ends at once, as if its time had passed. The
 * other threads (watch, guard) run in real time.
 */
#ifndef RDMARK_FUZZ_PEER_H
#define RDMARK_FUZZ_PEER_H

#include "script.h"

/*
 * Start with SCRIPT. SILENT: after the script the peer sends nothing, but does not close. BAD_POLL:
 * from this call of ibv_poll_cq() on, a completion is an error (0: none).
 */
void peer_start(const struct fuzz_input *script, bool silent, unsigned bad_poll);

/*
 * Run MAIN. Returns its exit status, or 128 + N where it ends the process by signal N, which the
 * peer prevents: it has released everything by then.
 */
int peer_run(int (*main_of)(int argc, char **argv), int argc, char **argv);

/* After the session: close what is still open. */
void peer_end(void);

#endif
