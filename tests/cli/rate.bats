#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# bats file_tags=standin,long
# shellcheck disable=SC2016,SC2034,SC2154 # $ of jq, a counter; what lib/rdmark.bash sets
#
# --rate_limit and --load on a link whose speed is known, and so low that 128 messages on their way
# last longer than a busy machine leaves a process waiting.

load ../lib/rdmark

setup_file() {
	export SIMVERBS_GBPS=0.4 SIMVERBS_LATENCY_NS=5000
	need_device
}

# rate BY LOW HIGH PROGRAM ARG…: what BY measured is never above HIGH Gb/s, and in the best of four runs at least LOW.
rate() { tries 1 4 "$(gbps_of "$1") >= $2" never_above "$3" "$1" "${@:4}"; }

never_above() {
	pair "${@:3}" --json=c.json
	json c.json "$(gbps_of "$2") <= $1"
}

gbps_of() { echo "(.results[] | if .by_end then .by_end.$1 else select(.measured_by == \"$1\") end | .bandwidth_gbps)"; }

@test "a rate of half the link gives half of it" {
	local program
	for program in "${bandwidth_programs[@]}"; do
		rate client 0.18 0.20001 "$program" --rate_limit 0.2 -n 600
		json c.json '.experiment.rate_limit == "0.2g" and .results[0].rate_limit_gbps == 0.2'
		says client.err 'rdmark: client: 64 KiB: ' ' of 23.84 MiB/s; ' ' of 600 messages posted late'
		# Of the end that sends alone, at both ends.
		[[ $(grep -c 'posted late' client.err) == 1 && $(grep -c 'posted late' server.err) == 1 ]] || fail 'said of another end'
		says server.err 'rdmark: client: 64 KiB: '
	done
	pair send_bw --reversed --rate_limit 0.2 -n 100
	[[ $(grep -c 'posted late' client.err) == 1 ]] || fail 'said of another end'
	says client.err 'rdmark: server: 64 KiB: '
	pair send_bw -b --rate_limit 0.2 -n 100
	[[ $(grep -c 'posted late' client.err) == 2 ]] || fail 'both send'
	local late='[0-9]+ of 100 messages posted late, by up to [0-9.]+ [mun]?s'
	grep -Eq "^rdmark: client: 64 KiB: .*; ($late|none of 100 messages posted late)\$" client.err || fail 'in other words'
}

@test "a rate above the link gives the link's, and most messages are late" {
	rate client 0.36 0.4001 write_bw --rate_limit 0.8 -n 600
	json c.json '.results[0] | .rate_limit_gbps == 0.8 and .late_messages > 300 and .late_max_us > 100000'
}

@test "units: MiB/s, messages, a letter behind the number; in any order" {
	# 0.2 Gb/s each
	local options
	for options in '--rate_limit 23.841858 --rate_units M' '--rate_units p --rate_limit 381.469727' '--rate_limit=381.469727p'; do
		# shellcheck disable=SC2086 # words
		rate client 0.18 0.20001 write_bw -n 400 $options
		json c.json '.results[0].rate_limit_gbps - 0.2 | fabs < 1e-6'
	done
}

@test "with -q, -l, --burst_size, -D, --reversed: half of the link all the same" {
	rate client 0.18 0.20001 write_bw --rate_limit 0.2 -s 8k -q 3 -l 4 --burst_size 8 -D 1
	json c.json '.experiment.burst_size == 8 and .results[0].seconds < 10'
	rate server 0.18 0.20001 send_bw --rate_limit 0.2 --reversed -n 400
}

# The pause behind the last burst is part of its time: at both ends, whatever the number of bursts.
@test "never above the rate: few messages, large bursts, a duration that ends within a burst" {
	# A pair of messages that takes 1.05 s: what others take of it is not 20 %.
	rate client 0.0008 0.00100001 write_bw --rate_limit 0.001 -n 2
	rate client 0.18 0.20001 send_bw --rate_limit 0.2 -s 32k -n 800 --burst_size 200
	json c.json '[.results[].by_end[] | .bandwidth_gbps <= 0.20001] | all and length == 2'
	# A burst of 300 takes 300 ms by the schedule, so four or five of them are sent.
	rate client 0.0072 0.0080001 write_bw --rate_limit 1000p -s 1000 -D 1 --burst_size 300
	json c.json '.results[0].messages % 300 == 0'
}

