#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# bats file_tags=standin,long
# shellcheck disable=SC2016,SC2030,SC2031,SC2034,SC2154 # $ of jq; what lib/rdmark.bash sets and reads
#
# Every file in contrib/examples/ does what its head says.

load ../lib/rdmark
load ../lib/gpu
load ../lib/machine

setup_file() {
	need_device
	export SIMVERBS_CPU=200 # a run that lacked its CPU misses nothing
}

# example NAME ARG…: to its end.
example() {
	start example "$root/contrib/examples/$1" "${@:2}"
	finish example
}

# They find the programs as a user's shell does.
installed() { export PATH=$RDMARK_BIN:$PATH; }

stay() { # NAME VARIABLE PROGRAM ARG…: a server that stays; its port is in VARIABLE
	local deadline=200
	start_server "$1" "$3" --persistent "${@:4}"
	export "$2=$port"
}

# Nothing listens on port 1; whoever is to be found there will not be.
nobody=1

@test "each has a head that says what it is for, and a test here" {
	local file name
	for file in "$root"/contrib/examples/*; do
		name=${file##*/}
		[[ -x $file ]] || fail "$name cannot be run"
		[[ $(sed -n 2p "$file") == '# SPDX-License-'Identifier:\ * && $(sed -n 4p "$file") == "# $name "* ]] || fail "$name: its head"
		grep -qE "^	example $name|examples/$name" "$BATS_TEST_FILENAME" "$lib/../bed/slurm.bats" || fail "$name: no test"
		bash -n "$file"
	done
}

@test "sweep: a row and a document for each of tests x QPs x sizes; no server is left" {
	installed
	export TESTS='send_bw write_bw' QPS='1 2' SIZES='64 4k 64k' ITERS=50
	example sweep
	ended example 0
	silent example.err
	[[ $(grep -c '^test,' sweep.csv) == 1 && $(grep -c ',client,' sweep.csv) == 12 ]] || fail "$(<sweep.csv)"
	json sweep.json 'length == 12 and all(.[]; .status == "ok")
		and (map([.test, .results[0].qps, .results[0].message_bytes]) | unique | length) == 12' -s
	if command -v gnuplot >/dev/null; then
		start plot rdmark-plot sweep.json
		finish plot
		ended plot 0
		says plot.out 'send_bw, 1 QP' 'write_bw, 2 QPs'
	fi
	example sweep # once more: it adds
	[[ $(grep -c '^test,' sweep.csv) == 1 && $(grep -c ',client,' sweep.csv) == 24 ]] || fail "$(<sweep.csv)"
	TESTS='no_such_test' example sweep
	ended example 1
	says example.err 'no_such_test did not start'
}

# plugin STATUS TEXT ARG…: check_rdmark with these ends so, with one line.
plugin() {
	example check_rdmark "${@:3}"
	ended example "$1"
	says example.out "$2"
	[[ $(wc -l <example.out) == 1 ]] || fail 'not one line'
	silent example.err
}

@test "check_rdmark: Nagios' codes, a line, and performance data in base units" {
	installed
	local run port option
	stay bw port 'rdmark server'
	run=(write_bw -p "$port" -n 200 "$host")
	plugin 0 'RDMARK OK - write_bw to ' "${run[@]}"
	[[ $(<example.out) =~ ' Gb/s'.*'|bandwidth='[1-9][0-9]*'B;;;0'$ ]] || fail 'performance data'
	plugin 1 'RDMARK WARNING - write_bw to ' -w 100000 -c 0 "${run[@]}"
	[[ $(<example.out) == *'B;12500000000000:;0:;0' ]] || fail 'limits'
	plugin 3 'what is critical (-c 90) is met before the warning (-w 50)' -w 50 -c 90 "${run[@]}"
	plugin 2 'RDMARK CRITICAL - write_bw to ' -c 100000 "${run[@]}"
	plugin 1 'us' -w 0.001 -c 1000000 send_lat -p "$port" -n 2000 "$host"
	[[ $(<example.out) =~ 'p99 '.*'|latency_p99='0\.[0-9]{9}'s;0.000000001;1.000000000;0'$ ]] || fail 'performance data of a latency'
	plugin 0 ': max ' send_lat -p "$port" -n 20 "$host"
	[[ $(<example.out) =~ '|latency_max='0\.[0-9]{9}'s;;;0'$ ]] || fail 'the greatest of few is no p99'
	plugin 0 "write_bw to $(uname -n): " write_bw "$host" -p "$port" -n 100
	plugin 2 'Connection refused' write_bw -p "$nobody" "$host"
	plugin 2 'no result in 1 s' -t 1 write_bw -p "$port" -D 20 "$host"
	plugin 3 'has only' write_bw -p "$port" -x 99 "$host"
	plugin 3 'not a number' -w x "${run[@]}"
	plugin 3 'needs a PEER' write_bw
	plugin 3 'a LIMIT needs a PROGRAM' -c 390
	plugin 3 'no limit' -t 0 "${run[@]}"
	plugin 3 'no_such is not installed' no_such "$host"
	plugin 0 "write_bw to $(uname -n): " -H "$host" write_bw -p "$port" -n 100
	for option in -h --help; do
		example check_rdmark $option
		ended example 3
		says example.out 'usage: check_rdmark ' '-H PEER'
	done
	plugin 3 'usage: ' -x
	example check_rdmark -V
	ended example 3
	[[ $(<example.out) =~ ^check_rdmark\ [0-9] ]] || fail 'no version'
	example check_rdmark -v "${run[@]}"
	ended example 0
	[[ $(head -n 1 example.out) == 'RDMARK OK - write_bw to '* ]] || fail 'the first line'
	says example.out 'write_bw: 1 QP, RC' # what the program said
	example check_rdmark # whatever this host is
	[[ $(<example.out) == 'RDMARK '@(OK|WARNING|CRITICAL|UNKNOWN)' - '?* ]] || fail 'no state'
}

