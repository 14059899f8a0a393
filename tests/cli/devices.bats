#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# bats file_tags=standin,san
# shellcheck disable=SC2030,SC2031,SC2034,SC2154 # what lib/rdmark.bash sets and reads
#
# What `rdmark list` shows and -d finds on machines that nobody has at hand.

load ../lib/rdmark

# Those DEVICES, in sysfs, too.
on() {
	export SIMVERBS_DEVICES=$1
	rm -rf sys
	"$root/build/tests/simverbs-sysfs" sys
	export RDMARK_SYSFS=$PWD/sys
}

list() {
	start list rdmark list
	finish list
}

# bats test_tags=core
@test "rdmark list: every state, LIDs, rate, MTU, NUMA node, PCIe place and link" {
	on 'mlx5_0 link=ib lid=5 sm_lid=1 speed=NDR numa=1 pci=0000:c1:00.0 pcie_gts=32 pcie_width=16 fw=28.39.1002
		ib1 link=ib state=INIT; ib2 link=ib state=ARMED; roce0 state=DOWN netdev=eth7'
	list
	ended list 0
	[[ $(<list.err) == 'rdmark: (!): a finding, which `rdmark check` explains' ]] || fail 'not that note'
	grep -Eq '^mlx5_0 +1 ACTIVE +InfiniBand +400 +4096 +- +1 +0000:c1:00.0$' list.out || fail 'mlx5_0'
	grep -A 1 '^mlx5_0 ' list.out | grep -Eq '^    PCIe .* x16, firmware 28\.39\.1002$' || fail 'mlx5_0: PCIe link'
	! grep -v '^no GPU' list.out | grep -E '.{81}|[[:space:]]$' || fail 'too wide, or blanks at the end'
	says list.out 'LID 0x5, subnet manager LID 0x1'
	grep -Eq '^ib1 +1 INIT ' list.out || fail 'ib1'
	grep -Eq '^ib2 +1 ARMED ' list.out || fail 'ib2'
	grep -Eq '^roce0 +1 DOWN +Ethernet ' list.out || fail 'roce0'
	! grep -A 2 '^mlx5_0 ' list.out | grep -F '(!)' || fail 'a healthy one is marked'
	[[ $(grep -cxF '    (!) port_not_active' list.out) == 3 ]] || fail 'not all three are marked'
}

@test "rdmark list: a port with findings is marked with their codes, one with notes is not" {
	on 'ib0 link=ib sm_lid=1 speed=NDR width=4 mtu=2048 max_mtu=4096 pci=0000:c1:00.0
		ib1 link=ib sm_lid=1 speed=NDR width=2 pci=0000:c2:00.0'
	echo 1 >sys/class/infiniband/ib1/ports/1/counters/link_downed
	list
	ended list 0
	[[ $(grep -cF '(!)' list.out) == 2 ]] || fail 'not both'
	grep -A 2 '^ib1 ' list.out | grep -qxF '    (!) link_below_siblings' || fail 'ib1'
	mkdir -p sys/bus/pci/devices/0000:c1:00.0/iommu_group
	echo DMA >sys/bus/pci/devices/0000:c1:00.0/iommu_group/type
	echo 'TOTAL_ERR_COR 0' >sys/bus/pci/devices/0000:c1:00.0/aer_dev_correctable
	echo 'TOTAL_ERR_NONFATAL 0' >sys/bus/pci/devices/0000:c1:00.0/aer_dev_nonfatal
	echo 'TOTAL_ERR_FATAL 1' >sys/bus/pci/devices/0000:c1:00.0/aer_dev_fatal
	echo 8 >sys/bus/pci/devices/0000:c1:00.0/current_link_width
	list
	grep -A 2 '^ib0 ' list.out | grep -qxF '    (!) pcie_below_link, mtu_below_maximum, iommu_translates and 1 more' ||
		fail 'ib0'
	! grep -v '^no GPU' list.out | grep -E '.{81}' || fail 'too wide'
	on 'roce0 mtu=1024 max_mtu=4096 speed=EDR width=4 gid.0=v2/127.0.0.1'
	list
	ended list 0
	silent list.err
	says_no list.out '(!)'
}

