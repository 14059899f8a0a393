#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The phases that faults name, and their stages (common/base/phase.h), by which other programs tell
# whose failure it is.

bats_require_minimum_version 1.5.0

load ../lib/rdmark

@test "every phase of the table is one that a program names" {
	local here=$root symbol
	for symbol in $(sed -n 's/^\tX(\([A-Z_]*\), .*/\1/p' "$here/common/base/phase.h"); do
		[[ $symbol == NONE ]] || grep -rqw "PHASE_$symbol" --include='*.c' "$here"/{common,gdr_bw,pairs,rdmark} ||
			fail "nothing names PHASE_$symbol"
	done
}

@test "every cause of the catalogue is one that a program finds" {
	local here=$root symbol
	for symbol in $(sed -n 's/^WHY(\([A-Z0-9_]*\),.*/\1/p' "$here/common/finding/why.def"); do
		grep -rqE "WHY_$symbol\>|EXPLAIN\(f, $symbol\>" --include='*.c' "$here/common" || fail "nothing finds $symbol"
	done
}

@test "the schema and rdmark-json(5) have the stages of the table" {
	local stages
	stages=$(sed -n '/words\[STAGES\]/,/};/p' "$root/common/base/phase.c" | grep -o '"[^"]*"' | paste -sd ' ')
	stages=${stages//\"/}
	grep -qx "stage words ${stages// /|}" "$root/man/rdmark-json.keys" || fail "$stages"
	for stage in $stages; do
		sed -n '/^stage words/,/^phase!/{ /^\t/p }' "$root/man/rdmark-json.keys" | grep -qw "$stage" || fail "$stage"
	done
}

# What is in a document is for scripts, its phase and its messages for people.
@test "no program of the suite decides by the words of a phase" {
	run ! grep -rnE '\.phase\b' "$root/contrib" "$root/pairs" "$root/rdmark"
	run ! grep -rnE '"(phase)"' --include='*.c' "$root"/{pairs,rdmark,common/report,gdr_bw}
}
