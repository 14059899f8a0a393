#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# bats file_tags=standin,long
# shellcheck disable=SC2016,SC2154 # $ of jq; what lib/rdmark.bash sets
#
# What the loops see beside the rate: the truth, known by scripted time (SIMVERBS_SCRIPT,
# tests/standin/verbs/README.md), of adapters, links and receivers that limit the rate one by one.

load ../lib/rdmark

setup_file() {
	need_scripted_time
}

# Those of a real program.
real='post=2 poll=20 completion=5 clock=10'

# scripted WORDS PROGRAM ARG…: a pair in null mode, the client by this script, the server by the one
# in server_script, if there is one; the client's document in c.json.
scripted() {
	SIMVERBS_NULL=1 SIMVERBS_SCRIPT=${server_script-} server "$2"
	SIMVERBS_NULL=1 SIMVERBS_SCRIPT=$1 client "${@:2}" --json=c.json
	finish server
	ended client 0
	ended server 0
}

# sees KEY LEAST MOST: the KEY of the end BY (the client) is between them; jq expressions of .result.
sees() {
	json c.json ".results[0] as \$r | \$r.evidence.${BY-client}.$1 | . != null and . >= ($2) and . <= ($3)"
}

# knows_not KEY…
knows_not() {
	local key
	for key; do
		json c.json ".results[0].evidence.${BY-client} // {} | has(\"$key\") | not"
	done
}

@test "the window is too small: the queue is full all the time, and a message takes as long as a lone one" {
	# 16 messages in flight, each of which takes 5 us and hardly any of the adapter's time
	local program
	for program in write_bw read_bw atomic_bw send_bw; do
		scripted "$real gap=10 latency=5000" "$program" -s 8 -n 4000 -t 16
		sees full_share 0.94 1
		sees alone_us 5.01 5.1
		sees completion_us 5.01 5.2
		json c.json '.results[0] | .evidence.client.completion_us / (16e6 / .messages_per_s) - 1 | fabs < 1e-6'
		knows_not schedule_share receiver_busy_share
	done
	# with lists and few completions, on several QPs: the window is theirs together
	scripted "$real gap=1 latency=10000" write_bw -s 4096 -n 2000 -t 32 -l 4 -Q 8 -q 4
	sees full_share 0.9 1
	sees alone_us 10 10.1
	sees completion_us 10 10.4
}

@test "the link is slower than the window: messages queue, a lone one does not" {
	scripted "$real gap=100 latency=2000" write_bw -s 4096 -n 20000 -t 128
	sees full_share 0.95 0.99
	sees alone_us 2.1 2.2
	sees completion_us 12.7 12.9 # 128 * 100 ns
	scripted "$real gap=100 latency=2000" write_bw -s 4096 -n 20000 -t 128 -q 4
	sees completion_us 51 51.3
	scripted "$real gap=1000 latency=2000" read_bw -s 65536 -n 4000 -t 64
	sees full_share 0.94 0.999
	sees alone_us 3 3.1
	sees completion_us 60 64.1
}

@test "an adapter that is quicker than the program: the queue is never full, and the time in it not known" {
	scripted 'post=100 poll=20 completion=50 clock=10 gap=10 latency=500' write_bw -s 64 -n 20000
	sees full_share 0 0.02
	sees alone_us 0.6 0.75
	knows_not completion_us
}

@test "half of the time: what a message costs the program is not idle, the first empty poll of a pause is" {
	# each 200 ns one message is done: a post of 60 ns, a poll of 20 and 20 for the completion
	local option
	for option in -N ''; do
		# shellcheck disable=SC2086 # none, or one
		scripted 'post=60 poll=20 completion=20 clock=1 gap=200 latency=2000' write_bw -s 16384 -n 10000 $option
		sees full_share 0.47 0.53
	done
}

@test "a schedule: the wait for it is its own" {
	scripted "$real gap=100 latency=2000" write_bw -s 4096 -n 10000 --rate_limit 100
	sees full_share 0 0.01
	sees schedule_share 0.95 0.999
	knows_not completion_us
	# 1000 Gb/s are more than the link can do
	scripted "$real gap=200 latency=2000" write_bw -s 4096 -n 10000 -t 128 --rate_limit 1000
	sees schedule_share 0 0.01
	sees full_share 0.95 0.999 # one clock reading for all that is due
	sees completion_us 25 25.8
}

