#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# bats file_tags=standin,rxe,plain
# shellcheck disable=SC2034,SC2154 # what lib/rdmark.bash sets and reads
#
# Under chrt, on one CPU: what spins lets those run who end it, and the peer. tests/unit/test_turns.c
# has what needs no privilege.

load ../lib/rdmark
load ../lib/gpu

# in_class CLASS: both ends have it, and the last CPU that this process may use.
in_class() {
	through=(taskset -c "$cpu" chrt "$1" 5)
	deadline=30
}

setup_file() {
	need_device
	cpu=$(taskset -cp $BASHPID)
	export cpu=${cpu##*[ ,-]}
	chrt -f 5 true 2>/dev/null || skip_file 'no right to SCHED_FIFO (CAP_SYS_NICE)'
}

@test "all programs end on one CPU, both ends in a real-time class" {
	local class program
	for class in -f -r; do
		in_class "$class"
		for program in "${measuring_programs[@]}"; do
			server "$program"
			client "$program" -D 0.3
			finish server
			ended client 0
			ended server 0
		done
	done
}

@test "gdr_bw ends on one CPU, too" {
	[[ ${RDMARK_PRELOAD-} ]] || skip 'needs a GPU'
	driver
	in_class -f
	server gdr_bw
	client gdr_bw --plain -n 20
	finish server
	ended client 0
	ended server 0
}

@test "--verify, -b, several threads, a load and a schedule end on one CPU" {
	in_class -f
	pair write_lat -n 20 --verify
	pair send_bw -n 100 --verify
	pair send_bw -b -D 0.3
	pair write_bw --threads 2 -D 0.3
	pair send_lat --latency_rate 1k -D 0.3
}

@test "a priority below the peer's is no standstill" {
	in_class -f
	server write_lat
	through=(taskset -c "$cpu" chrt -f 10)
	client write_lat -n 20
	finish server
	ended client 0
	ended server 0
}

@test "a signal ends the loop" {
	in_class -f
	server write_bw
	start_client write_bw -D 60 --interval 0.1
	until_says client.err 'messages/s'
	kill -TERM "${pid[client]}"
	finish client server
	ended client 143
}

@test "the tour, and a server of every test" {
	in_class -r
	server 'rdmark server'
	client rdmark
	kill -TERM "${pid[server]}"
	finish server
	ended client 0
	ended server 0
}