# only COMMAND…: these are there for a check, and what any script needs.
only() {
	local command
	rm -rf few
	mkdir few
	for command in bash perl mktemp rm uname timeout "$@"; do ln -sf "$(PATH=$RDMARK_BIN:$PATH command -v "$command")" few/; done
}

# made_up PROGRAM LINE…: a script in its place, first in PATH.
made_up() {
	mkdir -p made-up
	printf '%s\n' '#!/bin/bash' "${@:2}" >"made-up/$1"
	chmod +x "made-up/$1"
	[[ $PATH == "$PWD/made-up:"* ]] || PATH=$PWD/made-up:$PATH
}

# nhc CHECK ARG…: as Node Health Check calls it, which gives it die and log.
nhc() {
	cat >nhc.sh <<-END
		die() { echo "\$2"; exit "\$1"; }
		log() { echo "log: \$*"; }
		. "$root/contrib/examples/rdmark.nhc"
		"\$@"
	END
	start example /bin/bash nhc.sh "$@"
	finish example
}

@test "rdmark.nhc: links that are well; too slow; none; a peer that answers, and none that does" {
	installed
	PATH=$root/contrib/examples:$PATH
	example rdmark.nhc
	ended example 0
	nhc check_rdmark_links
	ended example 0
	silent example.out
	nhc check_rdmark_links 100000
	ended example 1
	[[ $(<example.out) =~ ^'check_rdmark_links: '.*' port 1: '.*' of 100000 Gb/s'$ ]] || fail 'which link is too slow?'
	nhc check_rdmark_links 0 no_such
	ended example 1
	says example.out "check_rdmark_links: there is no RDMA device 'no_such'"
	stay bw BW_PORT write_bw
	stay lat LAT_PORT send_lat
	export MAX_P99_US=0 DURATION=0.2 PATIENCE=1 LOCK=$PWD/lock
	echo "$host # the only one" >peers
	nhc check_rdmark_peer peers 0
	ended example 0
	silent example.out
	nhc check_rdmark_peer peers 2000000
	ended example 1
	says example.out "check_rdmark_peer: $host: write_bw: " '2000000 % are wanted'
	printf '\n# none\n-v\n' >peers
	nhc check_rdmark_peer peers
	ended example 0
	says example.out 'log: check_rdmark_peer: no hosts in peers'
}

@test "rdmark.nhc: what is no fault of the node is logged, and within NHC's time" {
	installed
	PATH=$root/contrib/examples:$PATH
	export DURATION=0.2 LOCK=$PWD/lock
	nhc check_rdmark_links 390g
	ended example 0
	says example.out "log: check_rdmark_links: '390g' is not a number"
	echo "$host" >peers
	nhc check_rdmark_peer peers '90%'
	ended example 0
	says example.out 'log: check_rdmark_peer: status 2: health-check: MIN_PERCENT=90%: it is not a number'
	printf '%s\n' 127.0.0.2 127.0.0.3 127.0.0.4 >peers
	BW_PORT=$nobody nhc check_rdmark_peer peers
	ended example 0
	within example 25
	says example.out 'log: check_rdmark_peer: status 77: '
	made_up write_bw 'echo "libibverbs: Warning: no userspace device-specific driver found" >&2' "exec '$RDMARK_BIN/write_bw' \"\$@\""
	nhc check_rdmark_links
	ended example 0
	silent example.out
	made_up write_bw 'exit 139'
	nhc check_rdmark_links
	ended example 0
	says example.out 'log: check_rdmark_links: write_bw --check ended with status 139'
	PATH=/bin:/usr/bin nhc check_rdmark_links
	ended example 0
	says example.out 'log: rdmark.nhc: rdmark is not installed'
}

