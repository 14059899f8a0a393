#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# bats file_tags=standin,san
# shellcheck disable=SC2016,SC2154 # $ of jq; what lib/rdmark.bash sets
#
# --latency_rate: that it runs in all ways. What it measures: tests/cli/latency.bats.

load ../lib/rdmark

setup_file() { need_device; }

@test "never faster than it says, to the last message" {
	local program
	for program in "${latency_programs[@]}"; do
		pair "$program" -n 60 --latency_rate 200 --json=c.json
		json c.json '.experiment.latency_rate_per_s == 200
			and (.results[0] | .messages == 60 and .seconds >= 0.2999 and .messages_per_s <= 200.1 and .latency_min_us > 0)'
		says client.err ' of 200 messages/s; '
		pair "$program" --threads 2 -n 30 --latency_rate 200 --json=c.json
		json c.json '.results[0] | .messages == 60 and .seconds >= 0.2999 and .messages_per_s <= 200.1'
		pair "$program" -D 0.3 --latency_rate 100 --json=c.json
		json c.json '.results[0] | .messages >= 1 and .messages <= .seconds * 100 + 2'
	done
}

# bats test_tags=core
@test "sleeping, over UC and UD, every sample, a pause as long as the timeout allows" {
	pair send_lat -e -n 20 --latency_rate 100
	pair send_lat -c UD -n 20 --latency_rate 100
	pair write_lat -c UC -n 20 --latency_rate 100 -U --json=c.json
	# A busy machine can make a round trip so late that it counts as lost.
	[[ $(grep -cE '^[0-9]+, [0-9.]+$' client.out) == $(jq '.results[0] | 20 - (.lost // 0)' c.json) ]] || fail 'not 20 samples'
	pair send_lat -n 3 --latency_rate 1 --timeout 6
}

@test "--interval: the mean is of the messages, not of what is between them" {
	pair write_lat -D 1 --interval 0.3 --latency_rate 20 --json=c.json
	# A message each 50 ms: with the time between them no interval's mean would be below the longest.
	json c.json '.results[0] | .worst_interval_us <= .latency_max_us * 2'
}

@test "refused: with a pause, so slow that the peer would seem stuck, in a bandwidth test" {
	server send_lat
	client send_lat --latency_rate 1 --timeout 1
	finish server
	ended client 2
	says client.err '--latency_rate is too low: one message per thread in 1 s, with a --timeout of 1 s' 'Fix: use a higher rate'
	start client send_lat --latency_rate 5 --latency_gap 5 127.0.0.1
	finish client
	ended client 2
	says client.err '--latency_rate cannot be used with --latency_gap'
	start client send_bw --latency_rate 5 127.0.0.1
	finish client
	ended client 2
	says client.err latency_rate 'a bandwidth test'
}
