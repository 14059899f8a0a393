#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# bats file_tags=standin,san
# shellcheck disable=SC2016,SC2154 # $ of jq; what lib/rdmark.bash sets
#
# -c XRC, on a device that has it and on others.

load ../lib/rdmark
load ../lib/gpu
load ../lib/machine

setup_file() {
	need_device
	export SIMVERBS_DEVICES='mlx0 xrc gid.0=v2/127.0.0.1'
}

readonly without='sim0 gid.0=v2/127.0.0.1'

# over PROGRAM ARG…: a pair; c.json has the client's document.
over() { pair "$1" -c XRC "${@:2}" --json=c.json; }

@test "all programs, polling and by events" {
	local program
	for program in send_lat write_lat read_lat atomic_lat send_bw write_bw read_bw atomic_bw; do
		over "$program" -n 300
		json c.json '.experiment.connection == "XRC" and .results[0].messages == 300'
	done
	over send_lat -n 200 -e
	over send_bw -n 300 -e -b
}

# bats test_tags=core
@test "many QPs, both ways, a shared receive queue, own CQs, threads" {
	over send_bw -q 3 -b -n 500 -s 64
	over write_bw -q 3 -b -n 500 -s 64
	over send_bw -q 4 -n 500 --use-srq -r 256
	json c.json '.experiment.qp == 4 and .results[0].messages == 2000'
	over send_bw -q 4 -n 500 --own-cqs --threads 2
	over write_bw -q 3 -n 500 --write_with_imm -l 8 -Q 16
}

@test "all sizes" {
	over send_bw -a -n 20
	over write_lat -a -n 5
	json c.json '.results | length > 20'
}

# bats test_tags=core
@test "each message has its place: --verify" {
	over send_bw -q 3 -b -n 300 -s 4k --verify=200
	over send_lat -n 300 --verify=200
	over write_bw -q 3 -n 300 --write_with_imm --verify=200
	over read_bw -q 2 -n 300 --verify=200
	json c.json '.results[0].verification | .errors == 0 and .lost == 0'
}

@test "by both calls, inline and not" {
	local api
	for api in send wr; do
		over send_bw -q 2 -n 500 -s 64 -I 64 --post-api "$api"
		over write_bw -q 2 -n 500 -s 64 -I 0 --post-api "$api"
		json c.json ".effective.calls | startswith(\"ibv_\" + (\"$api\" | if . == \"wr\" then . else \"post\" end))"
	done
}

@test "the cells of gdr_bw" {
	driver
	server gdr_bw
	client gdr_bw -c XRC -n 20 --windows 3 --within 100 --json=c.json
	finish server
	ended client 0
	json c.json '[.results[].cell] | contains(["gdr", "staged"])'
}

# bats test_tags=rxe
@test "a client without XRC says so before it looks for a server" {
	SIMVERBS_DEVICES=$without
	start cli write_bw -c XRC 127.0.0.1 -p 1
	finish cli
	ended cli 77
	says cli.err ' does not support transport XRC' 'device_cap_flags' 'Fix: use -c RC'
	says_no cli.err waiting
}

@test "a server without XRC refuses such a client, and serves the next one" {
	SIMVERBS_DEVICES=$without server send_bw
	client send_bw -c XRC -n 10
	ended client 3
	says client.err 'the server (' 'reports: choosing the device: sim0 does not support transport XRC'
	SIMVERBS_DEVICES=$without serves_next send_bw
}

@test "a device that says that it has XRC, and has not" {
	server send_lat
	SIMVERBS_FAIL=ibv_open_xrcd:1:EOPNOTSUPP client send_lat -c XRC -n 10
	ended client 77
	says client.err 'ibv_open_xrcd' 'opens no domain for it'
	serves_next send_lat -c XRC
	server send_lat
	SIMVERBS_FAIL=ibv_create_srq:1:EINVAL client send_lat -c XRC -n 10
	ended client 1
	says client.err 'ibv_create_srq'
	serves_next send_lat -c XRC
}

@test "fewer SRQs than QPs, and rdma_cm: refused" {
	SIMVERBS_DEVICES+=' max_srq=2'
	server send_bw
	client send_bw -c XRC -q 3
	ended client 2
	says client.err '3 SRQs are more than mlx0 has (2)' 'Fix: use fewer QPs with -q'
	serves_next send_bw -c XRC -q 3 --use-srq
	start cli send_bw -c XRC -R 127.0.0.1
	finish cli
	ended cli 77
	says cli.err '-R/--rdma_cm cannot be used with transport XRC'
}

# bats test_tags=core
@test "QPs without their other halves, or with nonsense in place of them" {
	local key filter
	listen_in
	hello=$(jq -c '.experiment.connection = 3' <<<"$hello")
	while read -r key filter; do
		server send_lat
		stranger say "$hello" hear welcome say "$(jq -c "$filter" <<<"$qps")" hear error
		ended stranger 0
		serves_next send_lat
		says server.err "$key"
	done <<-'END'
		SRQs .
		SRQs .strands[0].srqns=[1]
		SRQs .strands[0].senders=[1]
		srqns .strands[0].senders=[1]|.strands[0].srqns=[16777216]
		srqns .strands[0].senders=[1]|.strands[0].srqns=[]
		senders .strands[0].senders="1"
	END
}