@test "rdmark list: the data rate of every speed and width" {
	local link speed width rate
	while read -r link speed width rate; do
		on "dev0 link=$link speed=$speed width=$width"
		list
		ended list 0
		grep -Eq "^dev0 +1 ACTIVE +[A-Za-z]+ +$rate " list.out || fail "$link $speed x$width: not $rate"
	done <<-'END'
		ib SDR 4 8
		eth SDR 4 10
		ib DDR 12 48
		eth DDR 1 5
		ib QDR 4 32
		eth QDR 1 10
		ib FDR10 4 40
		ib FDR 4 54.55
		eth FDR 4 56
		eth EDR 1 25
		ib HDR 2 100
		ib NDR 8 800
		ib XDR 4 800
	END
}

@test "rdmark list: a device that cannot be opened is in it, with the reason" {
	on 'dev0; dev1'
	through=(env SIMVERBS_FAIL=ibv_open_device:1:EACCES)
	list
	ended list 0
	says list.out 'cannot be opened: Permission denied'
	grep -Eq '^dev1 +1 ACTIVE ' list.out || fail 'dev1'
}

# bats test_tags=core
@test "no device, and no list of devices: exit 77, and what to load" {
	on ' '
	list
	ended list 77
	says list.err 'no RDMA device' modprobe rdma_rxe 'Fix: '
	through=(env SIMVERBS_FAIL=ibv_get_device_list:1+:ENOSYS)
	list
	ended list 77
	says list.err 'ibv_get_device_list' modprobe 'Fix: '
	start cli send_bw
	finish cli
	ended cli 77
}

# chosen DEVICE PORT ARG…: that is what the client takes.
chosen() {
	server send_lat
	client send_lat -n 5 --json=c.json "${@:3}"
	finish server
	ended client 0
	json c.json ".ends.client.device == \"$1\" and .ends.client.port == $2"
}

# bats test_tags=core
@test "-d: by GUID, PCI address with and without domain, and the netdev of its PCI function" {
	local guid name
	on 'sim0 gid.0=v2/127.0.0.1 pci=0000:41:00.0; sim1 gid.0=v2/127.0.0.1 pci=0000:c1:00.0 netdev=eth7'
	guid=$(<sys/class/infiniband/sim1/node_guid)
	for name in sim1 0000:c1:00.0 c1:00.0 "$guid" "0x${guid//:/}" eth7; do
		chosen sim1 1 -d "$name"
	done
	chosen sim0 1
}

@test "the netdev is one that has an address of the port: its number is also another one's, in another namespace" {
	local words
	on 'sim0 gids=1 gid.0=v2/10.9.9.9/lo; sim1 gids=1 gid.0=v2/127.0.0.1/lo'
	start list rdmark list
	finish list
	read -ra words < <(grep '^sim0 ' list.out)
	[[ ${words[6]} == - ]] || fail "${words[*]}"
	read -ra words < <(grep '^sim1 ' list.out)
	[[ ${words[6]} == lo ]] || fail "${words[*]}"
	chosen sim1 1
}

# before_connecting PROGRAM ARG…: a client that fails although no server is there.
before_connecting() {
	start cli "$@" -p 1 --connect-timeout 60 127.0.0.1
	finish cli
	ended cli 2
	says_no cli.err 'connecting to the server'
}

@test "-s: a message that is larger than every port takes" {
	on 'sim0 gid.0=v2/127.0.0.1 max_msg=4096; sim1 gid.0=v2/127.0.0.1 max_msg=8192'
	before_connecting write_bw -s 8193
	says cli.err 'messages of 8193 B are too large' 'Fix: use a smaller -s'
	before_connecting write_bw -d sim0 -s 4097
	says cli.err 'sim0 port 1 supports at most 4 KiB'
	server write_bw -d sim0
	client write_bw -d sim1 -s 8192 -n 5 # the server's port takes less
	serves_next write_bw -s 4k
	ended client 2
}

