#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# bats file_tags=standin,san
# shellcheck disable=SC2030,SC2031,SC2034,SC2154 # what lib/rdmark.bash sets and reads
#
# Cases from public reports (their numbers are those of the list that they came with) that can be known
# before anything is measured.

load ../lib/rdmark
load ../lib/gpu

# On the devices DESCRIPTION: what starts from now on.
on() { export SIMVERBS_DEVICES=$1; }

# look ARG…: what send_bw says of this host; its output is in look.out.
look() {
	start look send_bw "$@"
	finish look
}

list() {
	start look rdmark list
	finish look
}

zero='mlx5_0 speed=EDR mtu=1024 gids=8 gid.0=v1/::'

@test "case 1: a device whose GIDs are all zero is refused before connecting, at either end" {
	local text='every GID of mlx5_0 is zero: its netdev is in another network namespace, or has no address'
	on "$zero"
	start cli send_lat -n 5 -p 1 --connect-timeout 60 "$host"
	finish cli
	ended cli 77
	says cli.err "$text"
	start cli send_lat
	finish cli
	ended cli 77
	says cli.err "$text"
	look --check --json=-
	ended look 6
	[[ $(jq -c '[.ports[0].findings[] | select(.level == "fault").code]' look.out) == '["no_gid"]' ]] || fail 'not that fault'
	list
	grep -A 2 '^mlx5_0 ' look.out | grep -qxF '    (!) no_gid' || fail 'not marked'
}

# bats test_tags=core
@test "case 1: another device is chosen, and InfiniBand with LIDs needs no GID" {
	on "$zero; roce1 gid.1=v2/127.0.0.1"
	pair send_lat -n 5 --json=c.json
	json c.json '.ends.client.device == "roce1"'
	on 'ib0 link=ib lid=3 sm_lid=1 gid.0=ib/::'
	pair send_lat -n 5 --json=c.json
	json c.json '.status == "ok" and .ends.client.lid == 3'
}

# The kernel has mlx5_0 and bnxt_re2 with their nodes, libibverbs only mlx5_0.
one_without_provider() {
	on 'mlx5_0 gid.1=v2/127.0.0.1; bnxt_re2'
	"$root/build/tests/simverbs-sysfs" sys
	mkdir -p dev/infiniband
	touch dev/infiniband/uverbs{0,1}
	export RDMARK_SYSFS=$PWD/sys RDMARK_DEV=$PWD/dev
	on 'mlx5_0 gid.1=v2/127.0.0.1'
}

# bats test_tags=core
@test "case 9: a device of the kernel without a provider, in -d, --check and in the list" {
	local text='he kernel has bnxt_re2 and its node opens, but libibverbs has no provider for it'
	one_without_provider
	look -d bnxt_re2
	ended look 77
	says look.err "$text" ibverbs-providers
	look --check --json=-
	ended look 6
	[[ $(jq -c '[.ports[] | [.device, .findings[0].code]] | last' look.out) == '["bnxt_re2","cannot_open"]' ]] ||
		fail 'not that fault'
	says look.out "$text"
	look --check -d mlx5_0
	ended look 0
	list
	ended look 0
	grep -q '^bnxt_re2 .*libibverbs has no provider for it$' look.out || fail 'not listed'
	! grep -v '^no GPU' look.out | grep -E '.{81}' || fail 'too wide'
	pair send_lat -n 5 --json=c.json
	json c.json '.ends.client.device == "mlx5_0"'
}

@test "case 9: nothing is said of a device whose node this process was not given, unless it is named" {
	one_without_provider
	rm dev/infiniband/uverbs1
	list
	says_no look.out bnxt_re2
	look --check
	ended look 0
	look -d bnxt_re2
	ended look 77
	says look.err "its node $PWD/dev/infiniband/uverbs1 does not exist" --device=
	look -d bnxt_re3
	ended look 2
}

ib='mlx5_ib0 link=ib sm_lid=1 speed=NDR'

# apart SERVER_DEVICE CLIENT_DEVICE TEXT…: they are refused while agreeing, and both say TEXTs.
apart() {
	on "$1"
	server send_lat
	on "$2"
	client send_lat -n 5
	waits_on
	ended client 77
	says client.err 'agreeing' "${@:3}" 'partitions.conf'
	says server.err "${@:3}" 'partitions.conf'
}

@test "case 2: P_Keys that cannot communicate are refused while agreeing, both shown at both ends" {
	apart "$ib lid=3 pkey=0x8001" "$ib lid=4 pkey=0x8002" 0x8001 0x8002 'different partitions'
	apart "$ib lid=3 pkey=0x0001" "$ib lid=4 pkey=0x0001" 'limited members' 0x0001
}

