# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=bash
# shellcheck disable=SC2034 # what it sets is for the tests
#
# Helpers for the bats tests: run the programs as a pair of server and client, and look at their output.
# `load ../lib/rdmark` also gives a test file its setup and teardown.
#
#   pair PROGRAM [ARG…]      a server, and a client with ARGs; both must succeed
#   server PROGRAM [ARG…]    a server on a free port, $port; returns when it is ready; 'rdmark server'
#                            is the one of every test
#   client PROGRAM [ARG…]    a client of it; returns at its end
#   serves_next PROGRAM [ARG…]  the server, whose client failed before it measured, serves another one
#   waits_on                 the server still waits for one; end it
#   tries K N FILTER COMMAND…  COMMAND N times: what it leaves in c.json passes FILTER K times
#   start NAME PROGRAM [ARG…], finish NAME     any program in the background; wait for its end
#   stranger ACTION…         tests/lib/peer, connected to the server; returns at its end, after
#                            $stranger_deadline seconds (30) at the latest
#   proxy [HOLD…]            tests/lib/peer between the next client and the server; await LINE
#                            then waits until it has seen that line
#
# Each has a NAME (server, client, stranger): NAME.out and NAME.err hold its output, ${status[NAME]} its
# exit status, ${took_ms[NAME]} how long it ran, ${pid[NAME]} its process.
# Nothing runs longer than $deadline seconds (then status 142) or longer than the test.
#
# Every JSON document that a program wrote is kept and compared with the schema (tests/lib/schema) when
# the tests of the file are done: in teardown_file, or, if RDMARK_DOCUMENTS is set, by whoever set it.
#
# Environment: RDMARK_BIN, where the programs are (build/bin); RDMARK_PRELOAD, a library to load into
# them; RDMARK_HOST, the address of the servers (127.0.0.1); RDMARK_SANITIZED, set if the programs are
# built with ASan and UBSan: any report of these at either end then makes the test fail;
# RDMARK_DOCUMENTS, a folder for the documents of several files.

lib=${BASH_SOURCE[0]%/*}
[[ $lib == /* ]] || lib=$PWD/$lib
root=$lib/../..
RDMARK_BIN=${RDMARK_BIN:-$root/build/bin}
[[ $RDMARK_BIN == /* ]] || RDMARK_BIN=$PWD/$RDMARK_BIN
export RDMARK_BIN

# shellcheck source=tests/lib/programs.bash
. "$lib/programs.bash"

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	[[ ! ${SKIP_FILE-} ]] || skip "$SKIP_FILE"
	((EPOCHSECONDS < ${CHECK_UNTIL:-EPOCHSECONDS + 1})) || skip 'CHECK_UNTIL had passed'
	unset port events
	declare -gA pid=() status=() took_ms=() started_us=()
	deadline=120 # on machines that are emulated, and share two CPUs with others, too
	host=${RDMARK_HOST:-127.0.0.1}
	export NO_COLOR=1
	through=()
	mkfifo ready seen
	# Their reports go into separate files, for teardown.
	[[ ! ${RDMARK_SANITIZED-} ]] || sanitizers_log_to "$PWD/sanitizer"
}

# Call in setup_file: every test of the file is skipped. (bats 1.8 takes a skip in setup_file for a
# failure of teardown_file.)
skip_file() { export SKIP_FILE=$1; }

sanitizers_log_to() {
	export ASAN_OPTIONS=verify_asan_link_order=0:detect_leaks=1:log_path=$1
	export UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1:log_path=$1
}

# For the few tests that cannot work under the sanitizers: in a file with the tag san they need the
# tag plain, and not core.
not_sanitized() {
	[[ ! ${RDMARK_SANITIZED-} ]] || skip "$1"
}

# Kill what a test left, and wait for it: the next test must have the machine for itself. What is behind <(…)
# is no job; `wait` waits for it all the same, until its alarm.
teardown() {
	local name
	jobs -p | xargs -r kill -KILL 2>/dev/null || true
	for name in "${!pid[@]}"; do [[ ${status[$name]-} ]] || kill -KILL "${pid[$name]}" 2>/dev/null || true; done
	wait
	keep_documents ./*.json
	# A process that is killed while its leaks are looked for says that its threads are gone.
	if cat sanitizer.* 2>/dev/null | grep -v 'Unable to get registers from thread' >&2; then
		return 1
	fi
}

# Those of the FILEs that hold documents of ours, not perftest's, nor what a test put there.
keep_documents() {
	local file head text kept=${RDMARK_DOCUMENTS:-$BATS_FILE_TMPDIR}
	local name=${BATS_TEST_FILENAME##*tests/}
	for file; do
		[[ -f $file && -s $file ]] || continue
		IFS= read -r -d '' -N 22 head <"$file" || true
		[[ $head == *'"schema_version'* || $head == '{"interval"'* || $head == '{"kind":"'* ]] || continue
		contents "$file" text
		printf '%s\n' "$text" >>"$kept/${name//\//-}-$BATS_TEST_NUMBER.documents"
	done
}

teardown_file() {
	local said
	[[ ! ${RDMARK_DOCUMENTS-} ]] && compgen -G "$BATS_FILE_TMPDIR/*.documents" >/dev/null || return 0
	said=$("$lib/schema" "$BATS_FILE_TMPDIR"/*.documents 2>&1) || (($? == 77)) || { echo "$said" >&2; return 1; }
	echo "# $said" >&3
}

# --- running -----------------------------------------------------------------------------------

# Become PROGRAM, to be ended by SIGALRM after $deadline. ${through[@]} may put a command in front
# of it (setpriv, taskset) that becomes it in turn.
become() {
	local path=$1
	[[ $path == */* ]] || path=$RDMARK_BIN/$path
	forget_events # or the pipe would live on in it, with all that is in it
	# A shell ignores SIGINT for what it has in the background, nohup SIGHUP.
	exec perl -e 'alarm shift; $SIG{INT} = $SIG{HUP} = "DEFAULT";
		$ENV{LD_PRELOAD} = $ENV{RDMARK_PRELOAD} if $ENV{RDMARK_PRELOAD};
		exec @ARGV or die "$ARGV[0]: $!\n"' "$deadline" "${through[@]}" "$path" "${@:2}" 3>&-
}

