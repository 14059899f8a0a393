#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck disable=SC2016,SC2154 # ` in a text; what bats and programs.bash set
#
# rdmark itself, without a device: what it shows and starts, what it refuses, and what it says of two
# files of documents.

bats_require_minimum_version 1.5.0

setup() {
	top=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
	bin=$(cd "${RDMARK_BIN:-$top/build/bin}" && pwd)
	cd "$BATS_TEST_TMPDIR" || return
	# shellcheck source=tests/lib/programs.bash
	. "$top/tests/lib/programs.bash"
}

# says TEXT…: each stands in $output.
says() {
	local text
	for text; do
		[[ $output == *"$text"* ]] || { printf 'not said: %s\n%s\n' "$text" "$output"; return 1; }
	done
}

# bandwidth GBPS [PLUS_MINUS [SIZE]]: a document of write_bw.
bandwidth() {
	jq -nc --argjson gbps "$1" --argjson sure "${2:-null}" --argjson size "${3:-65536}" '{schema_version: 3, test: "write_bw", results: [
		{message_bytes: $size, qps: 1, bandwidth_gbps: $gbps, plus_minus_percent: $sure, measured_by: "client", direction: "client_to_server"}]}'
}

# latency MEAN P50 P99: a document of send_lat.
latency() {
	jq -nc --argjson mean "$1" --argjson p50 "$2" --argjson p99 "$3" '{test: "send_lat", results: [
		{message_bytes: 2, qps: 1, latency_mean_us: $mean, latency_p50_us: $p50, latency_p99_us: $p99, latency_p99_9_us: null,
		plus_minus_percent: 0.5, measured_by: "client", direction: "ping_pong"}]}'
}

compare() { run --separate-stderr "$bin/rdmark" compare "$@"; }

@test "alone it shows what there is, with two examples" {
	run -0 "$bin/rdmark"
	says 'rdmark server' 'rdmark HOST' 'rdmark list' 'rdmark compare' 'rdmark node1' "${all_programs[@]}"
	local shown=$output words
	for words in --help -h help; do
		read -ra words <<<"$words"
		run -0 "$bin/rdmark" "${words[@]}"
		[[ $output == "$shown" ]]
	done
	for words in 'list -h' 'compare --help' 'server --help' 'server -h'; do
		read -ra words <<<"$words"
		run -0 "$bin/rdmark" "${words[@]}"
		[[ $output == "usage: rdmark ${words[0]} ["* && $output == *' --'*'json '* ]]
		shown+=$'\n'$output
	done
	run -0 "$bin/rdmark" check -d x -h
	says 'usage: rdmark check [OPTION...]' --ib-dev --json --title
	[[ $output != *--size* ]]
	shown+=$'\n'$output
	run awk 'length > 80' <<<"$shown"
	[[ ! $output ]]
}

@test "it becomes the test that is named, of its own folder, with all that follows" {
	local program
	for program in "${all_programs[@]}"; do
		[[ $("$bin/rdmark" "$program" --help) == "$("$bin/$program" --help)" ]]
		run -2 "$bin/rdmark" "${program/_/-}"
		says "Fix: did you mean \`rdmark $program\`?"
	done
	run -2 "$bin/rdmark" send_bw --no-such-option
	says "$("$bin/send_bw" --no-such-option 2>&1)"
}

@test "in a folder alone it finds the others in PATH, or says what is missing" {
	mkdir alone others
	cp "$bin/rdmark" alone/
	printf '#!/bin/sh\necho "other $*"\n' >others/send_bw
	chmod 755 others/send_bw
	run -0 env "PATH=$PWD/others:$PATH" alone/rdmark send_bw -s 8
	[[ $output == 'other -s 8' ]]
	run -1 env PATH=/nonexistent alone/rdmark send_bw
	says 'send_bw' 'No such file' 'Fix: install all'
}

