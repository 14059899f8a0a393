#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# bats file_tags=standin,san
# shellcheck disable=SC2016,SC2030,SC2031,SC2154 # $ of jq; what lib/rdmark.bash sets
#
# -c SRD, on the stand-in's Elastic Fabric Adapter: every send is signalled, nothing has an order (of
# four requests that are posted together the last is carried out first), a SEND is a packet.

load ../lib/rdmark
load ../lib/perftest

readonly efa='efa_0 efa shuffle=4 speed=HDR' roce='sim0 gid.0=v2/127.0.0.1'

setup_file() {
	[[ ${RDMARK_PRELOAD-} ]] || skip_file 'only the stand-in has such a device'
	export SIMVERBS_DEVICES=$efa
	need_device
}

# ran PROGRAM ARG…: as pair, with the client's document in c.json.
ran() {
	pair "$@" -c SRD --json=c.json
	json c.json '.status == "ok" and .experiment.connection == "SRD"'
}

@test "-c SRD: each program, latency and bandwidth" {
	local operation
	for operation in send write read; do
		ran ${operation}_lat -n 200
		json c.json '.results[-1].messages == 200 and .results[-1].latency_p50_us > 0'
		ran ${operation}_bw -n 500 -s 4096
		json c.json '.results[-1].messages == 500 and .results[-1].bandwidth_gbps > 0'
		json c.json '.effective.cq_mod == 1'
	done
}

@test "-c SRD: combinations of a sweep, whose default size is what the device sends" {
	ran send_bw -l 1,8 -n 96,192
	json c.json '[.results[] | [.message_bytes, .messages]] == [[8192, 96], [8192, 192], [8192, 96], [8192, 192]]'
}

# bats test_tags=core
@test "-c SRD: several QPs and threads, both directions, lists, a schedule, events" {
	local operation
	for operation in send write read; do
		ran ${operation}_bw -n 96 -s 1024 -q 3 -b
		json c.json '[.results[] | .messages] | last == 576'
		ran ${operation}_bw -n 101 -s 1024 -q 2 --threads 2 -l 8
		json c.json '.results[-1].messages == 404'
		ran ${operation}_bw -n 101 -s 1024 -l 4 --rate_limit 1g --own-cqs
		json c.json '.results[-1].messages == 101'
		ran ${operation}_bw -D 0.2 -s 1024 --reversed
	done
	ran write_bw -n 100 -s 1024 --write_with_imm -q 2
	ran send_lat -n 100 -e
	ran write_lat -n 100 -e
	ran read_lat -n 100 --latency_gap 10
	ran send_lat -n 100 --latency_rate 10000
	ran send_bw -n 300 -s 64 --post-api send
	json c.json '.effective.calls == "ibv_post_send"'
}

@test "a client on an EFA takes SRD by itself, a size that a packet has, and says so" {
	server send_bw
	client send_bw -n 100 --json=c.json
	finish server
	ended client 0
	json c.json '.experiment.connection == "SRD" and .results[0].message_bytes == 8192'
	says client.err 'transport SRD: efa_0 is an EFA' 'messages of 8 KiB, not 64 KiB' 'SRD over EFA'
	says_no client.err MTU
	pair write_bw -n 20 --json=c.json
	json c.json '.experiment.connection == "SRD" and .results[0].message_bytes == 65536'
	json c.json '.ends.client | .transport == "EFA" and .gid_index == 0 and .gid_type == "EFA"'
}

@test "-a ends at the largest SEND, or RDMA message; a larger -s is refused" {
	export SIMVERBS_DEVICES="$efa max_rdma=100000"
	ran send_bw -a -n 20
	json c.json '[.results[].message_bytes] | unique | length == 13 and last == 8192'
	ran write_bw -a -n 20
	json c.json '[.results[].message_bytes] | max == 65536'
	ran send_lat -n 20 -s 8928
	server send_bw
	client send_bw -s 8929
	ended client 2
	says client.err 'messages of 8929 B are too large: efa_0 port 1 supports at most 8928 B'
	client read_bw -s 128k
	ended client 2
	says client.err 'efa_0 port 1 supports at most 97.66 KiB'
	client send_bw -n 10
	finish server
	ended server 0
}

@test "--verify: another order is no fault" {
	local operation
	for operation in send write read; do
		ran ${operation}_bw -n 100 -s 600 -q 2 -b -l 4 --verify=3000
		json c.json '[.results[].verification | .errors, .lost] | unique == [0]'
		ran ${operation}_lat -n 100 -s 600 --verify=500
		json c.json '.results[-1].verification | .errors == 0 and .messages >= 500'
	done
	ran send_bw -a -n 20 --verify=200 -t 8
	ran write_bw -n 100 --write_with_imm --verify=500
}

# bats test_tags=core
@test "--verify: a loss and a wrong byte are" {
	local operation fault
	for operation in send write; do
		for fault in lose corrupt; do
			server ${operation}_bw
			through=(env "SIMVERBS_FAULT=$fault:1500")
			start_client ${operation}_bw -c SRD -n 500 -s 512 --verify=3000 --json=c.json
			through=()
			finish client server
			ended client 5
			ended server 5
			json c.json '.results[-1].verification.errors == 1'
			[[ $fault == corrupt ]] || json c.json '.results[-1].verification.lost == 1'
		done
	done
}

