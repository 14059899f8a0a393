#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# bats file_tags=standin,san
# shellcheck disable=SC2016,SC2154 # $ of jq; what lib/rdmark.bash sets
#
# READs and atomics on a network that works; what is refused and what fails is in sim/fetch.bats.

load ../lib/rdmark

setup_file() { need_device; }

# all MESSAGES PROGRAM ARG…: so many come.
all() {
	pair "$2" --json=c.json "${@:3}"
	json c.json ".status == \"ok\" and ([.results[].messages] | . != [] and all(. == $1)) and .effective.outs >= 1"
}

# bats test_tags=rxe
@test "each program: a row at both ends, and a document" {
	local program columns
	for program in "${fetching_programs[@]}"; do
		columns=5
		[[ $program == *_bw ]] || columns=9
		all 200 "$program" -n 200 -v
		row client.out $columns
		[[ ${row[1]} == 200 ]]
		positive "${row[@]:2:2}"
		row server.out $columns
		json c.json '.test == $test and (.results | length) == 1 and (.results[0] | has("by_end") | not)' --arg test "$program"
		says client.err ' outstanding requests per QP'
	done
}

# bats test_tags=rxe,core
@test "sizes, several QPs and threads, lists, events, few outstanding, both ways" {
	all 20 read_bw -n 20 -s 1
	all 20 read_lat -n 20 -s 100000
	all 60 read_bw -n 20 -s 4096 -q 3 -l 4
	all 100 read_lat -n 50 --threads 2
	all 50 read_lat -n 50 -e
	all 50 read_bw -n 50 -s 4096 -o 1
	all 80 atomic_bw -n 40 -q 2 -t 8 -o 2
	all 50 atomic_lat -n 50 -A CMP_AND_SWAP
	all 50 read_bw -n 50 -s 4096 --reversed
	pair read_bw -n 200 -s 4096 -b --json=c.json
	json c.json '.status == "ok" and ([.results[] | ends, .] | length) == 3'
	pair read_lat -D 0.2 --json=c.json
	json c.json '.results[0].messages > 0 and .results[0].seconds > 0.1' # until its last message
}

@test "under perftest's names: what its readers look for" {
	local program columns
	for program in "${fetching_programs[@]}"; do
		ln -s "$RDMARK_BIN/$program" "ib_$program"
		columns=5
		[[ $program == *_bw ]] || columns=9
		pair "./ib_$program" -n 30 -o 4
		says client.out 'Connection type : RC' 'Outstand reads  : 4' ' local address: LID ' '#iterations'
		says_no client.out fail
		row client.out $columns
		[[ ${row[1]} == 30 ]] || fail "${row[*]}"
	done
}
