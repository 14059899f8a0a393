#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# bats file_tags=standin,san
# shellcheck disable=SC2016,SC2154 # $ of jq; what lib/rdmark.bash sets
#
# --share: threads post by thread domains of their own, or by the doorbell of their context. The
# stand-in says by how many doorbells an end posted, and how many of them threads shared.

load ../lib/rdmark

setup_file() { need_device; }

# posted DOORBELLS SHARED PROGRAM ARG…: a pair whose client posts by so many doorbells; c.json
posted() {
	local said
	server "$3"
	SIMVERBS_DOORBELLS=$PWD/bells client "${@:3}" --json=c.json
	finish server
	ended server 0
	ended client 0
	said=$(awk '$1 != "waited" { print $1, $2 }' bells)
	[[ $said == "doorbells $1"$'\n'"shared $2" ]] || fail "$said: ${*:3}"
}

waits() { awk '$1 == "waited" { print $2 }' bells; }

# bats test_tags=core
@test "1, 2, 4 and 8 threads have a doorbell each, and wait for none" {
	local threads
	posted 1 0 write_bw -n 2000 -s 64
	json c.json '.effective | has("share") | not'
	for threads in 2 4 8; do
		posted $threads 0 write_bw --threads $threads -n 2000 -s 64
		json c.json '.experiment.share == "none" and .effective.share == "none"'
		(($(waits) == 0)) || fail "$(<bells)"
	done
}

# bats test_tags=core
@test "--share=context: 2, 4 and 8 threads have one doorbell, and wait for it; by both calls" {
	local threads
	for threads in 2 4 8; do
		posted 1 1 write_bw --threads $threads --share=context -n 2000 -s 64
		json c.json '.experiment.share == "context" and .effective.share == "context"'
		says client.err 'the threads share a context, as --share says'
		(($(waits) > 0)) || fail "$(<bells)"
	done
	posted 1 1 write_bw --threads 2 --share=context -n 2000 -s 64 --post-api send
	posted 1 0 write_bw --share=context -n 200
	json c.json '.effective | has("share") | not'
}

@test "both are rows of one run" {
	pair write_bw --threads 2 --share=none,context -n 200 -s 64 --json=c.json
	json c.json '[.results[] | .varied.share] == ["none", "context"]'
}

# bats test_tags=core
@test "every kind of QP has it: XRC, UD, SRQs, CQs, events, both directions, --verify, latency" {
	export SIMVERBS_DEVICES='mlx0 xrc gid.0=v2/127.0.0.1'
	posted 4 0 send_bw --threads 2 -c XRC -q 2 --verify=200 -n 200
	posted 2 0 send_bw --threads 2 -c UD -s 1024 -n 200
	posted 2 0 send_bw --threads 2 -q 3 --own-cqs -b -n 200
	posted 2 0 send_bw --threads 2 -e -n 200
	posted 2 0 send_lat --threads 2 -n 200
	posted 2 0 read_bw --threads 2 -n 200
	posted 2 0 send_bw --threads 2 -q 2 --use-srq -n 200
	SIMVERBS_DEVICES='efa_0 efa' posted 2 0 write_bw --threads 2 -n 200
	json c.json '.experiment.connection == "SRD"'
}

@test "a device without thread domains, or without one more: its threads share, and -v says why" {
	SIMVERBS_DEVICES='sim0 gid.0=v2/127.0.0.1 notd' posted 1 1 write_bw --threads 2 -n 200 -v
	json c.json '.experiment.share == "none" and .effective.share == "context"'
	says client.err 'the threads share a context: sim0 has no thread domains'
	SIMVERBS_FAIL=ibv_alloc_td:2+:ENOMEM client_shares
	SIMVERBS_FAIL=ibv_alloc_parent_domain:2+:ENOMEM client_shares
}

client_shares() { # of three threads the first alone has a doorbell
	posted 2 1 write_bw --threads 3 -n 200 -v
	json c.json '.effective.share == "context"'
	says client.err ': Cannot allocate memory'
}