@test "case 2: a port whose first P_Key is empty, at either end, is in no partition" {
	local devices keys=("$ib lid=3 pkey=0" "$ib lid=4")
	for devices in '0 1' '1 0' '0 0'; do
		on "${keys[${devices% *}]}"
		server write_bw
		on "${keys[${devices#* }]}"
		client write_bw -n 5
		((status[client] == 77)) || fail "$devices: ${status[client]}"
		says client.err 'has no P_Key at index 0'
		waits_on
	done
	for devices in '0 6' '1 0'; do
		on "${keys[${devices% *}]}"
		rm -rf sys
		"$root/build/tests/simverbs-sysfs" sys
		RDMARK_SYSFS=$PWD/sys look --check --json=-
		ended look "${devices#* }"
	done
}

# bats test_tags=core
@test "case 2: the server finds the client's partition, at another index, if nobody chose" {
	on "$ib lid=3 pkey=0x7fff pkey1=0x0001"
	server send_lat
	on "$ib lid=4 pkey=0x8001"
	client send_lat -n 5 --json=c.json
	finish server
	ended client 0
	ended server 0
	json c.json '.ends.server.pkey == "0x0001" and .ends.server.pkey_index == 1 and .ends.client.pkey == "0x8001"'
}

@test "case 2: keys are told on InfiniBand only, and a peer that does not tell its own is served" {
	on "$ib lid=3 pkey=0x8001"
	listen_in
	[[ $hello == *'"default_pkey":32769'* ]] || fail "not in $hello"
	server send_lat
	stranger say "${hello/'"default_pkey":32769'/'"other":1'}" hear welcome
	ended stranger 0
	waits_on
	on 'sim0 gid.1=v2/127.0.0.1'
	listen_in
	[[ $hello$welcome != *default_pkey* ]] || fail 'told on Ethernet'
}

@test "an HWLOC_XMLFILE that hwloc cannot read: said once, and this machine's topology is used" {
	local file places
	on 'mlx5_0 gid.1=v2/127.0.0.1 pci=0000:c1:00.0 numa=0'
	"$root/build/tests/simverbs-sysfs" sys
	export RDMARK_SYSFS=$PWD/sys
	list
	places=$(<look.out)
	echo '<?xml version="1.0"?><topology version="9.0"/>' >broken.xml
	for file in /nowhere/machine.xml broken.xml "$PWD"; do
		export HWLOC_XMLFILE=$file
		list
		ended look 0
		[[ $(<look.out) == "$places" ]] || fail 'another place'
		[[ $(grep -c "HWLOC_XMLFILE=$file is ignored, and this machine's topology used" look.err) == 1 ]] || fail 'not once'
		pair send_lat -n 5 --json=c.json
		[[ $(grep -c HWLOC_XMLFILE client.err) == 1 && $(grep -c HWLOC_XMLFILE server.err) == 1 ]] || fail 'not once'
		json c.json '.ends.client.numa_node == 0'
	done
	start look rdmark list
	finish look
	[[ $(grep -c HWLOC_XMLFILE look.err) == 1 ]] || fail 'not once'
}

# bats test_tags=core
@test "case 5: GPU memory that registers, and that the NIC cannot reach: IOMMU, ACS, BAR, at the end that has it" {
	local program whose
	driver
	on 'mlx5_0 speed=HDR gid.3=v2/10.0.0.1/e0 gpublocked'
	for program in write_bw send_bw read_bw write_lat send_lat read_lat; do
		server "$program"
		client "$program" -n 40 --gpu 0 --json=c.json
		finish server
		ended client 1
		says client.err 'local protection error' "this end's NIC cannot access it" IOMMU ACS BAR 'without --gpu work?'
		says_no client.err dmesg qp-timeout
		server "$program" --gpu=0
		client "$program" -n 40
		finish server
		says server.err IOMMU ACS BAR
		says client.err IOMMU ACS BAR
		says_no client.err dmesg qp-timeout
	done
	says client.err "the peer's NIC cannot access it"
}

@test "case 5: a failure that is not about GPU memory is not explained by it" {
	driver
	on 'mlx5_0 speed=HDR gid.3=v2/10.0.0.1/e0'
	server write_bw
	through=(env SIMVERBS_FAULT=wc:5:10)
	client write_bw -n 40 --gpu 0
	through=()
	finish server
	ended client 1
	says_no client.err IOMMU
}

thunderbolt='rdma_en2 speed=QDR mtu=1024 max_mtu=1024 max_depth=32 max_rd=0 max_init_rd=0 noatomics nosrq nocqex
	noqpex norelaxed inline=0 gid.0=v1/fe80::1/en2 gid.1=v2/10.0.0.1/en2'
