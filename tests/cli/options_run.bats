#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# bats file_tags=standin,san
# shellcheck disable=SC2016,SC2030,SC2031,SC2034,SC2154 # $ of jq; what lib/rdmark.bash sets and reads
#
# What the options do to a run; their reading is in tests/cli. What came out of them stands in the
# JSON document, for both ends.

load ../lib/rdmark

setup_file() { need_device; }

# with FILTER PROGRAM ARG…: the run succeeds, and its document is as FILTER says.
with() {
	pair "$2" --json=c.json -n 40 -s 64 "${@:3}"
	json c.json "$1"
	row client.out
}

# bats test_tags=core
@test "-t, -l, -Q: depth, posts and moderation as given; a moderation that cannot be is cut" {
	with '.effective.tx_depth == 16 and .effective.cq_mod <= 4' send_bw -t 16
	with '.effective.cq_mod == 8' write_bw -t 64 -Q 8
	with '.effective.cq_mod == 4 and .effective.tx_depth == 16' write_bw -t 16 -Q 100
	with '.effective.cq_mod == 1' write_bw -Q 1
	with '.experiment.post_list == 8 and .effective.cq_mod % 8 == 0' send_bw -t 64 -l 8
	with '.experiment.post_list == 1' write_bw -t 1
	with '.experiment.post_list == 64' send_bw -t 64 -l 64 -Q 7
	with '.experiment.post_list == 7 and .results[0].messages == 40' write_bw -t 32 -l 7
}

@test "-t 1 and -r 1: the shallowest queues" {
	with '.results[0].messages == 40' send_bw -t 1 -r 1
	with '.results[0].messages == 40' send_lat -t 1 -r 1
}

@test "-r: the server's receive queues" {
	server send_bw --json=s.json
	client send_bw -r 37 -n 100 -s 64
	finish server
	ended client 0
	ended server 0
	json s.json '.effective.rx_depth == 37'
}

# bats test_tags=rxe
@test "-q: many QPs, more messages than one queue holds" {
	with '.results[0].qps == 32 and .results[0].messages == 1280' send_bw -q 32
	with '.results[0].qps == 3 and .results[0].messages == 3000' write_bw -q 3 -n 1000
}

# bats test_tags=rxe
@test "-m: the MTU of both ends is what was asked for" {
	local mtu
	for mtu in 256 1024; do
		with ".effective.mtu_bytes == $mtu" write_bw -m $mtu
	done
	with '.effective.mtu_bytes == ([.ends[].active_mtu_bytes] | min)' send_lat
}

# bats test_tags=rxe,core
@test "-I: inline as given, 0 turns it off, more than the device has is refused" {
	with '.effective.inline_bytes == 0' send_lat -I 0
	with '.effective.inline_bytes >= 64' write_lat -I 64
	server send_lat
	client send_lat -I 65536
	ended_with_any client 1 2 3
	says client.err inline 'Fix: '
	serves_next send_lat
}

@test "-S, -T, -u, --disable_pcie_relaxed reach the experiment of both ends" {
	server write_bw --json=s.json
	client write_bw -n 20 -s 64 -S 1 -T 104 -u 16 --disable_pcie_relaxed
	finish server
	ended client 0
	ended server 0
	json s.json '.experiment | .sl == 1 and .tos == 104 and .qp_timeout == 16 and .disable_pcie_relaxed == true'
}

@test "--warmup: as many as asked for, also none" {
	with '.effective.warmup == 0' send_lat --warmup 0
	with '.effective.warmup == 0' write_lat --warmup 0
	with '.effective.warmup == 0' send_bw --warmup 0
	with '.effective.warmup == 3' write_bw --warmup 3 -q 2
}

# bats test_tags=rxe
@test "-d: by name, netdev, IP address and GUID" {
	local guid
	with ".ends.client.device == \"$DEVICE\"" send_lat -d "$DEVICE"
	with ".ends.client.device == \"$DEVICE\"" send_lat -d "$GID_ADDRESS"
	if [[ $NETDEV != - ]]; then
		with ".ends.client.device == \"$DEVICE\"" send_lat -d "$NETDEV"
	fi
	if [[ -e /sys/class/infiniband/$DEVICE/node_guid ]]; then
		guid=$(<"/sys/class/infiniband/$DEVICE/node_guid")
		with ".ends.client.device == \"$DEVICE\"" send_lat -d "$guid"
		with ".ends.client.device == \"$DEVICE\"" send_lat -d "0x${guid//:/}"
	fi
	server send_lat -d "$GID_ADDRESS"
	client send_lat -n 5
	finish server
	ended client 0
	ended server 0
}