# What an earlier one of that NAME said must be gone before anybody looks for what this one says: its
# own shell may be late to open the files. A pipe, which a test may have put there, has no past.
fresh() {
	local file
	unset "status[$1]"
	for file in "$1.out" "$1.err"; do
		[[ -p $file ]] || : >"$file"
	done
	started_us[$1]=${EPOCHREALTIME/[.,]/}
}

start() {
	local name=$1
	fresh "$name"
	become "${@:2}" >"$name.out" 2>"$name.err" </dev/null &
	pid[$name]=$!
}

finish() {
	local name code
	for name; do
		code=0
		wait "${pid[$name]}" || code=$?
		status[$name]=$code
		took_ms[$name]=$(((${EPOCHREALTIME/[.,]/} - started_us[$name]) / 1000))
		keep_documents "$name.out"
	done
}

# A server under another name, for tests with several.
start_server() {
	local name=$1 program
	read -ra program <<<"$2"
	fresh "$name"
	become "${program[@]}" -p 0 --ready-fd 9 "${@:3}" >"$name.out" 2>"$name.err" </dev/null 9>ready &
	pid[$name]=$!
	{
		read -r -t "$deadline" port || fail "$name: ${program[*]} did not get ready"
		if read -r -t "$deadline" || (($? > 128)); then
			fail "$name: --ready-fd got more than one line, or was not closed"
		fi
	} <ready
}

server() { start_server server "$@"; }

start_client() { start client "$1" -p "$port" "${@:2}" "$host"; }

client() {
	start_client "$@"
	finish client
}

stranger() {
	deadline=${stranger_deadline:-30} start stranger "$lib/peer" connect "$port" "$@"
	finish stranger
	[[ ${status[stranger]} != 142 ]] || fail "a stranger waited in vain: $*"
}

# What an earlier peer had left to say goes with its pipe.
forget_events() {
	[[ ! ${events-} ]] || exec {events}<&-
	unset events
}

# start_heard NAME PROGRAM ARG…: what it says comes through $events, the port that it listens on first.
start_heard() {
	forget_events
	fresh "$1"
	become "${@:2}" >seen 2>"$1.err" </dev/null &
	pid[$1]=$!
	exec {events}<seen
	read -r -t "$deadline" port <&"$events" || fail "no $1"
}

# $port is the proxy's from now on.
# shellcheck disable=SC2120 # the tests do
proxy() {
	start_heard proxy "$lib/peer" proxy "$port" "$@"
	: >proxy.out
}

# await LINE…: one after the other, whatever comes between them.
await() {
	local line wanted end=$((SECONDS + deadline))
	for wanted; do
		line=
		while [[ $line != "$wanted" ]]; do
			if ((SECONDS > end)) || ! read -r -t "$deadline" line <&"$events"; then
				fail "not seen: $wanted"
				return 1
			fi
			echo "$line" >>proxy.out
		done
	done
}

# await_text DESCRIPTOR TEXT…: sets line to the first line from it that has all TEXTs.
await_text() {
	local end=$((SECONDS + deadline)) text
	while :; do
		if ((SECONDS > end)) || ! read -r -t "$deadline" line <&"$1"; then
			fail "not seen: ${*:2}"
			return 1
		fi
		for text in "${@:2}"; do
			[[ $line == *"$text"* ]] || continue 2
		done
		return
	done
}