thunderbolt=${thunderbolt//$'\n'/ }
large='mlx5_0 gid.1=v2/10.0.0.2'

# runs SERVER_DEVICE CLIENT_DEVICE PROGRAM ARG…: both ends succeed; the client's document is c.json.
runs() {
	on "$1"
	server "$3"
	on "$2"
	client "$3" -n 40 --json=c.json "${@:4}"
	finish server
	ended client 0
	ended server 0
}

@test "case 3: defaults are cut to what a small device has, and nothing else is asked of it" {
	local args
	for args in 'send_lat -c UC' send_lat write_lat 'write_lat -c UC' 'send_lat -c UD' send_bw write_bw 'send_bw -c UC' \
		'send_bw -c UD' 'write_bw -b' 'send_bw -b -s 64' 'write_bw --write_with_imm' 'write_bw -q 4' 'send_bw --verify' \
		'gdr_bw --plain'; do
		# shellcheck disable=SC2086 # words
		runs "$thunderbolt" "$thunderbolt" $args
		json c.json '.effective | .tx_depth == 32 and .rx_depth <= 32 and .inline_bytes == 0'
		says_no client.err 'cut to'
	done
	runs "$thunderbolt" "$thunderbolt" send_lat -c UC -v
	says client.err 'cut to what rdma_en2 has: send queue 32 (default 64), receive queue 32 (default 64)'
}

@test "case 3: an end that only sends READs need not answer them, and the reverse" {
	local program
	for program in read_bw read_lat atomic_bw atomic_lat; do
		runs "$large" "$large max_rd=0 max_init_rd=16" "$program"
		runs "$large max_init_rd=0" "$large" "$program"
		[[ $program == *_lat ]] || runs "$large max_rd=0 max_init_rd=16" "$large" "$program" --reversed
		refuses "$large" "$large max_init_rd=0" 77 max_qp_init_rd_atom "$program"
		[[ $program == *_lat ]] || refuses "$large" "$large max_rd=0 max_init_rd=16" 77 max_qp_rd_atom "$program" -b
	done
}

@test "case 3: the cut of the smaller device, at either end, is that of both" {
	local args
	for args in 'write_bw -b' 'send_bw --reversed' send_bw 'write_bw -s 64'; do
		# shellcheck disable=SC2086 # words
		runs "$thunderbolt" "$large" $args
		json c.json '.effective.tx_depth == 32 and .experiment.tx_depth == 32 and .ends.server.device == "rdma_en2"'
		# shellcheck disable=SC2086 # words
		runs "$large" "$thunderbolt" $args
		json c.json '.effective.tx_depth == 32 and .experiment.tx_depth == 32'
	done
	runs "$large" "$large" write_bw -s 64
	json c.json '.effective.tx_depth == 192'
}

# bats test_tags=core
@test "case 3: a sweep of sizes ends with the largest that both ends support" {
	local args
	for args in 'write_bw -a' 'send_lat -a' 'send_bw -a -b --verify=20'; do
		# shellcheck disable=SC2086 # words
		runs "$large max_msg=1m" "$large" $args
		json c.json '.results | max_by(.message_bytes).message_bytes == 1048576'
		# shellcheck disable=SC2086 # words
		runs "$large" "$large max_msg=700k" $args
		json c.json '.results | max_by(.message_bytes).message_bytes == 524288'
	done
}

# refuses SERVER_DEVICE CLIENT_DEVICE STATUS TEXT PROGRAM ARG…: the client ends with it, and says TEXT.
refuses() {
	on "$1"
	server "$5"
	on "$2"
	client "$5" -n 5 "${@:6}"
	on "$1"
	waits_on
	ended client "$3"
	says client.err "$4"
}

@test "case 3: only what was given is refused, or what the test needs" {
	refuses "$thunderbolt" "$thunderbolt" 2 'a queue of 64 is deeper than rdma_en2 allows (32)' send_bw -t 64
	refuses "$thunderbolt" "$thunderbolt" 2 'a queue of 64 is deeper than rdma_en2 allows (32)' send_bw -r 64
	refuses "$thunderbolt" "$large" 2 'a queue of 64 is deeper than rdma_en2 allows (32)' write_bw -b -t 64
	refuses "$thunderbolt" "$thunderbolt" 2 '-l/--post_list 64 is more than' write_bw -l 64
	refuses "$thunderbolt" "$large" 2 '-l/--post_list 64 is more than' write_bw -l 64
	refuses "$thunderbolt" "$thunderbolt" 2 '64 bytes of inline data' send_bw -I 64
	refuses "$large" "$thunderbolt" 77 'does not support RDMA READ' read_bw
	refuses "$large" "$thunderbolt" 77 'atomic_cap is NONE' atomic_lat
	refuses "$thunderbolt" "$thunderbolt" 77 'does not support shared receive queues' send_bw --use-srq
	runs "$thunderbolt" "$large" write_bw -t 64 # the server sends nothing
	json c.json '.effective.tx_depth == 64'
}
