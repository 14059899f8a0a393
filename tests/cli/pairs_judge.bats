#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck disable=SC2016,SC2154 # $ of jq; what bats sets
#
# rdmark-pairs judge: its forms: the report, the document, the lists, the plan, and what it does with lines
# that no run writes. Whether it is right is tested over made clusters: tests/unit/test_clusters.c.

bats_require_minimum_version 1.5.0

load ../lib/pairs

setup() { enter_folder; }

judge() { run --separate-stderr "$bin/rdmark-pairs" judge "$@"; }

# says TEXT…: each stands in $output.
says() {
	local text
	for text; do
		[[ $output == *"$text"* ]] || { printf 'not said: %s\n%s\n' "$text" "$output"; return 1; }
	done
}

# played PLAN RUN SLOW: lines of that plan; the node SLOW sends at half.
played() {
	jq -Rnc --arg run "$2" --arg slow "$3" '[inputs | split(" ")] as $plan | ([$plan[][0] | tonumber] | max + 1) as $slots |
		([$plan[][1:3][]] | unique) as $all |
		($all[] | {kind: "player", run: $run, player: 0, host: ., rdmark_pairs: 1, generator: "rdmark-pairs 2.0.0", players: 8, hosts: 8,
			schedule: "plan", seed: 1, rounds: $slots, start_utc: "2026-11-23T18:00:00.000Z", slot_s: 1, alone: true, program: "write_bw",
			options: [], unit: "gbps"}),
		($plan[] | . as [$slot, $a, $b, $part] | ([$a, $b], [$b, $a]) as [$from, $to] |
			{kind: "pair", run: $run, round: ($slot | tonumber), slot: ($slot | tonumber), part: $part, from: $from, to: $to, client: $a,
				alone: true, status: "measured", late_s: 0.001,
				value: ((if $from == $slow then 0.5 else 1 end) * (97 + ($slot | tonumber) % 5 / 20))}),
		($all[] | {kind: "done", run: $run, player: 0, host: ., rounds: $slots, missed: 0})' "$1"
}

# until_decided EDIT: what the judge plans is measured, three times at most; EDIT, a filter of jq, changes each line.
until_decided() {
	local run
	for run in 1 2 3; do
		judge --plan plan lines
		[[ ! -s plan ]] || played plan "179000010$run-1" none | jq -c "$1" >>lines
	done
}

@test "a good cluster: exit status 0, nothing on stderr, nobody in the lists" {
	made_pairs 12 >good
	judge --suspects hosts good
	((status == 0)) && [[ ! $stderr && ! -s hosts ]]
	says '12 nodes: 12 good, 0 suspect, 0 lost; 132 of 132 runs measured; normal 97.' 'too slow is seen'
	run -0 "$bin/rdmark-pairs" judge --json - <good
	[[ $(jq -c '[.exit_status, .nodes, .good, .lost, .pairs_tried, .pairs_measured, .suspects, .candidates, .drain, .notes]' <<<"$output") == \
		'[0,12,12,0,132,132,[],[],[],[]]' ]]
}

@test "plan by plan: who is slow is seen once, then tested beside controls, and only then drained" {
	made_pairs 16 'when(.from == "n3"; .value /= 2)' >lines
	judge --suspects hosts --plan plan lines
	((status == 6)) && [[ ! -s hosts ]]
	says 'slow nodes: 1' 'n3 ' 'sending: 48.' '(50 %), seen once' 'to be tested: 1 node'
	[[ $(awk '{ print NF, $4 }' plan | sort -u) == '4 screen' && $(awk '{ print $1 }' plan | sort -nu | wc -l) == 16 ]]
	played plan 1790000100-1 n3 >>lines
	judge --plan plan lines
	[[ $(awk '{ print $4 }' plan | sort -u | paste -sd' ') == 'control test' ]]
	[[ $(awk '$4 == "test"' plan | grep -cw n3) == 9 && $(awk '$4 == "control"' plan | grep -cw n3) == 0 ]]
	# no host twice in a slot, and a control in each that has a test
	[[ -z $(awk '{ print $1, $2; print $1, $3 }' plan | sort | uniq -d) ]]
	[[ $(awk '$4 == "test" { print $1 }' plan | sort -u) == $(awk '$4 == "control" { print $1 }' plan | sort -u) ]]
	played plan 1790000200-1 n3 >>lines
	judge --suspects hosts --plan plan --json lines
	((status == 6)) && [[ $(<hosts) == n3 && ! -s plan ]]
	jq -e '[.suspects[] | [.kind, .name, .direction, .proof]] == [["node_slow", "n3", "sending", "tested"]] and .drain == ["n3"]
		and .notes == [] and (.candidates | map([.name, .verdict, .tests])) == [["n3", "slow", 9]]' <<<"$output"
}

