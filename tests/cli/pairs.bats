#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# bats file_tags=standin,san
# shellcheck disable=SC2016,SC2030,SC2031,SC2034,SC2154 # $ of jq; what lib/rdmark.bash sets and reads
#
# rdmark-pairs run: players of one machine. What a run plays, and what its lines say. What happens to one of
# them is in pairs_lost.bats.

load ../lib/rdmark
load ../lib/players

setup_file() { need_device; }

# bats test_tags=core
@test "every pair in both directions, and what the lines say of the run" {
	local i
	hosts 4
	for i in 0 1 2 3; do player $i --schedule full --slot "$slot" -- write_bw -n 20; done
	finish_all 4
	for i in 0 1 2 3; do ended p$i 0; done
	measured 12 true
	rows 'map(select(.kind == "pair")) | (map(.from + .to) | unique | length == 12) and (map(.run) | unique | length == 1)
		and (map(.client) | unique | length == 4) and all(.status != "measured" or .value > 0.01 and .clock_s < 0.3)'
	rows 'map(select(.kind == "player")) | length == 4 and all(.hosts == 4 and .rounds == 3 and .slot_s == $slot and .unit == "gbps"
		and .program == "write_bw" and .options == ["-n", "20"] and .schedule == "full" and .both_ways)' --argjson slot "$slot"
	rows 'map(select(.kind == "done")) | length == 4 and all(.missed <= 1 and .rounds == 3 and .server_restarts == 0)'
}

@test "the rate of the port that a run used is in its line, whether the device is named or not" {
	local i of n=0 kind two='sim0 link=ib lid=1 sm_lid=1 speed=HDR width=4; sim1 link=ib lid=2 sm_lid=1 speed=EDR width=4'
	hosts 8
	for kind in one rail device two; do # all of them play at the same time
		of=$kind-
		((n += 2))
		sed -n "$((n - 1)),${n}p" hosts | awk '{ print "p" NR - 1, $2 }' >${of}hosts
		for i in 0 1; do
			case $kind in
			one) SIMVERBS_DEVICES=${two%%;*} player $i --slot 2 -- write_bw -n 20 ;;
			rail) SIMVERBS_DEVICES=$two player $i --slot 2 --rails sim1 -- write_bw -n 20 ;;
			device) SIMVERBS_DEVICES=$two player $i --slot 2 -- write_bw -n 20 -d sim1 ;;
			two) SIMVERBS_DEVICES=$two player $i --slot 2 -- write_bw -n 20 ;;
			esac
		done
	done
	for kind in one rail device two; do
		finish $kind-p0 $kind-p1
		mv $kind-p0.out p0.out
		mv $kind-p1.out p1.out
		rows 'map(select(.kind == "pair" and .status == "measured")) | length > 0
			and all(.from_port_gbps == .to_port_gbps and .to_port_gbps == {one: 200, two: 200, rail: 100, device: 100}[$kind])' --arg kind $kind
	done
}

@test "a port that another run has: no round is played there, and the line says so" {
	hosts 2
	player 0 --slot 2 -- write_bw -n 20
	player 1 --slot 2 -- write_bw -n 20
	until (: <>"/dev/tcp/127.0.0.1/$(sed -n '2s/.*://p' hosts)") 2>/dev/null; do kill -0 "${pid[p1]}" || break; done
	start late rdmark-pairs run --hosts hosts --self p1 --auth=none --start $((begin + 60)) --slot 2 -- write_bw -n 20
	finish late
	ended late 2
	says late.err 'Address already in use' 'wait until another sweep of these hosts has ended, or give all of them another --port'
	jq -es 'map(select(.kind == "server")) | length == 1 and all(.cause == "port" and .round == -1)' late.out
	finish_all 2
	rows 'map(select(.kind == "pair")) | length == 2'
}

# bats test_tags=core
@test "a device that one host lacks is that host's: it plays on, and says so as a server and as a client" {
	local i both='sim count=2 link=ib lid=5'
	hosts 3
	for i in 0 1 2; do
		SIMVERBS_DEVICES=$( ((i == 1)) && echo 'sim0 link=ib lid=5' || echo "$both") \
			player $i --schedule full --slot "$slot" -- write_bw -d sim1 -n 20
	done
	finish_all 3
	for i in 0 1 2; do ended p$i 0; done
	rows 'map(select(.kind == "server")) | length == 1 and all(.host == "p1" and .round == -1 and .exit == 2 and .cause == "device"
		and (.error | contains("no RDMA device")) and .fix != "")'
	rows 'map(select(.kind == "pair" and .client == "p1")) | length == 2
		and all(.cause == "device" and .node == "p1" and (.error | contains("no RDMA device")))'
	rows 'map(select(.kind == "pair" and .client == "p0" and (.from == "p1" or .to == "p1"))) | length == 2
		and all(.cause == "connect" and .node == "p1")'
	rows 'map(select(.kind == "pair" and .status == "measured")) | length >= 1 and all(.client == "p2")'
	rows 'map(select(.kind == "pair" and ([.from, .to] | sort) == ["p0", "p2"])) | length == 2
		and all(.status == "measured" or (.cause | IN("missed", "connect", "lost")))'
	rows 'map(select(.kind == "done")) | length == 3 and all(.rounds == 3)'
}

