#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# bats file_tags=rxe
# shellcheck disable=SC2016,SC2030,SC2031,SC2034,SC2154 # $ of jq; what lib/rdmark.bash sets and reads
#
# As in a pod: network namespaces that share the devices or have their own, no rights, nothing to write to, and
# little of everything.

load ../lib/rdmark
load ../lib/wire

setup_file() {
	need_machine
	[[ ! ${SKIP_FILE-} ]] || return 0
	mount -t cgroup2 none /sys/fs/cgroup 2>/dev/null || true
	echo '+memory +pids +rdma' >/sys/fs/cgroup/cgroup.subtree_control
	mkdir -p /sys/fs/cgroup/pod
	need_device
}

teardown_file() {
	[[ ! ${SKIP_FILE-} ]] || return 0
	deadline=60 unwire
	[[ ! ${RDMARK_DOCUMENTS-} ]] && compgen -G "$BATS_FILE_TMPDIR/*.documents" >/dev/null || return 0
	"$lib/schema" "$BATS_FILE_TMPDIR"/*.documents >&2 || (($? == 77))
}

# in_namespace NAME COMMAND…, in_pod COMMAND…: a helper of lib/rdmark.bash, whose program runs there.
in_namespace() {
	local through=(ip netns exec "$1")
	"${@:2}"
}

in_pod() {
	local through=(sh -c 'echo $$ >/sys/fs/cgroup/pod/cgroup.procs; exec "$@"' sh)
	"$@"
}

# Only while there is one namespace can the mode be set, and one that is deleted is gone a little later.
devices_are() {
	local end=$((SECONDS + deadline))
	until rdma system set netns "$1" 2>/dev/null; do ((SECONDS < end)) || fail "not $1"; done
}

soft_roce='the only one in which soft-RoCE of most kernels sends and receives'

# in_pods [OPTION…]: a server of write_bw in a, and a client in b.
in_pods() {
	deadline=90
	in_namespace a server write_bw --timeout 4
	host=10.77.0.1
	in_namespace b client write_bw --timeout 4 -n 20 -s 4096 --json=c.json "$@"
	[[ ${status[client]} == 0 ]] || kill "${pid[server]}" 2>/dev/null || true
	finish server
}

# Either it is measured, or the namespace is the cause: only new kernels have soft-RoCE in namespaces.
measured_or_blamed() {
	if [[ ${status[client]} == 0 ]]; then
		json c.json '.status == "ok" and .results[0].messages == 20'
	else
		says client.err "$soft_roce" "Fix: measure in the host's network namespace"
		json c.json '.status == "failed" and (.error.cause | contains("network namespace"))'
	fi
}

@test "shared devices: each pod takes its own, and sees which are not" {
	local words
	pods rxe
	in_pods
	says client.err 'rdB port 1' 'on wB, which leads to the peer'
	says server.err 'rdA port 1' 'on wA, which leads to the peer'
	measured_or_blamed
	in_namespace a start list rdmark list
	finish list
	read -ra words < <(grep '^rdA ' list.out)
	[[ ${words[6]} == wA ]] || fail "${words[*]}"
	# where wB is, it has the number that wA has here
	read -ra words < <(grep '^rdB ' list.out)
	[[ ${words[6]} == - ]] || fail "${words[*]}"
}

@test "shared devices: through rdma_cm" {
	pods rxe
	in_pods -R
	measured_or_blamed
}

@test "shared devices: another namespace than the netdev's" {
	pods rxe
	server write_bw -d rdA --timeout 4
	client write_bw -d rdB --timeout 4 -n 20 -s 4096 --json=c.json
	[[ ${status[client]} == 0 ]] || kill "${pid[server]}" 2>/dev/null || true
	finish server
	measured_or_blamed
}

@test "soft-iWARP between two pods: measured, and no pod can take the other's device" {
	modprobe -q siw || skip 'this kernel has no siw here'
	pods siw
	in_pods
	ended client 0
	ended server 0
	json c.json '.status == "ok" and .results[0].messages == 20'
	in_pods -d rdA
	ended client 2
	says client.err 'rdma_cm uses rdB port 1 for 10.77.0.2, not rdA port 1'
}

@test "devices of their own (exclusive): what is elsewhere is named, by -d, too" {
	unwire
	devices_are exclusive
	ip netns add a
	in_namespace a start list rdmark list
	in_namespace a start named send_lat -d "$DEVICE"
	in_namespace a start cm send_lat -R -p 1 --connect-timeout 0 127.0.0.1
	finish list named cm
	ip netns delete a
	devices_are shared
	ended list 77
	ended named 77
	says list.err 'there is no RDMA device in this network namespace' "In another network namespace: $DEVICE" 'rdma dev set'
	says named.err "In another network namespace: $DEVICE"
	says cm.err "In another network namespace: $DEVICE"
}

@test "a user without rights, and none to gain: measured, through rdma_cm, too" {
	local nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups --bounding-set=-all --no-new-privs)
	local option
	wire
	host=10.77.0.1
	for option in '' -R; do
		through=("${nobody[@]}")
		server write_bw -d rdA
		# shellcheck disable=SC2086 # or none
		client write_bw -d rdB -n 20 $option --json
		finish server
		ended client 0
		ended server 0
		json client.out '.status == "ok"'
	done
}

@test "nothing but a tmpfs can be written to: measured; a file elsewhere is refused before" {
	wire
	mkdir tmp
	through=(unshare -m bash -c 'for i in / /tmp /run /dev/shm /sys/fs/cgroup; do
		mount --bind $i $i && mount -o remount,ro,bind $i; done 2>/dev/null
		mount -t tmpfs none "$0"; exec "$@"' "$PWD/tmp")
	server write_bw -d rdA
	client write_bw -d rdB -n 20 "--json=$PWD/tmp/c.json" --quiet
	finish server
	ended server 0
	ended client 0
	start client write_bw -d rdB "--json=$PWD/c.json" -p 1 "$host"
	finish client
	ended client 1
	says client.err 'Read-only file system'
}

# limited FILE VALUE: of the cgroup pod.
limited() { echo "$2" >"/sys/fs/cgroup/pod/$1"; }

@test "rdma.max: the limit is the cause, whatever is one too many" {
	local limit
	wire
	for limit in hca_handle=0 hca_object=4; do
		limited rdma.max "rdB $limit"
		server write_bw -d rdA
		in_pod client write_bw -d rdB -n 5
		kill "${pid[server]}"
		finish server
		ended client 1
		says client.err "rdB " "$limit" '(rdma.max)' 'Fix: raise rdma.max of /sys/fs/cgroup/pod'
		limited rdma.max "rdB hca_handle=max hca_object=max"
	done
	limited rdma.max 'rdA hca_object=4'
	in_pod server write_bw -d rdA --persistent
	client write_bw -d rdB -n 5
	ended client 3
	says client.err '(rdma.max)'
	limited rdma.max 'rdA hca_handle=max hca_object=max'
	client write_bw -d rdB -n 5
	ended client 0
	kill "${pid[server]}"
	finish server
	ended server 0
}

@test "memory.max: a client that needs more is refused; the server is not killed, and serves the next" {
	wire
	limited memory.max 24M
	in_pod server write_bw -d rdA --persistent
	client write_bw -d rdB -n 5 -q 4 -s 8m
	ended client 3
	says client.err 'The cgroup may have 24 MiB (memory.max)' 'Fix: '
	client write_bw -d rdB -n 5
	ended client 0
	kill "${pid[server]}"
	finish server
	ended server 0
	server write_bw -d rdA
	in_pod client write_bw -d rdB -n 5 -q 4 -s 8m
	kill "${pid[server]}"
	finish server
	limited memory.max max
	ended client 1
	says client.err 'The cgroup may have 24 MiB (memory.max)'
}

@test "pids.max: the limit is the cause; a server that stays serves when there is room" {
	wire
	server write_bw -d rdA
	limited pids.max 2
	in_pod client write_bw -d rdB -n 5 --threads 2
	limited pids.max max
	kill "${pid[server]}"
	finish server
	ended client 1
	says client.err 'pids.max of the cgroup is 2' 'TasksMax='
	in_pod server write_bw -d rdA --persistent
	limited pids.max 1
	client write_bw -d rdB -n 5
	limited pids.max max
	ended client 3
	says client.err 'pids.max of the cgroup is 1'
	client write_bw -d rdB -n 5
	ended client 0
	kill "${pid[server]}"
	finish server
	ended server 0
}

# What Linux' own tests of rxe do with rping.
@test "packets sent and received, as rxe's own test counts them: no fewer than were measured" {
	local before after
	sent() { cat "/sys/class/infiniband/$1/ports/1/hw_counters/$2"; }
	wire
	before=$(sent rdB sent_pkts)
	server write_bw -d rdA
	client write_bw -d rdB -n 100 -s 4096 --json=c.json
	finish server
	ended client 0
	after=$(sent rdB sent_pkts)
	((after - before >= 400)) || fail "$before $after"
	(($(sent rdA rcvd_pkts) >= 400))
}

@test "the netdev of a pod is deleted: what was measured is kept, and both ends end" {
	modprobe -q siw || skip 'this kernel has no siw here'
	pods siw
	deadline=90
	in_namespace a server write_bw --timeout 4
	host=10.77.0.1
	in_namespace b start_client write_bw --timeout 4 --interval 0.2 -s 4096 -D 60 --json=c.json
	until_says client.err ' s: '
	ip -n b link delete wB
	finish client server
	json c.json '.status == "failed" and .results[0].interrupted and .results[0].messages > 0'
	ended_with_any client 1 3 4
	ended_with_any server 1 3 4
}
