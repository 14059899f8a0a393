#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# bats file_tags=standin,san
# shellcheck disable=SC2016,SC2030,SC2031,SC2034,SC2154 # $ of jq; what lib/rdmark.bash sets and reads
#
# What a server lets a client ask for. Who asks for more is refused on both ends, and the server goes on.

load ../lib/rdmark

setup_file() { need_device; }

# The server took the next client. On a slow machine its time may be over before the run is.
served() {
	[[ ${status[client]} == 0 ]] || { ended client 2 && says client.err 'was served for '; }
}

over() {
	kill -TERM "${pid[server]}"
	finish server
	ended server 0
}

# bats test_tags=core
@test "--max-qps, --max-memory, --max-duration: option, asked, allowed, on both ends" {
	local option asked allowed
	local -a ask
	server write_bw --persistent --max-qps 3 --max-memory 1m --max-duration 20
	while read -r option asked allowed; do
		IFS=, read -ra ask <<<"$option"
		client write_bw -n 5 "${ask[@]}" --json=c.json
		ended client 2
		says client.err "${asked//_/ }" "${allowed//_/ }" 'Fix: '
		says client.err 'agreeing with the client: ' # before anything is made
		until_says server.err "${asked//_/ }.*${allowed//_/ }" # after it told the client
		json c.json '.status == "failed" and .error.exit_status == 2 and .error.from_peer'
	done <<-'END'
		-q,4 requests_4_QPs allows_3
		-s,2m requests_2_MiB allows_1_MiB
		-s,400k,-q,3 requests_1200_KiB allows_1_MiB
		-a requests_8_MiB allows_1_MiB
		--footprint,3m requests_3_MiB allows_1_MiB
		--verify,-s,64k requests_64.06_MiB allows_1_MiB
		-D,25 requests_25_s allows_20_s
	END
	client write_bw -n 5 -q 3 -s 64k -D 0.2
	ended client 0
	over
}

@test "what alignment adds to the buffers is counted too, and nothing is made" {
	server write_lat --persistent --max-memory 1m
	client write_lat -n 5 -s 512k
	ended client 2
	says client.err '--max-memory' 'allows 1 MiB'
	client write_lat -n 5 -s 500k
	ended client 0
	over
}

# bats test_tags=core
@test "a server that refuses while the client still allocates: the client has the reason, not a lost connection" {
	local refused='{"type":"error","code":"usage","phase":"registering memory","call":"--max-memory: too much","errno":0,"text":"","cause":"","fix":""}'
	listen_in
	fake_server hear hello say "$welcome" say "$refused" reset
	client send_lat --connect-timeout 0
	finish stranger
	ended client 2
	says client.err 'reports: registering memory: --max-memory: too much'
}

@test "a client that is refused is one of its own test, not of that before it" {
	server "rdmark server" --json=s.jsonl --max-qps 4
	client send_lat -n 5
	ended client 0
	client write_bw -q 5
	ended client 2
	over
	json_lines s.jsonl '[.[] | [.test, .status, .experiment.size_bytes]] == [["send_lat", "ok", 2], ["write_bw", "failed", 65536]]'
}

@test "-D for each size of a sweep" {
	server send_bw --persistent --max-duration 20
	client send_bw -a -D 1
	ended client 2
	says client.err 'requests 23 s' 'allows 20 s'
	over
}

# bats test_tags=core
@test "a run that turns out to be longer than --max-duration is ended, and the next one is served" {
	local program
	for program in "${programs[@]}"; do
		server "$program" --persistent --max-duration 0.5
		client "$program" -n 1000000000 --json=c.json
		ended client 2
		within client 10
		says client.err 'was served for 500 ms' '--max-duration' 'Fix: '
		json c.json '.status == "failed" and .error.exit_status == 2'
		client "$program" -n 5
		served
		over
		says server.err 'was served for 500 ms'
	done
}

@test "one that only says that it is alive is ended, too" {
	listen_in
	server send_lat --persistent --max-duration 3 --timeout 30
	stranger say "$hello" hear welcome hear error gone
	ended stranger 0
	stranger say "$hello" hear welcome say "$qps" hear qps say '{"type":"alive"}' hear error gone
	ended stranger 0
	within stranger 10
	client send_lat -n 5
	served
	over
}

@test "without --persistent: the server that refuses serves the next one; one that ends a run ends with 2" {
	server send_bw --max-qps 1
	client send_bw -q 2
	ended client 2
	serves_next send_bw
	says server.err 'requests 2 QPs, but this server allows 1'
	server send_bw --max-duration 4 # from the hello on: it has to come to a round in that time
	client send_bw -n 1000000000
	finish server
	ended client 2
	ended server 2
}

@test "of gdr_bw without --plain, too" {
	server gdr_bw --persistent --max-duration 4 --max-memory 12m
	client gdr_bw -s 8m # and 8 MiB for copies
	ended client 2
	says client.err '--max-memory'
	client gdr_bw -s 64k -D 5 --windows 3
	ended client 2
	says client.err '--max-duration'
	over
}
