#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# rdmark-pairs sweep by pdsh, on the bed (tests/bed/bed). Nodes that have died stay that until its end.

bats_require_minimum_version 1.5.0
load ../lib/rdmark
load sweeps

setup_file() { need_bed pdsh; }

# bats test_tags=long
@test "pdsh: of six nodes the slow one is tested and named" { slow_node 'pdsh -R ssh'; }

@test "pdsh: a node whose process starts late is not drained" { late_node 'pdsh -R ssh'; }

# bats test_tags=long
@test "pdsh: a node dies in silence: all others are measured, the slow one is tested, and both are named" { dead_node 'pdsh -R ssh'; }

@test "pdsh: a node is not reached: all others are measured, and it is named" {
	node_dies n5
	absent_node 'pdsh -R ssh'
}
