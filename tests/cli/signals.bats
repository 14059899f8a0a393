#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# bats file_tags=standin,san
# shellcheck disable=SC2034,SC2154 # what lib/rdmark.bash sets and reads
#
# Signals where a completion does not come.

load ../lib/rdmark

# bats test_tags=core
@test "SIGINT waits for what is under way, a second one does not" {
	server send_bw --timeout 60
	proxy
	through=(env SIMVERBS_FAULT=delay:2000:3600000)
	start_client send_bw --timeout 60 -D 60 -s 64 --json=c.json
	through=()
	await 'client done' 'client round' 'client alive'
	kill -INT "${pid[client]}"
	await 'client alive' 'client alive' # still there; and two that come together count as one
	kill -INT "${pid[client]}"
	finish client server
	within client 45 # --timeout is longer
	ended client 130
	ended server 0
	json c.json '.status == "interrupted" and .results[0].interrupted and .results[0].messages > 1000'
}

@test "the first process of a container ends with 128+N, too" {
	unshare --pid --fork true 2>/dev/null || skip 'no PID namespace can be made here'
	local signal
	for signal in INT TERM; do
		through=(unshare --pid --fork --)
		start_heard server send_bw -p 0 --ready-fd 1
		through=()
		kill -"$signal" "$(pgrep -P "${pid[server]}")"
		finish server
		ended server $((128 + $(kill -l $signal)))
		says server.err "interrupted by SIG$signal"
	done
}