# bats test_tags=standin
@test "slurm-check --self and check_rdmark_self: what rdmark self finds drains and marks" {
	[[ ${RDMARK_PRELOAD-} ]] || skip 'for the stand-in'
	export SLURM_CHECK_PATH=$RDMARK_BIN:$PWD/bin:$PATH LOCK=$PWD/lock SLURMD_NODENAME=n7 SIMVERBS_CPU=200 SIMVERBS_GBPS=0.4
	export PATH=$RDMARK_BIN:$PATH
	export SIMVERBS_DEVICES='mlx5_0 gid.0=v1/127.0.0.1;mlx5_1 gid.0=v1/127.0.0.2 host_mbps=200'
	mkdir bin
	printf '#!/bin/sh\nprintf "%%s\\n" "$@" >drained\n' >bin/scontrol
	chmod +x bin/scontrol
	echo n8 >peers
	example slurm-check --self peers drain
	ended example 1
	grep -q '^Reason=rdmark self: mlx5_1 port 1 is slow with every memory: ' drained || fail "$(<drained)"
	nhc check_rdmark_self
	ended example 1
	says example.out 'check_rdmark_self: mlx5_1 port 1 is slow with every memory: '
	SIMVERBS_DEVICES='mlx5_0;mlx5_1 gid.0=v1/127.0.0.2' nhc check_rdmark_self
	ended example 0
	silent example.out
	SIMVERBS_DEVICES=' ' nhc check_rdmark_self
	ended example 0
	says example.out 'log: check_rdmark_self: rdmark self ended with status 77: nothing is checked'
}

@test "slurm-check: drains what is not healthy, and nothing else" {
	export SLURM_CHECK_PATH=$RDMARK_BIN:$PWD/bin:$PATH LOCK=$PWD/lock SLURMD_NODENAME=n7
	export MAX_P99_US=0 DURATION=0.2 PATIENCE=3
	mkdir bin
	printf '#!/bin/sh\nprintf "%%s\\n" "$@" >drained\n' >bin/scontrol
	chmod +x bin/scontrol
	printf '%s\n' n7 '# rack 2' '' -v >peers
	example slurm-check peers drain
	ended example 0
	says example.err 'no hosts in peers'
	made_up logger 'printf "%s\n" "$*" >>logged'
	SLURM_CHECK_PATH=$PWD/made-up:$SLURM_CHECK_PATH example slurm-check mistyped drain
	ended example 0
	says example.err 'cannot be read: mistyped'
	grep -q 'slurm-check .*mistyped: nothing is checked' logged || fail 'not in syslog'
	example slurm-check --strict mistyped
	ended example 1
	example slurm-check --strict peers
	ended example 1
	echo "$host # the other one" >>peers
	stay bw BW_PORT write_bw
	stay lat LAT_PORT send_lat
	MIN_PERCENT=0 example slurm-check peers drain
	ended example 0
	silent example.err
	export MIN_PERCENT=2000000
	example slurm-check peers
	ended example 1
	says example.err '2000000 % are wanted'
	[[ ! -e drained ]] || fail 'drained without being told to'
	flock "$PWD/lock" true
	[[ $(stat -c %a lock) == 600 ]] || fail 'anybody can hold the lock'
	example slurm-check peers drain
	ended example 1
	grep -qx 'NodeName=n7' drained
	grep -Eq "^Reason=rdmark: $host: write_bw: .* are wanted\$" drained
	rm drained
	exec {lock}>lock
	flock "$lock"
	example slurm-check peers drain
	exec {lock}>&-
	ended example 0
	says example.err 'another check holds the lock'
	only cat write_bw send_lat jq awk shuf sed tail dirname flock
	SLURM_CHECK_PATH=$PWD/few example slurm-check peers drain
	ended example 1
	says example.err 'scontrol is not in PATH'
	SLURM_CHECK_PATH=/bin:/usr/bin example slurm-check peers drain
	ended example 0
	[[ ! -e drained ]] || fail 'drained for what is no fault of the node'
}

