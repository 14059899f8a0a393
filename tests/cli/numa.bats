#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# bats file_tags=numa
# shellcheck disable=SC2016,SC2030,SC2031,SC2034,SC2154 # $ of jq; what lib/rdmark.bash sets and reads
#
# On a machine with two NUMA nodes, CPU 0 on node 0 and CPU 1 on node 1, where the NIC is.

load ../lib/rdmark

setup_file() {
	need_device
	[[ -d /sys/devices/system/node/node1 ]] || skip_file 'one NUMA node only'
}

setup_numa() { host=192.168.77.1; }

@test "by default thread and buffers are on the NIC's node, on both ends; both say so" {
	local program
	setup_numa
	for program in "${programs[@]}"; do
		pair "$program" -n 20 -s 4096 -v --json=c.json
		json c.json 'all(.ends[]; .numa_node == 1 and .thread_node == 1 and .cpus == "1"
			and .memory_pages > 0 and .memory_pages_on_node == .memory_pages)'
		says client.err 'client NUMA node 1, CPUs 1 (the NIC'\''s node; all buffers local)' 'server NUMA node 1'
	done
	pair write_lat -n 20
	says_no client.err 'NUMA node'
}

@test "--numa 0: there, and only on the end that asked" {
	setup_numa
	pair write_bw -n 20 --numa 0 --json=c.json
	says client.err 'client NUMA node 0, CPUs 0 (--numa 0' # which is not the NIC's
	says_no client.err 'server NUMA node'
	json c.json '.ends.client.thread_node == 0 and .ends.client.cpus == "0" and .ends.server.thread_node == 1
		and .ends.client.memory_pages > 0 and .ends.client.memory_pages_on_node == .ends.client.memory_pages'
}

@test "--numa none: left where it was" {
	setup_numa
	pair send_lat -n 20 --numa none --json=c.json
	says client.err 'client CPUs 0-1 (not pinned: --numa none)'
	json c.json '.ends.client.thread_node == -1 or .ends.client.thread_node == null'
	json c.json '.ends.client.cpus == "0-1"'
}

@test "--numa 7: exit 2, and the nodes there are" {
	setup_numa
	server send_lat
	client send_lat --numa 7
	ended client 2
	says client.err '--numa 7' 'Fix: '
}

@test "an affinity mask without a CPU of the NIC's node is respected, and said" {
	setup_numa
	server send_lat
	through=(taskset -c 0)
	client send_lat -n 20 --json=c.json
	through=()
	finish server
	ended client 0
	json c.json '.ends.client.cpus == "0" and (.ends.client.pinned | contains("affinity mask"))'
	says client.err 'client CPUs 0 (not pinned: the affinity mask has no CPU of the NIC'
	server send_lat
	through=(taskset -c 0)
	client send_lat -n 20 --numa 1
	ended client 2
	says client.err '--numa 1' taskset
}

@test "rdmark list shows the NIC's node" {
	start cli rdmark list
	finish cli
	ended cli 0
	[[ $(awk -v device="$DEVICE" '$1 == device { print $8 }' cli.out) == 1 ]] || fail 'not node 1'
}

@test "two devices: each one's thread is on its own node, or free where that is unknown" {
	setup_numa
	[[ -d /sys/class/infiniband/rxe1 ]] || rdma link add rxe1 type rxe netdev lo
	server write_bw -d rxe0,rxe1
	client write_bw -d rxe0,rxe1 -n 50 -s 4096 --json=c.json
	finish server
	rdma link delete rxe1
	ended client 0
	ended server 0
	json c.json '.ends.client | .thread_node == 1 and .cpus == "1" and .memory_pages_on_node == .memory_pages
		and (.more_devices[0] | .device == "rxe1" and .thread_node == -1 and .cpus == "0-1")'
	json c.json '[.results[].by_thread[] | select(.measured_by == "client") | [.device, .messages]] == [["rxe0", 50], ["rxe1", 50]]'
}

@test "rdmark self: a column for each node" {
	start self rdmark self --json
	finish self
	((${status[self]} == 0 || ${status[self]} == 77)) # a starved machine
	json self.out '[.cells[].memory] == ["node 0", "node 1"] and [.cells[].distance] == [20, 10]'
}