@test "what it does not understand is refused in the form of all errors" {
	run -2 "$bin/rdmark" --bogus
	says "rdmark: '--bogus' is no command of rdmark" 'Fix: '
	run -2 "$bin/rdmark" ''
	run -2 "$bin/rdmark" list --bogus
	says '--bogus' 'Fix: `rdmark list --help`'
	run -2 "$bin/rdmark" list --jsom
	says 'Fix: did you mean --json?'
	run -2 "$bin/rdmark" list more
	says "unexpected argument 'more'"
	run -2 "$bin/rdmark" compare a.json
	says 'Fix: rdmark compare [OPTION...] A.json B.json'
	run -2 "$bin/rdmark" compare a b c
	run -2 "$bin/rdmark" compare a b --within
	run -2 "$bin/rdmark" compare a b --within=x
	run -2 "$bin/rdmark" compare a b --within -3
	says '-3'
}

@test "options follow the command, the test or the host" {
	run -2 "$bin/rdmark" -p 1 127.0.0.1
	says "'-p' is no command of rdmark, and no host: options follow the command, the test or the host. Fix: "
	run -2 "$bin/rdmark" no.such.host.invalid -p 5
	says 'no.such.host.invalid' 'no host'
}

@test "a tour of nobody: the first failure ends it, with its status and what to start there" {
	run "$bin/rdmark" 127.0.0.1 -p 1 --connect-timeout 0
	((status == 4 || status == 77))
	((status == 77)) || says 'send_lat' 'Fix: start `rdmark server --auth=none` on 127.0.0.1'
	run ! grep send_bw <<<"$output"
	run -2 "$bin/rdmark" 127.0.0.1 --no-such-option
	says 'rdmark: unknown option --no-such-option'
	run ! grep 'rdmark server' <<<"$output"
}

# runs FUNCTION WORD... : a document of each WORD, its arguments.
runs() {
	local values
	for values in "${@:2}"; do
		# shellcheck disable=SC2086 # several arguments
		$1 $values
	done
}

# answers WORD...: the answers of the last compare --json, in order.
answers() {
	jq -e --arg want "$*" '[.changes[].answer] | join(" ") == $want' <<<"$output"
}

@test "compare: of one connection a side only what connections do not differ by is better or worse" {
	bandwidth 100 0.5 >a.json
	bandwidth 90 0.5 >b.json
	compare a.json b.json
	((status == 0))
	[[ $output == *write_bw*'64 KiB'*rate*'100 Gb/s'*'90 Gb/s'*'-10.00 %'*'0.64 %  worse' ]]
	compare b.json a.json
	[[ $output == *'+11.11 %'*better ]]
	bandwidth 95 0.5 >c.json
	compare a.json c.json
	((status == 0))
	[[ $output == *'-5.00 %'*'0.67 %  cannot tell' && $stderr == *'With one connection on each side'*'Fix: measure both again with --reconnect 5.' ]]
	bandwidth 90 >unknown.json
	compare a.json unknown.json
	[[ $output == *' ?  cannot tell' ]]
	compare a.json a.json
	[[ $output == *'+0.00 %'*same ]]
}

@test "compare: of several connections their spread decides" {
	runs bandwidth 100 101 99 100.5 99.5 >a.json
	runs bandwidth 97 98 96 97.5 96.5 >b.json
	compare a.json b.json --json
	answers worse
	jq -e '.changes[0].connections == [5, 5]' <<<"$output"
	compare b.json a.json --json
	answers better
	runs bandwidth 100.4 101.3 99.2 100.6 99.5 >c.json
	compare a.json c.json --json
	answers same
	runs bandwidth 100.4 101.3 99.2 100.6 99.5 >c.json
	compare a.json c.json --json --within 1
	answers not_worse # a gain of 1.3 % is in its interval
	((status == 0))
	runs bandwidth 90 105 99 100.5 85 >c.json
	compare a.json c.json --json
	answers cannot_tell
	[[ $stderr == *'cannot tell for 1 of 1 figures. Fix: measure both again over more connections (--reconnect), or tolerate more.' ]]
	# The other side varies alike.
	bandwidth 95 >c.json
	compare a.json c.json --json
	answers worse
}

