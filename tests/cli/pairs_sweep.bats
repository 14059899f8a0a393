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
	sweep --only mine --schedule full -- write_bw -s 4k
	((status == 6))
	[[ $(<lines.retest) == $'n3 n4\nn3 n5' ]]
	sed -E -i 's/.* run --start=[0-9]+ //' started
	[[ $(<started) == $'--only mine --schedule full -- write_bw -s 4k\n--only mine --schedule full --alone --only lines.retest -- write_bw -s 4k' ]] ||
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
