#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# rdmark-pairs sweep by ssh, on the bed (tests/bed/bed). Nodes that have died stay that until its end.

bats_require_minimum_version 1.5.0
load ../lib/rdmark
load sweeps

setup_file() { need_bed ssh; }

@test "ssh: of six nodes the slow one is tested and named" { slow_node ssh; }

@test "ssh: a node whose process starts late is not drained" { late_node ssh; }

@test "ssh: ^C in the screen: the list and the report stay" { cut_plan ssh INT screen; }

# bats test_tags=long
@test "ssh: SIGTERM in the test: the list and the report stay, and nobody is drained" { cut_plan ssh TERM test; }

# bats test_tags=long
@test "ssh: a node dies in silence: all others are measured, the slow one is tested, and both are named" { dead_node ssh; }

@test "ssh: a node is not reached: all others are measured, and it is named" {
	node_dies n5
	absent_node ssh
}
