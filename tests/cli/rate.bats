#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# bats file_tags=standin,long
# shellcheck disable=SC2016,SC2034,SC2154 # $ of jq, a counter; what lib/rdmark.bash sets
#
# --rate_limit on a link whose speed is known, and so low that 128 messages on their way
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
		says client.err 'client: 64 KiB: ' ' of 23.84 MiB/s; ' ' of 600 messages posted late'
		# Of the end that sends alone, at both ends.
		[[ $(grep -c 'posted late' client.err) == 1 && $(grep -c 'posted late' server.err) == 1 ]] || fail 'said of another end'
		says server.err 'client: 64 KiB: '
	done
	pair send_bw --reversed --rate_limit 0.2 -n 100
	[[ $(grep -c 'posted late' client.err) == 1 ]] || fail 'said of another end'
	says client.err 'server: 64 KiB: '
	pair send_bw -b --rate_limit 0.2 -n 100
	[[ $(grep -c 'posted late' client.err) == 2 ]] || fail 'both send'
	local late='[0-9]+ of 100 messages posted late, by up to [0-9.]+ [mun]?s'
	grep -Eq "^[a-z_]*: client: 64 KiB: .*; ($late|none of 100 messages posted late)\$" client.err || fail 'in other words'
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
		'send_bw --rate_limit_type PP' 'write_bw --rate_limit 1z3'; do
		# shellcheck disable=SC2086 # words
		start cli $words 127.0.0.1
		finish cli
		ended cli 2
		says cli.err 'Fix: '
	done
}

