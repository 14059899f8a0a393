#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck disable=SC2034 # for lib/rdmark.bash and sweeps.bash
#
# rdmark-pairs sweep by srun, on the bed (tests/bed/bed). Nodes that have died stay that until its end.

bats_require_minimum_version 1.5.0
load ../lib/rdmark
load sweeps

setup_file() { need_bed srun slurmctld slurmd munged; }

# bats test_tags=long
@test "srun: a task is killed: all others are measured, and its node is named" { killed_task 'srun -N6'; }

@test "srun: ^C in the screen: the list and the report stay" { cut_plan 'srun -N6' INT screen; }

# As the manual page has it: the nodes are those of the allocation.
# bats test_tags=long
@test "srun: a node dies in silence: all others are measured, the slow one is tested, and both are named" {
	through=("$(type -P salloc)" -Q -N 6 --no-kill)
	hosts=()
	dead_node srun
}
