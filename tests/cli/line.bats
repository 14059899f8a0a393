#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# bats file_tags=standin,san
# shellcheck disable=SC2016,SC2030,SC2031,SC2034,SC2154 # $ of jq; what lib/rdmark.bash sets and reads
#
# Clients that come while another one is served: they try again.

load ../lib/rdmark

setup_file() { need_device; }

few=(-n 40 -s 256)

over() {
	kill -TERM "${pid[server]}"
	finish server
	ended server 0
}

# One that is served until it is killed.
start_long() {
	start_client write_bw -D 30 "$@"
	until_says client.err ', MTU '
}

end_long() {
	kill -INT "${pid[client]}"
	finish client
	ended client 130
}

# start_next NAME [ARG…]: one that waits.
start_next() {
	start "$1" write_bw -p "$port" --connect-timeout 60 "${@:2}" "$host"
	until_says "$1.err" 'the server is busy with'
}

# bats test_tags=core
@test "each hears whom the server serves, and is served when that is over" {
	server write_bw --persistent
	start_long
	start_next second -n 40 -s 128
	start_next third -n 40 -s 512
	start_next fourth -n 40 -s 64
	end_long
	finish second third fourth
	ended second 0
	ended third 0
	ended fourth 0
	over
	rows server.out
	[[ $(printf '%s\n' "${rows[@]:1}" | awk '{ print $1 }' | sort -n | xargs) == '64 128 512' ]] || fail 'not each once'
}

@test "one that is interrupted while it waits ends with its signal" {
	server write_bw --persistent
	start_long
	start_next second "${few[@]}"
	kill -TERM "${pid[second]}"
	finish second
	ended second 143
	end_long
	over
}

# bats test_tags=core
@test "who waits longer than --connect-timeout ends with 4, whatever its --timeout is" {
	server write_bw --persistent
	start_long
	start second write_bw -p "$port" --timeout 2 --connect-timeout 5 --json=second.json "${few[@]}" "$host"
	finish second
	ended second 4
	within second 10
	says second.err 'the server is busy with' '; waited for 5 s' 'Fix: '
	json second.json '.status == "failed" and .error.exit_status == 4'
	end_long
	over
}

@test "silent strangers take no place of a client that comes later" {
	server write_bw --persistent --timeout 30
	start_long
	exec {events}< <(become "$lib/peer" connect "$port" crowd 50 tell stay)
	pid[crowd]=$!
	await here
	start_next second "${few[@]}"
	end_long
	finish second
	ended second 0
	over
}

@test "who cannot be served is refused at once, not when the server is free" {
	listen_in write_bw
	server write_bw --persistent -s 256
	start_long -s 256
	stranger say "$(jq -c '.test = "no_bw"' <<<"$hello")" hear error gone
	ended stranger 0
	says stranger.out 'different tests'
	start second write_bw -p "$port" -s 512 "$host"
	finish second
	ended second 2
	says second.err '--size'
	stranger say "$(jq -c '.protocol = 99' <<<"$hello")" hear error gone
	ended stranger 0
	stranger say '{"type":"bye"}' hear error gone
	ended stranger 0
	stranger bytes 'GET / HTTP/1.0\r\n\r\n' gone
	ended stranger 0
	end_long
	over
	says server.err 'different tests' '--size' 'different versions' 'not a hello' 'GET /'
}

# bats test_tags=core
@test "a server that stays is ended: who waits looks for the next one" {
	server write_bw --persistent
	start_long
	start_next second "${few[@]}"
	over
	finish client
	start next write_bw -p "$port"
	finish second next
	ended second 0
	ended next 0
}

@test "a signal to the server, and no next one comes: who waits ends with 4" {
	server write_bw --persistent
	start_long
	start_next second "${few[@]}" --connect-timeout 4
	over
	finish client second
	ended second 4
	says second.err 'No server listens'
}

# bats test_tags=core
@test "who waits comes just when the server ends, and is answered nothing: no server listens" {
	fake_server hear hello say '{"type":"busy","with":"10.0.0.9:5"}' again hear hello reset
	start second write_bw -p "$port" --connect-timeout 2 "$host"
	finish second stranger
	ended second 4
	says second.err 'busy with 10.0.0.9:5' 'No server listens'
	[[ $(<second.err) != *'was lost'* ]]
}
