#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# bats file_tags=standin,long
# shellcheck disable=SC2154 # what lib/rdmark.bash sets
#
# What many sessions of all kinds leave behind in a server: nothing. 10,000 by hand: tests/bench/sessions

load ../lib/rdmark

setup_file() { need_device; }

@test "300 sessions, of all kinds of ends: memory, descriptors and threads are what they were" {
	not_sanitized 'ASan keeps what is freed'
	run timeout 300 "$root/tests/bench/sessions" 300
	echo "$output"
	[[ $status == 0 && $output == *'0 failures' ]]
}
