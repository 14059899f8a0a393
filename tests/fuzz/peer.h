/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * peer: the other end of a session, in the same process: it sends what a script says, one step for
 * each message that this end sends, or when this end waits for it. After the script it hangs up.
 *
 * It stands in the places where the program meets the network and the clock (linker's --wrap):
 * oob_connect(), door_open(), oob_send(), ppoll(), clock_now_ns(), and so on. A wait of the main
 * thread in which nothing can come any more ends at once, as if its time had passed. The other
 * threads (watch, guard) live in real time.
 */
#ifndef RDMARK_FUZZ_PEER_H
#define RDMARK_FUZZ_PEER_H

#include "script.h"

/*
 * Begin with SCRIPT. SILENT: after the script the peer does not hang up, it says nothing more.
 * BAD_POLL: so many calls of ibv_poll_cq() on, a completion is an error (0: none is).
 */
void peer_start(const struct fuzz_input *script, bool silent, unsigned bad_poll);

/* The session is over: close what is still open. */
void peer_end(void);

#endif
