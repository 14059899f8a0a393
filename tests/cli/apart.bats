#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# bats file_tags=standin,long
# shellcheck disable=SC2016,SC2030,SC2031,SC2034,SC2154 # $ of jq; what lib/rdmark.bash sets and reads
#
# What one client of a server that stays leaves for the next one: no key of memory, no data.

load ../lib/rdmark
load ../lib/gpu

setup_file() {
	need_device
	[[ ! ${SKIP_FILE-} ]] || return 0
	cc -O1 -D_GNU_SOURCE -shared -fPIC -o "$BATS_FILE_TMPDIR/registered.so" "${BATS_TEST_DIRNAME}/../lib/registered.c" -ldl
}

over() {
	kill -TERM "${pid[server]}"
	finish server
	ended server 0
}

# A server that notes in "registered" what is in memory when it registers it.
watched_server() {
	rm -f registered
	through=(env REGISTERED_FILE="$PWD/registered" bash -c 'export LD_PRELOAD=$0:$LD_PRELOAD; exec "$@"' "$BATS_FILE_TMPDIR/registered.so")
	server "$@"
	through=()
}

# The server has registered BYTES or more since the last call, and each time all of it was 0.
all_zero() {
	[[ $(awk -v least="$1" '$1 == "zero" && $2 >= least' registered) ]] || fail "none: $(<registered)"
	! grep data registered || fail 'not zero'
	rm registered
}

@test "a key of memory ends with its client: who keeps it gets a remote access error" {
	local program own
	for program in write_bw read_bw atomic_bw write_lat read_lat atomic_lat; do
		rm -f keys
		server "$program" --persistent
		own=$port
		proxy keys=keys
		client "$program" -n 5
		finish proxy
		ended client 0
		port=$own
		proxy keys=keys
		client "$program" -n 5 --timeout 5
		finish proxy
		[[ ${status[client]} != 0 ]] || fail "$program: it could use the old key"
		says client.err 'remote access error'
		port=$own
		client "$program" -n 5
		ended client 0
		over
	done
}

@test "a client's host memory has nothing of the former client's" {
	local program
	echo something >file
	truncate -s 2m file
	watched_server write_bw --mmap file --auth=none
	client write_bw -n 5
	finish server
	grep data registered || fail 'it would not be seen'
	for program in write_bw read_bw send_bw atomic_bw write_lat read_lat; do
		watched_server "$program" --persistent
		for _ in 1 2 3; do
			client "$program" -n 50 -q 1 --verify=200
			ended client 0
			all_zero 1
		done
		client "$program" -n 5 --mr_per_qp
		ended client 0
		all_zero 1
		over
	done
}

@test "a client's GPU memory has nothing of the former client's" {
	local program route
	driver
	export SIMCUDA_TOUCHABLE=1
	for route in $(routes); do
		for program in write_bw read_bw 'gdr_bw --plain'; do
			# shellcheck disable=SC2086 # words
			watched_server $program --persistent --gpu 0 --gpu-path="$route"
			for _ in 1 2; do
				# shellcheck disable=SC2086 # words
				client $program -n 50 -s 64k --verify=200
				ended client 0
				all_zero 65536
			done
			over
		done
	done
	watched_server gdr_bw --persistent --gpu 0
	client gdr_bw -s 64k -D 0.01 --windows 3
	all_zero 65536
	client gdr_bw -s 64k -D 0.01 --windows 3
	all_zero 65536
	over
}
