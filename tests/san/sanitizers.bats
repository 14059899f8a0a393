#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck disable=SC2154 # what lib/rdmark.bash sets
#
# Both ends under ASan with UBSan and LeakSanitizer, under TSan (the watch and the guard are threads),
# and under valgrind, on the stand-in for libibverbs. RDMARK_ASAN and RDMARK_TSAN name the builds.

load ../lib/rdmark

export ASAN_OPTIONS=verify_asan_link_order=0:detect_leaks=1 UBSAN_OPTIONS=halt_on_error=1

clean() { # what the sanitizers write is on stderr of either side
	local side
	for side in client server; do
		silent_of "$side.err" 'ERROR: ' 'WARNING: ThreadSanitizer' 'runtime error:' 'definitely lost' 'uninitialised'
	done
}

silent_of() {
	local text words
	contents "$1" text
	for words in "${@:2}"; do
		[[ $text != *"$words"* ]] || fail "$1 says: $words"
	done
}

both() { # PROGRAM ARG…: a run that succeeds cleanly
	pair "$@"
	clean
}

@test "ASan and UBSan: every program, options of all kinds" {
	local program
	[[ ${RDMARK_ASAN-} ]] || skip 'no build with ASan'
	RDMARK_BIN=$RDMARK_ASAN
	for program in "${programs[@]}"; do
		both "$program" -n 200 -s 64
		both "$program" -a -n 5
		both "$program" -D 0.3 --json=c.json --interval 0.1
		both "$program" -n 50 -s 7 --csv=c.csv --out_json_file=o.json -N
	done
	both send_lat -n 50 -U
	both write_lat -n 50 -H --json=c.json
	both send_bw -n 100 -q 8 -l 4 -Q 16 -s 1000
	both write_bw -n 77 -q 64 -t 32
}

@test "ASan and UBSan: faults leak nothing" {
	local fault program
	[[ ${RDMARK_ASAN-} ]] || skip 'no build with ASan'
	RDMARK_BIN=$RDMARK_ASAN
	for program in "${programs[@]}"; do
		for fault in SIMVERBS_FAIL=ibv_create_cq:2:ENOMEM SIMVERBS_FAIL=ibv_create_qp:1+:ENOMEM \
			SIMVERBS_FAULT=reg_max:1000 SIMVERBS_FAIL=ibv_modify_qp:2:EINVAL \
			SIMVERBS_FAIL=ibv_post_send:50+:EIO SIMVERBS_FAULT=wc:2:12 SIMVERBS_FAULT=port_down:50; do
			server "$program" --timeout 3
			through=(env "$fault")
			client "$program" --timeout 3 -n 300 -s 64
			through=()
			finish server
			[[ ${status[client]} == [13] && ${status[server]} == 3 ]] ||
				fail "$program $fault: ${status[client]} ${status[server]}"
			clean
		done
	done
}

@test "ASan and UBSan: strangers and interruptions" {
	[[ ${RDMARK_ASAN-} ]] || skip 'no build with ASan'
	RDMARK_BIN=$RDMARK_ASAN
	server send_bw
	stranger say '{"type":"hello"}' gone
	client send_bw -n 20
	finish server
	ended server 0
	clean
	start cli send_bw --connect-timeout 0.2 -p 1 "$host"
	finish cli
	ended cli 4
	silent_of cli.err 'ERROR: ' 'runtime error:'
}

@test "TSan: the measuring thread, the watch and the guard" {
	local program
	[[ ${RDMARK_TSAN-} ]] || skip 'no build with TSan'
	RDMARK_BIN=$RDMARK_TSAN
	for program in "${programs[@]}"; do
		both "$program" -n 200 -s 64
		both "$program" -D 0.3 --interval 0.1 -s 64
	done
	both send_bw -n 20 -q 4 -a
}

@test "valgrind: no leak, no uninitialised read, both sides" {
	local program
	command -v valgrind >/dev/null || skip 'valgrind is not here (make deps)'
	for program in "${programs[@]}"; do
		deadline=120
		through=("$(command -v valgrind)" -q --leak-check=full --error-exitcode=99)
		pair "$program" -n 20 -s 64 --timeout 60
		through=()
		clean
	done
}
