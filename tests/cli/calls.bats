#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# bats file_tags=standin,san
# shellcheck disable=SC2016,SC2154 # $ of jq; what lib/rdmark.bash sets
#
# --post-api: streams posted by ibv_post_send or by ibv_wr_*, in every form that they have.

load ../lib/rdmark

setup_file() { need_device; }

# Posted by the calls $1: the data are those that were sent, in order and number.
verified() {
	local calls=$1
	shift
	pair "$@" --verify=5000 --json
	json client.out '.status == "ok" and .effective.calls == $calls
		and ([.results[] | ends.verification // empty] | length > 0 and all(.messages > 0 and .errors == 0))' --arg calls "$calls"
}

# bats test_tags=rxe
@test "ibv_wr_*: SENDs, WRITEs and WRITEs with immediate" {
	verified ibv_wr send_bw --post-api wr -n 300 -s 4096
	verified ibv_wr write_bw --post-api wr -n 300 -s 4096
	verified ibv_wr write_bw --post-api wr --write_with_imm -n 300 -s 4096
}

# bats test_tags=core
@test "ibv_wr_*: inline, in lists that fit and that do not, odd numbers of messages" {
	verified ibv_wr send_bw --post-api wr -n 331 -s 24 -I 24 -l 8
	verified ibv_wr write_bw --post-api wr -n 331 -s 24 -I 24 -l 7 -t 30
	verified ibv_wr write_bw --post-api wr -n 97 -s 24 -I 0 -l 32
	verified ibv_wr write_bw --post-api wr --write_with_imm -n 65 -s 24 -I 24 -Q 5
}

# bats test_tags=core
@test "ibv_wr_*: UC and UD, several QPs and threads, both ways, by a schedule" {
	verified ibv_wr write_bw --post-api wr -c UC -n 200 -s 2048
	verified ibv_wr send_bw --post-api wr -c UD -n 64 -s 1024 -I 0
	verified ibv_wr send_bw --post-api wr -c UD -n 64 -s 16 -I 16
	verified ibv_wr send_bw --post-api wr -q 3 --threads 2 -n 100 -s 512
	verified ibv_wr send_bw --post-api wr -b -q 2 -n 100 -s 512
	verified ibv_wr write_bw --post-api wr --rate_limit 2000p -n 100 -s 512
	pair write_bw --post-api wr -e -n 100 -s 512
}

@test "send: never by the others" {
	verified ibv_post_send write_bw --post-api send -n 300 -s 64 -v
}

# bats test_tags=rxe
@test "auto: ibv_wr_* where the device has it, but not on soft-RoCE" {
	local calls=ibv_wr
	[[ ${RDMARK_PRELOAD-} ]] || calls=ibv_post_send
	pair write_bw -n 300 -s 64 --json
	json client.out '.effective.calls == $calls' --arg calls "$calls"
	pair write_bw -n 320 -s 64 -l 32 --json
	json client.out '.effective.calls == "ibv_post_send"'
	pair write_lat -n 30 --json
	json client.out '.effective | has("calls") | not'
}

@test "--reversed: the server posts, and says by which calls" {
	server send_bw --json=server.json
	client send_bw --reversed --post-api wr -n 300 -s 64
	finish server
	ended client 0
	ended server 0
	json server.json '.effective.calls == "ibv_wr"'
}
