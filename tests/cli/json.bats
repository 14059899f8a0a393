#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# bats file_tags=standin,san
# shellcheck disable=SC2016,SC2030,SC2031,SC2034,SC2154 # $ of jq; what lib/rdmark.bash sets and reads
#
# The forms for programs: JSON, JSON lines, CSV, and perftest's own JSON.

load ../lib/rdmark

setup_file() { need_device; }

# In every document, whatever became of the run.
always='.schema_version == 3 and (.generator | startswith("rdmark ")) and (.test | length > 0)
	and all(.started_utc, .finished_utc; test("^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}Z$"))
	and .finished_utc >= .started_utc and has("status") and has("error") and has("experiment")
	and has("effective") and has("ends") and has("results")'

# bats test_tags=core
@test "--json to stdout: the one document, no table, in every test" {
	local program
	for program in "${measuring_programs[@]}"; do
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

# loaded_rdma_core: the version in the name of the library that the programs have, "" with another one.
loaded_rdma_core() {
	[[ ! ${RDMARK_PRELOAD-} ]] || return 0
	local library
	library=$(ldd "$RDMARK_BIN/send_bw" | awk '/libibverbs/ { print $3 }')
	readlink -f "$library" | sed -n 's/.*libibverbs\.so\.[0-9]*\.[0-9]*\.\([0-9.]*\)$/\1/p'
}

# bats test_tags=core
@test "both ends say what they run on and how they were started, in both documents" {
	server send_bw --json=s.json --numa none
	client send_bw -n 20 "--json=two words.json"
	finish server
	ended client 0
	ended server 0
	json s.json 'all(.ends.client, .ends.server; .kernel == $kernel and (.cpu_model == $cpu or $cpu == "")
		and (.rdma_core // "") == $rdma)' \
		--arg kernel "$(uname -r)" --arg cpu "$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)" \
		--arg rdma "$(loaded_rdma_core)"
	json s.json '(.ends.server.argv | (.[0] | endswith("send_bw")) and .[-2:] == ["--numa", "none"])
		and (.ends.client.argv | contains(["-n", "20", "--json=two words.json", $host]))' --arg host "$host"
	json 'two words.json' '(.ends | del(.[].utc_us)) == $ends' --argjson ends "$(jq '.ends | del(.[].utc_us)' s.json)"
}

@test "the clocks of both ends: what each said when it told of itself" {
	local before=$EPOCHSECONDS
	pair send_bw -n 20 --json=c.json
	json c.json 'all(.ends[].utc_us / 1e6; . >= $before and . <= $after) and .ends.client.utc_us >= .ends.server.utc_us' \
		--argjson before "$before" --argjson after "$((EPOCHSECONDS + 1))"
}

@test "--json=FILE beside the table; latency in microseconds with percentiles in order" {
	deadline=600 # p99.99 needs as many; on few CPUs, and those busy, each takes a turn of both ends
	pair write_lat -n 100000 -s 8 --json=c.json
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
	json c.json '.results | length == 1 and .[0].measured_by == "client"
		and (.[0].by_end | map_values(.measured_by)) == {client: "client", server: "server"}'
	[[ $(jq -c .results c.json) == "$(jq -c .results s.json)" ]] || fail 'the two ends tell different results'
}

@test "figures have at most 9 significant digits, integers all that they have" {
	pair send_lat -n 1000 -H --json=c.json
	# those with a fraction: "key": 0.25, or an element of an array
	sed -nE 's/^ *("[a-z0-9_]*": )?([0-9]+\.[0-9]+)(e[-+][0-9]+)?,?$/\2/p' c.json >figures
	(($(wc -l <figures) > 50))
	[[ $(tr -d . <figures | sed -E 's/^0*//; s/0*$//' | awk '{ if (length > n) n = length } END { print n }') == 9 ]] ||
		fail "$(sort -u figures | tail -n 20)"
	pair write_bw -D 0.5 --interval 0.1 --json
	[[ $(grep -oE '_(gbps|s)":[0-9]+\.[0-9]+' client.out | grep -oE '[0-9]+\.[0-9]+' | tr -d . | sed -E 's/^0*//; s/0*$//' |
		awk '{ if (length > n) n = length } END { print n }') -le 9 ]] || fail "$(<client.out)"
	pair write_bw -n 123456789012 -D 0.1 -s 8 --json=c.json
	json c.json '.experiment.iters == 123456789012'
	grep -q '"iters": 123456789012,' c.json
}

@test "results: one for each row of the table, and it is that row; what else was measured is in it" {
	pair send_bw -n 100 -s 4096 --json=c.json --report_gbits
	row client.out 5
	json c.json '.results | length == 1 and (.[0] | .bandwidth_gbps - ($shown | tonumber) | fabs < 0.0051)
		and (.[0].by_end | keys == ["client", "server"])' --arg shown "${row[3]}"
	pair send_bw -b --threads 2 -n 100 -s 4096 --json=c.json --report_gbits
	row client.out 5
	json c.json '.results | length == 1 and (.[0] | .direction == "both" and .messages == 400
		and (.bandwidth_gbps // 0 | near($shown; 0.0051))
		and ([.by_thread[] | [.measured_by, .thread]] | sort) == [["client", 0], ["client", 1], ["server", 0], ["server", 1]]
		and ([.by_end[].messages] | add) == .messages and (has("by_device") | not))' --argjson shown "${row[3]/#-/0}"
	pair write_bw -a -n 2 --repeat 2 --json=c.json
	json c.json '[.results[] | [.message_bytes, .run]] == [range(1; 24) | pow(2; .) as $size | (1, 2) | [$size, .]]
		and all(.results[]; has("by_end") or has("by_thread") or has("by_device") | not)'
}

@test "-a: one record for each size" {
	pair write_bw -a -n 2 --json=c.json
	json c.json '[.results[].message_bytes] == [range(1; 24) | pow(2; .)]'
}

# bats test_tags=core
@test "-H: the histogram has every sample" {
	pair send_lat -n 200 -H --json=c.json
	json c.json '.results[0] | ([.latency_histogram_us[][2]] | add) == 200
		and all(.latency_histogram_us[]; .[0] < .[1]) and .latency_histogram_us[0][0] <= .latency_min_us'
}

@test "--histogram: the same in the document, and no samples on stdout" {
	pair send_lat -n 200 --histogram --json=c.json
	json c.json '.results[0].latency_histogram_us | map(.[2]) | add == 200'
	[[ $(wc -l <client.out) == 2 ]] || fail 'more than the table'
	pair write_lat -D 0.2 --histogram --json
	json client.out '.results[0].latency_histogram_us | length > 0'
	pair write_lat -n 20 --histogram
	says client.err '--histogram is ignored without --json'
}

# bats test_tags=core
@test "a run that fails still gives a document, with the error and both exit statuses" {
	server send_bw --max-duration 4 --json=s.json # from the hello on: it has to come to a round in that time
	client send_bw -n 1000000000
	finish server
	ended client 2
	ended server 2
	json s.json "$always"' and .status == "failed" and .error.exit_status == 2 and .error.from_peer == false
		and (.error.phase | length > 0) and (.error.fix | length > 0)'
	server send_bw -s 64 --json=s.json
	client send_bw -s 65 --json=c.json
	ended client 2
	json c.json "$always"' and .status == "failed" and .error.exit_status == 2 and .error.from_peer == true
		and .error.code == "usage" and (.error.message | contains("--size")) and .results == []'
	serves_next send_bw -s 64
	json s.json "$always"' and .status == "ok" and .error == null and (.results | length) == 1'
}

# bats test_tags=core
@test "--json replaces the file as a whole and leaves nothing beside it" {
	echo old >c.json
	pair send_lat -n 5 --json=c.json
	json c.json '.status == "ok"'
	[[ $(echo c.json*) == c.json ]] || fail "left: $(echo c.json*)"
}

@test "--json of a link: a file behind it is replaced; a device or a pipe is written to, and stays" {
	local option reader
	echo old >real.json
	ln -s real.json link.json
	ln -s /proc/self/fd/1 stdout
	mkfifo fifo
	for option in json out_json_file; do
		echo old >real.json
		pair send_bw -n 20 "--$option=link.json"
		[[ -L link.json && $(<real.json) != old ]] || fail "--$option: not through the link"
		pair send_bw -n 20 "--$option=stdout"
		[[ -L stdout && -s client.out ]] || fail "--$option: the link to stdout is gone"
		cat fifo >through &
		reader=$!
		pair send_bw -n 20 "--$option=fifo"
		wait "$reader"
		[[ -p fifo && -s through ]] || fail "--$option: no pipe any more"
	done
}

# bats test_tags=core
@test "--interval: lines that are JSON each, the last one the document" {
	pair write_bw -D 0.5 -s 64 --interval 0.1 --json
	# How many there are is the machine's affair, as those that come late are one: together they are the run.
	json_lines client.out 'intervals | length >= 1 and all(.message_bytes == 64 and .interval_s > 0
		and .messages >= 0 and .bandwidth_gbps >= 0 and .messages_per_s >= 0)'
	json_lines client.out 'intervals | .[-1].elapsed_s as $all | $all >= 0.5 and (map(.interval_s) | add | near($all; 1e-6))'
	json_lines client.out '(intervals | map(.messages) | add) as $n | document
		| .status == "ok" and $n > 0 and $n <= .results[0].messages'
	while IFS= read -r line; do
		[[ $line == '{'*'}' ]] || fail "no JSON line: $line"
	done <client.out
	pair send_lat -D 0.5 --interval 0.15 --json
	json_lines client.out 'intervals | all(.messages == 0 or .latency_mean_us > 0)'
}

@test "--interval: a document in a file has them, each client's its own; one on stdout has them before it" {
	server send_bw --persistent --interval 0.1 --json=s.json
	client send_bw -D 0.8 -s 64 --interval 0.1 --json=c.json
	ended client 0
	json c.json '(.intervals | map(select(.partial | not))) as $whole | ($whole | length) as $n | $n >= 1 and .results[0].interval_count == $n
		and all(.intervals[]; .message_bytes == 64 and .interval_s > 0 and (keys | length) == 7) and all(.intervals[:-1][]; .partial == false)
		and ([.intervals[].elapsed_s] | . == sort)
		and ([.intervals[].messages] | add) <= .results[0].messages
		and (($whole | map(.bandwidth_gbps) | min) - .results[0].worst_interval_gbps | fabs) <= 1e-8 * .results[0].worst_interval_gbps'
	client send_bw -D 0.3 -s 64 --json --interval 0.1
	ended client 0
	jq -es '.[:-1] != [] and (.[-1] | has("intervals") | not)' client.out >/dev/null || fail "$(<client.out)"
	kill -TERM "${pid[server]}"
	finish server
	json s.json 'length == 2 and all(.[]; (.intervals | . != [] and (map(.elapsed_s) | . == sort))
		and ([.intervals[].messages] | add) <= .results[0].messages)' -s
	pair write_lat -D 0.4 --interval 0.1 --json=c.json
	json c.json '.intervals | length >= 1 and all(.[]; .messages == 0 or .latency_mean_us > 0)'
	pair send_lat -n 5 --interval 100 --json=c.json
	json c.json '.intervals | length == 1 and .[0].partial'
	pair send_lat -n 5 --json=c.json
	json c.json 'has("intervals") | not'
}

