#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# bats file_tags=standin,san
# shellcheck disable=SC2016,SC2030,SC2031,SC2034,SC2154 # $ of jq; what lib/rdmark.bash sets and reads
#
# --flow_label with several labels: which QP has which at both ends, and what is said of it.

load ../lib/rdmark

setup_file() {
	need_device
	[[ ! ${SKIP_FILE-} ]] || return 0
	cc -O1 -D_GNU_SOURCE -shared -fPIC -o "$BATS_FILE_TMPDIR/labels.so" "${BATS_TEST_DIRNAME}/../lib/labels.c" -ldl
}

order=(cat)

# labelled LABELS PROGRAM ARG…: the paths of both ends have these labels, in this order (of several threads: sorted).
labelled() {
	local end
	rm -f ./*.labels
	through=(env LABELS_FILE="$PWD/server.labels" bash -c 'export LD_PRELOAD=$0:$LD_PRELOAD; exec "$@"' "$BATS_FILE_TMPDIR/labels.so")
	server "$2" --json=s.json
	through[1]=LABELS_FILE=$PWD/client.labels
	client "${@:2}" -n 20 -s 64 --json=c.json
	through=()
	finish server
	ended client 0
	ended server 0
	for end in client server; do
		[[ $(grep -E "^${paths-QP} " $end.labels | cut -d ' ' -f 2 | "${order[@]}" | xargs) == "$1" ]] || fail "$end: $(<$end.labels)"
	done
	[[ $(jq -S .results s.json) == "$(jq -S .results c.json)" && $(jq -S .experiment s.json) == "$(jq -S .experiment c.json)" ]] ||
		fail 'the two documents differ'
}

@test "one label is every QP's; the document is as ever" {
	labelled '7 7 7' write_bw -q 3 --flow_label 7
	json c.json '.experiment | .flow_label == 7 and (has("flow_labels") | not)'
	says_no client.err 'flow label'
	labelled '0 0' write_bw -q 2
}

@test "several are the QPs' in turn, over all threads" {
	labelled '1 2 3 1 2' write_bw -q 5 --flow_label 1,2,3
	says client.err 'flow labels 1, 2, 3, for the QPs in turn'
	json c.json '.experiment | .flow_label == 1 and .flow_labels == [1,2,3]'
	json c.json '.results | length == 1'
	labelled '16 32 48 64' read_bw -q 4 --flow_label 16:64:+16
	labelled '5 5' write_bw -q 2 --flow_label 1,2,3 --flow_label 5
	labelled '5 1048575' write_bw -b -q 2 --flow_label 5,0xfffff
}

# bats test_tags=core
@test "of threads: the QPs of all have the labels in turn" {
	order=(sort)
	labelled '1 2 3 4' write_bw --threads 4 --flow_label 1,2,3,4
	labelled '1 1 2 2 3 3' write_bw --threads 3 -q 2 --flow_label 1,2,3
}

@test "fewer QPs than labels: said; a latency test has one" {
	labelled '8 9' write_bw -q 2 --flow_label 8,9,10
	says client.err 'flow labels 8, 9: the first 2 of 3, one per QP (-q)'
	labelled 8 send_lat --flow_label 8,9,10
	says client.err 'flow label 8: the first 1 of 3, one per QP (-q)'
}

# bats test_tags=rxe
@test "UD: an address handle for each label, and no more than QPs" {
	paths=AH
	labelled '1 2 3' send_bw -c UD -q 5 --flow_label 1,2,3
	labelled '1 2' send_bw -c UD -q 2 --flow_label 1,2,3
	labelled 0 send_bw -c UD -q 2
}

# bats test_tags=core
@test "with a sweep of QPs: dealt anew for each" {
	labelled '1 2 1 2 3' write_bw -q 2,3 --flow_label 1,2,3
	json c.json '.results | length == 2'
}

@test "labels that are none, too many, or others than the server's" {
	local given bad
	while read -r given bad; do
		start client write_bw --flow_label "$given" "$host"
		finish client
		ended client 2
		says client.err "'$bad' for --flow_label" 'Fix: '
	done <<-'END'
		1, 1,
		1,1048576 1048576
		1:2 1:2
		x,1 x
		1:100:+1 1:100:+1
		, ,
	END
	server write_bw --flow_label 1,2
	client write_bw -n 5 --flow_label 1,3
	ended client 2
	says client.err 'the two ends differ in --flow_label: server 1,2, client 1,3'
	serves_next write_bw --flow_label 1,2
}

# bats test_tags=core
@test "a client's labels that are none are refused, and the next one is served" {
	listen_in write_bw
	jq -c '. as $m | ([], [1], [1, "x"], [1, -1], [1, 1048576], [1, [2]], {"0": 1}, [range(65)]) as $bad
		| $m | .experiment.flow_label = $bad' <<<"$hello" >bad.txt
	server write_bw --persistent
	start stranger "$lib/peer" each "$port" bad.txt
	finish stranger
	[[ $(grep -c '^error peer ' stranger.out) == 8 ]] || fail 'taken'
	says server.err "the client's experiment has an invalid flow_label"
	client write_bw -n 5 -q 2 --flow_label 1,2
	ended client 0
}
