#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# bats file_tags=san
# shellcheck disable=SC2034,SC2154 # what lib/rdmark.bash sets and reads
#
# Both ends under TSan: the measuring thread, the watch and the guard. On the stand-in for libibverbs;
# RDMARK_TSAN names the build.

load ../lib/rdmark

both() { # PROGRAM ARG…: a run that succeeds, and is silent about races
	pair "$@"
	says_no client.err 'WARNING: ThreadSanitizer'
	says_no server.err 'WARNING: ThreadSanitizer'
}

@test "TSan: the measuring thread, the watch and the guard" {
	local program
	[[ ${RDMARK_TSAN-} ]] || skip 'no build with TSan'
	RDMARK_BIN=$RDMARK_TSAN
	for program in "${programs[@]}"; do
		both "$program" -n 200 -s 64
		both "$program" -D 0.3 --interval 0.1 -s 64
	done
	for program in "${fetching_programs[@]}"; do
		both "$program" -n 200 --verify=200
		both "$program" -D 0.3 --interval 0.1
	done
	both atomic_bw --verify=200 -b --threads 2 -q 2 -n 20
	both send_bw -n 20 -q 4 -a
	both send_bw --verify=200 -b --threads 2 -q 2 -n 20 -s 1000 -r 40
	both send_bw -n 200 -b --threads 2 -s 64
	both send_lat -n 200 --threads 3
}

@test "TSan: the guard, with clients that wait and clients that it refuses" {
	[[ ${RDMARK_TSAN-} ]] || skip 'no build with TSan'
	RDMARK_BIN=$RDMARK_TSAN
	server send_bw --persistent --max-qps 2 --max-duration 30
	start_client send_bw -D 30
	until_says client.err ', MTU '
	start second send_bw -p "$port" -n 40 --connect-timeout 60 "$host"
	until_says second.err 'the server is busy with'
	start third send_bw -p "$port" -n 40 --connect-timeout 60 "$host"
	until_says third.err 'the server is busy with'
	start refused send_bw -p "$port" -q 3 "$host"
	finish refused
	ended refused 2
	kill -KILL "${pid[client]}"
	finish client second third
	ended second 0
	ended third 0
	kill -TERM "${pid[server]}"
	finish server
	ended server 0
	says_no server.err 'WARNING: ThreadSanitizer'
	says_no second.err 'WARNING: ThreadSanitizer'
}
