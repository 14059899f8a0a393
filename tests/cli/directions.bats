#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# bats file_tags=standin,san
# shellcheck disable=SC2016,SC2154 # $ of jq; what lib/rdmark.bash sets
#
# Who sends: the client, the server, or both; and on how many threads.

load ../lib/rdmark

setup_file() { need_device; }

# That the parts which have NAME add up to the whole, by messages.
adds_up() {
	json "$1" '[.results[].by_'"$2"'[] | select(.direction == $d and .measured_by == $b) | .messages] as $parts
		| ($parts | length) == ($n | tonumber)
		and ($parts | add) == (.results[] | of($b) | select(.direction == $d) | .messages)' \
		--arg n "$3" --arg b "$4" --arg d "$5"
}

# bats test_tags=rxe,core
@test "-b: one row, the sum of both directions, at either end; the document has all three" {
	local program
	for program in "${bandwidth_programs[@]}"; do
		pair "$program" -b -n 300 -s 4096 --json=c.json
		for file in client.out server.out; do
			row "$file" 5
			[[ ${row[0]} == 4096 && ${row[1]} == 600 ]] || fail "wrong row: ${row[*]}"
			[[ ${row[*]:2:3} == '- - -' ]] || positive "${row[@]:2:3}"
		done
		json c.json '[.results[] | ends, . | [.direction, .measured_by]]
			== [["client_to_server", "client"], ["server_to_client", "server"], ["both", "both"]]'
		# what both did while both ran, which may be never, or for less than a message
		json c.json '.results[0] | .timed_messages // 0 | . <= 600'
		json c.json '.results[0] | .quality.overlap_percent | . >= 0 and . <= 100'
		json c.json '.results[0] | .bandwidth_gbps == null or (.bytes * 8 / .seconds / 1e9 / .bandwidth_gbps - 1 | fabs < 1e-6)'
		json c.json '.results[0] | if .quality.overlap_percent == 0 then .bandwidth_gbps == null
			else .bandwidth_gbps == null or .timed_messages > 0 end'
		json c.json '[.results[] | ends.messages, .messages] == [300, 300, 600]'
		json c.json '.experiment | .bidirectional and (.reversed | not)'
	done
}

@test "-b --report-both: a row for each direction" {
	pair send_bw -b --report-both -n 300 -s 4096
	grep -Eq '±.* at 4 KiB, (client to server|server to client)|too short .4 KiB, (client to server|server to client): ' client.err || fail "$(<client.err)"
	[[ $(<client.out) == *'MsgRate[Mpps]   direction'$'\n'* ]] || fail 'no head'
	grep -Eq '^ 4096 +300 +[0-9.]+ +[0-9.]+ +[0-9.]+ +client_to_server( !)?$' client.out || fail 'not the client'
	grep -Eq '^ 4096 +300 +[0-9.]+ +[0-9.]+ +[0-9.]+ +server_to_client( !)?$' client.out || fail 'not the server'
	[[ $(wc -l <client.out) == 3 ]]
}