@test "slurm-check: in an environment without PATH, as Slurm's" {
	local name kept=()
	stay bw BW_PORT write_bw
	stay lat LAT_PORT send_lat
	mkdir bin
	for name in "$RDMARK_BIN"/{write_bw,send_lat}; do ln -s "$name" bin; done
	for name in ${!SIMVERBS_@}; do kept+=("$name=${!name}"); done
	echo "$host" >peers
	start example "$(type -P env)" -i "${kept[@]}" LD_PRELOAD="${RDMARK_PRELOAD-}" SLURM_CHECK_PATH="$PWD/bin:/usr/bin:/bin" \
		LOCK="$PWD/lock" BW_PORT="$BW_PORT" LAT_PORT="$LAT_PORT" DURATION=0.1 MIN_PERCENT=2000000 \
		/bin/bash "$root/contrib/examples/slurm-check" peers
	finish example
	ended example 1
	says example.err '2000000 % are wanted'
}

@test "slurm-check: peers that are not there say nothing of this node, one or three, and cost 50 s at most" {
	local n
	installed
	export SLURM_CHECK_PATH=$PATH LOCK=$PWD/lock BW_PORT=$nobody DURATION=0.1 LIMIT=8
	for n in 1 3; do
		printf '%s\n' 127.0.0.{2..4} | head -n $n >peers
		example slurm-check peers
		ended example 0
		within example 15
		says example.err 'cannot be told'
		[[ $(grep -c 'write_bw: .*refused' example.err) == "$n" ]] || fail 'not every peer was tried'
		says_no example.err 'send_lat'
	done
}

@test "health-check: well; too slow; unsteady; nobody there; one good peer is enough" {
	installed
	stay bw BW_PORT write_bw
	stay lat LAT_PORT send_lat
	export MIN_PERCENT=0 MAX_P99_US=0 DURATION=0.2 PATIENCE=3
	example health-check "$host"
	ended example 0
	silent example.err
	MIN_PERCENT=2000000 example health-check "$host"
	ended example 1
	says example.err "-> $host: write_bw: " "% of the link's" '2000000 % are wanted' 'drain: scontrol update nodename='
	[[ $(wc -l <example.err) == 2 ]] || fail 'not a line for the failure and one to drain'
	MAX_P99_US=0.001 example health-check "$host"
	ended example 1
	says example.err "-> $host: send_lat: p99 is" '0.001 us are wanted'
	# The peer that was measured counts, in any order; the one that is not there does not.
	MIN_PERCENT=2000000 example health-check no..host "$host"
	ended example 1
	says example.err "reason='rdmark: $host: write_bw: "
	MIN_PERCENT=1 BW_PORT=$nobody PATIENCE=0 example health-check "$host"
	ended example 77
	says example.err 'write_bw: ' 'Connection refused' 'cannot be told'
	says_no example.err drain
	[[ $(wc -l <example.err) == 2 ]] || fail 'a run that failed was judged, too'
	example health-check no..host "$host"
	ended example 0
	says example.err '-> no..host: '
	example health-check
	ended example 2
	OPTIONS='--no-such option' example health-check "$host"
	ended example 2
	says example.err 'no-such'
}

# A program that writes what is in PROGRAM.json, and ends as PROGRAM.status says.
made_up_documents() {
	local program
	for program in write_bw send_lat; do
		made_up $program 'for a; do case $a in --json) cat "$0.json" ;; --json=*) cat "$0.json" >"${a#*=}" ;; esac; done' \
			'[[ ! -e $0.status ]] || exit "$(<"$0.status")"'
	done
}

results() { # PROGRAM FIGURES CPU OTHER REASONS [MORE]: a document
	jq -nc --arg test "$1" --argjson figures "{$2}" --argjson cpu "$3" --argjson other "$4" --arg reasons "$5" '
		{test: $test, status: "ok", ends: {client: {rate_gbps: 100}, server: {rate_gbps: 200}}, results: [$figures + {measured_by: "client",
			quality: {on_cpu_percent: $cpu, other_end: {on_cpu_percent: $other}, reasons: ($reasons / "," - ["-"])}}]} | '"${6:-.}" >"made-up/$1.json"
}

@test "health-check, check_rdmark: what a run misses one of whose threads lacked its CPU is no fault; what it meets is met" {
	local gbps p99 cpu other reasons node nagios program
	made_up_documents
	while read -r gbps p99 cpu other reasons node nagios; do
		results write_bw "\"bandwidth_gbps\": $gbps" "$cpu" "$other" "$reasons"
		results send_lat "\"latency_p99_us\": $p99" "$cpu" "$other" "$reasons"
		example health-check localhost
		ended example "$node"
		program=(-c 90 write_bw)
		((${gbps%.*} < 90)) || program=(-c 20 send_lat)
		example check_rdmark "${program[@]}" localhost
		ended example "$nagios"
	done <<-'END'
		95 9 40 100 client_cpu 0 0
		44 9 40 100 client_cpu 77 3
		1 9 97 100 client_cpu 77 3
		44 9 0 100 client_cpu 77 3
		44 9 100 80 server_cpu 77 3
		44 9 70 100 client_cpu_limit 77 3
		95 90 40 100 client_cpu 77 3
		95 90 50 50 client_page_faults 1 2
		87 9 98.5 98.5 - 1 2
		44 9 50 100 client_page_faults 1 2
	END
}

