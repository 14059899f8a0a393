#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# bats file_tags=standin,san
# shellcheck disable=SC2030,SC2031,SC2034,SC2154 # what lib/rdmark.bash sets and reads
#
# What is unusual is said before the run without -v, too, and of the end where it is so.

load ../lib/rdmark
load ../lib/machine
load ../lib/gpu

@test "a PCIe link that is trained down" {
	machine pix
	server write_bw
	machine nic-half-speed
	client write_bw -n 20
	finish server
	ended client 0
	says client.err 'client link: Ethernet, PCIe 16.0 GT/s x16, trained below its 32.0 GT/s x16'
	says_no client.err 'server link:' 'client GID'
	says server.err 'client link: Ethernet, PCIe 16.0 GT/s x16, trained below its 32.0 GT/s x16'
}

@test "a thread that is not on the NIC's node, though that is known" {
	machine pix
	pair write_bw -n 20 --numa none
	says client.err 'client CPUs ' '(not pinned: --numa none)'
	says_no client.err 'server CPUs ' 'server NUMA node'
}

# bats test_tags=core
@test "GPU memory by peermem, and why; by dma-buf only the headline has it" {
	driver
	server write_bw
	client write_bw -n 20 --gpu 0
	finish server
	ended client 0
	says client.err 'Gb/s (' ', GPU 0 by dmabuf'
	says_no client.err 'distance to the NIC'
	server write_bw
	client write_bw -n 20 --gpu 0 --gpu-path peermem
	finish server
	ended client 0
	says client.err ', GPU 0 by peermem' 'client GPU 0 (' 'distance to the NIC: ' '; memory by peermem'
	says server.err ', GPU 0 by peermem' 'client GPU 0 ('
}

@test "different MTUs, another kind of GID, InfiniBand" {
	export SIMVERBS_DEVICES='sim0 mtu=1024 gids=1 gid.0=v1/127.0.0.1'
	server send_bw
	export SIMVERBS_DEVICES='sim0 gids=1 gid.0=v1/127.0.0.1'
	client send_bw -n 20
	finish server
	ended client 0
	says client.err 'RC over RoCE v1, MTU 1024 (the smaller of the two), messages of '
	export SIMVERBS_DEVICES='sim0 link=ib lid=3'
	pair send_bw -n 20
	says client.err 'RC over InfiniBand, MTU ' '(the only ACTIVE port)'
	pair send_bw -n 20 -v
	says client.err 'client LID 0x3' '(the only ACTIVE port; '
}

@test "that no device leads to the peer is said where the choice was a guess, and with -v" {
	export SIMVERBS_DEVICES='sim0 gid.0=v2/127.0.0.1; sim1 state=DOWN gid.0=v2/127.0.0.1'
	pair send_bw -n 20 --json=c.json
	says client.err 'client '"$(uname -n)"': sim0 port 1, 100 Gb/s (the only ACTIVE port)' 'server '
	says_no client.err 'which leads to the peer'
	json c.json '.ends.client.device_chosen == "the only ACTIVE port; lo, which leads to the peer, has no RDMA device"'
	pair send_bw -n 20 -v
	says client.err '(the only ACTIVE port; lo, which leads to the peer, has no RDMA device)'
	export SIMVERBS_DEVICES='sim count=2 gid.0=v2/127.0.0.1'
	pair send_bw -n 20
	says client.err '(the first ACTIVE port; lo, which leads to the peer, has no RDMA device)'
}
