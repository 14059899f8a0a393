#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# bats file_tags=standin,san,long
# shellcheck disable=SC2016,SC2154 # $ of jq; what lib/rdmark.bash sets
#
# UC and UD where messages are lost: how many is known here, since the stand-in loses them by count.

load ../lib/rdmark

setup_file() { export SIMVERBS_CPU=200; } # what is lost for want of CPU is no loss to judge

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
		json c.json '[.results[] | ends | [.measured_by, .messages, .lost]] == [["client", 1000, 100], ["server", 900, 100]]'
		says client.err '100 of 1000 messages' 'from the client were lost'
		says server.err '100 of 1000 messages'
		row client.out 5
		[[ ${row[1]} == 1000 ]]
		row server.out 5
		[[ ${row[1]} == 900 ]]
	done
	lossy $none 10 send_bw -c UD -n 1000 -s 64 -t 100 --warmup 100 -r 4096 --quiet
	[[ $(wc -l <client.err) == 1 ]] || fail 'more than that'
	says client.err '100 of 1000 messages' 'from the client were lost'
}

@test "bandwidth: rates, gates and --output are of what came, and what was sent stands beside" {
	local transport rate='.results[] | {c: of("client"), s: of("server")}'
	for transport in UC UD; do
		lossy $none 2 send_bw -c $transport -n 2000 -s 64 -t 100 --warmup 100 -r 4096
		json c.json "$rate"' | .c.timed_messages <= 1000 and (.c.bandwidth_gbps / .s.bandwidth_gbps - 1 | fabs) < 1e-6'
		json c.json "$rate"' | .c.sent_gbps * 0.51 > .c.bandwidth_gbps and .c.bandwidth_peak_gbps == .c.bandwidth_gbps'
		row client.out 5
		json c.json '.results[0].messages_per_s / 1e6 - ($shown | tonumber) | fabs < 1e-5' --arg shown "${row[4]}"
	done
	# Half lost is below 0.9 of what was sent; a link of known speed, so that this is known before.
	SIMVERBS_GBPS=0.4 SIMVERBS_FAULT=drop:$none server send_bw
	SIMVERBS_GBPS=0.4 SIMVERBS_FAULT=drop:2 client send_bw -c UD -n 2000 -s 1024 -r 4096 --min-bw 0.3 --json=c.json
	finish server
	ended client 6
	json c.json '.results[0] | .sent_gbps > 1.9 * .bandwidth_gbps and .bandwidth_gbps < 0.21'
	SIMVERBS_GBPS=0.4 SIMVERBS_FAULT=drop:$none server send_bw
	SIMVERBS_GBPS=0.4 SIMVERBS_FAULT=drop:2 client send_bw -c UD -n 2000 -s 1024 -r 4096 --output=bandwidth --report_gbits
	finish server
	jq -e '. < 0.21' client.out
}

@test "more sent than the link carries is remarked on, by the end that sent it" {
	export SIMVERBS_DEVICES='sim0 speed=SDR width=1 gid.0=v2/127.0.0.1'
	lossy $none 2 send_bw -c UC -n 2000 -s 64k -r 4096
	says client.err "(more than the link's 2.5 Gb/s), arrived "
	says_no server.err 'more than the link'
	export SIMVERBS_DEVICES='sim0 gid.0=v2/127.0.0.1' SIMVERBS_GBPS=1
	lossy $none 2 send_bw -c UC -n 100 -s 4k -r 4096
	says client.err ' were lost: '
	says_no client.err 'more than the link'
}

# at_most LIMIT STATUS DROP PROGRAM ARG…: of what the client sends, one in DROP is lost. The server's thread has
# $server_had percent of its CPU.
at_most() {
	SIMVERBS_CPU=${server_had-200} SIMVERBS_FAULT=drop:$none server "$4"
	SIMVERBS_FAULT=drop:$3 client "${@:4}" -s 64 --max-loss "$1" --json=c.json
	finish server
	ended client "$2"
	ended server 0
}

@test "--max-loss: how much of a row may be lost" {
	local send=(send_bw -c UD -n 1000 -t 100 --warmup 100 -r 4096)
	at_most 9.9 6 10 "${send[@]}"
	says client.err 'client to server: 10 % of the messages were lost, more than 9.9 % (--max-loss). Fix: see rdmark(7), When messages'
	json c.json '.status == "below_threshold" and .results[0].lost == 100'
	at_most 10% 0 10 "${send[@]}"
	SIMVERBS_CPU=10 at_most 9.9 77 10 "${send[@]}" # no figure, of either end's thread that lacked its CPU
	server_had=90 at_most 9.9 77 10 "${send[@]}"
	at_most 1/1000 6 100 "${send[@]}" --min-bw=900T # the first that is missed, and the others
	says client.err ' of 900 Tb/s (' '(--min-bw 900T). Also 1 % of the messages were lost, more than 0.1 % (--max-loss)'
	at_most 0.9999 6 100 "${send[@]}"
	says client.err ': 1 % of the messages were lost, more than 0.9999 %'
	at_most 0 0 $none "${send[@]}"
	at_most 0 6 1 "${send[@]}"
	says client.err ': 100 % of the messages were lost, more than 0 %'
	at_most 4 6 20 send_lat -c UD -n 100
	says client.err 'of the messages were lost, more than 4 %'
	at_most 1 6 10 write_bw -c UC --write_with_imm -n 1000 -r 4096
}

