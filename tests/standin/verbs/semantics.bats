#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The stand-in against the specification: see semantics.c.

load pair.bash

semantics() {
	LD_PRELOAD=$SIM timeout 60 "$ROOT/build/tests/semantics" "$@"
	[ ! -e "$SIMVERBS_DIR" ]
}

@test "QP state machine" { semantics states; }
@test "RC: send, write, read, immediate data" { semantics rc; }
@test "atomics" { semantics atomics; }
@test "receiver not ready" { semantics rnr; }
@test "access rights and keys" { semantics rights; }
@test "message longer than the receive" { semantics length; }
@test "send queue full, unsignalled, inline limit" { semantics queue_full; }
@test "flush" { semantics flush; }
@test "CQ overrun" { semantics overrun; }
@test "UC loses silently" { semantics uc; }
@test "UD: GRH, Q_Key, packet size" { semantics ud; }
@test "completion channel" { semantics channel; }
@test "SRQ and its limit" { semantics srq; }
@test "no answer: retries run out in time" { semantics no_answer; }
@test "ibv_wr_* and ibv_start_poll" { semantics extended; }
@test "dma-buf" { semantics dmabuf; }
@test "memory registration" { semantics mr; }
@test "READ, atomics: what the QP does, and what the memory allows" { semantics fetch_rights; }
@test "READ, atomics: length, alignment, pieces, transports" { semantics fetch_shape; }
@test "READ, atomics: how many may be under way, at either end" { semantics fetch_room; }
@test "READ, atomics: ibv_wr_*" { semantics fetch_extended; }
@test "peer killed: retry exceeded, also for a sleeper" { semantics death; }
@test "a sleeping target gets its data" { semantics passive; }
@test "all of it again, deferred" { SIMVERBS_DEFER=1 semantics; }

@test "many threads" {
	LD_PRELOAD=$SIM timeout 60 "$ROOT/build/tests/stress" 5000
	LD_PRELOAD=$SIM SIMVERBS_DEFER=1 timeout 60 "$ROOT/build/tests/stress" 500
}

@test "a killed process leaves nothing for ever" {
	LD_PRELOAD=$SIM SIMVERBS_FAULT=kill:1 \
		timeout 60 "$ROOT/build/tests/semantics" rc || true
	ls "$SIMVERBS_DIR" | grep -q seg
	LD_PRELOAD=$SIM "$ROOT/build/tests/semantics" rc
	[ ! -e "$SIMVERBS_DIR" ]
}

@test "processes of two PID namespaces do not disturb each other" {
	local i
	unshare -pf --mount-proc true 2>/dev/null || skip 'no PID namespaces here'
	unset SIMVERBS_DIR
	LD_PRELOAD=$SIM timeout 60 "$ROOT/build/tests/stress" 300 &
	for i in 1 2 3; do
		LD_PRELOAD=$SIM unshare -pf --mount-proc timeout 60 "$ROOT/build/tests/semantics" rc
	done
	wait $!
}
