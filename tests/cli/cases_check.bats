#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# bats file_tags=standin,san
# shellcheck disable=SC2030,SC2031,SC2034,SC2154 # what lib/rdmark.bash sets and reads
#
# Cases from public reports (their numbers are those of the list that they came with) that --check and the
# lists answer from the facts of a host alone.

load ../lib/rdmark

# on DESCRIPTION: those devices, in sysfs, too.
on() {
	export SIMVERBS_DEVICES=${1//$'\n'/;}
	rm -rf sys
	"$root/build/tests/simverbs-sysfs" sys || skip 'no simverbs-sysfs here'
	export RDMARK_SYSFS=$PWD/sys
}

# look PROGRAM ARG…: what it says of this host; its output is in look.out.
look() {
	start look "$@"
	finish look
}

# finds STATUS WORDS…: --check ends so, and says that.
finds() {
	look send_bw --check
	ended look "$1"
	says look.out "${@:2}"
}

@test "case 28: a virtual function that the host has not configured, though a subnet manager runs" {
	local policy="Next: set GUIDs and the link's policy on the host"
	on 'ib0 link=ib state=INIT lid=65535 sm_lid=4 guid=0'
	finds 6 'ib0 port 1: fault: the port is INIT. SM LID 4 is known, this port has no LID, its node GUID is 0. ' "$policy"
	says_no look.out 'start a subnet manager' opensm
	look send_lat
	ended look 1
	says look.err 'SM LID 4 is known, this port has no LID, its node GUID is 0' "set GUIDs and the link's policy on the host"
	on 'ib0 link=ib state=INIT lid=0 sm_lid=4 gid.0=ib/fe80::'
	finds 6 'SM LID 4 is known, this port has no LID, its port GUID is 0. ' "$policy"
	on 'ib0 link=ib state=DOWN phys_state=LinkUp guid=0'
	finds 6 'the port is DOWN. The link is physically up (phys_state LinkUp), the port is not, its node GUID is 0. ' "$policy"
	says_no look.out 'physically down' cable
	on 'ib0 link=ib state=INIT guid=0'
	finds 6 'No subnet manager is known, this port has no LID, its node GUID is 0. ' "$policy"
}

@test "case 28: what a subnet manager that is known has left undone" {
	on 'ib0 link=ib state=INIT sm_lid=4'
	finds 6 'SM LID 4 is known, this port has no LID. ' "Next: the subnet manager's log says why"
	says_no look.out GUID opensm
	on 'ib0 link=ib state=ARMED sm_lid=4 lid=7'
	finds 6 'the port is ARMED. SM LID 4 is known, this port has LID 7. ' 'sminfo'
	on 'ib0 link=ib state=INIT'
	finds 6 'no subnet manager has configured the port. Next: start a subnet manager'
}

# bats test_tags=core
@test "case 28: phys_state of a port that is DOWN, each with what it means" {
	local state words
	while read -r state words; do
		on "ib0 link=ib state=DOWN phys_state=$state"
		finds 6 "$words"
		[[ $words == *physically\ down* ]] || says_no look.out 'physically down'
	done <<-'END'
		Sleep The link sleeps
		Polling The link is physically down: nothing answers at its other end
		Disabled The port is disabled
		Training The link is being trained, and does not come up
		LinkUp The link is physically up (phys_state LinkUp), the port is not. Next: if it is a virtual function
		ErrorRecovery The link has errors, and is trained again
		Test The link is in a test mode
	END
}

@test "case 28: Ethernet has no subnet manager, and its netdev tells more" {
	on 'roce0 gid.1=v2/127.0.0.1/lo state=DOWN'
	unset RDMARK_SYSFS
	finds 6 'Its netdev lo has no carrier or is not up. Next: ip link set lo up'
	on 'roce0 state=DOWN'
	finds 6 'Its netdev (not visible here) has no carrier or is not up. '
	on 'roce0 netdev=eth7 state=DOWN phys_state=Polling'
	finds 6 'nothing answers at its other end' cable
	on 'efa0 efa state=DOWN gid.0=fe80::1'
	finds 6 'efa0 port 1: fault: the port is DOWN. ' "check dmesg, and the instance's EFA interface"
	says_no look.out cable transceiver switch
	on 'roce0 netdev=eth7 state=DOWN phys_state=LinkUp'
	finds 6 'The link is physically up (phys_state LinkUp), the port is not. Next: check dmesg'
	on 'iw0 iwarp state=INIT'
	finds 6 'The link is up, but its netdev (not visible here) has no IPv4 address. Next: ip address add'
	says_no look.out 'subnet manager'
}

@test "case 29: an active port without a node GUID, or without one of its own, is a warning" {
	on 'ib0 link=ib lid=3 sm_lid=1 guid=0'
	finds 0 "ib0 port 1: warn: the device's node GUID is 0. " '[no_guid]'
	on 'roce0 guid=0 gid.1=v2/10.0.0.1'
	finds 0 "roce0 port 1: warn: the device's node GUID is 0. "
	look rdmark list
	says look.out '    (!) no_guid'
	on 'ib0 link=ib lid=3 sm_lid=1 gid.0=ib/fe80::'
	finds 0 "warn: the device's port GUID is 0. "
	on 'efa0 efa guid=0 gid.0=fe80::1'
	finds 0 'efa0 port 1: '
	says_no look.out GUID
}

@test "case 31: devices of other pods are a note, if another one is usable" {
	through=(env SIMVERBS_FAIL=ibv_open_device:1:EPERM)
	on 'mlx5_0 gid.1=v2/10.0.0.1; mlx5_1 gid.1=v2/10.0.0.2; mlx5_2 gid.1=v2/10.0.0.3'
	finds 0 'mlx5_0: note: this process may not open the device (Operation not permitted); it may use another one' \
		'[not_given]' '3 ports: 0 faults, 0 warnings, '
	look send_bw --check --json=-
	ended look 0
	[[ $(jq -c '.ports[0] | .device, (.findings[] | .code, .level)' look.out | tr '\n' ' ') == \
		'"mlx5_0" "not_given" "note" ' ]] || fail 'not that document'
	look send_bw --check -d mlx5_0
	ended look 6
	says look.out 'mlx5_0: fault: ibv_open_device(mlx5_0): Operation not permitted' '[cannot_open]'
	look rdmark list
	ended look 0
	says look.out 'mlx5_0          - cannot be opened: Operation not permitted'
	says_no look.out '(!)'
}

@test "case 31: a device that cannot be opened is a fault, if none is usable, or it is not for want of a right" {
	through=(env SIMVERBS_FAIL=ibv_open_device:1:EPERM)
	on 'mlx5_0; mlx5_1 netdev=eth1 state=DOWN'
	finds 6 'mlx5_0: fault: ' 'mlx5_1 port 1: fault: the port is DOWN'
	look send_lat
	ended look 1
	says look.err 'mlx5_1 port 1 is DOWN'
	on 'mlx5_0'
	finds 6 'mlx5_0: fault: '
	through=(env SIMVERBS_FAIL=ibv_open_device:1:EIO)
	on 'mlx5_0; mlx5_1 gid.1=v2/10.0.0.2'
	mkdir -p dev/infiniband
	touch dev/infiniband/uverbs{0,1}
	RDMARK_DEV=$PWD/dev finds 6 'mlx5_0: fault: ibv_open_device(mlx5_0): Input/output error'
}

two='gid.1=v2/10.0.0.1 speed=HDR width=4 pcie_gts=16 pcie_width=16'

# bats test_tags=core
@test "case 32: two functions of one slot, and what both carry together" {
	on "mlx5_0 pci=0000:41:00.0 $two
		mlx5_1 pci=0000:41:00.1 $two"
	finds 0 'at 2 ports: note: the PCIe link (gen4 x16 at 0000:41:00.0, 0000:41:00.1) carries 221.2 Gb/s of payload, and mlx5_0:1+mlx5_1:1 have 400 Gb/s together. ' \
		'[pcie_shared]'
	says_no look.out ': ok: ' 'use a slot'
	on "mlx5_0 pci=0000:41:00.0 $two
		mlx5_1 pci=0000:41:00.1 $two state=DOWN"
	finds 0 'mlx5_0 port 1: ok: ' '[port_unplugged]'
	says_no look.out '[pcie_shared]'
	on "mlx4_0 ports=2 gid.1=v2/10.0.0.1 speed=HDR width=4 pcie_gts=16 pcie_width=16"
	finds 0 'and mlx4_0:1+mlx4_0:2 have 400 Gb/s together. '
	on "mlx4_0 ports=2 p2.state=DOWN gid.1=v2/10.0.0.1 speed=HDR width=4 pcie_gts=16 pcie_width=16"
	finds 0 'mlx4_0 port 1: ok: '
	on "mlx5_0 pci=0000:41:00.0 $two
		mlx5_1 pci=0000:42:00.0 $two"
	finds 0 'mlx5_0 port 1: ok: ' 'mlx5_1 port 1: ok: '
}

@test "case 32: neither a subfunction nor a virtual function of a port adds to what its slot has to carry" {
	on "mlx5_0 pci=0000:41:00.0 $two
		mlx5_1 pci=0000:41:00.2 $two"
	echo 0 >sys/bus/pci/devices/0000:41:00.2/current_link_width
	finds 0 'mlx5_0 port 1: ok: '
	on "mlx5_0 pci=0000:41:00.0 $two
		mlx5_1 pci=0000:41:00.0 $two"
	finds 0 'mlx5_0 port 1: ok: ' 'mlx5_1 port 1: ok: '
}

@test "case 32: a card behind two PCIe links is used by both, not by another slot" {
	local half='gid.1=v2/10.0.0.1 image=0x1234 speed=HDR width=4 pcie_gts=32 pcie_width=4'
	on "a0 pci=0000:01:00.0 $half
		a1 pci=0000:01:00.1 $half
		b0 pci=0002:01:00.0 $half
		b1 pci=0002:01:00.1 $half"
	finds 0 'at 4 ports: warn: the PCIe link (gen5 x4 at 0000:01:00.0, 0000:01:00.1, 0002:01:00.0, 0002:01:00.1) carries 110.6 Gb/s of payload, the port 200 Gb/s; a0, b0 are of one card, and its links carry 221.2 Gb/s together. ' \
		'Next: use a0, b0 together [pcie_below_link]' 'and a0:1+a1:1, a0:1+a1:1, b0:1+b1:1, b0:1+b1:1 have 400 Gb/s together. '
	says_no look.out 'use a slot'
	on "a0 pci=0000:01:00.0 $half
		b0 pci=0002:01:00.0 $half image=0x5678"
	finds 0 'the port 200 Gb/s. Bandwidth is limited by the PCIe link'
	says_no look.out 'use a slot' 'same card' # the adapter itself can do no more
	echo 16 >sys/bus/pci/devices/0000:01:00.0/max_link_width
	finds 0 'Next: use a slot with more lanes or a newer generation [pcie_below_link]'
}

# bats test_tags=core
@test "case 43: the same note at nine ports is said once, with the counts that differ" {
	local i
	on 'mlx5_ count=9 gid.1=v2/10.0.0.1 mtu=1024 max_mtu=4096'
	for i in {0..8}; do echo $((i + 2)) >"sys/class/infiniband/mlx5_$i/ports/1/counters/symbol_error"; done
	finds 0 $'\nat 9 ports: note: the path MTU is 1 KiB; the port supports 4 KiB [mtu' \
		'at 9 ports: note: the port has counted errors since it was reset: counters/symbol_error 2, 3, 4, 5, 6, 7, 8, 9, 10. Next: ' \
		'9 ports: 0 faults, 0 warnings, '
	[[ $(grep -c path.MTU look.out) == 1 && $(grep -c symbol_error look.out) == 1 ]] || fail 'not once'
	rm sys/class/infiniband/mlx5_3/ports/1/counters/symbol_error
	echo 0 >sys/class/infiniband/mlx5_4/ports/1/counters/symbol_error
	echo 1 >sys/class/infiniband/mlx5_4/ports/1/counters/link_downed
	finds 0 'at 7 ports (mlx5_0 port 1, mlx5_1 port 1, mlx5_2 port 1, mlx5_5 port 1, ' 'symbol_error 2, 3, 4, 7, 8, 9, 10. ' \
		$'\nmlx5_4 port 1: note: the port has counted errors since it was reset: counters/link_downed 1. '
	look send_bw --check --json=-
	[[ $(jq '[.ports[].findings[] | select(.code == "mtu_below_maximum")] | length' look.out) == 9 ]] || fail 'not one per port'
}

@test "case 43: a fault is said of each port" {
	on 'ib0 link=ib state=DOWN; ib1 link=ib state=DOWN'
	finds 6 'ib0 port 1: fault: the port is DOWN' 'ib1 port 1: fault: the port is DOWN' '2 ports: 2 faults, '
}
