#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# bats file_tags=standin,san
# shellcheck disable=SC2016,SC2154 # $ of jq; what lib/rdmark.bash sets and reads
#
# --json-lines: a line for each run, whatever became of it.

load ../lib/rdmark

setup_file() { need_device; }

# lines FILE NUMBER: so many lines, each of them a document.
lines() {
	[[ $(wc -l <"$1") == "$2" ]] || fail "$1: $(wc -l <"$1") lines, not $2"
	json "$1" 'length == $n and all(.schema_version == 3)' -s --argjson n "$2"
}

@test "--json-lines=FILE: a line for each run, at both ends, next to the table, --json and --csv" {
	local n
	for n in 1 2; do
		server send_bw --json-lines=s.jsonl
		client send_bw -n 20 -s 64 -q $n --json-lines c.jsonl --json=c.json --csv=c.csv
		finish server
		ended client 0
		ended server 0
		row client.out
		json c.json '. == $lines[-1]' --slurpfile lines c.jsonl
	done
	lines c.jsonl 2
	lines s.jsonl 2
	json c.jsonl 'map(.results[0].qps) == [1, 2] and map(.results) == ($s | map(.results))' -s --slurpfile s s.jsonl
	pair send_lat -n 20 --json-lines=c.jsonl --json --histogram
	json client.out '. == $lines[-1] and (.results[0].latency_histogram_us | length > 0)' --slurpfile lines c.jsonl
	lines c.jsonl 3
	pair send_lat -D 0.2 --json-lines=c.jsonl --histogram
	says_no client.err '--histogram is ignored'
	json c.jsonl '.[-1].results[0].latency_histogram_us | length > 0' -s
	lines c.jsonl 4
}

@test "--json-lines with --interval: the intervals are in the line, and not twice on stdout" {
	pair write_bw -D 0.5 -s 64 --interval 0.1 --json-lines=c.jsonl
	json c.jsonl '.intervals | length >= 1' # late ones are one
	says client.err 'Gb/s' || says client.err 'MiB/s'
	pair write_bw -D 0.5 -s 64 --interval 0.1 --json-lines=c.jsonl --json
	json client.out '(.[:-1] | map(.interval)) as $all | $all != [] and (.[-1] | has("intervals") | not)
		and $lines[-1].intervals == $all' -s --slurpfile lines c.jsonl
}

# bats test_tags=core
@test "--json-lines: a run that failed or was interrupted has its line" {
	start_client_of_none c.jsonl
	ended cli 4
	lines c.jsonl 1
	json c.jsonl '.status == "failed" and .error.exit_status == 4 and .results == []'
	server write_bw
	proxy
	start_client write_bw -D 100 -s 64 --warmup 5 --json-lines=c.jsonl
	await 'client round' 'server ready' 'client round' 'server ready' 'client alive'
	kill -INT "${pid[client]}"
	finish client server proxy
	ended client 130
	lines c.jsonl 2
	json c.jsonl '.[1] | .status == "interrupted" and .results[0].interrupted' -s
	export SIMVERBS_CPU=200 # a run that lacked its CPU misses nothing
	server write_bw
	client write_bw -n 20 -s 64 --min-bw 1000000 --json-lines=c.jsonl
	finish server
	ended client 6
	lines c.jsonl 3
	json c.jsonl '.[2] | .status == "below_threshold" and .results[0].bandwidth_gbps > 0' -s
}

start_client_of_none() {
	start cli send_bw -p 1 --connect-timeout 0 --json-lines="$1" "$host"
	finish cli
}

# bats test_tags=core
@test "--json-lines: several runs at the same time; a line that was not finished spoils no other" {
	local n
	server send_bw --persistent --auth=none --json-lines=s.jsonl
	for n in 1 2 3 4 5; do
		start "c$n" send_bw -p "$port" --connect-timeout 60 -n 50 -s 64,128,256 --json-lines=all.jsonl "$host"
	done
	finish c1 c2 c3 c4 c5
	kill -TERM "${pid[server]}"
	finish server
	lines all.jsonl 5
	lines s.jsonl 5
	printf '{"schema_version": 3, "gen' >>all.jsonl
	start_client_of_none all.jsonl
	[[ $(wc -l <all.jsonl) == 7 ]] || fail "$(wc -l <all.jsonl) lines"
	tail -n 1 all.jsonl >last.json
	json last.json '.status == "failed"'
	ln -s all.jsonl link
	start_client_of_none link
	[[ $(wc -l <all.jsonl) == 8 && -L link ]] || fail 'not through the link'
}

@test "--json-lines with --check: the document as a line, and the findings as text" {
	start check send_bw --check --json-lines=check.jsonl
	finish check
	ended_with_any check 0 6
	says check.out 'host: '
	[[ $(wc -l <check.jsonl) == 1 ]] || fail "$(<check.jsonl)"
	json check.jsonl '.ports | length >= 1'
}
