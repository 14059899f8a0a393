#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# bats file_tags=standin,san,core
# shellcheck disable=SC2016,SC2030,SC2031,SC2034,SC2154 # $ of jq; what lib/rdmark.bash sets and reads
#
# Peers that are no rdmark, or a broken one. A server drops them and serves the next real client;
# who got further than the first message is a failed peer: exit 3, never a hang, never a crash.

load ../lib/rdmark

setup_file() { need_device; }

# After all that came before: a real client is served, and the server says whom it dropped.
still_serves() {
	client send_lat -n 5
	finish server
	ended client 0
	ended server 0
	says server.err dropped
}

@test "who connects and closes, or resets, is dropped" {
	server send_lat
	stranger
	ended stranger 0
	stranger reset
	ended stranger 0
	stranger bytes 'RDM'
	ended stranger 0
	still_serves
}

@test "HTTP, TLS, a 1 GiB length, no JSON, JSON that is no object: dropped at once" {
	server send_lat --timeout 60
	local what stranger_deadline=90
	for what in 'GET / HTTP/1.0\r\n\r\n' '\x16\x03\x01\x02\x00' 'RDMK\x40\x00\x00\x00' 'RDMK\xff\xff\xff\xff' \
		'RDMK\0\0\0\0' 'RDMK\0\0\0\x02[]' 'RDMK\0\0\0\x02{x' 'RDMK\0\0\0\x042\0\0\0' 'RDMJ'; do
		stranger bytes "$what" gone
		[[ ${status[stranger]} == 0 ]] || fail "$what: not dropped"
		within stranger 45 # not by --timeout
	done
	says server.err 'GET /'
	stranger bytes '6.06\0\0\0\0' gone
	until_says server.err "dropped .*: does not speak rdmark's protocol: it sent \"6.06....\". That is perftest 6.06. Fix: "
	still_serves
}

@test "who says nothing is dropped after --timeout, and keeps nobody waiting until then" {
	server send_lat --timeout 1
	stranger gone
	ended stranger 0
	within stranger 25
	((took_ms[stranger] >= 900)) || fail "dropped after ${took_ms[stranger]} ms"
	still_serves
}

@test "100 silent connections: a real client is served at once" {
	server send_lat --timeout 60
	exec {events}< <(become "$lib/peer" connect "$port" crowd 100 tell stay)
	pid[crowd]=$!
	await here
	client send_lat -n 5
	ended client 0
	within client 45
	finish server
	ended server 0
}

# median_ms COUNT: sets took to how long half of COUNT clients take at most, one after the other.
median_ms() {
	local i all=()
	for ((i = 0; i < $1; i++)); do
		client send_lat -n 5 --auth="$auth"
		ended client 0
		all+=("${took_ms[client]}")
	done
	mapfile -t all < <(printf '%s\n' "${all[@]}" | sort -n)
	took=${all[$1 / 2]}
}

# A median, since each client shares the CPUs with the flood, with the server, and with what else runs here; and a
# second is no limit where a client takes long without a flood.
@test "a host opens connections without end: no client of another one fails, half of them take less than a second" {
	local auth took quiet
	(umask 077 && head -c 32 /dev/urandom >key)
	for auth in key:key none; do
		server send_lat --persistent --auth="$auth"
		median_ms 3
		quiet=$took
		start flood "$lib/peer" flood "$port" 127.0.0.2 200
		until_says flood.out here
		median_ms 9
		kill -KILL "${pid[flood]}" # it has not ended before
		finish flood
		ended flood 137
		((took < 1000 || took < 20 * quiet)) || fail "$took ms, without a flood $quiet ms"
		kill -TERM "${pid[server]}"
		finish server
		ended server 0
		says server.err 'dropped 127.0.0.2:' ': too many connections'
		says_no server.err 'dropped 127.0.0.1:'
	done
}

@test "a connection that was challenged keeps its place, however many others come" {
	(umask 077 && head -c 32 /dev/urandom >key)
	server send_lat --persistent --auth=key:key
	stranger say '{"type":"hello","protocol":4,"version":"0.1.0","auth":"key"}' hear challenge crowd 100 \
		say '{"type":"credential"}' gone
	ended stranger 0
	kill -TERM "${pid[server]}"
	finish server
	ended server 0
}

