#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck disable=SC2016,SC2034,SC2154 # $ of jq; what lib/rdmark.bash reads and sets
#
# tests/bench/model: that it is sane, and once whether what it predicts is what is measured.

load ../lib/rdmark

model() {
	command -v python3 >/dev/null || skip 'python3 is not here (make deps)'
	"$root/tests/bench/model" "$@"
}

# predicted FILTER ARG…: jq's answer to FILTER is true of the document that ARGs give.
predicted() {
	model --json "${@:2}" >model.json
	json model.json "$1"
}

@test "model: a table, with the source of every figure" {
	model --program-ns 4 >model.out
	says model.out '-l 1 ' '-l 32' '1600 Gb/s' ' 65536 ' openucx/ucx docs.nvidia.com arXiv 'RoCE v2' 'Depth of the send queue'
	says_no model.out assumption nan inf None
	model --program-ns 4 --api wr >model.out
	says model.out 'assumption: nothing is published' '(40 to 75)'
	predicted 'all(.costs[]; .source != "" and .low_ns <= .ns and .ns <= .high_ns) and .nic_source != ""' --program-ns 4
}

@test "model: it adds up" {
	local all=(--program-ns 4 --post-ns 70 --doorbell-ns 32 --completion-ns 50 --moderation 25)
	predicted '[.core[].ns] == [108, 77] and .core[0].messages_per_s == 1e9 / 108' "${all[@]}"
	# 4096 B are one packet, one byte more are two.
	predicted '[.sizes[].wire_bytes] == [4096 + 82 + 16, 4097 + 2 * 82 + 16]' "${all[@]}" --sizes 4096,4097
	predicted '[.sizes[].wire_bytes] == [4096 + 4 * 26 + 16]' "${all[@]}" --sizes 4096 --link ib --mtu 1024
	# 4 B have 106 on the wire: 200 Gb/s are 245 M/s, which is more than the NIC does, or less.
	predicted '.sizes[0].links[0] | .nic_limits and .messages_per_s == 215e6 and .cores == [24, 17]' \
		"${all[@]}" --sizes 4 --gbps 200
	predicted '.sizes[0].links[0] | (.nic_limits | not) and (.messages_per_s - 200e9 / 8 / 102 | fabs) < 1' \
		"${all[@]}" --sizes 4 --gbps 200 --nic-mmps 330
	# 2 us and 10 M/s: 20 are under way, and one at the NIC.
	predicted '.depths == [{"messages_per_s": 1e7, "latency_us": 2, "depth": 21}]
		and (.carried[0].messages_per_s - 21 / (2e-6 + 1 / 10e6) | fabs) < 1' \
		--program-ns 1 --rates 10 --latency-us 2 --depth 21 --nic-mmps 10
}

@test "model: more is never less" {
	model --program-ns 4 --json >model.json
	json model.json 'def rises: . as $a | all(range(1; length); $a[.] >= $a[. - 1]);
		([.core[].messages_per_s] | rises) and ([.sizes[].wire_bytes] | rises)
		and ([.sizes | reverse[].links[0].messages_per_s] | rises) and ([.sizes | reverse[].links[4].cores[0]] | rises)
		and all(.sizes[]; ([.links[].messages_per_s] | rises) and ([.links[].cores[0]] | rises)
			and all(.links[]; .cores[0] >= .cores[1] and .cores[1] >= 1))
		and (.depths | group_by(.latency_us) | all(map(.depth) | rises))
		and (.depths | group_by(.messages_per_s) | all(map(.depth) | rises))
		and ([.carried | reverse[].messages_per_s] | rises)'
}

@test "model: the program's cost as make bench left it" {
	cat >bench.json <<-'END'
		{"native": {"measurements": [
		  {"name": "ns.write_bw.one", "tools": {"perftest": {"median": 13}, "rdmark": {"median": 5}}},
		  {"name": "ir.write_bw.one", "tools": {"rdmark_send": {"median": 36}, "rdmark_wr": {"median": 60}}},
		  {"name": "ir_all.write_bw.one", "tools": {"rdmark_send": {"median": 60}, "rdmark_wr": {"median": 120}}}]}}
	END
	predicted '.costs[0] | .ns == 3 and (.source | test("bench.json"))' --bench bench.json
	predicted '.costs[0].ns == 2.5' --bench bench.json --api wr
	predicted '.costs[0].ns == 7' --bench bench.json --program-ns 7
	predicted '.costs[0].ns == 4' --program-instructions 36
	predicted '.costs[0].ns == 12' --program-instructions 36 --instructions-per-ns 3
}

