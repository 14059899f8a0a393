#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# bats file_tags=two-hosts
# shellcheck disable=SC2016,SC2030,SC2031,SC2034,SC2154 # $ of jq; what lib/rdmark.bash sets and reads
#
# Two machines on one wire. These tests run on a (192.168.77.1); what they do on b (192.168.77.2)
# goes through tests/lib/agent.

load ../lib/rdmark
load ../lib/two_hosts

@test "each test between two hosts; both are shown, with the device that owns the route" {
	local program
	for program in "${programs[@]}"; do
		pair_with_b "$program" -n 50 -s 1024 --json=c.json
		row client.out
		positive "${row[@]:2:2}"
		json c.json '.status == "ok" and .ends.client.host != .ends.server.host
			and .ends.client.gid == "192.168.77.1" and .ends.server.gid == "192.168.77.2"
			and (.ends.client.gid_type | contains("IPv4"))'
		rows server.out
		[[ ${#rows[@]} == 1 ]] || fail "$program: no row on b"
		says server.out 'ready on'
	done
}

@test "the client on b, the server here" {
	local program
	for program in send_bw write_lat; do
		server "$program"
		there client "$program" -p "$port" -n 50 192.168.77.1
		finish client server
		ended client 0
		ended server 0
		row server.out
	done
}

@test "IPv6 and names" {
	host_of_b=fd77::2
	pair_with_b send_lat -n 20 --json=c.json
	json c.json '.ends.server.gid == "fd77::2" and (.ends.server.gid_type | contains("IPv6"))'
	host_of_b='[fd77::2]'
	pair_with_b write_bw -n 20 -s 64
	host_of_b=b
	pair_with_b send_lat -n 20
}

# Not up to 8 MiB (-a): there WRITEs come to a standstill on soft-RoCE in a busy machine.
@test "many sizes over the wire" {
	pair_with_b write_bw -s 2:64k:x2 -n 2 --warmup 0
	rows client.out
	((${#rows[@]} == 16))
}

@test "with 1 % of the packets lost the run completes" {
	local program
	tc qdisc add dev eth0 root netem loss 1% 2>tc.err || skip "no netem: $(<tc.err)"
	for program in "${programs[@]}"; do
		pair_with_b "$program" -n 200 -s 64 --timeout 30
		row client.out
		[[ ${row[1]} == 200 ]]
	done
	tc qdisc del dev eth0 root
}

@test "1 % of the packets lost: who sends and who receives see it, each in its own counters" {
	tc qdisc add dev eth0 root netem loss 1% 2>tc.err || skip "no netem: $(<tc.err)"
	pair_with_b write_bw -D 3 -s 4k --timeout 30 --json=c.json
	tc qdisc del dev eth0 root
	json c.json '.results[0].snapshot | (.client[0].changed | .loss_naks.change > 0 and .retransmitted.change >= .loss_naks.change)
		and (.server[0].changed.loss_seen | .change > 0 and .counter == "out_of_seq_request")'
	pair_with_b write_bw -n 100 -s 4k --json=c.json
	json c.json '.results[0].snapshot.client[0] | .seconds > 0 and (.unchanged | index("dead") and index("link_downed"))'
}

# The wire is slower than the emulated CPUs, so the rate without loss is known: 37 Mb/s of payload. A run of the
# machines at a time when others have the CPUs, so that not even this is reached, is none of the three.
@test "1 % of the packets lost on a wire of 40 Mb/s: loss is what limits, and its share is that of the rate" {
	local loss
	losing() {
		for loss in 0 1; do
			tc qdisc add dev eth0 root netem rate 40mbit limit 10000 loss $loss% 2>tc.err || skip "no netem: $(<tc.err)"
			pair_with_b "$@" -D 4 --timeout 30 --json=c$loss.json
			tc qdisc del dev eth0 root
		done
		json c0.json '[.results[0].diagnosis[]?.code] | index("packet_loss") == null'
		clean=$(jq '.results[0].bandwidth_gbps' c0.json)
		jq -ne "$clean > 0.033" >/dev/null || skip "$clean Gb/s: the machine is slower than the wire"
		jq --argjson clean "$clean" '{lost: (1 - .results[0].bandwidth_gbps / $clean), results}' c1.json >c.json
	}
	tries 2 3 '.lost as $lost | .results[0] | .limit.bound_by == "loss"
		and (.diagnosis[0] | .code == "packet_loss" and .share > $lost / 2 and .share < $lost * 2)' losing write_bw -s 4k -t 64
}

# What a sends is shaped to far less than the emulated CPUs carry; its ACKs and its part of the connection are not, or what b
# sends would wait for them: with as many bytes in flight both directions would be as slow.
@test "case 25: a link slow in one direction only: it has to reach the threshold, by itself" {
	local program
	tc qdisc add dev eth0 root handle 1: prio bands 2 priomap 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 2>tc.err &&
		tc qdisc add dev eth0 parent 1:2 netem rate 256kbit limit 10000 2>tc.err &&
		tc filter add dev eth0 parent 1: protocol ip u32 match u16 0 0xff00 at 2 flowid 1:1 2>tc.err || skip "no netem: $(<tc.err)"
	for program in write_bw read_bw; do
		with_b "$program" -b -D 4 -s 1k -t 4 --qp-timeout 18 --min-bw 0.0003 --json=c.json --csv="$program.csv"
		ended_with_any client 6 77 # a run that lacked its CPU misses nothing
		[[ ${status[client]} == 6 ]] || json c.json '.results[0] | any(ends; .quality.reasons | any(endswith("_cpu")))'
		ended server 0
		says client.err '1 KiB, client to server: bandwidth 0.0' ' of 0.0003 Gb/s '
		json c.json '.results[0] | (ends | select(.direction == "client_to_server").bandwidth_gbps) as $to_b
			| (ends | select(.direction == "server_to_client").bandwidth_gbps) as $to_a
			| $to_b < 0.000256 and $to_a > $to_b and .bandwidth_gbps > $to_b'
		[[ $(cut -d, -f23 "$program.csv" | sort) == $'both\nclient_to_server\ndirection\nserver_to_client' ]] || fail "$(<"$program.csv")"
	done
	tc qdisc del dev eth0 root
}

@test "a receiver that is stopped in bursts is what limits" {
	mkfifo never
	exec {never}<>never
	stopped() { # few receives, or the stops limit nothing on a slow machine; --qp-timeout is for such a soft-RoCE
		server send_bw
		there client send_bw -p "$port" -s 4k -r 8 -D 4 --interval 0.5 --timeout 30 --qp-timeout 18 192.168.77.1
		until_says client.out 'B: '
		while kill -STOP "${pid[server]}" 2>/dev/null; do
			read -r -t 0.5 -u "$never" || true
			kill -CONT "${pid[server]}" 2>/dev/null || true # it ended just before the stop
			read -r -t 0.4 -u "$never" || true
		done
		finish client server
		ended client 0
		jq -R . client.out | jq -s . >c.json
	}
	tries 2 3 'any(test("limited by (the server.s CPU, which other tasks used|the receiver)"))' stopped
	exec {never}>&-
}

@test "multicast: IPv4 and IPv6, each QP on b receives; with 5 % of the packets lost, each says how much" {
	local count='.results[0] | (.receivers | length) == 3 and ([.receivers[] | .received + .lost == 2000] | all)'
	pair_with_b send_bw -g 3 -n 2000 -s 64 -r 4096 --json=c.json
	json c.json "$count"' and .by_end.server.messages > 3000'
	pair_with_b send_lat -g -n 200
	host_of_b=fd77::2 pair_with_b send_bw -g 3 -n 2000 -s 64 -r 4096 --json=c.json
	json c.json "$count"' and .by_end.server.messages > 3000'
	tc qdisc add dev eth0 root netem loss 5% 2>tc.err || skip "no netem: $(<tc.err)"
	pair_with_b send_bw -g 3 -n 2000 -s 64 -r 4096 --json=c.json
	json c.json "$count"' and ([.receivers[].lost] | all(. > 20))'
	pair_with_b send_lat -g -n 100 --timeout 30
	tc qdisc del dev eth0 root
}

@test "UC and UD with 5 % of the packets lost: how many is known at both ends, and nothing waits for them" {
	local transport
	tc qdisc add dev eth0 root netem loss 5% 2>tc.err || skip "no netem: $(<tc.err)"
	for transport in UC UD; do
		pair_with_b send_bw -c $transport -n 2000 -s 64 -r 4096 --verify --json=c.json
		json c.json '.status == "ok"
			and ([.results[] | ends | [.measured_by, .messages + (if .measured_by == "server" then .lost else 0 end)]]
				== [["client", 2000], ["server", 2000]])
			and ([.results[] | ends.lost] | .[0] == .[1] and .[0] > 20)
			and ([.results[] | ends.verification // empty] | length > 0 and all(.messages > 0 and .errors == 0))'
		says client.err 'of 2000 messages' 'from the client were lost'
		pair_with_b send_lat -c $transport -n 300 --json=c.json
		json c.json '.status == "ok" and .results[0].lost > 0'
	done
	pair_with_b write_lat -c UC -n 300 --json=c.json
	json c.json '.status == "ok" and .results[0].lost > 0'
	pair_with_b write_bw -c UC -n 2000 -s 64
	tc qdisc del dev eth0 root
}

@test "the wire is cut during the run: both ends give up in time, what was measured is in the document" {
	tc qdisc add dev eth0 root netem 2>tc.err || skip "no netem: $(<tc.err)"
	tc qdisc del dev eth0 root
	port=$((next_port += 50))
	there server send_bw -p "$port" --timeout 8
	mkfifo client.err
	host=$b start_client send_bw --timeout 8 -D 100 -s 64 --interval 0.3 --json=c.json
	exec {events}<client.err
	await_text "$events" 'B: ' messages/s
	tc qdisc add dev eth0 root netem loss 100%
	finish client
	tc qdisc del dev eth0 root
	[[ ${status[client]} == 3 || ${status[client]} == 4 ]] || fail "client: ${status[client]}"
	within client 45
	[[ $(wc -l <client.out) == 0 ]] || fail 'a row that looks like any other'
	json c.json '.status == "failed" and .results[0].interrupted'
	finish server
	((status[server] != 0)) || fail 'the server thinks that all is well'
	pair_with_b send_lat -n 5 # the wire is whole again
}
