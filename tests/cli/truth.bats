#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# bats file_tags=standin,long
# shellcheck disable=SC2016,SC2154 # $ of jq; what lib/rdmark.bash sets
#
# What the programs print is the truth: time is scripted (SIMVERBS_SCRIPT, tests/standin/verbs/README.md), so
# that it is known to the nanosecond, on any machine.

load ../lib/rdmark

setup_file() {
	export SIMVERBS_NULL=1
	need_scripted_time
}

# Looks that hardly take time, for what shall be exact; only where few look at the clock, which takes some
# us of real time.
sharp='post=0 poll=1 completion=0 clock=1'
# Those of a real program, and of one that looks less often.
real='post=2 poll=20 completion=5 clock=10 latency=2000'
lazy='post=2 poll=90 completion=5 clock=10 latency=2000'

# scripted WORDS PROGRAM ARG…: a pair, the client by this script, its document in c.json. The server has
# no clock of its own, or the one in server_script.
scripted() {
	SIMVERBS_SCRIPT=${server_script-} server "$2"
	SIMVERBS_SCRIPT=$1 client "${@:2}" --json=c.json
	finish server
	ended client 0
	ended server 0
}

# near KEY TRUTH [PART]: the client's KEY in c.json, or that of the end BY, is TRUTH, a jq expression, to a
# PART (0.0002) of it.
near() {
	json c.json "[.results[] | of(\"${BY-client}\") | .$1 / ($2) - 1 | fabs <= ${3-0.0002}] | . != [] and all"
}

@test "bandwidth: the average is all messages in all of the time" {
	scripted "$sharp gap=100 latency=2000" write_bw -s 8 -n 100000 -N
	near bandwidth_gbps '64 / 100 * 10000 / 10002'
	near seconds 0.010002
	near messages_per_s '1e7 * 10000 / 10002'
	scripted "$sharp gap=1310*3,2620 latency=2000" write_bw -s 65536 -n 20000 -N
	near bandwidth_gbps '65536 * 8 / 1637.5'
	scripted "$real gap=200" write_bw -s 4096 -n 5000 -q 4
	near bandwidth_gbps '4096 * 8 * 20000 / (200 * 20000 + 2000)'
}

@test "bandwidth: hold-ups that starve the adapter are part of it" {
	# 128 messages of 20 ns are done long before 100 us: every 200 us half of the time is lost
	scripted "$real gap=20 hold=100000/200000@after" write_bw -s 8 -n 200000
	near bandwidth_gbps '64 / 20 * 102.5 / 200' 0.02
}

@test "bandwidth: -D" {
	scripted "$sharp gap=1000 latency=2000" write_bw -s 64 -D 1 -N
	near bandwidth_gbps '64 * 8 * .messages / (1000 * .messages + 2000)'
	near bandwidth_gbps '.bytes * 8 / .seconds / 1e9' 1e-6
}

@test "bandwidth at the receiver" {
	# a queue full of receives is there before the clock runs: 512 of a million
	server_script="$real recv=20" scripted "gap=20" send_bw -s 8 -n 1000000 -N
	BY=server near bandwidth_gbps '64 / 20' 0.0006
}

@test "bandwidth at a receiver that polls late is not above the sender's" {
	# All has come before the receiver's first poll but one: its own clock would say 100 times the rate.
	server_script="$real recv=1" scripted "$sharp gap=100" send_bw -s 64 -n 100000 -N
	near bandwidth_gbps '64 * 8 / 100' 0.001
	BY=server near bandwidth_gbps '64 * 8 / 100' 0.001
}

@test "bandwidth of UD and UC is the receiver's where that is the lower one, at both ends" {
	local transport
	# A queue full of receives is there before the receiver's clock runs, which starts with its first poll.
	for transport in UD UC; do
		server_script="$real recv=300" scripted "$sharp gap=100" send_bw -c $transport -s 64 -n 100000 -N
		near bandwidth_gbps '64 * 8 / 300' 0.006
		json c.json '[.results[].by_end[].bandwidth_gbps] | length == 2 and (.[0] / .[1] - 1 | fabs < 1e-8)'
		json c.json '[.results[].by_end[].timed_messages] | .[0] == .[1] and .[0] < 100000'
	done
}