# refused STATUS WORDS ARG…: of a client, which leaves the server alone.
refused() {
	client "${@:3}"
	ended client "$1"
	says client.err "$2"
}

@test "refused before the server hears of it, with the reason" {
	server send_bw
	refused 77 'RC is not supported on efa_0, which is EFA. An Elastic' send_bw -c RC
	refused 77 'transport UD is not supported on efa_0' send_bw -c UD
	refused 77 '-R/--rdma_cm cannot be used with transport SRD' send_bw -R -c SRD
	refused 77 '-R/--rdma_cm cannot be used with transport SRD' send_bw -R
	refused 2 '--use-srq cannot be used with transport SRD' send_bw --use-srq
	refused 2 '--outs cannot be used with transport SRD' read_bw --outs 4
	refused 2 '-I/--inline_size cannot be used with write_bw over SRD' write_bw -I 16
	refused 2 '--post-api send cannot be used with read_bw over SRD' read_bw --post-api send
	refused 2 'SRD cannot be used with atomic_bw. An EFA does not support' atomic_bw
	refused 2 'SRD cannot be used without --plain. Fix: add --plain' gdr_bw
	SIMVERBS_DEVICES="$efa efa_caps=3" refused 77 'efa_0 does not support RDMA WRITE' write_lat
	SIMVERBS_DEVICES="$efa efa_caps=8" refused 77 'efa_0 does not support RDMA READ' read_lat
	SIMVERBS_DEVICES=$roce refused 77 'SRD is not supported on sim0, which is RoCE. SRD is' send_bw -c SRD
	client send_bw -n 10
	finish server
	ended server 0
	start server send_bw -c RC
	finish server
	ended server 77
}

# bats test_tags=core
@test "an EFA and another device: refused at both ends" {
	server send_bw
	SIMVERBS_DEVICES=$roce refused 77 'RC is not supported on efa_0, which is EFA' send_bw
	waits_on
	SIMVERBS_DEVICES=$roce server send_bw
	refused 77 'SRD is not supported on sim0, which is RoCE' send_bw
	SIMVERBS_DEVICES=$roce serves_next send_bw
}

@test "a device without the newer capabilities; queues that a CQ does not hold" {
	export SIMVERBS_DEVICES="$efa efa_caps=0"
	ran send_bw -n 3000 -s 64
	ran send_lat -n 300
	export SIMVERBS_DEVICES="$efa max_cqe=64"
	server send_bw
	client send_bw -c SRD -n 10
	ended client 2
	says client.err '128 sends on each of 1 QPs are more than a CQ of efa_0 holds (64)' 'use a smaller -t, at most 64'
}

@test "what sets the path is ignored, and that is said" {
	server send_lat
	client send_lat -n 20 --sl 1 --tos 4
	finish server
	ended client 0
	says client.err '-S/--sl is ignored on an EFA' '-T/--tos is ignored on an EFA'
}

@test "its counters are among those of the run, and in the list" {
	"${RDMARK_PRELOAD%/*}/simverbs-sysfs" sys
	export RDMARK_SYSFS=$PWD/sys SIMVERBS_SYSFS=$PWD/sys
	start list rdmark list
	finish list
	says list.out 'ACTIVE EFA ' 'GID   0  EFA '
	local of=sys/class/infiniband/efa_0/ports/1/hw_counters
	server send_bw
	start_client send_bw -D 30 -s 64 --interval 0.1 --json=c.json
	until_says client.err '^[a-z_]*: [0-9.]* s: '
	echo 5 >$of/new
	mv $of/new $of/rx_drops
	kill -TERM "${pid[client]}"
	finish client server
	json c.json '.results[0].quality | .losses == 5 and .retransmissions == 0'
}

# header FILE: what both print of a run, but for what is each one's own.
header() { sed -En '/^ (Connection type|CQ Mod|Mtu|Link type|GID index|Number of qps)/{s/\t.*Device.*//; s/ +/ /g; p}' "$1"; }

@test "perftest's command lines with -c SRD: what both say of them" {
	local line program
	for line in 'send_lat -n 100' 'send_bw -n 500 -s 4096' 'read_bw -n 100 -s 65536'; do
		program=${line%% *}
		ln -sf "$RDMARK_BIN/$program" "ib_$program"
		server "./ib_$program" -c SRD -x 0
		# shellcheck disable=SC2086 # options
		client "./ib_$program" -c SRD -x 0 ${line#* }
		finish server
		ended client 0
		ended server 0
		header client.out >ours
		says ours 'Connection type : SRD' 'Transport type : Unknown' 'Link type : IB' 'GID index : 0'
		[[ $program == *_lat ]] || says ours 'CQ Moderation : 1'
		ib_send_bw --help 2>/dev/null | grep -q SRD || continue
		# shellcheck disable=SC2086 # options
		start perftest "$(command -v "ib_$program")" -c SRD -x 0 -p "$port" ${line#* }
		until_listening perftest
		# shellcheck disable=SC2086 # options
		start client "$(command -v "ib_$program")" -c SRD -x 0 -p "$port" ${line#* } "$host"
		finish client perftest
		ended client 0
		header client.out >theirs
		diff theirs ours || fail 'not what perftest says'
	done
}
