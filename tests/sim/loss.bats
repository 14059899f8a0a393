#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck disable=SC2016,SC2154 # $ of jq; what lib/rdmark.bash sets
#
# UC and UD where messages are lost: how many is known here, since the stand-in loses them by count.

load ../lib/rdmark

# lossy SERVER_DROPS CLIENT_DROPS PROGRAM ARG…: one in so many of what each sends; 0: none.
lossy() {
	SIMVERBS_FAULT=${1/#/drop:} server "$3"
	SIMVERBS_FAULT=${2/#/drop:} client "${@:3}" --json=c.json
	finish server
	ended client 0
	ended server 0
}

none=1000000000

@test "bandwidth: what is lost is counted, in both ends' records and on stderr" {
	local transport
	for transport in UC UD; do
		lossy $none 10 send_bw -c $transport -n 1000 -s 64 -t 100 --warmup 100 -r 4096
		json c.json '[.results[] | [.measured_by, .messages, .lost]] == [["client", 1000, 100], ["server", 900, 100]]'
		says client.err '100 of 1000 messages' 'from the client were lost'
		says server.err '100 of 1000 messages'
		row client.out 5
		[[ ${row[1]} == 1000 ]]
		row server.out 5
		[[ ${row[1]} == 900 ]]
	done
}

@test "bandwidth: on several QPs and threads, by thread" {
	lossy $none 4 send_bw -c UD -q 2 --threads 2 -n 200 -s 64 -t 50 --warmup 0 -r 4096
	json c.json '(.results[0].lost == 200) and ([.results[] | select(.thread != null and .measured_by == "client") | .lost] | add) == 200'
}

@test "bandwidth: in both directions, each its own" {
	lossy 5 4 send_bw -c UD -b -n 200 -s 64 -t 50 --warmup 0 -r 4096
	json c.json '.results | map(.lost) == [50, 40, 90]'
}

@test "bandwidth: reversed" {
	SIMVERBS_FAULT=drop:8 server send_bw
	client send_bw --reversed -c UC -n 200 -s 64 -t 50 --warmup 0 -r 4096 --json=c.json
	finish server
	json c.json '[.results[] | [.measured_by, .messages, .lost]] == [["client", 175, 25], ["server", 200, 25]]'
}

@test "bandwidth: all is lost" {
	lossy $none 1 send_bw -c UD -n 100 -s 64
	json c.json '[.results[] | [.measured_by, .messages, .lost]] == [["client", 100, 100]]'
}

@test "bandwidth, asleep: a loop that waits for what was lost is woken" {
	lossy $none 3 send_bw -e -c UD -n 90 -s 64 -t 30 --warmup 0 -r 4096
	json c.json '.results[0].lost == 30'
}

@test "latency: pings and pongs that are lost are sent again, and are no samples" {
	local program
	for program in "send_lat -c UD" "send_lat -c UC" "write_lat -c UC" "send_lat -e -c UD" "write_lat --write_with_imm -c UC"; do
		# shellcheck disable=SC2086
		lossy 31 17 $program -n 100 -H
		row client.out 9
		[[ ${row[1]} == 100 ]]
		# 3 pings and 5 pongs, or more re-sent ones; two in one trip count once; a slow machine makes some more late
		json c.json '.results[0].lost >= 5 and .results[0].lost <= 60'
		json c.json '.results[0] | .messages == .lost + (.latency_histogram_us | map(.[2]) | add)'
		says client.err 'gave no sample'
	done
}

@test "latency: no sample has a wait for what was lost in it" {
	lossy 13 19 send_lat -c UD -n 200 -U
	json c.json '.results[0].latency_max_us < 45000'
	(($(grep -cE '^[0-9]+, [0-9.]+$' client.out) == 200 - $(jq '.results[0].lost' c.json)))
}

@test "latency: with RC nothing is dropped, and nothing is called lost" {
	lossy 3 3 send_lat -n 100
	json c.json '.results[0].lost == null'
	[[ $(<client.err) != *lost* ]]
}

@test "latency: a sweep, and the numbers go on from size to size" {
	lossy 41 37 send_lat -c UD -a -n 20 -m 256
	json c.json '.results | length == 8 and all(.messages == 20)'
	lossy 41 37 write_lat -c UC -s 1 -n 300
	json c.json '.results[0].messages == 300'
}

@test "a peer that gets nothing: the deadline holds, nothing is sent again for ever" {
	SIMVERBS_FAULT=drop:1 server send_lat --timeout 2
	client send_lat -c UD --timeout 2
	finish server
	ended client 4
	within client 10
	((status[server] != 0))
}

@test "receives that are not there lose messages, too" {
	lossy $none $none send_bw -c UD -n 1000 -s 64 --json=c.json
	json c.json '.results | [.[] | select(.measured_by == "server")][0] as $came | $came.messages + ($came.lost // 0) == 1000'
}