@test "-b: the rate in each direction; --threads: all together have it" {
	rate client 0.09 0.10001 send_bw --rate_limit 0.1 -b -n 300
	rate server 0.09 0.10001 send_bw --rate_limit 0.1 -b -n 300
	json c.json '.results[0] | .direction == "both" and .rate_limit_gbps == 0.2'
	rate client 0.09 0.10001 write_bw --rate_limit 0.1 --threads 2 -q 2 -n 75
	json c.json '[.results[] | ., .by_thread[] | .rate_limit_gbps] == [0.1, 0.05, 0.05]'
}

@test "-a: a schedule for every size" {
	pair write_bw --rate_limit 100000p -a -n 5
	rows client.out 5
	((${#rows[@]} == 23))
}

@test "a pause that would be taken for a stuck peer is refused" {
	server write_bw
	client write_bw --rate_limit 0.1p -n 5
	finish server
	ended client 2
	says client.err 'one post in 10 s' '--timeout'
}

@test "what has no schedule says so" {
	local words
	for words in 'write_lat --rate_limit 1' 'write_bw --rate_limit max' 'send_bw --rate_limit 1 --rate_limit_type HW' \
		'send_bw --rate_limit_type PP' 'write_bw --load 1' 'send_lat --load 1 -R' 'send_lat --load 1x' 'write_bw --rate_limit 1z3'; do
		# shellcheck disable=SC2086 # words
		start cli $words 127.0.0.1
		finish cli
		ended cli 2
		says cli.err 'Fix: '
	done
}

# loaded LEAST ARG…: a ping-pong beside a load, which is at least LEAST Gb/s in the best of four runs: on a busy machine the
# stream gets less of a CPU.
loaded() { tries 1 4 ".results[0].load_gbps >= $1" beside_load "${@:2}"; }

# A ping waits behind the stream's queue if that is full most of the time.
beside_load() {
	pair "$@" --json=c.json
	json c.json '.results[0] | .load_gbps < 0.401 and (.load_gbps < 0.36 or .latency_p50_us > 6000)'
}

# The stream's queue, 128 messages of 8 KiB, takes the link 21 ms: each ping waits behind it.
@test "--load: the ping-pong waits behind the stream, and the result says what that was" {
	local program
	for program in "${latency_programs[@]}"; do
		pair "$program" -n 30 --warmup 10 --json=c.json
		json c.json '.results[0] | .load_gbps == null and .latency_min_us < 4000'
		loaded 0.36 "$program" -n 30 --warmup 10 --load max --load-size 8k --csv=full:c.csv
		json c.json '.experiment.load == "max" and (.results | length == 1 and (.[0] | has("by_end") | not))'
		grep -Eq 'during a load of [0-9.]+ Gb/s$' client.err || fail 'not said'
		says server.err 'during a load of '
		[[ $(<c.csv) == *,load_gbps,* ]]
		rm c.csv
	done
}

@test "--load of a rate and a size" {
	loaded 0.05 write_lat -D 2 --load 0.1 --load-size 16k
	json c.json '.results[0].load_gbps < 0.105'
	json c.json '.experiment | .load == "0.1g" and .load_size_bytes == 16384'
}

@test "--load with --threads: each has its samples beside it" {
	pair send_lat --threads 2 -n 20 --load 0.1 --json=c.json
	json c.json '.results[0] | .messages == 40 and .load_gbps > 0'
}

@test "--load -a: beside every size" {
	pair write_lat -a -n 2 --warmup 1 --load 0.1 --load-size 1k --json=c.json
	json c.json '(.results | length) == 23 and all(.results[]; .load_gbps > 0)'
}

@test "a peer that dies under load is noticed" {
	server write_lat --timeout 3
	proxy
	start_client write_lat -D 100 --load max --load-size 8k --warmup 5 --timeout 3
	await 'client round' 'server ready' 'client round' 'server ready' 'client alive'
	kill -KILL "${pid[server]}"
	finish client server
	ended_with_any client 3 4
	within client 30
}

@test "a signal ends a loaded run, and what was measured is printed" {
	server write_lat
	proxy
	start_client write_lat -D 100 --load 0.1 --load-size 8k --warmup 5 --json=c.json
	await 'client round' 'server ready' 'client round' 'server ready' 'client alive'
	kill -INT "${pid[client]}"
	finish client server
	ended client 130
	json c.json '.status == "interrupted" and .results[0].load_gbps > 0'
}
