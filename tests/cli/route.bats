#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# bats file_tags=standin,san
# shellcheck disable=SC2154,SC2030,SC2031 # what lib/rdmark.bash sets
#
# The way between the ends as options say: partitions, LIDs, link layers, IPv6 GIDs, counters.

load ../lib/rdmark

ib='mlx5_0 link=ib lid=4 lmc=1 sm_lid=1 speed=NDR'

# ends SERVER_DEVICES CLIENT_DEVICES [SERVER_OPTION…] -- [CLIENT_OPTION…]: $after is what becomes of the
# server, which ends unless that is waits_on.
ends() {
	local mine=() devices=$2
	export SIMVERBS_DEVICES=$1
	shift 2
	while [[ $1 != -- ]]; do
		mine+=("$1")
		shift
	done
	server send_lat --json=s.json --timeout 8 "${mine[@]}"
	SIMVERBS_DEVICES=$devices
	client send_lat --json=c.json -n 10 --timeout 8 "${@:2}"
	${after:-finish server}
}

# bats test_tags=core
@test "--pkey_index at one end: the other finds the partition, at another index" {
	ends "$ib pkey=0x7fff pkey1=0x8005" "$ib pkey=0x8005 pkey1=0xffff" -- --pkey_index 0
	ended client 0
	json c.json '.ends.client.pkey == "0x8005" and .ends.server.pkey == "0x8005" and .ends.server.pkey_index == 1'
	ends "$ib pkey=0x7fff pkey1=0x8005" "$ib pkey=0xffff pkey1=0x0005" --pkey_index 1 --
	ended client 0
	json c.json '.ends.client.pkey == "0x0005" and .ends.client.pkey_index == 1 and .ends.server.pkey == "0x8005"'
}

@test "--pkey_index that cannot be: no such index, no such partition, two partitions" {
	local after=waits_on
	ends "$ib" "$ib" -- --pkey_index 1
	ended client 2
	says client.err mlx5_0 'no P_Key at index 1' 'Fix: give --pkey_index'
	ends "$ib" "$ib" -- --pkey_index 1000
	ended client 2
	ends "$ib" "$ib pkey1=0x8005" -- --pkey_index 1
	says server.err 0x8005 "not in the peer's partition"
	says client.err 0x8005
	ended client 2
	ends "$ib pkey1=0x8006" "$ib pkey1=0x8005" --pkey_index 1 -- --pkey_index 1
	says client.err 0x8005 0x8006 'different partitions'
	ended client 2
}

@test "--dlid: the LIDs of an LMC reach the port, another LID does not; none on Ethernet" {
	ends "$ib" "$ib" -- --dlid 4
	ended client 0
	ends "$ib" "$ib" -- --dlid 5 # LMC 1: 4 and 5 are the same port
	ended client 0
	ends "$ib" "$ib" -- --dlid 77 --retry_count 1
	((status[client])) || fail 'LID 77 was reached'
	unset SIMVERBS_DEVICES
	server send_lat
	client send_lat --dlid 3
	ended client 2
	says client.err --dlid Ethernet 'Fix: '
	serves_next send_lat
}

@test "--retry_count: how long the NIC tries" {
	export SIMVERBS_DEVICES=$ib
	# 537 ms for each try: never less, and a busy machine adds to that.
	unreached() {
		server send_lat
		client send_lat --dlid 77 -u 17 --retry_count "$1"
		finish server
		((status[client] && status[server])) || fail 'LID 77 was reached'
		((took_ms[client] >= 537 * ($1 + 1))) || fail "$1: ${took_ms[client]} ms"
		echo "${took_ms[client]}" >c.json
	}
	unreached 7
	tries 1 3 '. < 4294' unreached 0
}

@test "--force-link: the link layer that there is, or exit 2" {
	ends "$ib" "$ib" --force-link=IB -- --force-link=ib
	ended client 0
	after=waits_on ends "$ib" "$ib" -- --force-link=Ethernet
	ended client 2
	says client.err '--force-link Ethernet' 'mlx5_0 port 1 is InfiniBand' 'Fix: '
}

