#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# bats file_tags=words
# shellcheck disable=SC2016,SC2030,SC2031,SC2034,SC2154 # $ of jq; what lib/rdmark.bash sets and reads
#
# The forms for programs: JSON, JSON lines, CSV, and perftest's own JSON.

load ../lib/rdmark

setup_file() { need_device; }

# In every document, whatever became of the run.
always='.schema_version == 1 and (.generator | startswith("rdmark ")) and (.test | length > 0)
	and (.started_utc | test("^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}Z$")) and has("status") and has("error")
	and has("experiment") and has("effective") and has("ends") and has("results")'

@test "--json to stdout: the one document, no table, in all four tests" {
	local program
	for program in "${programs[@]}"; do
		pair "$program" -n 30 --json
		json client.out "$always"' and .status == "ok" and .error == null and .role == "client"
			and .test == $test and (.results | length) >= 1
			and all(.ends.client, .ends.server; .device == $device and .port == 1 and .host != "" and .rate_gbps > 0
				and .link_layer != "" and has("gid") and has("gid_type") and .active_mtu_bytes >= 256
				and has("numa_node") and has("cpus") and .memory == "host" and .clock != "" and .version != "")
			and (.effective | .mtu_bytes >= 256 and .tx_depth >= 1 and has("inline_bytes"))
			and .results[0].measured_by == "client" and .results[0].messages == 30 and .results[0].seconds > 0' \
			--arg test "$program" --arg device "$DEVICE"
	done
}

@test "--json=FILE beside the table; latency in microseconds with percentiles in order" {
	pair write_lat -n 50 -s 8 --json=c.json
	row client.out 9
	json c.json '.results[0] | .message_bytes == 8 and .latency_min_us > 0 and .latency_stdev_us >= 0
		and .latency_min_us <= .latency_p50_us and .latency_p50_us <= .latency_p90_us
		and .latency_p90_us <= .latency_p99_us and .latency_p99_us <= .latency_p99_9_us
		and .latency_p99_9_us <= .latency_p99_99_us and .latency_p99_99_us <= .latency_max_us
		and .latency_min_us <= .latency_mean_us and .latency_mean_us <= .latency_max_us'
	# the table says the same
	json c.json '.results[0] | (.latency_p50_us - ($p50 | tonumber) | fabs) < 0.0051
		and (.latency_mean_us - ($mean | tonumber) | fabs) < 0.0051' --arg p50 "${row[4]}" --arg mean "${row[5]}"
}

@test "bandwidth: units in the names, and they agree with each other" {
	server send_bw --json=s.json
	client send_bw -n 60 -s 5000 -q 2 --json=c.json
	finish server
	ended client 0
	ended server 0
	json c.json '.results[0] | .bytes == 600000 and .messages == 120 and .qps == 2
		and (.bandwidth_gbps - .bytes * 8 / .seconds / 1e9 | fabs) / .bandwidth_gbps < 0.02
		and (.messages_per_s - .messages / .seconds | fabs) / .messages_per_s < 0.02
		and .bandwidth_peak_gbps >= .bandwidth_gbps'
	# either end's document has both ends and both measurements
	json s.json '.role == "server" and .status == "ok" and .ends.client.device == .ends.server.device'
	json c.json '[.results[].measured_by] == ["client", "server"]'
	[[ $(jq -c .results c.json) == "$(jq -c .results s.json)" ]] || fail 'the two ends tell different results'
}

@test "-a: one record for each size" {
	pair write_bw -a -n 2 --json=c.json
	json c.json '[.results[] | select(.measured_by == "client").message_bytes] == [range(1; 24) | pow(2; .)]'
}

@test "-H: the histogram has every sample" {
	pair send_lat -n 200 -H --json=c.json
	json c.json '.results[0] | ([.latency_histogram_us[][2]] | add) == 200
		and all(.latency_histogram_us[]; .[0] < .[1]) and .latency_histogram_us[0][0] <= .latency_min_us'
}

@test "a run that fails still gives a document, with the error and both exit statuses" {
	server send_bw -s 64 --json=s.json
	client send_bw -s 65 --json=c.json
	finish server
	ended client 2
	ended server 2
	json c.json "$always"' and .status == "failed" and .error.exit_status == 2 and .error.from_peer == true
		and .error.code == "usage" and (.error.message | contains("--size")) and .results == []'
	json s.json "$always"' and .status == "failed" and .error.exit_status == 2 and .error.from_peer == false
		and (.error.phase | length > 0) and (.error.fix | length > 0)'
}

