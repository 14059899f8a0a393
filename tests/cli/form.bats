#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# bats file_tags=standin,long
# shellcheck disable=SC2016,SC2034,SC2154 # $ of sed; what lib/rdmark.bash sets and reads
#
# perftest's form is perftest's: the installed perftest and rdmark under perftest's names run with the
# same command lines on the same device, and all that both ends print on stdout, and in their JSON
# files, is compared, blanks included. tests/lib/masked takes out what was measured. What differs all
# the same stands in the list below, each with its reason; an entry that changes nothing fails.
#
# PERFTEST_BIN: where perftest's programs are, if not on the PATH.

load ../lib/rdmark
load ../lib/perftest

# known WHO WHERE EDIT REASON: in what WHO (rdmark, perftest, or perftest of versions) printed, where
# "PROGRAM OPTIONS END FILE" matches, both of them patterns, sed makes EDIT.
known_who=() known_where=() known_edit=()
known() {
	[[ $4 ]] || return 1
	known_who+=("$1") known_where+=("$2") known_edit+=("$3")
}

# perftest 6.06, of Debian 12, where 6.24, of Debian 13, prints something else: rdmark prints that.
known 'perftest 6.06' '*stdout' 's|\[MB/sec\]|[MiB/sec]|g' 'the unit was MiB all the time; now it is called so'
known 'perftest 6.06' '*stdout' 's|^( [0-9]+ .*\t\t)   (.*\.######)|\1     \2|' \
	'the message rate stands two blanks farther right now'
known 'perftest 6.06' '*stdout' 's|^( PCIe relax order: [A-Z]+)$|\1\t\tLock-free      : OFF|' 'a column more'
known 'perftest 6.06' '*stdout' 's|^( ibv_wr. API     : [A-Z]+)$|\1\t\tUsing DDP      : OFF|' 'a column more'
known 'rdmark 6.06' '*stdout' '/WARNING: BW peak/d' 'a line more'
known 'perftest 6.06' '*json' 's|^([A-Za-z_0-9.]+( with events)?) ?: |"\1": |; s|(": )([A-Z][A-Za-z_0-9]*)(,?)$|\1"\2"\3|' \
	'keys and words have quotes now'
known 'perftest 6.06' '*json' ':a;N;$!ba;s|,\n\}|\n}|g' 'there is no comma before a brace any more, so it is JSON'
# and the other way round
known 'perftest 6.2*' '*json' '/^"Use_ROCm_memory"/d' "a key of builds for AMD's GPUs, which rdmark does not have"
known 'perftest 6.2*' '* --output=*json' ':a;N;$!ba;s|,\n\n\}|\n}|g' 'that is no JSON there'
known '* 6.2*' '* -D *stdout' '/WARNING: BW peak/d' 'rdmark measures the peak of a run by duration, too'

# All versions.
known '* *' '*stdout' 's/^( ibv_wr. API     : )(ON|OFF)/\1ON or OFF/' \
	'perftest says whether the device has it, rdmark whether it uses it'
known '* *' '*json' 's/^("ibv_wr_API": )"(ON|OFF)"/\1"ON or OFF"/' 'the same'
known '* *' '*_lat *' 's/^( ?"?[TR]X[ _]depth"? *: )[0-9]+/\1its own/' \
	'rdmark says how deep its queues are: for one message at a time, of which one in many is signalled'
known '* *' '*_bw *-n 5 *' 's/^( ?"?[TR]X[ _]depth"? *: )[0-9]+/\1its own/' \
	'perftest has no deeper queues than there are messages; rdmark has what was asked for'
known '* *' '@(*_bw *-s @(8|1024)|atomic_bw) *' 's/^( ?"?TX[ _]depth"? *: )[0-9]+/\1its own/' \
	'rdmark has a deeper queue for small messages if -t is not given'
known '* *' '@(*_bw @(*-a|*-e|*-l 4|*-s @(8|1024))|atomic_bw) *' 's/^( ?"?CQ[ _]Moderation"? *: )[0-9]+/\1its own/' \
	'how many messages have one completion is for rdmark to choose if -Q is not given'
known 'perftest *' '*_bw * -l 4 *stdout' '/^Post List requested/d' \
	'perftest says that it chose another -Q, which rdmark does not have to'
known 'perftest *' '*_bw * -l 4 *stdout' '1{/^-/d}' 'the rule beside it'
known 'rdmark *' 'write_bw *-a *server stdout' '/^ [0-9]/{/^ 8388608 /!d}; /^#\./{$!d}' \
	"perftest's server hears only of the last size; rdmark's shows each"