@test "who is dropped after --timeout: the log says how far it got" {
	local what
	(umask 077 && head -c 32 /dev/urandom >key)
	server send_lat --persistent --timeout 0.2 --auth=key:key
	stranger gone
	stranger bytes 'RDMK' gone
	stranger say '{"type":"hello","protocol":4,"version":"0.1.0","auth":"key"}' hear challenge gone
	ended stranger 0
	for what in 'sent nothing' 'sent only a part of a message' 'was challenged, but has not proved itself'; do
		until_says server.err "it connected, but $what"
	done
	kill -TERM "${pid[server]}"
	finish server
}

@test "a frame that comes in single bytes is a frame" {
	listen_in
	server send_lat
	stranger drip "$hello" hear welcome
	ended stranger 0
	serves_next send_lat
}

@test "a hello with any value of a wrong type is dropped, never taken, and never ends the server" {
	listen_in
	# Every value in it, on every level, replaced by one of each other type, and left out. (A rate may be
	# any number.)
	jq -c '. as $m | paths as $p | ($m | getpath($p)) as $v
		| ("text", -1, 1.5, 1e300, true, null, [], {}, [1], 9007199254740993000)
		| select(type != ($v | type) or (type == "number" and (. < 0 or . != floor or . > 1e15)))
		| select(type != "number" or . < 1e15 or $p[-1] != "rate_limit")
		| . as $bad | $m | setpath($p; $bad)' <<<"$hello" >bad.txt
	jq -c '. as $m | keys[] | select(. != "experiment" and . != "default_depth") as $k | $m | del(.[$k])' <<<"$hello" >>bad.txt
	(($(wc -l <bad.txt) > 50)) || fail "only $(wc -l <bad.txt) variants"
	server send_lat
	start stranger "$lib/peer" each "$port" bad.txt
	finish stranger
	[[ ${status[stranger]} == 0 ]] || fail "the server ended after: $(tail -n 1 stranger.out)"
	# null stands for "as you please" in the experiment
	if grep -vE '^(closed|error peer) ' stranger.out | grep -vE '^welcome .*:null' >taken.txt; then
		fail "taken: $(cut -c 1-600 taken.txt | head -n 5)"
	fi
	still_serves
}

@test "values out of range in the experiment are dropped" {
	listen_in
	jq -c '. as $m | (["qp", 0], ["qp", 1000000], ["size", 0], ["iters", 0], ["tx-depth", 0], ["sl", 16], ["tos", 256],
		["qp-timeout", 32], ["mtu", 1500], ["post_list", 0], ["connection", 99]) as [$k, $bad]
		| $m | .experiment[$k] = $bad' <<<"$hello" >bad.txt
	server send_lat
	start stranger "$lib/peer" each "$port" bad.txt
	finish stranger
	ended stranger 0
	[[ $(grep -cE '^(closed|error peer) ' stranger.out) == 11 ]] || fail "taken: $(cut -c 1-300 stranger.out)"
	still_serves
}

@test "QP details that are none: the server names the key, and serves the next one" {
	local variant key filter
	listen_in
	while read -r key filter; do
		variant=$(jq -c "$filter" <<<"$qps")
		server send_lat --timeout 60
		stranger say "$hello" hear welcome say "$variant" hear error
		ended stranger 0
		serves_next send_lat
		says server.err "$key"
		within server 45 # not by --timeout
	done <<-'END'
		qpn .strands[0].qpn="text"
		qpn .strands[0].qpn=[]
		gid del(.strands[0].gid)
		rkey .strands[0].rkey=1.5
		addr .strands[0].addr="0"
		end .ends[0]=[]
		strands .strands=[]
		ends .ends=7
	END
	server send_lat
	stranger say "$hello" hear welcome say '{"type":"bye"}' gone
	serves_next send_lat
}

@test "what a client may not say during a run ends it with 3" {
	local what
	listen_in
	for what in '{"type":"nonsense"}' '{}' '{"type":"done","messages":[5]}'; do # instead of a first round
		server send_lat
		stranger say "$hello" hear welcome say "$qps" hear qps say "$what" gone
		ended stranger 0
		serves_next send_lat
		says server.err 'the client sent an unexpected message instead of a round'
	done
	for what in '{"type":"round"}' '{"type":"round","message_bytes":99999999999,"target":1,"warmup":false}' \
		'{"type":"round","message_bytes":0,"target":1,"warmup":false}'; do
		server send_lat --timeout 60
		stranger say "$hello" hear welcome say "$qps" hear qps say "$what" gone
		finish server
		[[ ${status[server]} == 3 ]] || fail "$what: server status ${status[server]}"
		within server 45 # not by --timeout
	done
}

