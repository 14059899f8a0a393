#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# bats file_tags=standin
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

# bats test_tags=rxe
@test "all programs end on one CPU, both ends in a real-time class" {
	local program
	in_class -f
	for program in "${measuring_programs[@]}"; do
		server "$program"
		client "$program" -D 0.3
		finish server
		ended client 0
		ended server 0
	done
}

@test "gdr_bw ends on one CPU, too" {
	driver
	in_class -f
	server gdr_bw
	client gdr_bw --plain -n 20
	finish server
	ended client 0
	ended server 0
}

@test "--verify, -b, -e, several threads and a schedule end on one CPU" {
	in_class -f
	pair write_lat -n 20 --verify=200
	pair send_bw -n 100 --verify=200
	pair send_bw -b -D 0.3
	pair send_bw -e -D 0.3
	pair write_bw --threads 2 -D 0.3
	pair send_lat --latency_rate 1k -D 0.3
}

@test "a priority below the peer's is no standstill, with a schedule neither" {
	local arguments
	for arguments in 'write_lat -n 20' 'write_lat -n 20 --latency_rate 1k' 'send_bw -n 1000 --rate_limit 1'; do
		in_class -f
		server "${arguments%% *}"
		through=(taskset -c "$cpu" chrt -f 10)
		# shellcheck disable=SC2086 # words
		client $arguments
		finish server
		ended client 0
		ended server 0
	done
}

# measuring PROGRAM [ARG…]: a server that lasts, and a client that measures for longer than the test.
measuring() {
	in_class -f
	server "$1" --persistent
	start_client "$@" -D 60 --interval 0.1
	until_says client.err 'messages/s'
}

@test "a signal ends the loop, at both ends" {
	measuring write_bw
	kill -TERM "${pid[client]}"
	finish client
	ended client 143
	start_client write_bw -D 60 --interval 0.1
	until_says client.err 'messages/s'
	kill -TERM "${pid[server]}"
	finish client server
	ended client 0
	ended server 0
}

@test "a deadline ends it" {
	measuring send_bw --timeout 1
	kill -STOP "${pid[server]}"
	finish client
	ended_with_any client 3 4 # no message, or no completion before that
	says client.err ' for 1 s'
}

# deadline_class OPTION: what starts a program in SCHED_DEADLINE.
deadline_class() { through=(chrt "$1" --sched-runtime 100000000 --sched-deadline 200000000 --sched-period 200000000 0); }

@test "SCHED_DEADLINE: the class is the cause, not a limit, nor a filter" {
	deadline_class -d
	"${through[@]}" true 2>/dev/null || skip 'no SCHED_DEADLINE here'
	through=()
	server write_bw
	deadline_class -d
	client write_bw -n 20
	ended client 1
	says client.err 'pthread_create: ' 'A thread in SCHED_DEADLINE cannot start another one. Fix: use chrt -R -d, or another class'
	says_no client.err RLIMIT_NPROC
	deadline_class -Rd
	client write_bw -n 20 --numa none
	finish server
	ended client 0
}

@test "SCHED_DEADLINE: nor are its threads pinned" {
	deadline_class -Rd
	"${through[@]}" true 2>/dev/null || skip 'no SCHED_DEADLINE here'
	(($(nproc) > 1)) || skip 'one CPU is all CPUs'
	"${RDMARK_PRELOAD%/*}/simverbs-sysfs" sys
	mkdir -p sys/devices/system/node/node0
	echo 0 >sys/devices/system/node/online
	echo "$cpu" >sys/devices/system/node/node0/cpulist
	through=()
	server write_bw
	deadline_class -Rd
	RDMARK_SYSFS=$PWD/sys client write_bw -n 20 --numa 0
	waits_on
	ended client 1
	says client.err 'sched_setaffinity(node 0): ' 'A thread in SCHED_DEADLINE has all CPUs' 'Fix: use --numa none, '
}

@test "the tour, and a server of every test" {
	in_class -r
	server 'rdmark server'
	start client rdmark "$host" -p "$port" -n 200
	finish client
	kill -TERM "${pid[server]}"
	finish server
	ended client 0
	ended server 0
}
