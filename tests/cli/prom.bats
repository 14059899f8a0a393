#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# bats file_tags=standin
# shellcheck disable=SC2016,SC2154 # $ of jq; what lib/rdmark.bash sets
#
# rdmark-prom: what node_exporter's textfile collector reads, of real documents.

load ../lib/rdmark

setup_file() { need_device; }

# prom OUT FILE…: rdmark-prom writes OUT; promtool has nothing to say about it, no series is in it
# twice, and no file was left beside it.
prom() {
	local said
	start prom rdmark-prom "${@:2}" -o "$1"
	finish prom
	ended prom 0
	silent prom.out
	if command -v promtool >/dev/null; then
		said=$(promtool check metrics <"$1" 2>&1) || fail "$1: promtool: $said"
		[[ ! $said ]] || fail "$1: promtool: $said"
	fi
	[[ ! $(sed '/^#/d; s/ [^ ]*$//' "$1" | sort | uniq -d) ]] || fail "$1: twice: $(<"$1")"
	[[ $(echo "$1"*) == "$1" ]] || fail "left: $(echo "$1"*)"
}

# number FILE SERIES: the figures of this series are there, so many.
number() {
	local n
	n=$(grep -c "^$2{" "$1" || true)
	[[ $n == "$3" ]] || fail "$1: $n of $2, not $3: $(<"$1")"
}

@test "promtool is here" {
	command -v promtool >/dev/null || skip 'promtool is not installed: the package prometheus has it'
}

@test "a bandwidth test, at both ends: units are bytes and seconds, and the document's" {
	local before=$EPOCHSECONDS gbps
	server write_bw --json=s.json
	client write_bw -n 200 -s 64k --json=c.json
	finish server
	ended client 0
	ended server 0
	prom c.prom c.json
	says c.prom "rdmark_up{file=\"c.prom\",test=\"write_bw\",device=\"$DEVICE\",peer=\"$host\"} 1" \
		"rdmark_exit_status{file=\"c.prom\",test=\"write_bw\",device=\"$DEVICE\",peer=\"$host\"} 0" \
		'rdmark_link_rate_bytes_per_second{' 'port="1"' 'message_bytes="65536",direction="client_to_server"'
	grep -E '^rdmark_limited_by\{.*,strength="(is|may_be|cannot_tell)",limit="[a-z_]+"\} 1$' c.prom
	gbps=$(awk '/^rdmark_bandwidth_bytes/ { print $NF * 8 / 1e9 }' c.prom)
	json c.json '.results[0].bandwidth_gbps as $b | ($x - $b | fabs) < 0.001 * $b' --argjson x "$gbps"
	(($(awk '/^rdmark_last_run/ { printf "%d", $NF }' c.prom) >= before)) || fail "$(<c.prom)"
	number c.prom rdmark_thresholds_met 0
	prom s.prom s.json
	says s.prom 'rdmark_up{file="s.prom",test="write_bw"' 'rdmark_bandwidth_bytes_per_second{'
}

@test "a latency test: gauges, of which only known percentiles are there" {
	pair send_lat -n 3000 --json=c.json
	prom c.prom c.json
	says c.prom 'rdmark_latency_seconds gauge' 'percentile="50"' 'percentile="99"' 'percentile="100"' 'rdmark_latency_mean_seconds{'
	# Count and sum of a summary only grow; those of a run begin anew.
	says_no c.prom 'percentile="99.99"' nan summary _count _sum
	json c.json '.results[0].latency_p50_us as $p | ($x * 1e6 - $p | fabs) < 1e-3' \
		--argjson x "$(awk '/percentile="50"/ { print $NF }' c.prom)"
}

@test "several sizes, QPs, directions, runs and threads: no series twice" {
	pair write_bw -b -s 64,128 -q 1,2 --threads 2 -n 50 --json=c.json
	prom c.prom c.json
	says c.prom 'qp="2"'
	grep '^rdmark_bandwidth_bytes_per_second{' c.prom >rows
	[[ $(grep -c 'direction="server_to_client"' rows) == 4 && $(grep -c 'direction="client_to_server"' rows) == 4 ]] || fail "$(<rows)"
	pair send_lat -s 64,128 --repeat 3 -n 50 --json=c.json
	prom c.prom c.json
	number c.prom rdmark_latency_mean_seconds 2
	server send_bw
	client send_bw -D 0.3 --interval 0.1 --json
	finish server
	prom c.prom client.out # with the lines of the intervals before it
	number c.prom rdmark_bandwidth_bytes_per_second 1
}