@test "another mistake of the user ends it at once, and a line says why" {
	hosts 2
	player 0 --slot 2 --port 1 -- write_bw --numa=xx -n 20
	finish p0
	ended p0 2
	jq -es 'map(.kind) == ["player", "server", "done"] and (.[1] | .cause == "refused" and .exit == 2 and .round == -1
		and (.error | contains("--numa")) and .fix != "")' p0.out || fail 'not so'
	says p0.err '--numa' 'Fix: '
}

@test "what the runs of a slow one found is in its lines, and names it, whichever end it is" {
	local i tree=$PWD/sys counter end=$((SECONDS + deadline))
	[[ ${RDMARK_PRELOAD-} ]] || skip 'the counters of a real port cannot be set'
	"${RDMARK_PRELOAD%/*}/simverbs-sysfs" "$tree" || skip 'no simverbs-sysfs here'
	counter=$(echo "$tree"/class/infiniband/*/ports/1/counters/symbol_error)
	hosts 3
	for i in 0 2; do player $i --schedule full --slot 6 -- write_bw -s 4k -D 1; done
	SIMVERBS_GBPS=0.1 RDMARK_SYSFS=$tree SIMVERBS_SYSFS=$tree player 1 --schedule full --slot 6 -- write_bw -s 4k -D 1
	for ((i = 0; ; i += 20)); do # they grow in each of its runs
		! grep -q '"kind":"done"' p1.out || break
		((SECONDS < end)) || fail 'p1 does not end'
		printf %s "$i" 1<>"$counter"
		read -r -t 0.02 <> <(:) || true
	done
	finish_all 3
	measured 6 true
	rows 'map(select(.status == "measured")) | any(.from == "p1") and any(.to == "p1")
		and (map(select(.from == "p1" or .to == "p1")) | all(.findings[0] | .id == "link_errors" and .host == "p1"
			and (.text | contains("symbols or frames with errors"))))
		and (map(select(.from != "p1" and .to != "p1")) | all((.findings // []) | all(.id != "link_errors")))
		and (map(select(.from == "p1")) | all(.value < 0.11))'
}

@test "round trips: one run for a pair, in microseconds; rails meet rails" {
	local i
	hosts 4
	sed -i 3,4d hosts
	export SIMVERBS_DEVICES='sim count=2 link=ib lid=5'
	# Two servers on each: a port for each rail.
	awk -F: '{ print $1 ":" $2 + NR - 1 }' hosts >apart
	mv apart hosts
	for i in 0 1; do player $i --rails sim0,sim1 --slot 8 -- read_lat -n 2000; done
	finish_all 2
	rows 'map(select(.kind == "pair")) | length == 2
		and all(.status == "measured" and .client == "p0" and .from == "p1" and .value > 0 and .p99 >= .value) # READs bring data here
		and (map(.from_rail) | sort == ["sim0", "sim1"]) and all(.from_rail == .to_rail)'
	rows 'map(select(.kind == "player")) | length == 4 and (map(.player) | sort == [0, 1, 2, 3]) and all(.unit == "us")'
}

@test "a run that does not end in its slot keeps what it had" {
	hosts 2
	player 0 --slot 1 --one-way -- write_bw -n 1000000000
	player 1 --slot 1 --one-way -- write_bw -n 1000000000
	finish_all 2
	rows 'map(select(.kind == "pair")) | length == 1 and all(.status == "cut" and .value > 0.01 and (has("cause") | not))'
}

# bats test_tags=long,plain
@test "64 players on one machine begin their runs in time, and need less than 1 % of a CPU each" {
	local i
	not_sanitized '128 programs at a time'
	hosts 64
	begin=$((EPOCHSECONDS + 20))
	for ((i = 0; i < 64; i++)); do player $i --schedule quick --for 12 --slot 4 -- write_bw -n 20; done
	finish_all 64
	for ((i = 0; i < 64; i++)); do ended p$i 0; done
	rows 'map(select(.kind == "pair")) | length == 3 * 32 * 2'
	rows 'map(select(.kind == "pair" and .cause == "missed")) | length / 192 < 0.02'
	rows 'map(select(.kind == "done")) | length == 64 and all(.cpu_s / (3 * 4) < 0.01)'
}

# bats test_tags=core
@test "nobody reads the lines: the player ends, also if it has nothing to write" {
	local i pairs
	hosts 3
	rounds 100
	for ((i = 0; i < 100; i++)); do echo "$i p1 p2 test"; done >plan
	for pairs in '--schedule file=rounds' '--plan plan'; do
		first=$(head -n 1 < <(
			# shellcheck disable=SC2086 # words
			become rdmark-pairs run --hosts hosts --self p0 --auth=none --start "$begin" $pairs --slot 1 -- write_bw -n 20 2>p0.err || true
		))
		[[ $first == '{"kind":"player",'* ]]
		until_says p0.err 'Broken pipe'
		rm p0.err
	done
}
