#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# bats file_tags=standin,san
# shellcheck disable=SC2016,SC2030,SC2031,SC2034,SC2154 # $ of jq; what lib/rdmark.bash sets and reads
#
# One end is killed, stopped or interrupted, in every phase, in all four tests: the other one
# notices, says so, prints what it has, and ends in time. A proxy between the two holds back a
# message, so that the phase is what the test says and not what the clock makes of it.

load ../lib/rdmark

setup_file() { need_device; }

# held PROGRAM HOLD [ARG…]: a pair whose conversation stops where HOLD says.
held() {
	server "$1" --timeout 6 --json=s.json
	proxy "$2"
	start_client "$1" --timeout 6 --json=c.json -s 64 -n 50 "${@:3}"
	await held
}

# The victim is killed; the other end shall exit with 3 in time, say why and leave its document.
kill_and_see() {
	local victim=$1 other=$2
	kill -KILL "${pid[$victim]}"
	finish "$victim" "$other" proxy
	ended "$victim" 137
	ended "$other" 3
	says "$other.err" 'Fix: '
	json "${other:0:1}.json" '.status == "failed" and .error.exit_status == 3 and (.error.phase | length > 0)'
}

in_time() { within "$1" 25; }

# bats test_tags=core
@test "the client is killed while it connects: the server serves the next one" {
	local program
	for program in "${programs[@]}"; do
		held "$program" client:qps
		kill -KILL "${pid[client]}"
		finish client proxy
		port=$(sed -n 's/.*ready on .*:\([0-9]*\)$/\1/p' server.err)
		serves_next "$program"
		in_time server
		says server.err 'was lost' 'Fix: '
		json s.json '.status == "ok"'
	done
}

# bats test_tags=core
@test "the server is killed while it connects: the client exits 3" {
	local program
	for program in "${programs[@]}"; do
		held "$program" client:qps
		kill_and_see server client
		in_time client
	done
}

# running PROGRAM: a pair in the midst of its measurement, which would last long.
running() {
	server "$1" --timeout 8 --json=s.json # longer than either end is held up
	proxy
	start_client "$1" --timeout 8 --json=c.json -s 64 -D 100 --warmup 5 --interval 0.1 "${@:2}"
	await 'client round' 'server ready' 'client round' 'server ready' # the second round is the measurement
	until_says client.err '^[a-z_]*: [0-9.]* s: '
}

# bats test_tags=rxe,core
@test "the client is killed during the run: the server exits 3 and keeps what it has" {
	local program
	for program in "${programs[@]}"; do
		running "$program"
		kill_and_see client server
		in_time server
		[[ $program != send_bw ]] || says server.err ' before the failure'
		[[ $(wc -l <server.out) == 0 ]] || fail 'a row that looks like any other'
	done
}

# bats test_tags=rxe,core
@test "the server is killed during the run: the client exits 3 and says what it has, in no row" {
	local program
	for program in "${programs[@]}"; do
		running "$program"
		kill_and_see server client
		in_time client
		[[ $(wc -l <client.out) == 0 ]] || fail 'a row that looks like any other'
		grep -Eq '^[a-z_]*: .*: [0-9.]+ (MiB/s|us on average) before the failure$' client.err || fail 'not said'
		json c.json '.results[0].interrupted and .results[0].messages > 0'
	done
}

@test "the run failed: a number alone has nothing of it, CSV a row that says so" {
	running write_bw --output=bandwidth
	kill_and_see server client
	silent client.out
	running write_bw --csv
	kill_and_see server client
	[[ $(wc -l <client.out) == 2 && $(status_in client.out) == failed ]] || fail 'a row that looks like any other'
	json c.json '.status == "failed"'
}

# The column of that name in the last row of the CSV in FILE.
status_in() { awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i } END { print $at["status"] }' "$1"; }

# bats test_tags=core
@test "the client is killed during the report: the server exits 3" {
	local program
	for program in "${programs[@]}"; do
		held "$program" client:done:2
		kill_and_see client server
		in_time server
	done
}

@test "the server is killed during the report: the client exits 3 and says what it has" {
	local program
	for program in "${programs[@]}"; do
		held "$program" client:done:2
		kill_and_see server client
		in_time client
		[[ $(wc -l <client.out) == 0 ]] || fail 'a row that looks like any other'
		says client.err ' before the failure'
		json c.json '.status == "failed" and .results[0].messages == 50'
	done
}

# bats test_tags=rxe
@test "the peer is stopped during the run: exit 3 after --timeout" {
	[[ ! ${RDMARK_PRELOAD-} ]] || skip 'on the stand-in: stopped from outside, it keeps the locks of the stand-in'
	local program victim other
	for program in "${programs[@]}"; do
		for victim in client server; do
			other=server
			[[ $victim == client ]] || other=client
			server "$program" --timeout 8
			proxy
			start_client "$program" --timeout 8 -s 64 -D 100 --warmup 5
			await 'client round' 'server ready' 'client round' 'server ready' 'client alive'
			kill -STOP "${pid[$victim]}"
			finish "$other"
			[[ ${status[$other]} == 3 ]] || fail "$program, $victim stopped: status ${status[$other]}"
			within "$other" 20
			kill -KILL "${pid[$victim]}"
			finish "$victim" proxy
		done
	done
}