@test "a run that failed, also before it knew its device, or missed a threshold: the figures before are gone" {
	pair write_bw -n 50 -s 64 --min-bw 0.0001 --json-lines=link.jsonl # large ones may be faster than the link says
	prom c.prom link.jsonl
	number c.prom rdmark_bandwidth_bytes_per_second 1
	says c.prom "rdmark_thresholds_met{file=\"c.prom\",test=\"write_bw\",device=\"$DEVICE\",peer=\"$host\"} 1"
	start cli write_bw -p 1 --connect-timeout 0 -d "$DEVICE" --json-lines=link.jsonl "$host"
	finish cli
	ended cli 4
	prom c.prom link.jsonl
	says c.prom "rdmark_up{file=\"c.prom\",test=\"write_bw\",device=\"$DEVICE\",peer=\"$host\"} 0" "peer=\"$host\"} 4"
	number c.prom rdmark_bandwidth_bytes_per_second 0
	number c.prom rdmark_up 1
	number c.prom rdmark_thresholds_met 0
	start cli write_bw -p 1 --connect-timeout 0 --json-lines=link.jsonl "$host"
	finish cli
	prom c.prom link.jsonl
	number c.prom rdmark_up 1
	says c.prom "rdmark_up{file=\"c.prom\",test=\"write_bw\",peer=\"$host\"} 0"
	export SIMVERBS_CPU=200 # a run that lacked its CPU misses nothing
	server write_bw
	client write_bw -n 50 -s 64 --min-bw 1000000 --json-lines=link.jsonl
	finish server
	ended client 6
	prom c.prom link.jsonl
	number c.prom rdmark_up 1
	[[ $(awk '/^rdmark_(up|exit_status|thresholds_met)/ { print $NF }' c.prom | paste -sd ' ') == '1 6 0' ]] || fail "$(<c.prom)"
}

@test "on a device, whatever it is: datagrams that were lost, and the uncertainty" {
	pair send_bw -c UD -D 0.5 -s 1k --json=c.json
	prom c.prom c.json
	json c.json '.results[0] | ((.lost // 0) / .messages - $x | fabs) < 1e-6' \
		--argjson x "$(awk '/^rdmark_lost_ratio/ { print $NF; n++ } END { if (!n) print 0 }' c.prom)"
	json c.json '.results[0] | (.plus_minus_percent // 0) / 100 - $x | fabs < 1e-6' \
		--argjson x "$(awk '/^rdmark_plus_minus_ratio/ { print $NF; n++ } END { if (!n) print 0 }' c.prom)"
}

@test "--check: each port, and the host; where nothing could be checked, that is said" {
	start check send_bw --check --title 'before the job' --json=check.json
	finish check
	ended_with_any check 0 6
	prom check.prom check.json
	says check.prom 'rdmark_up{file="check.prom"} 1' "rdmark_exit_status{file=\"check.prom\"} ${status[check]}" 'rdmark_check_ok{file="check.prom"} ' \
		"rdmark_check_ok{file=\"check.prom\",device=\"$DEVICE\",port=\"1\"} " 'rdmark_title_info{file="check.prom",title="before the job"} 1' \
		'rdmark_last_run_timestamp_seconds{file="check.prom"} '
	start check send_bw --check -d no_such_device --json-lines=check.jsonl
	finish check
	ended check 2
	json check.jsonl 'keys == ["error", "finished_utc", "generator"] and .error.exit_status == 2'
	prom check.prom check.json check.jsonl
	says check.prom 'rdmark_up{file="check.prom"} 0' 'rdmark_exit_status{file="check.prom"} 2'
	number check.prom rdmark_check_ok 0
	start check send_bw --check -d no_such_device --json
	finish check
	json check.out '.error.exit_status == 2'
}
