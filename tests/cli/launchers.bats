#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# bats file_tags=standin
#
# rdmark-pairs as users start it: by real Slurm, Open MPI's mpirun, clush and pdsh, on nodes that are
# all this host. Each node's adapter is the stand-in's, with a rate of its own.

bats_require_minimum_version 1.5.0
load ../lib/rdmark
load ../lib/slurm

setup_file() {
	[[ ${RDMARK_PRELOAD-} == *simverbs* ]] || { skip_file 'needs adapters of known rates'; return; }
	start_slurm 6 || return
	cc -shared -fPIC -o "$BATS_FILE_TMPDIR/clock.so" "$lib/clock.c"
	local i
	for i in 1 2 3 4 5 6; do
		echo "n$i 127.0.0.1:$((slurm_port + 100 + i))"
	done >"$BATS_FILE_TMPDIR/hosts"
}

teardown_file() { stop_slurm; }

pairs=$RDMARK_BIN/rdmark-pairs

# rate_of NODE GBPS…: those of its adapter, for srun; the others have 0.1: what waits in a queue lasts longer than
# a busy host holds up a process, and costs nothing then.
rate_of() {
	echo 'case $SLURMD_NODENAME in' >env
	printf '%s) echo export SIMVERBS_GBPS=%s ;;\n' "$@" '*' .1 >>env
	echo esac >>env
	mv env "$slurm/env"
}

# start_sweep LAUNCHER ARG…: its lines are in lines.
start_sweep() {
	rm -f lines
	start sweep "$pairs" sweep --launch="$1" --output lines --hosts "$BATS_FILE_TMPDIR/hosts" \
		--slot 2 "${@:2}" -- write_bw -s 4k -D 0.1
}

sweep() {
	start_sweep "$@"
	finish sweep
}

# await_lines TEXT: a line with it has come.
await_lines() {
	timeout "$deadline" tail -F -n +1 lines 2>/dev/null | grep -q -m 1 -- "$1" || fail "no line with $1"
}

# tasks [WORD]: the processes of `rdmark-pairs run`, and what starts them, that this file has begun; with WORD
# only those that have it as an argument or as NAME=VALUE in their environment.
tasks() {
	local task
	pgrep -f 'rdmark-pairs run' | while read -r task; do
		grep -qzxF "SLURM_CONF=$SLURM_CONF" "/proc/$task/environ" 2>/dev/null || continue
		[[ ! ${1-} ]] || grep -qzxF -- "$1" "/proc/$task/environ" "/proc/$task/cmdline" 2>/dev/null || continue
		echo "$task"
	done
}

# The process of rdmark-pairs on NODE, below srun.
task_of() { tasks "SLURMD_NODENAME=$1" | head -n 1; }

parent_of() { ps -o ppid= -p "$1" | tr -d ' '; }

# measured N FILTER: so many lines of pairs with a figure fit jq's FILTER.
measured() {
	local n
	n=$(jq -n "[inputs | select(.kind == \"pair\" and .status != \"failed\" and ($2))] | length" lines)
	((n == $1)) || fail "$n pairs with $2, not $1: $(<lines)"
}

