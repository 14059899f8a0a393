#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# bats file_tags=standin,san
# shellcheck disable=SC2016,SC2154 # $ of jq; what lib/rdmark.bash sets
#
# --prom: what node_exporter's textfile collector reads.

load ../lib/rdmark

setup_file() { need_device; }

# prom FILE TEXT…: promtool has nothing to say about it, no series is in it twice, and no file was left
# beside it; each TEXT stands in it.
prom() {
	local said
	if command -v promtool >/dev/null; then
		said=$(promtool check metrics <"$1" 2>&1) || fail "$1: promtool: $said"
		[[ ! $said ]] || fail "$1: promtool: $said"
	fi
	[[ ! $(sed '/^#/d; s/ [^ ]*$//' "$1" | sort | uniq -d) ]] || fail "$1: twice: $(<"$1")"
	[[ $(echo "$1"*) == "$1" ]] || fail "left: $(echo "$1"*)"
	says "$1" "${@:2}"
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

@test "--prom of a bandwidth test, at both ends: units are bytes and seconds, and the document's" {
	local before=$EPOCHSECONDS gbps
	server write_bw --prom=s.prom
	client write_bw -n 200 -s 64k --prom c.prom --json=c.json
	finish server
	ended client 0
	ended server 0
	prom c.prom "rdmark_up{file=\"c.prom\",test=\"write_bw\",device=\"$DEVICE\",peer=\"$host\"} 1" \
		"rdmark_exit_status{file=\"c.prom\",test=\"write_bw\",device=\"$DEVICE\",peer=\"$host\"} 0" \
		'rdmark_link_rate_bytes_per_second{' 'port="1"' 'message_bytes="65536",direction="client_to_server"'
	prom s.prom 'rdmark_up{file="s.prom",test="write_bw"' 'rdmark_bandwidth_bytes_per_second{'
	grep -E '^rdmark_limited_by\{.*,strength="(is|may_be|cannot_tell)",limit="[a-z_]+"\} 1$' c.prom
	gbps=$(awk '/^rdmark_bandwidth_bytes/ { print $NF * 8 / 1e9 }' c.prom)
	json c.json '.results[0].bandwidth_gbps as $b | ($x - $b | fabs) < 0.001 * $b' --argjson x "$gbps"
	(($(awk '/^rdmark_last_run/ { printf "%d", $NF }' c.prom) >= before)) || fail "$(<c.prom)"
}

@test "--prom of a latency test: gauges, of which only known percentiles are there" {
	pair send_lat -n 3000 --prom=c.prom --json=c.json
	prom c.prom 'rdmark_latency_seconds gauge' 'percentile="50"' 'percentile="99"' 'percentile="100"' 'rdmark_latency_mean_seconds{'
	# Count and sum of a summary only grow; those of a run begin anew.
	says_no c.prom 'percentile="99.99"' nan summary _count _sum
	json c.json '.results[0].latency_p50_us as $p | ($x * 1e6 - $p | fabs) < 1e-3' \
		--argjson x "$(awk '/percentile="50"/ { print $NF }' c.prom)"
}

@test "--prom of several sizes, QPs, directions, runs and threads: no series twice" {
	pair write_bw -b -s 64,128 -q 1,2 --threads 2 -n 50 --prom=c.prom
	prom c.prom 'qp="2"'
	grep '^rdmark_bandwidth_bytes_per_second{' c.prom >rows
	[[ $(grep -c 'direction="server_to_client"' rows) == 4 && $(grep -c 'direction="client_to_server"' rows) == 4 ]] || fail "$(<rows)"
	pair send_lat -s 64,128 --repeat 3 -n 50 --prom=c.prom
	prom c.prom
	number c.prom rdmark_latency_mean_seconds 2
	pair send_bw -D 0.3 --interval 0.1 --prom=c.prom
	prom c.prom
	number c.prom rdmark_bandwidth_bytes_per_second 1
}

@test "--prom of a run that failed, was interrupted or missed a threshold: the figures before are gone" {
	pair write_bw -n 50 --prom=c.prom
	number c.prom rdmark_bandwidth_bytes_per_second 1
	start cli write_bw -p 1 --connect-timeout 0 -d "$DEVICE" --prom=c.prom "$host"
	finish cli
	ended cli 4
	prom c.prom "rdmark_up{file=\"c.prom\",test=\"write_bw\",device=\"$DEVICE\",peer=\"$host\"} 0" \
		"peer=\"$host\"} 4"
	number c.prom rdmark_bandwidth_bytes_per_second 0
	server write_bw
	proxy
	start_client write_bw -D 100 -s 64 --warmup 5 --run_infinitely --interval 0.2 --prom=c.prom
	await 'client round' 'server ready' 'client round' 'server ready' 'client alive'
	kill -INT "${pid[client]}"
	finish client server proxy
	prom c.prom rdmark_up
	number c.prom rdmark_bandwidth_bytes_per_second 1
	server write_bw
	client write_bw -n 50 --min-bw 1000000 --prom=c.prom
	finish server
	ended client 6
	prom c.prom 'rdmark_thresholds_met{file="c.prom",test="write_bw"'
	[[ $(awk '/^rdmark_(up|exit_status|thresholds_met)/ { print $NF }' c.prom | paste -sd ' ') == '1 6 0' ]] || fail "$(<c.prom)"
}

@test "--prom: a wrong option replaces the figures, too, wherever it stands" {
	local args
	for args in '--no_such' '-n 0' '-s 2,4 --quiet=x' '--prom=c.prom -b --no_such'; do
		pair write_bw -n 50 --prom=c.prom
		number c.prom rdmark_bandwidth_bytes_per_second 1
		# shellcheck disable=SC2086 # words
		start cli write_bw $args --prom c.prom "$host"
		finish cli
		ended cli 2
		prom c.prom 'rdmark_up{file="c.prom",test="write_bw"' '"} 0'
		[[ $(awk '/^rdmark_(up|exit_status)/ { print $NF }' c.prom | paste -sd ' ') == '0 2' ]] || fail "$args: $(<c.prom)"
		number c.prom rdmark_bandwidth_bytes_per_second 0
		[[ $(date -d "@$(awk '/^rdmark_last_run/ { printf "%d", $NF }' c.prom)" +%F) == "$(date +%F)" ]] || fail "$(<c.prom)"
	done
	start cli write_bw --check --no_such --prom=check.prom
	finish cli
	prom check.prom 'rdmark_up{file="check.prom"} 0' 'rdmark_exit_status{file="check.prom"} 2'
	start cli write_bw --check --json=/nonexistent/x --prom=check.prom
	finish cli
	ended cli 1
	prom check.prom 'rdmark_up{file="check.prom"} 0' 'rdmark_exit_status{file="check.prom"} 1'
	start cli write_bw --prom=- "$host"
	finish cli
	ended cli 2
	silent cli.out
	says cli.err '--prom needs the name of a file'
}

@test "--prom through a link: the file that it leads to is replaced as a whole; the link stays" {
	local inode
	mkdir collector
	echo old >collector/c.prom
	exec {reader}<collector/c.prom
	inode=$(stat -c %i collector/c.prom)
	ln -s collector/c.prom link.prom
	pair write_bw -n 50 --prom=link.prom
	[[ -L link.prom && $(echo collector/*) == collector/c.prom ]] || fail 'the link is gone, or something is left'
	says link.prom 'rdmark_up{file="link.prom",'
	# A reader that had opened it has the whole old file.
	[[ $(cat <&"$reader") == old && $(stat -c %i collector/c.prom) != "$inode" ]] || fail 'written in place'
	exec {reader}<&-
}

@test "--check --prom: each port, and the host" {
	start check send_bw --check --prom=check.prom
	finish check
	ended_with_any check 0 6
	prom check.prom 'rdmark_check_ok{file="check.prom"} ' "rdmark_check_ok{file=\"check.prom\",device=\"$DEVICE\",port=\"1\"} "
	start check send_bw --check -d no_such_device --prom=check.prom
	finish check
	[[ ${status[check]} != 0 ]] || fail 'it was found'
	prom check.prom 'rdmark_up{file="check.prom"} 0' "rdmark_exit_status{file=\"check.prom\"} ${status[check]}"
}
