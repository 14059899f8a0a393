#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# bats file_tags=standin,san
# shellcheck disable=SC2016,SC2034,SC2154 # $ of jq; what lib/rdmark.bash sets and reads
#
# rdmark-pairs with --schedule incast=K: which runs there are, and what is said of the shares. The rules
# themselves are tested in tests/unit/test_clusters.c's test, of which starving senders are candidates.

load ../lib/rdmark

setup_file() { need_device; }

# made_incast [EDIT]: lines of incast=4 on n1 to n8, whose port has 100 Gb/s: n3 gets 0.3 of its share. EDIT, a filter
# of jq, changes each line, or drops it.
made_incast() {
	jq -nc '8 as $n | 4 as $k |
		{rdmark_pairs: 1, generator: "rdmark-pairs 1.0.0", run: "1790000000.000-1", players: $n, hosts: $n, schedule: "incast=4",
			seed: 1, rounds: $n, start_utc: "2026-11-23T18:00:00.000Z", slot_s: 1, alone: false, both_ways: false,
			program: "write_bw", options: [], unit: "gbps", port_gbps: 100} as $all |
		def name: "n\(. % $n + 1)";
		{kind: "pair", run: $all.run, alone: false, status: "measured", late_s: 0.001, clock_s: 0.002} as $pair |
		(range($n) | {kind: "player", player: ., host: name} + $all),
		(range($n) as $to | range($k) as $lane | ($to + 1 + ($lane * ($n - 1) / $k | floor)) | name as $from |
			$pair + {round: $to, from: $from, client: $from, to: ($to | name),
				value: ((if $from == "n3" then 0.3 else 1 end) * 24 * (1 + ($to + $lane) % 3 / 100))}),
		(range($n) | {kind: "done", run: $all.run, player: ., host: name, rounds: $all.rounds, missed: 0}) | '"${1:-.}"
}

# judged STATUS FILTER LINES: what the judge says in JSON, and its exit status.
judged() {
	local got=0
	"$RDMARK_BIN/rdmark-pairs" judge --json "$3" >document || got=$?
	((got == $1)) || fail "exit status $got: $(<document)"
	jq -e "$2" document >/dev/null || fail "not so: $2: $(<document)"
}

@test "incast: who starves is named and nobody else; what arrives of the rate of the port" {
	local i
	made_incast >lines
	judged 6 '[.suspects[] | [.kind, .name]] == [["sender_starves", "n3"]] and (.suspects[0] | .value / .normal | . > 0.25 and . < 0.35)
		and (.notes[] | select(.kind == "incast") | .evidence | map({(.name): .value}) | add
			| .count == 4 and (.part | . > 0.85 and . < 0.92))' lines
	start judge rdmark-pairs judge --suspects suspects --plan plan lines
	finish judge
	ended judge 6
	[[ ! -s suspects && $(awk '{ print $4 }' plan | sort -u | paste -sd' ') == 'control test' ]]
	for i in 97 30; do # alone it sends as much as the others, or not
		jq -Rnc '[inputs | split(" ")][] | . as [$slot, $a, $b, $part] | ([$a, $b], [$b, $a]) as [$from, $to] |
			{kind: "pair", run: "1790000900.000-1", round: ($slot | tonumber), slot: ($slot | tonumber), part: $part, from: $from, to: $to,
				client: $a, alone: true, status: "measured", value: (if $from == "n3" then '$i' else 97 end), late_s: 0.001}' plan >alone
		cat lines alone >both
		judged 6 ".suspects | length == 1 and .[0].proof == \"tested\"" both
		"$RDMARK_BIN/rdmark-pairs" judge --suspects suspects$i both >judge$i || true
	done
	[[ ! -s suspects97 && $(<suspects30) == n3 ]]
	grep -q 'good alone' judge97
	made_incast 'if .from == "n3" then .value /= 0.3 else . end' >good
	judged 0 '.suspects == [] and ([.notes[].kind] == ["incast"])' good
	made_incast 'del(.port_gbps)' >old
	judged 6 '.notes == []' old
}

# bats test_tags=core
@test "incast: run on six nodes: the senders of each round" {
	local i first=$((12000 + RANDOM % 100 * 40)) begin=$((EPOCHSECONDS + 4))
	for i in 0 1 2 3 4 5; do echo "p$i 127.0.0.1:$((first + 4 * i))"; done >hosts
	for i in 0 1 2 3 4 5; do
		SIMVERBS_GBPS=0.2 SIMVERBS_CPU=200 start "p$i" rdmark-pairs run --hosts hosts --self "p$i" --start "$begin" --schedule incast=3 --slot 2 \
			--auth=none -- write_bw -D 0.1
	done
	finish p0 p1 p2 p3 p4 p5
	for i in 0 1 2 3 4 5; do ended p$i 0; done
	cat p?.out >lines
	jq -es 'map(select(.kind == "pair")) | length == 18 and (map([.from, .to]) | unique | length == 18)
		and all(.client == .from and .to == "p\(.round)")' lines >/dev/null || fail "senders: $(<lines)"
	jq -es '[.[] | select(.kind == "pair" and .status == "measured" and .value > 0)] | any' lines >/dev/null ||
		fail "no figure: $(<lines)"
	start judge rdmark-pairs judge lines
	finish judge
	# Six nodes on one host are as equal as its scheduler lets them be, which may leave a run without a
	# figure: a node with too many of these is lost.
	if jq -es 'any(.status == "failed")' lines >/dev/null; then
		jq -es 'all(.status != "failed" or .error == "the slot ended before there was a figure")' lines >/dev/null || fail "failed: $(<lines)"
		ended_with_any judge 0 3 6 77
	else
		ended_with_any judge 0 6 77
	fi
	says judge.out ' senders to one reach'
}
