#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# bats file_tags=standin,san
# shellcheck disable=SC2016,SC2030,SC2031,SC2034,SC2154 # $ of jq; what lib/rdmark.bash sets and reads
#
# How the two ends find each other and agree, or not.

load ../lib/rdmark

setup_file() { need_device; }

# bats test_tags=rxe,core
@test "IPv4, IPv6, [IPv6] and a name reach the same server" {
	local to
	for to in 127.0.0.1 ::1 '[::1]' localhost; do
		server send_lat
		host=$to
		client send_lat -n 5
		finish server
		ended client 0
		ended server 0
	done
}

# bats test_tags=rxe
@test "the GIDs on both ends are of the family that the connection has" {
	[[ ${GID_INDEX-} ]] || skip 'the device has no IPv4 GID'
	local to type
	while read -r to type; do
		host=$to
		pair write_bw -n 5 -s 64 --json=c.json
		json c.json 'all(.ends[]; .gid_type | contains($type))' --arg type "$type"
	done <<-'END'
		127.0.0.1 IPv4
		::1 IPv6
	END
}

@test "--ready-fd: the port and nothing else; -p 0 takes a free one, so two servers need no names" {
	start_server one send_lat
	local port_one=$port
	start_server two send_bw
	[[ $port_one =~ ^[0-9]+$ && $port =~ ^[0-9]+$ && $port != "$port_one" ]] || fail "ports $port_one and $port"
	says one.err "ready on [::]:$port_one"
	client send_bw -n 5 -s 64
	ended client 0
	port=$port_one
	client send_lat -n 5
	ended client 0
	finish one two
	ended one 0
	ended two 0
}

@test "a port that is taken: exit 1, and what to do" {
	server send_lat
	start second send_lat -p "$port"
	finish second
	ended second 1
	says second.err "$port" 'Address already in use' '-p'
}

@test "--ready-fd that is not open: exit 2" {
	start cli send_lat -p 0 --ready-fd 77
	finish cli
	ended cli 2
	says cli.err '--ready-fd 77'
}

@test "a client that is there first waits for its server" {
	server send_lat
	kill -KILL "${pid[server]}"
	finish server
	start_client send_lat -n 5 --connect-timeout 30
	start late send_lat -p "$port"
	finish client late
	ended client 0
	ended late 0
}

@test "the same options on both ends are fine, in any order" {
	server write_bw -s 64 -n 20 -q 2 --report_gbits -F
	client write_bw -F -q 2 --report_gbits -n 20 -s 64
	finish server
	ended client 0
	ended server 0
	says server.out Gb/sec
}

@test "the server adopts what only the client asks for" {
	server send_bw --json=s.json
	client send_bw -s 128 -n 21 -q 2 -t 32 -m 512
	finish server
	ended server 0
	json s.json '.experiment | .size_bytes == 128 and .iters == 21 and .qp == 2 and .tx_depth == 32 and .mtu_bytes == 512'
	json s.json '.results[0].message_bytes == 128'
}

# bats test_tags=core
@test "an option that differs is refused on both ends, by name, with both values, at once" {
	local option here there
	while read -r option here there; do
		server send_bw "--$option=$here" --timeout 60
		client send_bw "--$option=$there" --timeout 60
		[[ ${status[client]} == 2 ]] || fail "$option: client ${status[client]}"
		serves_next send_bw "--$option=$here"
		says client.err "--$option" "$here" "$there"
		says server.err "--$option" "$here" "$there"
		within client 45 # not by --timeout
	done <<-'END'
		size 64 65
		iters 10 11
		qp 2 3
		mtu 512 1024
		warmup 0 5
	END
	server send_bw -s 64
	client send_bw # the client's default
	waits_on
	ended client 2
	says client.err '64 KiB' '64 B'
	server send_bw -D 5
	client send_bw -D 6
	waits_on
	ended client 2
	says client.err --duration '5 s' '6 s'
	server send_bw -a
	client send_bw
	waits_on
	ended client 2
	says client.err --all
}

# bats test_tags=core
@test "different programs on the two ends: the client exits 2, both say both names, and the server waits" {
	local one other
	while read -r one other; do
		server "$one"
		client "$other"
		ended client 2
		serves_next "$one"
		says client.err "$one" "$other"
		says server.err "$one" "$other"
	done <<-'END'
		send_bw write_bw
		write_lat send_lat
		send_lat send_bw
	END
}

