#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck disable=SC2016,SC2154 # $ of jq; what bats sets
#
# rdmark-pairs judge: what it says of made lines, what it writes, its exit status, and what it does with
# lines that no run writes. That it is right over many made clusters is tests/unit/test_judgement.c.

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

# verdict NODES EDIT: "kind name" of each suspect, sorted, on one line.
verdict() {
	made_pairs "$@" >made.jsonl
	judge --json made.jsonl
	jq -r '.suspects[] | "\(.kind) \(.name // "\(.from)>\(.to)")"' <<<"$output" | sort | paste -sd, -
}

# rails: part of a jq filter: players 2N and 2N+1 are two devices of host N.
rails='if .host then .rail = "mlx5_\(.player % 2)" | .host = "n\(.player / 2 | floor + 1)" else
	def at($x): $x[1:] | tonumber - 1; def host($x): "n\(at($x) / 2 | floor + 1)"; def rail($x): "mlx5_\(at($x) % 2)";
	.from_rail = rail(.from) | .to_rail = rail(.to) | .client = host(.client) | .from = host(.from) | .to = host(.to) |
	select(.from != .to) end |'

# failed CAUSE: part of a jq filter: this pair has no figure.
failed='def failed($cause): .status = "failed" | .cause = $cause | .exit = 4 | .error = "\(.to): \($cause)" | del(.value);'