# bats test_tags=core
@test "bandwidth: on several QPs and threads, by thread" {
	lossy $none 4 send_bw -c UD -q 2 --threads 2 -n 200 -s 64 -t 50 --warmup 0 -r 4096
	json c.json '(.results[0].lost == 200) and ([.results[].by_thread[] | select(.measured_by == "client") | .lost] | add) == 200'
}

@test "bandwidth: in both directions, each its own" {
	lossy 5 4 send_bw -c UD -b -n 200 -s 64 -t 50 --warmup 0 -r 4096
	json c.json '[.results[] | ends.lost, .lost] == [50, 40, 90]'
}

# bats test_tags=core
@test "bandwidth: reversed" {
	SIMVERBS_FAULT=drop:8 server send_bw
	client send_bw --reversed -c UC -n 200 -s 64 -t 50 --warmup 0 -r 4096 --json=c.json
	finish server
	json c.json '[.results[] | ends | [.measured_by, .messages, .lost]] == [["client", 175, 25], ["server", 200, 25]]'
}

@test "bandwidth: all is lost" {
	lossy $none 1 send_bw -c UD -n 100 -s 64
	json c.json '[.results[] | ends | [.measured_by, .messages, .lost]] == [["client", 100, 100]]'
}

@test "bandwidth, asleep: a loop that waits for what was lost is woken" {
	lossy $none 3 send_bw -e -c UD -n 90 -s 64 -t 30 --warmup 0 -r 4096
	json c.json '.results[0].lost == 30'
}

# bats test_tags=core
@test "latency: pings and pongs that are lost are sent again, and are no samples" {
	local program
	for program in 'send_lat -c UD' 'send_lat -c UD --latency_rate 2000' 'send_lat -c UC' 'write_lat -c UC' 'send_lat -e -c UD' \
		'write_lat --write_with_imm -c UC'; do
		# shellcheck disable=SC2086
		lossy 31 17 $program -n 100 -H
		row client.out 9
		[[ ${row[1]} == 100 ]]
		# 3 pings and 5 pongs, or more re-sent ones; two in one trip count once; a slow machine makes some more late
		json c.json '.results[0].lost >= 5 and .results[0].lost <= 60'
		json c.json '.results[0] | .messages == .lost + (.latency_histogram_us | map(.[2]) | add)'
		says client.err 'gave no sample (lost or late); ' ' messages were resent'
		json c.json '.results[0].resent >= 8' # each of them at least once
	done
}

@test "latency: no sample has a wait for what was lost in it" {
	lossy 13 19 send_lat -c UD -n 200 -U
	json c.json '.results[0].latency_max_us < 49500'
	(($(grep -cE '^[0-9]+, [0-9.]+$' client.out) == 200 - $(jq '.results[0].lost' c.json)))
}

@test "latency: a stall is a sample as long as nothing can have been sent again" {
	# Of 32 MiB that is after 2784 ms, of which 99 % count. On a busy machine the stall is longer by what holds up an end.
	server write_lat -c UC
	SIMVERBS_FAULT=delay:3:1800 client write_lat -c UC -s 32m -n 4 --warmup 1 --json=c.json
	finish server
	ended client 0
	json c.json '.results[0] | .lost == null and .resent == null and .latency_max_us > 800000'
	says_no client.err 'no sample'
}

@test "latency: both ends tell the same of what was sent again" {
	SIMVERBS_FAULT=drop:9 server send_lat -c UD --json=s.json
	SIMVERBS_FAULT=drop:7 client send_lat -c UD -n 20 --json=c.json
	finish server
	[[ $(jq -c .results c.json) == "$(jq -c .results s.json)" ]] || fail 'the two ends tell different results'
	json c.json '.results[0] | .lost > 0 and .resent > 0'
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

# bats test_tags=core
@test "a peer that gets nothing: the deadline holds, nothing is sent again for ever" {
	SIMVERBS_FAULT=drop:1 server send_lat --timeout 20 # the client's is over first, even if the client is held up
	client send_lat -c UD --timeout 2
	finish server
	ended client 4
	within client 10
	((status[server] != 0))
}

# bats test_tags=core
@test "receives that are not there lose messages, too" {
	lossy $none $none send_bw -c UD -n 1000 -s 64 --json=c.json
	json c.json '.results[0] | of("server") as $came | $came.messages + ($came.lost // 0) == 1000'
}