@test "-x: an index that the table does not have" {
	on 'sim0 gids=8 gid.0=v2/127.0.0.1'
	before_connecting send_lat -x 8
	says cli.err '-x/--gid-index 8' 'sim0 port 1 has only 8 GIDs' 'use 0 to 7'
	# Which of two devices is used can depend on the peer.
	on 'sim0 gids=8 gid.0=v2/127.0.0.1; sim1 gids=9 gid.0=v2/127.0.0.1'
	server send_lat
	client send_lat -x 8
	serves_next send_lat
	ended client 2
	before_connecting send_lat -x 8 -d sim0
	start cli send_lat -x 9 # a server, too
	finish cli
	ended cli 2
}

@test "-i: the second port, and one that no device has" {
	on 'sim0 gid.0=v2/127.0.0.1; sim1 ports=2 p1.state=DOWN gid.0=v2/127.0.0.1'
	chosen sim1 2 -i 2
	chosen sim1 2 -d sim1 # its ACTIVE one
	start cli send_bw -i 3
	finish cli
	ended cli 2
	says cli.err 'no RDMA device of this host has a port 3' 'Fix: omit -i'
	start cli send_bw -d sim0 -i 2
	finish cli
	ended cli 2
	says cli.err "'sim0' has no port 2"
}

# bats test_tags=core
@test "a device that is there but cannot be opened: each cause by its name" {
	on 'sim0'
	export RDMARK_DEV=$PWD/dev
	through=(env SIMVERBS_FAIL=ibv_open_device:1+:ENODATA)
	start cli send_bw -d sim0
	finish cli
	ended cli 1
	says cli.err 'ibv_open_device(sim0): No such file' "its node $PWD/dev/infiniband/uverbs0 does not exist" 'Fix: ' --device=
	list
	says list.out 'cannot be opened: No such file'
	mkdir -p dev/infiniband
	touch dev/infiniband/uverbs0
	start cli send_bw -d sim0
	finish cli
	ended cli 1
	says cli.err 'ibv_open_device(sim0): No data' "uverbs0 opens, so libibverbs' provider" ibverbs-providers
}

@test "a device that the list leaves out: each cause by its name" {
	on 'sim0'
	export RDMARK_DEV=$PWD/dev SIMVERBS_DEVICES=' '
	list
	ended list 77
	says list.err 'no RDMA device of this machine can be used' "The kernel has sim0, but its node $PWD/dev/infiniband/uverbs0" --device=
	mkdir -p dev/infiniband
	touch dev/infiniband/uverbs0
	list
	ended list 77
	says list.err 'no provider' ibverbs-providers
	rm -r sys/class/infiniband_verbs
	list
	ended list 77
	says list.err 'the module ib_uverbs, which gives programs access to it, is not loaded' 'Fix: modprobe ib_uverbs'
}

@test "deeper queues and larger CQs than the device has: exit 2, and the limit" {
	on 'sim0 gid.0=v2/127.0.0.1 max_depth=100 max_cqe=1000'
	server send_bw
	client send_bw -t 101 -n 5
	waits_on
	ended client 2
	says client.err 'a queue of 101 is deeper than sim0 allows (100)' '-t or -r'
	server send_bw
	client send_bw -r 100 -t 16 -q 11 -n 5
	serves_next send_bw -r 90 -t 16
	says server.err '100 receives on each of 11 QPs' '(1000)' 'at most 90'
	on 'sim0 gid.0=v2/127.0.0.1 max_cqe=4'
	server write_bw
	client write_bw -q 5 -n 5
	serves_next write_bw
	ended client 2
	says client.err '5 QPs are more than a CQ of sim0 holds (4)'
}

@test "the QP does not come up on InfiniBand: the LID is named" {
	on 'ib0 link=ib lid=3 sm_lid=1'
	server send_lat
	through=(env SIMVERBS_FAIL=ibv_modify_qp:2:EINVAL)
	client send_lat -n 5
	through=()
	serves_next send_lat
	ended client 1
	says client.err 'to RTR' "LID 0x3" 'Fix: '
}