@test "model: what makes no sense is refused" {
	local bad code
	echo '{"native": {"measurements": []}}' >empty.json
	echo 'no document' >none.json
	for bad in --program-ns=-1 --program-ns=nan --program-ns=inf --program-ns=x --gbps=0 --gbps= --sizes=0 --sizes=8,x \
		--mtu=1500 --link=tcp --api=raw --list=0 --moderation=0 --nic-mmps=0 --latency-us=0 --rates=-1 --depth=0 \
		--instructions-per-ns=0 --unknown word --bench=empty.json --bench=none.json --bench=absent.json; do
		set -- --program-ns 4 "$bad"
		[[ $bad != --bench* ]] || shift 2
		code=0
		model "$@" >model.out 2>model.err || code=$?
		((code == 2)) || fail "$bad: status $code"
		silent model.out
		says model.err 'model: error: '
	done
}

# The page's table and the figures in its text, with what it says of rdmark's own part.
@test "model: rdmark-scale(7) has its figures" {
	local page=$root/man/rdmark-scale.7.in rows
	sed -n 's/^\.It \([0-9]*\) Ta \(.*\/.*\)$/\1 Ta \2/p' "$page" | sed 's/ Ta /\t/g' >page.rows
	rows=$(cut -f 1 page.rows | paste -sd ,)
	model --json --program-ns 3 --sizes "$rows" >model.json
	jq -r '.sizes[] | [.message_bytes, (.links[].cores | map(tostring) | join("/"))] | @tsv' model.json >model.rows
	(($(wc -l <page.rows) >= 5))
	diff page.rows model.rows
	tr '\n' ' ' <"$page" >page.out
	says page.out "$(jq -r '"That is \(.core[0].messages_per_s / 1e5 | round / 10) million messages per second from one core, or \(
		.core[1].messages_per_s / 1e5 | round / 10) million with .Fl l Ar 32"' model.json)" \
		"$(jq -r '"\(.sizes[0].links[-1].cores[0]) cores keep a NIC of \(.nic_messages_per_s / 1e6) million messages"' model.json)" \
		"$(jq -r '[.carried[1, 2, 4].messages_per_s / 1e6] | "The default of 192 for small messages carries \(
			.[0] | round) million per second at 2 us, \(.[1] | round) million at 5 us and \(
			.[2] * 10 | round / 10) million at 20 us"' model.json)"
	local place i=0
	for place in 'in rdmark' 'in the provider' 'for a doorbell' 'for a completion'; do
		says page.out ".It $(jq ".costs[$i].ns + 0" model.json) ns Ta $place"
		((i += 1))
	done
}

# instructions N: sets count to what the client takes for N messages of 8 B on the null stand-in.
instructions() {
	through=()
	server write_bw
	through=("$(command -v valgrind)" -q --tool=callgrind --callgrind-out-file="$PWD/profile")
	client write_bw -s 8 -n "$1"
	finish server
	ended client 0
	count=$(sed -n 's/^totals: //p' profile)
}

# The provider is the stand-in, as its README has it: 17 instructions a request, a completion 55 (30, and
# 25 more for a request that has one). Of CPU time, which others on the machine do not lengthen. Six times
# off is more than a slow machine is and less than a wrong unit makes.
@test "model: the stand-in's rate is what it predicts" {
	local count few rate best=0 i
	export RDMARK_PRELOAD=${RDMARK_BIN%/*}/tests/libsimverbs.so SIMVERBS_NULL=1 SIMVERBS_DIR=$PWD/fabric
	[[ -e $RDMARK_PRELOAD ]] || skip 'the stand-in is not built (make sim)'
	command -v valgrind >/dev/null || skip 'valgrind is not here (make deps)'
	instructions 10000
	few=$count
	instructions 30000
	through=()
	for i in 1 2 3 4 5; do
		pair write_bw -s 8 -n 2000000 --cpu_util --json
		rate=$(jq '.results[0] | .by_end.client // . | .messages / (.cpu_user_s + .cpu_system_s) | floor' client.out)
		((best = rate > best ? rate : best))
	done
	predicted ".core[0].messages_per_s as \$p | \$p / $best | . < 6 and . > 1 / 6" --list 1 --doorbell-ns 0 \
		--post-ns "$(jq -n '17 / 9')" --completion-ns "$(jq -n '55 / 9')" \
		--program-instructions "$(jq -n "($count - $few) / 20000 - 17 - 55 / 100")"
}
