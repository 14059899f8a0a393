#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# bats file_tags=standin,san
# shellcheck disable=SC2016,SC2154 # $ of jq; what lib/rdmark.bash sets
#
# The calls of a stream on devices that have them all, some or none.

load ../lib/rdmark

setup_file() { need_device; }

@test "a device without ibv_wr_*: auto goes without, wr says so" {
	export SIMVERBS_DEVICES='sim0 gid.0=v2/127.0.0.1 noqpex'
	pair write_bw -n 300 -s 64 --json
	json client.out '.effective.calls == "ibv_post_send"'
	server write_bw
	client write_bw --post-api wr -n 300
	serves_next write_bw
	ended client 77
	says client.err '--post-api wr: sim0 does not support the ibv_wr_* calls' 'Fix: '
}

# bats test_tags=core
@test "the receiver polls by ibv_start_poll if that is told, with bad completions, too; else by ibv_poll_cq" {
	server send_bw --json=server.json
	client send_bw --post-api wr -n 3000 -s 64 -q 2
	finish server
	ended server 0
	json server.json '.effective.calls == "ibv_start_poll"'
	server send_bw --json=server.json
	client send_bw -n 3000 -s 64 --json=client.json
	finish server
	ended client 0
	json server.json '.effective.calls == "ibv_poll_cq"'
	json client.json '.effective.calls == "ibv_wr"'
	SIMVERBS_FAULT=wc:700:WR_FLUSH_ERR server send_bw
	client send_bw --post-api wr -n 3000 -s 64
	finish server
	ended server 1
	says server.err 'receive of 64 B'
}

@test "a device without extended CQs: the receiver polls as ever" {
	export SIMVERBS_DEVICES='sim0 gid.0=v2/127.0.0.1 nocqex'
	server send_bw --json=server.json
	client send_bw --post-api wr -n 300 -s 64
	finish server
	ended client 0
	ended server 0
	json server.json '.effective.calls == "ibv_poll_cq"'
}

# Its library's ibv_next_poll is broken.
@test "soft-RoCE's CQs are never extended, and auto posts by ibv_post_send there" {
	export SIMVERBS_DEVICES='rxe0 gid.0=v2/127.0.0.1 vendor=0xffffff'
	pair send_bw -n 300 -s 64 --json=client.json
	json client.json '.effective.calls == "ibv_post_send"'
	server send_bw --json=server.json
	client send_bw --post-api wr -n 300 -s 64
	finish server
	ended client 0
	json server.json '.effective.calls == "ibv_poll_cq"'
}

# bats test_tags=core
@test "a post that fails is told by its name" {
	server write_bw
	SIMVERBS_FAIL=ibv_wr_complete:300:ENOMEM client write_bw --post-api wr -n 3000 -s 64
	finish server
	ended client 1
	says client.err 'ibv_wr_complete' 'Cannot allocate memory'
}

# What rdma-core's bnxt_re does: only the last request of a batch by ibv_wr_* has a header.
@test "case 44: auto posts lists by ibv_post_send, which all devices send; one message a doorbell by ibv_wr_*" {
	export SIMVERBS_DEVICES='bnxt_re0 gid.0=v2/127.0.0.1 vendor=0x14e4 lastheader'
	local program
	for program in write_bw send_bw 'send_bw -b'; do
		pair $program -l 32 -n 3200 -s 64 -v --verify=3200 --json=client.json
		json client.json '.status == "ok" and .effective.calls == "ibv_post_send"
			and all(.results[] | ends.verification // empty; .errors == 0)'
		says client.err 'posts by ibv_post_send, as all lists are'
	done
	pair write_bw -n 300 -s 64 -v --json=client.json
	json client.json '.effective.calls == "ibv_wr"'
	says client.err 'posts by ibv_wr, which the device has'
	server write_bw
	client write_bw --post-api wr -l 32 -n 3200 -s 64
	serves_next write_bw
	ended client 77
	says client.err '--post-api wr with -l 32: not on bnxt_re0, a Broadcom adapter' 'Fix: omit --post-api'
	# At the peer it is not this machine that lacks something.
	export SIMVERBS_DEVICES="sim0 gid.0=v2/127.0.0.1; $SIMVERBS_DEVICES"
	server send_bw -d bnxt_re0
	client send_bw -b -d sim0 --post-api wr -l 32 -n 3200 -s 64 --json=c.json
	serves_next send_bw -d sim0
	ended client 3
	says client.err 'the server (' ' reports: creating the QPs: --post-api wr with -l 32: not on bnxt_re0' 'Fix: omit --post-api'
	json c.json '.error.from_peer and .error.stage == "resources"'
}

@test "the stand-in's lastheader: a list by ibv_wr_* sends messages of nothing" {
	export SIMVERBS_DEVICES='sim0 gid.0=v2/127.0.0.1 lastheader'
	pair write_bw -n 300 -s 64 --post-api wr
	server write_bw
	client write_bw -l 3 -n 300 -s 64 --post-api wr --timeout 1
	finish server
	ended client 4
	says client.err 'no completion for 1 s' 'This device may not send lists that ibv_wr_* posts' 'Fix: try --post-api send'
}
