#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# rdmark-pairs sweep by pdsh, on the bed (tests/bed/bed). Nodes that have died stay that until its end.

bats_require_minimum_version 1.5.0
load ../lib/rdmark
load sweeps

setup_file() { need_bed pdsh; }

# What it starts ends at SIGINT alone.
# bats test_tags=long
@test "pdsh: SIGTERM in the test: the list and the report stay, and nobody is drained" { cut_plan 'pdsh -R ssh' TERM test; }

# bats test_tags=long
@test "pdsh: a node dies in silence: all others are measured, the slow one is tested, and both are named" { dead_node 'pdsh -R ssh'; }

@test "pdsh: a node is not reached: all others are measured, and it is named" {
	node_dies n5
	absent_node 'pdsh -R ssh'
}
