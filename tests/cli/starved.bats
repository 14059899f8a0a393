#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# bats file_tags=standin,long
# shellcheck disable=SC2016,SC2154 # $ of jq; what lib/rdmark.bash sets
#
# The send queue must not run dry while completions are on their way: an adapter that takes so long
# for a message and reports it so much later, ten times slower than the fast ones of today, but with
# the same ratio of both.

load ../lib/rdmark

setup_file() {
	export SIMVERBS_NULL=1 SIMVERBS_LATENCY_NS=20000
	need_device
}

# near GAP_NS DEPTH ARG…: the rate is that of DEPTH messages under way, 1 / GAP or DEPTH / (LATENCY + GAP): never above it,
# and at least 95 % of it in the best of 60 runs of a millisecond or so, three times at most.
near() {
	export SIMVERBS_GAP_NS=$1
	limit="([1000 / $1, $2 * 1000 / (20000 + $1)] | min)"
	tries 1 3 "$rate >= 0.95 * $limit" never_above "${@:3}" -s 8 -t "$2"
}

never_above() {
	pair "$@" --repeat 60 --json=c.json
	json c.json "$rate <= 1.001 * $limit"
}
rate='([.results[] | (.by_end.client // .).messages_per_s / 1e6] | max)'

@test "with the default depth and moderation the adapter is never idle" {
	near 150 192 write_bw -n 9600
	near 200 192 send_bw -n 9600
	near 400 192 write_bw -n 4800 -N --post-api wr
}

@test "a short queue: as many are under way as it holds" {
	near 100 4 write_bw -n 400
	near 250 1 write_bw -n 100 --post-api wr
}
