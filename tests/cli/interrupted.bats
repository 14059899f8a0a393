#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# bats file_tags=standin,san
# shellcheck disable=SC2016,SC2034,SC2154 # $ of another shell; what lib/rdmark.bash sets and reads
#
# Ctrl-C ends what a shell does with a program, too, and what is shown is said to be a part.

load ../lib/rdmark

setup_file() { need_device; }

# running ARG…: a client that measures.
running() {
	start_client send_bw -s 64 --interval 0.1 "$@"
	until_says client.err ' s: '
}

@test "one Ctrl-C ends a shell's loop of clients" {
	server send_bw --persistent
	start loop "$(command -v perl)" -e 'setpgrp; exec @ARGV' \
		bash -c 'for i in 1 2 3; do echo >>rounds; "$@"; done; echo >after' loop \
		"$RDMARK_BIN/send_bw" -p "$port" -s 64 -D 30 --interval 0.1 --json=c.json "$host"
	until_says loop.err ' s: '
	kill -INT -- "-${pid[loop]}"
	finish loop
	ended loop 130
	[[ $(wc -l <rounds) == 1 && ! -e after ]] || fail 'the loop went on'
	row loop.out
	positive "${row[1]}"
	grep -Eq '^[a-z_]*: interrupted after [0-9.]+ of 30 s$' loop.err || fail 'it does not say how much'
	json c.json '.status == "interrupted" and .error == null and .results[0].messages > 0'
	client send_bw -n 10
	ended client 0
	kill -INT "${pid[server]}"
	finish server
	ended server 0 # that is how it ends
}

# bats test_tags=core
@test "the other end is not killed, and says who was; of messages, too" {
	server send_bw
	running -n 100000000
	kill -INT "${pid[client]}"
	finish client server
	ended client 130
	ended server 0
	grep -Eq '^[a-z_]*: interrupted after [0-9]+ of 100000000 messages$' client.err || fail 'client'
	grep -Eq '^[a-z_]*: interrupted by the client after [0-9]+ of 100000000 messages$' server.err || fail 'server'
	server send_bw
	running -D 30
	kill -INT "${pid[server]}"
	finish client server
	ended client 0
	ended server 130
	grep -Eq '^[a-z_]*: interrupted by the server after [0-9.]+ of 30 s$' client.err || fail 'client'
	grep -Eq '^[a-z_]*: interrupted after [0-9.]+ of 30 s$' server.err || fail 'server'
	row server.out
}

# bats test_tags=core
@test "a client shows its row and dies of SIGTERM and SIGHUP, too: a scheduler that ends a job sees no success" {
	local signal
	for signal in TERM HUP; do
		server send_bw
		running -D 30 --json=c.json
		kill -$signal "${pid[client]}"
		finish client server
		ended client $((128 + $(kill -l $signal)))
		ended server 0
		row client.out
		grep -Eq '^[a-z_]*: interrupted after [0-9.]+ of 30 s$' client.err || fail 'client'
		json c.json '.status == "interrupted" and .error == null and .results[0].messages > 0'
	done
}

@test "--omit: it is a round of its own at both ends, and a signal in it leaves nothing measured" {
	local seconds
	for seconds in 0.2 100; do
		server send_bw
		proxy
		start_client send_bw -n 100 --omit $seconds --json=c.json
		await 'client round' 'server ready'
		[[ $seconds == 0.2 ]] || kill -INT "${pid[client]}"
		[[ $seconds == 100 ]] || await 'client round' 'server ready' 'client round' 'server ready'
		finish client server proxy
	done
	ended client 130
	ended server 3
	json c.json '.status == "interrupted" and .results == []'
}

@test "--run_infinitely: a signal is its end, and not said to be another" {
	server send_bw
	start_client send_bw -s 64 --interval 0.1 --run_infinitely
	until_says client.out '^ 64 '
	kill -INT "${pid[client]}"
	finish client server
	ended client 0
	ended server 0
	says_no client.err interrupted
}
