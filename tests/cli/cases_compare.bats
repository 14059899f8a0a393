#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# bats file_tags=standin,san
# shellcheck disable=SC2016,SC2154 # $ of jq; what lib/rdmark.bash sets and reads
#
# Two runs compared: what is the same, what is worse, and what cannot be told. The numbers in the names are
# those of the cases from public reports.

load ../lib/rdmark

setup_file() { need_device; }

# compared STATUS [OPTION...]: rdmark compare --json a b ends with it; into said.json.
compared() {
	start compare rdmark compare --json "${@:2}" a b
	finish compare
	ended compare "$1"
	cp compare.out said.json
}

# scaled BY FILE...: its bandwidths times BY, where SELECT (a filter of results; all) is true.
scaled() {
	jq --argjson by "$1" ".results |= map(if ${SELECT:-true} then .bandwidth_gbps *= \$by else . end)" "$2"
}

# Certain to 0.5 %, for the stand-in's are what the machine's other programs leave.
calm() {
	jq '.results |= map(.plus_minus_percent = 0.5 | .quality.disturbed = false)'
}

@test "18: two runs of the same thing are no regression" {
	pair send_lat -n 1000 --json=a.json
	pair send_lat -n 1000 --json=b.json
	start compare rdmark compare --json --within 2 a.json b.json
	finish compare
	((${status[compare]} == 0 || ${status[compare]} == 77)) || fail "${status[compare]}: $(<compare.out)"
	cp compare.out said.json
	json said.json '.regressions == 0 and (.changes | length) >= 3 and all(.changes[]; .answer != "worse")'
}

