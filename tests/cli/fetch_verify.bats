#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# bats file_tags=standin,san,long
# shellcheck disable=SC2016,SC2034,SC2154 # $ of jq; what lib/rdmark.bash sets and reads
#
# --verify finds READs that bring wrong data, and atomics that are lost or done twice. Those of messages that go to the peer are in verify.bats.

load ../lib/rdmark

setup_file() { need_device; }

# The first message of the first window, behind 6 that are timed, and of the second one.
readonly first=7 next=1031

# damaged SIDE FAULT PROGRAM ARG…: a pair of which SIDE has that fault.
damaged() {
	local through=()
	[[ $1 != server ]] || through=(env "SIMVERBS_FAULT=$2")
	server "$3" --json=s.json
	through=()
	[[ $1 != client ]] || through=(env "SIMVERBS_FAULT=$2")
	start_client "$3" --verify=1025 -n 5 --warmup 1 --json=c.json "${@:4}"
	through=()
	finish client server
}

# found FAULT FILTER PROGRAM ARG…: the client has the fault, and says what it did; both ends say that
# data were wrong.
found() {
	local end
	damaged client "$1" "${@:3}"
	for end in client server; do
		ended "$end" 5
		says "$end.err" 'verified: ' 'verifying the data: ' 'The first: where message ' 'Fix: '
		json "${end:0:1}.json" '.status == "failed" and .error.code == "data" and .error.exit_status == 5 and .results[-1].verification.errors > 0'
	done
	json c.json ".results[-1].verification | .first_error.window >= 1 and ($2)"
	[[ -s client.out ]]
}

# bats test_tags=core
@test "READs: lost, a wrong byte, data of another one or of the window before, from elsewhere" {
	local program message=$((first + 3)) one='.errors == 1 and .lost == 0 and .first_error.message == 3'
	for program in read_lat read_bw; do
		found lose:$message '.errors == 1 and .lost == 1 and .first_error.message == 3' "$program" -s 256
		found corrupt:$message "$one and .first_error.byte == 128" "$program" -s 256
		found stale:$message:$((message - 1)) "$one" "$program" -s 256
		found stale:$((next + 3)):$((message + 1)) "$one and .first_error.window == 2" "$program" -s 256
		found misplace:$message:16 "$one" "$program" -s 256
		found corrupt:$message "$one" "$program" -s 1
	done
}

# bats test_tags=core
@test "atomics: lost, done twice, on another word: the counter ends elsewhere" {
	local program message=$((first + 3))
	for program in atomic_lat atomic_bw; do
		found lose:$message '.lost == 1 and .errors == 1' "$program" -A FETCH_AND_ADD
		found dup:$message '.lost == 0 and .errors == 1' "$program" -A FETCH_AND_ADD
		found misplace:$message:8 '.lost == 1 and .errors == 1' "$program" -A FETCH_AND_ADD
		# None behind it finds what it expects.
		found lose:$message '.lost == 1021 and .errors == 1 and .first_error.message == 3' "$program" -A CMP_AND_SWAP
		found misplace:$message:8 '.lost == 1021 and .first_error.message == 3' "$program" -A CMP_AND_SWAP
	done
}

@test "the server as the one who asks: --reversed, and -b" {
	local program
	for program in read_bw atomic_bw; do
		damaged server "lose:$((first + 3))" "$program" --reversed
		ended client 5
		ended server 5
		json c.json '.results[-1].verification | .errors == 1'
		damaged server "lose:$((first + 3))" "$program" -b
		ended client 5
		ended server 5
		json c.json '[.results[] | .verification.errors, ends.verification.errors] | add == 2 and .[0] == 1'
	done
}

@test "nothing is wrong: deferred, several QPs and threads, lists, both ways, one outstanding" {
	local program
	export SIMVERBS_DEFER=1
	for program in read_bw atomic_bw; do
		pair "$program" --verify=200 -n 50 -b -q 3 --threads 2 -l 4
		says client.err ', no error'
		pair "$program" --verify=200 -n 50 -o 1 -t 7
		says client.err ', no error'
		pair "$program" --verify=200 -n 50 --reversed
		says server.err ', no error'
	done
	pair atomic_bw --verify=200 -n 50 -A CMP_AND_SWAP -q 3 --threads 2
	says client.err ', no error'
	pair read_bw --verify=50 -n 5 -a
	(($(grep -c 'verified: .* no error' client.err) == 23))
}