@test "health-check, check_rdmark: what they say of a run that was disturbed; with both directions the slower one counts" {
	made_up_documents
	results send_lat '"latency_p99_us": 9' 100 100 -
	results write_bw '"bandwidth_gbps": 20' 70.4 100 client_cpu
	example health-check localhost
	ended example 77
	says example.err "20 Gb/s, 20 % of the link's 100 Gb/s; 90 % are wanted; disturbed: a thread had 70 % of its CPU." \
		'Fix: check again on a quiet CPU' 'none of 1 peers is well'
	plugin 3 '20 Gb/s; disturbed: a thread had 70 % of its CPU; run it again on a quiet CPU|' -w 90 -c 40 -H localhost
	plugin 3 'disturbed: ' -w 90 -c 10 -H localhost
	plugin 0 '20 Gb/s|' -w 20 -c 10 -H localhost
	results write_bw '"bandwidth_gbps": 20' 10 100 client_cpu '.results[0] |= . + {measured_by: "both", bandwidth_gbps: 110, by_end: {server: (.bandwidth_gbps = 90), client: .}}'
	plugin 3 'disturbed: ' -c 99 -H localhost
	plugin 0 '20 Gb/s|' -c 20 -H localhost
	example health-check localhost
	ended example 77
	says example.err "20 Gb/s, 20 % of the link's 100 Gb/s"
	MIN_PERCENT=20 example health-check localhost
	ended example 0
	results write_bw '"bandwidth_gbps": 20' 10 100 client_cpu '.ends[].more_devices = [{rate_gbps: 50}]'
	example health-check localhost
	says example.err "13.3 % of the link's 150 Gb/s"
}

@test "health-check: that the figures of one peer cannot be judged says nothing of the next" {
	local doubt='.status = "cannot_tell" | .error = {stage: "judge", message: "disturbed: too few messages"}'
	made_up_documents
	results send_lat '"latency_min_us": 1, "latency_p99_us": 9' 100 100 -
	results write_bw '"bandwidth_gbps": 95' 50 100 client_cpu "$doubt"
	echo 77 >made-up/write_bw.status
	example health-check localhost localhost
	ended example 77
	[[ $(grep -c -- '-> localhost: write_bw: disturbed: too few messages' example.err) == 2 ]] || fail 'not each peer'
	says example.err 'none of 2 peers is well'
	results send_lat '"latency_min_us": 30, "latency_p99_us": 90' 100 100 -
	example health-check localhost # of the same peer, what is measured
	ended example 1
	says example.err 'send_lat: p99 is 90 us'
	mv made-up/write_bw made-up/doubtful
	mv made-up/write_bw.json made-up/doubtful.json
	mv made-up/write_bw.status made-up/doubtful.status
	made_up write_bw 'for peer; do :; done' 'if [[ $peer == localhost ]]; then exec "${0%/*}/doubtful" "$@"; fi' \
		'for a; do [[ $a != --json=* ]] || cat "${0%/*}/well.json" >"${a#*=}"; done'
	results write_bw '"bandwidth_gbps": 95' 100 100 -
	mv made-up/write_bw.json made-up/well.json
	results send_lat '"latency_min_us": 1, "latency_p99_us": 9' 100 100 -
	example health-check localhost 127.0.0.1
	ended example 0
	example health-check 127.0.0.1 localhost
	ended example 0
	# Without RDMA here, no peer says anything.
	jq -c '.status = "unavailable" | .results = [] | .error = {stage: "device", message: "no RDMA device"}' made-up/doubtful.json >none
	mv none made-up/doubtful.json
	example health-check localhost 127.0.0.1
	ended example 77
	[[ $(<example.err) == "health-check: $(uname -n): no RDMA device" ]] || fail 'it did not end at once'
}

@test "health-check: one server for every test, as the unit for systemd starts it" {
	installed
	local deadline=200
	start_heard all rdmark server -p 0 --quiet --ready-fd 1
	export BW_PORT=$port
	DURATION=0.1 MIN_PERCENT=0 MAX_P99_US=0 example health-check "$host"
	ended example 0
	silent example.err
}