@test "latency: shortest, longest, mean, deviation, percentiles" {
	# half of a round trip counts; 985 of 1000 are 1 us, 10 are 3 us, 4 are 10 us, one is 50 us
	server_script=recv=200 scripted "$sharp rtt=2000*985,6000*10,20000*4,100000" send_lat -n 20000
	near latency_min_us 1 0.005
	near latency_max_us 50 0.001
	near latency_p50_us 1 0.005
	near latency_mean_us '.985 + .03 + .04 + .05' 0.005
	near latency_stdev_us '((.985 + .09 + .4 + 2.5) - 1.105 * 1.105) | sqrt' 0.005
	near latency_p99_us 3 0.005
	near latency_p99_9_us 10 0.005
}

# sure KEY TRUTH MOST: of 40 runs, ten at least say an interval for KEY, TRUTH is in nine of ten of them (their 95 % would be
# in fewer in one of 700 tests), and the median one is no wider than MOST percent.
sure() {
	json c.json '[.results[] | of("client")] | length == 40 and all(.slices >= 8) and
		(map(select(.plus_minus_percent)) | length as $known | $known >= 10 and
		([.[] | select((.[$key] / $truth - 1 | fabs) * 100 <= .plus_minus_percent)] | length >= $known * 0.9) and
		(map(.plus_minus_percent) | sort | .[$known / 2 | floor] <= $most))' --arg key "$1" --argjson truth "$2" --argjson most "$3"
}

@test "an interval has the truth in it: noise of 5 %, of each message, of a hundredth, and of a tenth of the run" {
	# The mean of 40000, 100 and 10 such values is off by 0.05, 1 and 3.6 % at most in 95 % of cases.
	scripted "$lazy gap=100~5%" write_bw -s 1000 -n 40000 --repeat 40 -N
	sure bandwidth_gbps 80 0.5
	scripted "$lazy gap=100~5%/400" write_bw -s 1000 -n 40000 --repeat 40 -N
	sure bandwidth_gbps 80 3
	scripted "$lazy gap=100~5%/4000" write_bw -s 1000 -n 40000 --repeat 40 -N
	sure bandwidth_gbps 80 30
	server_script=recv=200 scripted "$sharp rtt=2000~20%/20" send_lat -n 2000 --repeat 40
	sure latency_mean_us 1 8
}

@test "of several averages, one without an interval is named, whichever comes first" {
	local list
	for list in 40,100000 100000,40,100000; do
		scripted "$lazy gap=100~5%" write_bw -s 1000 -n "$list" -N
		says client.err 'too short (-n 40: 1000 B: ' ') for ± (uncertainty), and up to ' '; use -D '
		[[ $(<client.err) != *nan* ]]
	done
}

@test "a short run says by how much its rate is low: the fill of the pipe; where the window is the limit, nothing" {
	local messages gap low
	# the adapter's own rate, and the program's, in messages a second
	for messages in 100 1000 3000; do
		for gap in 100 400; do
			scripted "post=$((gap - 20)) poll=20 clock=1 completion=0 gap=100 latency=4000" write_bw -s 64 -n $messages -N --post-api send
			low=$(jq -r --argjson gap $((gap > 100 ? gap - 20 : 100)) '(1 - .results[0].messages_per_s * $gap / 1e9) * 100 | round' c.json)
			if ((low)); then
				says client.err ", and about $low % low; use -D "
			else
				says_no client.err '% low'
			fi
		done
	done
	scripted 'gap=100 latency=20000' write_bw -s 64 -n 1000 -t 16
	json c.json '.results[0].limit.bound_by == "window"'
	says_no client.err '% low'
	scripted 'gap=100 latency=4000' write_bw -s 64 -n 1000 --rate_limit 1000000p
	says_no client.err '% low'
}

@test "an average of one event is known to nobody" {
	scripted "$lazy gap=10*20000,2000*2000" write_bw -s 1000 -n 22000 -N
	says client.err '± unknown: one or two outliers make most of the variation'
	(($(grep -o 'use -D [0-9]*' client.err | wc -l) == 1)) || fail 'not one advice'
	json c.json '.results[0] | .plus_minus_percent == null and .plus_minus_unknown == "few_events"'
	scripted "$lazy gap=100*20000,120*20000" write_bw -s 1000 -n 40000 -N
	json c.json '.results[0] | .plus_minus_percent == null and (.plus_minus_unknown | IN("few_events", "long_phases"))'
}

@test "a clock that goes back or jumps gives no row" {
	local step
	tsc_is_the_clock
	for step in -5000 -300 -50000000 1000000; do
		clock_fault "$real gap=100 step=2000000:$step" write_bw -s 64 -n 40000
	done
	for step in -5000 1000000; do
		server_script=recv=200 clock_fault "$real rtt=2000 step=2000000:$step" send_lat -n 4000
	done
}