@test "compare: percentiles of one connection a side cannot tell, of several their spread decides" {
	latency 2 1.9 3 >a.json
	latency 2 2.9 3 | jq -c '.results[0] += {messages: 10000, latency_p50_low_us: 2.88, latency_p50_high_us: 2.92, latency_p90_us: 5}' >b.json
	compare a.json b.json --json
	answers cannot_tell cannot_tell cannot_tell
	jq -e '[.changes[].plus_minus_percent | type] == ["number", "null", "null"]' <<<"$output"
	[[ $stderr == *'below 7 %, and those of percentiles, cannot be told. Fix: measure both again with --reconnect 5.' ]]
	runs latency '2 1.9 3' '2 1.91 3' '2 1.89 3' '2 1.9 3' '2 1.9 3' >a.json
	runs latency '2 2.9 3' '2 2.91 3' '2 2.89 3' '2 2.9 3' '2 2.9 3' >b.json
	compare a.json b.json
	grep -Eq ' p50 .*\+52\.63 % +0\.[0-9]+ %  worse$' <<<"$output"
	run ! grep -E 'p9(0|9\.9)' <<<"$output"
}

@test "compare --within: what is surely worse ends with 6, what cannot be told with 77" {
	bandwidth 100 0.5 >a.json
	bandwidth 90 0.5 >b.json
	compare a.json b.json --within 5
	((status == 6))
	[[ $output == *'worse, REGRESSION' && $stderr == *'1 of 1 figures are worse by more than 5 %'* ]]
	compare a.json b.json --within=12
	((status == 77)) # 10 by its own measure, and 7 that connections may differ by
	compare a.json b.json --within=18
	((status == 0))
	compare b.json a.json --within 5
	((status == 0))
	bandwidth 90 15 >noisy.json
	compare a.json noisy.json --within 5
	((status == 77))
	bandwidth 90 >unknown.json
	compare a.json unknown.json --within 5
	((status == 77))
	# One figure that is worse decides, whatever else cannot be told.
	{ bandwidth 100 0.5; bandwidth 50 0.5 8; } >a.json
	{ bandwidth 90 0.5; bandwidth 50 0.5 8; } >b.json
	compare a.json b.json --within 5
	((status == 6))
}

@test "compare --within: a result that is gone, or a rate of 0, is no success" {
	{ bandwidth 100 0.5; bandwidth 50 0.5 8; } >a.json
	bandwidth 100 0.5 >gone.json
	{ bandwidth 100 0.5; bandwidth 0 0.5 8; } >zero.json
	for file in gone zero; do
		compare a.json "$file.json" --within 10
		((status == 77))
		[[ $output == *same && $stderr == *"1 results of a.json are not in $file.json"*Fix* ]]
		compare a.json "$file.json"
		((status == 0))
		compare "$file.json" a.json --within 10 --json
		((status == 0))
		jq -e .lost==0 <<<"$output"
	done
	compare a.json gone.json --json
	jq -e '.lost == 1 and .cannot_tell == 0' <<<"$output"
	# What is worse decides.
	bandwidth 50 0.5 >gone.json
	compare a.json gone.json --within 10
	((status == 6))
}

