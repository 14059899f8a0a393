#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck disable=SC2034,SC2154 # what lib/rdmark.bash sets and reads
#
# Both ends under valgrind, on the stand-in for libibverbs.

load ../lib/rdmark

@test "valgrind: no leak, no uninitialised read, both sides" {
	local program
	command -v valgrind >/dev/null || skip 'valgrind is not here (make deps)'
	deadline=120
	through=("$(command -v valgrind)" -q --leak-check=full --error-exitcode=99)
	for program in "${programs[@]}"; do
		pair "$program" -n 20 -s 64 --timeout 60
		says_no client.err 'definitely lost' uninitialised '== Invalid'
		says_no server.err 'definitely lost' uninitialised '== Invalid'
	done
}