@test "health-check, gpu-check: a port that is down is this node's, whoever its peers are" {
	installed
	[[ ${RDMARK_PRELOAD-} ]] || skip 'no port is taken down here'
	SIMVERBS_DEVICES='sim0 state=DOWN' PATIENCE=0 BW_PORT=$nobody example health-check "$host"
	ended example 1
	says example.err 'port 1 is DOWN' 'drain: '
	SIMVERBS_DEVICES='sim0 state=DOWN' PATIENCE=0 PORT=$nobody example gpu-check "$host"
	ended_with_any example 1 77 # no GPU is here, either
}

@test "health-check, gpu-check: their own faults are none of the node" {
	local name
	installed
	for name in health-check gpu-check; do
		TMPDIR=/nonexistent example $name "$host"
		ended example 77
		[[ $(cat example.out example.err) == *"$name: mktemp cannot make a "* ]] || fail 'it does not say why'
		example $name -v
		ended example 2
	done
	MIN_PERCENT=90% example health-check "$host"
	ended example 2
	says example.err 'MIN_PERCENT=90%: it is not a number'
	MAX_P99_US=20us example health-check "$host"
	ended example 2
	WITHIN=10% example gpu-check "$host"
	ended example 2
	export MIN_PERCENT=0 MAX_P99_US=0 DURATION=0.1 PATIENCE=0
	for name in write_bw gdr_bw; do
		made_up $name 'echo "error while loading shared libraries: libhwloc.so.15" >&2; exit 127'
	done
	example health-check "$host"
	ended example 77
	says example.err 'write_bw: it exited with status 127 without a document'
	example gpu-check "$host"
	ended example 77
	for name in write_bw gdr_bw; do made_up $name 'exit 1'; done # no document
	example health-check "$host"
	ended example 77
	example gpu-check "$host"
	ended example 77
	made_up write_bw 'for option; do [[ $option != --json=* ]] || echo "{" >"${option#--json=}"; done'
	example health-check "$host"
	ended example 77
	says example.err 'its document cannot be read'
	# A data path that does not work is measured, however the program ended.
	made_up write_bw 'for option; do [[ $option != --json=* ]] || echo '\''{"status": "failed", "error": {"stage": "measure",' \
		'"completion_status": "transport retry counter exceeded", "from_peer": false, "message": "transport retry counter exceeded"}}'\'' >"${option#--json=}"; done; exit 3'
	example health-check "$host"
	ended example 1
	says example.err "reason='rdmark: $host: write_bw: transport retry counter exceeded'"
}

