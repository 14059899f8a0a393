#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# bats file_tags=standin,san
# shellcheck disable=SC2016,SC2030,SC2031,SC2034,SC2154 # $ of jq; what lib/rdmark.bash sets and reads
#
# --cpu_util: what CPU each end used.

load ../lib/rdmark

setup_file() { need_device; }

# A record's CPU fields, and that they agree with each other.
fields='(has("cpu_percent") and .cpu_percent > 0 and .cpu_percent < 250 and .cpu_user_s >= 0 and .cpu_system_s >= 0
	and .cpu_s_per_gb > 0)'

@test "both ends have it, in all four tests: in one record each" {
	local program
	for program in "${programs[@]}"; do
		server "$program" --json=s.json
		client "$program" -D 0.5 -s 64 --cpu_util --json=c.json
		finish server
		ended client 0
		ended server 0
		json c.json "[.results[] | ends.measured_by] == [\"client\", \"server\"] and ([.results[] | ., ends | $fields] | . != [] and all)"
		json c.json '.results[0] | (.cpu_s_per_gb * .bytes / 1e9 - (.cpu_user_s + .cpu_system_s) | fabs) < 1e-6
			and .cpu_percent <= (.cpu_user_s + .cpu_system_s) / .seconds * 100 * 1.02' # of a longer time: until all is reported
		[[ $(jq -c .results c.json) == "$(jq -c .results s.json)" ]] || fail 'the two ends tell different results'
	done
}

@test "a server without a part in the measuring: its record has nothing else, and it used next to nothing" {
	pair write_bw -D 0.5 -s 64 --cpu_util --json=c.json --csv=c.csv
	json c.json '.results[0].by_end.server | .bytes == 0 and (has("messages") or has("seconds") or has("bandwidth_gbps") | not)
		and .cpu_percent < 60 and .qps == 1'
	json c.json '.results[0].cpu_percent > .results[0].by_end.server.cpu_percent'
	[[ $(grep -c ^write_bw,client, c.csv) == 1 && $(wc -l <c.csv) == 2 ]] || fail "$(<c.csv)"
	[[ $(awk -F, 'NR == 1 { n = NF } NF != n' c.csv) == '' ]] || fail 'columns'
}

@test "not asked for, not there" {
	pair send_bw -n 50 -s 64 --json=c.json
	json c.json '[.results[] | all_parts] | . != [] and all(has("cpu_percent") or has("cpu_user_s") or has("cpu_s_per_gb") | not)'
	pair write_bw -n 50 -s 64 --json=c.json
	json c.json '.results | length == 1 and (.[0] | has("by_end") | not)'
}

@test "bandwidth: the sixth column, on the end that asked; latency: the table is as ever" {
	local program
	for program in "${bandwidth_programs[@]}"; do
		server "$program" --cpu_util
		client "$program" -D 0.4 -s 64 --json=c.json
		finish server
		ended client 0
		says server.out 'MsgRate[Mpps]    CPU_Util[%]'
		row server.out 6
		row client.out 5
		json c.json '.results[0].by_end.server | .measured_by == "server" and .cpu_percent > 0'
		pair "$program" -D 0.4 -s 64 --cpu_util --json=c.json
		says client.out 'MsgRate[Mpps]    CPU_Util[%]'
		row client.out 6
		positive "${row[5]}"
		json c.json '.results[0].cpu_percent - ($shown | tonumber) | fabs < 0.006' --arg shown "${row[5]}"
		row server.out 5
	done
	pair send_lat -n 50 --cpu_util
	row client.out 9
	says_no client.out CPU_Util
}

# bats test_tags=core
@test "as perftest has it: drop-in mode on both ends, its JSON, -a" {
	ln -s "$RDMARK_BIN/write_bw" ib_write_bw
	server "$PWD/ib_write_bw" --cpu_util -D 0.4
	client "$PWD/ib_write_bw" --cpu_util -D 0.4 --report_gbits --out_json_file=p.json
	finish server
	ended client 0
	ended server 0
	row client.out 6
	json p.json '.results | .CPU_util > 0 and .MsgSize == 65536 and (.CPU_util - ($shown | tonumber) | fabs) < 0.006' \
		--arg shown "${row[5]}"
	row server.out 6
	pair write_bw -a -n 5 --cpu_util --out_json_file=p.json
	rows client.out 6
	((${#rows[@]} == 23)) || fail 'not 23 rows'
	json p.json '.results | .MsgSize == 8388608 and has("CPU_util") and .n_iterations == 5'
	server send_bw --out_json_file=s.json
	client send_bw -n 50 -s 64 --out_json_file=p.json
	finish server
	json p.json '.results | has("CPU_util") | not'
}
