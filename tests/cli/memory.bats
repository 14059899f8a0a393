#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# bats file_tags=standin,long
# shellcheck disable=SC2034,SC2154 # what lib/rdmark.bash sets and reads
#
# Here and not in a slow machine: 300000 round trips.

load ../lib/rdmark

@test "write_lat's memory does not grow with the iterations" {
	local count peak=()
	not_sanitized "ASan keeps what was freed"
	deadline=150
	for count in 1000 300000; do
		server write_lat --timeout 60
		proxy client:done:2
		start_client write_lat --timeout 60 -n $count
		await held # the client lives, and has done all but to take its leave
		peak+=("$(awk '/^VmHWM:/ { print $2 }' "/proc/${pid[client]}/status")")
		kill -KILL "${pid[client]}" "${pid[server]}"
		finish client server proxy
	done
	((peak[1] - peak[0] <= 1024)) || fail "VmHWM in KiB: ${peak[*]}"
	((peak[0] > 100)) || fail "VmHWM in KiB: ${peak[*]}: is this the program?"
}
