#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# bats file_tags=standin,san
# shellcheck disable=SC2016,SC2030,SC2031,SC2034,SC2154 # $ of jq; what lib/rdmark.bash sets and reads
#
# The table that everybody reads (its words are in golden_words/), and the rules by which perftest's readers find their numbers in
# it (PERFTEST.md, "What its readers rely on").

load ../lib/rdmark

setup_file() { need_device; }

# at_most A B…: each number is no larger than the next one.
at_most() {
	awk 'BEGIN { for (i = 1; i < ARGC - 1; i++) if (ARGV[i] + 0 > ARGV[i + 1] + 0) exit 1 }' "$@" ||
		fail "not in order: $*"
}

# The header, then COUNT rows, and nothing else.
only_rows() {
	local lines
	mapfile -t lines <"$1"
	rows "$1"
	((${#rows[@]} == $2 && ${#lines[@]} == $2 + 1)) || fail "$1: not a header and $2 rows"
	[[ ${lines[0]} == ' #bytes'* ]] || fail "$1: the first line is no header"
}

@test "latency, all defaults: header and one row on either end's stdout, nothing else" {
	local program file
	for program in "${latency_programs[@]}"; do
		pair "$program"
		grep -Eq '^[a-z_]*: (too short \([0-9.]+ m?s, 1000 samples\) for (± \(uncertainty\), )?|1000 samples are too few for )p99\.9; use ' client.err || fail "$(<client.err)"
		for file in client.out server.out; do
			only_rows "$file" 1
			row "$file" 9
			[[ ${row[0]} == 2 && ${row[1]} == 1000 ]] || fail "not 2 bytes 1000 times: ${row[*]}"
			positive "${row[@]:2:4}" "${row[7]}"
			[[ ${row[8]} == - ]] || fail "99.9 % of 1000: ${row[8]}"
			# t_min, t_typical, 99 %, t_max; and the mean between the extremes
			at_most "${row[2]}" "${row[4]}" "${row[7]}" "${row[3]}"
			at_most "${row[2]}" "${row[5]}" "${row[3]}"
		done
		says_no client.out bw error fail
		says_no server.out bw error fail
		says_no client.err bw error fail
		says_no server.err bw error fail
	done
}

@test "a percentile is a number from ten samples beyond it on, else '-', null, empty; perftest's form has it always" {
	local program=read_lat n want csv # of 10000 messages, and no other end must be on a CPU for each
	while read -r n want; do
		pair "$program" -n "$n" --json=c.json --csv=c.$n.csv --out_json_file=p.json
		row client.out 9
		[[ "${row[4]} ${row[7]} ${row[8]}" =~ ^${want//n/[0-9.]+}$ ]] || fail "-n $n: ${row[*]}"
		row server.out 9
		[[ "${row[4]} ${row[7]} ${row[8]}" =~ ^${want//n/[0-9.]+}$ ]] || fail "-n $n, server: ${row[*]}"
		json c.json '.results[0] | [.latency_p50_us, .latency_p90_us, .latency_p99_us, .latency_p99_9_us, .latency_p99_99_us]
			| map(. != null) == ([20, 100, 1000, 10000, 100000] | map(. <= $n))' --argjson n "$n"
		csv=$(awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
			END { print ($at["latency_p50_us"] != "") ($at["latency_p99_us"] != "") ($at["latency_p99_9_us"] != "") }' "c.$n.csv")
		[[ $csv == "$((n >= 20))$((n >= 1000))$((n >= 10000))" ]] || fail "-n $n, CSV: $csv"
		json p.json '.results | .t_typical > 0 and .percentile_99 > 0 and .["percentile_99.9"] > 0'
		pair "$program" -n "$n" --format perftest
		row client.out 9
		positive "${row[4]}" "${row[@]:7}"
		silent client.err
	done <<-'END'
		19 - - -
		20 n - -
		999 n - -
		1000 n n -
		9999 n n -
		10000 n n n
	END
	pair "$program" -n 19
	grep -Eq '^[a-z_]*: too short \([0-9.]+ [um]s, 19 samples\) for ± \(uncertainty\), the median, p99, p99\.9; use -D 1$' client.err || fail "$(<client.err)"
	pair "$program" -a -n 30
	[[ $(grep -c '[0-9] samples.* for .*p99' client.err) == 1 ]] || fail 'not said once'
	pair "$program" -D 0.01 --json=d.json
	# A busy machine may hold up the end of it until there are enough.
	if jq -e '.results[0].messages < 10000' d.json >jq.out; then
		grep -Eq '[0-9] samples.* for .*p99\.9; use -D ' client.err || fail "$(<client.err)"
	else
		says_no client.err ' samples'
	fi
}

# says_so: the client says once that the run was too short if less than 100 ms were measured of a size, in all
# its runs; if not, it may say so of ± or a percentile.
says_so() {
	local short=0 said
	jq -e '[.results | group_by(.message_bytes)[] | map(.seconds) | add] | min < 0.1' \
		c.json >jq.out && short=1
	said=$(grep -cE '^[a-z_]*: too short \((.*: )?[0-9.]+ [um]?s(, [0-9]+ samples)?\) for .*; use -[Dn] [0-9]+(, .* for all rows)?$' client.err) || true
	((short ? said == 1 : said <= 1)) || fail "short: $short, said: $said: $(<client.err)"
	((short)) || says_no client.err 'for an average that repeats'
	says_no server.err 'too short'
}

@test "a short run says so, once, to who can make it longer; a longer one does not" {
	local program
	for program in "${programs[@]}"; do
		pair "$program" -n 30 -s 64 --json=c.json
		says_so
		pair "$program" -D 0.2 -s 64 --json=c.json
		says_so
	done
	pair write_bw -a -n 2 --json=c.json
	says_so
	pair write_bw -n 30 --repeat 3 --json=c.json
	says_so
}

@test "bandwidth, all defaults: header and one row on either end's stdout, nothing else" {
	local program iterations=(1000 5000) file
	for program in "${bandwidth_programs[@]}"; do
		pair "$program"
		for file in client.out server.out; do
			only_rows "$file" 1
			row "$file" 5
			[[ ${row[0]} == 65536 && ${row[1]} == "${iterations[0]}" ]] || fail "wrong row: ${row[*]}"
			positive "${row[@]:3}"
		done
		row client.out 5
		at_most "${row[3]}" "${row[2]}"
		# 65536 B at so many million a second, in MiB/s: 62500 times the rate
		awk -v mib="${row[3]}" -v rate="${row[4]}" \
			'BEGIN { d = mib / (rate * 62500); exit !(d > 0.99 && d < 1.01) }' || fail "rate and bandwidth differ: ${row[*]}"
		for file in client.out server.out client.err server.err; do
			says_no "$file" error fail
		done
		iterations=("${iterations[@]:1}")
	done
}

# Some 3 KB/s: a busy machine makes it slower, but not a hundred times.
@test "a rate below 0.1 has six decimals, and is not 0.00; in perftest's form only in Gb/s" {
	local slow=(write_bw -s 64 -n 2 --rate_limit 50p)
	pair "${slow[@]}"
	row client.out 5
	[[ ${row[3]} =~ ^0\.00[0-9]{4}$ ]] || fail "row: ${row[*]}"
	positive "${row[3]}"
	pair "${slow[@]}" --report_gbits
	row client.out 5
	[[ ${row[3]} =~ ^0\.0000[0-9]{2}$ ]] || fail "row: ${row[*]}"
	positive "${row[3]}"
	pair "${slow[@]}" --format perftest
	row client.out 5
	[[ ${row[3]} == 0.00 ]] || fail "row: ${row[*]}"
}

@test "a row is laid out as perftest's: blank, size in 7, four blanks, iterations in 10" {
	pair send_bw -s 64 -n 30
	rows client.out
	[[ ${rows[0]} =~ ^' 64         30         '[' 0-9.']+$ ]] || fail "row: '${rows[0]}'"
	pair send_lat -n 30
	rows client.out
	[[ ${rows[0]} =~ ^' 2          30         '[' 0-9.-']+$ ]] || fail "row: '${rows[0]}'"
}

@test "the notes are on stderr: who, which device and why, GID, MTU, inline, clock" {
	pair write_lat -n 10
	says client.err "$DEVICE port 1" client server MTU
	pair write_lat -n 10 -v
	says client.err "$DEVICE port 1" client server GID MTU inline clock
	says server.err 'ready on ' "$DEVICE port 1"
}

@test "no size is mentioned before its row" {
	local size=65536
	pair write_bw -n 20 -s $size
	says_no client.err $size
	[[ $(grep -c $size client.out) == 1 ]]
}

# bats test_tags=core
@test "-a: a row for each size from 2 B to 8 MiB, in all four tests" {
	local program size file sizes wanted
	for ((size = 2; size <= 8388608; size *= 2)); do
		wanted+=" $size"
	done
	for program in "${programs[@]}"; do
		pair "$program" -a -n 2 --warmup 0
		for file in client.out server.out; do
			only_rows "$file" 23
			sizes=$(awk '$1 + 0 { printf " %s", $1 }' "$file")
			[[ $sizes == "$wanted" ]] || fail "$file: sizes$sizes"
		done
	done
}

@test "-n: so many iterations; with -q so many for each QP, and the row shows all" {
	pair write_bw -n 33 -s 64
	row client.out
	[[ ${row[1]} == 33 ]]
	pair send_bw -n 33 -s 64 -q 4
	row client.out
	[[ ${row[1]} == 132 ]]
	row server.out
	[[ ${row[1]} == 132 ]]
	pair send_lat -n 1
	row client.out
	[[ ${row[1]} == 1 ]]
}

@test "-D: measures so long, in all four tests" {
	local program
	for program in "${programs[@]}"; do
		pair "$program" -D 0.5 -s 64 --json=c.json
		# An end that is held up at first measures for less; a round trip may take as long as both wait for a CPU.
		((took_ms[client] >= 500)) || fail 'it ended before its time'
		json c.json '.results[0] | .seconds > 0 and .seconds <= $most and .messages > 0' --argjson most "${took_ms[client]}e-3"
		row client.out
		positive "${row[1]}"
	done
}

# bats test_tags=core
@test "odd sizes: 1, 3, 4097 and 1 MiB + 1, in all four tests" {
	local program size
	for program in "${programs[@]}"; do
		for size in 1 3 4097 1048577; do
			pair "$program" -s $size -n 3 --warmup 1
			row client.out
			[[ ${row[0]} == "$size" && ${row[1]} == 3 ]] || fail "$program -s $size: ${row[*]}"
		done
	done
}

@test "--report_gbits: the same bandwidth in Gb/sec" {
	pair write_bw -n 50 -s 4096 --report_gbits --json=c.json
	says client.out 'BW peak[Gb/sec]' 'BW average[Gb/sec]'
	row client.out
	json c.json '(.results[0].bandwidth_gbps - ($shown | tonumber)) | fabs < 0.006' --arg shown "${row[3]}"
}

@test "--output: one number and nothing else" {
	local what program number
	while read -r what program; do
		pair "$program" -n 20 -s 64 "--output=$what"
		mapfile -t number <client.out
		[[ ${#number[@]} == 1 ]] || fail "$what: not one line"
		positive "${number[0]}"
	done <<-'END'
		bandwidth send_bw
		message_rate write_bw
		latency send_lat
		latency write_lat
	END
}

@test "-N: no peak, the column shows -" {
	pair send_bw -n 50 -s 64 -N
	row client.out
	[[ ${row[2]} == - ]] || fail "peak ${row[2]}"
	positive "${row[3]}"
}

# bats test_tags=core
@test "-U and -H print every sample, -U in order of time, -H sorted" {
	local program
	for program in "${latency_programs[@]}"; do
		pair "$program" -n 25 -U
		says client.out '#, usec'
		row client.out 9
		[[ $(grep -cE '^[0-9]+, [0-9.]+$' client.out) == 25 ]] || fail 'not 25 samples'
		pair "$program" -n 25 -H
		says client.out '#, usec'
		[[ $(grep -cE '^[0-9]+, [0-9.]+$' client.out) == 25 ]] || fail 'not 25 samples'
		grep -E '^[0-9]+, ' client.out | cut -d ' ' -f 2 | sort -gc || fail 'not sorted'
	done
}

@test "--quiet: stderr stays empty on both ends" {
	server send_bw --quiet
	client send_bw --quiet -n 20 -s 64
	finish server
	ended client 0
	ended server 0
	silent client.err
	silent server.err
	row client.out
}