@test "the peer is stopped while connecting: the other end gives up with 3 or 4" {
	held send_bw server:welcome --timeout 1
	finish client
	ended_with_any client 3 4
	waits_on
	within server 20
}

# bats test_tags=rxe,core
@test "the connection is cut off while RDMA goes on: who notices first says so, the other one that it is lost" {
	local program end patience=8
	[[ ! ${RDMARK_PRELOAD-} ]] || patience=4 # a process, no machine: it is not that slow
	for program in send_lat write_bw; do
		server "$program" --timeout $patience
		proxy client:alive:2
		start_client "$program" --timeout $patience -s 64 -D 100 --warmup 0
		await held
		finish client server proxy
		for end in client server; do
			ended "$end" 3
			says "$end.err" 'measuring: ' 'Fix: '
			within "$end" 20
		done
		cat client.err server.err >both.err
		says both.err 'no message from' "for $patience s" 'unreachable'
		says client.err ' before the failure'
		[[ $(wc -l <client.out) == 0 ]] || fail 'a row that looks like any other'
	done
}

# bats test_tags=rxe,core
@test "SIGINT on the client during the run: both print what was measured; it dies of it, the server exits 0" {
	local program
	for program in "${programs[@]}"; do
		running "$program"
		kill -INT "${pid[client]}"
		finish client server
		ended client 130
		ended server 0
		row client.out
		positive "${row[1]}"
		rows server.out
		[[ ${#rows[@]} == 1 ]] || fail "$program: the server has no row"
		json c.json '.status == "interrupted" and .results[0].interrupted and .error == null'
		json s.json '.status == "interrupted" and .results[0].interrupted'
	done
}

@test "SIGTERM on the server during the run: both print what was measured, both exit 0" {
	local program
	for program in "${programs[@]}"; do
		running "$program" --csv=c.csv
		kill -TERM "${pid[server]}"
		finish client server
		ended client 0
		ended server 0
		row client.out
		positive "${row[1]}"
		json c.json '.status == "interrupted" and .results[0].interrupted'
		json s.json '.status == "interrupted"'
		[[ $(status_in c.csv) == interrupted ]] || fail "$(<c.csv)"
	done
}

@test "a signal while the server waits: 128 + signal, at once" {
	local signal
	for signal in INT TERM HUP; do
		server send_lat --json=s.json
		kill "-$signal" "${pid[server]}"
		finish server
		ended server $((128 + $(kill -l $signal)))
		within server 10
		json s.json '.status == "interrupted" and .results == []'
	done
}

@test "a signal while the client looks for its server: 128 + signal, at once" {
	server send_lat
	kill -KILL "${pid[server]}"
	finish server # nobody is there now
	start_client send_lat --connect-timeout 30 --json=c.json
	# It is up: the program, not the shell that is about to become it, hears signals.
	timeout 10 sh -c "until awk '/^Name:/ && /send_lat/ { named = 1 } /^SigBlk:/ && \$2 ~ /[1-9a-f]/ { up = named }
		END { exit !up }' /proc/${pid[client]}/status; do :; done"
	kill -INT "${pid[client]}"
	finish client
	ended client 130
	within client 15
	json c.json '.status == "interrupted"'
}

@test "a signal while the client waits for an answer: 128 + signal, at once" {
	fake_server hear hello tell stay
	start_client send_lat --timeout 30 --json=c.json
	await here
	kill -INT "${pid[client]}"
	finish client
	ended client 130
	within client 10
	json c.json '.status == "interrupted" and .results == []'
	kill "${pid[stranger]}"
}

@test "SIGINT on the client before anything is measured: 130, and the server ends, too" {
	server send_lat --timeout 6
	proxy
	start_client send_lat --timeout 6 --warmup 100000000
	await 'client round' 'server ready'
	kill -INT "${pid[client]}"
	finish client server
	ended client 130
	((status[server] != 0)) || fail 'the server thinks that all is well'
	in_time server
	rows client.out
	[[ ${#rows[@]} == 0 ]] || fail 'a row without a measurement'
}

# bats test_tags=core
@test "SIGTERM on the server before anything is measured: both end, and say who was interrupted" {
	server send_lat --timeout 6
	proxy
	start_client send_lat --timeout 6 --warmup 100000000
	await 'client round' 'server ready'
	kill -TERM "${pid[server]}"
	finish client server
	ended client 3
	says client.err 'the server was interrupted'
	((status[server] != 0)) || fail 'the server thinks that all is well'
	in_time client
	rows client.out
	[[ ${#rows[@]} == 0 ]] || fail 'a row without a measurement'
}

@test "-a that is interrupted: the rows so far, then the end" {
	server send_lat
	proxy
	start_client send_lat -a -D 1 --json=c.json
	await 'client round' 'client round' 'client done' 'client round'
	kill -INT "${pid[client]}"
	finish client server
	ended client 130
	ended server 0
	json c.json '.status == "interrupted" and (.results | length) >= 1 and (.results | length) < 5'
}

@test "a size that failed after its first messages has no rate" {
	server send_bw
	SIMVERBS_FAULT=wc:500:12 client send_bw -n 200 -a
	finish server
	ended client 3
	grep -E '^[a-z_]*: .*: [0-9]+ messages? before the failure$' server.err
	! grep -E '[0-9]{5,}\.[0-9]+ MiB/s before' server.err || fail 'a rate of nothing'
}