# tried N FILTER: so many lines of pairs fit jq's FILTER, and four in five, or all but one pair, have a figure. A
# busy host may hold up a process for a part of a slot: then the line says that of its pair. What a server says of
# a client that came too late for it (absent) is in lines of its own.
tried() {
	jq -nec --argjson n "$1" "[inputs | select(.kind == \"pair\" and .cause != \"absent\" and ($2))] | (map(select(.status == \"failed\"))) as \$failed |
		length == \$n and (\$failed | length <= ([\$n / 5, 2] | max) and all(.cause | IN(\"missed\", \"connect\", \"lost\", \"clock\")))" \
		lines >/dev/null || fail "not $1 pairs with $2: $(<lines)"
}

# slow_is_n3 REPORT SUSPECTS: n3 is slow, and slow alone. A busy host may hold up another for a moment: it is
# named, too, or good when it is measured again, and the report says so.
slow_is_n3() {
	grep -A 4 '^slow nodes: [12]$' "$1" | grep -q '^  n3 .* (5[0-9] %).*, alone too$' || fail "not n3: $(<"$1")"
	says "$1" '6 nodes: ' ' suspect, 0 lost'
	[[ $(<"$2") == n3 ]] || grep -qE '^slow nodes: 2$|^slow only under load, good alone' "$1" || fail "suspects: $(<"$2")"
	grep -qx n3 "$2" || fail "suspects: $(<"$2")"
}

# is_named KIND NODE: by sweep's report, as the only one of that kind.
is_named() {
	grep -A 1 "^$1: 1$" sweep.out | grep -q "^  $2 " || fail "$2 is not named: $1"
}

@test "srun: of six nodes the slow one is named, measured again alone, and named again" {
	rate_of n3 .055
	sweep 'srun -N6' --schedule full --suspects bad --auth="munge:$slurm/munge"
	ended sweep 6
	tried 30 '(.alone | not)'
	measured 0 '.from == "n3" and .value > 0.06'
	((again = $(jq -n '[inputs | select(.alone and .from == "n3" and .value > 0.025)] | length' lines)))
	((again >= 2)) || fail "$again pairs measured again"
	says sweep.err 'the suspects are measured again, one pair at a time'
	slow_is_n3 sweep.out bad
}

@test "srun: a task is killed, then a node: all others are measured, and both are named" {
	rate_of n1 .1
	start_sweep 'srun -N6' --schedule full --once --auth="munge:$slurm/munge"
	await_lines '"round":0'
	kill -KILL "$(task_of n2)"
	await_lines '"round":2'
	kill -KILL "$(<"$slurm/n5.pid")" "$(parent_of "$(task_of n5)")"
	finish sweep
	slurmd -N n5 >&2 3>&- # for the tests that follow
	slurm_idle 6
	ended sweep 3
	tried 12 '(.alone | not) and ([.from, .to] | inside(["n1", "n3", "n4", "n6"]))'
	says sweep.err 'srun had not ended: it was told to'
	says sweep.out 'ended early: 2' 'n2 ' 'n5 ' '6 nodes: ' ' suspect, 2 lost'
}

# bats test_tags=long
@test "srun: one is stopped for a slot, and one never comes: the others are measured, and each is named" {
	cat >env <<-END
		echo export SIMVERBS_GBPS=.1
		case \$SLURMD_NODENAME in n5) exit 1 ;; esac # then the prolog of its task has failed
	END
	mv env "$slurm/env"
	local round
	# Each pair twice. What srun passes on may be late: so stopped until two rounds later than the last line.
	start_sweep 'srun -N6' --schedule random=10 --once --auth="munge:$slurm/munge"
	await_lines '"round":0.*"client":"n2"'
	kill -STOP "$(task_of n1)"
	round=$(jq -n '[inputs | .round // 0] | max' lines)
	await_lines "\"round\":$((round + 2)).*\"status\""
	kill -CONT "$(task_of n1)"
	finish sweep
	ended sweep 3
	tried 24 '[.from, .to] | inside(["n2", "n3", "n4", "n6"])'
	is_named 'missed slots' n1
	is_named 'did not start' n5
}

# bats test_tags=long
@test "srun: one has a wrong clock, and one no link: the others are measured, and each is named" {
	cat >env <<-END
		echo export SIMVERBS_GBPS=.1
		case \$SLURMD_NODENAME in
		n3) echo export CLOCK_OFFSET=-2; echo export LD_PRELOAD=$BATS_FILE_TMPDIR/clock.so:$RDMARK_PRELOAD ;;
		n4) echo export SIMVERBS_DEVICES=sim0 state=DOWN ;;
		esac
	END
	mv env "$slurm/env"
	sweep 'srun -N6' --schedule full --once --auth="munge:$slurm/munge"
	ended sweep 3
	tried 20 '[.from, .to] | inside(["n1", "n2", "n3", "n5", "n6"])'
	is_named 'clock is wrong' n3
	is_named 'device cannot be used' n4
}

@test "srun: a signal ends all players at once, and what was measured is judged" {
	rate_of n1 .1
	start_sweep 'srun -N6' --schedule full --auth="munge:$slurm/munge"
	await_lines '"round":2'
	kill -INT "${pid[sweep]}"
	finish sweep
	slurm_idle 6
	ended sweep 130
	says sweep.out '6 nodes: ' ' pairs measured'
	! grep -q '"round":4' lines || fail "it went on: $(<sweep.err)"
	[[ ! $(tasks) ]] || fail "$(ps -o pid=,args= -p "$(tasks | paste -sd,)")"
}

@test "srun: groups are the leaf switches of Slurm's topology, as the man page reads them" {
	rate_of n1 .1
	sed -n '/^scontrol show topology/,/>leaves$/{s/\\e/\\/g;p}' "$root/man/rdmark-pairs.1.in" >recipe
	. ./recipe
	[[ $(<leaves) == $'leaf1 n1 n2 n3\nleaf2 n4 n5 n6' ]] || fail "$(<leaves)"
	sweep 'srun -N6' --schedule group=leaves --auth="munge:$slurm/munge"
	ended_with_any sweep 0 6
	tried 10 '(.alone | not)'
	tried 4 '(.alone | not) and .round == 0 and ([.from, .to] | sort | . == ["n1", "n3"] or . == ["n4", "n6"])'
	tried 6 '(.alone | not) and .round == 1'
}