# bats test_tags=rxe
@test "-b -D: both ends stop in time and every message has come" {
	local program
	for program in "${bandwidth_programs[@]}"; do
		pair "$program" -b -D 0.5 -s 4096 -q 3 --json=c.json
		# the sum's are those of the time when both sent: none, if that was less than a message
		json c.json '.status == "ok" and (.results[0] | ([ends.seconds] | min) as $least
			| (.messages > 10 or $least < 0.4) and (.seconds // 0) <= $least * 1.001)'
	done
}

# Before the first look at the clock: each thread sends a message none the less. A second later the ends say that they are
# alive, and looked again. (The peer, which begins later, or a thread that is preempted, makes a run longer.)
@test "-D that is over before the threads begin: each has a message, and the run ends at once" {
	tries 1 3 '.results[0].seconds < 0.5' pair write_bw -D 1ns --json=c.json
	json c.json '.results[0].messages >= 1'
	tries 1 3 '[.results[0] | ends.seconds] | max < 0.5' pair send_bw -b -q 2 -D 1ns --json=c.json
	json c.json '[.results[0] | ends.direction] == ["client_to_server", "server_to_client"]'
	json c.json '[.results[0] | ends.messages] | min >= 1'
	pair write_bw -D 1ns --rate_limit 1 --threads 2 --json=c.json
	json c.json '[.results[0].by_thread[].messages] | length == 2 and min >= 1'
}

@test "-b -a: all sizes" {
	pair send_bw -b -a -n 5
	rows client.out 5
	((${#rows[@]} == 23))
}

# bats test_tags=rxe
@test "--reversed: the server sends and has the peak, the client receives" {
	local program
	for program in "${bandwidth_programs[@]}"; do
		pair "$program" --reversed -n 300 -s 4096 --json=c.json
		for file in client.out server.out; do
			row "$file" 5
			[[ ${row[0]} == 4096 && ${row[1]} == 300 ]]
			positive "${row[@]:3}"
		done
		json c.json '[.results[] | of("server")] | length == 1 and .[0].direction == "server_to_client" and .[0].bandwidth_peak_gbps > 0'
	done
}

# bats test_tags=core
@test "--reversed -D, and with a post list and several QPs" {
	pair write_bw --reversed -D 0.5 -q 3 -l 4 -s 4096 --json=c.json
	json c.json '.status == "ok" and .results[0].qps == 3'
}

@test "--threads 2: a row of all together; each thread's part in the document" {
	local program
	for program in "${bandwidth_programs[@]}"; do
		pair "$program" --threads 2 -q 2 -n 200 -s 4096 --json=c.json --csv=c.csv
		row client.out 5
		[[ ${row[1]} == 800 ]]
		json c.json '.experiment.threads == 2 and .results[0].qps == 4'
		adds_up c.json thread 2 client client_to_server
	done
	[[ $(wc -l <c.csv) == $((1 + ${#bandwidth_programs[@]})) ]] || fail "$(<c.csv)"
}

# bats test_tags=core
@test "--threads 3 in latency tests: every thread has its ping-pong, and the histograms are one" {
	local program
	for program in "${latency_programs[@]}"; do
		pair "$program" --threads 3 -n 100 --json=c.json -H
		json c.json '.results[0].messages == 300 and (.results[0].latency_histogram_us | map(.[2]) | add) == 300'
		json c.json '(.results[0].latency_min_us - ([.results[].by_thread[].latency_min_us] | min) | fabs) < 1e-9'
		adds_up c.json thread 3 client ping_pong
	done
}

# bats test_tags=rxe,core
@test "--threads 2 -b: both directions of both threads" {
	pair send_bw --threads 2 -b -n 200 -s 1024 --json=c.json
	row client.out 5
	[[ ${row[1]} == 800 ]]
	adds_up c.json thread 2 client client_to_server
	adds_up c.json thread 2 server server_to_client
}

@test "-b: how sure the sum of both is, in the document and below the table" {
	tries 1 3 '.results[0].quality.overlap_percent > 50' pair send_bw -b -D 0.5 -s 4096 --json=c.json
	json c.json '.results[0] | .direction == "both" and .slices >= 1 and has("plus_minus_percent")'
	says client.err '±'
}

@test "two devices at once: the one twice where there is no other" {
	local device=$DEVICE
	server write_bw -d "$device,$device"
	client write_bw -d "$device,$device" --threads 2 -n 100 -s 4096 --json=c.json
	finish server
	ended client 0
	ended server 0
	json c.json '.results[0].messages == 400 and (.ends.client.more_devices | length) == 1'
	json c.json '[.results[].by_device[] | select(.measured_by == "client") | .messages] == [200, 200]'
	adds_up c.json thread 4 client client_to_server
	# of a device as of a thread: how sure the average is; the same at both ends
	server send_bw -d "$device,$device" --json=s.json
	client send_bw -d "$device,$device" --threads 2 -D 0.3 -s 64 --json=c.json
	finish server
	ended client 0
	# a thread that was held up for nearly all the time has no average, or no row
	json c.json '.results[0] | (.by_device | length == 4) and (.by_thread | length <= 8) and
		all(.by_device[], .by_thread[], .; .timed_messages < 10 or .slices >= 1 and has("plus_minus_percent"))'
	[[ $(jq -c .results c.json) == "$(jq -c .results s.json)" ]] || fail 'the two ends tell different results'
	# a latency is a thread's: the sum of two is none
	server send_lat -d "$device,$device"
	client send_lat -d "$device,$device" --threads 2 -n 100 --json=c.json
	finish server
	ended client 0
	json c.json '.results[0] | (.by_device | length == 2) and all(.by_device[]; .messages == 200 and .messages_per_s > 0
		and (keys | all(startswith("latency_") | not)) and (has("plus_minus_percent") or has("bandwidth_gbps") | not))'
}

# bats test_tags=core
@test "different numbers of devices: both ends say so" {
	local device=$DEVICE
	server write_bw
	client write_bw -d "$device,$device"
	ended client 2
	serves_next write_bw
	says client.err 'different numbers of devices: server 1, client 2'
	says server.err 'different numbers of devices: server 1, client 2'
}

@test "what does not go together is refused" {
	local options
	for options in 'send_lat -b' 'write_lat --reversed' 'send_bw -b --reversed' 'send_bw --threads 0'; do
		# shellcheck disable=SC2086 # words
		start cli $options 127.0.0.1
		finish cli
		ended cli 2
		says cli.err 'Fix: '
	done
}

# bats test_tags=core
@test "a signal ends a run in both directions early, and what was measured is printed" {
	local who
	for who in client server; do
		server send_bw --timeout 4
		proxy
		start_client send_bw -b -D 100 -s 4096 --warmup 5 --timeout 4 --json=c.json
		await 'client round' 'server ready' 'client round' 'server ready' 'client alive'
		kill -INT "${pid[$who]}"
		finish client server
		ended "$who" 130
		[[ ${status[client]}${status[server]} == @(1300|0130) ]] || fail "client ${status[client]}, server ${status[server]}"
		json c.json '.status == "interrupted" and .results[0].direction == "both" and .results[0].messages > 0'
		row server.out 5
	done
}

@test "gdr_bw's cells are one thread's on one device" {
	local options
	for options in '--threads 2' --reversed "-d $DEVICE,$DEVICE"; do
		server gdr_bw
		# shellcheck disable=SC2086 # words
		client gdr_bw $options
		ended client 2
		waits_on
		says client.err 'cannot be used without --plain' 'Fix: '
	done
	server gdr_bw
	client gdr_bw -b
	ended client 2
	says client.err '-b/--bidirectional cannot be used in gdr_bw'
}

# ways STATUS SERVER CLIENT PROGRAM ARG…: -b over links that carry so many Gb/s, each what its end sends or reads. They
# are so slow that a full queue lasts for what a busy machine takes from the threads.
ways() {
	[[ ${RDMARK_PRELOAD-} == *simverbs* ]] || skip 'the link has whatever speed it has'
	export SIMVERBS_CPU=200
	SIMVERBS_GBPS=$2 server "$4"
	SIMVERBS_GBPS=$3 client "${@:4}" -b --json=c.json --csv=c.csv
	finish server
	ended client "$1"
	ended server 0
}

# Whether both rates are so sure that no machine made them unlike: links that are alike differ by less than 5 %.
readonly unlike='.results[0] | [ends | {gbps: .bandwidth_gbps, by: ((.plus_minus_percent // 0) / 100)}] | sort_by(.gbps)
	| .[0].gbps * (1 + .[0].by) * 1.05 < .[1].gbps * (1 - .[1].by)'

# named SLOW FAST STATUS SERVER CLIENT PROGRAM ARG…: where that is so, it is said which one is slow, and what each of them
# is limited by, the slow one first.
named() {
	tries 1 3 "$unlike" ways "${@:3}"
	grep -Eq "^[a-z_]*: $1: 0\.(1|09)[0-9]* of 98 Gb/s; the other: 0\.[1-5]" client.err || fail 'no figures of the directions'
	[[ $(grep -Po '^[a-z_]*: \K(client|server) to (server|client): ' client.err) == "$1: "$'\n'"$1: "$'\n'"$2: " ]] ||
		fail 'not the limit of each, the slow one first'
}

# misses DIRECTION TEXT: the threshold that one direction of two misses.
misses() {
	grep -Eq ": 64 KiB, $1: $2" client.err || fail "it does not miss: $1: $2"
}

@test "case 25: a link slow in one direction: it is named, before the other, and has to reach the threshold" {
	local slow='client to server' fast='server to client'
	named "$slow" "$fast" 6 0.5 0.1 write_bw -D 1 --min-bw 0.3
	row client.out 5 # perftest's, the sum
	misses "$slow" 'bandwidth 0\.[01][0-9]* of 0.3 Gb/s .*--min-bw 0.3\)'
	json c.json '[.results[0] | ends | [.direction, (.limit | has("bound_by"))]] == [["client_to_server", true], ["server_to_client", true]]'
	[[ $(cut -d, -f23 c.csv) == $'direction\nboth\nclient_to_server\nserver_to_client' ]] || fail "$(<c.csv)"
	ways 6 0.1 0.5 write_bw -n 200 --min-bw 0.3 --quiet
	misses "$fast" 'bandwidth 0\.[01]'
	ways 6 0.5 0.1 write_bw -n 100 --min-bw 0.3% --repeat 2 # of the link, of each direction
	misses "$slow" "bandwidth 0\.[01][0-9]* % of the link's 100 Gb/s, less than 0.3 %"
	ways 6 0.5 0.1 write_bw -n 200 --min-msgrate 400
	misses "$slow" 'message rate '
	ways 6 0.5 0.1 write_bw -n 200 --min-bw 0.3 --format perftest
	misses "$slow" 'bandwidth 0\.[01]'
	named "$slow" "$fast" 0 0.5 0.1 write_bw -n 200 --min-bw 0.05 --min-msgrate 100
	ways 0 0.5 0.1 write_bw -n 200 -w 20 # perftest's, in MiB/s: of the sum
}

# bats test_tags=core
@test "case 25: what READs fetch, what SENDs bring; all sizes; two directions that are alike have no names" {
	local slow='server to client' fast='client to server'
	named "$slow" "$fast" 6 0.5 0.1 read_bw -n 200 --min-bw 0.3
	misses "$slow" 'bandwidth 0\.[01]'
	named "$slow" "$fast" 6 0.1 0.5 send_bw -D 1 --min-bw 0.3
	misses "$slow" 'bandwidth 0\.[01]'
	ways 6 5 1 send_bw -a -n 5 --min-bw 3
	rows client.out 5
	((${#rows[@]} == 23)) || fail 'not 23 rows'
	ways 0 0.1 0.1 write_bw -n 200 --min-bw 0.05
	says_no client.err 'the other: '
}
