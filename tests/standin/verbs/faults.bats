#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Faults on demand, devices by description, the fake sysfs, null mode.

load pair.bash

faults() {
	LD_PRELOAD=$SIM timeout 60 "$ROOT/build/tests/faults" "$@"
}

@test "a message lost" { SIMVERBS_FAULT=lose:1 faults lose; }
@test "a message doubled" { SIMVERBS_FAULT=dup:1 faults dup; }
@test "a byte corrupted" { SIMVERBS_FAULT=corrupt:2 faults corrupt; }
@test "data that land elsewhere" { SIMVERBS_FAULT=misplace:1:2 faults misplace; }
@test "data of an earlier message" { SIMVERBS_FAULT=stale:2:1 faults stale; }
@test "two messages exchanged" { SIMVERBS_FAULT=swap:1 faults swap; }
@test "READs: lost, a byte wrong, an earlier one's data; two are never exchanged" {
	SIMVERBS_FAULT=lose:2 faults read_lose
	SIMVERBS_FAULT=corrupt:2 faults read_corrupt
	SIMVERBS_FAULT=stale:2:1 faults read_stale
	SIMVERBS_FAULT=swap:1 faults read_swap
}
@test "atomics: lost, done twice, a wrong value returned, an earlier one's, another word" {
	SIMVERBS_FAULT=lose:2 faults atomic_lose
	SIMVERBS_FAULT=dup:2 faults atomic_dup
	SIMVERBS_FAULT=corrupt:2 faults atomic_corrupt
	SIMVERBS_FAULT=stale:3:2 faults atomic_stale
	SIMVERBS_FAULT=misplace:2:8 faults atomic_misplace
}
@test "what a device has under way, and one without atomics" {
	SIMVERBS_DEVICES='sim0 max_rd=4 max_init_rd=2 gid.5=v2/127.0.0.1 noatomics' faults limits
	SIMVERBS_DEVICES='sim0 gid.5=v2/127.0.0.1 noatomics qpex' faults no_atomics
	run env SIMVERBS_DEVICES='iw0 iwarp' LD_PRELOAD=$SIM ibv_devinfo -v
	[[ $output == *"atomic_cap:"*"ATOMIC_NONE (0)"* ]]
}
@test "a completion delayed" { SIMVERBS_FAULT=delay:2:4000 faults delay; }
@test "a completion's status" { SIMVERBS_FAULT=wc:1:REM_OP_ERR:0x77 faults wc; }
@test "port down" { SIMVERBS_FAULT=port_down:2 faults port_down; }
@test "device dead" { SIMVERBS_FAULT=device_fatal:2 faults device_fatal; }
@test "registration denied" {
	SIMVERBS_FAULT=reg_max:100000:ENOSPC faults reg_max
}
@test "calls that fail" {
	SIMVERBS_FAIL=ibv_alloc_pd:3:EPERM,ibv_post_send:2+:EFAULT,ibv_poll_cq:1:EIO,ibv_start_poll:1:EINVAL \
		faults calls
}
@test "a fault that does not exist is refused" {
	run env SIMVERBS_FAIL=ibv_frobnicate:1:EIO LD_PRELOAD=$SIM ibv_devices
	[ "$status" = 2 ]
	[[ $output == *"SIMVERBS_FAIL: cannot use 'ibv_frobnicate:1:EIO'"* ]]
}

@test "one side only: the server dies, the client hears of it" {
	SERVER_ENV=(SIMVERBS_FAULT=kill:300)
	if pair ib_send_bw; then return 1; fi
	[ "$SERVER_RC" = 137 ]
	grep -q 'Failed status 12' "$CLIENT_OUT"
	LD_PRELOAD=$SIM ibv_devices > /dev/null
}

@test "devices by description" {
	export SIMVERBS_DEVICES='mlx5_ count=2 link=ib lid=5 sm_lid=1 speed=NDR
		roce0 speed=HDR width=2 state=DOWN mtu=1024 max_mtu=4096'
	run env LD_PRELOAD=$SIM ibv_devinfo -v
	[ "$status" = 0 ]
	[[ $output == *mlx5_0*mlx5_1*roce0* ]]
	[[ $output == *"port_lid:"*6* ]]
	[[ $output == *"100.0 Gbps (128)"* ]]
	[[ $output == *"PORT_DOWN (1)"* ]]
}

@test "no device at all" {
	run env SIMVERBS_DEVICES=' ' LD_PRELOAD=$SIM ibv_devinfo
	[[ $output == *"No IB devices found"* ]]
}

@test "fake sysfs" {
	local dir=$BATS_TEST_TMPDIR/sys ib
	SIMVERBS_DEVICES='mlx5_0 netdev=eth7 numa=1 pci=0000:c1:00.0 gid.3=v2/10.0.0.1' \
		"$ROOT/build/tests/simverbs-sysfs" "$dir"
	ib=$dir/class/infiniband/mlx5_0
	[ "$(cat "$ib/device/numa_node")" = 1 ]
	[ "$(cat "$ib/ports/1/gid_attrs/types/3")" = "RoCE v2" ]
	[ "$(cat "$ib/ports/1/gid_attrs/ndevs/3")" = eth7 ]
	[ "$(cat "$ib/ports/1/rate")" = "100 Gb/sec (4X EDR)" ]
	[ -e "$dir/class/net/eth7/device/infiniband/mlx5_0" ]
	[[ $(readlink -f "$ib") == */0000:c1:00.0/infiniband/mlx5_0 ]]
}

@test "a link of known speed" {
	# never faster; how much slower, a busy machine decides
	export SIMVERBS_GBPS=8
	pair ib_write_bw -n 2000 --report_gbits
	awk '/#bytes/ { on = 1; next } on && NF == 5 { v = $4 }
		END { print v; exit !(v > 0 && v < 8.1) }' "$CLIENT_OUT"
	unset SIMVERBS_GBPS
	export SIMVERBS_LATENCY_NS=50000
	pair ib_send_lat -n 500
	awk '/#bytes/ { on = 1; next } on && NF > 5 { v = $3 }
		END { print v; exit !(v >= 50 && v < 10000) }' "$CLIENT_OUT"
}

@test "a link of known speed: not more READs at a time than both ends have room for" {
	export SIMVERBS_LATENCY_NS=2000000
	pair ib_read_bw -s 8 -n 40 --outs 2
	awk '/#bytes/ { on = 1; next } on && NF == 5 { v = $5 * 1e6 }
		END { print v; exit !(v > 0 && v <= 1010) }' "$CLIENT_OUT"
}

@test "null mode" {
	export SIMVERBS_NULL=1
	pair ib_write_bw -n 100000 -s 8
	pair ib_send_bw -n 100000 -s 8
	pair ib_read_bw -n 100000 -s 8
	pair ib_atomic_bw -n 100000
}