@test "a receiver: always busy, or by what a message costs it" {
	server_script='post=20 poll=20 completion=100 clock=10 recv=20' scripted "$real gap=100 latency=2000" send_bw -s 4096 -n 20000
	BY=server sees receiver_busy_share 0.99 1
	BY=server knows_not full_share alone_us completion_us
	sees full_share 0.9 1
	# each 100 ns one message: a poll of 20 ns, 5 for the completion, 2 to post the next receive
	server_script="$real recv=100" scripted "$real gap=100 latency=2000" send_bw -s 4096 -n 20000
	BY=server sees receiver_busy_share 0.24 0.3
	server_script="$real recv=1000" scripted "$real gap=1000 latency=2000" send_bw -s 4096 -n 4000
	BY=server sees receiver_busy_share 0.005 0.04
}

@test "reversed: what the server's loops see" {
	server_script="$real gap=100 latency=2000" scripted "$real" write_bw --reversed -s 4096 -n 20000 -t 128
	BY=server sees full_share 0.95 0.99
	BY=server sees alone_us 2.1 2.2
	knows_not full_share alone_us
}

@test "no lone message without a warm-up, nor with a short one, nor with -b of datagrams; no evidence of a ping-pong" {
	scripted "$real gap=100 latency=2000" write_bw -s 4096 -n 2000 --warmup 0
	knows_not alone_us
	sees full_share 0.9 1
	scripted "$real gap=100 latency=2000" write_bw -s 4096 -n 2000 -Q 1 --warmup 5
	knows_not alone_us
	scripted "$real gap=100 latency=2000" write_bw -s 4096 -n 2000 -Q 1 --warmup 6
	sees alone_us 2.1 2.2
	pair send_bw -b -c UD -n 2000 --json=c.json
	knows_not alone_us receiver_busy_share
	BY=server knows_not alone_us receiver_busy_share
	pair send_bw -b -n 2000 --json=c.json
	knows_not receiver_busy_share
	BY=server knows_not receiver_busy_share
	sees alone_us 0 100000
	sees full_share 0 1
	BY=server sees full_share 0 1
	pair send_lat -n 200 --json=c.json
	json c.json '.results[0] | has("evidence") | not'
}

@test "a lone message of each size, on any device, with lists, datagrams, an SRQ, threads and events" {
	local arguments
	# a link on which the last byte of 8 KiB arrives after 65.5 us, and that is the least of its times
	export SIMVERBS_GBPS=1
	for arguments in 'write_bw -l 8 -Q 8' 'send_bw -c UD' 'send_bw -c UC' 'send_bw --use-srq -q 3' 'write_bw --threads 2 -q 2' \
		'write_bw -e' 'write_bw --write_with_imm' 'read_bw --reversed' 'send_bw --post_list 32 -r 64'; do
		read -ra words <<<"$arguments"
		pair "${words[0]}" "${words[@]:1}" -s 1024,4096 -n 400 --json=c.json
		json c.json '[.results[].evidence | (.client // {}).alone_us // .server.alone_us] | length == 2 and .[0] >= 8 and .[1] >= 32'
	done
}

@test "what an end may not say of its loops" {
	local what
	listen_in write_bw
	for what in '{"full_share":1.5}' '{"alone_us":-1}' '{"receiver_busy_share":null}' '{"completion_us":1e300}'; do
		server write_bw
		stranger say "$hello" hear welcome say "$qps" hear qps \
			say '{"type":"round","message_bytes":65536,"target":5,"warmup":false}' hear ready \
			say '{"type":"done","messages":[5],"evidence":'"$what"'}' gone
		finish server
		ended server 3
		says server.err "the peer's evidence has an invalid"
	done
	# one that says nothing of them
	server write_bw
	stranger say "$hello" hear welcome say "$qps" hear qps \
		say '{"type":"round","message_bytes":65536,"target":5,"warmup":false}' hear ready \
		say '{"type":"done","messages":[5]}' hear over say '{"type":"finish"}' gone
	finish server
	says_no server.err evidence
}
