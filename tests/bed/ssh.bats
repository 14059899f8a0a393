#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck disable=SC2154 # what lib/rdmark.bash and sweeps.bash set
#
# rdmark-pairs sweep by ssh, on the bed (tests/bed/bed). Nodes that have died stay that until its end.

bats_require_minimum_version 1.5.0
load ../lib/rdmark
load sweeps

setup_file() { need_bed ssh; }

# bats test_tags=long
@test "ssh: a node whose process starts late is not drained" { late_node ssh; }

@test "ssh: two sweeps at once: the second one says so and measures nothing, and the first one is not disturbed" {
	rates
	rounds 40
	start_sweep ssh --schedule file=rounds --once
	await_lines '"round":1'
	start second "$pairs" sweep --launch=ssh --output second.lines --suspects second.bad "${hosts[@]}" --auth "key:$bed/key" \
		--start-in 2 -- write_bw -e -s 4k -D 0.2
	finish second
	ended second 2
	says second.err 'its TCP port is in use' 'Another sweep of these hosts may be running'
	[[ ! -e second.lines && ! -s second.bad ]]
	kill -INT "${pid[sweep]}"
	finish sweep
	ended sweep 130
	"$pairs" judge --json lines >judge.out || true
	so '.lost == 0 and .good == 6'
}

# bats test_tags=long
@test "ssh: a node dies in silence: all others are measured, the slow one is tested, and both are named" { dead_node ssh; }

@test "ssh: a node is not reached: all others are measured, and it is named" {
	node_dies n5
	absent_node ssh
}
