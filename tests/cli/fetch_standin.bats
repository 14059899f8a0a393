#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# bats file_tags=standin,san
# shellcheck disable=SC2016,SC2034,SC2154 # $ of jq; what lib/rdmark.bash sets and reads
#
# READs and atomics: the data come back, so a QP has only so many under way, only RC has them, and the
# server's CPU does nothing. What they share with messages that go to the peer is tested there.

load ../lib/rdmark
load ../lib/gpu

setup_file() { need_device; }

readonly address='gid.5=v2/127.0.0.1'

# all MESSAGES PROGRAM ARG…: so many come.
all() {
	pair "$2" --json=c.json "${@:3}"
	json c.json ".status == \"ok\" and ([.results[].messages] | . != [] and all(. == $1))"
}

# bats test_tags=core
@test "READs of every size, asleep, on several threads; both kinds of atomics" {
	local program
	for program in read_lat read_bw; do
		all 3 "$program" -n 3 -a
		all 100 "$program" -n 100 -s 1
		all 100 "$program" -n 100 -s 4096 -e
		all 200 "$program" -n 100 -s 64 --threads 2
	done
	for program in atomic_lat atomic_bw; do
		all 100 "$program" -n 100 -e
		all 100 "$program" -n 100 -A CMP_AND_SWAP
		json c.json '.experiment.atomic_type == "CMP_AND_SWAP"'
		all 200 "$program" -n 100 -A FETCH_AND_ADD --threads 2
		all 100 "$program" -n 100 -s 8
	done
}

# bats test_tags=core
@test "lists, moderation, many QPs, the shallowest queues, both sets of calls; at once and deferred" {
	local program defer
	for defer in '' 1; do
		export SIMVERBS_DEFER=$defer
		for program in read_bw atomic_bw; do
			all 700 "$program" -n 700 -t 64 -l 16
			all 700 "$program" -n 700 -t 32 -l 7 -Q 14
			all 1600 "$program" -n 200 -q 8 -t 16 -l 4
			all 50 "$program" -n 50 -t 1
			all 500 "$program" -n 500 --post-api wr -o 1
			all 500 "$program" -n 500 --post-api send -o 3
		done
		for program in read_lat atomic_lat; do
			all 50 "$program" -n 50
		done
	done
}

# bats test_tags=core
@test "both ways, and the server as the one who asks: what READs bring goes to who asks" {
	local program there back
	for program in read_bw atomic_bw; do
		there=client_to_server back=server_to_client
		[[ $program != read_bw ]] || there=server_to_client back=client_to_server
		pair "$program" -n 20000 -b -q 2 --json=c.json
		json c.json '[.results[] | .direction, ends.direction] == ["both", $there, $back]' --arg there $there --arg back $back
		pair "$program" -n 200 --json=c.json
		json c.json '[.results[].direction] == [$there]' --arg there $there
		pair "$program" -n 200 --reversed --json=c.json
		json c.json '.status == "ok" and [.results[] | .direction, .messages] == [$back, 200]' --arg back $back
	done
}

# agreed CLIENT SERVER OUTS ARG…: with these words in the devices' descriptions both work, and say so many.
agreed() {
	SIMVERBS_DEVICES="sim0 $address $2" server read_bw
	SIMVERBS_DEVICES="sim0 $address $1" client read_bw -n 200 -s 64 --json=c.json "${@:4}"
	finish server
	ended client 0
	ended server 0
	json c.json '.effective.outs == $outs' --argjson outs "$3"
}

@test "outstanding: of what the client has and the server takes the less, -o if that is less still" {
	# One too many would be refused (tests/standin/verbs/README.md): that all is well is the proof.
	agreed max_init_rd=8 max_rd=4 4
	agreed max_init_rd=3 max_rd=9 3
	agreed max_rd=16 max_rd=255 16
	agreed '' '' 2 -o 2
	agreed '' max_rd=5 5 -o 200
	agreed '' '' 1 -o 1
	# the other way round it is the server's that asks, and both ways both
	agreed max_rd=2 max_init_rd=7 2 --reversed
	agreed 'max_rd=6 max_init_rd=2' 'max_rd=4 max_init_rd=3' 2 -b
}

# refused STATUS TEXT… -- PROGRAM ARG…: by the client alone.
refused() {
	local texts=() code=$1
	shift
	while [[ $1 != -- ]]; do
		texts+=("$1")
		shift
	done
	start cli "${@:2}" 127.0.0.1
	finish cli
	ended cli "$code"
	says cli.err "${texts[@]}" 'Fix: '
}

@test "what they have not is refused by name: UC, UD, receives, inline data, sizes of atomics" {
	local program option
	for program in "${fetching_programs[@]}"; do
		refused 2 '--connection UC' "$program" 'only reliable connections' -- "$program" -c UC
		refused 2 '--connection UD' "$program" 'only reliable connections' -- "$program" -c UD
		for option in '-I 8' '-r 64' --use-srq --write_with_imm; do
			# shellcheck disable=SC2086 # words
			refused 2 "cannot be used in $program" -- "$program" $option
		done
		refused 2 'outs' -- "$program" -o 0
	done
	for program in atomic_lat atomic_bw; do
		for option in '-s 64' '-s 4' -a '--gpu 0'; do
			# shellcheck disable=SC2086 # words
			refused 2 "cannot be used in $program" -- "$program" $option
		done
		refused 2 'CMP_AND_SWAP|FETCH_AND_ADD' -- "$program" -A SWAP
	done
	for option in -o -A; do
		refused 2 'cannot be used in write_bw' -- write_bw $option 1
	done
}

