#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck disable=SC2034,SC2154 # what lib/rdmark.bash and sweeps.bash set and read
#
# rdmark-pairs sweep by mpirun, on the bed (tests/bed/bed). Nodes that have died stay that until its end.

bats_require_minimum_version 1.5.0
load ../lib/rdmark
load sweeps

setup_file() {
	need_bed mpirun
	export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
}

# It needs seconds for its daemons.
mpirun="mpirun --hostfile $bed/nodes"

# bats test_tags=long
@test "mpirun: of six nodes the slow one is tested and named" {
	deadline=300
	rates n3 .04
	sweep "$mpirun" --schedule full --start-in 10
	ended sweep 6
	tried 30 '(.alone | not)'
	n3_is_slow
}

# It starts no process before its own daemons are on all nodes: mostly too late for the first slots.
@test "mpirun: what starts late everywhere drains nobody but the slow node" {
	rates n3 .04
	rounds 16
	sweep "$mpirun" --schedule file=rounds --start-in 0 --once
	ended_with_any sweep 6 77 # never 0: what was measured of n3 is slow
	[[ ! $(<bad) || $(<bad) == n3 ]] || fail "drained: $(<bad)"
	judged
	# Where it was quick, no pair misses a slot that no later round makes good.
	so '.lost == 0 and (any(.notes[]; .kind == "missed_slots") or .pairs_measured == .pairs_tried)'
}

# bats test_tags=long
@test "mpirun: a task is killed: all others are measured, and its node is named" { killed_task "$mpirun" --start-in 10; }

# mpirun can start nothing without its daemon on each node of its list: so nobody is tested.
# bats test_tags=long
@test "mpirun: a node dies in silence: all others are measured, and it and the slow one are named" {
	deadline=300
	rates n3 .04
	start_sweep "$mpirun" --schedule full --start-in 10
	await_lines '"round":1'
	node_dies n5
	finish sweep
	ended sweep 3
	within sweep 240
	tried 20 '(.alone | not) and .from != "n5" and .to != "n5"'
	judged
	so '.lost == 1 and (.drain | index("n5")) and any(.suspects[]; .name == "n3")'
}
