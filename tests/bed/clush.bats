#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# rdmark-pairs sweep by clush, on the bed (tests/bed/bed). Nodes that have died stay that until its end.

bats_require_minimum_version 1.5.0
load ../lib/rdmark
load sweeps

setup_file() { need_bed clush; }

# bats test_tags=long
@test "clush: a node dies in silence: all others are measured, the slow one is tested, and both are named" { dead_node clush; }

@test "clush: a node is not reached: all others are measured, and it is named" {
	node_dies n5
	absent_node clush
}
