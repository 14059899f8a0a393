#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# bats file_tags=standin,san
# shellcheck disable=SC2016,SC2030,SC2031,SC2034,SC2154 # $ of jq; what lib/rdmark.bash sets and reads
#
# A server that stays: one client after another, whatever becomes of them, until a signal.

load ../lib/rdmark

setup_file() { need_device; }

few=(-n 40 -s 256)

over() { # the server is told to end, and does
	kill -TERM "${pid[server]}"
	finish server
	ended server 0
}

# Descriptors that the server has open.
descriptors() { ls "/proc/${pid[server]}/fd" | wc -l; }

# bats test_tags=core
@test "clients one after another, each with an experiment of its own; SIGTERM ends it with 0" {
	local program
	for program in "${programs[@]}"; do
		server "$program" --persistent
		client "$program" "${few[@]}"
		ended client 0
		client "$program" -n 20 -s 4096 -D 0.2
		ended client 0
		client "$program" "${few[@]}" --json=c.json
		ended client 0
		json c.json '.status == "ok" and .results[0].messages == 40'
		over
		rows server.out
		((${#rows[@]} == 3)) || fail "$program: ${#rows[@]} rows"
	done
}

# bats test_tags=core
@test "stopped between two rounds: its client hears why, and is interrupted, not failed" {
	mkfifo rows
	exec {reader}<>rows
	server read_lat --persistent # no other end must be on a CPU for each message
	through=(bash -c 'exec "$@" >rows' bash)
	start_client read_lat -n 20000 -U --json=c.json # more rows than a pipe holds: it waits for who reads them
	through=()
	read -r -t "$deadline" <&"$reader" || fail 'no rows'
	over
	timeout "$deadline" cat <&"$reader" >/dev/null 3>&- &
	finish client
	kill $!
	exec {reader}<&-
	ended client 0
	json c.json '.status == "interrupted" and .error == null and .results[0].messages == 20000'
}

@test "nothing is left of a client: descriptors, experiment" {
	local before n
	server send_bw --persistent --json=s.json
	before=$(descriptors) # all that it will have open without a client
	client send_bw "${few[@]}" -q 7
	ended client 0
	for n in 1 2 3 4 5 6 7 8; do
		client send_bw "${few[@]}"
		ended client 0
	done
	# The last client has its word before the server has released what it had.
	for ((n = SECONDS + deadline; SECONDS < n; )); do
		[[ $(descriptors) != "$before" ]] || break
	done
	[[ $(descriptors) == "$before" ]] || fail "$(descriptors) descriptors, $before before"
	over
	jq -s -e 'length == 9 and all(.status == "ok" and .results[0].messages == 40 or .results[0].qps == 7) and
		.[8].experiment.qp == 1' s.json || fail "$(<s.json)"
}

# bats test_tags=core
@test "strangers, a wrong client, one that is killed: the next one is served" {
	listen_in write_bw
	server write_bw --persistent
	stranger say 'GET / HTTP/1.0' gone
	stranger say "$(jq -c '.test = "no_bw"' <<<"$hello")" hear error gone
	ended stranger 0
	says stranger.out 'different tests'
	start_client write_bw -D 30
	wait_for_run
	kill -KILL "${pid[client]}"
	finish client
	client write_bw "${few[@]}"
	ended client 0
	over
	says server.err 'different tests' 'was lost' ': the server stops'
}

# The client has begun: its banner is there.
wait_for_run() { until_says client.err ', MTU '; }

@test "an option that both ends give differently: refused on both, and the next one is served" {
	server write_bw --persistent -s 256
	client write_bw -n 40 -s 512
	ended client 2
	says client.err '--size'
	client write_bw "${few[@]}"
	ended client 0
	over
	says server.err '--size'
}

@test "another version: refused on both, and the next one is served" {
	listen_in
	server send_lat --persistent
	stranger say "$(jq -c '.protocol = 99 | .version = "9.9.9"' <<<"$hello")" hear error gone
	ended stranger 0
	says stranger.out 'different versions' 'upgrade rdmark on the server'
	client send_lat -n 5
	ended client 0
	over
	says server.err 'different versions'
}

# bats test_tags=core
@test "one that stalls, wherever in its session: dropped after --timeout, the next one is served" {
	listen_in
	local name round='{"type":"round","message_bytes":2,"target":5,"warmup":false}'
	# Each has a server of its own, so that all stall at the same time.
	stalls() {
		start_server "at_$1" 'send_lat --persistent --timeout 4' # the next one is quicker to say what it has to say
		ports[$1]=$port
		deadline=30 start "who_$1" "$lib/peer" connect "$port" "${@:2}" gone
	}
	local -A ports=()
	stalls hello
	stalls qps say "$hello" hear welcome hear error
	stalls round say "$hello" hear welcome say "$qps" hear qps hear error
	stalls ending say "$hello" hear welcome say "$qps" hear qps say "$round" hear ready hear error
	for name in hello qps round ending; do
		finish "who_$name"
		ended "who_$name" 0
		within "who_$name" 25
		[[ ${took_ms[who_$name]} -ge 3600 ]] || fail "$name: dropped after ${took_ms[who_$name]} ms"
		port=${ports[$name]} client send_lat -n 5
		ended client 0
		kill -TERM "${pid[at_$name]}"
		finish "at_$name"
		ended "at_$name" 0
	done
}

# bats test_tags=core
@test "a signal while a client is served: what was measured is shown, both end with 0" {
	server send_bw --persistent
	start_client send_bw -D 30 --interval 0.1
	until_says client.err ' s: ' # it measures
	over
	finish client
	ended client 0
	row client.out
	row server.out
}

# stops_while SERVER N ACTION…: a SERVER is stopped when a client has come so far, and only says from then on that
# it is alive. stopped N: what became of the Nth.
stops_while() {
	start_server "server$2" "$1" --timeout 1
	deadline=30 start "stranger$2" "$lib/peer" connect "$port" "${@:3}" tell every 0.2 '{"type":"alive"}'
	until_says "stranger$2.out" here
	kill -TERM "${pid[server$2]}"
	started_us[server$2]=${EPOCHREALTIME/[.,]/}
}

stopped() {
	finish "server$1" "stranger$1"
	ended "server$1" 0
	within "server$1" 15
	says "server$1.err" ': the server stops'
}

@test "a signal is heeded within --timeout, wherever its client only says that it is alive" {
	local i program verified twice round='{"type":"round","message_bytes":2,"target":5,"warmup":false}'
	local done='{"type":"done","messages":[5],"record":{"message_bytes":2,"messages":5,"seconds":1,"bandwidth_gbps":1}}'
	for program in write_bw send_bw send_lat; do
		listen_in "$program"
		hello=$(jq -c '.experiment.size = 2' <<<"$hello")
		verified=$(jq -c '.experiment.verify = 1' <<<"$hello") twice=$(jq -c '.strands += .strands' <<<"$qps")
		stops_while "$program --persistent" 1 bytes RDM
		stops_while "$program --persistent" 2 say "$hello" hear welcome
		stops_while "$program --persistent" 3 say "$hello" hear welcome say "$qps" hear qps # between rounds
		stops_while "$program --persistent" 4 say "$hello" hear welcome say "$qps" hear qps say "$round" hear ready
		stops_while "$program --persistent" 5 say "$hello" hear welcome say "$qps" hear qps say "$round" hear ready say "$done"
		# while data are verified; a round of a server of every test
		stops_while "$program --persistent" 6 say "$verified" hear welcome say "$twice" hear qps say "$round" hear ready say "$done"
		stops_while 'rdmark server' 7 say "$hello" hear welcome say "$qps" hear qps say "$round" hear ready
		for i in {1..7}; do stopped "$i"; done
	done
}

@test "a signal while one client only says that it is alive: who waits finds no server" {
	local round='{"type":"round","message_bytes":2,"target":5,"warmup":false}'
	listen_in write_bw
	hello=$(jq -c '.experiment.size = 2' <<<"$hello")
	server write_bw --persistent --timeout 1
	deadline=30 start stranger "$lib/peer" connect "$port" say "$hello" hear welcome say "$qps" hear qps \
		say "$round" hear ready tell every 0.2 '{"type":"alive"}'
	until_says stranger.out here
	start next write_bw -p "$port" --connect-timeout 5 "${few[@]}" "$host"
	until_says next.err 'the server is busy with'
	over
	within server 20
	finish stranger next
	ended next 4
	says next.err 'No server listens'
	says_no next.err --persistent # that one could be reached
}

# bats test_tags=core
@test "a signal that its client does not survive: the server ends with 0, the document says what became of the client" {
	local round='{"type":"round","message_bytes":2,"target":1000000,"warmup":false}'
	listen_in write_bw
	hello=$(jq -c '.experiment.size = 2' <<<"$hello")
	server write_bw --persistent --timeout 30 --json=s.json
	exec {events}< <(become "$lib/peer" connect "$port" say "$hello" hear welcome say "$qps" hear qps \
		say "$round" hear ready tell hear finish)
	pid[gone]=$!
	await here
	kill -TERM "${pid[server]}"
	finish server
	ended server 0
	says server.err 'was lost' ': the server stops'
	json s.json '.status == "failed" and .error.exit_status == 3'
}

@test "the service manager hears when it is ready" {
	command -v python3 >/dev/null || skip 'no python3'
	start manager "$(command -v python3)" -c 'import socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind("notify.sock"); s.settimeout(100); print("bound", flush=True); print(s.recv(100).decode())'
	until grep -qs bound manager.out; do read -r -t 0.05 <> <(:) || true; done
	NOTIFY_SOCKET=$PWD/notify.sock server send_lat --persistent
	finish manager
	says manager.out READY=1
	over
}

@test "--persistent is the server's, and so are its limits" {
	local option
	for option in --persistent --max-memory=1m --max-duration=1 --max-qps=1; do
		start cli send_bw "$option" "$host"
		finish cli
		ended cli 2
		says cli.err "${option%=*}" 'Fix: '
	done
}

# Every address of 127/8 is this host's, and none but 127.0.0.1 is where such a server listens.
@test "a server that stays serves its own host, the address that it is given, or with --auth=none all" {
	server send_lat --persistent
	says server.err 'ready on 127.0.0.1:' 'for clients of this host only: ' '--auth=none'
	client send_lat -n 5
	ended client 0
	host=127.0.0.2 client send_lat -n 5 --connect-timeout 0
	ended client 4
	says client.err 'Connection refused. No server listens on TCP port' \
		'. A server with --persistent and without --auth serves its own host only, on 127.0.0.1. Fix: '
	kill "${pid[server]}"
	finish server
	server send_lat --persistent --bind_source_ip 127.0.0.2
	says_no server.err 'this host only'
	host=127.0.0.2 client send_lat -n 5
	ended client 0
	kill "${pid[server]}"
	finish server
	server send_lat --persistent --auth=none
	says_no server.err 'this host only'
	host=127.0.0.2 client send_lat -n 5
	ended client 0
	kill "${pid[server]}"
	finish server
	ended server 0
}

@test "--wait: a server that no client comes to ends with status 4 and says so; strangers are none" {
	local program
	server send_lat --wait 5
	stranger bytes 'GET / HTTP/1.0\r\n\r\n' gone
	deadline=30 start quiet "$lib/peer" connect "$port" tell stay
	until_says quiet.out here
	for program in send_bw 'rdmark server'; do
		# shellcheck disable=SC2086 # words
		start nobody ${program} -p 0 --wait 200ms
		finish nobody
		ended nobody 4
		says nobody.err 'waiting for the client: no client connected. The --wait of 200 ms has passed. Fix: ' 'longer --wait'
		(($(grep -c 'no client connected' nobody.err) == 1))
	done
	answered_client_of send_lat --wait
	finish server
	ended server 4
	says server.err 'dropped '
	kill -0 "${pid[quiet]}" # it still says nothing
}

@test "a server whose stdin is no terminal waits for ten minutes, and says so; --persistent for ever" {
	local option
	server send_lat
	says server.err "send_lat: exits if no client comes for 600 s (--wait)"
	client send_lat -n 5
	finish server
	ended server 0
	for option in '--wait 0' --persistent; do
		# shellcheck disable=SC2086 # an option and its value
		server send_lat $option
		says server.err 'ready on '
		says_no server.err 'exits if'
		kill "${pid[server]}"
		finish server
	done
	ln -s "$RDMARK_BIN/send_lat" ib_send_lat
	server ./ib_send_lat
	says_no server.err 'exits if'
	kill "${pid[server]}"
	finish server
	command -v script >/dev/null || skip 'script is not here (util-linux)'
	start terminal "$(command -v script)" -qefc "$RDMARK_BIN/send_lat -p 0" shown
	until_says shown 'on the other host, type'
	says_no shown 'exits if'
	kill "${pid[terminal]}"
	finish terminal
}

# Only a server has it.
answered_client_of() {
	start client "$@" 5 localhost
	finish client
	ended client 2
	says client.err '--wait cannot be used in a client'
}

# bats test_tags=core
@test "--wait: who comes in time is served; after that a server that stays waits anew" {
	server send_lat --wait 5
	client send_lat -n 5
	finish server
	ended client 0
	ended server 0
	server 'rdmark server' --wait 5
	client read_lat -n 5
	ended client 0
	finish server
	ended server 4
	within server 30
	says server.err ' read_lat: ' 'no client connected'
}
