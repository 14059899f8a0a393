#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# bats file_tags=standin,san
# shellcheck disable=SC2016,SC2030,SC2031,SC2034,SC2154 # $ of jq; what lib/rdmark.bash sets and reads
#
# One server for every test: a server that stays hands clients of the other programs over to these.

load ../lib/rdmark

setup_file() { need_device; }

few=(-n 40)

over() { # the server is told to end, and does
	kill -TERM "${pid[server]}"
	finish server
	ended server 0
}

# Until the server has started another program for its client; its process is in $other then.
handed_over() {
	local end=$((SECONDS + deadline))
	until other=$(pgrep -P "${pid[server]}"); do
		((SECONDS < end)) || fail 'nothing was started'
		read -r -t 0.02 <> <(:) || true
	done
}

# bats test_tags=rxe
@test "a server that stays serves the clients of every program, and logs a line for each" {
	local sizes='-a' last='8 MiB' count='23 sizes'
	# WRITEs of MiBs come to a standstill on soft-RoCE in a busy machine
	[[ ${RDMARK_PRELOAD-} ]] || sizes='-s 2:64k:x2' last='64 KiB' count='16 rows'
	local program line pattern='^rdmark: [0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}Z \S+:[0-9]+ '
	deadline=150 # eight programs, and a sweep, on soft-RoCE
	server send_lat --persistent --json=s.json
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

@test "a client that fails before it has named its test has none in the log" {
	server send_lat --persistent
	client send_bw -x "$GID_EMPTY" "${few[@]}"
	((status[client])) || fail 'it did not fail'
	over
	grep -Eq '^rdmark: \S+Z \S+:[0-9]+ -: the client \(.*gid-index '"$GID_EMPTY" server.err || fail 'no such line'
	says_no server.err ' send_lat: '
}

@test "gdr_bw's client, too" {
	server write_bw --persistent
	client gdr_bw -s 64k -D 0.1 --windows 3
	ended_with_any client 0 6 77
	client write_bw "${few[@]}"
	ended client 0
	over
	says server.err ' gdr_bw: served'
}

@test "while another program serves a client, the others wait for it" {
	server send_bw --persistent
	start_client write_bw -D 30
	handed_over
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

@test "a signal while another program serves a client: both end with 0, what was measured is shown" {
	server send_lat --persistent
	start_client send_bw -D 30 --interval 0.1
	handed_over
	until_says client.err ' s: ' # it measures
	over
	finish client
	ended client 0
	row client.out
	row server.out
	[[ ! -e /proc/$other ]] || fail 'the other program is still there'
}

# bats test_tags=rxe
@test "whatever becomes of the other program, the next client is served" {
	not_sanitized 'what is killed has not looked for leaks'
	server send_lat --persistent
	start_client send_bw -D 30
	handed_over
	until_says client.err ', MTU '
	kill -KILL "$other"
	finish client
	ended client 3
	start_client send_bw -D 30
	until_says client.err ', MTU '
	kill -KILL "${pid[client]}"
	finish client
	client write_bw "${few[@]}"
	ended client 0
	over
	says server.err 'send_bw was killed by signal 9' ' send_bw: ' 'was lost' ' write_bw: 64 KiB'
}

@test "options of the server that the other program refuses: both ends say so, the next is served" {
	server send_bw --persistent -q 2
	client send_lat "${few[@]}"
	ended client 2
	says client.err '-q'
	client write_bw "${few[@]}" -q 3
	ended client 2
	says client.err '--qp' '2'
	client write_bw "${few[@]}" -q 2
	ended client 0
	over
	says server.err '-q' ' write_bw: 64 KiB'
}

@test "limits of the server are the other programs', too" {
	server send_lat --persistent --max-qps 2
	client send_bw "${few[@]}" -q 3
	ended client 2
	says client.err '--max-qps'
	client send_bw "${few[@]}" -q 2
	ended client 0
	over
}

@test "a test that is none of the suite's starts nothing, whatever is said" {
	local name
	listen_in write_bw
	mkdir own
	cp "$RDMARK_BIN/write_bw" own/
	printf '#!/bin/sh\ntouch started\n' >own/no_bw
	chmod 755 own/no_bw
	server "$PWD/own/write_bw" --persistent
	for name in no_bw ./no_bw '' 'send_lat send_bw' ../bin/sh send_lat; do
		stranger say "$(jq -c --arg name "$name" '.test = $name' <<<"$hello")" hear error gone
		ended stranger 0
		says stranger.out 'different tests'
	done
	over
	[[ ! -e started ]]
}

@test "a hello that is written longer than it came is handed over, too" {
	listen_in write_bw
	server send_lat --persistent
	stranger say "$(jq -c --arg y "$(printf 'y%.0s' {1..45000})" '.y = $y' <<<"$hello" |
		sed "s/^{/{\"x\":[$(printf '1e-7,%.0s' {1..3900})0],/")" hear welcome
	ended stranger 0
	over
}

@test "what was handed over is not believed" {
	local what fd
	for what in '' '{' '[]' '{"type":"hello"}' '"hello"'; do
		printf '%1000000s' '' >file # spaces, some of which come before the hello
		printf '%s' "$what" >>file
		exec {fd}<>file
		RDMARK_HANDOVER=$fd start alone send_bw --persistent
		finish alone
		exec {fd}>&-
		ended alone 0
		says alone.err ' send_bw: '
		silent alone.out
	done
	for what in '' 0 2 77 99999999999 -1 x; do
		RDMARK_HANDOVER=$what start alone send_bw --persistent
		finish alone
		ended alone 0
		says alone.err ' send_bw: '
		silent alone.out
	done
}
