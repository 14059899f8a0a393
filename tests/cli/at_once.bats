#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# bats file_tags=standin
# shellcheck disable=SC2154 # what lib/rdmark.bash sets
#
# A device that completes every request and every receive at once, and moves nothing: there is always
# one more arrival. Each program ends on it, and none says that data have arrived.

load ../lib/rdmark
load ../lib/gpu

setup_file() {
	need_device
	export SIMVERBS_NULL=1
}

# by_arrival PROGRAM: what makes it wait for completions.
by_arrival() {
	waits=()
	[[ $1 != write_lat ]] || waits=(--write_with_imm)
}

@test "every test ends on a device that completes at once: by messages, by time, with events, in all sizes" {
	local program how waits
	for program in "${measuring_programs[@]}"; do
		by_arrival "$program"
		for how in '-n 1000' '-D 0.2' '-n 1000 -e'; do
			# shellcheck disable=SC2086 # words
			pair "$program" $how "${waits[@]}" --json=c.json
			json c.json '.status == "ok" and .results[0].messages >= 100'
		done
	done
	for program in "${programs[@]}"; do
		by_arrival "$program"
		pair "$program" -n 20 -a "${waits[@]}"
	done
}

@test "--verify says that data are wrong, and ends" {
	local program waits
	for program in "${measuring_programs[@]}"; do
		by_arrival "$program"
		server "$program" --timeout 2
		client "$program" --timeout 2 -n 100 --verify=10 "${waits[@]}"
		finish server
		ended_with_any client 3 5
		grep -E 'verifying the data: .* wrong' client.err
	done
}

@test "write_lat, which waits for its memory, gives up after --timeout" {
	server write_lat --timeout 60 # the client must be the one that gives up
	client write_lat -n 100 --timeout 1
	finish server
	ended client 4
	says client.err 'no completion for 1 s' 'Fix: '
}

@test "gdr_bw ends: no cell has data" {
	driver
	server gdr_bw --gpu 0 --timeout 60 # the client must be the one that gives up: its copies wait for its memory
	client gdr_bw --gpu 0 -n 60 -s 64k --windows 3 --within 100 --expected-gbps 0 --timeout 1
	finish server
	ended client 4
	says client.out 'FAIL wrong data'
}