known 'perftest *' 'send_bw -b --report-both -D *' 's/^ [0-9]+ +(##########)/ 65536      \1/; s/^("MsgSize": )[0-9]+/\165536/' \
	'perftest takes this size from memory that nobody wrote to'
known 'perftest *' '* --output=* -b --report-both *stdout' '2,$d' \
	'perftest prints numbers with words around them; rdmark one number, as without --report-both'
known '* *' 'send_lat * -[HU]*stdout' '/^[0-9]+, #$/{/^1, /!d}' \
	'rdmark shows every sample; perftest leaves one out, and with -H three'
known '* *' '@(write|read|atomic)_lat * -[HU]*stdout' '/^[0-9]+, #$/{/^1, /!d}' 'the same'
known 'rdmark *' '* -w 10000000 client status' 's/6/1/' \
	'rdmark has a status of its own for what was measured and is too little'
known 'perftest *' '* -w 10000000 server status' 's/1/0/' "rdmark's client judges what both measured"
known '* *' 'send_bw * -c U* server *' 's/^( [0-9]+ +)[0-9]+ +/\1received /; s/^("n_iterations": )[0-9]+/\1received/' \
	"rdmark's server counts what came, which may be less"
known 'perftest *' '*_lat * -[HU]*server stdout' '/^#, usec/,/^ #bytes/d' \
	"rdmark's server shows what the client measured; it has no samples of its own"

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
}

# Nobody listens there; others' tests use ports from 20000 on.
free_port() {
	next_port=${next_port-$((14000 + RANDOM % 6000))}
	while listening $((++next_port)); do :; done
	port=$next_port
}

# run_tool WHO PROGRAM OPTION…: a server and a client of it, each in a folder of its own.
run_tool() {
	local folder=$BATS_FILE_TMPDIR/rdmark end
	[[ $1 == rdmark ]] || folder=$PERFTEST
	for end in server client; do
		rm -rf "$1_$end"
		mkdir "$1_$end"
	done
	free_port
	through=(env -C "$1_server")
	start "$1_server" "$folder/ib_$2" -p "$port" "${@:3}"
	until_listening "$1_server"
	through=(env -C "$1_client")
	start "$1_client" "$folder/ib_$2" -p "$port" "${@:3}" "$host"
	finish "$1_client" "$1_server"
	through=()
}

# masked WHO WHERE FILE: into FILE.masked, with what is known changed.
masked() {
	local i how=
	[[ $2 != *' -D '* ]] || how=duration
	"$lib/masked" $how <"$3" >"$3.masked"
	for i in "${!known_who[@]}"; do
		# shellcheck disable=SC2053 # patterns
		[[ "$1 $PERFTEST_VERSION" == ${known_who[i]} && $2 == ${known_where[i]} ]] || continue
		sed -E "${known_edit[i]}" "$3.masked" >"$3.edited"
		cmp -s "$3.masked" "$3.edited" || : >"$BATS_FILE_TMPDIR/used/$i"
		mv "$3.edited" "$3.masked"
	done
}

# compare WHERE FILE-OF-PERFTEST FILE-OF-RDMARK
compare() {
	# perftest's server of these has no result and writes none; rdmark's has what the client measured
	[[ $1 != @(read|atomic)_lat*server\ p.json || -e $2 ]] || return 0
	[[ -e $2 && -e $3 ]] || { [[ ! -e $2 && ! -e $3 ]] || echo "$1: only one of them wrote $2 $3" >>different; return 0; }
	masked perftest "$1" "$2"
	masked rdmark "$1" "$3"
	diff -u --label "perftest: $1" --label "rdmark: $1" "$2.masked" "$3.masked" | cat -A >>different || true
}

# same 'PROGRAM…' OPTION…: nothing differs, nor in their JSON files; all is looked at before anything
# is told.
same() {
	local program end who what deadline=100
	for program in $1; do
		: >different
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
				compare "$program ${*:2} $end $what" "perftest_$end/$what" "rdmark_$end/$what"
			done
		done
		[[ ! -s different ]] || { cat different ./*_*.err >&2; differs=1; }
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
	local i
	((BATS_SUITE_TEST_NUMBER == $(grep -c '^@test' "$BATS_TEST_FILENAME"))) || skip 'not all was compared'
	for i in "${!known_who[@]}"; do
		# shellcheck disable=SC2053 # a pattern
		[[ "perftest $PERFTEST_VERSION" == ${known_who[i]} || "rdmark $PERFTEST_VERSION" == ${known_who[i]} ]] || continue
		[[ -e $BATS_FILE_TMPDIR/used/$i ]] || fail "needless: ${known_who[i]} ${known_where[i]} ${known_edit[i]}"
	done
}