@test "-d wrong: exit 2 on either end, the devices that are there, and the server is not bothered" {
	start cli send_bw -d nonsense0
	finish cli
	ended cli 2
	says cli.err nonsense0 "$DEVICE" 'Fix: '
	server send_bw
	client send_bw -d nonsense0
	ended client 2
	says client.err nonsense0 "$DEVICE"
	client send_bw -n 5 # the same server
	ended client 0
	finish server
	ended server 0
}

@test "-i: the port there is, and one there is not" {
	with '.ends.client.port == 1' send_lat -i 1
	start cli send_bw -d "$DEVICE" -i 77
	finish cli
	ended cli 2
	says cli.err 77
}

# bats test_tags=rxe
@test "-x: the index given, an empty one, one out of range" {
	[[ ${GID_INDEX-} ]] || skip 'the device has no IPv4 GID'
	with ".ends.client.gid_index == $GID_INDEX" send_lat -x "$GID_INDEX"
	server send_lat -x "$GID_INDEX" --json=s.json
	client send_lat -n 5
	finish server
	ended server 0
	json s.json ".ends.server.gid_index == $GID_INDEX"

	server send_lat
	client send_lat -x "$GID_EMPTY"
	ended client 2
	says client.err "-x/--gid-index $GID_EMPTY" empty "\`rdmark list\`"
	serves_next send_lat
	says server.err 'it says: ' "-x/--gid-index $GID_EMPTY" empty
	start cli send_lat -x 65535
	finish cli
	ended cli 2
	says cli.err '-x/--gid-index' 65535 'Fix: '
}

# bats test_tags=core
@test "-x on the server: an empty index is told to both" {
	server send_lat -x "$GID_EMPTY"
	client send_lat -n 5
	finish server
	[[ ${status[server]} == 2 ]] || fail "server: status ${status[server]}"
	[[ ${status[client]} == 2 || ${status[client]} == 3 ]] || fail "client: status ${status[client]}"
	says server.err "-x/--gid-index $GID_EMPTY" empty
	says client.err "-x/--gid-index $GID_EMPTY" empty
}

@test "--numa: none, 0, and a node that is not there" {
	with '.ends.client.thread_node == -1 or .ends.client.thread_node == null' send_lat --numa none
	with '.ends.client.thread_node == 0' send_lat --numa 0
	server send_lat
	client send_lat --numa 99
	ended client 2
	says client.err '--numa 99' 'Fix: '
	serves_next send_lat
	says server.err 'it says: ' '--numa 99'
}

@test "an affinity mask is respected" {
	through=(taskset -c 0)
	with '.ends.client.cpus == "0"' write_lat
}

# bats test_tags=rxe
@test "rdmark list: device, port, state, link layer, GIDs with type" {
	start cli rdmark list
	finish cli
	ended cli 0
	! grep -v '^[a-z_]*: (!): ' cli.err || fail 'more than a note about a finding'
	says cli.out "$DEVICE" ACTIVE GID NUMA PCI
	! grep -E '[[:space:]]$' cli.out || fail 'blanks at the end'
}

@test "messages larger than the port takes: exit 2, the limit is named, without a server" {
	start cli write_bw -s 1T -p 1 --connect-timeout 60 "$host"
	finish cli
	ended cli 2
	says cli.err '1 TiB' "$DEVICE port 1" 'at most'
	says_no cli.err 'connecting to the server'
}

@test "perftest's habits on one line" {
	pair write_bw -aF --report_gbits -q4 -n 2 -d "$DEVICE"
	says client.out 'Gb/sec'
	rows client.out
	((${#rows[@]} == 23)) || fail 'not 23 rows'
	pair send_lat -F -s 64 -n 20 -D1 -d "$DEVICE" -i1
	pair send_bw -F --report_gbits -s 1K -n20 -q 2 -t 64 -m 1024 -T 104 -S 0 --perform_warm_up
	row client.out
	[[ ${row[0]} == 1024 && ${row[1]} == 40 ]]
}
