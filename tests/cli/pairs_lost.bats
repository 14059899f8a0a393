#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# bats file_tags=standin,san
# shellcheck disable=SC2016,SC2030,SC2031,SC2034,SC2154 # $ of jq; what lib/rdmark.bash sets and reads
#
# rdmark-pairs run: what happens to one of the players is in the lines, and disturbs no pair of others.

load ../lib/rdmark
load ../lib/players

setup_file() {
	need_device
	[[ ! ${SKIP_FILE-} ]] || return 0
	cd "$BATS_FILE_TMPDIR" || return
	cc -shared -fPIC -o clock.so "$lib/clock.c"
}

@test "a slow one, one that never came, one killed, one without a link, one stopped, a wrong clock: the others are measured" {
	local i good='all(.from, .to; IN("p0", "p1", "p6", "p7", "p8"))'
	hosts 9
	for i in 0 1 3 4 5 6 7 8; do
		case $i in
		1) SIMVERBS_GBPS=0.1 player 1 --schedule full --slot "$slot" -- write_bw -n 20 ;;
		4) SIMVERBS_DEVICES='sim0 state=DOWN' player 4 --schedule full --slot "$slot" -- write_bw -n 20 ;;
		6) RDMARK_PRELOAD=$BATS_FILE_TMPDIR/clock.so:$RDMARK_PRELOAD CLOCK_OFFSET=$((slot * -5 / 2)) \
			player 6 --schedule full --slot "$slot" -- write_bw -n 20 ;;
		*) player $i --schedule full --slot "$slot" -- write_bw -n 20 ;;
		esac
	done
	until_round 0 2
	kill -KILL "${pid[p3]}"
	kill -STOP "${pid[p5]}"
	until_round 0 4
	kill -CONT "${pid[p5]}"
	finish_all 9
	for i in 0 1 4 5 6 7 8; do ended p$i 0; done
	# Those of whom only the rate or the clock is wrong, among themselves.
	measured 20 "$good"
	rows "map(select(.kind == \"pair\" and .status == \"measured\" and $good))"'
		| all((.value < 0.11) == (.from == "p1"))
		and all(if .from == "p6" or .to == "p6" then .cause == "clock" and (.clock_s | fabs) > 4 and .node == "p6" else has("cause") | not end)'
	rows 'map(select(.kind == "pair" and (.from == "p2" or .to == "p2"))) | length > 0 and all(.status == "failed" and
		(.client == "p4" or (.cause == (if .client == "p2" then "absent" else "connect" end) and .node == "p2")))'
	rows 'map(select(.kind == "pair" and .client == "p4" and .cause != "absent")) | length > 0
		and all(.cause == "device" and .node == "p4" and (.error | contains("is DOWN")) and .fix != "")'
	rows 'any(.kind == "server" and .host == "p4" and .cause == "device")'
	rows 'map(select(.kind == "pair" and .client == "p5" and .cause == "missed")) | length > 0 and all(.node == "p5")'
	rows 'map(select(.kind == "pair" and .cause == "missed" and .node != "p5")) | length <= 4'
	rows 'map(select(.kind == "pair" and .round > 3 and (.to == "p3" or .from == "p3") and .client != "p4"))
		| all(.cause == (if .client == "p3" then "absent" else "connect" end) and .node == "p3")'
	says p6.err 'clock is' 'behind'
}

@test "one that never came and is a client only: those that waited for it write its lines, and no other's" {
	local i
	hosts 3
	export SIMVERBS_DEVICES='sim count=2 link=ib lid=5'
	awk -F: '{ print $1 ":" $2 + NR - 1 }' hosts >apart # two servers on each
	mv apart hosts
	for i in 1 2; do player $i --schedule full --rails sim0,sim1 --slot 4 -- read_bw -n 20; done
	finish_all 3
	for i in 1 2; do ended p$i 0; done
	rows '[.[] | select(.kind == "pair" and .client == "p0")] | length == 8 and (map([.from, .to, .from_rail]) | unique | length == 8)
		and all(.status == "failed" and .cause == "absent" and .node == "p0" and .round >= 0 and .from_rail == .to_rail and .error != "")'
	rows '[.[] | select(.cause == "absent") | .client] | unique == ["p0"]'
	for i in 1 2; do jq -es '.[-2:] | all(.kind == "done")' p$i.out; done
}

@test "a signal: one that used none of the slots that are over is absent; one whose slots are to come is not" {
	hosts 4
	printf '%s\n' '0 p0 p2' '1 p2 p3' '998 p0 p2' '999 p1 p2' >rounds
	player 2 --schedule file=rounds --slot 1 -- write_bw -n 20
	until_round 2 1 # p2 is the client
	kill -TERM "${pid[p2]}"
	finish p2
	ended p2 143
	rows 'map(select(.cause == "absent")) | length == 2 and all(.client == "p0" and .node == "p0" and .round == 0)
		and (map(.from) | sort == ["p0", "p2"])'
	rows '.[-1].kind == "done"'
}

@test "SIGTERM: what was measured is out, the rest is not begun, and nothing is left" {
	local server
	hosts 2
	rounds 100
	player 0 --schedule file=rounds --slot 1 -- write_bw -n 20
	player 1 --schedule file=rounds --slot 1 -- write_bw -n 20
	until_round 0 1
	server=$(pgrep -P "${pid[p1]}" write_bw)
	kill -TERM "${pid[p0]}"
	kill -KILL "${pid[p1]}"
	finish_all 2
	ended p0 143
	timeout "$deadline" tail -s 0.1 --pid="$server" -f /dev/null || fail 'its server did not end'
	jq -es 'map(select(.kind == "pair" and .status == "measured")) | length >= 2' p0.out
	jq -es '.[-1] | .kind == "done" and .rounds < 100' p0.out
}

@test "a server that dies is started again, and the lines say so" {
	hosts 2
	rounds 5
	player 0 --schedule file=rounds --slot 1 -- write_bw -n 20
	player 1 --schedule file=rounds --slot 1 -- write_bw -n 20
	until_round 0 0
	kill -KILL "$(pgrep -P "${pid[p1]}" write_bw)"
	finish_all 2
	ended p0 0
	rows 'any(.kind == "server" and .host == "p1" and (.error | contains("signal 9"))) and any(.kind == "done" and .server_restarts == 1)'
	# one of the runs of half a second may be held up by what else the machine does
	rows 'map(select(.kind == "pair" and .round > 0 and .status == "measured")) | length >= 2'
}
