#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# bats file_tags=rxe
# shellcheck disable=SC2016,SC2030,SC2031,SC2154 # $ of jq; what lib/rdmark.bash sets and reads
#
# What is said to limit a run of soft-RoCE, where the cause is really made.

load ../lib/rdmark
load ../lib/wire

setup_file() {
	need_machine
	[[ ! ${SKIP_FILE-} ]] || return 0
	modprobe sch_netem 2>/dev/null || true
	mount -t cgroup2 none /sys/fs/cgroup 2>/dev/null || true
	need_device
}

limit() { json c.json ".results[0].limit | $1"; }

@test "case 36: a receive queue that is too small: the receiver, before any CPU and any loss" {
	local options refused=0
	# The sender of a starved machine may hardly find that there is no receive: then that is not what limits.
	for options in '-r 1' '-r 4' '-r 8' '-r 1 --qp-timeout 18'; do
		# shellcheck disable=SC2086 # words
		pair send_bw -s 4k -n 1000 --timeout 120 $options --json=c.json
		jq -e '[.results[0].diagnosis[] | select(.code == "receiver_not_ready").share] | add > 0.05' c.json || continue
		((refused += 1))
		limit '.bound_by == "receiver" and .strength == "may_be"'
		says client.err 'may be limited by the receiver: the server was not ready for ' 'use a larger -r'
		says_no client.err PFC 'sent again'
	done
	((refused > 0))
}

@test "case 40: the first run of a newcomer: software has no switches, and no PFC" {
	pair write_bw -D 2 --json=c.json
	says_no client.err PFC ECN switch
	json c.json 'all(.results[0].diagnosis[]; .next | test("PFC|switch") | not)'
}

@test "case 35: a pod with a CPU limit: that stopped it, and no other tasks" {
	local through=(sh -c 'echo $$ >/sys/fs/cgroup/slow/cgroup.procs; exec "$@"' sh)
	echo +cpu >/sys/fs/cgroup/cgroup.subtree_control || skip 'no CPU limits of cgroups'
	mkdir -p /sys/fs/cgroup/slow
	echo '30000 100000' >/sys/fs/cgroup/slow/cpu.max
	server send_bw
	client send_bw -D 3 --json=c.json
	finish server
	ended client 0
	json c.json '.results[0].quality | .stopped > 5 and .stopped_s > 1 and any(.reasons[]; endswith("_cpu_limit")) and all(.reasons[]; endswith("_cpu") | not)'
	says client.err "its cgroup's CPU limit stopped it "
	says_no client.err taskset
	start client write_bw --check
	finish client
	says client.out "the cgroup's CPU limit is 30000 100000 " 'which stopped it '
}

@test "case 39: packets out of order are NAKs, not packets lost" {
	wire
	tc qdisc add dev wA root netem delay 2ms reorder 75% 50% 2>tc.err || skip "no netem: $(<tc.err)"
	server write_bw -d rdB
	host=10.77.0.2 client write_bw -d rdA -D 3 --json=c.json
	finish server
	unwire
	ended client 0
	says_no client.err 'were lost' 'packet loss' PFC
}
