#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# bats file_tags=standin
# shellcheck disable=SC2016,SC2154 # $ of jq; what lib/rdmark.bash sets
#
# What a ping-pong's samples hide, against round trips that are known to the nanosecond: time is
# scripted (SIMVERBS_SCRIPT, tests/standin/verbs/README.md).

load ../lib/rdmark

setup_file() {
	export SIMVERBS_NULL=1
	need_scripted_time
}

# scripted RTT PROGRAM ARG…: a pair whose client has these round trips, from the first one on, its document in c.json. Looks at the
# clock and the CQ hardly take time, but there are not too many of them.
scripted() {
	SIMVERBS_SCRIPT=recv=200 server "$2"
	SIMVERBS_SCRIPT="post=0 poll=10 completion=0 clock=5 rtt=$1" client "${@:2}" --warmup 0 --json=c.json
	finish server
	ended client 0
	ended server 0
}

# near KEY TRUTH: the result's KEY is TRUTH, a jq expression, to 1 % of it: what the looks take.
near() {
	json c.json ".results[0].$1 / ($2) - 1 | fabs <= 0.01"
}

@test "a stall of a tenth of all time: its share, in the document and after the row" {
	local program
	for program in send_lat "write_lat --write_with_imm"; do
		# shellcheck disable=SC2086
		scripted 2000*999,224000 $program -n 1000
		near latency_p99_us 1
		json c.json '.results[0].stalls == 1'
		near stall_percent '100 * 222 / (999 * 2 + 224)'
		grep -Eq '^[a-z_]*: 2 B: stalls took (9\.9|10\.0) % of the run \(1 round trip took 10 x the median or more, the longest 220 us\), and percentiles count each once; for a steady sender, use --latency_rate$' \
			client.err || fail 'not said'
	done
}

@test "--omit: what is slow in the first seconds is in no figure" {
	scripted 50000*3,2000*999999999 send_lat -n 1000
	near latency_max_us 25
	scripted 50000*3,2000*999999999 send_lat -n 1000 --omit 0.3
	near latency_max_us 1
	json c.json '.experiment.omit_s == 0.3 and .results[0].messages == 1000'
}

@test "several stalls, of different lengths" {
	scripted 2000*180,9000*10,40000*8,150000,2000*200,700000 send_lat -n 4400
	json c.json '.results[0].stalls == 110'
	near stall_percent '100 * (8 * 38 + 148 + 698) / (380 * 2 + 90 + 320 + 850)'
	says client.err ' (110 round trips took 10 x the median or more'
}

# advised: -D of ten times what the document says that it took, which is a hold-up longer on a busy machine.
advised() {
	says client.err 'too short (' 's) for ± (uncertainty)'
	(($(sed -n 's/^[a-z_]*: too short .*; use -D //p' client.err) >= $(jq '[1, (.results[0].seconds * 10 | ceil)] | max' c.json))) ||
		fail "not long enough: $(<client.err)"
}

@test "too few round trips in a run that was long: a longer one than that is advised" {
	SIMVERBS_NULL=0 pair send_lat -D 0.4 --latency_gap 100000 --json=c.json
	json c.json '.results[0].seconds > 0.1'
	advised
	SIMVERBS_NULL=0 pair send_lat -n 2 --json=c.json
	advised
}

@test "without a stall nothing is said" {
	scripted 2000*90,3000*9,3900 send_lat -n 2000
	json c.json '.results[0] | has("stalls") or has("stall_percent") | not'
	says_no client.err stalls
	# less than ten times the median is none
	scripted 2000*99,19000 send_lat -n 2000
	json c.json '.results[0] | has("stalls") | not'
}

@test "--latency_rate: a round trip of 100 us makes twelve wait that are due every 10 us" {
	# half of 100 us; then 90, 82 … 2 us until it is sent, and half of 2 us
	scripted 2000*49,100000,2000*200 send_lat -n 98 --latency_rate 100000 --report-unsorted
	near latency_max_us 91
	near latency_mean_us '(85 + 50 + 12 * 91 - 8 * 66) / 98'
	near latency_p50_us 1
	json c.json '.results[0] | .late_messages == 12'
	near late_max_us 90
	near messages_per_s 1e5
	near seconds 98e-5
	# the looks of all that were late add up
	grep -E '^[0-9]+, [0-9.]+$' client.out | awk -F ', ' '
		{ want = $1 < 50 || $1 > 62 ? 1 : $1 == 50 ? 50 : 91 - 8 * ($1 - 51); off = $2 - want }
		off < -0.01 || off > 0.2 { print "sample " $1 ": " $2 ", not " want; bad = 1 }
		END { exit bad || NR != 98 }'
	json c.json '.results[0] | has("stalls") or has("stall_percent") | not'
	json c.json '.experiment.latency_rate_per_s == 100000'
	grep -Eq '^[a-z_]*: 2 B: [0-9]+ of 100000 messages/s; 12 of 98 messages posted late, by up to 9[01] us$' client.err || fail 'not said'
}

@test "--latency_rate: above what round trips can reach each message waits longer than the one before" {
	scripted 2000 send_lat -n 50 --latency_rate 1000000
	near latency_max_us '1 + 49'
	near latency_mean_us '1 + 24.5'
	json c.json '.results[0].late_messages == 48 or .results[0].late_messages == 49'
	near messages_per_s 5e5
}
