#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# bats file_tags=siw
# shellcheck disable=SC2016,SC2030,SC2031,SC2034,SC2154 # $ of jq; what lib/rdmark.bash sets and reads
#
# Soft-iWARP (siw0) on two machines with a wire between them: these tests run on a (192.168.77.1),
# the other end on b (192.168.77.2). What iWARP has not is in sim/iwarp.bats, too, without a machine.

load ../lib/rdmark
load ../lib/two_hosts

# The programs and what each needs to be one row of its own.
all=("${programs[@]}" 'gdr_bw --plain')

# What a document must say of an iWARP run.
iwarp='.status == "ok" and .effective.connected_by == "rdma_cm" and .experiment.rdma_cm
	and ([.ends[] | .transport == "iWARP" and .device == "siw0" and .netdev == "eth0"] | all)'

@test "rdmark list says that it is iWARP, and which netdev it has" {
	local words
	start list rdmark list
	finish list
	ended list 0
	read -ra words < <(grep '^siw0 ' list.out)
	[[ ${words[2]} == ACTIVE && ${words[3]} == iWARP && ${words[6]} == eth0 ]] || fail "${words[*]}"
	says list.out 'GID   0  iWARP'
}

@test "each program, nothing given: rdma_cm is chosen and why is said, by the route's device and address" {
	local program
	for program in "${all[@]}"; do
		# shellcheck disable=SC2086 # a program and its option
		pair_with_b $program -n 50 -s 1024 --verify -v --json=c.json
		row client.out
		positive "${row[@]:2:2}"
		json c.json "$iwarp"' and .ends.client.address == "192.168.77.1" and .ends.server.address == "192.168.77.2"
			and (.ends.client.device_chosen | contains("on eth0, which leads to the peer"))'
		says client.err 'client address 192.168.77.1 (for rdma_cm, which iWARP needs to connect)' \
			'server address 192.168.77.2' 'iWARP over Ethernet' 'connected by rdma_cm'
		says server.out ', RC over iWARP, messages of '
	done
}

@test "connect_lat: the server may be connected first" {
	pair_with_b connect_lat -n 30 --threads 2 --json=c.json
	json c.json "$iwarp"' and any(.results[]; .step == "rdma_cm" and .messages == 60)'
}

@test "the client on b, the server here" {
	server write_lat
	there client write_lat -p "$port" -n 50 192.168.77.1
	finish client server
	ended client 0
	ended server 0
	row server.out
}

@test "the server sends first: not before it has heard from the client" {
	local program
	for program in send_bw write_bw; do
		pair_with_b "$program" --reversed --warmup 0 -n 20 -s 1024 --json=c.json
		json c.json "$iwarp"' and (.results | all(.direction == "server_to_client"))'
	done
}

@test "several QPs, both directions, events, threads, own CQs, a shared receive queue" {
	local with
	for with in 'send_bw -q 2 --own-cqs --verify' 'write_bw -q 4 -b --mr_per_qp --verify' 'send_bw -b -e' 'send_lat -e' \
		'write_bw --threads 2' 'send_bw -q 4 --use-srq'; do
		# shellcheck disable=SC2086 # a program and its options
		pair_with_b $with -n 20 -s 2048 --json=c.json
		json c.json "$iwarp"
	done
}

@test "READs, whose answers are writes there; no atomics" {
	local program with
	for program in read_lat read_bw; do
		pair_with_b "$program" -n 50 -s 1024 --json=c.json
		json c.json "$iwarp"' and .effective.outs >= 1 and .results[0].messages == 50'
	done
	# Both ends READ, with a send queue that would hold more than may be outstanding.
	for with in '-o 1' '-q 2 --verify'; do
		# shellcheck disable=SC2086 # options
		pair_with_b read_bw -b $with -n 50 -s 1024 --json=c.json
		json c.json "$iwarp"' and .effective.tx_depth == .effective.outs'
	done
	port=$((next_port += 1)) host=$b
	there server atomic_lat -p "$port"
	client atomic_lat -n 5
	finish server
	ended client 77
	says client.err 'is not supported on siw0, which is iWARP' 'iWARP has no atomic operations' 'Fix: '
}

