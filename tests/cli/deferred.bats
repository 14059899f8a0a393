#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# bats file_tags=standin,san,long
# shellcheck disable=SC2154 # what lib/rdmark.bash sets
#
# No request runs while it is posted, all run later (SIMVERBS_DEFER, on both sides): a buffer, a work
# request or a queue slot that is used again before its completion shows as a message that is lost,
# wrong or refused.

load ../lib/rdmark

export SIMVERBS_DEFER=1

# all MESSAGES PROGRAM ARG…: so many arrive.
all() {
	pair "$2" --json=c.json "${@:3}"
	json c.json ".status == \"ok\" and ([.results[] | ends.messages] | . != [] and all(. == $1))"
}

@test "deferred: all defaults" {
	all 100 send_lat -n 100
	all 100 write_lat -n 100
	all 1000 send_bw
	all 5000 write_bw
}

@test "deferred: small messages, inline and not" {
	local program inline
	for program in "${programs[@]}"; do
		for inline in 0 64; do
			all 60 "$program" -n 60 -s 1 -I $inline
			all 200 "$program" -n 200 -s 64 -I $inline
		done
	done
}

@test "deferred: every size" {
	local program
	for program in "${programs[@]}"; do
		all 3 "$program" -a -n 3
	done
}

# bats test_tags=core
@test "deferred: lists, moderation, many QPs, the shallowest queues" {
	local program
	for program in "${bandwidth_programs[@]}"; do
		all 700 "$program" -n 700 -s 8 -t 64 -l 16
		all 700 "$program" -n 700 -s 8 -t 32 -l 7 -Q 14
		all 1600 "$program" -n 200 -s 100 -q 8 -t 16 -l 4
		all 50 "$program" -n 50 -s 64 -t 1
	done
	all 100 send_bw -n 100 -s 64 -r 2
	all 100 send_lat -n 100 -r 1
}

# bats test_tags=core
@test "deferred: for a time, and interrupted" {
	local program
	for program in "${programs[@]}"; do
		pair "$program" -D 0.3 -s 64 --json=c.json
		json c.json '.status == "ok" and .results[0].messages > 0'
	done
	server send_bw
	proxy
	start_client send_bw -D 60 -s 64 --json=c.json
	await 'client done' 'client round' 'client alive'
	kill -INT "${pid[client]}"
	finish client server
	ended client 130
	ended server 0
	json c.json '.status == "interrupted" and .results[0].messages > 0'
}
