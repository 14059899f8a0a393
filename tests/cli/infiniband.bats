#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# bats file_tags=standin,san
# shellcheck disable=SC2154 # what lib/rdmark.bash sets
#
# Devices that soft-RoCE is not: InfiniBand with LIDs, ports in every state, 400 and 800 Gb/s.

load ../lib/rdmark

ib='mlx5_0 link=ib lid=3 sm_lid=1 speed=NDR'

# On the devices DESCRIPTION, both ends.
on() { export SIMVERBS_DEVICES=$1; }

document() { # FILTER PROGRAM ARG…
	pair "$2" --json=c.json -n 40 -s 64 "${@:3}"
	json c.json "$1"
}

@test "InfiniBand: LIDs, no GID, data rate" {
	local program
	on "$ib"
	for program in "${programs[@]}"; do
		document '.status == "ok" and .ends.client.link_layer == "InfiniBand" and .ends.client.lid == 3
			and .ends.client.gid_index == -1 and .ends.client.rate_gbps == 400' "$program" -v
	done
	says client.err 'LID 0x3'
}

# bats test_tags=core
@test "InfiniBand: a GRH where the port demands one, and where -x asks for it" {
	on "$ib grh"
	document '.ends.client.gid_index == 0 and .ends.client.gid_type == "IB"' send_lat
	on "$ib"
	document '.ends.client.gid_index == 0' send_lat -x 0
}

@test "InfiniBand: service level and MTU" {
	on "$ib"
	document '.status == "ok" and .experiment.sl == 3' write_bw -S 3
	on "$ib mtu=2048"
	document '.effective.mtu_bytes == 2048' write_bw
	document '.effective.mtu_bytes == 1024' write_bw -m 1024
}

@test "the MTU is the smaller of both ends'" {
	on 'sim0 mtu=4096 gid.5=v2/127.0.0.1'
	server send_bw
	on 'sim0 mtu=1024 gid.5=v2/127.0.0.1'
	client send_bw -n 40 -s 64 --json=c.json
	ended client 0
	json c.json '.effective.mtu_bytes == 1024 and .ends.server.active_mtu_bytes == 4096'
}

@test "port INIT: no subnet manager has configured it" {
	on "$ib state=INIT lid=0 sm_lid=0"
	start cli write_bw
	finish cli
	ended cli 1
	says cli.err 'mlx5_0 port 1 is INIT' 'subnet manager' opensm
}

@test "port DOWN: InfiniBand and Ethernet say what to look at" {
	on "$ib state=DOWN"
	start cli write_bw
	finish cli
	ended cli 1
	says cli.err 'mlx5_0 port 1 is DOWN' cable
	on 'roce0 state=DOWN gid.5=v2/127.0.0.1/lo'
	start cli write_bw
	finish cli
	ended cli 1
	says cli.err 'roce0 port 1 is DOWN' 'lo'
}

@test "the two ends have different link layers" {
	on "$ib"
	server send_lat
	on ''
	unset SIMVERBS_DEVICES
	client send_lat -n 5
	waits_on
	ended client 77
	says client.err 'different link layers'
}

# bats test_tags=core
@test "no kind of GID in common" {
	on 'sim0 gid.0=v2/10.0.0.1'
	server send_lat
	on 'sim0 gid.0=v1/10.0.0.2'
	client send_lat -n 5
	ended client 77
	says client.err 'no type of GID in common'
	on 'sim0 gid.0=v2/10.0.0.3'
	serves_next send_lat
}

@test "a server with an IPv6 GID only: both ends use IPv6" {
	on 'sim0 gid.3=v2/::1'
	server send_lat
	on 'sim0 gid.1=v2/127.0.0.1 gid.3=v2/::1'
	client send_lat -n 40 --json=c.json
	ended client 0
	json c.json '.ends.client.gid_type == "RoCE v2 IPv6" and .ends.client.gid_index == 3'
}

# bats test_tags=core
@test "several devices: the first ACTIVE one, or the one that is named" {
	on "ib0 link=ib lid=1 state=INIT; sim1 gid.0=v2/127.0.0.1; sim2 gid.0=v2/127.0.0.1 speed=HDR"
	document '.ends.client.device == "sim1"' send_lat
	document '.ends.client.device == "sim2" and .ends.client.rate_gbps == 200' send_lat -d sim2
}

@test "a CQ too small for every send to be signalled" {
	on 'sim0 max_cqe=64 gid.5=v2/127.0.0.1'
	document '.status == "ok" and .effective.cq_mod == 4' write_bw -q 2 -s 65536
	document '.status == "ok"' send_bw -q 3 -s 65536
}

# bats test_tags=core
@test "a device without inline data" {
	on 'sim0 inline=0 gid.5=v2/127.0.0.1'
	document '.effective.inline_bytes == 0' send_lat
	server send_lat
	client send_lat -I 64 -n 5
	serves_next send_lat
	ended client 2
	says client.err "64 bytes of inline"
}

@test "more QPs than the device has" {
	on 'sim0 max_qp=8 gid.5=v2/127.0.0.1'
	server write_bw
	client write_bw -q 9 -n 5
	serves_next write_bw
	ended client 2
	says client.err '9 QPs are more than sim0 has (8)'
}
