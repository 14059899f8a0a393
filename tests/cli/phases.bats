#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The phases that faults name, and their stages (common/base/stage.c), by which other programs tell
# whose failure it is.

load ../lib/rdmark

# The phases that the sources under FOLDER… give to fault_phase() or have as PHASE or PHASE_….
phases() {
	find "$@" -name '*.[ch]' -exec cat {} + | tr '\n' ' ' |
		grep -oE '(fault_phase|measure_unfinished)\([^;{]*;|define PHASE[A-Z_]* +"[^"]*"' |
		grep -o '"[^"]*"' | sort -u
}

# Those of the table in the source C, whose header names one that others ask for.
listed() {
	local name
	sed -n '/^} phases/,/^};/s/.*{\(["P][^,]*\), STAGE.*/\1/p' "$1" | while read -r name; do
		[[ $name == \"* ]] || name=$(sed -n "s/^#define $name \(\"[^\"]*\"\).*/\1/p" "${1%c}h")
		echo "$name"
	done | sort -u
}

@test "every phase of a program that measures has a stage, and every phase with a stage is one" {
	local here=$root
	diff <(phases "$here"/common "$here"/gdr_bw) <(listed "$here/common/base/stage.c")
}

@test "a phase without a stage is found" {
	mkdir a
	printf '\tfault_phase(f, rc ? "doing this" : "doing that");\n' >a/b.c
	[[ $(phases a) == $'"doing that"\n"doing this"' ]]
}
