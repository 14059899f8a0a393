#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# bats file_tags=standin,san
# shellcheck disable=SC2016,SC2030,SC2031,SC2034,SC2154 # $ of jq; what lib/rdmark.bash sets and reads
#
# --repeat and --until-stable. What the figures are is not known; that they agree with each other is.
# How often a session errs whose truth is known: tests/unit/test_stat_ground.c.

load ../lib/rdmark

setup_file() { need_device; }

# both PROGRAM ARG…: a pair that writes both ends' documents, which tell the same.
both() {
	server "$1" --json=s.json
	client "$@" --json=c.json
	finish server
	ended client 0
	ended server 0
	[[ $(jq -c '[.results, .summaries]' c.json) == "$(jq -c '[.results, .summaries]' s.json)" ]] ||
		fail 'the two ends tell different results'
}

# The summary of a size agrees with the client's records of it: jq, with $figure.
agrees='. as $d | all(.summaries[]; . as $s | .[$figure] as $is
	| [$d.results[] | of("client") | select(.message_bytes == $s.message_bytes)] as $runs
	| ($runs | map(.[$figure])) as $v | ($v | sort) as $sorted | ($v | length) as $n
	| $s.runs == $n and ($runs | map(.run)) == [range(1; $s.runs + 1)]
	and $is.min == $sorted[0] and $is.max == $sorted[-1]
	and ($is.mean | near($v | mean; 1e-8 * . + 1e-9)) and ($is.median | near($v | median; 1e-8 * . + 1e-9))
	and $runs[$s.median_run - 1][$figure] == $sorted[($n - 1) / 2 | floor]
	and ($n == 1 or ($is.cv_percent | near($v | cv_percent; 1e-6))))'

# bats test_tags=core
@test "bandwidth: a record for each run at either end, a row and a summary for the size" {
	both send_bw -n 200 -s 4096 --repeat 5 --report_gbits
	json c.json "$agrees" --arg figure bandwidth_gbps
	json c.json "$agrees" --arg figure messages_per_s
	json c.json '([.results, .summaries] | map(length)) == [5, 1]
		and ([.results[] | ends | [.run, .measured_by]] | unique | length) == 10'
	[[ $(wc -l <client.out) == 2 && $(wc -l <server.out) == 2 ]] || fail 'not one row'
	row client.out 5
	json c.json '.summaries[0].median_run as $m | .results[] | of("client") | select(.run == $m)
		| .bandwidth_gbps - ($shown | tonumber) | fabs < 0.0051' --arg shown "${row[3]}"
	row server.out 5
	json s.json '.summaries[0].median_run as $m | .results[] | of("server") | select(.run == $m)
		| .bandwidth_gbps * 1e9 / 8388608 - ($shown | tonumber) | fabs < 0.0051' --arg shown "${row[3]}"
	says client.err '4 KiB: 5 runs: median '
	says server.err '4 KiB: 5 runs: median '
}

@test "latency: mean, median and p99 of the runs" {
	local figure
	both write_lat -n 1000 --repeat 4
	for figure in latency_p50_us latency_p99_us; do
		json c.json '.summaries[0][$figure] | .min <= .median and .median <= .max' --arg figure $figure
	done
	json c.json "$agrees" --arg figure latency_mean_us
	row client.out 9
	[[ $(wc -l <client.out) == 2 ]] || fail 'not one row'
	says client.err ' us on average'
	both write_lat -n 100 --repeat 4
	json c.json '.summaries[0] | .latency_p50_us.median > 0 and .latency_p99_us == null'
}

@test "-H: a histogram for each run" {
	pair send_lat -n 100 --repeat 3 -H --json=c.json
	json c.json '.results | length == 3 and all(.[]; ([.latency_histogram_us[][2]] | add) == 100)'
}

