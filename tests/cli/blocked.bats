#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# bats file_tags=standin,san
# shellcheck disable=SC2016,SC2030,SC2031,SC2034,SC2154 # $ of jq; what lib/rdmark.bash sets and reads
#
# What is written blocks, or does not fit: nobody reads a pipe, a file gets too large, somebody has put
# a link in the way. Every program still ends by a signal, and says what it could not write.

load ../lib/rdmark

setup_file() { need_device; }

# told NAME [SIGNAL]: it is sent that, and ends.
told() {
	kill -"${2-TERM}" "${pid[$1]}"
	deadline=30
	finish "$1"
}

# until_blocked NAME: its signals are, so that only what it polls sees them.
until_blocked() {
	local mask end=$((SECONDS + deadline))
	until mask=$(sed -n 's/^SigBlk:[[:blank:]]*//p' "/proc/${pid[$1]}/status") && ((16#$mask & 1 << 14)); do
		((SECONDS < end)) || fail "$1: SIGTERM is not blocked"
		read -r -t 0.02 <> <(:) || true
	done
}

# bats test_tags=core
@test "a file that is a FIFO without a reader: a signal ends the client, which says what it could not write" {
	local option program
	mkfifo fifo
	for option in --json --json-lines --out_json_file; do
		for program in send_bw send_lat; do
			server "$program"
			start_client "$program" -n 20 "$option=fifo"
			finish server # so the client has measured
			ended server 0
			told client
			ended client 143
			says client.err 'writing fifo: ' 'It was not read until a signal came' 'Fix: '
		done
	done
	server gdr_bw
	start_client gdr_bw --plain -n 20 --json=fifo
	finish server
	told client
	ended client 143
	says client.err 'writing fifo: '
}

@test "a FIFO whose reader comes late gets all" {
	local option
	mkfifo fifo
	for option in --json --json-lines --csv; do
		server send_bw
		start_client send_bw -n 20 "$option=fifo"
		[[ $option == --csv ]] || finish server
		cat fifo >got
		finish client server
		ended client 0
		[[ $(tail -c 1 got | od -An -c) == *'\n'* && -s got ]] || fail "$option: $(<got)"
	done
}


# blocked PROGRAM ARG…: a client whose standard output is a full pipe, and which has measured.
blocked() {
	fill
	server "$1"
	proxy
	fresh client
	become "$1" -p "$port" -n 20 --quiet "${@:2}" "$host" >full 2>client.err </dev/null {full}>&- &
	pid[client]=$!
	await 'client round' 'client round' 'client done'
}

@test "standard output is a full pipe: a signal ends the client, which says so" {
	local full option program
	while read -r program option; do
		blocked "$program" "$option"
		told client
		ended client 143
		says client.err 'writing to stdout: ' 'It was not read until a signal came'
		exec {full}>&-
		finish server
	done <<-'END'
		send_bw --json
		send_bw --csv
		send_bw -q1
		send_lat --json
		send_lat --csv
		send_lat -q1
		gdr_bw --plain
	END
}

# bats test_tags=core
@test "standard error is a full pipe, too: a signal ends the client" {
	local full
	fill
	server send_bw
	proxy
	fresh client
	become send_bw -p "$port" -n 20 "$host" >full 2>full </dev/null {full}>&- &
	pid[client]=$!
	await 'client hello'
	told client INT
	ended client 130
	exec {full}>&-
}

# stays ARG…: `rdmark server` with it; its standard output or error is what $out or $err names.
stays() {
	fresh server
	become rdmark server -p 0 --ready-fd 9 "$@" >"${out-server.out}" 2>"${err-server.err}" </dev/null 9>ready {full}>&- &
	pid[server]=$!
	read -r -t "$deadline" port <ready
}

# serves PROGRAM…: a client of each.
serves() {
	local program
	for program; do
		client "$program" -n 20
		ended client 0
	done
}

@test "a server whose log nobody reads serves the next clients, of other tests, too, and ends by one signal" {
	local full err=full
	fill
	stays
	serves send_bw send_bw write_lat send_bw
	told server
	ended server 0
	exec {full}>&-
}

@test "a log that is read again has the lines that nobody read before" {
	local full drained err=full
	fill
	stays
	serves send_bw
	drain
	serves send_bw send_bw
	told server
	ended server 0
	finish cat
	[[ $(grep -c "send_bw: .* MiB/s" drained) == 3 ]] || fail "$(tail drained)"
	grep -q '^rdmark: ready on ' drained
}

@test "a server whose standard output nobody reads serves the next clients, and says at its end that it was not read" {
	local full out=full option
	for option in --timeout=9 --json --csv; do
		fill
		stays "$option"
		serves send_bw send_bw
		told server
		ended server 1
		says server.err 'writing to stdout: ' 'It was not read'
		[[ $(grep -c ' send_bw: 64 KiB' server.err) == 2 ]] || fail 'not all clients are in the log'
		exec {full}>&-
	done
}

# bats test_tags=core
@test "a server whose file is a FIFO without a reader serves the next clients, and says which it could not write" {
	local option full
	exec {full}</dev/null
	mkfifo fifo
	for option in --json --json-lines; do
		stays "$option=fifo"
		serves send_bw send_lat send_bw
		told server
		ended server 0
		[[ $(grep -c 'writing fifo: .*It [iwas]* not read' server.err) == 3 ]] || fail 'not said for each'
	done
}

@test "--ready-fd is a full pipe: a signal ends the server" {
	local full
	fill
	fresh server
	become send_bw -p 0 --ready-fd 9 >server.out 2>server.err </dev/null 9>full {full}>&- &
	pid[server]=$!
	until_says server.err 'ready on '
	told server
	ended_with_any server 143 2
	exec {full}>&-
}

@test "a file that may not get larger: the server says so and serves on" {
	local full most=$((1 << 30)) # the stand-in has files of its own
	exec {full}</dev/null
	truncate -s $((most - 20001)) lines
	echo >>lines
	through=(bash -c 'ulimit -f "$0" && exec "$@"' $((most / 1024)))
	stays --json-lines=lines
	through=()
	serves send_bw send_bw send_bw send_lat send_bw
	told server
	ended server 0
	says server.err 'writing lines: ' 'File too large' 'Fix: raise the limit'
	[[ $(grep -c ' send_[bwlat]*: [^:]*, ' server.err) == 5 ]] || fail 'not all were served'
	rm lines
}

@test "a document that is too large: that is said, the old one stays, and no temporary file" {
	command -v prlimit >/dev/null || skip 'prlimit is not here (util-linux)'
	echo old >file
	server send_bw
	proxy
	start_client send_bw -D 60 -s 64 --quiet --json=file
	await 'client round' 'client round' 'client alive'
	prlimit --pid "${pid[client]}" --fsize=1500
	told client INT
	finish server
	ended client 130
	says client.err 'writing file: ' 'File too large' 'Fix: raise the limit'
	[[ $(echo file*) == file && $(<file) == old ]] || fail "$(echo file*): $(<file)"
}

@test "a link where a temporary file of that process number could be is not followed" {
	local option
	for option in --json --out_json_file; do
		echo kept >victim
		server send_bw
		through=(bash -c 'ln -s victim "file.$$.tmp" && exec "$@"' -)
		start_client send_bw -n 20 "$option=file"
		through=()
		finish client server
		ended client 0
		[[ $(<victim) == kept && -s file && ! -L file ]] || fail "$(<victim)"
		rm file.*.tmp
		[[ $(echo file*) == file ]] || fail "$(echo file*)"
		rm file
	done
	(umask 027 && server send_bw && client send_bw -n 20 --json=file && finish server)
	[[ $(stat -c %a file) == 640 ]] || fail "$(stat -c %a file)"
}

# bats test_tags=plain
@test "rdmark-plot does not follow such a link either, and its picture has the mode that umask leaves" {
	not_sanitized 'it is a script'
	command -v gnuplot >/dev/null || skip 'gnuplot is not here (make deps)'
	local mask
	server write_bw
	client write_bw -a -n 4 --json=run.json
	finish server
	for mask in 022 077; do
		echo kept >victim
		through=(bash -c "umask $mask"' && ln -s victim "picture.svg.$$.tmp" && exec "$@"' -)
		start plot rdmark-plot -o picture.svg run.json
		through=()
		finish plot
		ended plot 0
		[[ $(<victim) == kept && ! -L picture.svg && $(stat -c %a picture.svg) == $(printf %o $((0666 & ~mask))) ]] || fail "$(stat picture.svg)"
		rm picture.svg.*.tmp
		[[ $(echo picture*) == picture.svg ]] || fail "$(echo picture*)"
	done
}

@test "the tour: a FIFO without a reader and a full pipe end by a signal" {
	local full
	server 'rdmark server'
	mkfifo fifo
	start tour rdmark "$host" -p "$port" -n 20 --json-lines=fifo
	until_says server.err ' send_lat: '
	told tour
	ended tour 143
	says tour.err 'writing fifo: ' 'It was not read until a signal came'
	told server
	ended server 0
	fill
	stays
	fresh tour
	become rdmark "$host" -p "$port" -n 20 >full 2>tour.err </dev/null {full}>&- &
	pid[tour]=$!
	until_says server.err ' send_lat: '
	told tour INT
	ended tour 130
	exec {full}>&-
}

@test "rdmark-pairs run: standard output is a full pipe" {
	local full
	printf 'a 127.0.0.1\nb 127.0.0.1\n' >hosts
	fill
	fresh run
	become rdmark-pairs run --start $((EPOCHSECONDS + 600)) --hosts hosts --self a --auth none --slot 2 -- write_bw -D 0.1 >full 2>run.err </dev/null {full}>&- &
	pid[run]=$!
	until_blocked run
	told run
	ended run 1
	says run.err 'writing to stdout: ' 'It was not read until a signal came'
	exec {full}>&-
}
