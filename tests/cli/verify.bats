#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# bats file_tags=standin,san
# shellcheck disable=SC2034,SC2154 # what lib/rdmark.bash sets
#
# --verify on a network that works: everything is checked, and nothing is wrong.

load ../lib/rdmark

setup_file() { need_device; }

# verified PROGRAM ARG…: both ends have checked something, and found nothing.
verified() {
	pair "$@" --json=c.json
	says client.err 'verified: ' ', no error'
	says server.err 'verified: ' ', no error'
	json c.json '.status == "ok" and .experiment.verify and ([.results[] | ends, . | .verification]
		| length > 0 and all(.messages > 0 and .errors == 0))'
	json c.json '[.results[] | .by_thread[]?, .by_device[]? | .verification] | all(. == null)'
	json c.json '[.results[] | all_parts | select(.verification)] | . != [] and all(.[]; .verification.bytes == .verification.messages * .message_bytes)'
}

# An emulated machine takes long for each.
sizes=(1 2 8 100 65536)
[[ ! ${RDMARK_PATHS-} ]] || sizes=(100 65536)

# bats test_tags=rxe
@test "nothing is wrong, in every program, whatever the size" {
	local program size
	for program in "${programs[@]}"; do
		for size in "${sizes[@]}"; do
			verified "$program" --verify=100 -n 20 -s "$size"
		done
	done
}

# bats test_tags=rxe
@test "nothing is wrong with READs and atomics" {
	local size
	for size in "${sizes[@]}"; do
		verified read_bw --verify=100 -n 20 -s "$size"
	done
	verified read_lat --verify=200 -n 20 -s 100
	verified read_bw --verify=200 -n 50 -b -q 3 --threads 2 -s 1000
	verified atomic_lat --verify=200 -n 20
	verified atomic_bw --verify=200 -n 20 -b -q 2 --threads 2
	verified atomic_bw --verify=200 -n 20 -q 2 -A CMP_AND_SWAP -o 1
}

# bats test_tags=core
@test "all sizes: a line for each, and slots that are used again" {
	local sizes=(-a) count=23
	# A busy emulated soft-RoCE loses so many packets of the largest ones that it stalls.
	[[ ${RDMARK_PRELOAD-} ]] || sizes=(-s 2:64k:x2) count=16
	verified write_bw --verify=50 -n 2 "${sizes[@]}"
	(($(grep -c 'verified: ' client.err) == count))
}

# bats test_tags=core
@test "directions, QPs, threads, post lists, depths, inline" {
	# Without a number it takes a second for each.
	verified send_bw --verify=200 -n 50 -b -s 4096
	verified write_bw --verify=200 -n 50 -b -q 3 --threads 2 -s 1000
	verified send_bw --verify=20000 -n 50 --reversed -q 3 --threads 2 -l 4 -s 1000
	verified write_bw --verify=20000 -n 50 --reversed -I 64 -s 64 -l 7 -t 20
	verified send_bw --verify=2000 -n 50 -r 1 -s 100
	verified send_bw --verify=20000 -n 50 -b -r 2 -q 2 -t 3 -s 100
	verified send_bw --verify=20000 -D 0.2 -r 37 -t 5 -l 5 -s 100
	verified send_lat --verify=200 --threads 2 -n 100 -s 300
	verified write_lat --verify=2000 -D 0.2 -s 70000
}

@test "a second size finds the receive queues as the first one did" {
	local sizes=(-s 2:64k:x2)
	# See above.
	[[ ${RDMARK_PRELOAD-} ]] || sizes=()
	verified send_bw --verify=50 -b -n 40 -r 16 -q 2 --repeat 2 "${sizes[@]}"
	verified send_lat --verify=50 -n 40 -r 16 --repeat 2 "${sizes[@]}"
}

@test "without it nothing is checked; --data_validation is another name of it" {
	pair send_bw -n 20 --json=c.json
	says_no client.err verified
	json c.json '(.experiment.verify | not) and ([.results[] | all_parts.verification] | . != [] and all(. == null))'
	verified send_bw --data_validation -n 20
}

@test "so many messages as were asked for, and both numbers are said" {
	verified write_bw --verify=300 -n 20 -s 4096
	says client.err 'verified: 300 messages of 4 KiB, 1200 KiB (measured: 80 KiB), no error'
	json c.json '.experiment.verify == 300 and .results[0].verification.messages == 300'
}

@test "an interrupted run is not verified any more" {
	server write_bw
	proxy
	start_client write_bw --verify -D 100 --json=c.json
	await 'client round' 'server ready' 'client round' 'server ready' 'client alive'
	kill -INT "${pid[client]}"
	finish client server
	ended client 130
	ended server 0
	says_no client.err verified
	json c.json '.status == "interrupted" and .results[0].verification == null'
}

@test "all cells of gdr_bw are compared in any case: refused, with what to do" {
	start cli gdr_bw --verify 127.0.0.1
	finish cli
	ended cli 2
	says cli.err '--verify cannot be used without --plain' 'Fix: add --plain'
	verified gdr_bw --plain --verify=200 -n 20
}
