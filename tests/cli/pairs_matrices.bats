#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck disable=SC2154 # what lib/pairs.bash sets
#
# rdmark-pairs judge: recorded matrices of GPUs, as their owners published them. Rows send.

load ../lib/pairs

setup() { enter_folder; }

# lines FILE: a run that measured this matrix.
lines() {
	awk '!/^#/ {
		row++
		for (i = 1; i <= NF; i++)
			if ($i != "-")
				printf "{\"kind\":\"pair\",\"run\":\"1\",\"round\":%d,\"from\":\"g%d\",\"to\":\"g%d\",\"client\":\"g%d\"," \
					"\"alone\":false,\"status\":\"measured\",\"value\":%s}\n", (row + i) % NF, row - 1, i - 1, row - 1, $i
	}' "$1"
}

@test "matrices whose owners found no bad GPU: nobody is named" {
	local file said
	for file in "$BATS_TEST_DIRNAME"/matrices/*.txt; do
		lines "$file" >recorded
		said=$("$bin/rdmark-pairs" judge --json --suspects drained recorded) || { echo "$file: $? $said"; return 1; }
		[[ $(jq -c '[.exit_status, .suspects]' <<<"$said") == '[0,[]]' && ! -s drained ]] || { echo "$file: $said"; return 1; }
	done
}

@test "one of these GPUs at 92 % is named, and alone" {
	local said
	awk '/^#/ { print; next } { row++; for (i = 1; i <= NF; i++) printf "%s%s", $i != "-" && row == 3 ? $i * .92 : $i, i < NF ? " " : "\n" }' \
		"$BATS_TEST_DIRNAME/matrices/nccl-1264-disabled.txt" >slow
	lines slow >recorded
	said=$("$bin/rdmark-pairs" judge --json recorded) || true
	jq -e '.exit_status == 6 and (.suspects | map([.kind, .name, .direction])) == [["node_slow", "g2", "sending"]]' <<<"$said" ||
		{ echo "$said"; return 1; }
}