@test "compare: a row one of whose runs was disturbed is never better or worse" {
	bandwidth 100 0.5 >a.json
	bandwidth 60 0.5 | jq -c '.results[0].quality = {disturbed: true}' >b.json
	compare a.json b.json --within 5
	((status == 77))
	compare b.json a.json
	[[ $output == *'cannot tell !' ]]
	compare b.json b.json --within 5
	((status == 0))
	# Nor does one of several: 77, not 6.
	runs bandwidth 100 101 99 100.5 99.5 >a.json
	runs bandwidth 60 61 59 60.5 59.5 | jq -c 'if .results[0].bandwidth_gbps == 61 then .results[0].quality = {disturbed: true} else . end' >b.json
	compare a.json b.json --within 5
	((status == 77))
	[[ $output == *'cannot tell !' && $stderr == *'1 of them have a run that was disturbed'* ]]
	compare b.json a.json --within 5
	((status == 77)) # what it was before is not known
	runs bandwidth 110 111 109 110.5 109.5 | jq -c '.results[0].quality = {disturbed: true}' >b.json
	compare a.json b.json --within 5
	[[ $output == *'not worse !' ]]
	((status == 0))
}

@test "compare: thousands of documents are soon compared" {
	bandwidth 100 | jq -c . >one.json
	yes "$(<one.json)" | head -n 3000 >a.json
	yes "$(jq -c '.results[0].bandwidth_gbps = 90' one.json)" | head -n 3000 >b.json
	(ulimit -v 150000 && exec "$bin/rdmark" compare --within 5 a.json b.json >out) || worse=$?
	((worse == 6)) # not out of memory
	grep -Fq REGRESSION out
}

@test "compare --json says the same" {
	bandwidth 100 0.5 >a.json
	{ bandwidth 90 0.5; latency 2 1.9 3; } >b.json
	compare a.json b.json --within 5 --json
	((status == 6))
	[[ $stderr == *'figures only in b.json: 3'* ]]
	jq -e '.before == "a.json" and .within_percent == 5 and .regressions == 1 and .cannot_tell == 0 and (.changes | length) == 1 and
		(.changes[0] | .test == "write_bw" and .message_bytes == 65536 and .figure == "bandwidth_gbps" and .before == {mean: 100, runs: 1} and
		.after.mean == 90 and (.change_percent + 10 | fabs) < 0.001 and .answer == "worse" and .connections == [1, 1]
		and .disturbed == false)' <<<"$output"
	bandwidth 100 >a.json
	compare a.json b.json --json
	((status == 0))
	jq -e '.within_percent == null and .regressions == 0 and .cannot_tell == 1
		and (.changes[0] | .plus_minus_percent == null and .answer == "cannot_tell")' <<<"$output"
}

@test "compare: runs of a connection are one value" {
	bandwidth 100 0.5 | jq '.results = [range(1; 4) as $run | .results[0] + {run: $run, bandwidth_gbps: (99 + $run)}]' >a.json
	compare a.json a.json --json
	jq -e '.changes | length == 1 and (.[0].before | .runs == 3 and (.mean - 101 | fabs) < 0.01)' <<<"$output"
}

@test "compare: each result counts, also of one size, and what is inside does not" {
	bandwidth 100 0.5 | jq '.results[0] |= (. + {by_end: {client: ., server: (.bandwidth_gbps = 50)},
		by_thread: [. + {thread: 0, device: "a", bandwidth_gbps: 10}]})' >a.json
	compare a.json a.json --json
	jq -e '.changes | length == 1 and (.[0].before == {mean: 100, runs: 1})' <<<"$output"
	jq '.results += [.results[0] | .qps = 2]' a.json >b.json
	compare b.json b.json --json
	jq -e '.changes | map(.qps) == [1, 2]' <<<"$output"
	jq '.experiment.bidirectional = true | .results[0] |= (.direction = "both" | .measured_by = "both"
		| .by_end.client.direction = "client_to_server" | .by_end.server.direction = "server_to_client")' a.json >b.json
	compare b.json b.json --json
	jq -e '.changes | map([.direction, .before.mean]) | sort == [["client_to_server", 100], ["server_to_client", 50]]' <<<"$output"
}