@test "sbatch: the example is a job, whose output has the verdict" {
	rate_of n3 .055
	PATH=$RDMARK_BIN:$PATH
	start job "$(type -P sbatch)" --wait -N 6 -o job.out "$root/contrib/examples/pairs.sbatch" --hosts "$BATS_FILE_TMPDIR/hosts" \
		--schedule full --auth="munge:$slurm/munge" --slot 2 -- write_bw -s 4k -D 0.1
	finish job
	ended job 6
	slow_is_n3 job.out pairs-*.suspects
	[[ ! -x $(type -P gnuplot) || -s $(echo pairs-*.svg) ]] || fail 'no picture'
}

@test "mpirun: its processes have numbers and no names, which the file of hosts has" {
	type -P mpirun >/dev/null || skip 'no mpirun here (make deps)'
	export SIMVERBS_GBPS=.1 OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
	sweep 'mpirun --oversubscribe -n 6' --schedule random=2 --slot 4 --auth=none
	ended_with_any sweep 0 6 # a busy host may hold up a pair, but none of the nodes
	tried 12 '(.alone | not)'
	says sweep.out '6 nodes: ' ' suspect, 0 lost'
	! grep -q '^slow nodes' sweep.out || fail "$(<sweep.out)"
}

@test "clush and pdsh: hosts by their names, through a shell" {
	local launcher
	export SIMVERBS_GBPS=.1
	for launcher in 'clush --worker=exec -w n[1-6]' 'pdsh -R exec'; do
		type -P "${launcher%% *}" >/dev/null || skip "no ${launcher%% *} here (make deps)"
		sweep "$launcher" --schedule random=1 --slot 4 --auth=none --self %h
		ended_with_any sweep 0 6
		tried 6 '(.alone | not)'
	done
}

# bats test_tags=long
@test "mpirun and clush: a task is killed: the others are measured, and it is named" {
	local launcher task
	export SIMVERBS_GBPS=.1 OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
	for launcher in 'mpirun --oversubscribe -n 6' 'clush --worker=exec -w n[1-6]'; do
		type -P "${launcher%% *}" >/dev/null || skip "no ${launcher%% *} here (make deps)"
		local self=() word=OMPI_COMM_WORLD_RANK=1
		[[ $launcher != clush* ]] || self=(--self %h) word=n2
		start_sweep "$launcher" --schedule random=3 --once --auth=none "${self[@]}"
		await_lines '"round":0'
		kill -KILL "$(tasks "$word")"
		finish sweep
		ended sweep 3
		tried 12 '[.from, .to] | index("n2") | not'
		is_named 'ended early' n2
	done
}

@test "ssh: to each host of the file; one that is not reached is named" {
	mkdir bin
	# What sshd would do: a shell reads the command, on that host.
	cat >bin/ssh <<-'END'
		#!/bin/sh
		[ "$1 $2 $3" = '-n -o BatchMode=yes' ] && [ "$4" != n4 ] || exit 255
		SLURMD_NODENAME=$4 exec sh -c "$5"
	END
	chmod +x bin/ssh
	export SIMVERBS_GBPS=.1 PATH=$PWD/bin:$PATH
	sweep ssh --schedule full --once --auth=none
	ended sweep 3
	tried 20 '[.from, .to] | index("n4") | not'
	says sweep.out 'did not start: 1' 'n4 ' '6 nodes: ' ' suspect, 1 lost'
}

@test "sweep: what cannot be" {
	start cli "$pairs" sweep
	finish cli
	ended cli 2
	says cli.err 'sweep needs --launch' 'Fix: '
	start cli "$pairs" sweep --launch=bash
	finish cli
	ended cli 2
	says cli.err "'bash' is no launcher"
	: >lines
	start cli "$pairs" sweep --launch=srun --output lines
	finish cli
	ended cli 2
	says cli.err 'cannot create lines: File exists' 'choose another --output'
	start cli "$pairs" sweep --launch='srun -N6' --hosts /dev/null --output none
	finish cli
	ended cli 2
	sweep 'srun -N6 -p nowhere'
	ended sweep 4
	says sweep.err 'no node has said anything' 'its own messages are above'
}