@test "--interval: the last one ends with the run, and is marked if it is not whole" {
	local program
	pair write_bw -D 0.4 -s 64 --interval 0.1 --json=c.json
	# Unless the machine was late by an interval.
	json c.json '.intervals | .[-1].elapsed_s >= 0.4 and all(.[:-1][]; .partial == false)
		and (all(to_entries[]; .value.elapsed_s < 0.1 * (.key + 2)) and length == 4 | not or $all)' \
		--argjson all "$(jq '.intervals | all(.partial == false)' c.json)"
	for program in 'write_bw -b' 'send_bw' 'send_lat'; do
		# shellcheck disable=SC2086 # words
		server ${program%% *} --interval 10 --json
		# shellcheck disable=SC2086 # words
		client $program -D 0.3 -s 64 --interval 10 --json=c.json
		finish server
		ended client 0
		json c.json '.results[0] as $r | ($r | has("interval_count") or has("worst_interval_us") | not)
			and (.intervals | length == 1 and (.[0] | .partial and .interval_s >= 0.3 and .interval_s < 10
			and .messages > 0 and .messages <= $r.messages))'
		says client.err '(partial, '
		jq -es '.[0].interval | .partial and .messages > 0' server.out >/dev/null || fail "$(<server.out)"
	done
	# where each is a row of the table, that of the whole run is the last
	server write_bw
	start_client write_bw -s 64 --run_infinitely --interval 0.2 --json=c.json
	until_says client.out '^ 64 '
	kill -INT "${pid[client]}"
	finish client server
	says_no client.err partial
	json c.json '.intervals | length >= 1 and (.[:-1] | all(.partial == false))'
}

