#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# bats file_tags=standin,san
# shellcheck disable=SC2016,SC2034,SC2154 # $ of jq; what lib/rdmark.bash sets and reads
#
# --verify finds data that are wrong, and says where: each kind of damage in each program.

load ../lib/rdmark
load ../lib/gpu

setup_file() { need_device; }

# The number of the first verified message: behind 6 that are timed.
readonly first=7

# Sets messages to as many verified ones as need two windows, next to the number of the first one of the second window.
count() {
	case $1 in
	send_*) next=23 messages=17 ;;
	write_*) next=1031 messages=1025 ;;
	esac
}

# damaged PROGRAM SIDE FAULT: a pair of which SIDE has that fault; two windows at least.
damaged() {
	local through=()
	[[ $2 != server ]] || through=(env "SIMVERBS_FAULT=$3")
	server "$1" --json=s.json
	through=()
	[[ $2 != client ]] || through=(env "SIMVERBS_FAULT=$3")
	start_client "$1" --verify="$messages" -n 5 --warmup 1 -s 256 -r 16 --json=c.json "${@:4}"
	through=()
	finish client server
}

# found ERRORS LOST MESSAGE [FILTER]: both ends say so, and have measured all the same.
found() {
	local end file
	for end in client server; do
		file=${end:0:1}.json
		ended "$end" 5
		says "$end.err" "verified: " " $1 error" 'verifying the data: ' "The first: where message $3 from the " 'byte ' 'Fix: '
		json "$file" '.status == "failed" and .error.code == "data" and .error.exit_status == 5'
		json "$file" '.results[-1].verification | .errors == ($n | tonumber) and .lost == ($lost | tonumber)
			and .first_error.message == ($message | tonumber)' --arg n "$1" --arg lost "$2" --arg message "$3"
		json "$file" "${4:-true}"
	done
	row client.out
	[[ ${row[0]} == 256 && ${row[1]} == 5 ]]
}

