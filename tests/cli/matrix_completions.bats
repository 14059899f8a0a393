#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# bats file_tags=standin,san,long,core
# shellcheck disable=SC2034,SC2154 # what lib/rdmark.bash sets and reads
#
# Completions that fail, come late or never; ports, devices and processes that die.

load ../lib/rdmark
load matrix

@test "a completion fails here: the NIC could not access the buffer" {
	senders SIMVERBS_FAULT=wc:3:4:153 1 'local protection error' 'status 4' 'vendor error 0x99'
	told send_bw server SIMVERBS_FAULT=wc:3:4:153 1 'receive of 64 B' 'local protection error'
	says_no client.err gpu
	says_no server.err gpu
}

@test "a completion fails: the peer does not answer" {
	told send_bw client SIMVERBS_FAULT=wc:2:12:129 3 'transport retry counter exceeded' 'vendor error 0x81'
	# before anything came through: the way, or a firewall
	told write_bw client SIMVERBS_FAULT=wc:1:12:129 3 'transport retry counter exceeded' 'UDP port 4791'
}

@test "a completion fails: the receiver was not ready" {
	told send_bw client SIMVERBS_FAULT=wc:2:13 1 'RNR retry counter exceeded' 'no receive request posted' --rx-depth
}

@test "a completion fails in a way that says little" {
	told write_bw client SIMVERBS_FAULT=wc:2:21 1 'general error' 'status 21' 'dmesg and the counters of both ports'
}

@test "a completion fails: the peer refused the access" {
	told write_bw client SIMVERBS_FAULT=wc:1:10:136 1 'remote access error' rkey
	told write_lat client SIMVERBS_FAULT=wc:1:10:136 1 'remote access error' rkey
}

@test "a completion fails: the peer could not do what was asked" {
	local wc
	for wc in 9 11; do
		told send_bw client SIMVERBS_FAULT=wc:2:$wc 1 "(status $wc" 'longer than the receive'
		says_no client.err --qp-timeout
	done
	told send_bw server SIMVERBS_FAULT=wc:1:2 1 '(status 2' malformed
}

@test "the port goes down" {
	senders SIMVERBS_FAULT=port_down:150 1 "$DEVICE port 1 went down" cable
	told send_bw server SIMVERBS_FAULT=port_down:150 1 "$DEVICE port 1 went down"
}

@test "the device dies" {
	senders SIMVERBS_FAULT=device_fatal:150 1 "$DEVICE failed" 'fatal error'
	told send_bw server SIMVERBS_FAULT=device_fatal:150 1 "$DEVICE failed"
}

@test "a message is lost: nothing moves, the deadline says so" {
	local program side end
	for program in "${latency_programs[@]}"; do
		for side in client server; do
			run "$program" "$side" SIMVERBS_FAULT=lose:150
			for end in client server; do
				[[ ${status[$end]} == [34] ]] || fail "$program $side: $end ended with ${status[$end]}"
				says "$end.err" "no completion for 3 s"
			done
		done
	done
	run send_bw client SIMVERBS_FAULT=lose:150
	ended server 4
	ended client 3
	says client.err 'reports: ' "no completion for 3 s"
}

@test "a late completion is no fault" {
	local program
	for program in "${programs[@]}"; do
		run "$program" client SIMVERBS_FAULT=delay:150:200
		ended client 0
		ended server 0
	done
}

@test "the process is stopped: the other side waits for --timeout" {
	local program side
	for program in "${programs[@]}"; do
		for side in client server; do
			[[ $program$side != write_bwserver ]] || continue # it sends and polls nothing
			begin "$program" "$side" SIMVERBS_FAULT=stop:150
			finish "$(other "$side")"
			# 4 if all was sent and only the results are missing
			ended_with_any "$(other "$side")" 3 4
			says "$(other "$side").err" stopped 'Fix: '
			within "$(other "$side")" 10
			kill -KILL "${pid[$side]}"
			finish "$side"
		done
	done
}

@test "the process dies" {
	local program side
	for program in "${programs[@]}"; do
		for side in client server; do
			[[ $program$side != write_bwserver ]] || continue # it sends and polls nothing
			run "$program" "$side" SIMVERBS_FAULT=kill:150
			[[ ${status[$side]} == 137 ]] || fail "$program $side: ended with ${status[$side]}"
			[[ ${status[$(other "$side")]} == 3 ]] || fail "$program: the other side ended with ${status[$(other "$side")]}"
			says "$(other "$side").err" 'was lost'
		done
	done
}

@test "a client dies: the server serves the next one, to which it sends, too" {
	local program
	for program in "${programs[@]}"; do
		server "$program" --persistent
		through=(env SIMVERBS_FAULT=kill:150)
		client "$program" -n 1000
		through=()
		ended client 137
		client "$program" -n 50
		ended client 0
		kill -TERM "${pid[server]}"
		finish server
		ended server 0
		says server.err 'was lost'
	done
}