@test "of a node whose process is gone in the test nobody says that it is good" {
	made_pairs 16 'when(.from == "n3"; .value /= 2)' >lines
	judge --plan plan lines
	played plan 1790000100-1 none >>lines
	judge --plan plan lines
	[[ ! -s plan ]] || played plan 1790000200-1 none | jq -c 'select(.kind != "done" or .host != "n7")' >>lines
	judge --suspects hosts lines
	((status == 77)) && [[ ! -s hosts ]]
	says '1 player did not say that they ended'
}

@test "runs that fail everywhere are nobody's: two halves that do not reach each other" {
	made_pairs 16 'when(.kind == "pair" and ((.from[1:] | tonumber) > 8) != ((.to[1:] | tonumber) > 8); .status = "failed" | .cause = "connect" |
		.node = .to | .error = "no answer" | del(.value))' >lines
	judge --json --suspects hosts lines
	((status == 77)) && [[ ! -s hosts && $(jq -c '[[.suspects[].kind], [.notes[].kind]]' <<<"$output") == '[[],["failed"]]' ]]
}

@test "a pair that never works is measured again, and named with its two good ends" {
	local broken='if [.from, .to] | sort == ["n1", "n5"] then .status = "failed" | .cause = "connect" | .error = "no answer" | del(.value) else . end'
	made_pairs 16 "$broken" >lines
	until_decided "$broken"
	judge --json --suspects hosts lines
	[[ ! -s hosts ]] && jq -e '[.suspects[] | [.kind, .from, .to, .proof]] | sort == [["pair_lost", "n1", "n5", "tested"], ["pair_lost", "n5", "n1", "tested"]]' <<<"$output"
}

@test "two nodes have only each other: no candidate, and without the rate of their ports nobody can tell" {
	made_pairs 2 'when(.from == "n2"; .value /= 2)' >lines
	judge --suspects hosts lines
	((status == 77)) && [[ ! -s hosts && $output != *'slow nodes'* && $output != *'is seen'* ]]
	says 'none is like them' '--expect'
	made_pairs 2 'when(.from == "n2"; .value /= 2) | when(.kind == "player"; .port_gbps = 100)' >lines
	judge --suspects hosts lines
	((status == 6)) && [[ ! -s hosts ]]
	says 'of the 100 Gb/s of their ports'
}

@test "with groups whole groups meet in up to four slots more: who is low there alone has a bad uplink" {
	made_pairs 16 >lines
	for i in {0..3}; do echo "leaf$i $(seq -f 'n%g' -s' ' $((i * 4 + 1)) $((i * 4 + 4)))"; done >groups
	judge --groups groups --plan plan lines
	[[ $(awk '$4 == "block"' plan | wc -l) == 24 && $(awk '$4 == "block" { print $1 }' plan | sort -u | wc -l) == 3 ]]
	# in each of them all nodes
	[[ $(awk '$4 == "block" { print $1, $2; print $1, $3 }' plan | sort -u | wc -l) == 48 ]]
	played plan 1790000100-1 none | jq -c 'if .part == "block" and any(.from, .to; IN("n5", "n6", "n7", "n8")) then .value /= 2 else . end' >>lines
	judge --groups groups --suspects hosts --plan plan --json lines
	((status == 6)) && [[ ! -s hosts ]]
	jq -e '[.suspects[] | [.kind, .name]] == [["group_slow", "leaf1"]] and (.suspects[0].value | . > 0.45 and . < 0.55)' <<<"$output"
	# whoever limits how many pairs there are at once gets none
	made_pairs 16 'if .kind == "player" then .at_once = 4 else . end' >few
	judge --groups groups --plan plan few
	[[ $(grep -c block plan) == 0 ]]
}

@test "files of rdmark 1.0: a second step without controls proves nothing; a slower port is not slow" {
	local recorded=$BATS_TEST_DIRNAME/recorded
	for file in absolved not-absolved; do
		judge --suspects hosts --json "$recorded/$file.jsonl"
		((status == 6)) && [[ ! -s hosts ]]
		jq -e '[.suspects[] | [.name, .proof]] == [["n3", "once"]] and .good == 15' <<<"$output"
	done
	for file in all-there one-unknown one-dead; do
		judge --json "$recorded/mixed-rates-$file.jsonl"
		jq -e '[.suspects[].kind] - ["never_came"] == []' <<<"$output"
	done
	[[ $(jq -c .drain <<<"$output") == '["n2"]' ]]
	judge --json "$recorded/mixed-rates-one-unknown.jsonl" # to measure for longer would not help
	((status == 77)) && [[ $(jq -c '[.notes[].kind]' <<<"$output") == '["no_like"]' ]]
}

