#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck disable=SC2016,SC2154 # $ of jq; what bats sets
#
# rdmark-prom: of made documents, of the lines of rdmark-pairs and of its judgement, and its completion.

bats_require_minimum_version 1.5.0

load ../lib/pairs

setup() { enter_folder; }

# prom OUT FILE…: promtool has nothing to say about what rdmark-prom writes, and no series is in it twice.
prom() {
	run -0 --separate-stderr "$bin/rdmark-prom" -o "$@"
	[[ ! $output && ! -e $(compgen -G "$1?*") && ! $(sed '/^#/d; s/ [^ ]*$//' "$1" | sort | uniq -d) ]]
	! type -P promtool || [[ ! $(promtool check metrics <"$1" 2>&1) ]]
}

# refused STATUS TEXT ARG…: one line with the TEXT, and what to do; the file that was there stays.
refused() {
	echo old >kept.prom
	run -"$1" "$bin/rdmark-prom" "${@:3}"
	[[ ${#lines[@]} == 1 && $output == "rdmark-prom: $2"*'Fix: '* && $(echo kept.prom*) == kept.prom && $(<kept.prom) == old ]]
}

# made FILTER: a document of a run, by jq.
made() {
	jq -c -n '{schema_version: 3, test: "send_bw", role: "client", status: "ok", peer: "n2", device: "mlx5_0", ends: {},
		finished_utc: "1970-01-02T00:00:01Z", results: []} | '"$1"
}

# number FILE SERIES: the figures of this series are there, so many.
number() { [[ $(grep -c "^$2{" "$1") == "$3" ]]; }

# holds FILE TEXT…: each stands in it.
holds() {
	local text
	for text in "${@:2}"; do grep -qF "$text" "$1" || { cat "$1"; return 1; }; done
}

@test "what disturbed a result, its uncertainty and loss; of repeated runs the median one; of the same labels the last" {
	local at='{file="c.prom",test="send_bw",device="mlx5_0",peer="n2"'
	made '.results = [{message_bytes: 8, direction: "client_to_server", bandwidth_gbps: 80, plus_minus_percent: 2.5, messages: 1000, lost: 20,
		quality: {disturbed: true, reasons: ["client_preempted", "overlap"]}, varied: {qp: 4, size_bytes: 8}}]' >one.json
	prom c.prom one.json
	for text in 'bandwidth_bytes_per_second A} 10000000000' 'plus_minus_ratio A} 0.025' 'lost_ratio A} 0.02' \
		'disturbed A,reason="client_preempted"} 1' 'disturbed A,reason="overlap"} 1'; do
		grep -qxF "rdmark_${text/ A/$at,message_bytes=\"8\",direction=\"client_to_server\",qp=\"4\"}" c.prom || { cat c.prom; return 1; }
	done
	made '.results = [{message_bytes: 8, run: 1, bandwidth_gbps: 80}, {message_bytes: 8, run: 2, bandwidth_gbps: 160}, {message_bytes: 8, run: 3, bandwidth_gbps: 240},
		{message_bytes: 16, run: 1, bandwidth_gbps: 320}, {message_bytes: 16, run: 2, bandwidth_gbps: 400}] | .summaries = [{message_bytes: 8, median_run: 2}]' >two.json
	prom c.prom one.json two.json
	[[ $(awk '/^rdmark_bandwidth/ { print $NF }' c.prom | paste -sd ' ') == '50000000000 20000000000' ]]
	number c.prom rdmark_disturbed 0
	prom c.prom two.json one.json
	number c.prom rdmark_bandwidth_bytes_per_second 1
	# Another peer's is no other run of this one; what was measured before a failure is no result.
	made '.peer = "n3" | .status = "failed" | .error = {exit_status: 3} | .results = [{message_bytes: 8, interrupted: true, bandwidth_gbps: 8}]' >three.json
	prom c.prom two.json three.json
	number c.prom rdmark_bandwidth_bytes_per_second 2
	holds c.prom 'peer="n3"} 0' 'peer="n3"} 3' 'rdmark_last_run_timestamp_seconds{file="c.prom",test="send_bw",device="mlx5_0",peer="n3"} 86401'
}