# bats test_tags=core
@test "different versions: both ends say both, and which one to upgrade; the server waits" {
	server send_lat
	stranger say '{"type":"hello","protocol":999,"version":"9.9","test":"send_lat","experiment":{}}' hear error
	ended stranger 0
	serves_next send_lat
	says server.err 9.9 999 upgrade server
	says stranger.out 9.9 999 upgrade server
	server send_lat
	stranger say '{"type":"hello","protocol":0,"version":"0.0.1","test":"send_lat","experiment":{}}' hear error
	serves_next send_lat
	says server.err 0.0.1 upgrade client
}

@test "a client shows what a server of another version says, and exits 2" {
	fake_server hear hello say '{"type":"error","code":"usage","call":"different versions: 9.9","fix":"upgrade"}' gone
	client send_lat
	ended client 2
	says client.err 'different versions: 9.9' upgrade
	finish stranger
	ended stranger 0
}

# bats test_tags=core
@test "a server of one client refuses a second one at once, with what to do; the first goes on" {
	server write_bw
	proxy
	start first write_bw -p "$port" -D 60 -s 64 "$host"
	await 'server welcome' 'client round' 'server ready'
	port=$(sed -n 's/.*ready on .*:\([0-9]*\)$/\1/p' server.err)
	client write_bw -s 64 -n 5 --connect-timeout 60 --timeout 60 --json=c.json
	ended client 3
	within client 45 # not by one of these
	says client.err 'the server (' 'this server serves only one client, ' 'Fix: ' --persistent
	json c.json '.status == "failed" and .error.exit_status == 3'
	client write_bw -q 0 # what is wrong in any case is said
	ended client 2
	kill -INT "${pid[first]}"
	finish first server
	ended first 130
	ended server 0
	says server.err 'this server serves only one client, '
}

# bats test_tags=core
@test "what is typed wrongly at the client: the server says so, waits and serves the one that is right" {
	local wrong
	server send_bw --json=s.json
	for wrong in '-d typo' "-x $GID_EMPTY" '-I 65536' '-s 8g' '-q 65536'; do
		# shellcheck disable=SC2086 # an option and its value
		client send_bw $wrong
		[[ $wrong == '-q '* ]] || ended client 2 # what a device does not have is the caller's mistake
		((status[client])) || fail "$wrong: taken"
	done
	serves_next send_bw --json=next.json
	(($(grep -c '^send_bw: client .* not served, still waiting' server.err) == 3)) || fail 'not once for each'
	says_no server.err typo '8 GiB' # these clients did not connect
	json s.json '.status == "ok" and .error == null and .results[0].messages == 5'
	rows server.out
	((${#rows[@]} == 1)) || fail 'not one row'
	server send_bw --wait 5
	client send_bw -x "$GID_EMPTY"
	finish server
	ended server 4
	says server.err 'not served, still waiting' 'The --wait of 5 s has passed'
}

# bats test_tags=core
@test "one after another in a loop: who comes while the server ends is served by the next one" {
	local server_port _
	server write_bw
	server_port=$port
	for _ in 1 2 3 4 5; do
		port=$server_port
		client write_bw -s 64 -n 5
		ended client 0
		start_client write_bw -s 64 -n 5 --connect-timeout 30 # the first server may still be there
		finish server
		ended server 0
		start server write_bw -p "$server_port"
		finish client server
		ended client 0
		ended server 0
		start server write_bw -p "$server_port"
	done
	kill -TERM "${pid[server]}"
	finish server
}

@test "the number of control messages does not grow with -q" {
	local qps count=()
	for qps in 1 64; do
		server send_bw
		proxy
		client send_bw -s 64 -n 10 -q $qps
		finish server proxy
		ended client 0
		ended server 0
		await_end
		count+=("$(grep -vc alive proxy.out)")
	done
	[[ ${count[0]} == "${count[1]}" ]] || fail "messages: ${count[*]}"
	((count[0] >= 8)) || fail "only ${count[0]} messages: was the proxy asked?"
}

# bats test_tags=rxe
@test "512 QPs connect" {
	pair write_bw -q 512 -n 1 -s 64 --warmup 0
	row client.out
	[[ ${row[1]} == 512 ]]
}
