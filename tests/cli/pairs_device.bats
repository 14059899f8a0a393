#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# bats file_tags=standin,rxe,san,core
# shellcheck disable=SC2154 # what lib/rdmark.bash sets
#
# rdmark-pairs over whatever device there is: three nodes that are this host, all pairs, and the verdict.
# What goes wrong in a run, and how it is judged, is in tests/cli/pairs_lost.bats and tests/cli/pairs_judge.bats.

load ../lib/rdmark

setup_file() { need_device; }

@test "rdmark-pairs: run on three nodes; judge reads the lines" {
	local i slot=8 first=$((12000 + RANDOM % 1000 * 20)) begin=$((EPOCHSECONDS + 4))
	for ((i = 0; i < 3; i++)); do echo "p$i $host:$((first + i))"; done >hosts
	[[ ! ${RDMARK_PRELOAD-} || ${RDMARK_SANITIZED-} ]] || slot=4 # programs of an emulated machine, and those, start slowly
	for ((i = 0; i < 3; i++)); do
		start "p$i" rdmark-pairs run --hosts hosts --self "p$i" --start "$begin" --schedule full --slot $slot --auth=none \
			-- write_bw -n 50
	done
	finish p0 p1 p2
	for i in p0 p1 p2; do ended $i 0; done
	cat p?.out >lines
	jq -es 'map(select(.kind == "pair" and .status == "measured" and .value > 0) | [.from, .to] | sort) | unique | length == 3' \
		lines >/dev/null || fail "not all pairs: $(<lines)"
	start judge rdmark-pairs judge lines
	finish judge
	ended_with_any judge 0 6 77 # three nodes on one host are as equal as its scheduler lets them be, and may lack its CPU
	says judge.out '3 nodes: ' ' 0 lost' ' runs measured'
}
