#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# bats file_tags=standin,san
# shellcheck disable=SC2030,SC2031,SC2154 # what lib/rdmark.bash sets
#
# On a terminal a long run shows a live line; script(1) makes a terminal.

load ../lib/rdmark

# on_terminal PROGRAM ARG…: a client whose stdout and stderr are a terminal; what was shown is in shown.
# Of $columns columns, if that is set.
on_terminal() {
	command -v script >/dev/null || skip 'script is not here (util-linux)'
	server "$1"
	start client "$(command -v script)" -qefc "${columns:+stty cols $columns;} $RDMARK_BIN/$1 -p $port ${*:2} $host" shown
	finish client server
	ended client 0
	ended server 0
}

# What was the live line in the course of time.
live_lines() { tr '\r' '\n' <shown | sed 's/\x1b\[K//g' | grep '^[0-9.]* s: '; }

# start_shown PROGRAM ARG…: a server, and a client on a terminal whose process is in client.pid.
start_shown() {
	command -v script >/dev/null || skip 'script is not here (util-linux)'
	rm -f shown client.pid
	server "$1"
	start client "$(command -v script)" -qefc \
		"${columns:+stty cols $columns;} echo \$\$ >client.pid; exec $RDMARK_BIN/$1 -p $port ${*:2} $host" shown
}

# shown_live LINE PROGRAM ARG…: on a terminal, until a live line is shown that has LINE, then SIGINT.
shown_live() {
	start_shown "${@:2}"
	until_says shown "[0-9.]* s: $1"
	kill -INT "$(<client.pid)"
	finish client server
	ended client 130
	ended server 0
}

# bats test_tags=core
@test "a live line on a terminal, which is gone at the end; the table is whole" {
	local program unit
	while read -r program unit; do
		shown_live "64 B: .* $unit" "$program" -D 60 -s 64
		live_lines | grep -q "^[0-9.]* s: 64 B: .* $unit" || fail "$(cat -v shown)"
		# What stays on the screen: a line that was erased does not.
		sed 's/\r$//; s/.*\r\x1b\[K//' shown >screen
		[[ $(grep -c ' s: 64 B: ' screen) == 0 ]] || fail "$(cat -v screen)"
		[[ $(grep -cE '^ 64 +[0-9]+ ' screen) == 1 ]] || fail "$(cat -v screen)"
	done <<-'END'
		send_bw MiB/s,
		write_lat us
	END
}

# left_off SECONDS: by how much what the live lines say is left, in whole seconds, is off.
left_off() {
	live_lines | awk -v all="$1" 'match($0, /, [0-9]+ s left$/) { print substr($0, RSTART + 2) - (all - $1) }'
}

# A pace is never too quick for the link; a busy machine makes it slower.
at_a_pace() {
	on_terminal write_bw -n 3000 -s 1M
	left_off 2.5 | jq -es 'length > 0' >/dev/null || fail "$(cat -v shown)"
	left_off 2.5 | jq -s . >c.json
	json c.json 'all(. >= -0.6)'
}

@test "the live line says how much time is left: of the duration, or at the pace so far" {
	shown_live '.* s left' send_bw -D 59 -s 64
	left_off 59 | jq -es 'length > 0 and all(fabs <= 0.6)' || fail "$(cat -v shown)"
	# 3000 messages of 1 MiB at 10 Gb/s take 2.5 s.
	export SIMVERBS_GBPS=10
	tries 1 5 'all(. <= 0.6)' at_a_pace
	shown_live '.* s left' write_bw -n 1000000 -s 1M -D 59
	left_off 59 | jq -es 'length > 0 and all(fabs <= 0.6)' || fail "$(cat -v shown)"
}

