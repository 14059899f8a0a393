#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# bats file_tags=standin,san
# shellcheck disable=SC2016,SC2154 # $ of jq; what lib/rdmark.bash sets
#
# -c UC and UD; -e; --use-srq and --own-cqs: each alone and with each other.

load ../lib/rdmark

setup_file() { need_device; }

# What a device has not, a test of it cannot have.
try() {
	server "$1"
	client "$@"
	finish server
	[[ ${status[client]} != 77 ]] || skip "$(<client.err)"
	ended client 0
	ended server 0
}

# The figures of client.out's only row. A percentile of too few samples is '-'; two directions that hardly
# ran at the same time, as on a busy machine they may not, have no rate, and say so.
has_row() {
	row client.out "$3"
	[[ ${row[0]} == "$1" && ${row[1]} == "$2" ]] || fail "wrong row: ${row[*]}"
	if [[ ${row[*]:2} == *-* && $(<client.err) == *'both directions ran together for '* ]]; then
		[[ ${row[*]:2} == '- - -' ]] || fail "a rate of nothing: ${row[*]}"
		return
	fi
	while [[ $3 == 9 && ${row[-1]} == - ]]; do unset 'row[-1]'; done
	((${#row[@]} >= 5)) || fail "few figures: ${row[*]}"
	positive "${row[@]:2}"
}

# That what came and what was lost are what was sent.
adds_up() {
	json c.json '(.results[] | of("client")) as $sent
		| (.results[] | of("server")) as $came
		| $sent.messages == $came.messages + ($came.lost // 0) and ($sent.lost // 0) == ($came.lost // 0)'
}

# bats test_tags=rxe
@test "-c UC: all four programs" {
	try send_lat -c UC -n 200
	has_row 2 200 9
	try write_lat -c UC -n 200
	has_row 2 200 9
	try write_bw -c UC -n 300 -s 4096
	has_row 4096 300 5
	try send_bw -c UC -n 300 -s 4096 -r 1024 --json=c.json
	has_row 4096 300 5
	adds_up
	json c.json '.experiment.connection == "UC"'
}

# bats test_tags=rxe,core
@test "-c UC: messages of many packets" {
	try send_bw -c UC -n 20 -s 256k --json=c.json
	adds_up
	try write_lat -c UC -n 60 -s 64k # a busy machine may lose some
	has_row 65536 60 9
}

# bats test_tags=rxe
@test "-c UD: latency and bandwidth of SEND" {
	try send_lat -c UD -n 200
	has_row 2 200 9
	try send_bw -c UD -n 300 -s 512 -r 1024 --json=c.json
	has_row 512 300 5
	adds_up
	json c.json '.experiment.connection == "UD"'
}

@test "-c UD: a size that is too large becomes the MTU, and that is said" {
	try send_bw -c UD -n 50 --json=c.json
	json c.json '.experiment.size_bytes == .effective.mtu_bytes and .results[0].message_bytes == .effective.mtu_bytes
		and .effective.asked_bytes == 65536'
	says client.err datagram MTU
	try send_bw -c UD -n 50 -m 512 -s 1m --json=c.json
	json c.json '.effective.asked_bytes == 1048576 and .results[0].message_bytes == 512'
	row client.out 5
	[[ ${row[0]} == 512 ]]
	try send_lat -c UD -n 50 -m 256 -s 256 --json=c.json
	[[ $(<client.err) != *datagram* ]]
	json c.json '.effective | has("asked_bytes") | not'
}

@test "-c UD -a: ends at the MTU" {
	try send_bw -c UD -a -n 20 -m 1024
	rows client.out 5
	((${#rows[@]} == 10)) && [[ ${rows[9]} == ' 1024 '* ]]
	try send_lat -c UD -a -n 20 -m 1024
	rows client.out 9
	((${#rows[@]} == 10))
}

# bats test_tags=core
@test "-c UD and UC in both directions, and reversed, on several QPs and threads" {
	local transport
	for transport in UC UD; do
		try send_bw -c $transport -b -q 3 -n 100 -s 256 --json=c.json
		has_row 256 600 5
		json c.json '[.results[] | ends.messages, .messages] == [300, 300, 600]'
		json c.json '.results[0] | ((.by_end.client.lost // 0) + (.by_end.server.lost // 0)) == (.lost // 0)'
		try send_bw -c $transport --reversed -l 4 -n 100 -s 256
		row client.out 5
		try send_bw -c $transport --threads 2 -q 2 -n 100 -s 256 --json=c.json
		json c.json '[.results[].by_thread[] | select(.measured_by == "client") | .messages] == [200, 200]'
	done
	try write_bw -c UC -b -q 3 -n 100 -s 256
	has_row 256 600 5
}

@test "-c UD -D: ends in time" {
	try send_bw -c UD -D 0.5 -s 1024 --json=c.json
	json c.json '.status == "ok" and .results[0].seconds > 0.4 and .results[0].seconds < 5'
	adds_up
	try send_lat -c UD -D 0.5 --json=c.json
	json c.json '.results[0].seconds > 0.4'
}

@test "-c UD: inline, and not" {
	try send_lat -c UD -n 100 -I 0 -s 64 --json=c.json
	json c.json '.effective.inline_bytes == 0'
	try send_lat -c UD -n 100 -s 64 --json=c.json
	json c.json '.effective.inline_bytes <= 188'
	try send_bw -c UD -n 100 -s 32 -I 32
	row client.out 5
}

@test "perftest's words for them" {
	server send_bw --format perftest
	client send_bw --format perftest -c UD --use-srq -n 50 -s 64 --out_json_file=p.json
	finish server
	says client.out 'Connection type : UD' 'Using SRQ      : ON'
	json p.json '.test_info.Connection_type == "UD" and .test_info.Using_SRQ == "ON"'
}

# bats test_tags=rxe
@test "-e: every program that polls a completion queue" {
	try send_lat -e -n 300
	has_row 2 300 9
	try send_bw -e -n 300 -s 4096
	has_row 4096 300 5
	try write_bw -e -n 300 -s 4096
	has_row 4096 300 5
	try write_lat -e --write_with_imm -n 300
	has_row 2 300 9
}

@test "-e: write_lat looks at memory, of which no event tells: refused at both ends" {
	server write_lat
	client write_lat -e
	ended client 2
	serves_next write_lat
	says client.err -e/--events send_lat
}

# bats test_tags=core
@test "-e with all the rest: directions, QPs, threads, lists, transports" {
	try send_bw -e -b -q 3 -n 200 -s 1024
	has_row 1024 1200 5
	try send_bw -e --reversed -l 8 -Q 16 -n 200 -s 1024
	try write_bw -e -b --threads 2 -q 2 -n 200 -s 1024
	row client.out 5
	[[ ${row[1]} == 1600 ]]
	try send_lat -e -c UD -n 200
	try send_bw -e -c UC -q 2 -n 200 -s 1024 --json=c.json
	adds_up
}

@test "-e -D: who sleeps is woken when the time is over" {
	local program
	for program in send_lat send_bw write_bw; do
		try "$program" -e -D 0.5 --json=c.json
		json c.json '.status == "ok" and .results[0].seconds > 0.4 and .results[0].seconds < 5'
	done
}

# bats test_tags=rxe
@test "-e: a pause of the peer is slept through" {
	try send_lat -e -n 20 --latency_gap 20000
	has_row 2 20 9
	try send_lat -e -c UD -n 10 --latency_gap 20000
}

# bats test_tags=core
@test "-e: a peer that is killed ends the run" {
	server send_bw --timeout 3
	mkfifo client.err
	start_client send_bw -e -D 100 --timeout 3 --interval 0.2
	exec {events}<client.err
	await_text "$events" 'B: ' messages/s
	kill -KILL "${pid[server]}"
	finish client server
	((status[client] != 0)) || fail 'the client thinks that all is well'
}

# bats test_tags=rxe
@test "-X: a vector that there is, and one that there is not" {
	try send_lat -e -X 0 -n 50
	server send_bw
	client send_bw -X 60000
	ended client 2
	says client.err -X/--vector vectors
	serves_next send_bw
}

# bats test_tags=rxe,core
@test "--use-srq: SENDs of all QPs from one queue" {
	try send_bw --use-srq -q 4 -n 300 -s 1024 --json=c.json
	has_row 1024 1200 5
	adds_up
	json c.json '.experiment.use_srq and ([.results[] | ends.lost] | . != [] and all(. == null))'
	try send_lat --use-srq -n 200
	has_row 2 200 9
	try send_bw --use-srq -q 4 -r 16 -n 300 -s 1024 --json=c.json
	json c.json '.effective.rx_depth == 16 or .effective.rx_depth == 0'
	adds_up
	try send_bw --use-srq -b -q 2 -c UD -n 100 -s 64
	try send_bw --use-srq -b -q 3 -n 100 -s 64
	has_row 64 600 5
}

# bats test_tags=rxe,core
@test "--own-cqs: completion queues for each QP" {
	local program
	for program in "${bandwidth_programs[@]}"; do
		try "$program" --own-cqs -q 5 -n 200 -s 1024
		has_row 1024 1000 5
		try "$program" --own-cqs -e -b -q 3 -n 200 -s 1024
		has_row 1024 1200 5
	done
	try send_bw --own-cqs --use-srq -e -q 3 --threads 2 -n 100 -s 1024
	row client.out 5
	[[ ${row[1]} == 600 ]]
	try send_lat --own-cqs -n 100
	has_row 2 100 9
}

# bats test_tags=rxe,core
@test "many QPs" {
	try send_bw -q 128 -n 40 -s 64 -t 8
	has_row 64 5120 5
	try write_bw -q 128 --own-cqs -n 40 -s 64 -t 8
	has_row 64 5120 5
}
