#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# bats file_tags=standin,long
# shellcheck disable=SC2016,SC2030,SC2031,SC2086,SC2154 # $ of jq; lists of options; what lib/rdmark.bash sets
#
# What limits a run, in situations that are made: links, windows, slots, schedules and programs of known speed,
# by scripted time (SIMVERBS_SCRIPT). Each must be named. (What counters say: snapshot.bats.)

load ../lib/rdmark

setup_file() {
	export SIMVERBS_NULL=1
	need_scripted_time
	[[ ${RDMARK_PRELOAD-} ]] || skip_file 'the speed of a real adapter cannot be set'
}

setup_situations() {
	wrong=() made=0
}

# gap BYTES GBPS: the time of a message, in ns.
gap() { awk "BEGIN {printf \"%.1f\", $1 * 8 / ($2)}"; }

# situation BY SCRIPT PROGRAM ARG…: a client by this script is limited by that; what is not goes into ${wrong[@]}.
situation() {
	local by=$1 script="post=2 completion=5 clock=10 $2" found
	((made += 1))
	server "$3"
	SIMVERBS_SCRIPT=$script client "${@:3}" --json=c.json
	finish server
	ended client 0
	ended server 0
	found=$(jq -r '.results[0] | "\(.limit.bound_by) \([.diagnosis[]? | select(.level != "note").code] | join(" "))"' c.json)
	[[ $found == "$by " ]] || wrong+=("$2 ${*:3}: $found, not $by: $(jq -c '.results[0] | [.limit, .evidence]' c.json)")
}

# all_named LEAST: there were so many situations.
all_named() {
	((made >= $1)) || fail "only $made situations"
	((${#wrong[@]} == 0)) || fail "$(printf '%s\n' "${wrong[@]}")"
}

@test "links of 25 to 400 Gb/s that are full" {
	local -A port=([25]='EDR width=1' [40]='QDR width=4' [100]='EDR width=4' [200]='HDR width=4' [400]='NDR width=4')
	local gbps bytes program
	setup_situations
	for gbps in "${!port[@]}"; do
		export SIMVERBS_DEVICES="sim0 gid.0=v2/127.0.0.1 speed=${port[$gbps]}"
		for bytes in 4096 65536; do
			for program in send_bw write_bw; do
				situation link "poll=50 latency=2000 gap=$(gap $bytes "$gbps*0.965")" $program -s $bytes -n 2000
			done
		done
		situation link "poll=2000 latency=2000 gap=$(gap 1048576 "$gbps*0.975")" write_bw -s 1M -n 500
	done
	all_named 25
}

@test "windows that are smaller than the path" {
	local latency depth qps
	setup_situations
	for latency in 20000 100000; do
		for depth in 1 2 4 8 16; do
			situation window "poll=500 latency=$latency gap=$(gap 4096 97)" write_bw -s 4096 -t $depth -n 400
		done
	done
	for qps in 2 4; do
		situation window "poll=500 latency=50000 gap=$(gap 4096 97)" send_bw -s 4096 -t 8 -q $qps -n 200
	done
	situation window "poll=1000 latency=300000 gap=$(gap 65536 97)" send_bw -s 65536 -t 16 -n 400
	all_named 13
}

@test "slots that are slower than the port" {
	local -A slot=(['8 4']=27.6 ['8 8']=55.0 ['16 2']=27.0 ['16 4']=54.8)
	local which bytes
	setup_situations
	for which in "${!slot[@]}"; do
		export SIMVERBS_DEVICES="sim0 gid.0=v2/127.0.0.1 pci=0000:41:00.0 pcie_gts=${which% *} pcie_width=${which#* }"
		rm -rf sys
		"${RDMARK_PRELOAD%/*}/simverbs-sysfs" sys
		export RDMARK_SYSFS=$PWD/sys SIMVERBS_SYSFS=$PWD/sys
		for bytes in 16384 65536; do
			situation pcie "poll=200 latency=2000 gap=$(gap $bytes "${slot[$which]}")" write_bw -s $bytes -n 1000
		done
	done
	all_named 8
}

@test "schedules" {
	local rate
	setup_situations
	for rate in 10g 20g 40g 80g; do
		situation schedule "poll=200 latency=2000 gap=$(gap 65536 97)" write_bw -s 65536 -n 300 --rate_limit $rate
	done
	situation schedule "poll=100 latency=2000 gap=$(gap 4096 97)" send_bw -s 4096 -n 500 --rate_limit 20g
	all_named 5
}

@test "programs that are slower than the adapter" {
	local post program
	setup_situations
	for post in 400 1000 3000; do
		for program in send_bw write_bw; do
			situation core "poll=20 latency=2000 gap=20 post=$post" $program -s 4096 -n 3000 --post-api send
		done
	done
	situation core "poll=20 latency=2000 gap=20 completion=600" write_bw -s 4096 -n 3000 -Q 1 --post-api send
	all_named 7
}

@test "200 runs in which nothing is wrong, on a machine that is not quiet: nothing is accused" {
	local program form
	export SIMVERBS_NULL=0 SIMVERBS_DEVICES="sim0 speed=NDR width=4 gid.0=v2/127.0.0.1 pci=0000:41:00.0 pcie_gts=32 pcie_width=16"
	"${RDMARK_PRELOAD%/*}/simverbs-sysfs" sys
	export RDMARK_SYSFS=$PWD/sys SIMVERBS_SYSFS=$PWD/sys # counters that stand still
	for program in send_bw write_bw read_bw; do
		for form in '' '-b' '-q 4' '-l 8'; do
			pair $program $form -s 8,64,512,1k,2k,4k,8k,16k,32k,64k,128k,256k,333,777,5000,9000,100000 -n 200 --json=c.json
			jq -c '.results[] | .snapshot as $s | ., .by_end[]? | select(.limit) | .snapshot = $s' c.json >>all.json
		done
	done
	(($(wc -l <all.json) >= 200))
	jq -c 'select((.snapshot.client[0].unchanged | length) > 0)' all.json | (($(wc -l) >= 200))
	jq -c 'select((.limit.bound_by | IN("pcie", "loss", "pause", "memory", "schedule")) or .diagnosis != []
			or (.limit.certain and (.limit.bound_by | IN("link", "window") | not)))
		| [.operation, .message_bytes, .limit.text, .diagnosis]' all.json >accused
	[[ ! -s accused ]] || fail "accused: $(<accused)"
}