# The rest of what the proxy has seen, into proxy.out.
await_end() {
	local line
	while read -r -t "$deadline" line <&"$events"; do
		echo "$line" >>proxy.out
	done
}

# A fake server: tests/lib/peer that takes one client and does ACTIONs.
fake_server() { start_heard stranger "$lib/peer" listen "$@"; }

# Sets message to the next one that the fake server heard.
heard() {
	read -r -t "$deadline" message <&"$events" || fail 'the fake server heard nothing'
}

# listen_in [PROGRAM]: sets hello, welcome and qps to what real ends of it (send_lat) say to each
# other.
listen_in() {
	local who message
	server "${1-send_lat}"
	# shellcheck disable=SC2119 # nothing is held back
	proxy
	client "${1-send_lat}" -n 1
	finish server proxy
	while read -r who message; do
		case $who,$message in
		client,*'"type":"hello"'*) hello=$message ;;
		server,*'"type":"welcome"'*) welcome=$message ;;
		client,*'"type":"qps"'*) qps=$message ;;
		esac
	done <conversation
	[[ $hello && $welcome && $qps ]]
}

pair() {
	server "$1"
	client "$@"
	finish server
	ended client 0
	ended server 0
}

# tries K N FILTER COMMAND…: K of N runs of COMMAND leave a c.json that passes jq's FILTER; no more are made than decide
# that. What COMMAND itself checks holds in every run. K is 1 only where a busy machine can do one thing to what FILTER
# asks for (it makes a pair slower, never faster), and COMMAND checks the other side: then the best of N is what is asked.
tries() {
	local run good=0
	for ((run = 1; run <= $2; run++)); do
		"${@:4}"
		if jq -e -L "$lib" "include \"rdmark\"; $3" c.json >jq.out; then
			((++good < $1)) || return 0
		else
			echo "run $run: not so: $3" >&2
			((run - good <= $2 - $1)) || break
		fi
	done
	fail "$good of $run runs are so, not $1 of $2: $3: ${*:4}"
}

# The server said that it did not serve its client.
waits() { until_says server.err "client .* not served, still waiting"; }

serves_next() {
	waits
	start next "$1" -p "$port" -n 5 "${@:2}" "$host"
	finish next server
	ended next 0
	ended server 0
	rm next.*
}

waits_on() {
	waits
	kill -TERM "${pid[server]}"
	finish server
	ended server 143
}

# Until FILE says TEXT.
until_says() {
	local end=$((SECONDS + deadline))
	until grep -qs -- "$2" "$1"; do
		((SECONDS < end)) || fail "$1 does not say: $2"
		read -r -t 0.02 <> <(:) || true
	done
}

# until_ran PID: until it has had another 0.3 s of a CPU, so that what it was about to begin is under way.
until_ran() {
	local end=$((SECONDS + deadline)) before='' now
	while now=$(awk '{ print $14 + $15 }' "/proc/$1/stat") && ((now < ${before:=$now} + 30)); do
		((SECONDS < end)) || fail "$1 does not run"
		read -r -t 0.02 <> <(:) || true
	done
}

# A pipe that is full, and stays so until somebody drains it.
fill() {
	[[ -p full ]] || mkfifo full
	exec {full}<>full
	perl -MFcntl -e 'sysopen(P, "full", O_WRONLY | O_NONBLOCK) or die; 1 while syswrite P, "-\n"'
}

# To the end of all who write into it, into drained.
drain() {
	exec {drained}<full {full}>&-
	cat <&"$drained" >drained &
	pid[cat]=$!
	exec {drained}<&-
}

# --- looking -----------------------------------------------------------------------------------

# Say why the test fails, and show all that was printed.
fail() {
	local file
	{
		printf '%s\n' "$*"
		for file in *.out *.err; do
			[[ -s $file ]] || continue
			printf -- '--- %s (status %s)\n' "$file" "${status[${file%.*}]-none yet}"
			if (($(wc -c <"$file") < 3000)); then
				cat "$file"
			else
				head -c 1500 "$file"
				printf '\n[…]\n'
				tail -c 1500 "$file"
			fi
		done
	} >&2
	return 1
}

# One of several.
ended_with_any() {
	[[ " ${*:2} " == *" ${status[$1]-none} "* ]] || fail "$1 ended with status ${status[$1]-none yet}, not one of ${*:2}"
}

# ended NAME STATUS: it ended with this exit status. A signal counts as 128 + its number.
ended() {
	[[ ${status[$1]-} == "$2" ]] || fail "$1 ended with status ${status[$1]-none yet}, not $2"
}

# within NAME SECONDS: it took no longer; in an emulated machine, no longer than three times that.
within() {
	local slower=1
	[[ ! ${RDMARK_PATHS-} ]] || slower=3
	((took_ms[$1] <= $2 * 1000 * slower)) || fail "$1 took ${took_ms[$1]} ms, more than $2 s"
}