# The kernel's clock has no steps.
tsc_is_the_clock() {
	scripted "$real gap=100" write_bw -s 8 -n 1000 -v
	grep -q 'client clock tsc$' client.err || skip 'the TSC is not the clock here'
}

clock_fault() {
	SIMVERBS_SCRIPT=${server_script-} server "$2"
	SIMVERBS_SCRIPT=$1 client "${@:2}"
	finish server
	ended client 1
	ended server 3 # its peer has failed
	grep -Eq 'measuring: the clock (went back|jumped) during the run: tsc' client.err || fail "$1"
	rows client.out "$([[ $2 == *_bw ]] || echo 9)"
	((${#rows[@]} == 0)) || fail "$1: a row"
}

@test "a clock that goes back or jumps in a loop that does not read it: no row, and the rows before it stay" {
	tsc_is_the_clock
	clock_fault "$sharp gap=100 step=5000000:-50000" write_bw -s 8 -n 100000 -N
	clock_fault "$sharp gap=100 step=5000000:100000" write_bw -s 8 -n 100000 -N
	server write_bw --json=s.json
	SIMVERBS_SCRIPT="$sharp gap=100 step=17000000:-50000" client write_bw -a -n 50000 -N --json=c.json
	finish server
	ended client 1
	ended server 3
	says client.err 'the clock went back during the run: tsc' 'Fix: boot with tsc=unstable or clocksource='
	json c.json '.status == "failed" and .error.code == "local" and (.results | length | . >= 1 and . < 4)'
	json s.json '.status == "failed" and .error.code == "peer" and (.results | length | . >= 1 and . < 4)'
	# 5 us are within what the clocks may part by
	scripted "$sharp gap=100 step=5000000:5000" write_bw -s 8 -n 100000 -N
	near bandwidth_gbps '64 / 100' 0.002
}

@test "latency: an interval's mean is of the round trips, whatever the pauses between them" {
	server_script=recv=200 scripted "$sharp rtt=20000" write_lat -D 1 --latency_gap 20 --write_with_imm --interval 0.2
	near worst_interval_us 10 0.2
}

@test "READs and atomics: all of the round trip, of every figure" {
	local program
	for program in read_lat atomic_lat; do
		# 950 of 1000 take 2 us from post to completion, 50 take 42 us; beside that posting and looks: 4 ns
		scripted "$sharp gap=100*950,40100*50 latency=1900" $program -n 20000
		near latency_min_us 2 0.005
		near latency_p50_us 2 0.005
		near latency_mean_us 4 0.005
		near latency_max_us 42 0.005
		near messages_per_s '1e6 / 4' 0.005
		says client.err '(1000 round trips took 10 x the median or more, the longest 42 us)'
		scripted "$sharp gap=100 latency=9900" $program -D 1 --latency_gap 20 --interval 0.2
		near worst_interval_us 10 0.2
		near latency_mean_us 10 0.005
	done
}

@test "READs and atomics: as many under way as both ends have room for, or as the adapter is fast" {
	local program
	for program in read_bw atomic_bw; do
		scripted "$sharp gap=100 latency=1900" $program -n 20000 -N -o 4
		near messages_per_s '4e9 / 2000' 0.002
		scripted "$sharp gap=100 latency=1900" $program -n 20000 -N -o 4 -q 3
		near messages_per_s '12e9 / 2000' 0.01
		scripted "$sharp gap=1000 latency=1900" $program -n 20000 -N
		near messages_per_s '1e9 / 1000' 0.002
		SIMVERBS_DEVICES='sim0 gid.5=v2/127.0.0.1 max_rd=6 max_init_rd=5' scripted "$sharp gap=1 latency=1999" $program -n 20000 -N
		near messages_per_s '5e9 / 2000' 0.002
		json c.json '.effective.outs == 5'
	done
}

@test "-U: no page of the samples comes while the clock runs" {
	server_script=recv=200 scripted "$sharp rtt=2000" send_lat -n 20000 -U
	json c.json '.results[0].quality.minor_faults < 20'
}

# --- the peak ----------------------------------------------------------------------------------

# peak COSTS GAP SIZE ARG…: the peak is never more than 1.02 times what an adapter with this gap can do,
# wherever the thread is held up: for a few us many times, or for long.
peak() {
	local costs=$1 gap=$2 size=$3 hold place
	for place in before after clock; do
		for hold in "hold=1000/97000@$place hold=5000/131000@$place hold=2000/53000@$place" "hold=100000/1000000@$place"; do
			scripted "$costs gap=$gap $hold" write_bw -s "$size" "${@:4}"
			json c.json '.results[] | of("client") | .bandwidth_peak_gbps * $gap / $size / 8 <= 1.02' \
				--argjson gap "$gap" --argjson size "$size" || { echo "$hold"; jq -c .results c.json; return 1; }
		done
	done
}

@test "the peak is never above the adapter's rate: 8 B" {
	peak "$real" 20 8 -n 100000
	peak "$real" 20 8 -n 25000 -q 4
}

@test "the peak is never above the adapter's rate: 8 B, a completion for each" {
	peak "$real" 20 8 -n 100000 -Q 1
	peak "$real" 20 8 -n 25000 -q 4 -Q 1
}

@test "the peak is never above the adapter's rate: 64 KiB" {
	peak "$lazy" 1310 65536 -n 4000
	peak "$lazy" 1310 65536 -n 1000 -q 4
}

@test "the peak is never above the adapter's rate: short queues, in which one message is much" {
	peak "$lazy" 500 64 -n 500 -Q 1 -t 1
	peak "$lazy" 500 64 -n 3000 -Q 1 -t 16
	peak "$lazy" 500 64 -n 3000 -Q 4 -t 16
}

@test "--rate_limit: the rate, however few messages or large bursts" {
	local words
	for words in '-s 64k -n 2' '-s 64k -n 1' '-s 64 -n 1000 --burst_size 300' '-s 64 -n 5000 --burst_size 1000' '-s 4k -n 30 -q 3'; do
		# shellcheck disable=SC2086 # words
		scripted "gap=20 clock=100" write_bw --rate_limit 0.5 -N $words
		near bandwidth_gbps 0.5 0.005
	done
}

@test "the peak is never above the adapter's rate: slowed down, in lists, by ibv_wr_*" {
	peak "$real" 20 8 -n 100000 -l 16 --post-api wr
	peak "$real" 20 8 -n 8000 --rate_limit 0.5
}

@test "the peak is that of the faster half" {
	local list
	scripted "$lazy gap=1310*1000,2620*1000" write_bw -s 65536 -n 2000
	faster_half 1310 65536
	for list in '' '-Q 1' '--post-api wr'; do
		# shellcheck disable=SC2086 # words
		scripted "$real gap=20*50000,40*50000" write_bw -s 8 -n 100000 $list
		faster_half 20 8
	done
	scripted "$real gap=20*50000,40*50000 hold=3000/300000@after" write_bw -s 8 -n 100000
	faster_half 20 8
}

# faster_half GAP SIZE: the peak is that of this gap.
faster_half() {
	json c.json '.results[0].bandwidth_peak_gbps * $gap / $size / 8 | . >= 0.95 and . <= 1.02' --argjson gap "$1" --argjson size "$2"
}

# --- many runs ---------------------------------------------------------------------------------

# repeated GAPS ARG…: runs of 10000 messages of 8 bytes, without a warm-up; GAPS has words for each run.
repeated() {
	scripted "$sharp latency=2000 gap=$1" write_bw -s 8 -n 10000 -N --warmup 0 "${@:2}"
}

# The client's summary is so, and the mean is within PERCENT of a gap of 100 ns.
summed_up() {
	json c.json ".summaries[0] | $1"
	json c.json '.summaries[0].bandwidth_gbps.mean * 1000200 / 640000 - 1 | fabs < $percent / 100' --argjson percent "$2"
}

@test "--until-stable: noise from run to run is taken for what it is" {
	local seed
	for seed in 1 2 3; do
		repeated "100~2%/10000 seed=$seed" --until-stable 1
		summed_up '.stable and .interval_percent <= 1 and .runs >= 10' 1.5
	done
	repeated '100~0.2%/10000' --until-stable 1
	summed_up '.stable and .interval_percent < 0.6 and .runs == 10' 0.6
	repeated '100~5%/10000' --until-stable 1 --repeat 30
	summed_up '.judged != "reached" and .stable == false and .runs == 30 and .interval_percent > 1' 3
	says client.err '; not stable: '
}

@test "--until-stable: what rises is not stable, and says by how much" {
	local rising=119,118,117,116,115,114,113,112,111,110,109,108,107,106,105,104
	repeated "${rising//,/*10000,}*10000" --until-stable 1 --repeat 16
	json c.json '.summaries[0] | .judged == "halves_differ" and .stable == false and .runs == 16'
	says client.err '; not stable: the second half of the runs is 7' ' % higher than the first'
}
