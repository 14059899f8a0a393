#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# bats file_tags=standin,san,long,core
# shellcheck disable=SC2034,SC2154 # what lib/rdmark.bash sets and reads
#
# Calls that fail.

load ../lib/rdmark
load matrix

@test "making the PD fails" {
	local program side
	for program in "${programs[@]}"; do
		for side in client server; do
			fix='' early "$program" "$side" SIMVERBS_FAIL=ibv_alloc_pd:1+:ENOMEM 1 'creating the QPs' ibv_alloc_pd \
				'Cannot allocate memory'
		done
	done
}

@test "making a CQ fails" {
	everywhere SIMVERBS_FAIL=ibv_create_cq_ex:1+:ENOMEM,ibv_create_cq:2:ENOMEM 1 'creating the QPs' 'ibv_create_cq(' 'Cannot allocate memory'
}

@test "making a QP fails" {
	everywhere SIMVERBS_FAIL=ibv_create_qp_ex:1+:ENOMEM,ibv_create_qp:1+:ENOMEM 1 'creating the QPs' 'ibv_create_qp(1 of 1)' 'Cannot allocate memory'
}

@test "making a QP fails: what the error number says" {
	local number text
	while read -r number text; do
		early send_bw client "SIMVERBS_FAIL=ibv_create_qp_ex:1+:$number,ibv_create_qp:1+:$number" 1 'ibv_create_qp(' "$text"
	done <<-'END'
		EPERM /dev/infiniband/uverbs
		EMFILE ulimit -n
		EOPNOTSUPP does not support the call
	END
}

@test "making the first CQ fails" {
	early send_bw client SIMVERBS_FAIL=ibv_create_cq:1:ENOMEM 1 'creating the QPs' 'ibv_create_cq(' RLIMIT_MEMLOCK
}

@test "memlock too small: the limit, what the call pins, and what is pinned" {
	server send_bw
	through=(env SIMVERBS_FAULT=reg_max:1000 SIMVERBS_MEMLOCK=16384)
	client send_bw -s 1M -n 5
	through=()
	ended client 1
	serves_next send_bw
	says client.err 'RLIMIT_MEMLOCK is 16 KiB' 'is already pinned' 'Fix: ulimit -l unlimited'
}

@test "registering memory fails" {
	everywhere SIMVERBS_FAULT=reg_max:1000 1 'registering memory' 'ibv_reg_mr(' RLIMIT_MEMLOCK
}

@test "the QP does not come up" {
	local program side
	for program in "${programs[@]}"; do
		for side in client server; do
			early "$program" "$side" SIMVERBS_FAIL=ibv_modify_qp:1:EINVAL 1 'creating the QPs' 'to INIT' 'Invalid argument'
			early "$program" "$side" SIMVERBS_FAIL=ibv_modify_qp:2:EINVAL 1 'connecting the QPs' 'to RTR' GID
			early "$program" "$side" SIMVERBS_FAIL=ibv_modify_qp:3:EINVAL 1 'connecting the QPs' 'to RTS' 'Invalid argument'
		done
	done
}

@test "the device fails between the look at all and the use of one" {
	early send_bw client SIMVERBS_FAIL=ibv_open_device:3:EACCES 1 'ibv_open_device(' 'Permission denied' uverbs
	early send_bw client SIMVERBS_FAIL=ibv_query_port:3:EIO 1 'querying' 'Input/output error' dmesg
}

@test "posting the first receive fails" {
	early send_lat client SIMVERBS_FAIL=ibv_post_recv:1:EIO 1 'ibv_post_recv(0 of' 'Input/output error'
}

@test "posting a receive fails" {
	told send_lat client SIMVERBS_FAIL=ibv_post_recv:10:EIO 1 ibv_post_recv 'Input/output error'
	told send_lat server SIMVERBS_FAIL=ibv_post_recv:10:EIO 1 ibv_post_recv 'Input/output error'
	told send_bw server SIMVERBS_FAIL=ibv_post_recv:18:EIO 1 ibv_post_recv 'Input/output error'
}

@test "posting a send fails" {
	senders SIMVERBS_FAIL=ibv_post_send:50+:EIO,ibv_wr_complete:50+:EIO 1 'Input/output error' dmesg
	told write_lat client SIMVERBS_FAIL=ibv_post_send:6:EIO 1 ibv_post_send 'Input/output error' dmesg
	told write_bw client SIMVERBS_FAIL=ibv_wr_complete:6:EIO 1 ibv_wr_complete 'Input/output error' dmesg
	told write_bw client SIMVERBS_FAIL=ibv_wr_complete:200+:EIO 1 ibv_wr_complete 'Input/output error' dmesg
}

@test "polling fails" {
	senders SIMVERBS_FAIL=ibv_poll_cq:2+:EIO 1 ibv_poll_cq
	told send_bw server SIMVERBS_FAIL=ibv_poll_cq:20+:EIO 1 ibv_poll_cq
}

@test "a server without a device that can be opened does not start" {
	through=(env SIMVERBS_FAIL=ibv_open_device:1+:EACCES)
	start cli send_bw
	finish cli
	ended cli 1
	says cli.err "ibv_open_device($DEVICE)" 'Permission denied' /dev/infiniband
}
