#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# bats file_tags=standin,san
# shellcheck disable=SC2016,SC2030,SC2031,SC2034,SC2154 # $ of jq; what lib/rdmark.bash sets and reads
#
# `rdmark server`: one server for every test, in one process.

load ../lib/rdmark

setup_file() { need_device; }

few=(-n 40)

over() { # the server is told to end, and does
	kill -TERM "${pid[server]}"
	finish server
	ended server 0
}

# bats test_tags=rxe,core
@test "rdmark server serves the clients of every program, and logs a line for each" {
	local sizes='-a' last='8 MiB' count='23 sizes'
	# WRITEs of MiBs come to a standstill on soft-RoCE in a busy machine
	[[ ${RDMARK_PRELOAD-} ]] || sizes='-s 2:64k:x2' last='64 KiB' count='16 rows'
	local program line pattern='^rdmark: [0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}Z \S+:[0-9]+ '
	deadline=150 # eight programs, and a sweep, on soft-RoCE
	server 'rdmark server' --json=s.json
	for program in "${measuring_programs[@]}"; do
		client "$program" "${few[@]}" --json=c.json
		ended client 0
		json c.json '.status == "ok" and .test == $test' --arg test "$program"
	done
	# shellcheck disable=SC2086 # words
	client write_bw $sizes -n 5
	ended client 0
	over
	for program in "${measuring_programs[@]}"; do
		line=$(grep -Ec "$pattern$program: [0-9.]+ (B|KiB), [0-9.]+ (us on average|MiB/s \([0-9.]+ Gb/s\))\$" server.err)
		((line == 1)) || fail "$program: $line lines"
	done
	grep -Eq " write_bw: $last, [0-9.]+ MiB/s \\([0-9.]+ Gb/s\\), the last of $count\$" server.err || fail "$(<server.err)"
	says server.err 'ready on' 'one client may use' ': the server stops'
	(($(wc -l <server.err) == ${#measuring_programs[@]} + 5)) || fail 'other lines'
	json s.json '[.[].test] == (($tests | split(" ")) + ["write_bw"])' -s --arg tests "${measuring_programs[*]}"
}

@test "the table has a header for each client, and one for all rows of a client" {
	local program
	server 'rdmark server'
	for program in send_lat write_lat send_bw write_bw 'write_bw -q 1,2' 'write_bw -q 2' send_lat; do
		# shellcheck disable=SC2086 # and options
		client $program "${few[@]}"
		ended client 0
	done
	over
	[[ $(grep -Eo '(qp +)?#bytes.*(t_min|BW peak)' server.out | sed 's/ *#bytes.* /-/' | paste -sd ' ') == \
		'-t_min -t_min -peak -peak qp-peak -peak -t_min' ]] || fail "$(<server.out)"
}

@test "a program with --persistent serves its own test, and names the server of every test" {
	server send_lat --persistent
	client send_bw "${few[@]}"
	ended client 2
	says client.err 'different tests: server send_lat, client send_bw' 'Fix: ' 'rdmark server'
	client send_lat "${few[@]}"
	ended client 0
	over
}

@test "a client that fails before it has named its test has none in the log" {
	server 'rdmark server'
	client send_bw -x "$GID_EMPTY" "${few[@]}"
	((status[client])) || fail 'it did not fail'
	until_says server.err "gid-index $GID_EMPTY"
	over
	grep -Eq '^rdmark: \S+Z \S+:[0-9]+ -: the client \(.*gid-index '"$GID_EMPTY" server.err || fail 'no such line'
	says_no server.err '_lat: ' '_bw: '
}

@test "gdr_bw's client, too" {
	server 'rdmark server'
	client gdr_bw -s 64k -D 0.1 --windows 3
	ended_with_any client 0 6 77
	client write_bw "${few[@]}"
	ended client 0
	over
	says server.err ' gdr_bw: served'
}

# bats test_tags=core
@test "while a client is served, clients of other tests wait for it" {
	server 'rdmark server'
	start_client write_bw -D 30
	until_says client.err ', MTU '
	start second send_lat -p "$port" --connect-timeout 60 "${few[@]}" "$host"
	until_says second.err 'the server is busy with'
	kill -INT "${pid[client]}"
	finish client second
	ended client 130
	ended second 0
	client send_bw "${few[@]}"
	ended client 0
	over
	says server.err ' write_bw: interrupted, 64 KiB' ' send_lat: 2 B' ' send_bw: 64 KiB'
}

# bats test_tags=core
@test "one signal while it serves a client: both end with 0, what was measured is shown" {
	server 'rdmark server'
	start_client send_bw -D 30 --interval 0.1
	until_says client.err ' s: ' # it measures
	over
	finish client
	ended client 0
	row client.out
	row server.out
}

@test "whatever becomes of a client, the next one of another test is served" {
	server 'rdmark server'
	start_client send_bw -D 30
	until_says client.err ', MTU '
	kill -KILL "${pid[client]}"
	finish client
	client write_bw "${few[@]}"
	ended client 0
	over
	says server.err ' send_bw: ' 'was lost' ' write_bw: 64 KiB'
}

@test "options of the server that a test does not have: it is not served, both ends say so; the others are" {
	server 'rdmark server' -q 2
	client send_lat "${few[@]}"
	ended client 2
	says client.err '-q'
	client write_bw "${few[@]}" -q 3
	ended client 2
	says client.err '--qp' '2'
	client write_bw "${few[@]}" -q 2
	ended client 0
	over
	says server.err 'send_lat is not served: -q' ' write_bw: 64 KiB'
	says_no server.err 'write_bw is not served'
	start alone rdmark server --no-such-option
	finish alone
	ended alone 2
}

# Some tests have neither option; what is wrong is not that, but what all others find.
@test "what no test accepts is refused in the words of one that has the option" {
	start alone rdmark server --gpu 0,1
	finish alone
	ended alone 2
	says alone.err 'rdmark: a server uses one GPU. Fix: give several GPUs to the client'
	start alone rdmark server -s 9x
	finish alone
	ended alone 2
	says alone.err "rdmark: invalid value '9x' for -s/--size. Fix: "
}

@test "limits of the server are every test's" {
	server 'rdmark server' --max-qps 2 --max-duration 2
	client send_bw "${few[@]}" -q 3
	ended client 2
	says client.err '--max-qps'
	client send_bw "${few[@]}" -q 2
	ended client 0
	client send_lat -D 30
	((status[client])) || fail 'it was not ended'
	says client.err '--max-duration'
	over
}

# bats test_tags=core
@test "a test that is none of the suite's starts nothing, whatever is said" {
	local name
	listen_in write_bw
	mkdir own
	cp "$RDMARK_BIN/write_bw" "$RDMARK_BIN/rdmark" own/
	printf '#!/bin/sh\ntouch started\n' >own/no_bw
	chmod 755 own/no_bw
	for program in write_bw 'rdmark server'; do
		server "$PWD/own/$program" --persistent
		for name in no_bw ./no_bw '' 'send_lat send_bw' ../bin/sh; do
			stranger say "$(jq -c --arg name "$name" '.test = $name' <<<"$hello")" hear error gone
			ended stranger 0
			says stranger.out 'different tests'
		done
		over
	done
	[[ ! -e started ]]
}
