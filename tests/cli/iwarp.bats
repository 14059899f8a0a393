#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# bats file_tags=standin,san
# shellcheck disable=SC2154 # what lib/rdmark.bash sets
#
# iWARP devices, as far as that goes without rdma_cm, which the stand-in has not: what is chosen,
# what is refused, and why. tests/pair/3-iwarp.bats has the rest, on two machines.

load ../lib/rdmark

mac=02:00:00:00:00:01
iwarp='siw0 iwarp inline=80 gids=1 gid.0=ib/200:0:1::'

on() { export SIMVERBS_DEVICES=$1; }

# The MAC address of interface $1 is that of siw0.
netdev_of_siw0() {
	mkdir -p "sys/class/net/$1"
	echo $mac >"sys/class/net/$1/address"
	export RDMARK_SYSFS=$PWD/sys
}

need_no_cm() {
	[[ ! -e /dev/infiniband/rdma_cm ]] || skip 'rdma_cm is here'
}

@test "rdmark list says iWARP; the netdev is the one with its MAC address" {
	local words
	on "$iwarp"
	netdev_of_siw0 lo
	start list rdmark list
	finish list
	ended list 0
	read -ra words < <(grep '^siw0 ' list.out)
	[[ ${words[3]} == iWARP && ${words[6]} == lo ]] || fail "${words[*]}"
	says list.out 'GID   0  iWARP'
	echo 02:00:00:00:00:02 >sys/class/net/lo/address
	start list rdmark list
	finish list
	read -ra words < <(grep '^siw0 ' list.out)
	[[ ${words[6]} == - ]] || fail "${words[*]}"
}

# bats test_tags=core
@test "nothing given: rdma_cm it is, and where that is not, what to do; -R is not spoken of" {
	local program
	need_no_cm
	on "sim1 gid.0=v2/10.0.0.1; $iwarp"
	netdev_of_siw0 lo
	for program in "${programs[@]}" gdr_bw 'gdr_bw --plain'; do
		# shellcheck disable=SC2086 # a program and its option
		server $program
		# shellcheck disable=SC2086
		client $program -n 5 -s 64 --json=c.json
		waits_on
		ended client 3
		says server.err 'open /dev/infiniband/rdma_cm' 'iWARP needs rdma_cm to connect'
		says client.err 'open /dev/infiniband/rdma_cm'
		says_no server.err '-R'
		json c.json '.experiment.rdma_cm == true'
	done
}

@test "what it has not is refused by name, with the fix, and both ends hear of it" {
	local refused name
	on "$iwarp"
	for refused in 'send_bw -c UC' 'send_bw --send_with_imm' 'send_lat -c UD' 'write_bw --write_with_imm' 'write_lat --write_with_imm' \
		'send_bw --ipv6'; do
		read -r _ name _ <<<"$refused"
		# shellcheck disable=SC2086 # a program
		server ${refused%% *}
		# shellcheck disable=SC2086 # and its options
		client $refused -n 5
		waits_on
		ended client 77
		says client.err 'is not supported on siw0, which is iWARP' 'Fix: ' "$name"
		says server.err 'is not supported on siw0, which is iWARP'
	done
}

@test "it has no atomics: refused, and both ends hear of it" {
	local program
	on "$iwarp"
	for program in atomic_lat atomic_bw; do
		server "$program"
		client "$program" -n 5
		waits_on
		ended client 77
		says client.err 'is not supported on siw0, which is iWARP' 'iWARP has no atomic operations' 'Fix: '
		says server.err 'is not supported on siw0, which is iWARP'
	done
}

@test "what TCP sees to is said to be without effect" {
	need_no_cm
	on "$iwarp"
	server write_bw
	client write_bw -m 512 -S 3 -u 10 -n 5
	waits_on
	ended client 3
	says client.err '-m/--mtu is ignored on iWARP' '-S/--sl is ignored on iWARP' '-u/--qp-timeout is ignored on iWARP'
}

@test "iWARP and RoCE do not talk to each other: both ends say so" {
	on "$iwarp"
	server send_lat
	on 'sim0 gid.5=v2/127.0.0.1'
	client send_lat -n 5
	waits_on
	ended client 77
	says client.err "different transports: iWARP on the server's siw0"

	server send_lat
	on "$iwarp"
	client send_lat -n 5
	ended client 77
	on 'sim0 gid.5=v2/127.0.0.1'
	serves_next send_lat
	says client.err "different transports: RoCE on the server's sim0"
}

# bats test_tags=core
@test "two devices, one of them iWARP: both are connected by rdma_cm" {
	need_no_cm
	on "sim1 gid.0=v2/127.0.0.1; $iwarp"
	server send_bw -d sim1,siw0
	client send_bw -d sim1,siw0 -n 5 --json=c.json
	waits_on
	says server.err 'open /dev/infiniband/rdma_cm'
	json c.json '.experiment.rdma_cm == true'
}
