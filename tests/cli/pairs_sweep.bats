#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck disable=SC2016,SC2154 # $ of jq; what bats sets
#
# rdmark-pairs sweep with a launcher that is made up: what it is told to start, and how it is ended. With
# real ones it is tests/cli/launchers.bats.

bats_require_minimum_version 1.5.0
load ../lib/pairs

# An srun that writes down the command, and prints the lines of a run in which n3 is slow.
setup() {
	enter_folder
	mkdir bin
	PATH=$PWD/bin:$PATH
	made_pairs 8 'if .from == "n3" then .value *= 0.6 else . end' >made
	launcher 'echo "${*#*pairs}" >>started' 'cat made'
}

# launcher LINE…: they are the script that is srun here.
launcher() {
	printf '%s\n' '#!/bin/bash' "$@" >bin/srun
	chmod +x bin/srun
}

# sweep ARG…: with that srun, at once.
sweep() { run --separate-stderr timeout 60 "$bin/rdmark-pairs" sweep --launch srun --start-in 0 --output lines "$@"; }

@test "what is measured again is what the judge named, whatever --only the user gives" {
	echo n1 >mine
	sweep --only mine --schedule full -- write_bw -s 4k -D 1
	((status == 6))
	[[ $(<lines.retest) == $'n3 n4\nn3 n5' ]]
	sed -E -i 's/.* run --start=[0-9]+ //' started
	[[ $(<started) == $'--only mine --schedule full -- write_bw -s 4k -D 1\n--only mine --schedule full --alone --only lines.retest -- write_bw -s 4k -D 1' ]] ||
		{ cat started; return 1; }
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
	sweep --once --prom nodes.prom
	[[ $output != *'slow between groups'* && -s nodes.prom ]]
}

@test "--start is refused: each step has its own" {
	for words in '--start 5' '--start=5'; do
		# shellcheck disable=SC2086 # words
		sweep $words
		((status == 2))
		[[ $stderr == *'sweep sets --start itself'*'--start-in'* && ! -e lines && ! -e started ]]
	done
}

@test "an option without its value is refused" {
	for words in --launch --output --start-in --start --groups --hosts; do
		run --separate-stderr "$bin/rdmark-pairs" sweep "$words"
		((status == 2)) && [[ $stderr == *": $words needs a value." ]] || { echo "$status: $stderr"; return 1; }
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
	unset SLURM_JOB_ID
	printf '%s\n' n1 n2 n3 >hosts
	refused_like_run --shedule full
	refused_like_run --slot x
	refused_like_run extra
	refused_like_run -- write_bww
	refused_like_run -- write_bw --nothing
	# What only the hosts tell is told without those of srun, as far as it can be.
	refused_like_run --hosts hosts --schedule fast --self n1
	refused_like_run --hosts hosts --auth none --self n1 -- write_bw -n 5
	refused_like_run --hosts hosts --schedule ring=3 --self n1
	refused_like_run --hosts hosts --port 65535 --port-step 1 --self n1
	refused_like_run --hosts hosts --only nowhere --self n1
	for words in '--schedule fast' '--only nowhere' '--schedule file=nowhere' '-- write_bw -n 5'; do
		# shellcheck disable=SC2086 # words
		sweep $words
		[[ $status == 2 && ! -e lines && ! -e started ]] || { echo "$words: $stderr"; return 1; }
	done
	# Outside Slurm; srun's nodes have munge.
	cp bin/srun bin/clush
	run -2 --separate-stderr "$bin/rdmark-pairs" sweep --launch clush --hosts hosts --output lines
	[[ $stderr == *'--auth is missing'* && ! -e lines && ! -e started ]]
	sweep --once
	((status == 6)) && [[ -s lines ]]
}

@test "--help shows sweep's help wherever it stands before the program" {
	sweep --schedule full --help
	[[ $status == 0 && $output == 'usage: rdmark-pairs sweep'* && ! -e lines && ! -e started ]]
	sweep -h
	[[ $status == 0 && $output == 'usage: rdmark-pairs sweep'* ]]
}

@test "files that cannot be read or written are refused before anything is measured" {
	local words
	echo 'a n1' >good
	echo alone >bad
	mkfifo pipe
	for words in '--groups nowhere' '--groups bad' '--baseline nowhere' '--baseline good' '--groups pipe' '--baseline pipe' '--output /nowhere/x' \
		'1 --suspects /nowhere/x' '1 --matrix /nowhere/x' '1 --prom /nowhere/x' '1 --prom .'; do
		# shellcheck disable=SC2086 # words
		sweep ${words#1 }
		[[ $status == "$([[ $words == 1* ]] && echo 1 || echo 2)" && $stderr == 'rdmark-pairs: '* && ! -e lines && ! -e started ]] ||
			{ echo "$words: $status: $stderr"; return 1; }
	done
	echo kept >matrix
	sweep --matrix matrix --prom /nowhere/x
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
	[[ $stderr == *$'\nrdmark-pairs: pairs to measure again: 7, in slots of 2.5 s: about 18 s'* ]] || { echo "$stderr"; return 1; }
}

@test "the suspects of an incast are measured again in pairs" {
	sweep --schedule incast=3
	[[ $(tail -n 1 started) == *' --schedule incast=3 --schedule full --alone --only lines.retest' ]] || { cat started; return 1; }
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
		perl -e '$SIG{INT} = "DEFAULT"; exec @ARGV' timeout --foreground 60 "$bin/rdmark-pairs" sweep --launch srun --start-in 0 \
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

@test "the completion offers the command" {
	local COMP_LINE='rdmark-pairs s' COMP_POINT=14 COMPREPLY=()
	# shellcheck source=/dev/null
	. "${bin%/*}/completions/rdmark"
	_rdmark_pairs rdmark-pairs
	[[ ${COMPREPLY[*]} == 'sweep ' ]]
}
