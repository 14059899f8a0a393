#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# bats file_tags=standin,rxe,san
# shellcheck disable=SC2016,SC2030,SC2031,SC2034,SC2154 # $ of jq; what lib/rdmark.bash sets and reads
#
# The device is taken away, or what it needs is changed, while it measures: both ends end in time and
# say why, what was measured is kept, and a server that stays serves on.

load ../lib/rdmark
load ../lib/wire

throwaway() { [[ -d /run/softroce && ! ${RDMARK_PRELOAD-} ]] || skip 'only in a machine of tests/softroce'; }

teardown_file() {
	[[ ! -d /run/softroce || ${RDMARK_PRELOAD-} ]] || deadline=60 unwire
	[[ ! ${RDMARK_DOCUMENTS-} ]] && compgen -G "$BATS_FILE_TMPDIR/*.documents" >/dev/null || return 0
	"$lib/schema" "$BATS_FILE_TMPDIR"/*.documents >&2 || (($? == 77))
}

# while_measuring COMMAND…: a run from rdB to rdA, and COMMAND in its midst.
while_measuring() {
	throwaway
	wire
	deadline=90
	server write_bw -d rdA --timeout 4
	start_client write_bw -d rdB --timeout 4 --interval 0.2 -s 4096 -D 60 --json=c.json
	until_says client.err ' s: '
	start pull "$(type -P "$1")" "${@:2}"
	finish client server pull
	ended pull 0
	within client 40
	json c.json '.status == "failed" and .results[0].interrupted and .results[0].messages > 0'
}

# blames END TEXT…: the cause is there; it says so, and so does the other end.
blames() {
	local other=client
	[[ $1 == server ]] || other=server
	ended "$1" 1
	ended "$other" 3
	says client.err "${@:2}" 'Fix: '
	says server.err "${@:2}"
}

@test "rdma link delete, at the client: both ends end at once, and the command with them" {
	while_measuring rdma link delete rdB
	blames client 'rdB' 'was removed'
}

@test "rdma link delete, at the server" {
	while_measuring rdma link delete rdA
	blames server 'rdA' 'was removed'
}

@test "the netdev is deleted, at the client" {
	while_measuring ip link delete wB
	blames client 'rdB was removed with its netdev wB'
}

@test "the netdev is deleted, at the server" {
	while_measuring ip link delete wA
	blames server 'rdA was removed with its netdev wA'
}

@test "the netdev moves to another namespace" {
	while_measuring sh -c 'ip netns add c && ip link set wB netns c'
	blames client 'rdB was removed with its netdev wB, which was deleted or moved to another network namespace'
}

@test "the link goes down, at either end" {
	while_measuring ip link set wB down
	blames client 'rdB port 1 went down' 'wB'
	while_measuring ip link set wA down
	blames server 'rdA port 1 went down' 'wA'
}

@test "the MTU shrinks under the QPs: that is the cause, not lost packets" {
	while_measuring ip link set wB mtu 600
	ended client 4
	says client.err 'The MTU of rdB is 512 B by now, and its packets have up to 1024 B'
	ended server 3
	says server.err 'The MTU of rdB is 512 B by now'
}

@test "the address of the GID is removed: that is the cause, not a malformed request" {
	while_measuring ip address delete 10.77.0.2/24 dev wB
	ended_with_any client 1 4
	says client.err '10.77.0.2, is no longer there'
	ended server 3
	says server.err '10.77.0.2, is no longer there'
	while_measuring ip address delete 10.77.0.1/24 dev wA
	says server.err '10.77.0.1, is no longer there'
}

@test "a server that stays says why, refuses while the device is gone, and serves when it is back" {
	throwaway
	wire
	deadline=90
	server write_bw -d rdA --persistent --timeout 4
	start_client write_bw -d rdB --timeout 4 --interval 0.2 -s 4096 -D 60
	until_says client.err ' s: '
	start pull "$(type -P rdma)" link delete rdA
	finish client pull
	ended client 3
	ended pull 0
	says client.err 'rdA was removed'
	client write_bw -d rdB -n 5 -s 64
	says client.err "no RDMA device 'rdA'"
	rdma link add rdA type rxe netdev wA
	await_active rdA
	client write_bw -d rdB -n 5 -s 64
	ended client 0
	kill -TERM "${pid[server]}"
	finish server
	ended server 0
	says server.err 'rdA was removed' "no RDMA device 'rdA'"
}

@test "on the stand-in: /sys shows the device no more" {
	local end
	[[ ${RDMARK_PRELOAD-} ]] || skip 'on the stand-in'
	for end in client server; do
		rm -rf sys
		"$root/build/tests/simverbs-sysfs" sys || skip 'no simverbs-sysfs here'
		if [[ $end == server ]]; then through=(env "RDMARK_SYSFS=$PWD/sys"); fi
		server write_bw --timeout 4
		through=()
		if [[ $end == client ]]; then through=(env "RDMARK_SYSFS=$PWD/sys"); fi
		start_client write_bw --timeout 4 --interval 0.2 -D 60 --json=c.json
		through=()
		until_says client.err ' s: '
		rm sys/class/infiniband_verbs/uverbs0
		finish client server
		blames $end 'sim0 was removed'
		json c.json '.status == "failed" and .results[0].interrupted and .results[0].messages > 0'
	done
}

# bats test_tags=core
@test "on the stand-in: a server that stays outlives a fatal error of the device" {
	[[ ${RDMARK_PRELOAD-} ]] || skip 'on the stand-in'
	SIMVERBS_FAULT=device_fatal:50 server send_bw --persistent --timeout 4
	client send_bw -n 1000 -s 64
	ended client 3
	says client.err 'sim0 failed' 'fatal error'
	client send_bw -n 5 -s 64
	kill -TERM "${pid[server]}"
	finish server
	ended server 0
	says server.err 'sim0 failed' 'SIGTERM: the server stops'
}
