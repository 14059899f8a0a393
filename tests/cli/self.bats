#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# bats file_tags=standin
# shellcheck disable=SC2016,SC2154 # $ of jq; what lib/rdmark.bash sets
#
# rdmark self: every port with every memory of this host. How often it is right is in tests/unit/test_self.c.

load ../lib/rdmark

# three WORD…: three ports of an adapter at 0.4 Gb/s, the last one with WORDs: a send queue lasts for longer than a busy
# machine holds up a process, which costs nothing then.
three() {
	export SIMVERBS_GBPS=0.4 SIMVERBS_CPU=200 SIMVERBS_DEVICES="mlx5_0 gid.0=v1/127.0.0.1 gid.1=v2/127.0.0.1
		mlx5_1 gid.0=v1/127.0.0.2 gid.1=v2/127.0.0.2
		mlx5_2 gid.0=v1/127.0.0.3 gid.1=v2/127.0.0.3 $*"
}

self() {
	start self rdmark "${@:-self}"
	finish self
}

@test "a slow port is found, with its slot; 6" {
	three host_mbps=200 pci=0000:41:00.0
	self self --json
	ended self 6
	json self.out '[.cells[] | [.device, .memory, .slow, (.windows_gbps | length)]] ==
		[["mlx5_0", "node 0", false, 3], ["mlx5_1", "node 0", false, 3], ["mlx5_2", "node 0", true, 3]]
		and (.findings | length) == 1 and (.findings[0] | startswith("mlx5_2 port 1 is slow with every memory: 0.2 Gb/s, others of its kind "))'
	self self -d mlx5_2
	ended self 0
	says self.out 'cannot tell whether these rates are normal: nothing here is known to be of the same kind'
}

@test "healthy ports: a table, and what was not tested; 0" {
	three
	self
	ended self 0
	says self.out 'WRITE to itself' 'node 0' 'mlx5_1 port 1' 'Cables, switches and the other host were not used'
	says_no self.out '(!)' 'cannot tell'
	! grep -v ' cells, 3 times each: about ' self.err || fail 'more than how long it takes, on a slow machine'
}

@test "a GPU: a column of its own, which is not judged where nobody knows how far it is" {
	[[ -e ${RDMARK_PRELOAD%/*}/cuda/libcuda.so.1 ]] || skip 'no stand-in of the driver'
	export LD_LIBRARY_PATH=${RDMARK_PRELOAD%/*}/cuda SIMCUDA_GPUS='pci=0000:17:00.0'
	three gpu_read_mbps=200 gpu_write_mbps=200
	self self --json
	ended self 0
	json self.out '[.cells[] | select(.memory == "GPU 0") | [.distance, .like_gbps, .slow]] | length == 3 and all(. == [5, null, false])'
	json self.out '.cells[5] | .memory == "GPU 0" and .gbps < 0.22 and .gbps > 0.1'
}

@test "what cannot be measured has a reason, and no status of health" {
	three
	export SIMVERBS_FAIL=ibv_reg_mr:1+:ENOMEM
	self
	ended self 77
	says self.out '0 of 3 windows count: write_bw:' 'Cannot allocate memory' 'Fix: '
	says_no self.out 'cannot tell'
	self self --json
	json self.out '.cells | length == 3 and all(.windows_gbps == [] and .gbps == null and .like_gbps == null and .slot_gbps == null)'
	unset SIMVERBS_FAIL
	SIMVERBS_CPU=50 self
	ended self 77
	says self.out '50 % of its CPU'
	SIMVERBS_DEVICES=' ' self
	ended self 77
	says self.err 'no RDMA device'
	self self -d mlx5_9
	ended self 2
	self self more
	ended self 2
}

@test "rdmark check --self: findings of both; the worse status" {
	three host_mbps=200
	self check --self
	ended self 6
	says self.out 'mlx5_2 port 1 is slow with every memory'
	says self.out 'host'
	three
	self check --self -d mlx5_0
	ended self 0
	says self.out 'mlx5_0 port 1' 'WRITE to itself'
	self check --self -d mlx5_9
	ended self 2
}

@test "a signal ends it at once, and its programs" {
	three
	start self rdmark self
	local children=
	until [[ $children ]]; do children=$(pgrep -P "${pid[self]}" || true); done
	kill -TERM "${pid[self]}"
	finish self
	ended self 143
	for child in $children; do ! kill -0 "$child" 2>/dev/null || fail "$child still runs"; done
}
