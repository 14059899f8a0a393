#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# bats file_tags=standin,san
# shellcheck disable=SC2016,SC2154 # $ of jq; what lib/rdmark.bash sets
#
# Options of different kinds together: what works, and what is refused.

load ../lib/rdmark

setup_file() { need_device; }

@test "what cannot keep a schedule, or a message's place, is refused" {
	start cli write_bw --rate_limit 1 -e 127.0.0.1
	finish cli
	ended cli 2
	says cli.err '--rate_limit cannot be used with -e' 'Fix: '
	start cli send_bw --verify --use-srq 127.0.0.1
	finish cli
	ended cli 2
	says cli.err '--verify cannot be used with --use-srq' 'Fix: '
}

# bats test_tags=core
@test "datagrams with an MR for each QP: their headers lie in it, too" {
	pair send_bw -c UD --mr_per_qp -q 3 -n 50 -s 1024
	pair send_lat -c UD --mr_per_qp -n 20
}

@test "-b: no interval has fewer messages than none" {
	pair send_bw -b -n 3000 -t 16 -Q 1 -s 4096 --interval 1ms --json
	# How many intervals there are is the machine's affair: their messages are those of the run.
	json client.out '[inputs | .interval | select(.) | .messages] | all(. <= 6000)' -n
	pair send_bw -b -D 1 -t 16 -Q 1 -s 4096 --interval 50ms --json
	json client.out '[inputs | .interval | select(.) | .messages] | length > 1 and all(. < 100000000)' -n
}

@test "one after the other on UD: the second waits though its size is cut to the MTU" {
	server send_bw -c UD -s 65536 --persistent
	start_client send_bw -c UD -s 65536 -D 30
	until_says client.err ', MTU '
	start second send_bw -p "$port" -c UD -s 65536 -n 20 --connect-timeout 60 "$host"
	until_says second.err 'the server is busy with'
	kill -INT "${pid[client]}"
	finish client second
	ended second 0
	kill -TERM "${pid[server]}"
	finish server
	ended server 0
}

@test "what would never end has no repetition and no verification" {
	local option
	for option in --verify '--repeat 3' '--until-stable 5'; do
		# shellcheck disable=SC2086 # words
		start cli write_bw --run_infinitely $option 127.0.0.1
		finish cli
		ended cli 2
		says cli.err 'run_infinitely' 'Fix: '
	done
}

# bats test_tags=core
@test "a schedule over CQs of each QP, and data verified over them" {
	pair write_bw --rate_limit 1 -q 4 --own-cqs -n 50 -s 4096
	pair send_bw -q 4 --own-cqs -n 50 -s 4096 --verify=200 --json=c.json
	json c.json '.results[0].verification.errors == 0'
	pair send_bw -c UD -q 2 -n 50 -s 1024 --verify=200 --json=c.json
	json c.json '.results[0].verification.errors == 0'
	pair write_bw -e --footprint 64k -s 4096 -n 100
}
