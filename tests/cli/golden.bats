#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# bats file_tags=standin
# shellcheck disable=SC2016,SC2030,SC2031,SC2034,SC2154 # $ of jq; what lib/rdmark.bash sets and reads
#
# The words of each form, in whole: what is said of a few runs, ports and lines that are known to the digit (time is scripted)
# stands in golden_words/. Other tests ask for codes, statuses and fields. GOLDEN=write puts what is said now there: read the diff.

load ../lib/rdmark
load ../lib/pairs

setup_file() {
	export SIMVERBS_CPU=200
	need_scripted_time
}

# golden NAME FILE…: they are as in golden_words/NAME, but for ports, the name of this host and its findings, and figures
# of changes that --prove measures.
golden() {
	local file known=$BATS_TEST_DIRNAME/golden_words/$1.txt
	for file in "${@:2}"; do
		echo "--- $file"
		sed -E "s/(\[::\]|127\.0\.0\.1):[0-9]+/\1:PORT/g; s/\b(client|server) $(uname -n):/\1 HOST:/g; /^host: /d; s/[0-9]+ notes?\$/N notes/
			s/ \(other tasks preempted it [0-9]+ times?\)//g; s/QP 0x[0-9a-f]+/QP 0xN/; s/makes it [0-9.]+ ± [0-9.]+/makes it N ± N/; /^(nothing|-.* ±)/s/[0-9]+\.[0-9]+/N/g" "$file"
	done >said
	[[ ${GOLDEN-} != write ]] || cp said "$known"
	diff -u "$known" said >&2 || fail "other words than in golden_words/$1"
}

real='post=2 poll=500 completion=5 clock=10 latency=2000'

# scripted WORDS PROGRAM ARG…: a pair, the client by this script.
scripted() {
	SIMVERBS_NULL=1 SIMVERBS_SCRIPT=${server_script-} server "$2"
	SIMVERBS_NULL=1 SIMVERBS_SCRIPT=$1 client "${@:2}"
	finish server
	ended server 0
}

@test "a bandwidth test" {
	scripted "$real gap=6000" write_bw -s 64k -n 20000
	ended client 0
	golden bandwidth client.out client.err server.out server.err
}

@test "a latency test, in which some round trips take long" {
	server_script=recv=200 scripted "post=0 poll=1 completion=0 clock=1 rtt=2000*985,6000*10,20000*4,100000" send_lat -n 20000
	ended client 0
	golden latency client.out client.err server.out server.err
}

@test "thresholds that are missed: of a rate, of latencies; and one that cannot be judged" {
	scripted "$real gap=6000" write_bw -s 4k,64k -n 2000 --min-bw 90G
	ended client 6
	mv client.err rate
	server_script=recv=200 scripted "post=0 poll=1 completion=0 clock=1 rtt=2000" send_lat -n 20000 --max-lat p99=.5,mean=3,max=.7
	ended client 6
	mv client.err latencies
	SIMVERBS_CPU=10 scripted "$real gap=6000" write_bw -s 64k -n 2000 --min-bw 90G
	ended client 77
	golden gate rate latencies client.err
}

@test "a run that fails, and one that is refused" {
	server write_bw
	SIMVERBS_FAULT=wc:2:12:129 client write_bw -n 300 -s 64
	finish server
	ended client 3
	ended server 3
	mv client.err failed
	server send_bw -s 64
	client send_bw -s 65
	ended client 2
	golden failed failed server.err client.err
	waits_on
}

@test "--check: what is well, a note, warnings and faults" {
	export SIMVERBS_DEVICES='ib0 link=ib sm_lid=1 lid=1 speed=EDR width=4; ib1 link=ib sm_lid=1 lid=2 speed=QDR width=4; ib2 link=ib speed=EDR state=INIT; ib3 link=ib lid=4 speed=EDR width=4; ib4 link=ib speed=EDR state=DOWN'
	"$root/build/tests/simverbs-sysfs" sys || skip 'no simverbs-sysfs here'
	export RDMARK_SYSFS=$PWD/sys
	echo 3 >sys/class/infiniband/ib0/ports/1/counters/symbol_error
	echo 255 >sys/class/infiniband/ib0/ports/1/counters/link_downed
	start check send_lat --check
	finish check
	ended check 6
	golden check check.out
}

@test "rdmark-pairs judge: slow, lost, and what is to be tested" {
	made_pairs 16 'when(.from == "n3"; .value /= 2) | when(touches("n7") and .round > 3; .status = "failed" | .cause = "lost" | .node = "n7" |
			.error = "gone" | del(.value)) | select(.kind != "done" or .host != "n7")' >lines
	start judge rdmark-pairs judge lines
	finish judge
	ended judge 3
	golden judge judge.out judge.err
}

@test "rdmark compare" {
	scripted "$real gap=6000" write_bw -s 64k -n 20000 --json=c.json
	jq '.results |= map(.plus_minus_percent = 0.5)' c.json >a
	jq '.results |= map(.bandwidth_gbps *= 0.9)' a >b
	start compare rdmark compare --within 5 a b
	finish compare
	ended compare 6
	golden compare compare.out compare.err
}

@test "--prove" {
	through=(taskset -c "$(taskset -cp $$ | sed 's/.*[:,] *//; s/.*-//')")
	scripted 'post=2 poll=20 completion=5 clock=10 gap=10 latency=20000' write_bw -s 4096 -t 16 -n 4000 --prove=60
	ended client 0
	golden prove client.out client.err
}