# On real verbs: what a message takes between the stand-ins is what the machine's other programs leave of a CPU's
# caches, and that changes while twenty runs go by.
# bats test_tags=rxe
@test "41: of 20 runs of the same thing none is a regression against another" {
	[[ -d /run/softroce && ! ${RDMARK_PRELOAD-} ]] || skip 'only in a machine of tests/softroce'
	local run key sorted before after is
	for ((run = 1; run <= 20; run++)); do
		pair send_lat -n 1000 --json=$run.json
	done
	start itself rdmark compare --within 2 1.json 1.json
	finish itself
	ended_with_any itself 0 77
	# What differs most: the fastest with the slowest by each figure, in both orders.
	for key in latency_p50_us latency_p99_us latency_mean_us; do
		mapfile -t sorted < <(jq -r ".results[0].$key, input_filename" {1..20}.json | paste - - | sort -n | cut -f 2)
		((${#sorted[@]} == 20)) && [[ ${sorted[0]} != null* ]]
		for before in "${sorted[@]:0:4}"; do
			for after in "${sorted[@]:16}"; do
				for after in "$before $after" "$after $before"; do
					is=0
					# shellcheck disable=SC2086 # two files
					"$RDMARK_BIN/rdmark" compare --within 2 $after >said 2>&1 || is=$?
					((is == 77)) || fail "$after: $is: $(<said)"
				done
			done
		done
	done
}

# bats test_tags=core
@test "19: of a sweep, the row that is lower is the regression" {
	pair write_bw -n 200 -t 1,128 --json=run.json
	calm <run.json >a
	SELECT='.varied.tx_depth == 1' scaled 0.72 a >b
	compared 6 --within 5
	json said.json '[.changes[] | [.varied.tx_depth, .answer, .before.runs]] == [[1, "worse", 1], [128, "same", 1]]'
	compared 0
	json said.json '[.changes[].answer] == ["worse", "same"]'
}

@test "20: a lower rate in much noise cannot be told, and a gate says so" {
	pair send_bw -n 200 --json=run.json
	calm <run.json >a
	scaled 0.55 a | jq '.results[].plus_minus_percent = 192' >b
	compared 77 --within 5
	says compare.err 'cannot tell' 'measure both again with --reconnect 5.'
	json said.json '.changes[0] | .answer == "cannot_tell" and .change_percent < -44'
	compared 0
	says compare.err 'cannot tell' 'measure both again'
	scaled 0.55 a >b # in little noise it is
	compared 6 --within 5
}

@test "-b: each direction is compared, and named" {
	pair write_bw -b -n 50 --json=c.json
	start compare rdmark compare c.json c.json
	finish compare
	[[ $(grep -c '^write_bw client_to_server  *64 KiB' compare.out) == 1 ]]
	[[ $(grep -c '^write_bw server_to_client  *64 KiB' compare.out) == 1 ]]
}

# bats test_tags=core
@test "different experiments are not compared, and how they differ is told" {
	pair write_bw -n 50 -t 16 --json=run.json
	calm <run.json >a
	jq '.experiment.tx_depth = 64' a >b
	compared 2
	says compare.err 'a and b have nothing in common. The experiments differ in tx_depth: 16 before, 64 after. Fix: '
	json said.json '.changes == []'
	compared 2 --anyway
	says compare.err "'--anyway' is not an option of rdmark compare" 'measure both options in one run'
	for change in '.effective.mtu_bytes = 1024' '.experiment.threads = 2' '.ends.client.transport = "iWARP"' \
		'.ends.server.device = "mlx5_0"' '.ends.server.memory = "GPU 0"' '.experiment.qp_timeout = 18'; do
		jq "$change" a >b
		compared 2
	done
	# what threads shared, not what was asked for; that of a document from before --share is not known
	jq '.effective.share = "none"' a >b
	compared 2
	says compare.err 'The experiments differ in share: none before, "none" after.'
	jq '.experiment.share = "context"' a >b
	compared 0
	jq 'del(.experiment.share)' a >b
	compared 0
	# another test, or a side without a row, differs in no option
	for change in '.test = "read_bw"' '.results = []' '.results[0].message_bytes = 7'; do
		jq "$change | .experiment.tx_depth = 64" a >b
		compared 2
		says compare.err 'have nothing in common. Fix: '
	done
	# nor do rows of other sizes
	jq '.results[0] as $one | .results = [$one + {message_bytes: 7, bytes: 7}, $one] | .experiment.threads = 2' a >b
	compared 2
	says compare.err 'The experiments differ in threads: 1 before, 2 after. Fix: '
	# How long it was measured, and on which of equal devices, makes no other experiment.
	for change in '.experiment.iters = 5000' '.experiment.duration_s = 3' '.ends.server.device = "sim1"' '.ends.server.firmware = "9"'; do
		jq "$change" a >b
		compared 0
	done
}

@test "a disturbed row is marked" {
	pair write_bw -n 50 --json=run.json
	calm <run.json >a
	jq '.results[0].quality.disturbed = true' a >b
	compared 0
	json said.json '.changes[0].disturbed'
	start table rdmark compare a b
	finish table
	grep -Eq 'write_bw .* !$' table.out || fail "$(<table.out)"
	cp a b
	compared 0
	json said.json '.changes[0].disturbed == false'
}

@test "--reconnect N: everything N times over new QPs, at both ends, and compare takes each for a connection" {
	server write_bw --json=s.json
	client write_bw -n 50 -q 2 -s 1k,4k --reconnect 5 -v --json=a.json
	finish server
	ended client 0
	ended server 0
	for file in a.json s.json; do
		json $file '[.results[] | [.varied.reconnect, .message_bytes]]
			== [range(1; 6) as $c | [$c, 1024], [$c, 4096]] and .experiment.reconnect == 5'
	done
	cp a.json a
	jq '.results[].seconds *= 2' a >b
	compared 0
	json said.json '[.changes[] | [.message_bytes, .connections, .before.runs]] == [[1024, [5, 5], 5], [4096, [5, 5], 5]]'
}

# bats test_tags=core
@test "--reconnect makes QPs for each connection: it is the third one that fails where the third QP cannot be made" {
	local third=SIMVERBS_FAIL=ibv_create_qp_ex:3+:ENOMEM,ibv_create_qp:3+:ENOMEM
	server send_lat
	through=(env "$third")
	client send_lat -n 20 -I 0 --repeat 3 --json=a.json
	ended client 0
	finish server
	through=()
	server send_lat
	through=(env "$third")
	client send_lat -n 20 -I 0 --reconnect 3 --json=a.json
	through=()
	ended client 1
	says client.err 'creating the QPs' '--reconnect 3'
	json a.json '[.results[].varied.reconnect] == [1, 2]'
	finish server
}

@test "--reconnect goes with --repeat: runs share a connection" {
	pair send_lat -n 20 --repeat 3 --reconnect 2 --json=a.json
	json a.json '[.results[] | [.varied.reconnect, .run]] == [[1,1],[1,2],[1,3],[2,1],[2,2],[2,3]] and (.summaries | length) == 2'
	cp a.json a
	jq '.results[].seconds *= 2' a >b
	compared 0
	json said.json 'all(.changes[]; .connections == [2, 2] and .before.runs == 6)'
}