@test "several sizes" {
	pair_with_b write_bw -s 2,4k,64k,8m -n 2 --warmup 0
	rows client.out
	((${#rows[@]} == 4))
}

@test "IPv6, and a name" {
	host_of_b=fd77::2
	pair_with_b send_lat -n 20 --json=c.json
	json c.json "$iwarp"' and .ends.server.address == "fd77::2" and .ends.client.address == "fd77::1"'
	host_of_b=b
	pair_with_b write_bw -n 20 -s 64
}

@test "-R at either end is what is done anyway" {
	local family bind=()
	for family in 192.168.77.2 fd77::2; do
		port=$((next_port += 1))
		[[ $family != *:* ]] || bind=(--bind_source_ip fd77::2)
		there server send_lat -p "$port" -R "${bind[@]}"
		host=$family client send_lat -n 20 --json=c.json
		finish server
		ended client 0
		ended server 0
		json c.json "$iwarp"
	done
}

@test "a second of SENDs: there is a receive for each, which is what iWARP does not wait for" {
	pair_with_b send_bw -D 1 -s 1024 --json=c.json
	json c.json "$iwarp"
}

@test "a persistent server serves one after the other, and outlives one that is killed" {
	port=$((next_port += 1)) host=$b
	there server write_bw -p "$port" --persistent --auth=none
	client write_bw -n 20 -s 64
	ended client 0
	rm client.err
	mkfifo client.err
	start_client write_bw -D 60 -s 64 --interval 0.3
	exec {events}<client.err
	await_text "$events" 'B: ' messages/s
	kill -KILL "${pid[client]}"
	finish client
	forget_events
	rm client.err
	client write_bw -n 20 -s 64
	ended client 0
	kill "${pid[server]}" # the agent's end of it; the server goes with that
	finish server
}

@test "the peer is killed during the run: said in time, what was measured is in the document" {
	port=$((next_port += 1)) host=$b
	mkfifo client.err
	there server send_bw -p "$port"
	start_client send_bw -D 60 -s 64 --interval 0.3 --timeout 10 --json=c.json
	exec {events}<client.err
	await_text "$events" 'B: ' messages/s
	kill -KILL "${pid[server]}"
	finish server client
	ended client 3
	within client 25
	[[ $(wc -l <client.out) == 0 ]] || fail 'a row that looks like any other'
	json c.json '.status == "failed" and .results[0].interrupted'
}

# perftest's ib_NAME at both ends; what it prints is in theirs.out. It listens twice, and who comes in
# between is refused, or waits for ever: a fault of perftest's, not what is tested, so it may run three times.
perftest_runs() { # NAME OPTION…
	local program try end
	program=$(type -P "ib_$1") || return
	for try in 1 2 3; do
		port=$((next_port += 1))
		deadline=15 there theirs_server "$program" "${@:2}" -p "$port"
		end=$((SECONDS + 10))
		until "$lib/agent" ask "$b" "grep -qi ':$(printf %04x "$port") .* 0A ' /proc/net/tcp /proc/net/tcp6"; do
			((SECONDS < end)) || break
		done
		deadline=15 start theirs "$program" "${@:2}" -p "$port" "$b"
		finish theirs
		kill "${pid[theirs_server]}" 2>/dev/null || true
		finish theirs_server
		((status[theirs])) || return 0
	done
	return 1
}

@test "beside perftest: the same lines run, with the same words" {
	local line name options text ran=0
	for line in 'send_lat -R -n 100' 'write_bw -R -n 100 -s 1024'; do
		read -r name options <<<"$line"
		read -ra options <<<"$options"
		port=$((next_port += 1))
		there server "$name" "${options[@]}" -p "$port" --format perftest
		ln -s "$RDMARK_BIN/$name" "ib_$name"
		host=$b client "./ib_$name" "${options[@]}"
		finish server
		ended client 0
		ended server 0
		row client.out
		for text in 'Transport type : IW' 'Link type       : Ethernet' 'GID index       : 0' $'rdma_cm QPs\t : ON'; do
			says client.out "$text"
			says server.out "$text"
		done
		perftest_runs "$name" "${options[@]}" || continue
		((ran += 1))
		row theirs.out
		diff <(grep '^ GID:' theirs.out) <(grep '^ GID:' client.out)
	done
	((ran)) || skip 'no perftest, or it does not run on this siw'
}

@test "what iWARP has not is refused by name, on both ends" {
	local option
	for option in 'send_lat -c UD' 'write_bw --write_with_imm'; do
		# shellcheck disable=SC2086 # a program and its options
		refused_by_b $option -n 5
		ended client 77
		says client.err 'is not supported on siw0, which is iWARP' 'Fix: '
		says server.out 'is not supported on siw0, which is iWARP'
	done
	refused_by_b send_lat -I 4096 -n 5
	ended_with_any client 1 2 3
	says client.err 'inline' '-I'
	pair_with_b send_bw -m 512 -n 5 --qp-timeout 10
	says client.err '-m/--mtu is ignored on iWARP' '-u/--qp-timeout is ignored on iWARP'
}

@test "RoCE at the other end is another transport" {
	modprobe rdma_rxe && rdma link add rxe0 type rxe netdev eth0 || skip 'no soft-RoCE in this kernel'
	until_says /sys/class/infiniband/rxe0/ports/1/state ACTIVE
	refused_by_b send_lat -d rxe0 -n 5
	rdma link delete rxe0
	ended client 2
	says client.err 'different transports: iWARP on the server'\''s siw0'
}