# contents FILE VARIABLE, without a fork.
contents() { IFS= read -r -d '' "$2" <"$1" || true; }

# with_device: from now on programs find an RDMA device, the stand-in where there is none, so that a
# client gets as far as connecting.
with_device() {
	compgen -G '/sys/class/infiniband/*' >/dev/null ||
		export RDMARK_PRELOAD=${RDMARK_PRELOAD:-$(realpath "$RDMARK_BIN/../tests/libsimverbs.so")}
}

# says FILE TEXT…: each TEXT stands in it. says_no: none does.
says() {
	local text wanted
	contents "$1" text
	for wanted in "${@:2}"; do
		[[ $text == *"$wanted"* ]] || fail "$1 does not say: $wanted"
	done
}

says_no() {
	local text unwanted
	contents "$1" text
	for unwanted in "${@:2}"; do
		[[ ${text,,} != *"${unwanted,,}"* ]] || fail "$1 says: $unwanted"
	done
}

silent() {
	[[ ! -s $1 ]] || fail "$1 is not empty"
}

# json FILE FILTER [ARG…]: jq's answer to FILTER is true (FILE is valid JSON, then). FILTER may use what is in rdmark.jq.
# json_lines: the same of an array of all that is in FILE, JSON lines.
json() {
	keep_documents "$1"
	jq -e -L "$lib" "${@:3}" "include \"rdmark\"; $2" "$1" >jq.out 2>&1 || fail "$1: not so: $2: $(head -c 300 jq.out)"
}

json_lines() { json "$1" "$2" -s "${@:3}"; }

# rows FILE [FIELDS]: sets rows to the lines that are a row of the table by the rule that most
# readers of perftest go by: the first field is a number, all FIELDS are, and there are exactly as
# many. 5 or 9 if not given. A percentile of too few samples is a '-'. The mark of one that was disturbed
# (most are, on a machine that is not quiet) is no field.
rows() {
	local line number='^[0-9]+(\.[0-9]+)?$' field fields
	rows=()
	while IFS= read -r line; do
		line=${line% !}
		read -ra fields <<<"$line"
		[[ ${#fields[@]} == "${2:-5}" || (! ${2-} && ${#fields[@]} == 9) ]] || continue
		for field in "${fields[@]}"; do
			[[ $field =~ $number || ($field == - && ${fields[0]} =~ $number) ]] || continue 2
		done
		rows+=("$line")
	done <"$1"
}

# row FILE [FIELDS]: sets row to the fields of the first one.
row() {
	rows "$@"
	((${#rows[@]})) || fail "$1 has no row"
	read -ra row <<<"${rows[0]}"
}

# positive NUMBER…: text of digits, a dot, digits, and not 0.
positive() {
	local number
	for number; do
		[[ $number =~ ^[0-9]+(\.[0-9]+)?$ && $number =~ [1-9] ]] || fail "'$number' is not positive"
	done
}

# --- the device --------------------------------------------------------------------------------

# Call in setup_file. Sets and exports what `rdmark list` shows of the first ACTIVE port: DEVICE, NETDEV,
# GID_INDEX and GID_ADDRESS (of the first IPv4 GID), GID_EMPTY (an index without GID).
need_device() {
	local words
	cd "$BATS_FILE_TMPDIR" || return
	declare -gA pid=() status=() took_ms=() started_us=()
	deadline=60 through=()
	[[ ! ${RDMARK_SANITIZED-} ]] || sanitizers_log_to stderr
	start list rdmark list
	finish list
	[[ ${status[list]} != 77 ]] || { skip_file 'no RDMA device here'; return; }
	ended list 0
	unset DEVICE GID_INDEX
	GID_EMPTY=0
	while read -ra words; do
		if [[ ${words[2]-} == ACTIVE && ! ${DEVICE-} ]]; then
			DEVICE=${words[0]} NETDEV=${words[6]}
		elif [[ ${words[0]-} == GID ]]; then
			((words[1] < GID_EMPTY)) || GID_EMPTY=$((words[1] + 1))
			[[ ${GID_INDEX-} || ${words[*]:2:3} != 'RoCE v2 IPv4' ]] ||
				GID_INDEX=${words[1]} GID_ADDRESS=${words[5]}
		fi
	done <list.out
	export DEVICE NETDEV GID_INDEX GID_ADDRESS GID_EMPTY
}

# As need_device, for a file whose tests script the time.
need_scripted_time() {
	if [[ $(uname -m) != x86_64 ]]; then
		skip_file 'time is scripted only on x86-64'
	elif [[ ${RDMARK_SANITIZED-} ]]; then
		skip_file 'time is not scripted under sanitizers'
	else
		need_device
	fi
}
