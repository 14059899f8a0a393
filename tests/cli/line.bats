#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# bats file_tags=standin,san
# shellcheck disable=SC2016,SC2030,SC2031,SC2034,SC2154 # $ of jq; what lib/rdmark.bash sets and reads
#
# Clients that come while another one is served: they wait for their turn.

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

@test "each hears whom the server serves, and is served in its turn" {
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
	[[ $(printf '%s\n' "${rows[@]:1}" | awk '{ printf "%s ", $1 }') == '128 512 64 ' ]] || fail 'another order'
}

@test "the next one is served at once, on the connection it waits on" {
	local best=1000000 bound=50000 ended_us gap door
	server write_bw --persistent
	door=$port
	for _ in 1 2 3 4 5; do
		port=$door
		start_long
		proxy
		start second write_bw -p "$port" --connect-timeout 60 "${few[@]}" "$host"
		await 'client hello' 'server busy'
		kill -INT "${pid[client]}"
		finish client
		ended_us=${EPOCHREALTIME/[.,]/}
		await 'server welcome'
		gap=$((${EPOCHREALTIME/[.,]/} - ended_us))
		((gap > best)) || best=$gap
		await_end # or the next proxy's reader may find it
		finish second proxy
		ended second 0
		[[ $(grep -c 'client hello' proxy.out) == 1 ]] || fail 'it came twice'
	done
	# The fastest: how busy the machine is, is no matter here; an emulated one is slow at its best.
	[[ ${RDMARK_PRELOAD-} ]] || ((bound *= 5))
	((best < bound)) || [[ ${RDMARK_SANITIZED-} ]] || fail "at best after $best us"
	over
}

@test "one that dies while it waits is dropped, and the next one is served" {
	server write_bw --persistent
	start_long
	start_next second "${few[@]}"
	start_next third "${few[@]}"
	kill -KILL "${pid[second]}"
	finish second
	until_says server.err 'was lost'
	end_long
	finish third
	ended third 0
	over
}

@test "one that is interrupted while it waits ends with its signal" {
	server write_bw --persistent
	start_long
	start_next second "${few[@]}"
	kill -TERM "${pid[second]}"
	finish second
	ended second 143
	until_says server.err 'it gave up'
	end_long
	over
}

@test "who waits longer than --connect-timeout ends with 4; its --timeout does not count until its turn" {
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

@test "16 can wait; one more is told that the server is busy, and tries again; who has a place keeps it" {
	listen_in write_bw
	server write_bw --persistent
	start_long
	start_next second "${few[@]}"
	exec {events}< <(become "$lib/peer" connect "$port" chorus 15 "$hello" tell stay)
	pid[chorus]=$!
	await here
	start third write_bw -p "$port" "${few[@]}" --connect-timeout 4 "$host"
	finish third
	ended third 4
	says third.err 'the server is busy with'
	says server.err 'too many clients wait'
	end_long
	finish second
	ended second 0
	kill "${pid[chorus]}"
	client write_bw "${few[@]}"
	ended client 0
	over
}

@test "silent strangers take no place of a client that waits" {
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

@test "who cannot be served is refused at once, not when its turn comes" {
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

@test "who speaks before its turn is dropped" {
	listen_in write_bw
	server write_bw --persistent
	start_long
	stranger say "$hello" hear busy say "$qps" gone
	ended stranger 0
	end_long
	over
	says server.err 'it sent an unexpected message'
}

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

@test "a signal to the server, and no next one comes: who waits says that the connection was lost" {
	server write_bw --persistent
	start_long
	start_next second "${few[@]}" --connect-timeout 8
	over
	finish client second
	ended second 3
	says second.err 'was lost'
}
