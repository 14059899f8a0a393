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
	made_pairs 8 'if .from == "n3" then .value *= 0.6 else . end' >made
	launcher 'words=${*#*pairs}; echo "${words/ --auth none/}" >>started' 'cat made'
}

# launcher LINE…: they are the script that is srun here.
launcher() {
	printf '%s\n' '#!/bin/bash' "$@" >bin/srun
	chmod +x bin/srun
}

# sweep ARG…: with that srun, at once.
sweep() { run --separate-stderr timeout 60 "$bin/rdmark-pairs" sweep --launch srun --auth none --start-in 0 --output lines "$@"; }

@test "what is measured again is what the judge named, whatever --only the user gives" {
	local start=0
	echo n1 >mine
	sweep --only mine --schedule full -- write_bw -s 4k -D 1
	((status == 6))
	[[ $(<lines.retest) == $'n3 n4\nn3 n5' ]]
	sed -E -i 's/.* run //; s/--start=[0-9]+/--start=0/' started
	[[ $(<started) == "--only lines:n1 --schedule full --start=$start -- write_bw -s 4k -D 1
--only lines:n1 --schedule full --start=$start --alone --at-once 1 --for 300.000 --only lines:n3,n4+n3,n5 -- write_bw -s 4k -D 1" ]] ||
		{ cat started; return 1; }
}

@test "the hosts and what is in files travel in the command line, and the nodes need no files of this host" {
	printf '%s\n' '# the rack' 'n1 10.0.0.1:700' n{2..8} >hosts
	printf '%s\n' 'a n1 n2 n3 n4' 'b n5 n6 n7 n8' >leaves
	sweep --once --hosts hosts --schedule group=leaves
	((status == 6))
	[[ $(<started) == *' run --hosts lines:n1,10.0.0.1:700+n2+n3+n4+n5+n6+n7+n8 --schedule group=lines:a,n1,n2,n3,n4+b,n5,n6,n7,n8 --start='* ]]
	rm lines started
	sweep --once --hosts 'n[1-6],n7,n8'
	[[ $status == 6 && $(<started) == *' run --hosts n[1-8] --start='* ]]
	# What is too long for that goes by its name, and that is said.
	rm lines started
	printf '%s 10.0.0.1:700\n' $(seq -f 'n%099.0f' 1 400) >hosts
	sweep --once --hosts hosts
	[[ $(<started) == *' run --hosts hosts --start='* && $stderr == *'hosts does not fit into a command line: all nodes have to have it'* ]]
}

@test "srun in an allocation: its nodes are the hosts, and lines of others are not used" {
	made_pairs 8 'if .from == "n3" then .value *= 0.6 else . end |
		if .host == "n8" then .host = "ALL" else . end | (.from, .to, .client) |= if . == "n8" then "ALL" else . end' >made
	SLURM_JOB_NUM_NODES=8 SLURM_JOB_NODELIST='n[1-8]' sweep --once
	[[ $(<started) == *' -N 8 -n 8 '*' run --hosts n[1-8] --start='* ]]
	[[ $(<suspects.txt) != *ALL* ]]
	[[ $stderr == *'of other hosts than --hosts'* && $output != *ALL* ]]
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

@test "a node that died is left out when suspects are measured again" {
	made_pairs 8 'select(.kind != "done" or .host != "n5") | if .from == "n3" then .value *= 0.6 else . end' >made
	launcher 'echo "$*" >>started' 'cat made'
	sweep --hosts 'n[1-8]'
	[[ $(head -n 1 started) != *' -x '* && $(tail -n 1 started) == *' -x n5 -N 7 -n 7 '*' --alone '* ]] || { cat started; return 1; }
}

@test "another sweep has the port: that is said, with what to do, and nothing is judged" {
	made_pairs 8 'select(.kind == "player")' >made
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

@test "a slot that was too short: the sweep says which would do" {
	made_pairs 8 'if .kind == "done" and .host == "n2" then .slot_needed_s = 2.4 else . end' >made
	sweep --once
	[[ $stderr == *'--slot 2.4 would do'* ]]
}

@test "a dry run says pairs, rounds and duration, and starts nothing" {
	sweep --dry-run --hosts 'n[1-64]'
	[[ $status == 0 && $output == 'nodes: 64, pairs: 288, rounds: 9 of 1.8 s, all: 16.2 s' && ! -e started && ! -e lines && ! -e suspects.txt ]]
	sweep --dry-run --hosts 'n[1-64]' --at-once 8 --schedule full
	[[ $output == 'nodes: 64, pairs: 2016, rounds: 252 of 1.8 s, all: 453.6 s' ]]
	sweep --dry-run
	[[ $status == 2 && $stderr == *'the hosts of the run are not known'* && ! -e started ]]
}

@test "several sizes are refused, with what to do instead, before anything starts" {
	sweep --hosts 'n[1-8]' -- write_bw -s 4k,1m -D 1
	[[ $status == 2 && $stderr == *'several sizes after --: 4k,1m'*'loop of the shell'* && ! -e started && ! -e lines ]]
}

@test "the groups of the schedule are the judge's, too, unless it is given others" {
	launcher 'cat made'
	printf '%s\n' 'a n1 n2 n3 n4' 'b n5 n6 n7 n8' >leaves
	echo 'b n1 n2 n3 n4 n5 n6 n7 n8' >one
	made_pairs 8 'def leaf($x): $x[1:] | tonumber - 1 | . / 4 | floor;
		if .from and leaf(.from) == 0 and leaf(.to) == 1 then .value *= 0.8 else . end' >made
	sweep --once --schedule=group=leaves
	[[ $status == 6 && $output == *'slow between groups, and good within them: 1'*'a -> b'* ]]
	rm lines
	sweep --once --schedule group=leaves --groups one
	[[ $output != *'slow between groups'* ]]
	rm lines
	sweep --once
	[[ $output != *'slow between groups'* ]]
}

@test "--start is refused: each step has its own" {
	for words in '--start 5' '--start=5'; do
		# shellcheck disable=SC2086 # words
		sweep $words
		((status == 2))
		[[ $stderr == *'sweep sets --start itself'*'--start-in'* && ! -e lines && ! -e started ]]
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
	refused_like_run --shedule full
	refused_like_run --slot x
	refused_like_run extra
	refused_like_run -- write_bww
	refused_like_run -- write_bw --nothing
	# What only the hosts tell is told without those of srun, as far as it can be.
	refused_like_run --hosts hosts --schedule fast --self n1
	refused_like_run --hosts hosts --auth none --self n1 -- write_bw -n 5
	refused_like_run --hosts hosts --schedule random=3 --self n1
	refused_like_run --hosts hosts --port 65535 --port-step 1 --self n1
	refused_like_run --hosts hosts --only nowhere --self n1
	for words in '--schedule fast' '--only nowhere' '--schedule file=nowhere' '-- write_bw -n 5'; do
		# shellcheck disable=SC2086 # words
		sweep $words
		[[ $status == 2 && ! -e lines && ! -e started ]] || { echo "$words: $stderr"; return 1; }
	done
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
		--start | --self | --retest | --json) [[ ! $output =~ $option[^a-z-] ]] ;;
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

@test "suspects that cannot be measured again: what was said of them is said, with its exit status" {
	launcher '[[ $* != *--alone* ]] || { echo "srun: no" >&2; exit 1; }' 'cat made'
	sweep
	[[ $status == 6 && $output == *'slow nodes: 1'*'n3 '*'not measured alone'* && $(<suspects.txt) == n3 ]]
	[[ $stderr == *'the suspects were not measured again: '*'srun: no node has said anything'* ]]
	rm lines
	made_pairs 8 'select(.host != "n5" and .from != "n5" and .to != "n5" or (.kind == "player" and .host == "n5")) |
		if .from == "n3" then .value *= 0.6 else . end' >made
	sweep
	[[ $status == 3 && $output == *'ended early: 1'*'n5 '* ]]
}

@test "how many pairs are measured again is said, and how long that takes" {
	made_pairs 8 '(.rounds, .slot_s) |= (select(. == 7) // 2.5)' | grep '"player"' >again
	launcher '[[ $* != *--alone* ]] || exec cat again' 'cat made'
	sweep
	[[ $stderr == *$'\nrdmark-pairs: pairs to measure again: 2, in 7 slots of 2.5 s: about 18 s'* ]] || { echo "$stderr"; return 1; }
}

@test "a second step that does not come to its end changes neither the list, nor the report, nor the lines" {
	made_pairs 8 'select(.kind == "player")' >begun
	made_pairs 8 'select(.kind != "done" or .host != "n6") | if .kind == "pair" then .alone = true | select(.from == "n3") | .value *= 0.6 else . end' >six
	made_pairs 8 'if .kind == "pair" then .alone = true | select(.from == "n3") | .value *= 0.6 else . end' >all
	local way
	for way in 'cat begun' 'cat all; exit 1' 'cat six' 'exit 0'; do
		rm -f lines
		launcher "[[ \$* != *--alone* ]] || { $way; exit; }" 'cat made'
		sweep
		[[ $status == 6 && $output == *'slow nodes: 1'*'n3 '*'not measured alone'* && $(<suspects.txt) == n3 ]] ||
			{ echo "$way: $status, $output, $(<suspects.txt)"; return 1; }
		[[ $stderr == *'rdmark-pairs: the suspects were not measured again: '* ]] || { echo "$way: $stderr"; return 1; }
		cmp lines made
	done
	rm lines
	launcher '[[ $* != *--alone* ]] || exec cat all' 'cat made'
	sweep
	[[ $status == 6 && $output == *'slow nodes: 1'* && $stderr != *'were not'* && $(grep -c '"alone":true' lines) == 7 ]] ||
		{ echo "$status $output $(grep -c '"alone":true' lines)"; return 1; }
}

@test "the disk is full in the second step: the list, the report and the lines are those of the first" {
	unshare -m bash -c 'mount -t tmpfs tmpfs /mnt' 2>/dev/null || skip 'no file system of its own here'
	mkdir small
	launcher "[[ \$* == *--alone* ]] || exec cat $PWD/made" "for i in {1..20}; do cat $PWD/made; done"
	unshare -m bash -c 'mount -t tmpfs -o size=64k tmpfs small && cd small && exec "$@"' _ bash -c \
		'timeout 60 "$0" sweep --launch srun --auth none --start-in 0 --output lines; echo $? >../code; cp lines suspects.txt ..' \
		"$bin/rdmark-pairs" >out 2>err
	[[ $(<code) == 6 && $(<suspects.txt) == n3 ]] || { cat out err; return 1; }
	grep -q 'the suspects were not measured again: .*No space left' err
	cmp lines made
}

@test "a signal in the second step: the list, the report and the lines are those of the first" {
	local sig code
	mkfifo ready
	made_pairs 8 'select(.kind == "player")' >begun
	launcher '[[ $* == *--alone* ]] || exec cat made' 'trap "exit 1" TERM' 'cat begun' 'echo >ready' 'tail -f /dev/null & wait'
	for sig in INT TERM; do
		rm -f lines
		perl -e '$SIG{INT} = "DEFAULT"; exec @ARGV' timeout --foreground 60 "$bin/rdmark-pairs" sweep --launch srun --auth none --start-in 0 \
			--output lines >out 2>err 3>&- &
		read -r <ready
		kill -$sig $!
		code=0
		wait $! || code=$?
		((code == 128 + $(kill -l $sig))) || { echo "$code"; cat err; return 1; }
		grep -q 'slow nodes: 1' out && [[ $(<suspects.txt) == n3 ]] || { cat out err suspects.txt; return 1; }
		grep -q 'the suspects were not measured again' err
		cmp lines made
	done
}

@test "what a host says that has no part in it moves no deadline" {
	made_pairs 8 'select(.kind == "player" and .host == "n1") | .host = "x9" | .rounds = 1e6 | .slot_s = 9.9' >stranger
	made_pairs 8 'if .kind == "player" then .rounds = 1 else . end' >again
	launcher '[[ $* != *--alone* ]] || exec cat stranger again' 'cat made'
	SLURM_JOB_NUM_NODES=8 SLURM_JOB_NODELIST='n[1-8]' sweep --slot 2 -- write_bw -D 0.1 -s 4k
	[[ $status == 6 && $stderr == *'pairs to measure again: 2, in 1 slots of 1 s: about 1 s'* ]] || { echo "$stderr"; return 1; }
	# Nor does what one of them says, or anybody, where the hosts are not known: its own schedule is shorter.
	sed -i 's/x9/n1/' stranger
	rm lines
	SLURM_JOB_NUM_NODES=8 SLURM_JOB_NODELIST='n[1-8]' sweep --slot 2 -- write_bw -D 0.1 -s 4k
	[[ $stderr == *'pairs to measure again: 2, in 1 slots of 1 s: about 1 s'* ]] || { echo "$stderr"; return 1; }
	rm lines
	sweep --slot 2 -- write_bw -D 0.1 -s 4k
	[[ $stderr == *'pairs to measure again: 2, in 1 slots of 1 s: about 1 s'* ]] || { echo "$stderr"; return 1; }
}

@test "the suspects of an incast are measured again in pairs" {
	sweep --schedule incast=3
	[[ $(tail -n 1 started) == *' --schedule full --alone --at-once 1 --for 300.000 --only lines:'* ]] || { cat started; return 1; }
}

@test "the judge fails: the lines stay, and sweep says how to judge them" {
	launcher 'mkdir matrix' 'cat made'
	sweep --matrix matrix
	[[ $status == 1 && $stderr == *'the lines are in lines: `rdmark-pairs judge lines`'* && -s lines ]]
	run -6 "$bin/rdmark-pairs" judge lines
	rmdir matrix
	rm lines
	launcher '[[ $* != *--alone* ]] || { rm matrix; mkdir matrix; }' 'cat made'
	sweep --matrix matrix
	[[ $status == 6 && $output == *'slow nodes: 1'* && $stderr == *'the lines are in lines'* ]]
}

@test "a signal ends the launcher, whichever it is: srun only says what runs at its first SIGINT" {
	local sig code
	mkfifo ready
	launcher 'trap "echo INT >>got" INT' 'trap "echo TERM >>got; exit" TERM' 'cat made' 'echo >ready' 'tail -f /dev/null & wait'
	for sig in INT TERM; do
		rm -f lines got
		# A shell ignores SIGINT for what it has in the background.
		perl -e '$SIG{INT} = "DEFAULT"; exec @ARGV' timeout --foreground 60 "$bin/rdmark-pairs" sweep --launch srun --auth none --start-in 0 \
			--output lines >out 2>err 3>&- &
		read -r <ready
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
	timeout --foreground 60 "$bin/rdmark-pairs" sweep --launch srun --auth none --start-in 0 --output lines >out 2>err 3>&- &
	read -r <ready
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