# each FAULT ERRORS LOST MESSAGE PROGRAM…: F and N in FAULT are the first messages of two windows, with a number added.
each() {
	local program fault
	for program in "${@:5}"; do
		count "$program"
		fault=${1//F/first} fault=${fault//N/next}
		damaged "$program" client "$(eval "echo $fault")"
		found "$2" "$3" "$4" '.results[-1].verification.first_error.from_server | not'
		[[ $program == *_lat ]] || continue
		damaged "$program" server "$(eval "echo $fault")"
		found "$2" "$3" "$4" '.results[-1].verification.first_error.from_server'
	done
}

@test "lost: a message that was acknowledged and never came" {
	each 'lose:$((F+3))' 13 1 3 send_bw send_lat # and all behind it come a place too early
	each 'lose:$((F+3))' 1 1 3 write_bw write_lat
}

# bats test_tags=core
@test "lost where that may be: counted, and no error, however the others come" {
	local transport
	for transport in UD UC; do
		count send_bw
		damaged send_bw client "lose:$((first + 3)),lose:$((first + 20))" -c $transport
		ended client 0
		json c.json '.status == "ok" and (.results[-1].verification | .lost == 2 and .errors == 0)'
		damaged send_bw client "lose:$((first + 3)),corrupt:$((first + 9))" -c $transport
		found 1 1 9
	done
}

# bats test_tags=core
@test "corrupt: one byte, and which; a row of wrong data is not ok" {
	each 'corrupt:$((F+3))' 1 0 3 "${programs[@]}"
	count write_bw
	damaged write_bw client "corrupt:$((first + 3))" --csv=c.csv
	[[ $(tail -n 1 c.csv) == *,failed, ]] || fail "$(<c.csv)"
	json c.json '.results[-1].verification.first_error.byte == 128'
	damaged write_bw client "corrupt:$((first + 3))" -m 1024,2048
	ended client 5
	ended server 5
	says client.err 'at -m 1024: verifying the data: '
	says server.err 'at -m 1024: verifying the data: '
}

@test "stale: the data of the window before" {
	each 'stale:$((N+3)):$((F+4))' 1 0 3 "${programs[@]}"
	json c.json '.results[-1].verification.first_error.window == 2'
}

@test "a WRITE that also comes to another one's place" {
	each 'stale:$((F+3)):$((F+2))' 1 0 3 write_bw write_lat
}

@test "reordered: a SEND behind a later one; two WRITEs in each other's place" {
	each 'swap:$((F+3))' 2 0 3 "${programs[@]}"
	# also if each brings a number
	damaged send_bw client "swap:$((first + 3))" --send_with_imm
	found 2 0 3
}

# bats test_tags=core
@test "misplaced: at another offset; where another one belongs" {
	each 'misplace:$((F+3)):16' 1 0 3 "${programs[@]}"
	each 'misplace:$((F+3)):-384' 2 1 2 write_bw
}

@test "misplaced: what another QP should have got" {
	count write_bw
	# Behind 3 * 6 that are timed the first QP sends as many as its queue holds, then the second one. A QP's memory are
	# 1024 places of 384 bytes, and a page.
	damaged write_bw client "misplace:$((18 + 100 + 1)):-$((1024 * 384 + 4096))" -q 3 -t 100
	ended client 5
	json c.json '.results[0].verification | .errors == 2 and .lost == 1 and .first_error.qp == 0'
}

# bats test_tags=core
@test "the other direction: --reversed, and -b" {
	count send_bw
	damaged send_bw server "corrupt:$((first + 3))" --reversed
	found 1 0 3 '.results[-1].direction == "server_to_client" and .results[-1].verification.first_error.from_server'
	count write_bw
	damaged write_bw server "corrupt:$((first + 3))" -b
	ended client 5
	ended server 5
	json c.json '[.results[] | ends, . | [.direction, .verification.errors]] == [["client_to_server", 0], ["server_to_client", 1], ["both", 1]]'
}

@test "a run with wrong data goes on with the next size" {
	count write_bw
	server write_bw
	through=(env "SIMVERBS_FAULT=corrupt:$((first + 3))")
	start_client write_bw --verify=1000 -n 5 --warmup 1 -s 2:64k:x2 --json=c.json
	through=()
	finish client server
	ended client 5
	ended server 5
	rows client.out
	((${#rows[@]} == 16))
	json c.json '[.results[].verification.errors] == [1] + [range(15) | 0]'
	says client.err '1 of 1000 messages of 2 B wrong (0 lost)'
}

@test "messages of a few bytes: wrong is found" {
	local program size
	for program in "${programs[@]}"; do
		count "$program"
		for size in 1 2 7; do
			damaged "$program" client "corrupt:$((first + 3))" -s "$size"
			ended client 5
			json c.json '.results[-1].verification.errors > 0'
		done
	done
}

@test "a server that stays says what was wrong, and serves the next client" {
	count send_bw
	server send_bw --persistent
	through=(env "SIMVERBS_FAULT=lose:$((first + 3))")
	start_client send_bw --verify=32 -n 5 --warmup 1 -s 256 -r 16
	through=()
	finish client
	ended client 5
	client send_bw --verify -n 5 -s 256
	ended client 0
	kill -TERM "${pid[server]}"
	finish server
	ended server 0
	says server.err 'verifying the data: 13 of 32 messages of 256 B wrong (1 lost)'
}

# bats test_tags=core
@test "a receive that a message cannot have: the run ends, and says so" {
	count send_bw
	# one comes twice: the sender of the last one waits for a receive in vain
	damaged send_bw client "dup:$((first + 3))" --timeout 5
	ended client 4
	says client.err 'verifying the data: no completion for 5 s'
}

# bats test_tags=core
@test "GPU memory: what is wrong there is found, too" {
	local program
	driver
	for program in write_bw write_lat send_lat; do
		count "$program"
		server "$program" --gpu 0
		through=(env "SIMVERBS_FAULT=corrupt:$((first + 3))")
		start_client "$program" --gpu 0 --verify=50 -n 5 --warmup 1 -s 256 -r 16 --json=c.json
		through=()
		finish client server
		ended client 5
		ended server 5
		json c.json '.results[-1].verification | .errors == 1 and .first_error.message == 3 and .first_error.byte == 128'
	done
}

# bats test_tags=core
@test "a peer that dies, and a request that fails, while data are verified" {
	local program
	for program in send_bw send_lat; do
		count "$program"
		damaged "$program" server "kill:$((first + 2))" --timeout 30
		ended server 137
		ended client 3
		damaged "$program" client "kill:$((first + 2))" --timeout 30
		ended client 137
		ended server 3
	done
	count write_bw
	damaged write_bw client wc:3:REM_OP_ERR
	ended client 1
	ended server 3
	says client.err 'write_bw: verifying the data: request of 256 B' 'remote operation error'
	says server.err 'write_bw: the client (' ' reports: verifying the data: '
	# the path has carried what was measured
	damaged write_bw client "delay:$((first + 2)):3600000" --timeout 2
	ended client 4
	says client.err 'verifying the data: no completion for 2 s (' 'RDMA packets came through before'
	says_no client.err '(0 messages' 'do not arrive'
	# What was measured before is told, but is no row that looks as if all were well.
	says client.err '256 B: ' ' before the failure'
	rows client.out
	((${#rows[@]} == 0))
}
