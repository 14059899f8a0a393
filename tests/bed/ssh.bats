#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# rdmark-pairs sweep by ssh, on the bed (tests/bed/bed). Nodes that have died stay that until its end.

bats_require_minimum_version 1.5.0
load ../lib/rdmark
load sweeps

setup_file() { need_bed ssh; }

@test "ssh: of six nodes the slow one is named, measured again alone, and named again" { slow_node ssh; }

@test "ssh: a node whose process starts late is not drained" { late_node ssh; }

# bats test_tags=long
@test "ssh: a node dies in silence: all others are measured, the slow one again, and both are named" { dead_node ssh; }

@test "ssh: a node is not reached: all others are measured, and it is named" {
	node_dies n5
	absent_node ssh
}

@test "ssh: ^C in the second step: the list and the report stay" { cut_again ssh INT; }

# bats test_tags=long
@test "ssh: SIGTERM in the second step: the list and the report stay" { cut_again ssh TERM; }
