#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# bats file_tags=standin
# shellcheck disable=SC2016,SC2154 # $ of jq; what lib/rdmark.bash sets
#
# --prove: the limit of adapters whose only limit is known (SIMVERBS_SCRIPT), found by changing one
# thing at a time; how often it is right in noise is in tests/unit/test_prove.c.

load ../lib/rdmark

setup_file() {
	need_scripted_time
	export SIMVERBS_CPU=200
}

# A window takes 200 ms of the machine's time. Where that is busy, little of the script's may go by, of which the first latency is no rate:
# it is short.
real='post=2 poll=20 completion=5 clock=10'

# proved SCRIPT PROGRAM ARG…: a pair in null mode, the client by this script on one CPU: two threads
# cannot be tried, since only one can post there. Its document is in c.json.
proved() {
	local cpu through=()
	cpu=$(taskset -cp $$ | sed 's/.*[:,] *//; s/.*-//')
	SIMVERBS_NULL=1 server "$2"
	through=(taskset -c "$cpu")
	SIMVERBS_NULL=1 SIMVERBS_SCRIPT=$1 client "${@:2}" -n 4000 --prove=60 --json=c.json
	finish server
	ended client 0
	ended server 0
}

# so CHANGE WORD…: what --prove says of it.
so() { json c.json ".prove.changes | map(select(.change == \"$1\").so) == [\"$2\"]"; }

@test "prove: a small window is one, whatever its QPs and sizes are; the row's own guess is not repeated" {
	proved "$real gap=10 latency=8000" write_bw -s 4096 -t 16
	json c.json '.prove.bound_by == "window" and .prove.strength == "is"'
	so window faster
	so qps not_faster
	so size not_faster
	so threads not_tried
	json c.json '.prove.changes[0] | .options == "-t 64" and .times > 3.9 and .times < 4.1 and (.windows | length) >= 3'
	json c.json '.results | length == 1' # the windows are no rows
	says client.out '-t 64 ' 'not tried: this process has no other CPU'
	says client.err 'limited by the window: -t 64 makes it'
	says_no client.err 'Next: '
}

@test "prove: READs in flight by -o, which QPs have, too" {
	proved "$real gap=10 latency=4000" read_bw -s 4096 -o 2
	json c.json '.prove.bound_by == "window" and .prove.strength == "is"'
	so outs faster
	so qps faster
	so window not_faster
}

@test "prove: atomics, which have one size" {
	proved "$real gap=10 latency=4000" atomic_bw -o 2
	json c.json '.prove.bound_by == "window" and .prove.strength == "is"'
	so size not_tried
	says_no client.err 'ended early'
}

@test "prove: the adapter's rate of messages; whether a CPU's is not known, without threads" {
	proved "$real gap=1000 latency=2000" write_bw -s 4096 -t 128
	json c.json '.prove.bound_by == "message_rate" and .prove.strength == "is"'
	so size faster
	so list not_faster
	says client.err 'cannot tell whether it is an adapter'
}

@test "prove: a server that was told other options, and one that stays; it shows nothing of the windows" {
	SIMVERBS_NULL=1 server write_bw -t 16 -q 1 -s 4096
	SIMVERBS_NULL=1 SIMVERBS_SCRIPT="$real gap=10 latency=4000" client write_bw -t 16 -s 4096 -n 4000 --prove=2
	finish server
	ended client 0
	ended server 0
	rows server.out
	((${#rows[@]} == 1)) || fail "the server has ${#rows[@]} rows"
}

@test "prove: a server that dies meanwhile: what was measured stays, and its exit status" {
	SIMVERBS_FAULT=kill:3000 server send_bw
	client send_bw -n 1000 --prove=5 --json=c.json
	finish server
	ended client 0
	says client.err '--prove ended early: '
	json c.json '.status == "ok" and (.results | length) == 1 and .prove.bound_by == "unknown"'
}

@test "prove: a signal ends it, and the row stays" {
	SIMVERBS_NULL=1 server write_bw
	SIMVERBS_NULL=1 start_client write_bw -n 4000 --prove=60 --json=c.json
	until_says client.err ': disturbed ' # of the row, whose rate is above the link's
	kill -INT "${pid[client]}"
	finish client
	finish server
	ended client 130
	json c.json '(.results | length) == 1'
}

@test "prove: what it is not for" {
	refused() {
		run "$RDMARK_BIN/$1" "$host" "${@:2}"
		((status == 2)) && [[ $output == *"Fix: "* ]] || fail "$*: $status: $output"
	}
	refused write_bw -a --prove
	refused write_bw -s 64,128 --prove
	refused write_bw --prove=0
	refused send_lat --prove
	refused gdr_bw --prove
}
