# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=bash disable=SC2016,SC2034 # $ of jq; what it sets is for the tests
#
# For tests of rdmark-pairs and of what reads its lines.
#
# enter_folder: that of this test; $top is the tree, $bin where the programs are.
enter_folder() {
	top=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
	bin=$(cd "${RDMARK_BIN:-$top/build/bin}" && pwd)
	cd "$BATS_TEST_TMPDIR" || return
}

# made_pairs NODES [EDIT]: lines of a full run of `rdmark-pairs run` on n1 to nNODES, as its processes write
# them, about 97 Gb/s each; EDIT, a filter of jq, changes each line, or drops it: select(…). It may say
# when(CONDITION; CHANGE), and touches(NODE, …): this is a pair of one of them.
made_pairs() {
	jq -nc --argjson n "$1" '
		def when(condition; change): if condition then change else . end;
		def touches(nodes): any(nodes == (.from, .to); .);
		{rdmark_pairs: 1, generator: "rdmark-pairs 0.1.0", run: "1790000000-1", players: $n, hosts: $n, schedule: "full",
			seed: 1, rounds: ($n - 1), start_utc: "2026-11-23T18:00:00.000Z", slot_s: 1, alone: false, program: "write_bw",
			options: [], unit: "gbps"} as $all |
		(range($n) | {kind: "player", player: ., host: "n\(. + 1)"} + $all),
		(range($n) as $i | range($n) | select(. != $i) |
			{kind: "pair", run: $all.run, round: ((. + $i) % ($n - 1)), from: "n\($i + 1)", to: "n\(. + 1)",
				client: "n\(([., $i] | min) + 1)", alone: false, status: "measured",
				value: (97 + ($i * 7 + . * 13) % 10 / 20), late_s: 0.001, clock_s: 0.002}),
		(range($n) | {kind: "done", run: $all.run, player: ., host: "n\(. + 1)", rounds: $all.rounds, missed: 0}) | '"${2:-.}"
}

# made_incast: lines of incast=3 of four nodes: n2 gets 0.3 of its share.
made_incast() {
	made_pairs 4 'if .kind == "player" then .schedule = "incast=3" else . end | select(.kind != "pair")'
	jq -nc 'range(4) as $to | range(4) | select(. != $to) | "n\(. + 1)" as $from |
		{kind: "pair", run: "1790000000-1", round: $to, from: $from, to: "n\($to + 1)", client: $from, alone: false,
			status: "measured", value: (if $from == "n2" then 9 else 30 end)}'
}

# made_plan NODES WORDS [EDIT]: lines of those nodes for the plan that is in WORDS, a command line of
# `rdmark-pairs run` with slots of 1.8 s, as made_pairs has them of a schedule.
made_plan() {
	jq -nc --argjson n "$1" --arg words "$2" '
		def name: if test("^[0-9]+$") then "n\(tonumber + 1)" else . end;
		def at: .[1:] | tonumber - 1;
		def when(condition; change): if condition then change else . end;
		def touches(nodes): any(nodes == (.from, .to); .);
		($words | capture("--plan lines:(?<plan>[^ ]*)").plan | split("+") | map(select(. != "") | split(","))) as $plan |
		($words | capture("--start=(?<at>[0-9]+) --for=(?<left>[0-9.]+)") | .left |= tonumber) as $time |
		"\($time.at).000-\($time.left | floor)" as $run | ([$plan[-1][0] | tonumber + 1, ($time.left / 1.8 | floor)] | min) as $slots |
		{rdmark_pairs: 1, generator: "rdmark-pairs 2.0.0", run: $run, players: $n, hosts: $n, schedule: "plan", seed: 1,
			rounds: $slots, start_utc: "2026-11-23T18:00:00.000Z", slot_s: 1.8, alone: true,
			program: "write_bw", options: [], unit: "gbps"} as $all |
		(range($n) | {kind: "player", player: ., host: "n\(. + 1)"} + $all),
		($plan[] | select(.[0] | tonumber < $slots) | . as [$slot, $a, $b, $part] | ($a | name) as $a | ($b | name) as $b | [$a, $b], [$b, $a] | . as [$from, $to] |
			{kind: "pair", run: $run, round: ($slot | tonumber), from: $from, to: $to, client: $a, alone: true, part: $part,
				slot: ($slot | tonumber), status: "measured", value: (97 + (($from | at) * 7 + ($to | at) * 13) % 10 / 20), late_s: 0.001,
				clock_s: 0.002}),
		(range($n) | {kind: "done", run: $run, player: ., host: "n\(. + 1)", rounds: $all.rounds, missed: 0}) | '"${3:-.}"
}