@test "--interval without --json: on stderr, the table stays clean" {
	pair send_bw -D 0.5 -s 64 --interval 0.15
	rows client.out
	[[ ${#rows[@]} == 1 && $(wc -l <client.out) == 2 ]] || fail 'the table is not clean'
	says client.err ' MiB/s, ' ' M messages/s'
	says_no client.err 'Gb/s, '
	pair send_lat -D 0.3 --interval 0.1
	[[ $(wc -l <client.out) == 2 ]] || fail 'the table is not clean'
	says client.err ' us on average'
}

# A mean is between the least and the most, whatever the machine does; of each thread one round trip may lie in two
# intervals.
@test "--interval: the mean is of the round trips, not of pauses, and of every thread's" {
	local options threads
	for options in '--latency_gap 20000' '--threads 2' '--latency_gap 20000 --threads 2'; do
		threads=1
		[[ $options != *threads* ]] || threads=2
		# shellcheck disable=SC2086 # words
		pair write_lat -D 0.5 --interval 0.15 $options --json
		json_lines client.out '(intervals | map(select(.messages > 0))) as $some | document.results[0] as $all
			| $some != [] and all($some[]; .latency_mean_us * .messages >= $all.latency_min_us * (.messages - $threads)
				and .latency_mean_us * .messages <= $all.latency_max_us * (.messages + $threads))
			and $all.worst_interval_us <= $all.latency_max_us * (1 + $threads)' --argjson threads $threads
	done
	# Who answers does not know how long the pauses were.
	server send_lat --interval 0.15 --json
	client send_lat -D 0.5 --latency_gap 20000
	finish server
	ended server 0
	json_lines server.out 'intervals | length >= 1 and all(.latency_mean_us == null) and any(.messages > 0)'
}

@test "--interval: the worst of them is in the record, and on stderr where they are shown" {
	pair write_bw -D 0.5 -s 64 --interval 0.1 --json
	json_lines client.out 'whole_intervals as $all | intervals[-1].elapsed_s as $took | document.results[0]
		| (.worst_interval_gbps | near($all | map(.bandwidth_gbps) | min; 1e-8 * .)) and .interval_count == ($all | length)
		and .interval_count >= 1 and .interval_count <= $took / 0.1 + 1'
	pair send_lat -D 0.5 --interval 0.15 --json
	# One in which no round trip was over lasted half of one, at least.
	json_lines client.out '(whole_intervals | map(.latency_mean_us // .interval_s * 1e6 / 2) | max) as $worst | document.results[0]
		| (.worst_interval_us | near($worst; 0.001)) and has("interval_count") == false'
	pair write_lat -D 0.5 --interval 0.1
	says client.err '2 B: worst interval: '
	pair send_bw -D 0.5 -s 64 --interval 0.1 --json=c.json
	grep -q "^[a-z_]*: 64 B: worst of $(jq '.results[0].interval_count' c.json) intervals: [0-9.]* MiB/s\$" client.err || fail 'no worst interval'
	json c.json '.results[0] | .interval_count > 0 and .by_end.client.interval_count > 0'
	json c.json '.results[0].by_end.server | .messages > 0 and (has("interval_count") | not)'
	# none that is whole
	pair send_bw -n 5 -s 64 --interval 100 --json=c.json
	json c.json '.results[0] | has("interval_count") or has("worst_interval_gbps") | not'
	says_no client.err worst
}

@test "--csv: a header and a row for each record, named as in JSON" {
	pair send_lat -n 20 --csv --json=c.json
	local header row1
	{ read -r header; read -r row1; } <client.out
	[[ $header == test,measured_by,message_bytes,*,latency_p99_99_us,*,connection,mtu_bytes,tx_depth,threads,runs_mean,runs_stdev,status,varied ]] || fail "$header"
	json c.json '.results[0] as $r | [$header, $row] | map(split(",")) | transpose | map(select(.[0] as $key | $r | has($key)))
		| length > 10 and all(.[1] == ($r[.[0]] | if . == null then "" else tostring end) or (.[1] | tonumber) == $r[.[0]])' \
		--arg header "$header" --arg row "$row1"
	pair send_bw -n 20 -s 64 --csv
	{ read -r header; read -r row1; } <client.out
	[[ $row1 == send_bw,client,* && $(awk -F, 'NR == 1 { n = NF } NF != n' client.out) == '' ]] || fail 'columns'
	pair write_lat -a -n 2 --csv=c.csv
	row client.out 9
	[[ $(grep -c '^write_lat,client,' c.csv) == 23 ]] || fail 'not 23 rows'
}

# bats test_tags=core
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

# field NAME: of the last row of c.csv.
field() {
	awk -F, -v name="$1" 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i } END { print $at[name] }' c.csv
}

@test "--csv: a row for each result, which says when, between whom and what was varied" {
	local said
	pair send_bw -b --threads 2 -q 2 -n 50 -s 64 -t 32 -m 1024 -c UC --csv=c.csv --json=c.json
	# the sum, and each direction
	[[ $(wc -l <c.csv) == 4 && $(head -n 1 c.csv) == *,started_utc,client_host,server_host,* ]] || fail "$(<c.csv)"
	sed -i '3,$d' c.csv
	said=$(for name in started_utc client_host server_host connection tx_depth threads mtu_bytes messages direction; do
		field $name
	done | paste -sd ' ')
	json c.json '[.started_utc, .ends.client.host, .ends.server.host, .experiment.connection, .effective.tx_depth, .experiment.threads,
		.effective.mtu_bytes, .results[0].messages, .results[0].direction] | map(tostring) | join(" ") == $row' \
		--arg row "$said"
	[[ $(field status) == ok && ! $(field varied) ]] || fail "$(<c.csv)"
	json c.json '.effective.tx_depth == 32 and .effective.mtu_bytes == 1024 and .experiment.connection == "UC"'
	pair write_bw -a -n 2 --repeat 2 --cpu_util --csv=c.csv
	[[ $(wc -l <c.csv) == 48 ]] || fail "$(<c.csv)"
}

@test "--csv=FILE: two at the same time make one header" {
	server send_bw
	start one send_bw -p "$port" -n 50 -s 64 --csv=both.csv "$host"
	server send_bw
	start two send_bw -p "$port" -n 50 -s 64 --csv=both.csv "$host"
	finish one two server
	ended one 0
	ended two 0
	[[ $(grep -c ^test, both.csv) == 1 && $(grep -c ^send_bw, both.csv) == 2 && $(wc -l <both.csv) == 3 ]] || fail "$(<both.csv)"
}

@test "--json to stdout, one document after the other: jq takes them all" {
	local n
	for n in 1 2 3; do
		pair write_bw -n 20 -s 64 -q $n --json=-
		cat client.out >>runs.json
	done
	json runs.json 'map(.results[0].qps) == [1, 2, 3]' -s
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

# bats test_tags=core
@test "--out_json: the file's name is perftest's, and with -a the last row is in it" {
	pair write_bw -n 2 -a --out_json
	perftest_json perftest_out.json
	json perftest_out.json '.results.MsgSize == 8388608'
}

@test "--out_json with --output=bandwidth is valid, too" {
	pair write_bw -n 20 -s 64 --out_json_file=p.json --output=bandwidth
	perftest_json p.json
	json p.json '.results | keys == ["bw_avg"] and .bw_avg > 0'
	[[ $(wc -l <client.out) == 1 ]]
}
