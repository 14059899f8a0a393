#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# bats file_tags=standin,san
# shellcheck disable=SC2016,SC2154 # $ of jq; what lib/rdmark.bash sets
#
# -g and -M: messages to a multicast group, and what each receiver lost.

load ../lib/rdmark

setup_file() { need_device; }

# c.json: N QPs received SENT messages each, or lost them, and all figures agree on how many.
group_of() {
	json c.json "$1 as \$n | $2"' as $sent | .results[0] | .copies == $n and .messages == $n * $sent
		and .bytes == .messages * .message_bytes and (.receivers | length) == $n
		and ([.receivers[] | .received + .lost == $sent] | all)
		and ([.receivers[].lost] | add) == (.lost // 0)
		and (.by_end | (.client.messages - .server.messages | fabs) == (.client.lost // 0))
		and (.timed_messages * .message_bytes * 8 / 1e9 / .seconds / $n / .bandwidth_gbps - 1 | fabs) < 1e-6'
}

# bats test_tags=rxe
@test "-g N: every message at each of N QPs" {
	pair send_bw -g 3 -n 1000 -s 1024 -r 4096 --json=c.json
	group_of 3 1000
	json c.json '.experiment.mcg == 3 and .experiment.connection == "UD" and .experiment.qp == 3'
	json c.json '[.results[0].receivers[].received] | all(. > 0)'
	row client.out 5
	[[ ${row[1]} == 3000 ]]
	says client.err '3 QPs, UD multicast to 239.255.' ' over RoCE v2 IPv4'
	pair send_bw -g -n 100 --json=c.json
	group_of 1 100
	json c.json '.experiment.mcg == true'
}

# bats test_tags=rxe
@test "-g in a latency test: no end hears itself" {
	pair send_lat -g -n 200 --json=c.json
	row client.out 9
	[[ ${row[1]} == 200 ]]
	json c.json '.results[0].messages == 200 and .results[0].receivers == null and .results[0].latency_min_us > 0'
}

# bats test_tags=rxe
@test "-M: the group, as an address or as perftest writes it; both ends may be given it" {
	server send_bw -M 239.1.2.3
	client send_bw -g 2 -M 0:0:0:0:0:0:0:0:0:0:0xff:255:239:1:2:3 -n 100 --json=c.json
	finish server
	ended client 0
	ended server 0
	group_of 2 100
	server send_bw -M 239.1.2.3
	client send_bw -g -n 100
	ended client 2
	says client.err "-M/--MGID 239.1.2.3: the client's group is 239.255." 'Fix: give both ends the same -M'
	serves_next send_bw -g -M 239.1.2.3
}

@test "losses: of every QP, and both ends say how much" {
	export SIMVERBS_FAULT=drop:7 SIMVERBS_CPU=200
	pair send_bw -g 3 -n 2000 -s 1024 -r 4096 --json=c.json
	group_of 3 2000
	json c.json '[.results[0].receivers[].lost] | all(. > 0)'
	says client.err 'of 6000 messages of 1 KiB from the client were lost'
	says server.err 'of 6000 messages of 1 KiB from the client were lost'
	server send_bw
	client send_bw -g 3 -n 2000 -s 1024 -r 4096 --max-loss 0.01
	finish server
	ended client 6
}

# bats test_tags=core
@test "with all the rest: the other way, threads, sizes, events, runs, CQs" {
	pair send_bw -g 2 --reversed -n 100 --json=c.json
	group_of 2 100
	pair send_bw -g 2 --threads 2 -n 100 --json=c.json
	json c.json '.results[0] | .messages == 400 and (.receivers | length) == 4'
	pair send_bw -g 2 --own-cqs -e -n 100 -s 64,1k --repeat 2
	pair send_bw -g 2 -D 0.3 -l 8 --post-api wr --interval 0.1 --cpu_util --json=c.json
	json c.json '.results[0] | .seconds > 0.2 and .messages % 2 == 0'
	pair send_lat -g -e -n 100
}

@test "an IPv6 GID has an IPv6 group, and a group of the other family is refused" {
	export SIMVERBS_DEVICES='a0 gid.0=v2/::1/lo'
	RDMARK_HOST=::1 pair send_bw -g 2 -M ff15::1:2 -n 100 --json=c.json
	group_of 2 100
	server send_bw
	client send_bw -g -M 239.1.2.3
	ended client 2
	says client.err '-M/--MGID 239.1.2.3 cannot be used with the GID ::1' 'Fix: give an IPv6 group'
	serves_next send_bw -g
}

@test "what cannot be is refused, before the server hears of it" {
	refused() { # STATUS WORDS PROGRAM [ARG…]
		client "${@:3}"
		ended client "$1"
		says client.err "$2"
	}
	port=1
	refused 2 "invalid value '10.1.2.3' for -M/--MGID" send_bw -g -M 10.1.2.3
	refused 2 "invalid value '1:2' for -M/--MGID" send_bw -g -M 1:2
	refused 2 'for -M/--MGID' send_bw -g -M 255:1:0:0:0:2:201:133:0:0:0:0:0:0:0:256
	refused 2 'mcg needs -c UD' send_bw -g -c RC
	refused 2 'another number of QPs' send_bw -g 2 -q 3
	refused 2 'another number of QPs' send_lat -g 2
	refused 2 'mcg cannot be used with --verify' send_bw -g --verify
	refused 2 'mcg cannot be used with --use-srq' send_bw -g --use-srq
	refused 2 'mcg cannot be used with -b' send_bw -g -b
	refused 2 'a group has no QP that rdma_cm could find' send_bw -g -R
	refused 2 'attaches at most 56 QPs' send_bw -g 57
	export SIMVERBS_DEVICES='ib0 link=ib'
	refused 77 'which is InfiniBand' send_bw -g
	says client.err 'subnet manager'
}

@test "in perftest's form" {
	pair send_bw -g 2 --format perftest -M 239.1.2.3 -n 50
	says client.out 'Send BW Multicast Test' ' MultiCast runs on UD!' ' MGID: 00:00:00:00:00:00:00:00:00:00:255:255:239:01:02:03'
}

# bats test_tags=core
@test "a QP that the device does not attach ends the run at both ends" {
	export SIMVERBS_FAIL='ibv_attach_mcast:2:ENOMEM'
	server send_bw
	unset SIMVERBS_FAIL
	client send_bw -g 3
	((status[client] != 0)) || fail 'no failure'
	says client.err 'ibv_attach_mcast(QP 2 of 3, 239.255.'
	waits_on
}
