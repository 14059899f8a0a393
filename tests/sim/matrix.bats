#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck disable=SC2154 # what lib/rdmark.bash sets
#
# Every fault that the stand-in can make, in every program, on each side: the side that has it names
# the phase, the call and the cause; the other one shows the same text as the peer's; both end with
# the right status, within the deadline. One test is a fault; the programs and sides are a loop.

load ../lib/rdmark

setup_file() { need_device; }

# run PROGRAM SIDE VARIABLE=VALUE: a pair of which one side has that environment.
run() {
	local program=$1 side=$2 fault=$3
	through=()
	[[ $side != server ]] || through=(env "$fault")
	server "$program" --timeout 3
	through=()
	[[ $side != client ]] || through=(env "$fault")
	client "$program" --timeout 3 -n 300 -s 64
	finish server
	through=()
}

other() { if [[ $1 == client ]]; then echo server; else echo client; fi; }

# told PROGRAM SIDE FAULT STATUS TEXT…: SIDE ends with STATUS and says TEXT, the other with 3 and says it, too.
told() {
	local program=$1 side=$2 fault=$3 code=$4
	local peer
	peer=$(other "$side")
	run "$program" "$side" "$fault"
	[[ ${status[$side]} == "$code" ]] || fail "$program, $side has $fault: it ended with ${status[$side]}, not $code"
	[[ ${status[$peer]} == 3 ]] || fail "$program, $side has $fault: the $peer ended with ${status[$peer]}, not 3"
	says "$side.err" "$program: " "${@:5}" 'Fix: '
	says "$peer.err" "$program: peer: " "${@:5}"
}

everywhere() {
	local program side
	for program in "${programs[@]}"; do
		for side in client server; do
			told "$program" "$side" "$@"
		done
	done
}

# Who takes part in the data path of a program: of a bandwidth test only the client sends.
senders() {
	local program
	for program in "${programs[@]}"; do
		told "$program" client "$@"
		[[ $program == *_bw ]] || told "$program" server "$@"
	done
}

@test "making the PD fails" {
	local program side
	for program in "${programs[@]}"; do
		for side in client server; do
			run "$program" "$side" SIMVERBS_FAIL=ibv_alloc_pd:1+:ENOMEM
			[[ ${status[$side]} == 1 && ${status[$(other "$side")]} == 3 ]] || fail "$program $side"
			says "$side.err" 'making the QPs' ibv_alloc_pd 'Cannot allocate memory'
			says "$(other "$side").err" peer: ibv_alloc_pd
		done
	done
}

@test "making a CQ fails" {
	everywhere SIMVERBS_FAIL=ibv_create_cq:2:ENOMEM 1 'making the QPs' 'ibv_create_cq(' 'Cannot allocate memory'
}

@test "making a QP fails" {
	everywhere SIMVERBS_FAIL=ibv_create_qp:1+:ENOMEM 1 'making the QPs' 'ibv_create_qp(1 of 1)' 'Cannot allocate memory'
}

@test "registering memory fails" {
	everywhere SIMVERBS_FAULT=reg_max:1000 1 'registering memory' 'ibv_reg_mr(' RLIMIT_MEMLOCK
}

@test "the QP does not come up" {
	local program side
	for program in "${programs[@]}"; do
		for side in client server; do
			told "$program" "$side" SIMVERBS_FAIL=ibv_modify_qp:2:EINVAL 1 'connecting the QPs' 'to RTR' GID
		done
	done
}

@test "posting a receive fails" {
	told send_lat client SIMVERBS_FAIL=ibv_post_recv:70:EIO 1 ibv_post_recv 'Input/output error'
	told send_lat server SIMVERBS_FAIL=ibv_post_recv:70:EIO 1 ibv_post_recv 'Input/output error'
	told send_bw server SIMVERBS_FAIL=ibv_post_recv:18:EIO 1 ibv_post_recv 'Input/output error'
}

@test "posting a send fails" {
	senders SIMVERBS_FAIL=ibv_post_send:50+:EIO 1 ibv_post_send 'Input/output error' dmesg
}

@test "polling fails" {
	senders SIMVERBS_FAIL=ibv_poll_cq:2+:EIO 1 ibv_poll_cq
	told send_bw server SIMVERBS_FAIL=ibv_poll_cq:20+:EIO 1 ibv_poll_cq
}

@test "a completion fails here: the NIC could not access the buffer" {
	senders SIMVERBS_FAULT=wc:3:4:153 1 'local protection error' 'status 4' 'vendor error 0x99'
	told send_bw server SIMVERBS_FAULT=wc:3:4:153 1 'receive of 64 B' 'local protection error'
}

@test "a completion fails: the peer does not answer" {
	senders SIMVERBS_FAULT=wc:2:12:129 3 'transport retry counter exceeded' 'vendor error 0x81' 'UDP port 4791'
}

@test "a completion fails: the peer refused the access" {
	told write_bw client SIMVERBS_FAULT=wc:1:10:136 1 'remote access error' rkey
	told write_lat client SIMVERBS_FAULT=wc:1:10:136 1 'remote access error' rkey
}

@test "the port goes down" {
	senders SIMVERBS_FAULT=port_down:150 1 "$DEVICE port 1 went down" cable
	told send_bw server SIMVERBS_FAULT=port_down:150 1 "$DEVICE port 1 went down"
}

@test "the device dies" {
	senders SIMVERBS_FAULT=device_fatal:150 1 "$DEVICE failed" 'fatal error'
	told send_bw server SIMVERBS_FAULT=device_fatal:150 1 "$DEVICE failed"
}

@test "a message is lost: nothing moves, the deadline says so" {
	local program side end
	for program in "${latency_programs[@]}"; do
		for side in client server; do
			run "$program" "$side" SIMVERBS_FAULT=lose:150
			for end in client server; do
				[[ ${status[$end]} == [34] ]] || fail "$program $side: $end ended with ${status[$end]}"
				says "$end.err" 'no message completed for 3 s'
			done
		done
	done
	run send_bw client SIMVERBS_FAULT=lose:150
	ended server 4
	ended client 3
	says client.err peer: 'no message completed for 3 s'
}

@test "a late completion is no fault" {
	local program
	for program in "${programs[@]}"; do
		run "$program" client SIMVERBS_FAULT=delay:150:200
		ended client 0
		ended server 0
	done
}

@test "the process dies" {
	local program side
	for program in "${programs[@]}"; do
		for side in client server; do
			[[ $program$side != write_bwserver ]] || continue # it sends and polls nothing
			run "$program" "$side" SIMVERBS_FAULT=kill:150
			[[ ${status[$side]} == 137 ]] || fail "$program $side: ended with ${status[$side]}"
			[[ ${status[$(other "$side")]} == 3 ]] || fail "$program: the other side ended with ${status[$(other "$side")]}"
			says "$(other "$side").err" 'was lost'
		done
	done
}

@test "a server without a device that can be opened does not start" {
	through=(env SIMVERBS_FAIL=ibv_open_device:1+:EACCES)
	start cli send_bw
	finish cli
	ended cli 1
	says cli.err "ibv_open_device($DEVICE)" 'Permission denied' /dev/infiniband
}
