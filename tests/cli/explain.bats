#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# bats file_tags=standin
# shellcheck disable=SC2016,SC2154 # $ of jq; what lib/rdmark.bash sets
#
# What limits a run is named rightly: time is scripted (SIMVERBS_SCRIPT), so the adapter's rate and the
# time of a message are known, and so is which of the ceilings they are at.

load ../lib/rdmark

setup_file() {
	export SIMVERBS_NULL=1
	need_scripted_time
}

real='post=2 poll=20 completion=5 clock=10 latency=2000'

# scripted WORDS PROGRAM ARG…: a pair, the client by this script, its document in c.json.
scripted() {
	server "$2"
	# of its own name: what a port sends to itself need not cross its link
	[[ ${RDMARK_SYSFS-} ]] || local -x SIMVERBS_DEVICES='sim1 gid.0=v2/127.0.0.1'
	SIMVERBS_SCRIPT="$real $1" client "${@:2}" --json=c.json
	finish server
	ended client 0
	ended server 0
}

# limited BY WORDS: by that, and the client says so after the table.
limited() {
	json c.json '.results[0].limit | .bound_by == $by and .certain' --arg by "$1"
	says client.err ": limited by $2"
}

# An adapter of 100 Gb/s in a slot of this speed and width, in a sysfs of its own.
slot() {
	[[ ${RDMARK_PRELOAD-} ]] || skip 'the PCIe link of a real adapter cannot be set'
	export SIMVERBS_DEVICES="sim0 gid.0=v2/127.0.0.1 pci=0000:41:00.0 pcie_gts=$1 pcie_width=$2"
	rm -rf sys
	"${RDMARK_PRELOAD%/*}/simverbs-sysfs" sys || skip 'no simverbs-sysfs here'
	export RDMARK_SYSFS=$PWD/sys SIMVERBS_SYSFS=$PWD/sys
}

@test "the link: 97 of 98 Gb/s, whatever the test and the size" {
	local program
	for program in send_bw write_bw read_bw; do
		scripted 'gap=5405' "$program" -n 5000
		limited link 'the link: 99 % of 98.0 Gb/s'
	done
	scripted 'gap=340' write_bw -s 4096 -n 20000
	limited link 'the link: 99 % of 97.7 Gb/s'
}

@test "half of the link, and nothing that says why: no accusation" {
	scripted 'gap=10800' write_bw -n 5000
	# a test machine is busy: other tasks on the CPU may be said, as what may be
	json c.json '.results[0].limit | (.certain | not) and (.bound_by == "unknown" or .bound_by == "core")'
	says_no client.err ': limited by'
}

@test "the window: with the depth that it names, the link" {
	local depth
	scripted 'latency=40000 gap=340' write_bw -s 4096 -t 16 -n 5000
	limited window 'the window: 16 messages of 4 KiB in flight'
	depth=$(jq -r '.results[0].limit.next | match("-t ([0-9]+)").captures[0].string' c.json)
	scripted 'latency=40000 gap=340' write_bw -s 4096 -t "$depth" -n 20000
	limited link 'the link: 9'
}

@test "the sender: a program that is slower than the adapter" {
	scripted 'gap=20 post=400' write_bw -s 4096 -n 20000 --post-api send
	json c.json '.results[0].limit | .bound_by == "core" and .strength == "may_be" and .end == "client"'
}

@test "--rate_limit" {
	scripted 'gap=400' write_bw -s 4096 -n 2000 --rate_limit 20g
	limited schedule '--rate_limit: 100 % of 20 Gb/s'
}

@test "the slot: 27.5 of the 27.7 Gb/s that adapters reach in gen3 x4" {
	slot 8 4
	scripted 'gap=19065' write_bw -n 3000
	limited pcie "the PCIe links of both ends (PCIe 8.0 GT/s x4"
	json c.json '.results[0].limit.ceilings.pcie_gbps | . > 27 and . < 28'
}

@test "--explain: off says nothing, the document has all; several sizes: of the fastest" {
	scripted 'gap=5405' write_bw -n 2000 --explain=off
	says_no client.err 'limited by'
	json c.json '.results[0].limit | .bound_by == "link" and (.ceilings.link_gbps | floor) == 98'
	scripted 'gap=5405' write_bw -n 2000 --explain=on
	says client.err ': limited by the link'
	scripted 'gap=5405' write_bw -s 1024,65536 -n 2000
	says client.err ': 64 KiB: limited by the link: 99 % of 98.0'
	json c.json '[.results[].limit.bound_by] | length == 2'
	SIMVERBS_NULL=0 pair send_lat -n 100 --json=c.json
	json c.json 'all(.results[]; (has("limit") | not) and .diagnosis == [])'
	says_no client.err 'limited by'
}

@test "a latency far from what such links have is said; not of a port that measures itself, nor of large messages" {
	slot 16.0 16
	export SIMVERBS_DEVICES='mlx5_ count=2 link=ib lid=5 sm_lid=1 speed=EDR pci=0000:41:00.0'
	export SIMVERBS_NULL=0 SIMVERBS_LATENCY_NS=50000 above='first(.results[0].diagnosis[] | select(.code == "latency_above_typical"))'
	"${RDMARK_PRELOAD%/*}/simverbs-sysfs" sys
	server send_lat -d mlx5_0
	client send_lat -d mlx5_1 -n 100 --json=c.json
	finish server
	ended client 0
	json c.json "$above"' | .level == "warn" and (has("share") | not) and .evidence[0].value >= 50'
	says client.err '[latency_above_typical]' '1 us to 1.5 us are typical for 100 Gb/s InfiniBand'
	server read_lat -d mlx5_0
	client read_lat -d mlx5_0 -n 100 --json=c.json
	finish server
	json c.json '.results[0].diagnosis == []'
	server send_lat -d mlx5_0
	client send_lat -d mlx5_1 -s 512 -n 100 --json=c.json
	finish server
	json c.json '.results[0].diagnosis == []'
}
