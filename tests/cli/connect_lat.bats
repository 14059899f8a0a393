#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# bats file_tags=standin,rxe,san
# shellcheck disable=SC2016,SC2030,SC2031,SC2034,SC2154 # $ of jq; what lib/rdmark.bash sets and reads
#
# connect_lat: how long connecting a QP takes. With -R it is in cm.bats.

load ../lib/rdmark

setup_file() { need_device; }

@test "a row for each step, and one of all; each is measured as often" {
	server connect_lat --json=s.json
	client connect_lat -n 40 --json=c.json --csv=c.csv
	finish server
	ended client 0
	ended server 0
	[[ $(head -n 1 client.out) == ' #calls    call       median[us] avg[us]   p99[us]   max[us]   calls/s' ]] || fail "$(<client.out)"
	[[ $(awk 'NR > 1 { print $1, $2 }' client.out | paste -sd ,) == \
		'40 create,40 init,40 exchange,40 peer,40 rtr,40 rts,40 destroy,40 connection' ]] || fail "$(<client.out)"
	json c.json '.status == "ok" and .effective.connected_by == "tcp" and .effective.tx_depth == 1 and (.results | map(.step)) == ["create", "init", "exchange", "peer", "rtr", "rts", "destroy", "connection"]'
	json c.json '.results | all(.direction == "none" and .latency_min_us <= .latency_max_us and (.messages_per_s * .seconds / .messages - 1 | fabs) < 1e-6)'
	json c.json '(.results | map(.seconds)) as $s | ($s[:7] | add) <= $s[7] * 1.001'
	json s.json '.status == "ok" and .results == []'
	(($(grep -c ',none,' c.csv) == 8)) || fail "$(<c.csv)"
}

@test "threads count together; several numbers of them, over one connection; with a key" {
	(umask 077; head -c 32 /dev/urandom >key)
	server connect_lat --auth=key:key
	client connect_lat --threads 1,3 -n 20 --warmup 2 --auth=key:key --json=c.json
	finish server
	ended client 0
	json c.json '[.results[] | select(.step == "connection") | .messages] == [20, 60]'
}

@test "-D: as long as it says; UC, UD; from the server of all tests" {
	server 'rdmark server'
	client connect_lat -D 0.3 -c UC --json=c.json
	ended client 0
	((took_ms[client] >= 300)) || fail 'it ended before its time'
	json c.json '.experiment.connection == "UC" and .results[0].messages > 0'
	client connect_lat -n 10 -c UD
	ended client 0
	kill -TERM "${pid[server]}"
	finish server
	ended server 0
}

@test "what sends messages, or has memory for them, is refused; so is XRC" {
	local option
	for option in -s4k -a -q2 --verify -b -e --use_hugepages --gpu=0 --repeat=2 -U --max-lat=5 --format=perftest --reconnect=2; do
		start cli connect_lat "$option" "$host"
		finish cli
		ended cli 2
		says cli.err 'cannot be used in connect_lat. Fix: '
	done
	start cli connect_lat -c XRC "$host"
	finish cli
	ended cli 2
	says cli.err '-c/--connection XRC cannot be used with connect_lat. Fix: use RC, UC or UD'
}

@test "a signal at either end: what was measured is shown" {
	server connect_lat
	start_client connect_lat -n 30,1g --json=c.json
	until_says client.out ' connection '
	until_ran "${pid[client]}"
	kill -INT "${pid[client]}"
	finish client server
	ended client 130
	json c.json '.status == "interrupted" and (.results | length) >= 8 and (.results[:8] | all(.messages == 30))'
	server connect_lat
	start_client connect_lat -n 30,1g --json=c.json
	until_says client.out ' connection '
	until_ran "${pid[client]}"
	kill -TERM "${pid[server]}"
	finish client server
	ended client 0
	says client.err 'interrupted by the server'
	json c.json '.status == "interrupted" and (.results[:8] | all(.messages == 30))'
}

@test "a server that dies is an error, and what was measured stays" {
	server connect_lat
	start_client connect_lat -n 30,1g --json=c.json
	until_says client.out ' connection '
	until_ran "${pid[client]}"
	kill -KILL "${pid[server]}"
	finish client
	ended client 3
	json c.json '.status == "failed" and .error.code == "peer" and (.results[:8] | all(.messages == 30))'
}

@test "a server that stops answering is an error within the deadline" {
	server connect_lat
	start_client connect_lat -n 30,1g --timeout 1 --json=c.json
	until_says client.out ' connection '
	until_ran "${pid[client]}"
	kill -STOP "${pid[server]}"
	finish client
	kill -CONT "${pid[server]}"
	ended client 4
	finish server
	json c.json '.status == "failed" and .error.code == "deadline"'
}