@test "compare: a document that is not whole is told with its error" {
	bandwidth 100 0.5 >a.json
	bandwidth 100 0.5 | jq '.status = "failed" | .error = {message: "retries \u001b exceeded"}' >b.json
	compare a.json b.json
	((status == 0))
	[[ $stderr == 'rdmark: b.json: write_bw: failed: retries ? exceeded' ]]
	jq '.status = "interrupted" | .error = null | .results = []' a.json >b.json
	compare a.json b.json
	((status == 2))
	[[ $stderr == *'rdmark: b.json: write_bw: interrupted'*'nothing in common'* ]]
}

@test "compare: documents that programs wrote" {
	local file
	for file in "$BATS_TEST_DIRNAME"/documents/{sweep,gdr,histogram,verified,persistent}.json; do
		compare "$file" "$file"
		((status == 0)) || { echo "$file: $stderr"; return 1; }
		run ! grep -Ev '^test|same$' <<<"$output"
	done
}

@test "compare: nothing in common, or nothing at all" {
	bandwidth 100 >a.json
	bandwidth 100 0.5 4096 >b.json
	compare a.json b.json
	((status == 2))
	[[ $stderr == *'nothing in common'* ]]
	for file in /nonexistent /dev/null . "$bin/rdmark"; do
		compare a.json "$file"
		((status == 2))
		[[ $stderr == *"$file"*'Fix: name a file that --json=FILE has written'* ]]
	done
}

@test "compare: whatever is in a file, it is compared or refused" {
	local at text
	latency 2 1.9 3 >a.json
	for text in '{}' '[]' '1' '"x"' 'null' '{"test":1,"results":[]}' '{"test":"x","results":{}}' '{' "$(printf '[%.0s' {1..5000})"; do
		printf '%s' "$text" >b.json
		compare a.json b.json
		((status == 2)) || { echo "$text: $status"; return 1; }
	done
	for text in '[1,null,"x",[],{}]' '[{"bandwidth_gbps":-1}]' '[{"bandwidth_gbps":1e308,"message_bytes":-5,"qps":9223372036854775807}]' \
		'[{"latency_mean_us":"x","latency_p50_us":1e-308}]' \
		'[{"message_bytes":2,"qps":1,"direction":"ping_pong","latency_mean_us":1e308,"plus_minus_percent":1e308}]'; do
		printf '{"test":"send_lat","results":%s}' "$text" >b.json
		compare a.json b.json --within 1
		((status == 0 || status == 2 || status == 6 || status == 77)) || { echo "$text: $status"; return 1; }
		compare b.json a.json --json
		((status == 0 || status == 2)) || { echo "$text: $status"; return 1; }
	done
	# A name that is cut within a character.
	jq -c '.test = "x" * 59 + "é" | .results[0].bandwidth_gbps = 5' a.json >b.json
	compare b.json b.json
	((status == 0))
	jq -c '.test = "\u001b]0;title\u0007"' a.json >b.json
	compare b.json b.json
	((status == 0))
	[[ $output != *$'\e'* ]]
	printf '{"test":"x","results":[{"bandwidth_gbps":1e308},{"bandwidth_gbps":1e308,"run":2}]}' >b.json
	cp b.json $'c\377.json'
	compare b.json $'c\377.json' --json
	((status == 0 || status == 2))
	jq -e '.before == "b.json" and (.changes | type) == "array"' <<<"$output"
	# A document with one byte after the other gone, or another.
	for ((at = 0; at < $(wc -c <a.json); at += 7)); do
		{ head -c "$at" a.json; printf '\377'; tail -c "+$((at + 2))" a.json; } >b.json
		compare b.json a.json
		((status == 0 || status == 2)) || { echo "byte $at: $status"; return 1; }
		head -c "$at" a.json >b.json
		compare a.json b.json
		((status == 2)) || { echo "cut at $at: $status"; return 1; }
	done
}

@test "what cannot be written is an error" {
	bandwidth 100 0.5 >a.json
	run --separate-stderr bash -c "'$bin/rdmark' compare a.json a.json >/dev/full"
	((status == 1))
	[[ $stderr == *'writing to stdout'* ]]
	run -1 bash -c "'$bin/rdmark' >/dev/full"
}