@test "-a: so many runs of each size; CSV has all, the table and perftest's document one" {
	both write_bw -a -n 2 --repeat 3 --csv=c.csv --out_json_file=p.json
	json c.json "$agrees" --arg figure bandwidth_gbps
	json c.json '(.summaries | map(.message_bytes)) == [range(1; 24) | pow(2; .)] and (.results | length) == 69'
	rows client.out
	((${#rows[@]} == 23)) || fail 'not 23 rows'
	rows server.out
	((${#rows[@]} == 23)) || fail 'not 23 rows'
	[[ $(grep -c ^write_bw,client, c.csv) == 69 ]] || fail 'not 69 rows'
	[[ $(head -n 1 c.csv) == *,run,* ]] || fail "$(head -n 1 c.csv)"
	json p.json '.results.MsgSize == 8388608'
	# The last row of a size has the mean of all its runs and their deviation, the first one no deviation.
	csv_of() { awk -F, -v run="$1" 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next } $at["run"] == run { print $at["runs_mean"] "," $at["runs_stdev"] }' c.csv; }
	json c.json '[.summaries[].bandwidth_gbps | [.mean, .mean * .cv_percent / 100]] as $want
		| [$last | splits("\n") | split(",") | map(tonumber)] | length == 23 and
		([., $want] | transpose | all([.[0], .[1]] | transpose | all((.[0] - .[1] | fabs) <= 1e-5 * .[1])))' --arg last "$(csv_of 3)"
	(($(csv_of 1 | grep -c '^[0-9.e+-]*,$') == 23)) || fail "$(csv_of 1)"
}

@test "--repeat 1, and none: with a summary, and without" {
	both send_lat -n 20 --repeat 1
	json c.json "$agrees" --arg figure latency_mean_us
	both send_lat -n 20
	json c.json 'has("summaries") or (.results[0] | has("run")) | not'
	says_no client.err runs
}

# What is said of an aim agrees with itself: jq.
aimed='all(.summaries[]; .runs >= 10 and .until_stable_percent == $within and (.stable == (.judged == "reached"))
	and (if .stable then .interval_percent <= $within else .runs == $most end))'

# aimed WITHIN MOST: c.json does.
aimed() {
	json c.json "$aimed" --argjson within "$1" --argjson most "$2"
	json c.json "$agrees" --arg figure bandwidth_gbps
}

# How sure a mean is known stands at both ends; or the document says why that is not known.
sure_or_why() {
	if jq -e '.summaries[0].interval_percent' c.json; then
		says client.err ' (95 %)'
		says server.err ' (95 %)'
	else
		json c.json '.summaries[0].interval_unknown | IN("few_events", "long_phases")'
	fi
}

# bats test_tags=core
@test "--until-stable: it ends, and says what became of it" {
	both send_bw -n 50 -s 64 --until-stable 100
	aimed 100 150
	sure_or_why
	both send_bw -n 20 -s 64 --until-stable=0.01% --repeat 12
	aimed 0.01 12
	[[ $(jq '.summaries[0].stable' c.json) == true ]] || says client.err '; not stable: '
}

@test "eight runs say how well their mean is known, seven do not" {
	both send_bw -n 50 -s 64 --repeat 8
	json c.json '.summaries[0] | has("stable") or has("judged") | not'
	if jq -e '.summaries[0].interval_percent' c.json; then
		says client.err ', mean ' ' (95 %)'
	else
		json c.json '.summaries[0] | .interval_unknown == "few_events" or .interval_unknown == "long_phases"'
	fi
	both send_bw -n 50 -s 64 --repeat 7
	json c.json '.summaries[0] | .interval_percent == null and .interval_unknown == "few_values"'
	says_no client.err ', mean '
}

@test "every run of every size is warmed up" {
	server send_bw
	proxy
	client send_bw -n 20 -s 64 --repeat 3
	finish server client proxy
	ended client 0
	[[ $(sed -n 's/^client //p' conversation | jq -r 'select(.type == "round") | .warmup' | tr '\n' ' ') == \
		'true false true false true false ' ]] || fail "$(grep round conversation)"
}

@test "the other forms: --output, drop-in mode" {
	ln -s "$RDMARK_BIN/write_bw" ib_write_bw
	server "$PWD/ib_write_bw"
	client "$PWD/ib_write_bw" -n 50 -s 64 --repeat 3
	finish server
	ended client 0
	ended server 0
	rows client.out
	((${#rows[@]} == 1)) || fail 'not one row'
	[[ $(tail -n 1 client.out) == -----* ]] || fail 'no rule at the end'
	pair write_bw -n 50 -s 64 --repeat 3 --output=bandwidth
	[[ $(wc -l <client.out) == 1 ]] || fail 'not one number'
}

@test "with --cpu_util and --interval every run has its own" {
	both write_bw -D 0.3 -s 64 --repeat 2 --cpu_util --interval 0.1
	json c.json '.results | length == 2 and all(.[] | of("client"); .cpu_percent > 0 and .interval_count > 0)'
	json c.json "$agrees" --arg figure bandwidth_gbps
}

# bats test_tags=core
@test "both directions, the other one, several threads: what is judged is their sum, at both ends" {
	# A run in which they never ran at the same time has no rate, and is in none of these.
	local both_ways='.summaries[0] as $s | [.results[] | select(.measured_by == "both") | .bandwidth_gbps]
		| length == 3 and $s.runs == 3 and (map(select(.)) | sort | length == $s.measured_runs
			and if . == [] then $s.bandwidth_gbps == null and $s.median_run == 3
			else .[0] == $s.bandwidth_gbps.min and .[-1] == $s.bandwidth_gbps.max
				and ((.[(length - 1) / 2 | floor] + .[length / 2 | floor]) / 2 / $s.bandwidth_gbps.median - 1 | fabs < 1e-6) end)'
	both send_bw -n 50 -s 64 --repeat 3 -b --cpu_util
	json c.json "$both_ways"
	json c.json '[.results[] | ends, .] | length == 9 and all((.measured_by == "both") != has("cpu_percent"))'
	row client.out 6
	both write_bw -n 50 -s 64 --repeat 3 -b --report-both
	json c.json "$both_ways"
	[[ $(grep -Ec '^ 64( +[0-9.]+){4} +(client_to_server|server_to_client)( !)?$' client.out) == 2 ]] || fail 'not two rows'
	both write_bw -n 50 -s 64 --repeat 3 --reversed
	json c.json '.summaries[0] as $s | [.results[] | of("server") | .bandwidth_gbps] | sort
		| length == 3 and .[1] == $s.bandwidth_gbps.median'
	both send_bw -n 50 -s 64 --repeat 3 --threads 2 --cpu_util
	json c.json '.summaries[0] as $s | [.results[] | of("client")] as $all
		| ($all | map(.bandwidth_gbps) | sort) as $v | $v[1] == $s.bandwidth_gbps.median
		and all(.results[] | all_parts; .run >= 1 and .run <= 3 and has("cpu_percent") != has("thread"))'
}

@test "thresholds are for the row: the median run's" {
	export SIMVERBS_CPU=200 # a run that lacked its CPU misses nothing
	server write_bw
	client write_bw -n 50 -s 64 --repeat 3 --min-bw 900T --json=c.json
	finish server
	ended client 6
	ended server 0
	json c.json '.status == "below_threshold" and .error.cause == ""'
}

@test "interrupted: what there is is summed up, at both ends" {
	server send_bw --json=s.json
	start_client send_bw -D 0.2 -s 64 --repeat 10000 --interval 0.1 --json=c.json
	until grep -qs ' worst of ' client.err; do
		kill -0 "${pid[client]}"
	done
	kill -INT "${pid[client]}"
	finish client server
	ended client 130
	ended server 0
	json c.json '.status == "interrupted"'
	json c.json "$agrees" --arg figure bandwidth_gbps
	json s.json "$agrees" --arg figure bandwidth_gbps
	row client.out 5
	row server.out 5
}

# bats test_tags=core
@test "a peer that dies between: the runs until then are shown" {
	server send_bw --json=s.json
	start_client send_bw -D 0.2 -s 64 --repeat 10000 --interval 0.1
	until grep -qs ' worst of ' client.err; do
		kill -0 "${pid[client]}"
	done
	kill -KILL "${pid[client]}"
	finish client server
	ended server 3
	row server.out 5
	json s.json '.status == "failed" and (.summaries | length) == 1 and .summaries[0].runs >= 1'
}

@test "on a link of known speed no run is faster" {
	[[ ${RDMARK_PRELOAD-} == *simverbs* ]] || skip 'the link has whatever speed it has'
	export SIMVERBS_GBPS=1
	both write_bw -s 256k -n 20 --warmup 2 --until-stable 50 --repeat 20
	json c.json '.summaries[0] | (.stable or .runs == 20) and .bandwidth_gbps.max < 1.03'
}