# lacks CLIENT SERVER STATUS PROGRAM TEXT…: with these words in the descriptions one end cannot. A server that
# can waits for a client that can.
lacks() {
	local teller=client
	SIMVERBS_DEVICES="sim0 $address $2" server "$4"
	SIMVERBS_DEVICES="sim0 $address $1" client "$4" -n 5
	ended client "$3"
	if [[ $3 == 3 ]]; then
		teller=server
		finish server
		ended server 77
	else
		waits_on
	fi
	says $teller.err "${@:5}" 'Fix: '
	says client.err "${@:5}"
	says server.err "${@:5}"
}

# bats test_tags=core
@test "a device that cannot: both ends hear of it" {
	lacks noatomics '' 77 atomic_lat 'sim0' 'atomic_cap is NONE'
	lacks '' noatomics 3 atomic_bw 'sim0' 'atomic_cap is NONE'
	lacks '' max_rd=0 3 read_lat 'sim0' 'max_qp_rd_atom'
	lacks max_init_rd=0 '' 77 read_bw 'sim0' 'max_qp_init_rd_atom'
	# and nobody else minds
	SIMVERBS_DEVICES="sim0 $address noatomics" all 5 write_bw -n 5
}

# bats test_tags=core
@test "GPU memory at both ends: READs come there" {
	local program
	driver
	for program in read_lat read_bw; do
		server "$program" --gpu 0
		client "$program" --gpu 0 -n 100 -s 4096 --json=c.json
		finish server
		ended client 0
		ended server 0
		json c.json '.status == "ok" and .results[0].messages == 100'
	done
}

# told PROGRAM SIDE STATUS FAULT TEXT…: SIDE has the fault, ends with STATUS and says TEXT, and the other
# end hears of it.
told() {
	local other=server
	[[ $2 == client ]] || other=client
	through=()
	[[ $2 != server ]] || through=(env "$4")
	server "$1" --timeout 30
	through=()
	[[ $2 != client ]] || through=(env "$4")
	start_client "$1" --timeout 30 -n 300
	through=()
	finish client server
	ended "$2" "$3"
	ended "$other" 3
	says "$2.err" "${@:5}"
	says "$other.err" "$1: the " " reports: " "${@:5}"
}

# bats test_tags=core
@test "a request that fails, a post that fails, a peer that dies" {
	local program
	for program in "${fetching_programs[@]}"; do
		told "$program" client 1 SIMVERBS_FAULT=wc:3:REM_ACCESS_ERR 'remote access error' 'request of '
		told "$program" client 1 SIMVERBS_FAULT=wc:3:REM_INV_REQ_ERR 'remote invalid request'
		server "$program"
		SIMVERBS_FAIL=ibv_modify_qp:3:EINVAL client "$program" -n 300
		ended client 1
		waits_on
		says client.err ibv_modify_qp 'Invalid argument'
		says server.err "$program: client " 'it says: ' ibv_modify_qp 'Invalid argument'
		through=(env SIMVERBS_FAULT=kill:150)
		server "$program"
		start_client "$program" -n 300
		through=()
		finish client
		kill -KILL "${pid[server]}" 2>/dev/null || true
		finish server
	done
}

@test "a completion that never comes: the client ends after --timeout, and the server hears why" {
	local program
	for program in "${fetching_programs[@]}"; do # all of them wait at the same time
		start_server "server_$program" "$program" --timeout 30
		SIMVERBS_FAULT=delay:150:60000 start "client_$program" "$program" -p "$port" --timeout 5 -n 300 "$host"
	done
	for program in "${fetching_programs[@]}"; do
		finish "client_$program" "server_$program"
		ended "client_$program" 4
		ended "server_$program" 3
		says "client_$program.err" 'no completion for 5 s'
		says "server_$program.err" "$program: the client (" ' reports: ' 'no completion for 5 s'
	done
}

# bats test_tags=core
@test "for a time, and interrupted; a server that stays" {
	local program
	for program in "${fetching_programs[@]}"; do
		server "$program" --persistent
		client "$program" -D 0.3 --json=c.json
		ended client 0
		((took_ms[client] >= 300)) || fail 'it ended before its time'
		json c.json '.status == "ok" and .results[0].messages > 0'
		start_client "$program" -D 60 --interval 0.1 --json=c.json
		until_says client.err ' s: '
		kill -INT "${pid[client]}"
		finish client
		ended client 130
		json c.json '.status == "interrupted" and .results[-1].messages > 0'
		client "$program" -n 100
		ended client 0
		kill -TERM "${pid[server]}"
		finish server
		ended server 0
	done
}
