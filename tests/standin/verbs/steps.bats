#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# bats file_tags=long
# SIMVERBS_STEPS: what lies between an arrival and the answer.

load pair.bash

setup_file() {
	[ "$(uname -m)" = x86_64 ] || skip "only on x86-64"
}

# The median of stepped's parent, with or without more instructions before it answers.
median() {
	local file=$BATS_TEST_TMPDIR/steps
	rm -f "$file"
	LD_PRELOAD=$SIM SIMVERBS_STEPS=$file timeout 60 "$ROOT/build/tests/stepped" "$@"
	grep -qx 'samples 300' "$file"
	MEDIAN=$(awk 'END { print $1 == "median" ? $2 : "none" }' "$file")
}

@test "exact from the return of a poll" {
	median send none
	local none=$MEDIAN
	((none >= 10 && none <= 200))
	median send nops
	((MEDIAN == none + 100))
	median send string
	((MEDIAN == none + 4))
}

@test "from a WRITE in memory, to a turn of the spin" {
	median write none
	local none=$MEDIAN
	((none >= 5 && none <= 200))
	median write nops
	((MEDIAN >= none + 90 && MEDIAN <= none + 110))
}

@test "unmodified programs, both ends" {
	local prog end
	for prog in ib_send_lat ib_write_lat; do
		command -v "$prog" > /dev/null || skip "$prog is not installed"
		for args in "" --use_old_post_send; do
			SERVER_ENV=(SIMVERBS_STEPS="$BATS_TEST_TMPDIR/server.steps")
			CLIENT_ENV=(SIMVERBS_STEPS="$BATS_TEST_TMPDIR/client.steps")
			pair "$prog" -n 1000 $args
			for end in server client; do
				echo "$prog $args, $end:"
				cat "$BATS_TEST_TMPDIR/$end.steps"
				# The least may be nothing: of a WRITE whose sender lost the CPU before it said so.
				awk '$1 == "samples" { n = $2 }
					END { exit !($1 == "median" && $2 >= 10 && $2 <= 400 && n >= 100) }' "$BATS_TEST_TMPDIR/$end.steps"
				rm "$BATS_TEST_TMPDIR/$end.steps"
			done
		done
	done
}

@test "nothing to count is said, and no file" {
	LD_PRELOAD=$SIM SIMVERBS_STEPS=$BATS_TEST_TMPDIR/steps timeout 60 "$ROOT/build/tests/semantics" \
		states 2> "$BATS_TEST_TMPDIR/err"
	[ ! -e "$BATS_TEST_TMPDIR/steps" ]
	LD_PRELOAD=$SIM SIMVERBS_STEPS=$BATS_TEST_TMPDIR/steps timeout 60 "$ROOT/build/tests/semantics" \
		rc 2> "$BATS_TEST_TMPDIR/err"
	grep -q 'SIMVERBS_STEPS: nothing was answered' "$BATS_TEST_TMPDIR/err"
	[ ! -e "$BATS_TEST_TMPDIR/steps" ]
}