# lines_fit: no line that the terminal showed is longer than it is wide.
lines_fit() {
	local line LC_ALL=C.UTF-8 # characters, not bytes
	while IFS= read -r line; do
		((${#line} <= columns)) || fail "${#line} characters in $columns columns: $line"
	done < <(grep -v '^Script ' shown | sed 's/\x1b\[K//g' | tr '\r' '\n')
}

# bats test_tags=core
@test "the table fits the terminal: fewer columns, under short heads" {
	local columns heads program
	while read -r columns program heads; do
		on_terminal "$program" -n 20 -s 64 --quiet --cpu_util
		lines_fit
		tr -d '\r' <shown | grep -v '^Script \|^$' >table
		[[ $(wc -l <table) == 2 && $(head -n 1 table | tr -s ' ') == " size $heads" ]] || fail "$columns: $(<table)"
		[[ $(tail -n 1 table) == ' 64 B '*[0-9.-]?( !) ]] || fail "$columns: $(<table)"
		# each head is above its numbers
		[[ $(sed -n '2s/ !$//p;1p' table | awk '{ print length, NF - (NR == 2) }' | uniq | wc -l) == 1 ]] || fail "$(<table)"
	done <<-'END'
		80 send_lat median[us] avg[us] p99[us] p99.9[us] max[us]
		70 write_lat median[us] avg[us] p99[us] p99.9[us] max[us]
		80 write_bw peak[MiB/s] average[MiB/s] Mpps CPU[%]
		66 send_bw peak[MiB/s] average[MiB/s] Mpps CPU[%]
	END
	columns=80
	on_terminal send_bw -n 20 -s 1m -b --report-both --report_gbits --quiet
	lines_fit
	tr -d '\r' <shown >table
	grep -Eq '^ size +peak\[Gb/s\] +average\[Gb/s\] +Mpps +direction$' table || fail "$(<table)"
	grep -Eq '^ 1 MiB .* client_to_server( !)?$' table && grep -Eq '^ 1 MiB .* server_to_client( !)?$' table || fail "$(<table)"
}

@test "the whole table where it fits, where the width is not known, and with --format" {
	local columns=153 whole=' #bytes #iterations    t_min[usec] '
	on_terminal send_lat -n 20 --quiet
	grep -qF "$whole" shown || fail "$(<shown)"
	columns=80
	on_terminal send_lat -n 20 --quiet --format table
	grep -qF "$whole" shown || fail "$(<shown)"
	on_terminal send_lat -n 20 --format perftest
	grep -qF "$whole" shown || fail "$(<shown)"
	columns=0
	on_terminal send_lat -n 20 --quiet
	grep -qF "$whole" shown || fail "$(<shown)"
	columns=84
	on_terminal send_bw -n 20 --quiet
	grep -qF ' #bytes     #iterations    BW peak[MiB/sec]    BW average[MiB/sec]   MsgRate[Mpps]' shown || fail "$(<shown)"
	columns=83
	on_terminal send_bw -n 20 --quiet
	grep -q '^ size .*Mpps' shown || fail "$(<shown)"
}

@test "rows of --run_infinitely fit, too" {
	local columns=70
	start_shown send_bw --run_infinitely --interval 0.2 -s 64 --quiet
	until_says shown ' 64 B '
	kill -INT "${pid[server]}"
	finish client server
	lines_fit
	grep -q '^ size .*average\[MiB/s\]' shown || fail "$(<shown)"
}

@test "the live line is cut where the terminal ends, and gone at the end" {
	local columns=30
	shown_live '64 B: ' send_bw -D 60 -s 64
	live_lines | awk '!/^[0-9.]* s: 64 B: / || length >= 30 { exit 1 }' || fail "$(cat -v shown)"
	sed 's/\r$//; s/.*\r\x1b\[K//' shown >screen
	[[ $(grep -c ' s: 64 B: ' screen) == 0 ]] || fail "$(cat -v screen)"
}

@test "an error, its cause and its fix begin lines of their own on a terminal; else it is one line" {
	local columns=60
	command -v script >/dev/null || skip 'script is not here (util-linux)'
	start client "$(command -v script)" -qec "stty cols $columns; $RDMARK_BIN/read_bw -c UC 127.0.0.1" shown
	finish client
	ended client 2
	lines_fit
	tr -d '\r' <shown | grep -v '^Script ' >screen
	[[ $(<screen) == 'read_bw: '*$'\n  The peer\'s NIC must answer'*$'\n  Fix: '* ]] || fail "$(<screen)"
	start client read_bw -c UC 127.0.0.1
	finish client
	[[ $(wc -l <client.err) == 1 && $(<client.err) == *". The peer's NIC must answer "*'. Fix: '* ]] || fail "$(<client.err)"
}

# bats test_tags=core
@test "a note is wrapped at words on a terminal, with an indent; else it is one line" {
	local columns=58
	on_terminal send_bw -n 20 -s 64 -v
	lines_fit
	tr -d '\r' <shown | grep -v '^Script ' >screen
	# Joined again, they are the lines that a pipe gets.
	sed -n '/^[a-z_]*: /,$p' screen | sed -e ':a' -e 'N; s/\n  \([^ ]\)/ \1/; ta' -e 'P; D' >joined
	pair send_bw -n 20 -s 64 -v
	grep '^[a-z_]*: client ' client.err >noted
	(($(wc -l <noted) > 3)) && grep '^[a-z_]*: client ' joined | diff noted - || fail "$(<screen)"
	(($(grep -c '^  [^ ]' screen) > 3)) || fail "$(<screen)"
}

@test "a server on a terminal says what to type on the other host" {
	local columns=100 name
	name=$(uname -n)
	command -v script >/dev/null || skip 'script is not here (util-linux)'
	waiting() {
		rm -f shown
		start server "$(command -v script)" -qec "stty cols $columns; $RDMARK_BIN/send_bw --wait 0.01 $*" shown
		finish server
		ended server 4
	}
	waiting -p 0
	grep -Eq "^[a-z_]*: on the other host, type: send_bw -p [1-9][0-9]* $name.?$" shown || fail "$(<shown)"
	waiting -p 0 --bind_source_ip 127.0.0.1
	grep -Eq '^[a-z_]*: on the other host, type: send_bw -p [1-9][0-9]* 127.0.0.1.?$' shown || fail "$(<shown)"
	waiting -p 0 --quiet
	! grep 'on the other host' shown || fail 'it is --quiet'
	waiting -p 0 --persistent
	! grep 'on the other host' shown || fail 'any program is possible'
	start server send_bw -p 0 --wait 0.01
	finish server
	says_no server.err 'on the other host'
}

@test "no live line with --quiet" {
	on_terminal send_bw -D 0.8 -s 64 --quiet
	[[ $(<shown) != *$'\e'* ]] || fail "$(cat -v shown)"
}

# What the client has measured did not wait for the reader of what it says, which reads when the round is over; a
# thread that was held up at the start has measured less than 1 s.
lasted() {
	json c.json '.status == "ok" and .results[0].seconds > 0.45'
}

# The client's measured round is over, as the proxy sees it: the first was the warm-up.
await_end() { await 'client round' 'client round' 'client done'; }

@test "a terminal that is stopped by Ctrl-S does not stretch the run" {
	local program release
	command -v python3 >/dev/null || skip 'python3 is not here'
	mkfifo go
	for program in write_bw send_lat; do
		server "$program"
		proxy
		exec {release}<>go
		fresh client
		become "$lib/stopped" ' left' "$RDMARK_BIN/$program" -p "$port" -D 1 -s 64 --interval 0.1 --json=c.json "$host" \
			>client.out 2>client.err <go {release}>&- &
		pid[client]=$!
		await_end
		echo >&"$release"
		finish client server
		exec {release}>&-
		ended client 0
		ended server 0
		lasted
		says client.out ' progress lines were dropped: standard error was blocked' 'worst '
		# Lines are whole or not there.
		sed 's/\x1b\[K//g; s/.*\r\(.\)/\1/' client.out | grep -a '^[a-z_]*: [0-9.]* s: ' >lines
		! grep -av 'messages\(/s\)\?.\?$' lines || fail "$(cat -v client.out)"
	done
}

@test "a pipe that nobody reads does not stretch the run: stderr loses progress, stdout no result" {
	local program full drained
	for program in write_bw send_lat; do
		fill
		server "$program"
		proxy
		fresh client
		become "$program" -p "$port" -D 1 -s 64 --interval 0.1 --quiet --json=c.json "$host" >client.out 2>full </dev/null {full}>&- &
		pid[client]=$!
		await_end
		drain
		finish client server cat
		ended client 0
		ended server 0
		lasted
		grep -q '^[a-z_]*: [0-9]* progress lines were dropped: ' drained || fail "$(tail drained)"

		fill
		server "$program"
		proxy
		fresh client
		become "$program" -p "$port" -D 1 -s 64 --interval 0.1 --json "$host" >full 2>client.err </dev/null {full}>&- &
		pid[client]=$!
		await_end
		drain
		finish client server cat
		ended client 0
		ended server 0
		grep '^{' drained | tee >(tail -n 1 >c.json) >lines.json
		lasted
		# however many, as late ones are one: together they are the run
		jq -es '(.[:-1] | map(.interval) | .[-1].elapsed_s >= 1 and ((map(.interval_s) | add) - .[-1].elapsed_s | fabs) < 1e-6)
			and (.[-1] | has("intervals_dropped") | not)' \
			lines.json >/dev/null || fail "$(<lines.json)"
	done
}

@test "a server whose stderr nobody reads serves all the same" {
	local full drained
	fill
	fresh server
	become send_bw -p 0 --ready-fd 9 --interval 0.1 --quiet >server.out 2>full </dev/null 9>ready {full}>&- &
	pid[server]=$!
	read -r -t "$deadline" port <ready
	proxy
	start_client send_bw -D 1 -s 64 --json=c.json
	await_end
	drain
	finish client server cat
	ended client 0
	ended server 0
	lasted
	grep -q '^[a-z_]*: [0-9]* progress lines were dropped: ' drained || fail "$(tail drained)"
}
