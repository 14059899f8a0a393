#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck disable=SC2016,SC2154 # $ of jq; what bats sets
#
# rdmark-pairs sweep with a launcher that is made up: what it is told to start, and how it is ended. With
# real ones it is tests/bed.

bats_require_minimum_version 1.5.0
load ../lib/pairs

# An srun that writes down the command, and prints the lines of a run in which n3 is slow.
setup() {
	enter_folder
	mkdir bin
	PATH=$PWD/bin:$PATH
	slow='if .from == "n3" then .value *= 0.6 else . end'
	made_pairs 8 "$slow" >made
	launcher 'words=${*#*pairs}; echo "${words/ --auth none/}" >>started' 'plan || cat made'
}

# launcher LINE…: they are the script that is srun here. In it, plan [EDIT] writes the lines of its plan, in which n3
# is slow, and is false if there is none.
launcher() {
	printf '%s\n' '#!/bin/bash' ". $top/tests/lib/pairs.bash" "words=\$*" \
		"plan() { [[ \$words == *' --plan '* ]] && made_plan 8 \"\$words\" '$slow | '\"\${1-.}\"; }" "$@" >bin/srun
	chmod +x bin/srun
}

# sweep ARG…: with that srun, at once.
sweep() { run --separate-stderr timeout 60 "$bin/rdmark-pairs" sweep --launch srun --auth none --start-in 0 --output lines "$@"; }

# sweeps ARG…: the same in the background, $!, for a minute at most. A shell ignores SIGINT for what it has there; timeout dies of a
# signal that comes before it has set its handlers, which is after it has started the sweep.
sweeps() {
	perl -e '$SIG{INT} = "DEFAULT"; alarm 60; exec @ARGV' "$bin/rdmark-pairs" sweep --auth none --start-in 0 --output lines "$@" >out 2>err 3>&- &
}

