/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * row: the lines that `rdmark-pairs run` writes and `rdmark-pairs judge` reads: JSON objects, one a
 * line (rdmark-json(5)). Lines of several processes may come in any order, and any of them may be
 * missing: a process that ended has said all before.
 *
 * {"kind":"player", …}  a process has started: who it is and what it is going to do. The keys but
 *                       "player", "host", "rail" are those of every player of the run.
 *   "rdmark_pairs":1 "generator":"rdmark-pairs 1.0.0" "run":"1790000000-1" (start and seed)
 *   "player":3 "host":"n4" "rail":"mlx5_0" (absent: without --rails) "players":64 "hosts":64
 *   "schedule":"quick" "seed":1 "rounds":9 "start_utc":"2026-11-23T18:00:00.000Z" "slot_s":0.9
 *   "alone":false (true: a slot has one pair, or as few as are said not to disturb each other)
 *   "both_ways":true (a run for each direction)
 *   "program":"write_bw" "options":["-s","1m"] "unit":"gbps" or "us" "at_once":8 (of --at-once)
 *   "port_gbps":200 (the rate of the port that it uses; absent: not known)
 *
 * {"kind":"pair", …}    a pair was tried in one direction.
 *   "run":"…" "round":0 "from":"n1" "to":"n2" "from_rail" "to_rail" (payload goes that way; of a
 *   latency, from is the client) "client":"n1" "alone":false
 *   "status":"measured" | "cut" (its slot ended first: the figure is of less than was asked for)
 *            | "failed" (no figure)
 *   "victim":true "unit":"us" (a latency during an incast, or a round later without it)
 *   "value":97.1 in the player's unit: the rate, or the median latency; "p99":3.1 of a latency
 *   "late_s":0.01 (begun after its slot did) "clock_s":-3.2 (the other end's clock less ours)
 *   "exit":4 "cause":"connect" | "lost" | "device" | "clock" | "refused" | "data" |
 *   "missed" (the client's host did not run when the slot began) | "other" |
 *   "port" (a server's TCP port is in use)
 *   | "absent" (no client of that host ever came: the server's host writes the line, at its end)
 *   "node":"n2" (the end whose fault it is, where known) "error":"one line" "fix":"one line"
 *   "findings":[{"id":"paused","host":"n1","text":"…"}] (of explain; absent if there are none)
 *
 * {"kind":"server", …}  a server of this player ended by itself: "run" "player" "host" "rail"
 *   "round":3 (-1: before the start) "exit" "cause" "error" "fix". It is started again in the next
 *   round; the same error is not said again.
 *
 * {"kind":"done", …}    a player has played all its rounds: "run" "player" "host" "rail" "rounds":9
 *   "missed":0 (slots whose run was not begun in time) "server_restarts":0 (of this host)
 *   "cpu_s":0.01 (CPU time of this host's rdmark-pairs itself) "slot_needed_s":2.4 (a slot that
 *   would do, if this one was too short for a run of the first round)
 *
 * A line has at most ROW_BYTES. slurmstepd takes 1024 bytes at a time from a task: it cuts a longer
 * line, and puts what other tasks wrote between the pieces.
 */
#pragma once

#include <jansson.h>

#define ROW_BYTES 1000 /* without the newline, and without what launchers put in front */

/*
 * The line of the object M, without a newline; the caller frees it. If it were too long, the last
 * findings are dropped, then "fix", the end of "error" and the last options; only long names make
 * it longer even so. NULL: no memory.
 */
char *row_text(json_t *m);