@test "a good cluster: one line, exit status 0, nothing on stderr" {
	made_pairs 8 >good
	judge good
	((status == 0 && ${#lines[@]} == 1))
	[[ $output == '8 nodes: 8 good, 0 suspect, 0 lost; 56 of 56 pairs measured; normal 97.'*' Gb/s; a node that is '[3-5]' % too slow is named' ]]
	[[ ! $stderr ]]
	run -0 "$bin/rdmark-pairs" judge --json - <good
	[[ $(jq -c '[.exit_status, .nodes, .good, .lost, .pairs_tried, .pairs_measured, .suspects, .drain, .notes]' <<<"$output") == \
		'[0,8,8,0,56,56,[],[],[]]' ]]
	jq -e '.smallest_fault > .02 and .smallest_fault < .06 and (has("noise") | not)' <<<"$output"
}

@test "what a pair reaches a thread of which lacked its CPU is no figure: it is undecided, 77, and nobody is blamed" {
	local cpu='.value *= 0.2 | .from_cpu_percent = 40'
	made_pairs 8 "when(.from == \"n3\"; $cpu)" >busy
	judge --suspects hosts --retest again busy
	((status == 77))
	says 'cannot tell of 7 of 56 pairs whether they are slow: a thread had less than 98 % of its CPU, in most runs that of n3' \
		'next: stop the other tasks on the CPUs of these threads' '8 good, 0 suspect, 0 lost; 56 of 56 pairs measured; normal 97.'
	[[ ! -s hosts && ! -s again ]] # it receives as the others do
	# Both directions: nothing is known of it, and its name is said.
	made_pairs 8 "when(touches(\"n3\"); .value *= 0.2) | when(.from == \"n3\"; .from_cpu_percent = 40) | when(.to == \"n3\"; .to_cpu_percent = 97.9)" >both
	judge --suspects hosts both
	((status == 77))
	says 'cannot tell of 14 of 56 pairs' ', in most runs that of n3' '7 good, 1 undecided, 0 suspect'
	[[ ! -s hosts ]]
	run -0 "$bin/rdmark-prom" -o both.prom both
	grep -q '^rdmark_pairs_bandwidth.*"n4"' both.prom
	run ! grep -E '^rdmark_pairs_(bandwidth|of_normal).*"n3"' both.prom
	judge --json both
	jq -e '.suspects == [] and .notes[0].kind == "no_cpu" and .smallest_fault < .06 and .normal > 97
		and (.players[2] | .sends == null and .receives == null and .sends_to == 0)' <<<"$output"
	# 98 % is enough; so is a line that does not say it.
	made_pairs 8 "when(touches(\"n3\"); .value *= 0.2 | .from_cpu_percent = 98)" >slow
	judge slow
	((status == 6))
	says 'slow nodes: 1' '7 good, 1 suspect'
	jq -c 'del(.from_cpu_percent)' slow >old
	judge old
	((status == 6))
	# A pair: both nodes have enough others.
	made_pairs 8 "when(.from == \"n3\" and .to == \"n5\"; $cpu)" >pair
	judge pair
	((status == 77))
	says 'cannot tell of 1 of 56 pairs' '8 good, 0 suspect'
	# All of them: what is normal is not known, nor is it the fault of the links.
	made_pairs 8 "when(.from; $cpu) | when(.kind == \"player\"; .port_gbps = 100)" >all
	judge all
	((status == 77))
	says 'cannot tell of 56 of 56 pairs' '0 good, 8 undecided, 0 suspect'
	[[ $output != *'is too slow is named'* && $output != *'; normal '* ]]
	run "$bin/rdmark-pairs" judge --json all
	jq -e '.normal == null and (.players | all(.normal == null and .sends == null and .receives == null))' <<<"$output"
	# Two hosts: the pair is all that there is.
	made_pairs 2 "when(.from == \"n1\"; $cpu)" >two
	judge two
	((status == 77))
	says 'cannot tell of 1 of 2 pairs' '2 undecided'
	# Nor is there anything where all are lost.
	{ made_pairs 4 && made_pairs 4 'select(.kind == "player") | .run = "2"'; } >ended
	judge ended
	[[ $output == *'4 lost; 12 of 12 pairs measured' ]]
}

@test "others are found beside those that lacked their CPU, of a latency and of an incast, too" {
	local us='if .unit then .unit = "us" | .program = "write_lat" elif .value then .value = 2 else . end |
		when(.from; select(.client == .from)) | when(touches("n3"); .value = 6 | .from_cpu_percent = 30)'
	[[ $(verdict 8 'when(touches("n3"); .value *= 0.4 | .from_cpu_percent = 40) | when(.to == "n6"; .value *= 0.7)') == 'node_slow n6' ]]
	[[ $(verdict 8 "$us") == '' ]]
	judge made.jsonl
	((status == 77))
	says 'cannot tell of 7 of 28 pairs' 'that of n3'
	[[ $(verdict 8 "$us | when(touches(\"n6\"); .value = 9)") == 'latency_high n6' ]]
	made_incast | jq -c 'if .kind == "pair" and .from == "n2" and .value == 9 then .from_cpu_percent = 30 else . end' >incast
	judge incast
	((status == 77))
	says 'a thread had less than 98 % of its CPU'
	[[ $output != *starve* ]]
	jq -c 'if .kind == "pair" then .from_cpu_percent = 100 else . end' incast >quiet
	judge --json quiet
	((status == 6))
	jq -e '.suspects[0] | .kind == "sender_starves" and .name == "n2"' <<<"$output"
}

@test "atomics are not expected to fill a link" {
	made_pairs 8 'when(.kind == "player"; .program = "atomic_bw" | .port_gbps = 100) | when(.kind == "pair"; .value /= 5000)' >atomics
	judge atomics
	((status == 0))
	jq -c 'if .kind == "player" then .program = "write_bw" else . end' atomics >writes
	judge writes
	((status == 6))
}

@test "--hosts with some of the nodes: the lines of others are left out, and nothing is missing" {
	made_pairs 8 "when(.from == \"n7\"; .value *= 0.4)" >made
	judge --hosts 'n[1-5]' made
	((status == 0))
	says '5 nodes: 5 good' '20 of 20 pairs measured'
	[[ $stderr == *'lines not used, of other hosts than --hosts: '* && $stderr != *impossible* && $output != *incomplete* ]]
	judge --json --hosts 'n[1-5]' made
	jq -e '.input.other_hosts == 42 and .input.impossible == 0' <<<"$output"
	# One of these that is in no line is missing.
	judge --hosts 'n[1-8],n9' made
	((status == 6))
	grep -v n3 made >without
	judge --hosts 'n[1-5]' without
	((status == 3))
}

@test "what runs said is wrapped between words, and what is cut ends at one" {
	local words='["word", range(200)] | map("w\(.)") | join(" ")'
	made_pairs 8 "when(.from == \"n3\"; .value *= 0.6 | .findings = [{id: \"x\", host: \"n3\", text: ($words)}])" >slow
	judge slow
	((status == 6))
	says $'\n    n3: wword w0 w1 w2 ' '...'
	[[ ${lines[2]} == '    n3: wword w0 '* && ${lines[3]} =~ ^'    w'[0-9]+' w' && ${lines[4]} =~ ' w'[0-9]+'...'$ ]]
	local line words_of
	for line in "${lines[@]:2:3}"; do
		((${#line} <= 140)) || { echo "$line"; return 1; }
	done
	words_of=$(printf '%s ' "${lines[@]:2:3}" | tr -s ' ' | sed 's/[.]* $//')
	[[ "$(jq -nr "$words") " == "${words_of# n3: } "* ]] || { echo "$words_of"; return 1; }
}

@test "slow nodes are named with their direction, figure, partners and finding; exit status 6" {
	made_pairs 8 'if .from == "n3" then .value *= 0.6 | .findings = [{id: "pcie", host: "n3", text: "PCIe is x8 of x16"}]
		elif .to == "n7" then .value *= 0.8 else . end' >slow
	judge --suspects hosts --retest again slow
	((status == 6))
	says 'slow nodes: 2' 'n3            sending: 58.' ' (60 %), with 7 partners, not measured alone' $'\n    n3: PCIe is x8 of x16' \
		'n7            receiving: 77.' '6 good, 2 suspect, 0 lost'
	[[ ! $stderr ]]
	[[ $(<hosts) == $'n3\nn7' ]]
	[[ $(<again) == $'n3 n4\nn3 n5\nn7 n8\nn7 n1' ]]
	judge --json slow
	# n3 sends slowly, and n7 receives so: the pair of both is no evidence against either.
	[[ $(jq -c '[.exit_status, .drain, (.suspects[] | [.kind, .name, .host, .direction, .proof, .said])]' <<<"$output") == \
		'[6,["n3","n7"],["node_slow","n3","n3","sending","once","n3: PCIe is x8 of x16"],["node_slow","n7","n7","receiving","once",null]]' ]]
	jq -e '.suspects[0] | .value / .normal | . > .59 and . < .61' <<<"$output"
}

@test "what was good alone is slow only under load, and what was not is so too" {
	made_pairs 8 'when(.from == "n3" or .to == "n5"; .value *= 0.6)' >slow
	made_pairs 8 'select(.kind != "pair" or ([.from, .to] | inside(["n3", "n1", "n2", "n5"]))) | .run = "2" | .alone = true |
		when(.to == "n5"; .value *= 0.6)' >again
	judge slow again
	((status == 6))
	says $'slow only under load, good alone: 1\n  n3   ' 'n5            receiving: 58.' 'with 7 partners, alone too'
	judge --json slow again
	[[ $(jq -c '[.exit_status, .drain, (.suspects[] | [.kind, .name, .proof])]' <<<"$output") == \
		'[6,["n5"],["node_slow","n5","alone_too"],["slow_under_load","n3","good_alone"]]' ]]
}

@test "to measure it again alone is advised until all of a kind are proven" {
	local slow='if .from == "n3" or .from == "n7" then .value *= 0.6 elif .from == "n1" and .to == "n2" then .value *= 0.5 else . end'
	local alone='.run = "2" | .alone = true |'
	made_pairs 12 "$slow" >slow
	judge slow
	says $'\n  next: run `write_bw --check` there; measure it again alone (--retest)\n' $'\n  next: measure them again alone (--retest); then try other routes'
	made_pairs 12 "select(.kind != \"pair\" or (.from == \"n3\" and (.to | IN(\"n4\", \"n5\")))) | $alone $slow" >n3
	judge slow n3
	says 'partners, alone too' 'partners, not measured alone' $'there; measure it again alone (--retest)\n'
	judge --json slow n3
	[[ $(jq -r '.suspects[] | "\(.name // .from) \(.next | contains("--retest"))"' <<<"$output" | sort | paste -sd,) == \
		'n1 true,n3 false,n7 true' ]]
	made_pairs 12 "select(.kind != \"pair\" or .from == \"n7\" or (.from == \"n1\" and .to == \"n2\")) | $alone $slow" >rest
	judge slow n3 rest
	says $'\n  next: run `write_bw --check` there\n' $'\n  next: try other routes: --flow_label, more QPs\n'
	[[ $output != *retest* ]]
}

@test "a pair is slow only if its nodes are good; both directions are one suspect" {
	[[ $(verdict 8 'when(.from == "n3" and .to == "n4"; .value *= 0.5)') == 'pair_slow n3>n4' ]]
	[[ $(verdict 8 'when(([.from, .to] | sort) == ["n3", "n4"]; .value *= 0.5)') == 'pair_slow n3>n4' ]]
	[[ $(verdict 8 'when(.from == "n3"; .value *= 0.5)') == 'node_slow n3' ]]
}

@test "no node is named for one partner, or for two" {
	local slow='when(touches("n1"); .value *= 0.5)'
	[[ $(verdict 3 "$slow") == 'pair_slow n1>n2,pair_slow n1>n3' ]]
	judge made.jsonl
	((status == 6))
	says 'slow pairs, too few partners to say which of both nodes it is: 2' 'n1 <-> n2     48.' ' of 97.' '3 nodes: 0 good, 3 undecided, 0 suspect, 0 lost; 6 of 6'
	[[ $(verdict 2 'when(.from == "n1"; .value *= 0.4)') == 'pair_slow n1>n2' ]]
	judge made.jsonl
	says '2 nodes: 0 good, 2 undecided' 'normal 97'
	[[ $(verdict 3 'if .unit then .unit = "us" | .program = "write_lat" elif .value then .value |= 2 else . end |
		when(touches("n1"); .value *= 5)') == 'pair_slow n1>n2,pair_slow n1>n3' ]]
	judge made.jsonl
	says 'n1 <-> n2     10 us, 5.0 times the normal 2 us'
	[[ $(verdict 2) == '' && $(verdict 3) == '' ]]
	judge made.jsonl
	says '3 nodes: 3 good'
}

@test "of a few nodes, one that reaches what is normal with none of all others is slow" {
	[[ $(verdict 4 'when(touches("n3", "n4"); .value *= 0.4)') == 'node_slow n3,node_slow n4' ]]
	judge made.jsonl
	says 'both ways: 38.' 'with 3 partners' '4 nodes: 2 good, 2 suspect' 'normal 97'
	[[ $(verdict 5 'when(touches("n3", "n4", "n5"); .value *= 0.4)') == 'node_slow n3,node_slow n4,node_slow n5' ]]
	# A ring gives each node two partners, and its pairs are all that can be said.
	made_pairs 8 'when(.schedule; .schedule = "file=ring") | def at($x): $x[1:] | tonumber;
		select(.kind != "pair" or ((at(.from) - at(.to) + 8) % 8 | IN(1, 7))) |
		when(touches("n3"); .value *= 0.4)' >ring
	judge ring
	((status == 6))
	says 'too few partners to say which of both nodes it is: 2' 'n2 <-> n3' 'n3 <-> n4' \
		'file=ring: 29 % of all pairs were tried: a node with fewer than 3 partners is not judged, only its pairs are'
}

@test "where nearly all have a long tail, all are named, with all their partners" {
	[[ $(verdict 8 'when(.unit; .unit = "us" | .program = "write_lat") | when(.value; .value = 2 | .p99 = 20)' |
		tr , '\n' | grep -c tail_long) == 8 ]]
	judge made.jsonl
	says 'with 7 partners' '8 nodes: 0 good, 8 suspect'
	[[ $output != *'with 3 partners'* ]]
	[[ $(verdict 8 'if .unit then .unit = "us" | .program = "write_lat" elif .value then .value = 2 | .p99 = 3 else . end |
		when(.value and ((.from | IN("n1", "n2", "n3", "n4")) or (.to | IN("n1", "n2", "n3", "n4"))); .p99 = 20)') == \
		'tail_long n1,tail_long n2,tail_long n3,tail_long n4' ]]
}

@test "rails of different speed: each is compared with its own kind" {
	local slower='select(.from_rail == .to_rail) | when(.from_rail == "mlx5_1"; .value *= 0.25) |'
	[[ $(verdict 16 "$rails $slower .") == '' ]]
	judge made.jsonl
	says '8 nodes: 8 good' 'normal mlx5_0: 97.' ', mlx5_1: 24.' ' Gb/s; a node that is '
	judge --json made.jsonl
	((status == 0))
	# Whether its ports are slower, no line says.
	[[ $(jq -c '[.notes[] | .kind, .strength, (.evidence[0].value * 100 | round)]' <<<"$output") == '["rail_everywhere","may_be",25]' ]]
	[[ $(verdict 16 "$rails $slower"'when(.from == "n3" and .from_rail == "mlx5_1"; .value *= 0.6)') == 'rail_slow n3/mlx5_1' ]]
	judge --json made.jsonl
	jq -e '.players[] | select(.name == "n2/mlx5_1") | .sends * .normal | . > 23.2 and . < 25.6' <<<"$output"
	judge made.jsonl
	says 'n3/mlx5_1     sending: 14.' ' of 24.' ' (60 %)'
}

@test "a host that is in no line is missed, by its number" {
	made_pairs 8 'select(.host != "n1" and .from != "n1" and .to != "n1")' >unnamed
	judge unnamed
	((status == 3))
	says 'incomplete: of 8 players, 1 are in no line' '7 nodes: 7 good'
}

@test "a node whose server has no device, or no port, is named with what its server said" {
	local server='if .kind == "player" and .host == "n3" then ., {kind: "server", run, player, host, round: -1, exit: 2, cause: $cause,
		error: "no RDMA device mlx5_1", fix: "give another -d"} else . end'
	# Its process ended at its start: others could not connect, and it called nobody.
	made_pairs 5 "$failed"'"device" as $cause | select(.client != "n3") | when(touches("n3"); failed("connect")) |
		when(.kind == "done" and .host == "n3"; .rounds = 0) | '"$server" >lost
	judge lost
	((status == 3))
	says $'device cannot be used: 1\n  n3  ' 'n3: its server: no RDMA device mlx5_1. Fix: give another -d.' '5 nodes: 4 good, 0 suspect, 1 lost'
	made_pairs 5 "$failed"'"other" as $cause | when(.kind == "pair" and .to == "n3" and .client != "n3"; failed("lost")) | '"$server" >port
	judge port
	((status == 6))
	says 'pairs of good nodes without a figure' 'n3: its server: no RDMA device'
	made_pairs 8 'when(.kind == "done" and .host == "n3"; .rounds = 3)' >early
	judge early
	((status == 3))
	says $'ended early: 1\n  n3  '
}

@test "a run that did not come to its end is incomplete, and well is not what judge says of it" {
	made_pairs 16 'select(.kind != "pair" or .round < 2) | when(.kind == "done"; .rounds = 2)' >interrupted
	judge interrupted
	((status == 77))
	says 'incomplete: a run has only 2 of 15 rounds; the others are not judged' '16 nodes: 16 good'
	made_pairs 8 'select(.kind != "done") | select(.kind != "pair" or .round < 3)' >cut
	judge cut
	((status == 77))
	says 'incomplete: a run has only 3 of 7 rounds'
	# One player had played a round more when the signal came.
	made_pairs 16 'select(.kind != "pair" or .round < 2) | when(.kind == "done"; .rounds = 2 | when(.player == 3; .rounds = 3))' >uneven
	judge uneven
	((status == 77))
	judge --json interrupted
	[[ $(jq -c .incomplete <<<"$output") == '{"rounds":15,"rounds_played":2,"players_unnamed":0,"players_unended":0}' ]]
	# A slow node is slow all the same.
	made_pairs 16 'select(.kind != "pair" or .round < 5) | when(.kind == "done"; .rounds = 5) |
		when(.from == "n3"; .value *= 0.5)' >slow
	judge slow
	((status == 6))
	says 'incomplete: a run has only 5 of 15 rounds' 'n3 '
}

@test "where no pair was measured, nobody is the suspect: what most runs say is the verdict" {
	made_pairs 6 "$failed"'when(.kind == "pair"; failed("refused") | .error = "the path MTU is too large" | .fix = "use -m 4096")' >none
	judge --suspects hosts none
	((status == 3))
	says $'no pair was measured\n  most runs say: the path MTU is too large. Fix: use -m 4096.\n  next: run one pair by hand: `write_bw` there and here' \
		'6 nodes: 0 good, 6 undecided, 0 suspect, 0 lost; 0 of 30 pairs measured'
	[[ ! -s hosts && ${#lines[@]} == 4 ]]
	judge --json none
	[[ $(jq -c '[.exit_status, .smallest_fault, .suspects, .notes]' <<<"$output") == '[3,null,[],[]]' ]]
	# One that works does not make half of the others lost, and the rest good.
	made_pairs 6 "$failed"'when(.kind == "pair" and ([.from, .to] | sort) != ["n1", "n2"]; failed("connect"))' >one
	judge one
	((status == 3))
	[[ $output == *'could not connect: '* && $output != *' good, 0 suspect, 3 lost'* ]]
	[[ $output =~ '6 nodes: '([0-9]+)' good' ]] && ((BASH_REMATCH[1] <= 2))
}

@test "one wrong clock among a few nodes is its own; of two nodes, they differ" {
	local clock='if .client == "n2" then .clock_s = 3.25 elif touches("n2") then .clock_s = -3.25 else . end'
	[[ $(verdict 3 "$clock") == 'clock n2' ]]
	judge made.jsonl
	says 'n2            3.25 s behind'
	made_pairs 8 'def at($x): $x[1:] | tonumber; select(.kind != "pair" or ((at(.from) - at(.to) + 8) % 8 | IN(1, 7))) | '"$clock" >ring
	judge --json ring
	[[ $(jq -r '.suspects[] | "\(.kind) \(.name)"' <<<"$output") == 'clock n2' ]]
	made_pairs 2 "$clock" >two
	judge two
	((status == 6))
	says $'clock is wrong: 1\n  n1 <-> n2     3.25 s apart'
	# So where each met one only, in both directions or on two rails; what they say does not make it two.
	made_pairs 8 'def at($x): $x[1:] | tonumber - 1; select(.kind != "pair" or ((at(.from) + at(.to)) == 7)) | '"$clock" >one
	judge --suspects hosts one
	((status == 6))
	says $'clock is wrong: 1\n  n2 <-> n7     3.25 s apart' '8 nodes: 6 good, 2 undecided, 0 suspect'
	[[ ! -s hosts ]]
	made_pairs 2 "$clock"' | ("mlx5_0", "mlx5_1") as $rail |
		if .kind == "pair" then .from_rail = $rail | .to_rail = $rail else .rail = $rail end' >rails
	judge rails
	says $'clock is wrong: 1\n  n1 <-> n2     3.25 s apart'
	made_pairs 3 "$failed$clock"' | select(.host != "n3") | when(touches("n3"); failed("connect") | del(.clock_s))' >dead
	judge --suspects hosts dead
	says $'clock is wrong: 1\n  n1 <-> n2     3.25 s apart'
	[[ $(<hosts) == n3 ]]
	# The only partner of one of them has others, who say that its clock is right.
	local only='select(touches("n2") and (touches("n1") | not) | not) |'
	[[ $(verdict 4 "$only$clock") == 'clock n2' ]]
	[[ $(verdict 4 "$only${clock//n2/n1}") == 'clock n1' ]]
}

@test "missed slots are no suspect: after a few a node is judged by the others, after many it is undecided" {
	local edit='when(.from == "n3"; .value *= 0.5) | when(.kind == "done" and .host == "n3"; .missed = MISSED)'
	[[ $(verdict 32 "${edit/MISSED/1}") == 'node_slow n3' ]]
	[[ $(verdict 16 "${edit/MISSED/1}") == 'node_slow n3' ]] || { verdict 16 "${edit/MISSED/1}"; return 1; }
	judge made.jsonl
	((status == 6))
	says '1 player missed 1 slots in all (n3 first)'
	[[ $(verdict 16 "${edit/MISSED/4}") == '' ]] || { verdict 16 "${edit/MISSED/4}"; return 1; }
	judge --json made.jsonl
	((status == 77))
	[[ $(jq -c '[.exit_status, .good, .undecided, .drain, (.notes[] | .kind)]' <<<"$output") == '[77,15,1,[],"missed_slots"]' ]]
	[[ $(verdict 64 "${edit/MISSED/3}") == 'node_slow n3' ]]
}

@test "where many players missed slots, their start was late; nobody is a suspect" {
	made_pairs 16 'when(.kind == "done" and (.player < 8); .missed = 2)' >late
	judge --json late
	((status == 0))
	[[ $(jq -c '[.exit_status, .good, .suspects, (.notes[] | .kind)]' <<<"$output") == '[0,16,[],"launcher_late"]' ]]
	made_pairs 16 'when(.kind == "done" and (.player < 8); .missed = 8)' >very
	judge --json very
	((status == 0))
	[[ $(jq -c '[.good, .undecided, .suspects]' <<<"$output") == '[16,0,[]]' ]]
}

@test "what comes and goes has kinds of its own: some runs fail, some are slow, all are from some round on" {
	local of_n3='(touches("n3"))' round='(((.from, .to) | select(. != "n3")) | .[1:] | tonumber)'
	[[ $(verdict 24 "$failed when($of_n3 and ($round % 3 == 0); failed(\"lost\"))") == 'node_fails n3' ]]
	judge --json made.jsonl
	((status == 6))
	[[ $(jq -c .drain <<<"$output") == '["n3"]' ]]
	[[ $(verdict 24 "when($of_n3 and ($round % 3 == 0); .value *= 0.4)") == 'node_unsteady n3' ]]
	judge --json made.jsonl
	((status == 6))
	[[ $(verdict 24 "when($of_n3 and .round >= 15; .value *= 0.6)") == 'node_falls n3' ]]
	judge --json made.jsonl
	((status == 6))
	[[ $(jq '.suspects[0].from_round' <<<"$output") == 16 ]] # counted from 1
	# One good run alone cures none of them.
	made_pairs 24 'select(.kind != "pair" or ([.from, .to] | inside(["n3", "n4", "n5"]))) | .run = "2" | .alone = true' >again
	judge --json --suspects hosts made.jsonl again
	((status == 6))
	[[ $(jq -r '.suspects[] | "\(.kind) \(.name)"' <<<"$output") == 'node_falls n3' && $(<hosts) == n3 ]]
}

@test "--expect: a cluster that is slow as a whole is not good; neither is one far below its ports" {
	made_pairs 8 >all
	judge --json --expect 97 all
	((status == 0))
	judge --json --expect=200 all
	((status == 6))
	[[ $(jq -c '[.exit_status, .suspects, .drain, (.notes[] | .kind)]' <<<"$output") == '[6,[],[],"below_expected"]' ]]
	judge --expect fast all
	((status == 2))
	[[ $stderr == *"--expect: invalid value 'fast'"* ]]
	# All ports say that they have 400 Gb/s.
	made_pairs 8 'when(.kind == "player"; .port_gbps = 400)' >ports
	judge --json ports
	((status == 6))
	[[ $(jq -c '[.suspects, (.notes[] | .kind)]' <<<"$output") == '[[],"cluster_slow"]' ]]
	judge --json --expect 97 ports
	((status == 0))
}

@test "a slower port is no slow node" {
	local ports='def slow($x): ($x[1:] | tonumber) > 12; if .kind == "player" then .port_gbps = (if slow(.host) then 50 else 100 end)
		elif .value and (slow(.from) or slow(.to)) then .value *= 0.5 else . end'
	[[ $(verdict 16 "$ports") == '' ]]
	judge made.jsonl
	((status == 0))
	says '16 good' '100: 97.' '50: 48.'
	[[ $(verdict 16 "$ports"' | when(.from == "n2"; .value *= 0.6)') == 'node_slow n2' ]]
}

@test "where noise hides a slow node, that is said, and the exit status is 77" {
	made_pairs 8 'when(.kind == "pair";
		.value *= (0.3 + ((.value * 1000 + .round * 7919 + (.from[1:] | tonumber) * 104729) % 701) / 1000))' >noisy
	judge --json --suspects hosts noisy
	((status == 77))
	[[ $(jq -c '[.exit_status, (.notes[] | select(.kind == "cannot_tell") | .strength)]' <<<"$output") == '[77,"cannot_tell"]' && ! -s hosts ]]
	jq -e '.smallest_fault > .2 and .good == 0 and .undecided == 8' <<<"$output"
}

# next_of CODE FILE: what to do next, as a note says.
next_of() { "$bin/rdmark-pairs" judge --json "$2" | jq -r --arg code "$1" '.notes[] | select(.kind == $code) | .next'; }

@test "what would tell more is advised unless the run did it" {
	local noise='when(.kind == "pair"; .value *= (0.3 + ((.value * 1000 + .round * 7919 + (.from[1:] | tonumber) * 104729) % 701) / 1000))'
	local rest='for longer (-D), or while nothing else uses these nodes and their network'
	made_pairs 8 "$noise" >lines
	[[ $(next_of cannot_tell lines) == "measure fewer pairs at a time (--at-once), pairs within a switch, $rest" ]]
	for did in .at_once=1 .alone=true; do
		made_pairs 8 "$noise | when(.kind == \"player\"; $did | .schedule = \"group\")" >lines
		[[ $(next_of cannot_tell lines) == "measure $rest" ]]
	done
	made_pairs 8 "$noise | when(.kind == \"player\"; .alone = true | .at_once = 2)" >lines
	[[ $(next_of cannot_tell lines) == "measure fewer pairs at a time (--at-once), "* ]]
	# The run that measures suspects again is another one, which says nothing of this one.
	jq -c 'select(.kind != "pair") | .run = "2" | if .schedule then .alone = true | .at_once = 1 else . end' lines >again
	cat again >>lines
	[[ $(next_of cannot_tell lines) == "measure fewer pairs at a time (--at-once), "* ]]
	made_pairs 24 "$noise | when(.kind == \"player\"; .schedule = \"quick\") | select((.round // 0) < 9)" >lines
	[[ $(next_of cannot_tell lines) == *', every pair (--schedule full), '* ]]
	# Pairs that are far slower: measured again alone, or not yet.
	local few='when(.from and ((.from[1:] | tonumber) + 1 | tostring) == .to[1:]; .value *= 0.6)'
	made_pairs 16 "$few" >lines
	[[ $(next_of some_pairs_slow lines) == 'measure them again alone (--retest); name the racks (--groups)' ]]
	made_pairs 16 "$few | select(.kind == \"player\" or .value < 70) | .run = \"2\" | .alone = true" >again
	cat again >>lines
	[[ $(next_of some_pairs_slow lines) == 'try other routes: --flow_label, more QPs; name the racks (--groups)' ]]
	seq -f 'all n%g' 16 | paste -sd' ' | sed 's/ all / /g' >one
	run "$bin/rdmark-pairs" judge --json --groups one lines
	[[ $(jq -r '.notes[] | select(.kind == "some_pairs_slow") | .next' <<<"$output") == 'try other routes: --flow_label, more QPs' ]]
}

@test "the ports' rate is expected only of runs that can reach it" {
	local options
	for options in '["-s64"]' '["-s", "4k"]' '["--size=64"]' '["-s", "1m", "--rate_limit=10"]' '["-t", "1"]'; do
		made_pairs 8 "when(.kind == \"player\"; .port_gbps = 400 | .options = $options)" >limited
		run -0 --separate-stderr "$bin/rdmark-pairs" judge limited
	done
	for options in '[]' '["-s1m", "-D", "0.5"]' '["-e", "-s", "65536"]'; do
		made_pairs 8 "when(.kind == \"player\"; .port_gbps = 400 | .options = $options)" >slow
		judge --json slow
		[[ $status == 6 && $(jq -r '.notes[].kind' <<<"$output") == cluster_slow ]] || { echo "$options: $output"; return 1; }
	done
}

@test "--expect is of each kind of ports, the slower ones, too" {
	made_pairs 16 'if .kind == "player" then .port_gbps = (if .player < 12 then 100 else 50 end) else . end |
		def slower($x): $x[1:] | tonumber > 12; when(.value and (slower(.from) or slower(.to)); .value *= 0.5)' >mixed
	judge --json --expect 90 mixed
	[[ $status == 6 && $(jq -r '.notes[] | select(.kind == "below_expected").strength' <<<"$output") == is ]]
	run -0 --separate-stderr "$bin/rdmark-pairs" judge --expect 48 mixed
}

@test "once some suspects were measured alone, the others are undecided, and not drained" {
	local slow='when(.from == "n3" or .from == "n7"; .value *= 0.6)'
	made_pairs 12 "$slow" >slow
	made_pairs 12 "select(.kind != \"pair\" or (.from == \"n3\" and (.to | IN(\"n4\", \"n5\")))) | .run = \"2\" | .alone = true | $slow" >n3
	judge --json --suspects hosts slow
	[[ $(<hosts) == $'n3\nn7' && $(jq -c .drain <<<"$output") == '["n3","n7"]' ]]
	judge --json --suspects hosts slow n3
	((status == 6))
	[[ $(<hosts) == n3 && $(jq -c '[.drain, .undecided]' <<<"$output") == '[["n3"],1]' ]]
}

@test "a long tail of nodes with few partners is that of their pairs" {
	local n us='if .unit then .unit = "us" | .program = "write_lat" elif .value then .value = 2 | .p99 = 3 else . end |
		select(.kind != "pair" or .client == .from)'
	for n in 2 3; do
		made_pairs $n "$us"' | when(.to == "n'$n'"; .p99 = 20)' >tail
		judge tail
		((status == 6))
		says 'p99 latency far above the median: '$((n - 1))$'\n  n1 <-> n'$n'     p99 is 10.0 times the median'
	done
	says $'\n  n2 <-> n3     p99 is' '3 nodes: 0 good, 3 undecided'
	made_pairs 3 "$us"' | when(.value; .p99 = 20)' >tail
	judge --json tail
	[[ $(jq '.suspects | length' <<<"$output") == 3 ]]
	made_pairs 3 "$us" >tail
	judge tail
	((status == 0))
	[[ $(verdict 4 "$us"' | when(.to == "n4"; .p99 = 20)') == 'tail_long n4' ]]
}

@test "what is measured again alone are pairs that were measured, if there are any" {
	made_pairs 16 'def at($x): $x[1:] | tonumber; when(touches("n3"); .value *= 0.5) |
		select(.kind != "pair" or ((at(.from) - at(.to) + 16) % 16 | IN(5, 6, 7, 8, 9, 10, 11)))' >some
	judge --retest again some
	[[ $(<again) == $'n3 n8\nn3 n9' ]] || { cat again; return 1; }
	made_pairs 4 '(when(touches("n3"); .value *= 0.5)) | if .kind == "pair" then .from_rail = ("a", "b") | .to_rail = .from_rail
		else .rail = ("a", "b") end' >rails
	judge --retest again rails
	[[ $(sort -u again) == "$(sort again)" && $(wc -l <again) == 2 ]] || { cat again; return 1; }
}

@test "a line that was cut may be the one that said that a node ended; a run without a figure says that it did not" {
	made_pairs 8 >all
	judge all
	((status == 0))
	head -c -40 all >cut
	judge --suspects hosts cut
	((status == 77))
	says 'incomplete: lines were cut; of 1 players none says that they ended' '8 nodes: 8 good'
	[[ ! -s hosts ]]
	judge --json cut
	[[ $(jq -c .incomplete <<<"$output") == '{"rounds":0,"rounds_played":0,"players_unnamed":0,"players_unended":1}' ]]
	made_pairs 8 "$failed"'when(.from == "n8" and .to == "n1"; failed("lost"))' | head -c -40 >cut
	judge cut
	((status == 3))
	says $'ended early: 1\n  n8 '
}

@test "a run of another experiment names nobody, and nothing of it is missing" {
	made_pairs 8 >first
	made_pairs 10 'select(.kind != "pair" or .round < 3) | select(.kind != "done" or .host != "n8") | .run = "2" |
		when(.program; .program = "read_bw")' >other
	echo '{"kind":"server","run":"2","host":"n5","exit":1,"cause":"device","error":"no device"}' >>other
	judge first other
	((status == 0))
	says '8 nodes: 8 good, 0 suspect, 0 lost; 56 of 56 pairs measured'
	[[ $output != *incomplete* && $stderr == *'lines not used, of another experiment: '* ]]
	# The length of its slots says nothing of clocks here.
	made_pairs 8 'if .client == "n2" then .clock_s = 3.25 elif touches("n2") then .clock_s = -3.25 else . end' >first
	sed -i 's/"slot_s":1/"slot_s":60/' other
	judge first other
	((status == 6))
	says $'clock is wrong: 1\n  n2 '
}

@test "what was the fault of the other end is not what a node's own runs say" {
	made_pairs 8 "$failed"'if touches("n1") then failed("device") | .node = "n1" | .error = "looking for RDMA devices: none"
		elif touches("n8") then failed("connect") | .error = "connection refused" else . end' >two
	judge --json two
	[[ $(jq -c '.suspects | map({(.name): .said}) | add' <<<"$output") == \
		'{"n1":"looking for RDMA devices: none","n8":"connection refused"}' ]]
}

@test "wrong data is a kind of its own" {
	[[ $(verdict 8 "$failed"'when(.to == "n3"; failed("data"))') == 'data n3' ]]
	judge made.jsonl
	((status == 3))
	says 'data arrived wrong: 1' 'do not use it'
}

@test "what is slow only under load is in no list of nodes to drain" {
	made_pairs 8 'when(.from == "n3" or .to == "n5"; .value *= 0.6)' >slow
	made_pairs 8 'select(.kind != "pair" or ([.from, .to] | inside(["n3", "n1", "n2", "n5"]))) | .run = "2" | .alone = true |
		when(.to == "n5"; .value *= 0.6)' >again
	judge --suspects hosts slow again
	((status == 6))
	[[ $(<hosts) == n5 ]]
}

@test "--retest has at most 32 pairs" {
	made_pairs 32 "$failed"'def at($x): $x[1:] | tonumber;
		when(.from and ((at(.from) - at(.to) + 32) % 32 | IN(1, 2, 30, 31)); failed("refused"))' >ring
	judge --retest again ring
	((status == 6))
	(($(grep -c . again) == 32))
}

@test "a baseline or groups of other hosts, or of another program, are refused" {
	made_pairs 8 >now
	made_pairs 8 'when(.host; .host |= sub("n"; "m")) | when(.from; (.from, .to, .client) |= sub("n"; "m"))' >others
	judge --baseline others now
	((status == 2))
	[[ $stderr == *'others: none of its hosts is in these runs'* ]]
	echo 'r0 m1 m2' >racks
	judge --groups racks now
	((status == 2))
	[[ $stderr == *'racks: none of its hosts is in these runs'* ]]
	made_pairs 8 'when(.program; .program = "read_bw")' >reads
	judge --baseline reads now
	((status == 2))
	[[ $stderr == *'reads is of another program: gbps read_bw; now: gbps write_bw'* ]]
	made_pairs 8 'when(.options; .options = ["-D", "1"])' >options
	judge --baseline options now
	((status == 0))
	[[ $stderr == *'options was measured with other options: gbps write_bw -D 1; now: gbps write_bw'* ]]
	: >empty
	judge --baseline empty now
	((status == 2))
	[[ $stderr == *'empty: no line is about a pair'* ]]
}

@test "the report is there though a file cannot be written" {
	made_pairs 8 >good
	judge --matrix /dev/full good
	((status == 1))
	says '8 nodes: 8 good'
}

@test "half of a node's pairs, held up once, do not name it" {
	[[ $(verdict 6 'if .to == "n5" and (.from == "n1" or .from == "n2") then .value *= 0.93
		elif .from == "n3" then .value *= 0.5 else . end') == 'node_slow n3' ]]
	[[ $(verdict 6 'when(.to == "n5" and .from != "n4"; .value *= 0.93)') == 'node_slow n5' ]]
}

@test "a rail is named if the other one of its host is good, else the host" {
	[[ $(verdict 16 "$rails"'when(.from == "n3" and .from_rail == "mlx5_1"; .value *= 0.7)') == 'rail_slow n3/mlx5_1' ]]
	[[ $(verdict 16 "$rails"'when(.from == "n3"; .value *= 0.7)') == 'node_slow n3' ]]
}

@test "groups: a slow uplink is named, and none of its nodes" {
	made_pairs 12 'def rack($x): $x[1:] | tonumber - 1 | . / 4 | floor;
		when(.from and rack(.from) == 0 and rack(.to) == 2; .value *= 0.8)' >slow
	printf '%s\n' '# racks' 'r0 n1 n2 n3 n4' '' 'r1 n5,n6,n7,n8' 'r2 n9 n10 n11 n12' >racks
	judge --groups racks slow
	((status == 6))
	says 'slow between groups, and good within them: 1' 'r0 -> r2' '16 pairs' '12 nodes: 12 good'
	echo 'r3 n1' >>racks
	judge --groups racks slow
	((status == 2))
	[[ $stderr == *'racks: line 6'* ]]
}

@test "who never came, ended, has no device or a wrong clock is named as that; exit status 3" {
	made_pairs 16 "$failed"'select(.host != "n2") | when(touches("n2"); failed("connect")) |
		select(.kind != "done" or .host != "n4") |
		when((touches("n4")) and .round > 5; failed("lost")) |
		when(touches("n6"); failed("device") | .node = "n6") |
		if .client == "n8" then .clock_s = 3.25 elif touches("n8") then .clock_s = -3.25 else . end |
		when(.from == "n10" or .to == "n10"; failed("connect")) |
		when(.kind == "done" and .host == "n12"; .missed = 2)' >lost
	judge lost
	((status == 3))
	says $'did not start: 1\n  n2  ' $'ended early: 1\n  n4  ' $'device cannot be used: 1\n  n6  ' 'n6: device' \
		$'clock is wrong: 1\n  n8            3.25 s behind' $'could not connect: 1\n  n10  ' '1 player missed 2 slots in all (n12 first)' \
		'16 nodes: 11 good, 1 suspect, 4 lost'
	[[ ! $stderr ]]
	[[ $(verdict 8 "$failed"'when(.from == "n3" and .to == "n4"; failed("refused"))') == 'pair_lost n3>n4' ]]
}

@test "two that ended take nobody with them who tried them, and whose slot cut off one more run" {
	local edit='select(.kind != "done" or (.host | IN("n2", "n5") | not)) |
		def is($a; $b): .kind == "pair" and ([.from, .to] | sort) == [$a, $b];
		select((is("n3"; "n5") or is("n4"; "n5") or is("n2"; "n4") or is("n2"; "n6")) | not) |
		if is("n1"; "n2") or is("n1"; "n5") or (.kind == "pair" and .from == "n1" and .to == "n4") then
			'"$failed"' failed("connect") else . end'
	[[ $(verdict 6 "$edit") == 'ended_early n2,ended_early n5,pair_lost n1>n4' ]] || { verdict 6 "$edit"; return 1; }
}

@test "latency: a node far above the least is named, and one with a long tail" {
	local us='if .unit then .unit = "us" | .program = "write_lat" elif .value then .p99 = 3 | .value |= 2 + (. - 97) / 10 else . end |'
	[[ $(verdict 8 "$us .") == '' ]]
	[[ $(verdict 8 "$us"'when(touches("n3"); .value *= 3)') == 'latency_high n3' ]]
	[[ $(verdict 8 "$us"'when(touches("n3"); .p99 = 30)') == 'tail_long n3' ]]
	judge made.jsonl
	says 'p99 is ' 'times the median, normal is below 3'
	# As a run writes it: from the client only, which is the lower one of both.
	[[ $(verdict 8 "$us"'select(.from == null or .from < .to) | when(touches("n7"); .value *= 3)') == 'latency_high n7' ]]
	judge made.jsonl
	says '28 of 28 pairs measured'
}

@test "what a run of 9 players wrote, each with a fault of its own" {
	judge --json "$top/tests/cli/pairs_lines.jsonl"
	((status == 3))
	[[ $(jq -r '.suspects[] | select(.kind != "pair_slow") | "\(.kind) \(.name)"' <<<"$output" | paste -sd,) == \
		'never_came p2,ended_early p3,device p4,clock p6,node_slow p1' ]]
	[[ $(jq -r '.notes[] | select(.kind == "missed_slots").evidence[] | .value | floor' <<<"$output" | paste -sd,) == 1,4 ]]
	[[ $(jq -r '.suspects[] | select(.name == "p4").said' <<<"$output") == *'sim0 port 1 is DOWN'* ]]
}

@test "a baseline: who is slower than it was" {
	made_pairs 8 >before
	made_pairs 8 'when(.from == "n3"; .value *= 0.94)' >now
	judge --baseline before now
	((status == 6))
	says $'slower than in the baseline: 1\n  n3            sending: 91.'
	judge --baseline=before before
	((status == 0))
	judge --json --baseline=before before
	[[ $(jq .compared <<<"$output") == 8 ]]
	judge --json before
	[[ $(jq .compared <<<"$output") == null ]]
}

@test "a baseline of nodes with few partners: their pairs are compared; with nothing to compare, that is said" {
	local n
	for n in 2 3; do
		made_pairs $n >before
		made_pairs $n 'when(.value; .value *= 0.7)' >now
		judge --baseline before now
		((status == 6))
		says $'slower than in the baseline: '$((n * (n - 1)))$'\n' "$n nodes: 0 good, $n undecided"
		[[ $output =~ 'n1 -> n2      6'[0-9.]+' of 9'[0-9.]+' Gb/s (70 %)' ]]
		judge --baseline before before
		((status == 0))
	done
	made_pairs 8 >before
	made_pairs 8 'when(.value; .value *= 0.7)
		| if .kind == "pair" then .from_rail = "mlx5_0" | .to_rail = "mlx5_0" else .rail = "mlx5_0" end' >now
	judge --baseline before now
	((status == 77))
	says 'not compared with the baseline: no node, rail or pair has figures in both' '8 nodes: 8 good'
	# A baseline in which each node has two partners.
	made_pairs 8 'def at($x): $x[1:] | tonumber; select(.kind != "pair" or ((at(.from) - at(.to) + 8) % 8 | IN(1, 7)))' >ring
	made_pairs 8 'when(.value; .value *= 0.7)' >slower
	judge --baseline ring slower
	((status == 6))
	says 'slower than in the baseline: 16' 'n1 -> n2 '
	judge --baseline slower ring
	((status == 0))
	judge --json --baseline before now
	[[ $(jq .compared <<<"$output") == 0 ]]
}

@test "a quick run says what it cannot find" {
	made_pairs 16 'when(.schedule; .schedule = "quick") | select(.kind != "pair" or .round < 7)' >quick
	judge quick
	((status == 0))
	says 'quick: 4' '% of all pairs were tried: a slow node is found; a slow pair of good nodes is found if it was among them.'
}

@test "the man page's report of 24 nodes is what judge prints" {
	made_pairs 24 'if .kind != "pair" then . elif .from == "n5" then
		.value *= 0.565 | .findings = [{host: "n5", id: "limited_by_pcie",
			text: "limited by the PCIe link of the client (PCIe 16.0 GT/s x4): 99 % of 55.3 Gb/s"}]
		elif .to == "n9" then .value *= 0.8 elif .from == "n3" and .to == "n7" then .value *= 0.49 else . end' >pairs.jsonl
	judge --retest suspects.txt pairs.jsonl
	((status == 6))
	diff <(sed -n '/^slow nodes: 2/,/^[.]Ed/p' "$top/man/rdmark-pairs.1.in" | grep -vx '[.]Ed') - <<<"$output"
}

@test "the report has at most 40 lines, whatever is slow; JSON has all" {
	made_pairs 24 "$failed"'when(.from and (.from[1:] | tonumber) % 4 == 0; .value *= 0.7 | .findings = [{host: .from, text: "hot"}]) |
		when(.to and (.to[1:] | tonumber) % 7 == 1; .value *= 0.7) |
		when(.from and .round % 9 == 4; failed("other"))' >many
	judge many
	((${#lines[@]} <= 40))
	says 'slow nodes:' 'pairs of good nodes without a figure:' 'more (--json has all)'
	judge --json many
	(($(jq '.suspects | length' <<<"$output") > 40))
}

@test "the matrix: a row for each sender, a column for each receiver, in the order of names" {
	made_pairs 11 'select(.from != "n2" or .to != "n10")' | shuf >mixed
	judge --matrix m.csv mixed
	((status == 0))
	[[ $(head -n 1 m.csv) == 'from\to,n1,n2,n3,n4,n5,n6,n7,n8,n9,n10,n11' ]]
	[[ $(cut -d, -f1 m.csv | paste -sd' ') == 'from\to n1 n2 n3 n4 n5 n6 n7 n8 n9 n10 n11' ]]
	[[ $(sed -n 's/^n1,,\([^,]*\),.*/\1/p' m.csv) == "$(jq -r 'select(.from == "n1" and .to == "n2").value' mixed)" ]]
	[[ $(sed -n 3p m.csv | cut -d, -f 11) == '' ]]
}

@test "prefixes of launchers, lines that run together, and lines twice are read" {
	made_pairs 8 >lines
	sed 's/^/3: /' lines >srun
	sed 's/^/[1,0]<stdout>:/' lines >mpirun
	paste -d '\0' - - <lines >joined
	for file in srun mpirun joined; do
		judge --json "$file"
		((status == 0))
		[[ $(jq -c '[.pairs_measured, .input.broken, .input.other_text]' <<<"$output") == '[56,0,0]' ]]
	done
	judge lines lines
	((status == 0))
	[[ $stderr == 'rdmark-pairs: lines not used, there twice: 56' ]]
}

@test "other text, cut lines and lies are counted and do no harm" {
	{
		made_pairs 8
		echo 'slurmstepd: error: *** STEP 7.0 ON n3 CANCELLED ***'
		echo '{"kind":"pair","from":"n1"'
		made_pairs 8 'select(.kind == "pair" and .round == 1) | .value = -1'
		made_pairs 8 'select(.kind == "pair" and .round == 1) | .to = "$(reboot)"'
		made_pairs 8 'select(.kind == "pair" and .round == 1) | .to = .from'
		made_pairs 8 'select(.kind == "pair" and .round == 1) | .value = "fast"'
		head -c 3000000 /dev/zero | tr '\0' x
		echo
		head -c 10000 /dev/urandom | tr '{' x
		echo
		echo '[1,2]{"kind":5}{"kind":"pair"}'
		printf '{"kind":"pair","run":"1790000000-1","from":"n1","to":"n2","status":"measured","value":1e99999}'
	} >lies
	judge lies
	((status == 0))
	says '8 nodes: 8 good' '56 of 56 pairs measured'
	[[ $stderr == *'of other text: '* && $stderr == *'cut or not JSON: '* && $stderr == *'with impossible content: '* ]]
}

@test "a run's title is in the document and in the picture" {
	made_pairs 4 'when(.kind == "player"; .title = "rack 7, after \"the\" update")' >titled
	judge --json titled
	[[ $(jq -r .title <<<"$output") == 'rack 7, after "the" update' ]]
	run -0 "$bin/rdmark-plot" -o picture.gp titled
	grep -q "^set title 'rack 7, after .*Bandwidth of all pairs of 4 nodes" picture.gp
	made_pairs 4 >untitled
	judge --json untitled
	[[ $(jq 'has("title")' <<<"$output") == false ]]
}

@test "runs of another program are not mixed in" {
	made_pairs 8 >one
	made_pairs 8 '.run = "2" | when(.program; .program = "read_bw") | when(.value; .value *= 0.5)' >two
	judge one two
	((status == 0))
	[[ $stderr == 'rdmark-pairs: lines not used, of another experiment: 56' ]]
	made_pairs 8 '.run = "2" | when(.options; .options = ["-s", "8"]) | when(.value; .value *= 0.2)' >two
	judge one two
	((status == 0))
	says 'normal 97.'
	[[ $stderr == 'rdmark-pairs: lines not used, of another experiment: 56' ]]
}

@test "wrong usage, no file and no line are named; exit status 2" {
	local words
	for words in '' '--colour' '--groups' 'nowhere' '.' '/dev/null' '--groups nowhere good' '--baseline nowhere good' '--expect' '--expect -1 good'; do
		made_pairs 4 >good
		read -ra words <<<"$words"
		judge "${words[@]}"
		((status == 2)) || { echo "${words[*]}: $status $stderr"; return 1; }
		[[ $stderr == 'rdmark-pairs: '* && ! $output ]]
	done
	judge --matrix /nowhere/m.csv good
	((status == 1))
	judge --help
	((status == 0))
	says 'usage: rdmark-pairs judge'
	run awk 'length > 80' <<<"$output"
	[[ ! $output ]]
}

@test "its documents fit the schema" {
	made_pairs 8 'if .from == "n3" then .value *= 0.6 elif .from == "n1" and .to == "n2" then .value *= 0.5 else . end |
		select(.host != "n7" and .from != "n7" and .to != "n7")' >slow
	"$bin/rdmark-pairs" judge --json slow >slow.json || (($? == 3))
	jq -e '.incomplete == {rounds: 0, rounds_played: 0, players_unnamed: 1, players_unended: 0}' slow.json
	made_pairs 8 'select(.kind != "done" or .host != "n7")' >ended
	"$bin/rdmark-pairs" judge --json ended >ended.json || (($? == 3))
	# Each of the notes and of the kinds of what comes and goes.
	made_pairs 24 'if .kind == "player" then .port_gbps = 400 elif touches("n3") and .round > 15 then .value *= 0.6
		elif .kind == "done" and .host == "n5" then .missed = 1 else . end' >falls
	"$bin/rdmark-pairs" judge --json falls >falls.json || (($? == 6))
	"$bin/rdmark-pairs" judge --json --expect 300 falls >expect.json || (($? == 6))
	[[ $(jq -r '.notes[].kind' falls.json expect.json | sort -u | paste -sd,) == below_expected,cluster_slow,missed_slots ]]
	[[ $(jq -r '.suspects[].kind' falls.json) == node_falls ]]
	run "$top/tests/lib/schema" ended.json slow.json falls.json expect.json
	((status != 77)) || skip "$output"
	((status == 0)) || { echo "$output"; return 1; }
	jq '.suspects[0].kind = "sad"' slow.json >sad.json
	run "$top/tests/lib/schema" sad.json
	((status == 1))
}

@test "half of four hosts with rails are slow: both are named, not none" {
	made_pairs 8 "$rails "'when(.value and ([.from, .to] | any(. == "n3" or . == "n4")); .value *= 0.6)' >slow
	judge --json slow
	((status == 6))
	[[ $(jq -r '[.suspects[] | "\(.kind) \(.name)"] | sort | join(",")' <<<"$output") == 'node_slow n3,node_slow n4' ]]
}

# made_latencies NODES SLOW [EDIT]: the last SLOW nodes have 6 us, the others 2 us.
made_latencies() {
	made_pairs "$1" '
		if .unit then .unit = "us" | .program = "write_lat"
		elif .value then .value = ([.from, .to] | map(.[1:] | tonumber) | max |
			if . > '"$(($1 - $2))"' then 6 else 2 end) + .value / 10000
		else . end | '"${3:-.}"
}

@test "latency: as high alone is not slow only under load, and is in the list to drain" {
	made_latencies 4 1 >loaded
	made_latencies 4 1 '.run = "2" | when(has("alone"); .alone = true) | select(.kind != "pair" or .to == "n4")' >alone
	judge --suspects drain loaded alone
	((status == 6))
	says 'high latency: 1' 'n4            6.01 us, 3.0 times the normal 2.01 us, with 3 partners, alone too'
	[[ $(<drain) == n4 ]]
	made_latencies 4 0 '.run = "2" | when(has("alone"); .alone = true) | select(.kind != "pair" or .to == "n4")' >alone
	judge --suspects drain loaded alone
	((status == 6))
	says 'slow only under load, good alone: 1'
	[[ ! -s drain ]]
}

@test "latency: of many slow nodes each is named, and normal is what good ones have" {
	local n slow
	for n in '4 1' '5 2' '6 2' '8 3' '10 4' '16 6' '40 12'; do
		read -r n slow <<<"$n"
		made_latencies "$n" "$slow" >slow
		judge --json slow
		((status == 6)) || { echo "$slow of $n: $output"; return 1; }
		[[ $(jq -r '[.suspects[] | select(.kind == "latency_high").name] | sort_by(.[1:] | tonumber) | join(" ")' <<<"$output") == \
		"$(seq -s' ' -f n%.0f $((n - slow + 1)) "$n")" ]]
		jq -e '[.suspects[].normal] | min > 2 and max < 2.1' <<<"$output"
	done
	judge slow
	says ' us, 3.0 times the normal 2.01 us' '; normal 2.01 us'
}

@test "latency: two racks that no --groups told of are no slow nodes" {
	local near
	for near in 1 2 3 5; do
		made_pairs 6 'if .unit then .unit = "us" | .program = "write_lat"
			elif .value then .value = ([.from, .to] | map((.[1:] | tonumber) > '"$near"') |
				if .[0] == .[1] then 1 else 2.4 end) + .value / 10000
			else . end' >racks
		judge racks
		# Who is alone in its rack cannot be told from a slow node.
		case $near in
			1 | 5) ((status == 6)) && says 'high latency: 1' ;;
			# Of three and three most pairs are far: then this is what is normal, and little can be told.
			3) ((status == 77)) && says '6 nodes: 0 good, 6 undecided, 0 suspect' ;;
			*) ((status == 0)) && says '6 nodes: 6 good' ;;
		esac || { echo "$near: $output"; return 1; }
	done
}

@test "a name that means more than one host is none, also without --hosts" {
	local name
	for name in ALL all . .. @n8 =n8 +n8 %n8 n8=1 n8@x; do
		made_pairs 8 "if .host == \"n8\" then .host = \"$name\" else . end | (.from, .to, .client) |= if . == \"n8\" then \"$name\" else . end |
			if .kind == \"pair\" and (.from == \"$name\" or .to == \"$name\") then .value *= 0.5 else . end" >odd
		run --separate-stderr "$bin/rdmark-pairs" judge --suspects hosts --matrix matrix odd
		[[ ! -s hosts && $output == *'7 nodes: '* && $(<matrix)$output != *"$name"[,\ /]* ]] || { echo "$name: $output"; cat hosts; return 1; }
	done
}
