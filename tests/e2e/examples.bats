#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck disable=SC2016,SC2030,SC2031,SC2034,SC2154 # $ of jq; what lib/rdmark.bash sets and reads
#
# Every file in examples/ does what its head says.

load ../lib/rdmark
load ../lib/gpu

setup_file() { need_device; }

# example NAME ARG…: to its end.
example() {
	local deadline=120 # a row of runs, on machines that are emulated, too
	start example "$root/examples/$1" "${@:2}"
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
	for file in "$root"/examples/*; do
		name=${file##*/}
		[[ -x $file ]] || fail "$name cannot be run"
		[[ $(sed -n 2p "$file") == '# SPDX-License-Identifier: '* && $(sed -n 4p "$file") == "# $name "* ]] || fail "$name: its head"
		grep -q "^	example $name" "$BATS_TEST_FILENAME" || fail "$name: no test"
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
	json sweep.json -s 'length == 12 and all(.[]; .status == "ok")
		and (map([.test, .results[0].qps, .results[0].message_bytes]) | unique | length) == 12'
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

@test "health-check: well; too slow; unsteady; nobody there; one good peer is enough" {
	installed
	stay bw BW_PORT write_bw
	stay lat LAT_PORT send_lat
	export MIN_PERCENT=0 MAX_P99_US=0 DURATION=0.2 PATIENCE=3
	example health-check "$host"
	ended example 0
	silent example.err
	MIN_PERCENT=2000 example health-check "$host"
	ended example 1
	says example.err "-> $host: write_bw: " "% of the link's" '2000 % are wanted' 'drain: scontrol update nodename='
	[[ $(wc -l <example.err) == 2 ]] || fail 'not a line for the failure and one to drain'
	MAX_P99_US=0.001 example health-check "$host"
	ended example 1
	says example.err "-> $host: send_lat: 99 % took up to" '0.001 us are wanted'
	BW_PORT=$nobody PATIENCE=0 example health-check "$host"
	ended example 1
	says example.err 'write_bw: ' 'Connection refused' drain
	example health-check no-such-host.invalid "$host"
	ended example 0
	says example.err '-> no-such-host.invalid: '
	example health-check
	ended example 2
}

@test "gpu-check: PASS; too slow; no GPU; nobody there" {
	installed
	driver
	stay gdr PORT gdr_bw
	export WITHIN=100 DURATION=0.1 PATIENCE=3
	example gpu-check "$host"
	ended example 0
	says example.out "gpu-check: " "-> $host: PASS"
	[[ $(wc -l <example.out) == 1 ]] || fail 'more than one line'
	PORT=$nobody PATIENCE=0 example gpu-check "$host"
	ended example 3
	says example.out 'Connection refused'
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
