#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# SIMVERBS_SCRIPT: time goes by as it says, to a fraction of a nanosecond, by either clock.
# SIMVERBS_TRACE: when sends were posted and completed.

load pair.bash

setup_file() {
	[ "$(uname -m)" = x86_64 ] || skip "only on x86-64"
	export CLOCKS=raw
	! "$ROOT/build/tests/scripted" traps || CLOCKS='tsc raw'
}

# What only the TSC shows.
need_tsc() { [[ $CLOCKS == tsc* ]] || skip 'this kernel does not trap rdtsc'; }

# run_scripted SCRIPT ARG…: what the program sees; more of the script is to be cheap.
run_scripted() {
	SIMVERBS_SCRIPT="post=2 poll=20 completion=5 clock=10 $1" LD_PRELOAD=$SIM timeout 60 "$ROOT/build/tests/scripted" "${@:2}"
}

# sees EXPECTED SCRIPT ARG…: by both clocks, or by CLOCK if that is set.
sees() {
	local clock got
	[[ ${CLOCK-} != tsc ]] || need_tsc
	for clock in ${CLOCK:-$CLOCKS}; do
		got=$(run_scripted "$2" "$clock" "${@:3}" | xargs)
		[ "$got" = "$1" ] || { echo "$clock, $2: $got, not $1"; return 1; }
	done
}

@test "what a look at the clock costs; the TSC shows fractions of a nanosecond" {
	sees "10 20 30 40" "" clock 4
	sees "25 50" "clock=25" clock 2
	CLOCK=tsc sees "0.25 0.5" "clock=0.25" clock 2
}

@test "requests: one after the other, seen a latency later" {
	sees "2102 2202 2302" "gap=100 latency=2000 post=0 poll=1 completion=0 clock=1" send 3
	CLOCK=tsc sees "1 1.5 2 2.5" "gap=0.5 latency=0 post=0 poll=0.25 completion=0 clock=0.25" send 4
}

@test "READs: as many at a time as the queue pair may have" {
	local free="post=0 poll=1 completion=0 clock=1"
	sees "2102 2202 4202 4302 6302" "gap=100 latency=2000 $free" read 5
	# as fast as the adapter, where that has more to do
	sees "1102 2102 3102" "gap=1000 latency=100 $free" read 3
}

@test "what posts, looks and completions cost" {
	# a turn of the loop takes 30; one with a completion 5 more
	sees "2145 2240 2335 2430 2525" "gap=100 latency=2000" send 5
	sees "2155 2260" "gap=100 latency=2000 post=50 poll=10 completion=0 clock=5" send 2
}

@test "lists: run lengths, and from the start again; receives have their own" {
	sees "19 28 1029 1038 1049 2048" "gap=10*2,1000 latency=0 poll=1 clock=1" send 6
	sees "65 130 165" "recv=50" recv 3
}

@test "noise: the same each time, another one by another seed" {
	local one two
	one=$(run_scripted "gap=1000~10%/2 latency=0" ${CLOCKS%% *} send 6)
	two=$(run_scripted "gap=1000~10%/2 latency=0" ${CLOCKS%% *} send 6)
	[ "$one" = "$two" ]
	two=$(run_scripted "gap=1000~10%/2 latency=0 seed=7" ${CLOCKS%% *} send 6)
	[ "$one" != "$two" ]
	two=$(run_scripted "gap=1000 latency=0" ${CLOCKS%% *} send 6)
	[ "$one" != "$two" ]
}

@test "round trips" {
	sees "2017 2017 517 2017 2017 517" "rtt=2000*2,500" pingpong 6
}

@test "hold-ups: before and after a look, and at the clock" {
	# A look begins at 2082, and what is under way has come at 2112.
	sees 2137 "" send 1
	sees 2607 "hold=500/100000+2082@before" send 1
	sees 2637 "hold=500/100000+2082@after" send 1
	sees "2017 2017 2017 2017 5017 2017" "rtt=2000 hold=3000/10000@clock" pingpong 6
}

@test "the TSC alone may jump" {
	CLOCK=tsc sees "4.75 21.75 31.75 41.75" "step=15:-5.25 step=25:7" clock 4
	CLOCK=raw sees "10 20 30 40" "step=15:-5.25 step=25:7" clock 4
}

@test "another thread may look; all other clocks are real" {
	sees 0 "" threads 1000
	sees yes "" others 1
}

@test "a word that it does not know is said, and the program does not run" {
	local word
	for word in gap=x poll=0 clock=0 hold=5/4@after hold=5/100@never nonsense latency step=5 "rtt=1,"; do
		run run_scripted "$word" tsc clock 1
		[ "$status" = 1 ]
		[[ $output == "simverbs: SIMVERBS_SCRIPT: "* && $output == *"${word%%=*}"* ]]
	done
}

@test "who only execs the program is left alone" {
	SIMVERBS_SCRIPT=gap=1 LD_PRELOAD=$SIM env taskset -c 0 "$ROOT/build/tests/scripted" tsc clock 1
}

@test "a trace: when the first send was posted, and when how many were completed" {
	cd "$BATS_TEST_TMPDIR"
	SIMVERBS_TRACE=trace run_scripted "gap=30000 latency=0 poll=1000" tsc send 4
	awk 'NR == 1 { first = $1 } { n++; last = $2; if ($1 < was) exit 1; was = $1 }
		END { exit !(n == 5 && last == 4 && was - first >= 119000 && was - first <= 121000) }' trace
	# real time, and requests that move data
	SIMVERBS_TRACE=trace LD_PRELOAD=$SIM timeout 60 "$ROOT/build/tests/semantics" rc
	awk '$1 < was || $2 < count { exit 1 } { was = $1; count = $2 } END { exit !(count > 0) }' trace
}
