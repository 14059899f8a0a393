#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck disable=SC2016,SC2034,SC2154 # $ of the nodes' shell; what lib/rdmark.bash and sweeps.bash set and read
#
# rdmark-pairs sweep with Slurm, on the bed (tests/bed/bed): its environment, its topology, its jobs, and what
# goes wrong on nodes that are alive.

bats_require_minimum_version 1.5.0
load ../lib/rdmark
load sweeps

setup_file() {
	need_bed srun slurmctld slurmd munged
	cc -shared -fPIC -o "$bed/clock.so" "$lib/clock.c"
}

# bats test_tags=long
@test "sbatch: the example is a job, whose output has the verdict" {
	deadline=300
	cd "$(mktemp -d "$bed/shared.XXXXXX")" # the nodes have it, too
	rates n3 .04
	PATH=$RDMARK_BIN:$PATH
	start job "$(type -P sbatch)" --wait -N 6 -o job.out "$root/contrib/examples/pairs.sbatch" --schedule full --slot 2 --start-in 8 \
		-- write_bw -e -s 4k -D 0.2
	finish job
	ended job 6
	mv pairs-*.jsonl lines
	cp pairs-*.suspects bad
	status[sweep]=6
	n3_is_slow
	says job.out n3 '6 nodes: '
	[[ ! -x $(type -P gnuplot) || -s $(echo pairs-*.svg) ]] || fail 'no picture'
	grep -q '^rdmark_pairs_suspect{file="pairs.prom",node="n3",' pairs.prom || fail 'nothing for node_exporter'
}

@test "srun: groups are the leaf switches of Slurm's topology, as the man page reads them" {
	rates
	sed -n '/^scontrol show topology/,/>leaves$/{s/\\e/\\/g;p}' "$root/man/rdmark-pairs.1.in" >recipe
	# shellcheck source=/dev/null
	. ./recipe
	[[ $(<leaves) == $'leaf1 n1 n2 n3\nleaf2 n4 n5 n6' ]] || fail "$(<leaves)"
	sweep 'srun -N6' --groups leaves --once
	ended_with_any sweep 0 6 77 # a busy host may hold up a pair, but none of the nodes
	tried 30 '(.alone | not)'
}

@test "srun: a signal ends all players at once, and what was measured is judged" {
	local node
	rates
	rounds 20
	start_sweep 'srun -N6' --schedule file=rounds
	await_lines '"round":2'
	kill -INT "${pid[sweep]}"
	finish sweep
	slurm_idle
	ended sweep 130
	says sweep.out '6 nodes: ' ' runs measured'
	! grep -q '"round":19' lines || fail "it went on: $(<sweep.err)"
	while read -r node; do
		[[ ! $(tasks "$node") ]] || fail "$node: $(ps -o pid=,args= -p "$(tasks "$node" | paste -sd,)")"
	done <"$bed/nodes"
}

# bats test_tags=long
@test "srun: one is stopped for a slot, and one never comes: the others are measured, and each is named" {
	local round
	rates -- '[[ $node != n5 ]] || exit 1' # then the prolog of its task has failed
	# Each pair twice. What srun passes on may be late: so stopped until two rounds later than the last line.
	rounds 10
	start_sweep 'srun -N6' --schedule file=rounds --once
	await_lines '"round":0.*"client":"n3"'
	tasks n1 | xargs kill -STOP
	round=$(jq -n '[inputs | .round // 0] | max' lines)
	await_lines "\"round\":$((round + 2)).*\"status\""
	tasks n1 | xargs kill -CONT
	finish sweep
	ended sweep 3
	tried 24 '[.from, .to] | inside(["n2", "n3", "n4", "n6"])'
	judged
	so 'named("never_came") == ["n5"]'
	so 'any(.notes[]; .kind == "missed_slots" and (tojson | test("\\bn1\\b"))) and .drain == ["n5"]'
}

# bats test_tags=long
@test "srun: one has a wrong clock, and one no link: the others are measured, and each is named" {
	rates -- 'case $node in' "n3) export CLOCK_OFFSET=-2 LD_PRELOAD=$bed/clock.so:\$LD_PRELOAD ;;" \
		'n4) export SIMVERBS_DEVICES="sim0 state=DOWN" ;;' 'esac'
	sweep 'srun -N6' --schedule full --once
	ended sweep 3
	tried 20 '[.from, .to] | inside(["n1", "n2", "n3", "n5", "n6"])'
	judged
	so 'named("clock") == ["n3"] and named("device") == ["n4"]'
}

# Slurm does not know: it takes it for a node that has work.
@test "srun: slurmd of a node is dead at the start: all others are measured, and it is named" {
	through=("$(type -P salloc)" -Q -N 6 --no-kill)
	hosts=()
	kill -KILL "$(<"$bed/slurm/n5.pid")"
	absent_node srun
}

@test "srun: what starts nothing" {
	sweep 'srun -N6 -p nowhere'
	ended sweep 4
	says sweep.err 'no node has said anything' 'its own messages are above'
}
