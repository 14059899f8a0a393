#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# bats file_tags=standin,long
# shellcheck disable=SC2034,SC2154 # what lib/rdmark.bash sets and reads
#
# perftest's form is perftest's: the installed perftest and rdmark under perftest's names run with the
# same command lines on the same device, and all that both ends print on stdout, and in their JSON
# files, is compared, blanks included. tests/lib/form takes out what was measured. What differs all
# the same stands in its list, each with its reason; an entry that changes nothing fails.
#
# PERFTEST_BIN: where perftest's programs are, if not on the PATH.

load ../lib/rdmark
load ../lib/perftest

setup_file() {
	local program
	for program in "${measuring_programs[@]}"; do
		command -v "${PERFTEST_BIN:+$PERFTEST_BIN/}ib_$program" >/dev/null ||
			skip 'perftest is not installed (make deps)'
	done
	[[ ${RDMARK_PRELOAD-} ]] || skip 'for the stand-in'
	cd "$BATS_FILE_TMPDIR" || return
	mkdir rdmark used
	for program in "${measuring_programs[@]}"; do
		ln -s "$RDMARK_BIN/$program" "rdmark/ib_$program"
	done
	program=$(command -v "${PERFTEST_BIN:+$PERFTEST_BIN/}ib_send_bw")
	export PERFTEST=${program%/*}
	PERFTEST_VERSION=$("$program" --version) || true # it says 1
	export PERFTEST_VERSION=${PERFTEST_VERSION##* }
	hasty "$BATS_FILE_TMPDIR"
	export hasty
}

# Nobody listens there; others' tests use ports from 20000 on.
free_port() {
	next_port=${next_port-$((14000 + RANDOM % 6000))}
	while listening $((++next_port)); do :; done
	port=$next_port
}

# run_tool WHO PROGRAM OPTION…: a server and a client of it, each in a folder of its own.
run_tool() {
	local folder=$BATS_FILE_TMPDIR/rdmark end as=()
	[[ $1 == rdmark ]] || folder=$PERFTEST as=("LD_PRELOAD=$RDMARK_PRELOAD$hasty")
	for end in server client; do
		rm -rf "$1_$end"
		mkdir "$1_$end"
	done
	free_port
	through=(env -C "$1_server" "${as[@]}")
	start "$1_server" "$folder/ib_$2" -p "$port" "${@:3}"
	until_listening "$1_server"
	through=(env -C "$1_client" "${as[@]}")
	start "$1_client" "$folder/ib_$2" -p "$port" "${@:3}" "$host"
	finish "$1_client" "$1_server"
	through=()
}

# same 'PROGRAM…' OPTION…: nothing differs, nor in their JSON files; all is looked at before anything
# is told.
same() {
	local program end who what deadline=100
	for program in $1; do
		for who in perftest rdmark; do
			calibrated "${who}_server.err" "${who}_client.err" \
				run_tool "$who" "$program" "${@:2}" --out_json --out_json_file=p.json
			for end in server client; do
				echo "status ${status[${who}_$end]}" >"${who}_$end/status"
				mv "${who}_$end.out" "${who}_$end/stdout"
			done
		done
		for end in server client; do
			for what in stdout p.json status; do
				printf '%s\t%s\t%s\n' "$program ${*:2} $end $what" "perftest_$end/$what" "rdmark_$end/$what"
			done
		done | "$lib/form" "$PERFTEST_VERSION" "$BATS_FILE_TMPDIR/used" || { cat ./*_*.err >&2; differs=1; }
	done
	[[ ! ${differs-} ]]
}

@test "one size" {
	same 'send_bw write_bw send_lat write_lat' -n 1000
}

@test "all sizes" {
	same write_bw -a -n 5
	same send_lat -a -n 5
}

@test "by duration, CPU use" {
	same 'send_bw write_bw send_lat write_lat' -D 1 -f 0
	same 'send_bw write_bw' -D 1 -f 0 --cpu_util --report_gbits -q 2
}

@test "both ways" {
	same 'send_bw write_bw' -n 1000 -b
	same 'send_bw write_bw' -n 1000 -b --report-both
	same write_bw -n 1000 -b --report-both -q 2 --report_gbits
	same send_bw -n 5 -b --report-both -a
	same send_bw -b --report-both -D 1 -f 0 --cpu_util
}

@test "several QPs, another unit, lists" {
	same 'send_bw write_bw' -n 1000 -q 3 --report_gbits
	same send_bw -n 1000 -l 4 --recv_post_list=4 -q 2
	same write_bw -n 1000 -l 4 -b
}

@test "one number" {
	same 'send_bw write_bw' -n 1000 --output=bandwidth
	same send_bw -n 1000 --output=message_rate -q 2
	same write_bw -n 1000 --output=bandwidth -b --report-both --report_gbits
	same write_bw -n 5 --output=message_rate -a
	same write_bw -D 1 -f 0 --output=bandwidth
	same 'send_lat write_lat' -n 1000 --output=latency
	same send_lat -D 1 -f 0 --output=latency
}

@test "every sample" {
	same 'send_lat write_lat' -n 10 -H
	same 'send_lat write_lat' -n 10 -U
}

@test "UC and UD" {
	same 'write_bw send_lat write_lat' -n 1000 -c UC
	same send_bw -n 1000 -c UC -r 1000
	same 'send_bw send_lat' -n 1000 -c UD -s 1024 -r 1000
	same send_bw -n 1000 -c UD -s 1024 -r 1000 -b --report-both
}

@test "events, shared receive queue, queues, MTU, inline, no peak" {
	same 'send_bw send_lat' -n 1000 -e
	same send_bw -n 1000 --use-srq
	same send_bw -n 1000 -s 4096 -t 64 -r 256 -Q 8 -m 1024 -N
	same write_lat -n 1000 -I 64 -x 3
}

@test "READs and atomics" {
	same 'read_bw atomic_bw read_lat atomic_lat' -n 1000
	same 'read_bw atomic_bw' -n 1000 -b -q 3 --report_gbits
	same 'read_bw atomic_bw' -D 1 -f 0
	same 'read_bw read_lat' -n 1000 -o 4
	same 'atomic_bw atomic_lat' -n 1000 -A CMP_AND_SWAP -o 1
	same 'read_bw atomic_bw' -n 1000 --output=bandwidth
	same 'read_lat atomic_lat' -n 10 -U
	same read_lat -a -n 5
}

@test "an InfiniBand link" {
	export SIMVERBS_DEVICES='sim0 link=ib lid=5'
	same 'write_bw send_lat' -n 1000
}

@test "limits that are reached and missed" {
	same send_bw -n 1000 -s 8 -w 0.01 -y 0.000001
	export SIMVERBS_CPU=200 # a run that lacked its CPU is "disturbed"
	same send_bw -n 1000 -s 8 -w 10000000
}

@test "nobody there: the words that scripts retry by, and a status that is not 0" {
	local who folder
	free_port
	for who in perftest rdmark; do
		folder=$BATS_FILE_TMPDIR/rdmark
		[[ $who == rdmark ]] || folder=$PERFTEST
		[[ $who == perftest ]] || set -- --connect-timeout 0
		start "$who" "$folder/ib_send_bw" -p "$port" "$@" "$host"
		finish "$who"
		[[ ${status[$who]} != 0 ]] || fail "$who ended well"
		silent "$who.out"
		says "$who.err" "Couldn't connect to $host:$port"
	done
}

@test "every entry of the list is needed" {
	((BATS_SUITE_TEST_NUMBER == $(grep -c '^@test' "$BATS_TEST_FILENAME"))) || skip 'not all was compared'
	"$lib/form" "$PERFTEST_VERSION" "$BATS_FILE_TMPDIR/used" needless
}
