#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# bats file_tags=standin,san,long
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

# bats test_tags=core
@test "a slow one, one that never came, one killed, one without a link, one stopped, a wrong clock: each is in the lines" {
	local i good='all(.from, .to; IN("p0", "p1", "p7", "p8"))'
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
	until_round 0 3 # p0 and p3 are its pair
	kill -KILL "${pid[p3]}"
	kill -STOP "${pid[p5]}"
	until_round 0 5
	kill -CONT "${pid[p5]}"
	finish_all 9
	for i in 0 1 4 5 6 7 8; do ended p$i 0; done
	# Those of whom only the rate is wrong, among themselves.
	measured 12 "$good"
	rows "map(select(.kind == \"pair\" and .status == \"measured\" and $good))"'
		| all((.value < 0.11) == (.from == "p1") and (has("cause") | not))'
	rows 'map(select(.kind == "pair" and .status == "measured" and (.from == "p6" or .to == "p6"))) | length > 0
		and all(.cause == "clock" and (.clock_s | fabs) > 4 and (has("node") | not))'
	# On a busy machine the slot may end before a client has given up.
	rows 'map(select(.kind == "pair" and (.from == "p2" or .to == "p2") and .client != "p4")) | any(.cause == "connect" and .node == "p2")
		and all(.status == "failed" and ((.cause == "connect" and .node == "p2") or .error == "the slot ended before there was a figure"))'
	rows 'map(select(.kind == "pair" and .client == "p4")) | length > 0
		and all(.cause == "device" and .node == "p4" and (.error | contains("is DOWN")) and .fix != "")'
	rows 'any(.kind == "server" and .host == "p4" and .cause == "device")'
	rows 'map(select(.kind == "pair" and .client == "p5" and .cause == "missed")) | length > 0 and all(.node == "p5")'
	rows 'map(select(.kind == "pair" and .cause == "missed" and .node != "p5")) | length <= 4'
	rows 'map(select(.kind == "pair" and .round > 3 and (.to == "p3" or .from == "p3") and .client != "p4"))
		| all(.client != "p3" and .status == "failed" and (.node == "p3" or .error == "the slot ended before there was a figure"))'
}

@test "the first host never came: it is a server of others, whose lines name it" {
	local i
	hosts 3
	export SIMVERBS_DEVICES='sim count=2 link=ib lid=5'
	awk -F: '{ print $1 ":" $2 + NR - 1 }' hosts >apart # two servers on each
	mv apart hosts
	for i in 1 2; do player $i --schedule full --rails sim0,sim1 --slot 4 -- read_bw -n 20; done
	finish_all 3
	for i in 1 2; do ended p$i 0; done
	rows '[.[] | select(.kind == "pair" and (.from == "p0" or .to == "p0"))] | length == 4 and (map([.from, .to, .from_rail]) | unique | length == 4)
		and all(.status == "failed" and .cause == "connect" and .node == "p0" and .client == "p2" and .error != "")'
	for i in 1 2; do jq -es '.[-2:] | all(.kind == "done")' p$i.out; done
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

# bats test_tags=core
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