@test "after the schedule comes what the judge plans, until it plans no more; other options stay" {
	sweep --hosts 'n[1-8]' --seed 3 --schedule full -- write_bw -s 4k -D 0.5
	((status == 6)) && [[ $output == *'slow nodes: 1'*'n3 '* && $output != *'seen once'* && $(<suspects.txt) == n3 && ! -s lines.plan ]]
	sed -E -i 's/.* run //; s/--start=[0-9]+/--start=0/; s/lines:[^ ]*,(screen|test|control) /lines:\1 /' started
	[[ $(<started) =~ ^'--seed 3 --hosts n[1-8] --schedule full --start=0 -- write_bw -s 4k -D 0.5
--seed 3 --hosts n[1-8] --plan lines:screen --start=0 --for=300.000 -- write_bw -s 4k -D 0.5
--seed 3 --hosts n[1-8] --plan lines:'(test|control)' --start=0 --for='[0-9.]+' -- write_bw -s 4k -D 0.5'$ ]] || { cat started; return 1; }
	[[ $stderr =~ 'screening with few pairs at a time: '([0-9]+)' slots of 1.8 s, '([0-9]+)' s' ]]
	((BASH_REMATCH[2] == (BASH_REMATCH[1] * 18 + 9) / 10))
	[[ $stderr =~ $'\n'.*'testing candidates with controls: '[0-9]+' slots of 1.8 s, '[0-9]+' s'$ ]] || { echo "$stderr"; return 1; }
	run "$bin/rdmark-pairs" judge lines
	((status == 6)) && [[ $output == *'slow nodes: 1'*'n3 '* ]]
	jq -es 'map(select(.kind == "pair") | .part) | unique == [null, "control", "screen", "test"]' lines
}

@test "plans are measured for --test-for at most: what has no time is said, candidates stay that, and nobody is drained" {
	sweep --test-for 60
	((status == 6)) && [[ $output == *'n3 '*'seen once'* && ! -s suspects.txt && -s lines.plan ]]
	[[ $stderr == *'screening with few pairs at a time: the first 33 of '*' slots of 1.8 s, 60 s'*'the time of --test-for is over: lines.plan is not measured' ]]
	[[ $(grep -c . started) == 2 && $(tail -n 1 started) == *' --for=60.000' ]]
	rm lines
	sweep --test-for 1
	((status == 6)) && [[ $(grep -c . started) == 3 && $stderr == *'the time of --test-for is over'* && $stderr != *screening* ]]
	rm lines
	sweep --once
	((status == 6)) && [[ $(grep -c . started) == 4 && ! $stderr && -s lines.plan ]]
}

@test "the hosts and what is in files travel in the command line, and the nodes need no files of this host" {
	printf '%s\n' '# the rack' 'n1 10.0.0.1:700' n{2..8} >hosts
	printf '%s\n' '0 n1 n2' '0 n3 n4' >rounds
	sweep --once --hosts hosts --schedule file=rounds
	((status == 6))
	[[ $(<started) == *' run --hosts lines:n1,10.0.0.1:700+n2+n3+n4+n5+n6+n7+n8 --schedule file=lines:0,n1,n2+0,n3,n4 --start='* ]]
	rm lines started
	sweep --once --hosts 'n[1-6],n7,n8'
	[[ $status == 6 && $(<started) == *' run --hosts n[1-8] --start='* ]]
	# What is too long for that goes by its name, and that is said.
	rm lines started
	printf '%s 10.0.0.1:700\n' $(seq -f 'n%099.0f' 1 400) >hosts
	sweep --once --hosts hosts
	[[ $(<started) == *' run --hosts hosts --start='* && $stderr == *'hosts does not fit into a command line: all nodes have to have it'* ]]
}

@test "srun in an allocation: its nodes are the hosts, and no line of ALL is used" {
	made_pairs 8 'if .from == "n3" then .value *= 0.6 else . end |
		if .host == "n8" then .host = "ALL" else . end | (.from, .to, .client) |= if . == "n8" then "ALL" else . end' >made
	SLURM_JOB_NUM_NODES=8 SLURM_JOB_NODELIST='n[1-8]' sweep --once
	[[ $(<started) == *' -N 8 -n 8 '*' run --hosts n[1-8] --start='* ]]
	[[ $(<suspects.txt) != *ALL* ]]
	[[ $stderr == *'with impossible content'* && $output != *ALL* ]]
	rm lines started
	SLURM_JOB_NUM_NODES=8 SLURM_JOB_NODELIST='n[1-8]' run --separate-stderr \
		"$bin/rdmark-pairs" sweep --launch 'srun -N 4' --auth none --start-in 0 --output lines --once
	[[ $(<started) != *--hosts* ]]
}

@test "srun: a node that does not answer at the start: once more without it, and it is named" {
	# srun says so, and ends the step at once: the others have begun.
	made_pairs 8 'select(.kind == "player" and .host != "n5")' >begun
	made_pairs 8 'select(.host != "n5" and .from != "n5" and .to != "n5")' >made
	launcher 'echo "$*" >>started' '[[ $* == *"-x n5"* ]] || { cat begun; exit 1; }' 'cat made'
	sweep --once --hosts 'n[1-8]'
	[[ $stderr == *'these had not begun: n5. Once more without them'* ]]
	((status == 3))
	[[ $output == *'7 nodes: '* && $(tail -n 1 started) == *' -x n5 -N 7 -n 7 '* ]]
	[[ $(grep -c '"kind":"player"' lines) == 7 ]]
}

@test "a node that died is left out of plans, and so is one that dies in a plan: the others are tested" {
	made_pairs 8 "select(.kind != \"done\" or .host != \"n5\") | if .kind == \"pair\" and touches(\"n5\") and .round > 2 then
		del(.value) + {status: \"failed\", cause: \"connect\", node: \"n5\"} | select(.client != \"n5\") else $slow end" >made
	launcher 'echo "$*" >>started' "plan 'select(.host != \"n5\" and (.kind != \"done\" or .host != \"n6\")) |
		if .kind == \"pair\" and touches(\"n6\") and .slot > 5 then del(.value) + {status: \"failed\", cause: \"connect\", node: \"n6\"} |
		select(.client != \"n6\") else . end' || cat made"
	sweep --hosts 'n[1-8]'
	[[ $(head -n 1 started) != *' -x '* && $(sed -n 2p started) == *' -x n5 -N 7 -n 7 '*' --plan '* ]] || { cat started; return 1; }
	[[ $(tail -n 1 started) == *' -x n[5-6] -N 6 -n 6 '*' --plan '* && $(tail -n 1 started) != *,5,* ]] || { cat started; return 1; }
	((status == 3)) && [[ $output == *'n5 '*'n6 '*'n3 '* && $output != *'seen once'* ]] || { echo "$output"; return 1; }
	[[ $(sort suspects.txt) == $'n3\nn5\nn6' ]]
}

@test "few nodes: that all runs with one reference failed does not hide how slow a node is with the others" {
	made_pairs 6 "$slow" >made
	launcher "[[ \$words == *' --plan '* ]] && made_plan 6 \"\$words\" '$slow |
		when(.from == \"n3\" and .to == \"n6\"; del(.value) + {status: \"failed\", cause: \"lost\"})' || cat made"
	sweep --hosts 'n[1-6]'
	[[ $status == 6 && $output == *'slow nodes: 1'*'n3 '* && $(<suspects.txt) == n3 ]] || { echo "$output"; return 1; }
}

@test "another sweep has the port: that is said, with what to do, and nothing is judged" {
	# Its processes were late, too.
	made_pairs 8 'select(.kind == "player" or (.kind == "pair" and .round == 0)) | if .value then del(.value) + {status: "failed", cause: "missed"} else . end' >made
	jq -nc '{kind: "server", run: "1790000000-1", player: 1, host: "n2", round: -1, exit: 1, cause: "port", error: "in use"}' >>made
	launcher 'trap "exit 143" TERM' 'cat made' 'tail -f /dev/null & wait'
	sweep
	[[ $status == 2 && $stderr == *'n2: its TCP port is in use. Another sweep'*'use another --port'* && ! $output && ! -e lines ]]
}

@test "the disk is full: what was written is judged, and the exit status says so" {
	unshare -m bash -c 'mount -t tmpfs tmpfs /mnt' 2>/dev/null || skip 'no file system of its own here'
	mkdir small
	launcher "cat $PWD/made"
	unshare -m bash -c 'mount -t tmpfs -o size=8k tmpfs small && cd small && exec "$@"' _ timeout 60 "$bin/rdmark-pairs" sweep --launch srun --auth none \
		--start-in 0 --output lines >out 2>err && code=0 || code=$?
	((code == 1))
	grep -q ' nodes: ' out || { cat out err; return 1; }
	grep -q 'writing the lines of the nodes: No space left' err
}

@test "a dry run says pairs, rounds and duration, and starts nothing" {
	sweep --dry-run --hosts 'n[1-64]'
	[[ $status == 0 && $output == 'nodes: 64, pairs: 288, rounds: 9 of 1.8 s, all: 16.2 s' && ! -e started && ! -e lines && ! -e suspects.txt ]]
	sweep --dry-run --hosts 'n[1-64]' --at-once 8 --schedule full
	[[ $output == 'nodes: 64, pairs: 2016, rounds: 252 of 1.8 s, all: 453.6 s' ]]
	sweep --dry-run
	[[ $status == 2 && $stderr == *'the hosts of the run are not known'* && ! -e started ]]
}

@test "several sizes, or values of anything, are refused, with what to do instead, before anything starts" {
	sweep --hosts 'n[1-8]' -- write_bw -s 4k,1m -D 1
	[[ $status == 2 && $stderr == *'several values of --size after --: 4k,1m'*'loop of the shell'* && ! -e started && ! -e lines ]]
	sweep --hosts 'n[1-8]' -- write_bw --gpu 0,1
	[[ $status == 2 && $stderr == *'several values of --gpu after --: 0,1'* && ! -e started ]]
}

@test "groups that the judge refuses are refused before anything starts" {
	# m1, which is in no run, is in two groups.
	printf '%s\n' 'a n1 n2 n3 n4 m1' 'b n5 n6 n7 n8 m1' >leaves
	sweep --once --hosts 'n[1-8]' --groups=leaves
	[[ $status == 2 && $stderr == *'leaves: line 2.'* && ! -e lines && ! -e started ]] || { echo "$status $stderr"; return 1; }
}

@test "--start and --plan are refused: each step has its own" {
	for words in '--start 5' '--start=5' '--plan x'; do
		# shellcheck disable=SC2086 # words
		sweep $words
		((status == 2))
		[[ $stderr == *'sweep sets --start and --plan itself'*'--start-in'* && ! -e lines && ! -e started ]]
	done
}

@test "no launcher, one that is none, and no hosts are refused" {
	run -2 --separate-stderr "$bin/rdmark-pairs" sweep
	[[ $stderr == *'sweep needs --launch'*'Fix: '* ]]
	run -2 --separate-stderr "$bin/rdmark-pairs" sweep --launch bash
	[[ $stderr == *"'bash' is no launcher"* ]]
	sweep --hosts /dev/null
	[[ $status == 2 && ! -e lines && ! -e started ]]
}

@test "an option without its value is refused" {
	for words in --launch --output --start-in --start --groups --hosts; do
		run --separate-stderr "$bin/rdmark-pairs" sweep "$words"
		((status == 2)) && [[ $stderr == *": $words needs a value. Fix: "* ]] || { echo "$status: $stderr"; return 1; }
	done
}

# refused_like_run WORD…: sweep says what run says of these options, once, and has begun nothing.
refused_like_run() {
	run -2 --separate-stderr "$bin/rdmark-pairs" run --start 1 "$@"
	local said=$stderr
	sweep "$@"
	[[ $status == 2 && $stderr == "$said" && ! -e lines && ! -e started && ! $output ]] || { echo "$status: $stderr, not: $said"; return 1; }
}

@test "what run would refuse on every node is refused here, in its words, and the corrected command works" {
	printf '%s\n' n1 n2 n3 >hosts
	sweep --shedule full
	[[ $status == 2 && $stderr == *"'--shedule' is not an option of rdmark-pairs sweep. Fix: did you mean --schedule?" ]] || { echo "$stderr"; return 1; }
	refused_like_run --slot x
	refused_like_run extra
	refused_like_run -- write_bww
	refused_like_run -- write_bw --nothing
	# What only the hosts tell is told without those of srun, as far as it can be.
	refused_like_run --hosts hosts --schedule fast --self n1
	refused_like_run --hosts hosts --auth none --self n1 -- write_bw -n 5
	refused_like_run --hosts hosts --schedule random=3 --self n1
	refused_like_run --hosts hosts --port 65535 --port-step 1 --self n1
	refused_like_run --hosts hosts --schedule file=nowhere --self n1
	for words in '--schedule fast' '--schedule file=nowhere' '-- write_bw -n 5' '--only hosts' '--retest-for 5'; do
		# shellcheck disable=SC2086 # words
		sweep $words
		[[ $status == 2 && ! -e lines && ! -e started ]] || { echo "$words: $stderr"; return 1; }
	done
	[[ $stderr == *'use --test-for'* ]]
	SLURM_JOB_ID=1 run -2 --separate-stderr "$bin/rdmark-pairs" sweep --launch srun --output lines
	[[ $stderr == *'--auth is missing'*'--auth=key:FILE, a file that all nodes have'* && ! -e lines && ! -e started ]]
	refused_like_run --hosts hosts --auth munge --self n1
	sweep --once
	((status == 6)) && [[ -s lines ]]
}

@test "--help shows sweep's help wherever it stands before the program" {
	sweep --schedule full --help
	[[ $status == 0 && $output == 'usage: rdmark-pairs sweep'* && ! -e lines && ! -e started ]]
	sweep -h
	[[ $status == 0 && $output == 'usage: rdmark-pairs sweep'* ]]
}

@test "--help names every option that sweep takes, on one page" {
	local option taken
	taken=$("$bin/rdmark-pairs" run --help && "$bin/rdmark-pairs" judge --help)
	run -0 "$bin/rdmark-pairs" sweep --help
	((${#lines[@]} < 24))
	[[ $output == *'  --hosts LIST '*'  --auth METHOD '* ]]
	for option in $(grep -o '^  --[a-z-]*' <<<"$taken"); do
		case $option in
		--start | --self | --plan | --json) [[ ! $output =~ $option[^a-z-] ]] ;;
		*) [[ $output =~ $option[^a-z-] ]] ;;
		esac || { echo "$option"; return 1; }
	done
}

@test "files that cannot be read or written are refused before anything is measured" {
	local words
	echo 'a n1' >good
	echo alone >bad
	mkfifo pipe
	for words in '--groups nowhere' '--groups bad' '--baseline nowhere' '--baseline good' '--groups pipe' '--baseline pipe' '--output /nowhere/x' \
		'1 --suspects /nowhere/x' '1 --matrix /nowhere/x' '1 --matrix .'; do
		# shellcheck disable=SC2086 # words
		sweep ${words#1 }
		[[ $status == "$([[ $words == 1* ]] && echo 1 || echo 2)" && $stderr == 'rdmark-pairs: '* && ! -e lines && ! -e started ]] ||
			{ echo "$words: $status: $stderr"; return 1; }
	done
	echo kept >matrix
	sweep --matrix matrix --suspects /nowhere/x
	[[ $(<matrix) == kept ]]
}

@test "a launcher that starts nothing: no file refuses the next try, and no suspects of an earlier one are left" {
	echo n7 >suspects.txt
	launcher 'exit 1'
	sweep
	[[ $status == 4 && $stderr == *'no node has said anything'* && ! -e lines && ! -s suspects.txt ]]
	: >lines
	echo n7 >suspects.txt
	sweep # it has not begun: what is there is of another one
	[[ $status == 2 && $stderr == *'cannot create lines: File exists'* && -e lines && $(<suspects.txt) == n7 ]]
}

@test "ssh that fails: its status is said, though other hosts' ssh went well, and what to try" {
	printf '%s\n' '#!/bin/bash' 'echo "ssh: connect to host $4 port 22: Connection refused" >&2' '[[ $4 == n2 ]] || exit $(<code)' >bin/ssh
	chmod +x bin/ssh
	ssh_sweep() { run --separate-stderr timeout 60 "$bin/rdmark-pairs" sweep --launch ssh --hosts n1,n2 --auth none --start-in 0 --output lines; }
	echo 255 >code
	failed=1 all=1 ssh_sweep
	[[ $status == 4 && $stderr == *'ssh: no node has said anything. It ended with status 255, as where ssh itself fails; its own messages are above. '* ]] ||
		{ echo "$status: $stderr"; return 1; }
	[[ $stderr == *'connect to host n1 '* && $stderr == *'Fix: try by hand, for each host: `ssh n1 hostname`'* && ! -e lines ]]
	echo 127 >code
	ssh_sweep
	[[ $stderr == *'status 127, as where a program is not found;'* ]] || { echo "$stderr"; return 1; }
	echo 0 >code
	ssh_sweep
	[[ $status == 4 && $stderr == *'It ended with status 0; '* ]]
}

@test "a plan that cannot be measured: what was said before is said, with its exit status, and nobody is drained by it" {
	launcher '[[ $* != *--plan* ]] || { echo "srun: no" >&2; exit 1; }' 'cat made'
	sweep
	[[ $status == 6 && $output == *'slow nodes: 1'*'n3 '*'seen once'* && ! -s suspects.txt ]]
	[[ $stderr == *'this did not come to its end, and nothing of it counts: '*'srun: no node has said anything'* ]]
	rm lines
	made_pairs 8 "select(.host != \"n5\" and .from != \"n5\" and .to != \"n5\" or (.kind == \"player\" and .host == \"n5\")) | $slow" >made
	sweep
	[[ $status == 3 && $output == *'ended early: 1'*'n5 '* && $(<suspects.txt) == n5 ]]
}

@test "a plan that nobody came to the end of changes neither the list, nor the report, nor the lines" {
	local way
	for way in 'select(.kind == "player")' 'select(.kind != "done")' 'if .kind == "done" then .rounds -= 1 else . end' 'empty'; do
		rm -f lines
		launcher "plan '$way' || cat made"
		sweep
		[[ $status == 6 && $output == *'slow nodes: 1'*'n3 '*'seen once'* && ! -s suspects.txt ]] ||
			{ echo "$way: $status, $output, $(<suspects.txt)"; return 1; }
		[[ $stderr == *'rdmark-pairs: this did not come to its end, and nothing of it counts: '* ]] || { echo "$way: $stderr"; return 1; }
		cmp lines made
	done
}

@test "the disk is full while a plan is measured: the list, the report and the lines are those of before" {
	unshare -m bash -c 'mount -t tmpfs tmpfs /mnt' 2>/dev/null || skip 'no file system of its own here'
	mkdir small
	launcher "[[ \$* == *--plan* ]] || exec cat $PWD/made" "for i in {1..20}; do cat $PWD/made; done"
	unshare -m bash -c 'mount -t tmpfs -o size=64k tmpfs small && cd small && exec "$@"' _ bash -c \
		'timeout 60 "$0" sweep --launch srun --auth none --start-in 0 --output lines; echo $? >../code; cp lines suspects.txt ..' \
		"$bin/rdmark-pairs" >out 2>err
	[[ $(<code) == 6 && ! -s suspects.txt ]] && grep -q 'n3 .*seen once' out || { cat out err; return 1; }
	grep -q 'nothing of it counts: .*No space left' err
	cmp lines made
}

@test "a signal while a plan is measured: the list, the report and the lines are those of before, and nobody is drained" {
	local part sig code
	mkfifo ready
	for part in screen test; do
		launcher "[[ \$* == *' --plan '*$part* ]] || { plan || cat made; cp lines before; exit; }" 'trap "exit 1" TERM' 'plan "select(.kind != \"done\")"' \
			'echo >ready' 'tail -f /dev/null & wait'
		for sig in INT TERM; do
			rm -f lines before
			sweeps --launch srun
			read -rt 60 <>ready
			kill -$sig $!
			code=0
			wait $! || code=$?
			((code == 128 + $(kill -l $sig))) || { echo "$code"; cat err; return 1; }
			grep -q 'n3 .*seen once' out && [[ ! -s suspects.txt && -s lines.plan ]] || { cat out err suspects.txt; return 1; }
			grep -q 'this did not come to its end, and nothing of it counts' err
			jq -es --arg part $part 'all(.part != $part)' lines
			"$bin/rdmark-pairs" judge lines >again || true
			cmp again out
		done
	done
}

@test "what a host says that has no part in it, or of more than was asked for, does not hide that a plan came to its end" {
	made_pairs 8 'select(.kind == "player" and .host == "n1") | .host = "x9" | .rounds = 1e6 | .slot_s = 9.9' >stranger
	launcher '! plan || exec cat stranger' 'cat made'
	SLURM_JOB_NUM_NODES=8 SLURM_JOB_NODELIST='n[1-8]' sweep
	[[ $status == 6 && $(<suspects.txt) == n3 && $stderr != *'nothing of it counts'* ]] || { echo "$stderr"; return 1; }
	# Nor where the hosts are not known, if it is one of them.
	sed -i 's/x9/n1/' stranger
	rm lines
	sweep
	[[ $status == 6 && $(<suspects.txt) == n3 && $stderr != *'nothing of it counts'* ]] || { echo "$stderr"; return 1; }
}

@test "pdsh is told to end by one SIGINT: at SIGTERM it would leave behind what it has started" {
	local sig code
	mkfifo ready
	# In perl: when it is told to end, nothing is left that holds its output.
	cat >bin/pdsh <<-'END'
		#!/bin/bash
		echo "$*" >words
		cat made
		exec perl -MPOSIX -e 'for my $s ("INT", "TERM") { $SIG{$s} = sub { open(my $f, ">", "told"); print $f "$s\n"; exit 1 } }
			sigprocmask(SIG_BLOCK, POSIX::SigSet->new(SIGINT, SIGTERM)); # until it waits for them
			open(my $r, ">", "ready"); print $r "\n"; close $r; sigsuspend(POSIX::SigSet->new)'
	END
	chmod +x bin/pdsh
	for sig in INT TERM; do
		rm -f lines told
		sweeps --launch 'pdsh -R ssh' --hosts 'n[1-8]'
		read -rt 60 <>ready
		kill -$sig $!
		code=0
		wait $! || code=$?
		((code == 128 + $(kill -l $sig))) && [[ $(<told) == INT && $(<words) == *' -b '* ]] || { echo "$code $(<told)"; cat err; return 1; }
	done
}

# left_s ARG…: what a sweep has left of its time, on a terminal, when all has been said; with the hosts of $nodes.
left_s() {
	rm -f lines
	env ${nodes:+SLURM_JOB_NUM_NODES=8 SLURM_JOB_NODELIST="$nodes"} script -qec \
		"timeout 60 $bin/rdmark-pairs sweep --launch srun --auth none --start-in 0 --output lines --once $*" shown </dev/null >/dev/null
	grep -o '[0-9]* s left' shown | tail -n 1 | grep -o '[0-9]*'
}

# bats test_tags=long
@test "the deadline of a sweep: no host moves it that has no part in it, or says more than was asked for" {
	local nodes='n[1-8]'
	command -v script >/dev/null || skip 'script is not here (util-linux)'
	launcher 'cat made stranger'
	made_pairs 8 'select(.kind == "player" and .host == "n1") | .rounds = 12' >one
	jq -c '.host = "x9"' one >stranger
	(($(left_s) <= 8)) # seven rounds of a second
	jq -c '.rounds = 1e4' one >stranger
	(($(left_s) <= 8))
	nodes=
	(($(left_s --for 20) <= 8))
}

@test "the plan of an incast is none of an incast" {
	sweep --schedule incast=3
	[[ $(head -n 1 started) == *' --schedule incast=3 '* && $(tail -n 1 started) == *' --plan lines:'* && $(tail -n 1 started) != *incast* ]] ||
		{ cat started; return 1; }
}

@test "the judge fails: the lines stay, and sweep says how to judge them" {
	launcher 'mkdir matrix' 'cat made'
	sweep --matrix matrix
	[[ $status == 1 && $stderr == *'the lines are in lines: `rdmark-pairs judge lines`'* && -s lines ]]
	run -6 "$bin/rdmark-pairs" judge lines
	rmdir matrix
	rm lines
	launcher '[[ $* != *--plan* ]] || { rm matrix; mkdir matrix; }' 'plan || cat made'
	sweep --matrix matrix
	[[ $status == 6 && $output == *'slow nodes: 1'* && $stderr == *'the lines are in lines'* ]]
}

@test "a signal ends the launcher, whichever it is: srun only says what runs at its first SIGINT" {
	local sig code
	mkfifo ready
	launcher 'trap "echo INT >>got" INT' 'trap "echo TERM >>got; exit" TERM' 'cat made' 'echo >ready' 'tail -f /dev/null & wait'
	for sig in INT TERM; do
		rm -f lines got
		sweeps --launch srun
		read -rt 60 <>ready
		kill -$sig $!
		code=0
		wait $! || code=$?
		((code == 128 + $(kill -l $sig)))
		[[ $(<got) == TERM ]] || { cat got out err; return 1; }
		grep -q 'slow nodes: 1' out
	done
}

@test "srun's steps share their nodes, and clush writes each line at once, unless the user has it otherwise" {
	launcher 'echo "$SLURM_OVERLAP $PYTHONUNBUFFERED" >>started' 'cat made'
	sweep --once
	rm lines
	SLURM_OVERLAP=0 sweep --once
	[[ $(<started) == $'1 1\n0 1' ]]
}

# bats test_tags=long
@test "what a launcher has put into another process group does not hold up the sweep when the launcher has ended" {
	mkfifo ready there
	launcher "trap 'exit 1' TERM" 'setsid sh -c "echo >there; exec tail -f /dev/null" &' 'echo $! >left' 'read -r _ <there' 'cat made' 'echo >ready' 'tail -f /dev/null & wait $!'
	sweeps --launch srun
	read -rt 60 <>ready
	kill -TERM $!
	code=0
	wait $! || code=$?
	kill "$(<left)" # it was there all the time
	((code == 143)) || { echo "$code"; cat err; return 1; }
	grep -q 'slow nodes: 1' out
}

@test "the completion offers the command" {
	local COMP_LINE='rdmark-pairs s' COMP_POINT=14 COMPREPLY=()
	# shellcheck source=/dev/null
	. "${bin%/*}/completions/rdmark"
	_rdmark_pairs rdmark-pairs
	[[ ${COMPREPLY[*]} == 'sweep ' ]]
}

@test "ten thousand hosts: clush and pdsh read them from a file, and the command line has them as a list" {
	local launcher
	made_pairs 8 '(.host, .from, .to, .client) |= if . then "rack\(.[1:])-compute-node-0007.cluster.example.org" else . end |
		with_entries(select(.value))' >ten
	for launcher in clush pdsh; do
		rm -f lines started
		launcher 'for word; do case $word in --hostfile=*|^*) sort -u "${word#*[=^]}" | wc -l ;; esac; done >>started' \
			'echo "$*" >>started' 'cat ten'
		mv bin/srun bin/$launcher
		run --separate-stderr timeout 60 "$bin/rdmark-pairs" sweep --launch $launcher --start-in 0 --output lines --auth none --once \
			--hosts 'rack[1-10]-compute-node-[0001-1000].cluster.example.org'
		[[ $(head -n 1 started) == 10000 ]] || { cat started; return 1; }
		[[ $(<started) == *" -f 10000 "*"-N "*"--hosts 'rack1-compute-node-[0001-1000].cluster.example.org,rack2-"* ]] || { cat started; return 1; }
	done
}