@test "what a client may not say while it measures ends the server with 3" {
	local what more
	listen_in
	for what in '{"type":"nonsense"}' '{"type":"finish"}' '{"type":"round"}' '{"type":"done"}' \
		'{"type":"done","messages":-1}'; do
		more=()
		[[ $what != *finish* ]] || more=(say '{"type":"alive"}' say '{"type":"nonsense"}') # it may: it is interrupted
		server send_lat --timeout 60
		stranger say "$hello" hear welcome say "$qps" hear qps \
			say '{"type":"round","message_bytes":2,"target":5,"warmup":false}' hear ready say "$what" "${more[@]}" gone
		finish server
		[[ ${status[server]} == 3 ]] || fail "$what: server status ${status[server]}"
		says server.err 'measuring: '
		within server 45 # not by --timeout
	done
	server send_lat
	stranger say "$hello" hear welcome say "$qps" hear qps \
		say '{"type":"round","message_bytes":2,"target":5,"warmup":false}' hear ready \
		say '{"type":"done","messages":[5]}' say '{"type":"done","messages":[5]}' gone
	finish server
	ended server 3
	says server.err "unexpected 'done'"
}

@test "an MTU that is none: the number is told; a client exits 3" {
	listen_in
	server send_lat
	stranger say "$(jq -c '.rails[0].mtu_bytes = 300' <<<"$hello")" hear error
	serves_next send_lat
	says server.err 'an invalid MTU of 300'
	fake_server hear hello say "$(jq -c '.rails[0].mtu_bytes = 300' <<<"$welcome")" gone
	client send_lat --connect-timeout 0
	finish stranger
	ended client 3
	says client.err 'an invalid MTU of 300'
}

@test "more strangers than the server may have open files: a real client is served after them" {
	through=(bash -c 'ulimit -n 24; exec "$@"' bash)
	server send_lat --timeout 30
	through=()
	exec {events}< <(become "$lib/peer" connect "$port" crowd 30 tell stay)
	pid[crowd]=$!
	await here
	kill "${pid[crowd]}"
	client send_lat -n 5
	ended client 0
	finish server
	ended server 0
}

@test "a server that is none: the client exits 3, or 4 if it says nothing" {
	local what
	for what in 'HTTP/1.0 400 Bad Request\r\n\r\n' 'RDMK\x40\x00\x00\x00' 'RDMK\0\0\0\x02[]'; do
		fake_server hear hello bytes "$what" gone
		client send_lat --connect-timeout 0 --json=c.json
		ended client 3
		json c.json '.status == "failed" and .error.exit_status == 3'
		finish stranger
	done
	fake_server hear hello gone
	client send_lat --connect-timeout 0 --timeout 1
	ended_with_any client 3 4
	within client 10
}

@test "a server that ends before it answers: the client looks for the next one, then says what it saw" {
	fake_server hear hello
	client send_lat --connect-timeout 0.5
	finish stranger
	ended client 3
	says client.err 'was lost' 'Fix: '
	fake_server hear hello
	start_client send_lat -n 5 --connect-timeout 20
	finish stranger
	start next send_lat -p "$port"
	finish client next
	ended client 0
	ended next 0
}

@test "a server whose answers are of wrong types: the client exits 3" {
	local what
	listen_in
	jq -c '. as $m | {type: "welcome"}, (keys[] | select(. != "type" and . != "version") as $k
		| ("text", -1, 1.5, null, []) as $bad | $m | .[$k] = $bad)' <<<"$welcome" >bad.txt
	cat >>bad.txt <<-'END'
		{"type":7}
		{"type":"bye"}
		{"type":"busy","with":[]}
		{"type":"error","code":9,"call":{},"errno":"x"}
	END
	while read -r what; do
		fake_server hear hello say "$what" gone
		client send_lat --connect-timeout 0 --timeout 20
		[[ ${status[client]} == 3 || ($what == *busy* && ${status[client]} == 4) ]] ||
			fail "$what: client status ${status[client]}"
		finish stranger
	done <bad.txt
}

@test "control characters in a peer's words do not reach the terminal" {
	fake_server hear hello say '{"type":"error","code":"local","call":"x\u001b[31mred\u0007","fix":"\r\nnothing"}' gone
	client send_lat --connect-timeout 0
	ended client 3
	says client.err red
	[[ $(LC_ALL=C tr -d '\n' <client.err) != *[[:cntrl:]]* ]] || fail 'control characters'
}
