#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# bats file_tags=standin,san
# shellcheck disable=SC2030,SC2031,SC2154 # what lib/rdmark.bash sets and reads
#
# rdmark-pairs run --plan: its pairs are measured, in its slots, and its lines say which part of the plan
# they are. What is no plan is refused in tests/unit/test_schedule_plan.c.

load ../lib/rdmark
load ../lib/players

setup_file() { need_device; }

# bats test_tags=core
@test "a plan is what is measured: both ways, by slot and part, with the rate of each port; who is in no slot does nothing" {
	local i
	hosts 5
	printf '%s\n' '0 p1 p0 test' '0 p3 p2 control' '1 p0 p1 test' >plan
	for i in 0 1 2 3 4; do player $i --plan plan --slot "$slot" -- write_bw -n 20; done
	finish_all 5
	for i in 0 1 2 3 4; do ended p$i 0; done
	rows '[.[] | select(.kind == "pair") | [.slot, .part, .client, .from, .to]] | sort == ([[0, "test", "p1", "p0"], [0, "control", "p3", "p2"],
		[1, "test", "p0", "p1"]] | map(.[:3] + .[2:], .[:3] + [.[3], .[2]]) | sort)'
	rows 'map(select(.kind == "pair")) | all(.alone and .round == .slot) and (map(select(.status == "measured")) | length >= 4
		and all(.from_port_gbps == 100 and .to_port_gbps == 100))'
	rows 'map(select(.kind == "player")) | length == 5 and all(.schedule == "plan" and .rounds == 2 and .alone and (has("at_once") | not))'
	jq -es 'map(.kind) == ["player", "done"]' p4.out
}

@test "a plan of one way: FROM sends, of a READ, too; and a rail is that of the plan" {
	local i
	hosts 2
	export SIMVERBS_DEVICES='sim count=2 link=ib lid=5'
	awk -F: '{ print $1 ":" $2 + NR - 1 }' hosts >apart # two servers on each
	mv apart hosts
	printf '%s\n' '0 p1/sim1 p0/sim1 screen' '1 p0/sim0 p1/sim0 screen' >plan
	for i in 0 1; do player $i --plan plan --rails sim0,sim1 --one-way --slot "$slot" -- read_bw -n 20; done
	finish_all 2
	for i in 0 1; do ended p$i 0; done
	rows '[.[] | select(.kind == "pair") | [.slot, .from, .to, .from_rail, .to_rail, .client, .part]] | sort ==
		[[0, "p1", "p0", "sim1", "sim1", "p1", "screen"], [1, "p0", "p1", "sim0", "sim0", "p0", "screen"]]'
}