@test "health-check: what fails at the peer is no fault of this node; what a completion said counts, whichever end heard it" {
	installed
	local error drain
	export MIN_PERCENT=0 MAX_P99_US=0 DURATION=0.2 PATIENCE=3
	SIMVERBS_FAIL=ibv_modify_qp:2+:EIO stay modify BW_PORT 'rdmark server'
	example health-check "$host"
	ended example 77
	says example.err 'the other end reports: connecting the QPs: ' 'cannot be told'
	SIMVERBS_FAIL=ibv_poll_cq:1+:EIO stay poll BW_PORT 'rdmark server'
	example health-check "$host"
	ended example 77
	says example.err 'the other end reports: ' 'ibv_poll_cq' 'cannot be told'
	while read -r drain error; do
		made_up write_bw 'for option; do [[ $option != --json=* ]] || echo '\''{"status": "failed", "error":' \
			"{\"message\": \"this\", $error}}'"' >"${option#--json=}"; done; exit 3'
		example health-check "$host"
		ended example $drain
	done <<-'END'
		77 "stage": "measure", "from_peer": false
		77 "stage": "agree", "from_peer": false
		77 "stage": "measure", "from_peer": true
		77 "stage": "connect_qps", "from_peer": true
		1 "stage": "connect_qps", "from_peer": false
		1 "stage": "measure", "from_peer": true, "completion_status": "none", "vendor_error": 0
		1 "stage": "measure", "from_peer": false, "completion_status": "transport retry counter exceeded", "vendor_error": 129
	END
}

@test "health-check: a run that leaves no document is not judged by that of the peer before" {
	installed
	stay bw BW_PORT write_bw
	stay lat LAT_PORT send_lat
	made_up write_bw "[[ \${*: -1} == '$host' ]] || exit 139" "exec '$RDMARK_BIN/write_bw' \"\$@\""
	export MIN_PERCENT=0 MAX_P99_US=0 DURATION=0.2 PATIENCE=3
	example health-check "$host" no..host
	ended example 0
	says example.err 'no..host: write_bw: it exited with status 139 without a document'
	[[ $(grep -cF 'no..host: write_bw: ' example.err) == 1 ]] || fail 'a run that failed was judged, too'
}

@test "health-check: a run that the peer's server cut short is not judged" {
	installed
	stay lat LAT_PORT send_lat
	made_up write_bw 'for option; do [[ $option != --json=* ]] ||' \
		'echo '\''{"status": "interrupted", "ends": {}, "results": [{"bandwidth_gbps": 1e9}]}'\'' >"${option#--json=}"; done'
	export MIN_PERCENT=0 MAX_P99_US=0 DURATION=0.1 PATIENCE=3
	example health-check "$host"
	ended example 77
	says example.err 'write_bw: interrupted'
}

@test "checks: without jq, or without rdmark in PATH, nobody is drained" {
	local name
	for name in health-check gpu-check; do
		only
		PATH=$PWD/few example $name "$host"
		ended example 77
		[[ $(cat example.out example.err) == "$name: jq is not installed. Fix: install it, "* ]] || fail 'not that jq is missing'
		only jq
		PATH=$PWD/few example $name "$host"
		ended example 77
		[[ $(cat example.out example.err) == "$name: "*_bw' is not installed. Fix: install it, '* ]] || fail 'not that rdmark is missing'
	done
}

@test "a name that is no host's, and a run that fails: a line, and the status" {
	installed
	# No name server is asked for a name with two dots: whether there is one here does not matter.
	export MIN_PERCENT=0 MAX_P99_US=0 DURATION=0.1 PATIENCE=20
	example health-check no..host
	ended example 2
	says example.err 'no..host: write_bw: ' 'cannot resolve '
	says_no example.err drain
	PATIENCE=0 BW_PORT=$nobody LAT_PORT=$nobody example health-check no..host "$host"
	ended example 77
	says_no example.err drain
	example gpu-check no..host
	ended example 2
	says example.out 'cannot resolve '
	example trend t.csv no..host
	ended example 2
	says example.err 'cannot resolve '
	TESTS=write_bw QPS=1 SIZES='64 9zz' ITERS=5 example sweep
	ended example 2
	says example.err "invalid value '9zz'"
	mkdir -p made-up
	printf '#!/bin/sh\necho "ssh: no such host $1" >&2\nexit 255\n' >made-up/ssh
	chmod +x made-up/ssh
	PATH=$PWD/made-up:$PATH TESTS=write_bw example sweep no..host
	ended example 1
	says example.err 'ssh: no such host no..host' 'sweep: write_bw did not start on no..host'
}

gdr_says() { # LEVEL STATUS: what made-up/gdr_bw puts into its document, and ends with
	mkdir -p made-up
	cat >made-up/gdr_bw <<-END
		#!/bin/bash
		for option; do
			[[ \$option != --json=* ]] || echo '{"verdict": {"level": "$1", "text": "$1 as made up"}}' >"\${option#--json=}"
		done
		exit $2
	END
	chmod +x made-up/gdr_bw
}

@test "gpu-check: PASS; too slow; nobody knows; no GPU; nobody there" {
	installed
	driver
	stay gdr PORT gdr_bw
	export WITHIN=100 DURATION=0.1 PATIENCE=3
	example gpu-check "$host"
	ended example 0
	says example.out "gpu-check: " "-> $host: PASS"
	[[ $(wc -l <example.out) == 1 ]] || fail 'more than one line'
	# Host memory that is far below what is said to be usual here is no matter of the GPU, but no pass.
	EXPECTED=900000 WITHIN=90 example gpu-check "$host"
	ended example 1
	says example.out 'WARN host memory itself is slow'
	gdr_says INCONCLUSIVE 77
	PATH=$PWD/made-up:$PATH example gpu-check "$host"
	ended example 4
	says example.out "-> $host: INCONCLUSIVE"
	local code
	for code in 130 143 4 3; do # a run that did not get there, whoever ended it
		gdr_says UNAVAILABLE $code
		PATH=$PWD/made-up:$PATH example gpu-check "$host"
		ended example $((code > 128 ? 4 : 3))
	done
	PORT=$nobody PATIENCE=0 example gpu-check "$host"
	ended example 3
	says example.out 'Connection refused'
	# A server that is stopped says nothing of this node.
	port=$PORT
	proxy
	PORT=$port DURATION=100 start example "$root/contrib/examples/gpu-check" "$host"
	await 'client round'
	kill -TERM "${pid[gdr]}"
	finish example gdr proxy
	ended example 3
	says example.out 'UNAVAILABLE no verdict: the run did not finish'
	driver none
	start_server plain gdr_bw --persistent
	PORT=$port example gpu-check "$host"
	ended example 77
	says example.out 'UNAVAILABLE'
	example gpu-check
	ended example 2
}

@test "trend: rows are added; what is worse than usual is told" {
	local n
	installed
	stay bw PORT write_bw
	export DURATION=0.1
	for n in 1 2 3 4; do
		BELOW=1 example trend t.csv "$host" -p "$PORT"
		ended example 0
	done
	[[ $(wc -l <t.csv) == 5 ]] || fail "$(<t.csv)"
	# Rows of runs that were cut short are not counted, and not judged.
	awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i } NR > 1 { $at["status"] = "interrupted" } 1' OFS=, t.csv >cut.csv
	BELOW=100000 example trend cut.csv "$host" -p "$PORT"
	ended example 0
	BELOW=100000 example trend t.csv "$host" -p "$PORT"
	ended example 6
	says example.err 't.csv: ' '% of the usual'
	PORT=$nobody
	example trend t.csv "$host" -p "$PORT" --connect-timeout 0
	ended example 4
	[[ $(wc -l <t.csv) == 6 ]] || fail "$(<t.csv)"
	example trend t.csv
	ended example 2
}

# nccl STATUS: nccl-env's lines without their reasons are the standard input's.
nccl() {
	example nccl-env
	ended example "$1"
	diff <(grep -v '^#' example.out) - || fail 'other variables'
}

# on WORDS: a host with these devices.
on() {
	export SIMVERBS_DEVICES=$1
	rm -rf sys
	"${RDMARK_PRELOAD%/*}/simverbs-sysfs" sys
	export RDMARK_SYSFS=$PWD/sys
}

@test "nccl-env: the ports, GID and interface that NCCL would not choose, each with its reason; a healthy host needs none" {
	local two='ib0 link=ib speed=NDR width=4 lid=1 sm_lid=1; ib1 link=ib speed=NDR width=4 lid=2 sm_lid=1'
	installed
	# No interface of a made-up port is here.
	made_up rdmark "'$RDMARK_BIN/rdmark' \"\$@\" | jq '(.ports[] | select(.device | startswith(\"roce\"))).netdev |= \"eth0\"'"
	on "$two; roce0 part=4117 speed=EDR width=1 gid.0=v1/::ffff:10.0.0.1 gid.1=v2/::ffff:10.0.0.1; iw0 iwarp; ib9 link=ib state=INIT
		rxe0 vendor=0xffffff gid.0=v2/::ffff:10.0.0.1; roce1 part=4118 gid.0=v1/::"
	nccl 0 <<-'END'
		NCCL_IB_HCA==ib0:1,ib1:1
		NCCL_SOCKET_IFNAME==eth0
	END
	says example.out 'roce0:1 has 25 Gb/s' 'iw0:1 is iWARP' 'rxe0:1 is soft-RoCE' 'roce1:1 has a fault' '# NCCL would connect over ib*'
	says_no example.out ib9
	(set -a && eval "$(<example.out)" && [[ $NCCL_IB_HCA == =ib0:1,ib1:1 ]]) || fail 'no lines for a shell'
	on "$two; ib2 link=ib lid=3 sm_lid=1 speed=EDR width=4" # of their kind: one to repair
	nccl 0 </dev/null
	[[ $(<example.out) == '# NCCL_SOCKET_IFNAME: NCCL may connect over ib*: '* ]] || fail 'what is not known'
	on 'roce0 gid.0=v1/fe80::1 gid.1=v2/fe80::1 gid.2=v1/2001:db8::1 gid.3=v2/2001:db8::1'
	nccl 0 <<<NCCL_IB_GID_INDEX=3
	says example.out '# it is the first GID that can be routed, and NCCL looks for IPv4 only: 2001:db8::1' 'may connect over eth0'
	on 'roce0 gid.0=v2/2001:db8::1; roce1 gid.0=v1/2001:db8::2 gid.1=v2/2001:db8::2'
	nccl 0 </dev/null
	says example.out 'the ports need different values: 0, 1'
	rm made-up/rdmark
	on 'roce0 gid.0=v1/fe80::1 gid.1=v2/fe80::1 gid.2=v1/::ffff:10.0.0.1 gid.3=v2/::ffff:10.0.0.1'
	nccl 0 </dev/null
	silent example.out
}

@test "nccl-env: a GPU behind another root port; what cannot be told" {
	[[ $(uname -m) != aarch64 ]] || skip 'the GPU may be attached to the CPU by NVLink'
	installed
	driver
	export SIMCUDA_GPUS='pci=0000:45:00.0'
	machine phb
	nccl 0 <<<NCCL_NET_GDR_LEVEL=PHB
	says example.out '# sim0 and GPU 0000:45:00.0 are as far as PHB'
	machine pxb
	nccl 0 </dev/null
	driver none
	on ' '
	nccl 77 </dev/null
	says example.err 'nccl-env: rdmark list ended with a failure'
	PATH=/bin:/usr/bin nccl 77 </dev/null
	example nccl-env x
	ended example 2
}