@test "texts of others are escaped, and what has another type than it should is left out" {
	made '.peer = "a\"} 1\nb\\\u001b"' >c.json
	prom c.prom c.json
	grep -qxF 'rdmark_up{file="c.prom",test="send_bw",device="mlx5_0",peer="a\"} 1\nb\\?"} 1' c.prom
	made '{schema_version, test: 1, role: [], status: {}, ends: 5, results: "x"},
		{schema_version, role: "client", ends: {client: []}, results: [1, null, {}]},
		{schema_version, results: [{message_bytes: "x", varied: [1], by_end: [2], run: {}, quality: {disturbed: true, reasons: 1},
			diagnosis: [3, {code: 4}], limit: 6, latency_mean_us: 1}], summaries: [7, {message_bytes: "x", median_run: []}], finished_utc: "2026-99-99T"}' >odd.jsonl
	prom c.prom odd.jsonl
	holds c.prom 'rdmark_up{file="c.prom"} 0'
	run ! grep -E 'nan|null' c.prom
}

@test "a file behind a link is replaced as a whole; what cannot be written leaves the old one" {
	local inode said status=0
	mkdir collector
	echo old >collector/c.prom
	exec {reader}<collector/c.prom
	inode=$(stat -c %i collector/c.prom)
	ln -s collector/c.prom link.prom
	made . >c.json
	(umask 022 && prom link.prom c.json)
	[[ -L link.prom && $(echo collector/*) == collector/c.prom ]]
	holds link.prom 'rdmark_up{file="link.prom",'
	# A reader that had opened it has the whole old file, and node_exporter may read the new one.
	[[ $(cat <&"$reader") == old && $(stat -c %i collector/c.prom) != "$inode" && $(stat -c %a collector/c.prom) == 644 ]]
	exec {reader}<&-
	refused 1 'writing /dev/full: No space left on device' c.json -o /dev/full
	refused 1 'writing nowhere/c.prom: No such file or directory' c.json -o nowhere/c.prom
	# As on a file system that is full.
	echo old >kept.prom
	said=$(trap '' XFSZ; ulimit -f 0; "$bin/rdmark-prom" c.json -o kept.prom 2>&1) || status=$?
	[[ $status == 1 && $said == 'rdmark-prom: writing kept.prom: File too large. Fix: '* && $(echo kept.prom*) == kept.prom && $(<kept.prom) == old ]]
}

@test "what is no document is refused with the cause, and the old file stays; a line that was cut hides no other" {
	made . >c.json
	: >empty
	echo '{"schema_version": 3,' >half
	made '.schema_version = 1' >older
	echo '{"rdmark_pairs": 9}' >newer
	echo '{"test_info": {}}' >perftest
	refused 2 'empty: the file is empty' c.json empty -o kept.prom
	refused 2 'half: not valid JSON: ' half -o kept.prom
	head -c 4096 /dev/zero >zeros # as a crash leaves it
	refused 2 'zeros: not valid JSON: ' zeros -o kept.prom
	echo '{"generator": "rdmark 2.0.0", "ports": [], "gpus": []}' >list
	refused 2 "list: not a document of rdmark's --json" list -o kept.prom
	refused 2 'older: schema_version is 1, which this rdmark-prom does not know' older -o kept.prom
	refused 2 'newer: rdmark_pairs is 9' newer -o kept.prom
	refused 2 "perftest: not a document of rdmark's --json; it is perftest's" perftest -o kept.prom
	refused 2 'nowhere: no such file' nowhere -o kept.prom
	refused 2 '.: not a regular file' . -o kept.prom
	refused 2 'no file given' -o kept.prom
	refused 2 'no file to write' c.json
	refused 2 'unknown option --what' --what c.json -o kept.prom
	refused 2 'option -o needs a value' c.json -o
	{ cat half && made '.peer = "n4"'; } >cut.jsonl
	prom c.prom cut.jsonl
	[[ $stderr == 'rdmark-prom: cut.jsonl: 1 of 2 lines are not whole, and are left out' ]]
	holds c.prom 'peer="n4"} 1'
	"$bin/rdmark-prom" -o c.prom - <c.json
	holds c.prom 'peer="n2"} 1'
}

@test "series of nodes and devices, none of a pair; of lines the same as of their judgement" {
	local rails='if .host then .rail = "mlx5_\(.player % 2)" | .host = "n\(.player / 2 | floor + 1)" else
		def at($x): $x[1:] | tonumber - 1; def host($x): "n\(at($x) / 2 | floor + 1)"; def rail($x): "mlx5_\(at($x) % 2)";
		.from_rail = rail(.from) | .to_rail = rail(.to) | .client = host(.client) | .from = host(.from) | .to = host(.to) |
		select(.from != .to) end'
	made_pairs 8 'when(.from == "n3"; .value *= 0.6) | when(.kind == "player"; .title = "rack 7")' >slow
	prom nodes.prom slow
	[[ $(grep -c '^rdmark_pairs_bandwidth_bytes_per_second{' nodes.prom) == 16 ]]
	grep -qx 'rdmark_pairs_suspect{file="nodes.prom",node="n3",kind="node_slow"} 1' nodes.prom
	grep -qx 'rdmark_pairs_suspects{file="nodes.prom",kind="pair_lost"} 0' nodes.prom
	grep -qx 'rdmark_pairs_nodes{file="nodes.prom",state="suspect"} 1' nodes.prom
	grep -qx 'rdmark_up{file="nodes.prom"} 1' nodes.prom
	grep -qx 'rdmark_exit_status{file="nodes.prom"} 6' nodes.prom
	grep -qx 'rdmark_title_info{file="nodes.prom",title="rack 7"} 1' nodes.prom
	# 97 Gb/s and a little is what the others reach.
	awk -v at='{file="nodes.prom",node="n3",direction="send"}' '
		$1 == "rdmark_pairs_bandwidth_bytes_per_second" at && $2 > 7.2e9 && $2 < 7.4e9 { n++ }
		$1 == "rdmark_pairs_of_normal_ratio" at && $2 > .59 && $2 < .61 { n++ }
		END { exit n != 2 }' nodes.prom
	cp nodes.prom lines.prom
	"$bin/rdmark-pairs" judge --json slow | "$bin/rdmark-prom" - -o nodes.prom
	cmp nodes.prom lines.prom
	"$bin/rdmark-prom" - -o nodes.prom <slow
	cmp nodes.prom lines.prom
	made_pairs 8 "$rails" >two
	prom rails.prom two
	grep -q '^rdmark_pairs_of_normal_ratio{file="rails.prom",node="n2",device="mlx5_1",direction="receive"} ' rails.prom
	made_pairs 8 'if .unit then .unit = "us" | .program = "write_lat" elif .value then .p99 = 3 | .value |= 2 else . end' >latency
	prom latency.prom latency
	grep -qxE 'rdmark_pairs_of_normal_ratio\{file="latency.prom",node="n2"\} 1(\.0)?' latency.prom # jq 1.7 keeps the digits
	run ! grep bytes_per_second latency.prom
}

@test "what is not known, or is of a lost node, has no series; a judgement that fails leaves the file" {
	made_pairs 8 'when(.from; .value *= 0.4 | .from_cpu_percent = 40) | when(.kind == "player"; .port_gbps = 100)' >all
	prom all.prom all
	grep -qx 'rdmark_pairs_nodes{file="all.prom",state="undecided"} 8' all.prom
	run ! grep -E '^rdmark_pairs_(normal|bandwidth|of_normal)' all.prom
	made_pairs 8 'select(.kind != "done" or .host != "n5") | if .from == "n5" or .to == "n5" then .status = "failed" | .cause = "unreachable" | .exit = 4 | .error = "no" | del(.value) else . end' >lost
	prom lost.prom lost
	grep -q '^rdmark_pairs_suspect{file="lost.prom",node="n5",kind="' lost.prom
	run ! grep -E '^rdmark_pairs_(bandwidth|of_normal).*"n5"' lost.prom
	echo '{"kind": "pair", "run": "1"}' >none
	echo old >old.prom
	run -2 --separate-stderr "$bin/rdmark-prom" none -o old.prom
	[[ $stderr == *'rdmark-pairs: '*'Fix: '* && $(<old.prom) == old ]]
}

@test "the kinds of suspects are those of the catalogue" {
	diff <(sed -n '/^def suspects:/,/;$/p' "$top/contrib/prom/prom.jq" | grep -o '"[a-z_]*"' | tr -d '"') \
		<(awk -F '"' '/^FINDING\(SUSPECT_NEVER_CAME/ { on = 1 } on && /^FINDING\(SUSPECT_/ { print $2 }' "$top/common/finding/catalogue.def")
}

@test "completion: the options of --help, and files" {
	# shellcheck source=/dev/null
	. "${bin%/*}/completions/rdmark"
	: >run.json
	replies() {
		COMP_LINE=$1 COMP_POINT=${#1} COMPREPLY=()
		_rdmark_prom rdmark-prom
		printf '%s\n' "${COMPREPLY[@]}" | sed 's/[ =]$//' | sort -u
	}
	diff <("$bin/rdmark-prom" --help | sed -n 's/^  -., \(--[a-z]*\).*/\1/p' | sort) <(replies 'rdmark-prom --')
	[[ $(replies 'rdmark-prom ru') == run.json && $(replies 'rdmark-prom -o ru') == run.json ]]
}
