#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# bats file_tags=standin
# shellcheck disable=SC2034,SC2154 # what lib/rdmark.bash sets and reads
#
# Documents of every kind that there is, made here and compared with the schema at once. (All other
# tests' documents are, too, but only these are known to be of every kind.)

load ../lib/rdmark
load ../lib/gpu

setup_file() { need_device; }

# fits DOCUMENTS STATUS…: so many, with these statuses, and all fit.
fits() {
	local code=0
	"$lib/schema" ./*.doc >schema.out 2>&1 || code=$?
	((code != 77)) || skip "$(<schema.out)"
	((code == 0)) || fail "$(<schema.out)"
	says schema.out "$1 different documents"
	[[ $(cat ./*.doc | jq -rs 'map(.status // empty) | unique | join(" ")') == "${*:2}" ]] || fail 'other statuses'
}

@test "ok: each test at both ends, all sizes, histogram, many QPs" {
	local program
	for program in "${programs[@]}"; do
		server "$program" --json="$program-server.doc"
		client "$program" -n 20 --json="$program-client.doc"
		finish server
		ended client 0
	done
	pair write_bw -a -n 2 --json=sizes.doc
	pair send_lat -n 300 -H --json=histogram.doc
	pair send_bw -n 50 -q 5 -N --json=qps.doc
	fits 11 ok
}

@test "intervals: lines of both kinds, and the document after them" {
	pair write_bw -D 0.5 --interval 0.1 --json
	cp client.out bandwidth.doc
	pair write_lat -D 0.5 --interval 0.1 --json
	cp client.out latency.doc
	(($(wc -l <bandwidth.doc) >= 2 && $(wc -l <latency.doc) >= 2)) # one of each at least: late intervals are one
	fits $(($(cat ./*.doc | wc -l))) ok
}

@test "a server that stays: a line for each client" {
	server send_bw --persistent --json=lines.doc --max-qps 2
	client send_bw -n 10
	client send_lat -n 20 # another program serves it
	client send_bw -q 3
	kill -TERM "${pid[server]}"
	finish server
	fits 3 failed ok
}

@test "interrupted, failed at both ends, unavailable" {
	server send_bw
	start_client send_bw -D 30 --interval 0.1 --json=interrupted.doc
	until_says client.err ' s: ' # it measures
	kill -INT "${pid[client]}"
	finish client server
	server send_bw --max-duration 4 --json=server.doc # from the hello on: it has to come to a round in that time
	client send_bw -n 1000000000 --json=client.doc
	finish server
	driver none
	start cli send_bw --gpu 0 --json=unavailable.doc
	finish cli
	ended cli 77
	fits 4 'failed interrupted unavailable'
}

@test "gdr_bw: with and without GPUs, slower than host memory, one row" {
	local quick=(-n 20 --windows 3)
	driver
	server gdr_bw --json=server.doc
	client gdr_bw "${quick[@]}" --within 100 --json=gpus.doc
	finish server
	ended client 0
	server gdr_bw
	client gdr_bw --plain -n 100 --json=plain.doc
	finish server
	driver none
	server gdr_bw
	client gdr_bw "${quick[@]}" --json=none.doc
	finish server
	ended client 77
	server gdr_bw
	driver
	SIMVERBS_DEVICES='sim0 gpu_read_mbps=50 gid.0=v2/127.0.0.1' \
		client gdr_bw "${quick[@]}" --gpu-path peermem --within 5 --json=slow.doc
	finish server
	ended client 6
	fits 5 'below_threshold ok unavailable'
}
