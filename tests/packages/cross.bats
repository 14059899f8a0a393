#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# For arm64: everything compiles without a warning, and the unit tests pass under QEMU.

@test "arm64: builds, and its unit tests pass" {
	local code=0 output
	output=$("$BATS_TEST_DIRNAME/cross" </dev/null 2>&1 3>&-) || code=$?
	((code != 77)) || skip "$(tail -n 1 <<<"$output")"
	grep -E '^not ok|FAILED|rror' <<<"$output" || :
	tail -n 3 <<<"$output"
	((code == 0))
}