@test "lost nodes: never came, ended early, clock; a last line that is missing is nothing" {
	made_pairs 9 'select(.host != "n2") | when(touches("n2"); .status = "failed" | .cause = "connect" | .node = "n2" | .error = "no answer" | del(.value)) |
		select(.client != "n4" or .round <= 3) |
		when(touches("n4") and .round > 3; .status = "failed" | .cause = "lost" | .node = "n4" | .error = "gone" | del(.value)) |
		select(.kind != "done" or (.host != "n4" and .host != "n7")) |
		when(touches("n6") and .value; .clock_s = (if .client == "n6" then -3 else 3 end))' >lines
	judge --suspects hosts --json lines
	((status == 3))
	[[ $(jq -c '[.suspects[] | [.kind, .name]]' <<<"$output") == '[["never_came","n2"],["ended_early","n4"],["clock","n6"]]' ]]
	[[ $(paste -sd' ' hosts) == 'n2 n4' ]]
	judge lines
	says 'n6 ' '3 s ahead' 'no answer'
}

# It dies between the two runs of a round, of the last of which one partner was the server, and wrote nothing.
@test "a node that is gone for the last third of a short sweep is lost, not a suspect" {
	made_pairs 6 'select(.kind != "done" or .host != "n6") | when(touches("n6") and .round == 2 and .from == "n6";
			.status = "failed" | .cause = "connect" | .node = "n6" | .error = "gone" | del(.value)) |
		select((touches("n6") and .round > 2) | not)' >lines
	judge --suspects hosts lines
	((status == 3)) && [[ $(<hosts) == n6 ]]
	says 'ended early: 1'
	grep -v '"failed"' lines >whole # it only missed the last two rounds
	judge whole
	((status == 3))
	made_pairs 6 'select(.kind != "done" or .host != "n6") | select((touches("n6") and .round > 3) | not)' >lines
	judge lines
	((status == 0))
}

@test "the report: at most 40 lines of 100 columns, whatever there is to say" {
	made_pairs 60 'when(.from | IN("n1", "n11", "n21"); .value /= 3) | select(.host // "" | test("^n[345]") | not) |
		when(.kind == "pair" and ("\(.from) \(.to)" | test("n[345]")); .status = "failed" | .cause = "connect" | .error = ("no answer " * 30) | del(.value))' >lines
	judge lines
	((status == 3 && ${#lines[@]} <= 40))
	awk 'length > 100 { exit 1 }' <<<"$output"
	says 'more (--json has all)' '60 nodes: '
}

@test "lines that no run writes are counted and do no harm; two objects in a line are two; what is no UTF-8" {
	made_pairs 4 >good
	{
		sed 's/^/3: /' good | paste -d'\0' - - | head -3
		tail -n +7 good
		printf '%s\n' 'srun: error' '{"kind":"pair"' '{"kind":"pair","from":"a b","to":"n1","status":"measured","value":1}' \
			'{"kind":"pair","from":"n1","to":"n2","status":"measured","value":-1}' '[1]' '{"kind":"pair","run":"x","value":1e999}' '{}'
		printf '{"kind":"pair","run":"r","from":"n1","to":"n2","status":"failed","error":"\377"}\n'
		grep '"pair"' good | head -2
	} >lines
	judge --json lines
	jq -e '.pairs_measured == 12 and .nodes == 4' <<<"$output"
	for why in 'of other text: 2' 'cut or not JSON: 1' 'with impossible content: 4' 'there twice: 2'; do
		[[ $stderr == *"lines not used, $why"* ]]
	done
}

@test "--matrix, --baseline, --expect, --groups; --retest is gone" {
	made_pairs 12 >was
	made_pairs 12 'when(.to == "n4"; .value *= 0.9)' >now
	judge --baseline was --matrix m.csv now
	((status == 6))
	says 'slower than in the baseline: 1' 'n4 ' 'receiving: '
	[[ $(head -1 m.csv) == 'from\to,n1,n2,'* && $(wc -l <m.csv) == 13 && $(sed -n 2p m.csv) == n1,,* ]]
	made_pairs 12 'when(.program; .options = ["-s", "1m"])' >other
	judge --baseline other now
	((status == 2))
	[[ $stderr == *'other: no line is about a pair of gbps write_bw'* ]]
	judge --expect 200 was
	((status == 6))
	says 'of the 200 Gb/s that --expect says'
	echo 'a x1 x2' >groups
	judge --groups groups was
	((status == 2))
	[[ $stderr == *'none of its hosts is in these runs'* ]]
	judge --retest plan was
	((status == 2))
	[[ $stderr == *'--retest'*'--plan'* ]]
}