@test "--ipv6: an IPv6 GID although the ends talk over IPv4" {
	local eth='sim0 gid.0=v2/fe80::1 gid.1=v2/127.0.0.1 gid.2=v2/2001:db8::1'
	ends "$eth" "$eth" --
	json c.json '.ends.client.gid_type == "RoCE v2 IPv4"'
	ends "$eth" "$eth" -- --ipv6
	ended client 0
	json c.json '[.ends[].gid_type] == ["RoCE v2 IPv6", "RoCE v2 IPv6"]'
	ends "$eth" "$eth" -- --ipv6 -x 1
	json c.json '.ends.client.gid_type == "RoCE v2 IPv4"'
	after=waits_on ends 'sim0 gids=2 gid.0=v1/127.0.0.1 gid.1=v2/127.0.0.1' "$eth" -- --ipv6
	((status[client])) || fail 'there was no IPv6 GID at the server'
	ends 'sim0 gids=2 gid.0=v1/127.0.0.1 gid.1=v2/127.0.0.1' "$eth" --ipv6 --
	says server.err --ipv6 'no IPv6 GID' 'Fix: '
	says client.err --ipv6
}

# bats test_tags=core
@test "--report-counters: of both ends, as rdmark and drivers call them, and all" {
	local counter name rows_of row
	export RDMARK_SYSFS=$PWD/sys
	"$root/build/tests/simverbs-sysfs" sys || skip 'no simverbs-sysfs here'
	counter=sys/class/infiniband/sim0/ports/1/hw_counters/out_of_sequence
	server write_bw -W all
	exec {rows_of}< <(become write_bw -p "$port" -s 64 -W out_of_sequence,counters/port_xmit_data,link_downed \
		--run_infinitely --interval 0.1 --json=c.json "$host" 2>client.err </dev/null & echo $! >client.pid; wait $!; echo "end $?")
	read -r -t "$deadline" row <&"$rows_of"
	read -r -t "$deadline" row <&"$rows_of"
	echo 5 >$counter
	echo 7 >"${counter%/hw*}/counters/port_xmit_data"
	kill -INT "$(<client.pid)"
	while [[ $row != end* ]]; do
		read -r -t "$deadline" row <&"$rows_of"
	done
	exec {rows_of}<&-
	finish server
	says client.err 'client loss_seen (out_of_sequence): +5' 'client sent_bytes (port_xmit_data): +28 bytes' \
		'client link_downed (link_downed): +0' 'server loss_seen (out_of_sequence): +5'
	says server.err 'server loss_seen (out_of_sequence): +5' 'client loss_seen (out_of_sequence): +5'
	says_no server.err link_downed
	json c.json '.results[0].snapshot.client[0].changed.loss_seen == {"change": 5, "counter": "out_of_sequence"}'
	echo 65535 >"${counter%/hw*}/counters/port_rcv_errors"
	server write_bw -W all
	client write_bw -n 5 -W cnp_sent,port_rcv_errors
	ended client 0
	finish server
	says client.err 'client rcv_errors (port_rcv_errors): unknown: the counter was at its top before' \
		'server cnp_sent: unknown: the driver does not count it'
	says_no server.err rcv_errors
	server write_bw --format perftest -W all
	client write_bw -n 5 --format perftest -W loss_seen,sent_bytes
	ended client 0
	[[ $(grep -P '^\t' client.out) == $'\tout_of_sequence=0\n\tsent_bytes=0' ]]
	finish server
	server gdr_bw
	client gdr_bw --plain -n 5 -W loss_seen
	says client.err 'client loss_seen (out_of_sequence): +0' 'server loss_seen: +0'
	finish server
	server write_bw
	for name in nonsense counters/nonsense port_xmit_data,nonsense ../../../x /etc/passwd; do
		client write_bw -n 5 -W "$name"
		ended client 2
		says client.err --report-counters 'Fix: '
	done
	client write_bw -n 5
	ended client 0
	finish server
}
