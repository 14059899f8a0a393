#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck disable=SC2016 # $ of jq
#
# The JSON Schema: it takes documents of every kind, and nothing else. That every document of every
# test fits is checked as they are written (lib/rdmark.bash, tests/check).

# Those of documents/, with what a run of today has in its experiment besides: a new option is no edit of each.
setup_file() {
	local file test bin=${RDMARK_BIN:-$BATS_TEST_DIRNAME/../../build/bin}
	for file in "$BATS_TEST_DIRNAME"/documents/*.json; do
		test=$(jq -r '.test // empty' "$file" | head -n 1)
		"$bin/${test:-send_lat}" --json -p 1 --connect-timeout 0 --quiet localhost 2>/dev/null |
			jq -c --slurpfile of "$file" '.experiment as $now | $of[] | (.experiment | objects) |= $now + .' \
				>"$BATS_FILE_TMPDIR/${file##*/}"
	done
}

setup() {
	top=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
	documents=$BATS_FILE_TMPDIR
	cd "$BATS_TEST_TMPDIR" || return
}

# schema FILE…: status and lines are tests/lib/schema's; skips where it cannot run.
schema() {
	run "$top/tests/lib/schema" "$@"
	((status != 77)) || skip "${lines[0]}"
}

@test "documents of every status and kind fit" {
	schema "$documents"/*.json
	((status == 0)) || { printf '%s\n' "${lines[@]}"; return 1; }
	[[ $(cat "$documents"/*.json | jq -rs 'map(.status // empty) | unique | join(" ")') == \
		'below_threshold cannot_tell failed interrupted ok unavailable' ]]
}

# but NUMBER NAME EDIT: document NAME after jq's EDIT is refused.
but() {
	jq -c "$3" "$documents/$2.json" >"$1.json" || return
	! diff -q <(jq -c . "$documents/$2.json") "$1.json" >/dev/null || { echo "no change: $3"; return 1; }
}

@test "what no program writes does not fit" {
	local count=0 name edit n
	while read -r name edit; do
		[[ $name ]] || continue
		((count += 1))
		but "$count" "$name" "$edit"
	done <<-'END'
		sweep del(.schema_version)
		sweep .schema_version = 2
		sweep .colour = "blue"
		sweep .role = "peer"
		sweep .test = "iperf"
		sweep .started_utc = "yesterday"
		sweep del(.finished_utc)
		sweep .finished_utc = 1795000000
		sweep .status = "done"
		sweep .status = "failed"
		failed .status = "ok"
		failed .error.code = "local"
		failed .error.exit_status = 0
		failed del(.error.message)
		unavailable .status = "failed"
		unavailable .status = "cannot_tell"
		cannot_tell .status = "unavailable"
		interrupted .error = {}
		sweep del(.experiment.qp)
		sweep .experiment.qp = 0
		sweep .experiment.qp = "1"
		sweep .experiment.mtu_bytes = 1500
		sweep .experiment.windows = 7
		gdr del(.experiment.windows)
		sweep .effective.mtu = .effective.mtu_bytes
		sweep del(.effective.cq_mod)
		sweep del(.ends.client)
		sweep del(.ends.client.gid)
		sweep .ends.client.rate_gbps = "100 Gb/s"
		sweep .ends.client.rate_mbps = 100000
		sweep .ends.client.port = 0
		sweep del(.ends.client.kernel)
		sweep .ends.client.rdma_core = "new"
		sweep .ends.server.argv = "write_bw -a"
		sweep .ends.server.argv = [1]
		sweep .results[0] |= del(.message_bytes)
		sweep .results[0].bandwidth_gbps = -1
		sweep .results[0].bandwidth_gbps = 0
		sweep .results[0].bandwidth_mibps = 1
		sweep .results[0].latency_p50_us = 1
		sweep .results[0].messages = 1.5
		sweep .results[0] |= (.timed_messages = .messages + 1)
		sweep .verdict = null
		sweep .experiment.verify = 1
		verified .results[0].verification = true
		verified del(.results[0].verification.lost)
		verified .results[0].verification.errors = 0
		verified del(.results[0].verification.first_error)
		verified .results[0].verification.first_error.byte = -1
		verified .results[0].verification.first_error.is = 256
		histogram .results[0].bandwidth_gbps = 1
		histogram .results[0].latency_p95_us = 1
		histogram .results[0].latency_histogram_us[0] |= .[:2]
		histogram .results[0].latency_histogram_us[0][2] = 0
		interrupted .results[0].interrupted = 1
		sweep .results[0] |= del(.interrupted)
		sweep .results[0].thread = 0
		sweep .results[0].device = "sim0"
		sweep .results[0].by_end = {}
		sweep .results[0].by_thread = [.results[0]]
		sweep .results[0].by_device = []
		sweep .schema_version = 1
		persistent .results[0].by_end |= del(.server)
		persistent .results[0].by_end.server.measured_by = "both"
		persistent .results[0].by_end.server.by_thread = []
		persistent .results[0].by_end.server.colour = "blue"
		gdr .results[0].cell = "loop"
		gdr .results[0].route = "copy/host"
		gdr .results[0] |= del(.seconds)
		gdr .results[0].latency_p50_us = 1
		gdr .verdict.level = "GOOD"
		gdr .verdict.cause = "magic"
		gdr del(.gpu_ends.server)
		gdr .gpu_ends.client.path.class = "NEAR"
		gdr .gpu_ends.client.path.nic_link.width = -1
		interval if .interval then .interval.bandwidth_gbps = 1 else . end
		interval if .interval then .interval.seconds = 1 else . end
		histogram .results[0].snapshot = {}
		histogram .results[0].snapshot.switch = .results[0].snapshot.server
		histogram .results[0].snapshot.server = []
		histogram .results[0].snapshot.server = .results[0].snapshot.server[0]
		histogram .results[0].snapshot.server[0] |= del(.unknown)
		histogram .results[0].snapshot.client[0].changed.hops = {change: 1}
		histogram .results[0].snapshot.client[0].changed.crc.change = -1
		histogram .results[0].snapshot.client[0].changed.crc.caveat = "reset"
		histogram .results[0].snapshot.client[0].changed.crc.before = 1
		histogram .results[0].snapshot.client[0].unchanged[0] = "hops"
		histogram .results[0].snapshot.client[0].unknown.exact = ["crc"]
		histogram .results[0].snapshot.client[0].unknown.reset = []
		histogram .schema_version = 1
		sweep .points = []
		sweep .points = [{varied: {qp: 1}}]
		sweep .points = [{varied: {}, effective}]
		sweep .points = [{varied: {qp: 1}, effective, results: []}]
		interval if .interval then .interval.varied = {} else . end
		interval if .interval then .interval.partial = 0.1 else . end
		interval if .interval then .interval |= del(.partial) else . end
		interval if .interval then .status = "ok" else . end
	END
	schema [0-9]*.json
	((status == 1 && count > 50))
	for ((n = 1; n <= count; n++)); do
		[[ $'\n'$output == *$'\n'"$n.json: "* ]] || { echo "this fits: $(<"$n.json")"; return 1; }
	done
}

@test "what is no JSON, and nothing at all, do not fit" {
	echo '{"schema_version": 1' >half.json
	schema half.json
	((status == 1))
	: >empty.json
	schema empty.json
	((status == 1))
	schema none.json
	((status == 1))
}

@test "a document that does not fit makes its test file fail" {
	[[ ! ${RDMARK_DOCUMENTS-} ]] || unset RDMARK_DOCUMENTS
	schema "$documents/sweep.json"
	# "@" apart, or bats would take it for a test of this file
	printf '%s\n' "load '$top/tests/lib/rdmark'" "@"'test "writes it" {' \
		"jq '.colour = \"blue\"' '$documents/sweep.json' >c.json; json c.json true; }" >bad.bats
	run bats --tap bad.bats
	((status != 0))
	[[ $output == *"colour"* && $output == *"not ok"* ]] || { echo "$output"; return 1; }
	sed 's/colour = "blue"/test = "send_bw"/' bad.bats >good.bats
	run bats --tap good.bats
	((status == 0)) || { echo "$output"; return 1; }
	[[ $output == *'1 different documents, 0 do not fit'* ]]
}

@test "without a python3 it cannot be said whether documents fit, which is no failure" {
	run env PATH="$PWD" /bin/sh "$top/tests/lib/schema" "$documents/sweep.json"
	[[ $status == 77 && $output == *'python3 is not here'* ]]
}
