#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# bats file_tags=standin,long
#
# What a start may cost, as tests/bench/start counts it: nothing here depends on how busy the machine is.

load ../lib/rdmark

setup_file() {
	[[ ! ${RDMARK_SANITIZED-} ]] || { skip_file 'sanitizers count, too'; return; }
	type -P valgrind python3 >/dev/null || skip_file 'no valgrind, or no python3'
}

# within_budget FILE: its samples are within the limits of tests/bench/budget; says which are not.
within_budget() {
	awk 'NR == FNR { if (!/^#/) limit["start." $1] = $2; next }
		{ seen++; if (!($1 in limit) || $4 > limit[$1]) { over++; print $1 ": " $4 ", at most " limit[$1] } }
		END { exit over || !seen }' "$lib/../bench/budget" "$1"
}

@test "a start is within its budget of instructions, system calls and pages, and 10 % more of any is not" {
	local tests=${RDMARK_PRELOAD%/*} row rows
	: >facts
	"$lib/../bench/start" "$RDMARK_BIN" "$tests" "$PWD" 2>err 3>&- || { cat err; false; }
	cat samples
	within_budget samples
	rows=$(grep -vc '^#' "$lib/../bench/budget")
	(($(wc -l <samples) == rows))
	for ((row = 1; row <= rows; row++)); do
		awk -v row=$row 'NR == row { $4 *= 1.1 } { print }' samples >dearer
		run within_budget dearer
		((status == 1 && ${#lines[@]} == 1)) || fail "10 % more is within the budget: $(sed -n ${row}p dearer)"
	done
}