@test "--json replaces the file as a whole and leaves nothing beside it" {
	echo old >c.json
	pair send_lat -n 5 --json=c.json
	json c.json '.status == "ok"'
	[[ $(echo c.json*) == c.json ]] || fail "left: $(echo c.json*)"
}

@test "--interval: lines that are JSON each, the last one the document" {
	pair write_bw -D 1 -s 64 --interval 0.2 --json
	jq -es '(.[:-1] | length >= 3 and all(.[]; .interval | .message_bytes == 64 and .interval_s > 0
			and .messages >= 0 and .bandwidth_gbps >= 0 and .messages_per_s >= 0))
		and ([.[:-1][].interval.messages] | add) > 0 and .[-1].status == "ok" and ([.[:-1][].interval.messages] | add) <= .[-1].results[0].messages' \
		client.out >jq.out 2>&1 || fail "not so: $(<jq.out)"
	while IFS= read -r line; do
		[[ $line == '{'*'}' ]] || fail "no JSON line: $line"
	done <client.out
	pair send_lat -D 1 --interval 0.3 --json
	jq -es 'all(.[:-1][].interval; .latency_mean_us > 0)' client.out >/dev/null || fail 'no latency in an interval'
}

@test "--interval without --json: on stderr, the table stays clean" {
	pair send_bw -D 1 -s 64 --interval 0.3
	rows client.out
	[[ ${#rows[@]} == 1 && $(wc -l <client.out) == 2 ]] || fail 'the table is not clean'
	says client.err 'Gb/s'
	pair send_lat -D 0.5 --interval 0.1
	[[ $(wc -l <client.out) == 2 ]] || fail 'the table is not clean'
	says client.err 'usec on average'
}

@test "--interval: the worst of them is in the record, and on stderr where they are shown" {
	pair write_bw -D 1 -s 64 --interval 0.2 --json
	jq -es '(.[:-1] | map(.interval.bandwidth_gbps) | min) as $worst | .[-1].results[0]
		| (.worst_interval_gbps - $worst | fabs) < 0.000001 and .intervals >= 3 and .intervals <= 5
		and .worst_interval_gbps <= .bandwidth_gbps * 1.2' client.out >jq.out 2>&1 || fail "not so: $(<jq.out)"
	pair send_lat -D 1 --interval 0.3 --json
	jq -es '(.[:-1] | map(.interval.latency_mean_us) | max) as $worst | .[-1].results[0]
		| (.worst_interval_us - $worst | fabs) < 0.0001 and has("intervals") == false' client.out >/dev/null ||
		fail 'not the worst'
	pair write_lat -D 0.5 --interval 0.1 --csv=c.csv
	says client.err 'rdmark: 2 B: worst interval: '
	[[ $(head -n 1 c.csv) == *,intervals,worst_interval_gbps,worst_interval_us* ]]
	pair send_bw -D 0.5 -s 64 --interval 0.1 --json=c.json
	grep -q '^rdmark: 64 B: worst of [345] intervals: [0-9.]* Gb/s$' client.err || fail 'no worst interval'
	json c.json '.results | length == 2 and .[0].intervals > 0 and (.[1] | has("intervals") | not)'
	# none that is whole
	pair send_bw -n 5 -s 64 --interval 100 --json=c.json
	json c.json '.results[0] | has("intervals") or has("worst_interval_gbps") | not'
	says_no client.err worst
}

@test "--csv: a header and a row for each record, named as in JSON" {
	pair send_bw -n 20 -s 64 --csv --json=c.json
	local header row1
	{ read -r header; read -r row1; } <client.out
	json c.json '.results[0] | to_entries | map(select(.key != "direction" and .key != "bytes").key)
		- ($columns | split(",")) == []' --arg columns "$header"
	[[ $row1 == send_bw,client,* && $(awk -F, 'NR == 1 { n = NF } NF != n' client.out) == '' ]] || fail 'columns'
	pair write_lat -a -n 2 --csv=c.csv
	row client.out 9
	[[ $(grep -c '^write_lat,client,' c.csv) == 23 ]] || fail 'not 23 rows'
}

@test "--csv=FILE: rows are added to a file of the same columns; another is refused, and not touched" {
	local n
	for n in 1 2 3; do
		pair write_bw -n 20 -s 64 -q $n --csv=sweep.csv
	done
	pair send_lat -n 20 --csv=sweep.csv
	[[ $(grep -c ^test, sweep.csv) == 1 && $(wc -l <sweep.csv) == 5 ]] || fail "$(<sweep.csv)"
	[[ $(cut -d , -f 4 sweep.csv) == $'qps\n1\n2\n3\n1' ]] || fail "$(<sweep.csv)"
	[[ $(awk -F, 'NR == 1 { n = NF } NF != n' sweep.csv) == '' ]] || fail 'columns'
	# whoever was here last did not come to the end of its row
	printf 'write_bw,cli' >>sweep.csv
	pair write_bw -n 20 -s 64 --csv=sweep.csv
	[[ $(tail -n 1 sweep.csv) == write_bw,client,64,* && $(wc -l <sweep.csv) == 7 ]] || fail "$(<sweep.csv)"
	echo 'test,other' >other.csv
	start cli write_bw -p 1 --csv=other.csv "$host"
	finish cli
	ended cli 2
	says cli.err other.csv 'other columns' 'Fix: '
	[[ $(<other.csv) == test,other ]] || fail 'it was written to'
	: >empty.csv
	ln -s empty.csv link.csv
	pair write_bw -n 20 -s 64 --csv=link.csv
	[[ $(wc -l <empty.csv) == 2 ]] || fail "$(<empty.csv)"
	mkfifo pipe
	cat pipe >piped &
	pair write_bw -n 20 -s 64 --csv=pipe
	wait $!
	[[ $(wc -l <piped) == 2 && -p pipe ]] || fail "$(<piped)"
}

@test "--csv=FILE: two at the same time make one header" {
	server send_bw
	start one send_bw -p "$port" -n 50 -s 64 --csv=both.csv "$host"
	server send_bw
	start two send_bw -p "$port" -n 50 -s 64 --csv=both.csv "$host"
	finish one two server
	ended one 0
	ended two 0
	[[ $(grep -c ^test, both.csv) == 1 && $(grep -c ^send_bw, both.csv) == 4 && $(wc -l <both.csv) == 5 ]] || fail "$(<both.csv)"
}

@test "--json to stdout, one document after the other: jq takes them all" {
	local n
	for n in 1 2 3; do
		pair write_bw -n 20 -s 64 -q $n --json=-
		cat client.out >>runs.json
	done
	json runs.json -s 'map(.results[0].qps) == [1, 2, 3]'
}

# perftest_json FILE: valid, and with one key on each line, since awk and grep read it.
perftest_json() {
	json "$1" '(.test_info | .Device == $device and .Number_of_qps >= 1 and .Transport_type == "IB"
		and .Connection_type == "RC" and .TX_depth >= 1 and .Mtu >= 256 and has("Link_type")
		and has("GID_index")) and has("results")' --arg device "$DEVICE"
	local line
	while IFS= read -r line; do
		[[ $line =~ ^[[:space:]]*(\"[A-Za-z0-9_.]+\":\ *[^,:]*,?|[][{}]+,?)$ ]] || fail "$1: more than one key: $line"
	done <"$1"
}

@test "--out_json_file: perftest's document" {
	pair send_bw -n 20 -s 64 -q 2 --out_json_file=p.json
	perftest_json p.json
	json p.json '.test_info.test == "Send_BW_Test" or (.test_info.test | type) == "string"'
	json p.json '.results | .MsgSize == 64 and .n_iterations == 40 and .BW_average > 0 and .BW_peak > 0 and .MsgRate > 0'
	row client.out 5
	json p.json '.results.BW_average == ($x | tonumber)' --arg x "${row[3]}"
	pair write_lat -n 20 --out_json_file p.json
	perftest_json p.json
	json p.json '.results | .MsgSize == 2 and .n_iterations == 20 and .t_min > 0 and .t_max > 0 and .t_typical > 0
		and .t_avg > 0 and has("t_stdev") and .percentile_99 > 0 and .["percentile_99.9"] > 0'
}

@test "--out_json: the file's name is perftest's, and -a keeps all rows" {
	pair write_bw -n 2 -a --out_json
	perftest_json perftest_out.json
	json perftest_out.json '[.results[].MsgSize] == [range(1; 24) | pow(2; .)]'
}

@test "--out_json with --output=bandwidth is valid, too" {
	pair write_bw -n 20 -s 64 --out_json_file=p.json --output=bandwidth
	perftest_json p.json
	[[ $(wc -l <client.out) == 1 ]]
}
