#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# bats file_tags=san
# shellcheck disable=SC2034,SC2154 # what lib/rdmark.bash sets and reads
#
# Both ends under valgrind, on the stand-in for libibverbs.

load ../lib/rdmark

@test "valgrind: no leak, no uninitialised read, both sides" {
	local program
	command -v valgrind >/dev/null || skip 'valgrind is not here (make deps)'
	through=("$(command -v valgrind)" -q --leak-check=full --error-exitcode=99)
	for program in "${programs[@]}"; do
		pair "$program" -n 20 -s 64 --timeout 60
		says_no client.err 'definitely lost' uninitialised '== Invalid'
		says_no server.err 'definitely lost' uninitialised '== Invalid'
	done
	for program in "${fetching_programs[@]}"; do
		pair "$program" -n 20 --verify=20 --timeout 60
		says_no client.err 'definitely lost' uninitialised '== Invalid'
		says_no server.err 'definitely lost' uninitialised '== Invalid'
	done
}

@test "valgrind: tests that time calls" {
	command -v valgrind >/dev/null || skip 'valgrind is not here (make deps)'
	through=("$(command -v valgrind)" -q --leak-check=full --error-exitcode=99)
	pair connect_lat -n 10 --threads 2 --timeout 60
	says_no client.err 'definitely lost' uninitialised '== Invalid'
	says_no server.err 'definitely lost' uninitialised '== Invalid'
	start reg reg_lat -s 4k,64k -n 10 --threads 2
	finish reg
	ended reg 0
	says_no reg.err 'definitely lost' uninitialised '== Invalid'
}

@test "valgrind: a server that stays, with a line, refusals, a dead client and garbage" {
	command -v valgrind >/dev/null || skip 'valgrind is not here (make deps)'
	through=("$(command -v valgrind)" -q --leak-check=full --error-exitcode=99)
	server send_bw --persistent --max-qps 2 --timeout 60
	through=()
	start_client send_bw -D 60
	until_says client.err ', MTU '
	start second send_bw -p "$port" -n 40 --timeout 60 --connect-timeout 60 "$host"
	until_says second.err 'the server is busy with'
	start third send_bw -p "$port" -n 40 --connect-timeout 60 "$host"
	until_says third.err 'the server is busy with'
	start refused send_bw -p "$port" -q 3 "$host"
	stranger bytes 'GET / HTTP/1.0\r\n\r\n' gone
	finish refused
	ended refused 2
	kill -KILL "${pid[third]}"
	kill -KILL "${pid[client]}"
	finish client second third
	ended second 0
	kill -TERM "${pid[server]}"
	finish server
	ended server 0
	says_no server.err 'definitely lost' uninitialised '== Invalid'
}
