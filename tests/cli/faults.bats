#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# bats file_tags=standin,san
# shellcheck disable=SC2016,SC2030,SC2031,SC2034,SC2154 # $ of jq; what lib/rdmark.bash sets and reads
#
# What goes wrong on this host: limits, full disks, closed outputs, ports that are down.

load ../lib/rdmark

setup_file() { need_device; }

# Whether this is a machine of tests/softroce, where everything may be done.
throwaway() {
	[[ -d /run/softroce && ! ${RDMARK_PRELOAD-} ]] || skip 'only in a machine of tests/softroce'
}

# apart SCRIPT: what follows runs among mounts of its own, after the shell lines of SCRIPT.
apart() {
	through=(unshare -m bash -c "set -e; $1; exec \"\$@\"" bash)
}

# A container's /dev/infiniband, with the node of DEVICE if MODE is given.
made_up_dev='mount -t tmpfs -o mode=755 none /dev/infiniband'
node='read -r number </sys/class/infiniband_verbs/uverbs0/dev; mknod -m $mode /dev/infiniband/uverbs0 c ${number/:/ }'

# cannot STATUS TEXT…: what a server says, which looks for its device before it listens.
cannot() {
	start server send_bw -p 0
	finish server
	ended server "$1"
	says server.err "${@:2}"
}

# bats test_tags=rxe
@test "a container without /dev/infiniband: exit 77, and how to pass it" {
	throwaway
	apart "$made_up_dev"
	cannot 77 "The kernel has $DEVICE, but its node /dev/infiniband/uverbs0 does not exist" \
		'Fix: start the container with --device=/dev/infiniband '
	start list rdmark list
	finish list
	ended list 77
	says list.err '/dev/infiniband/uverbs0 does not exist'
}

# bats test_tags=rxe
@test "a node that this user may not open: its mode, and how to change that" {
	throwaway
	apart "$made_up_dev; mode=0600; $node; set -- setpriv --reuid=65534 --regid=65534 --clear-groups \"\$@\""
	cannot 1 "ibv_open_device($DEVICE): Permission denied" \
		'User 65534 may not open /dev/infiniband/uverbs0: mode 0600, owner 0, group 0' 'Fix: chmod a+rw /dev/infiniband/uverbs0'
	start list rdmark list
	finish list
	ended list 0
	says list.out "$DEVICE" 'cannot be opened: Permission denied'
}

# bats test_tags=rxe
@test "a node of a driver that was loaded again since" {
	throwaway
	apart "$made_up_dev; mknod -m 666 /dev/infiniband/uverbs0 c 231 77"
	cannot 1 "ibv_open_device($DEVICE)" "/dev/infiniband/uverbs0 is no longer the node of $DEVICE"
}

# bats test_tags=rxe
@test "libibverbs without the provider: what to install" {
	throwaway
	apart 'mount -t tmpfs none /etc/libibverbs.d'
	cannot 77 "The kernel has $DEVICE" 'libibverbs has no provider for it' 'ibverbs-providers'
}

# bats test_tags=rxe
@test "a container with the device and without rdma_cm's node" {
	throwaway
	apart "$made_up_dev; mode=0666; $node"
	start cli send_bw -R -p 1 --connect-timeout 0 127.0.0.1
	finish cli
	ended cli 77
	says cli.err 'open /dev/infiniband/rdma_cm' 'The kernel has rdma_cm, but its node' '--device=/dev/infiniband '
}

# bats test_tags=rxe
@test "memlock too small: the error names the limit and how to raise it" {
	throwaway
	through=(sh -c 'ulimit -l 16; exec setpriv --reuid=65534 --regid=65534 --clear-groups "$@"' sh)
	local program
	for program in send_bw write_lat; do
		deadline=30 start_server server "$program"
		client "$program" -s 1M -n 5
		waits_on
		ended client 1
		says client.err RLIMIT_MEMLOCK '16 KiB' 'Fix: ' 'ulimit -l'
	done
}

# bats test_tags=core
@test "the disk is full for --json=FILE: exit 1 says so, the row is there, no half file stays" {
	throwaway
	mkdir full
	mount -t tmpfs -o size=4k none full
	head -c 4096 /dev/zero >full/taken
	server send_lat
	client send_lat -n 10 --json=full/c.json
	finish server
	local left
	left=$(ls full)
	umount full
	ended client 1
	ended server 0
	says client.err full/c.json 'No space left'
	row client.out
	[[ $left == taken ]] || fail "left: $left"
}

# bats test_tags=core
@test "stdout is closed or full: exit 1 on that end, 0 on the other" {
	local where
	for where in '>&-' '>/dev/full'; do
		server send_lat
		through=(bash -c 'exec "$@" '"$where" bash)
		client send_lat -n 10
		through=()
		finish server
		[[ ${status[client]} == 1 && ${status[server]} == 0 ]] ||
			fail "$where: client ${status[client]}, server ${status[server]}"
		says client.err stdout
	done
}

# bats test_tags=core
@test "who reads stdout has enough: the end of that is silent, by SIGPIPE; a full disk is called so" {
	local options
	for options in '-a -n 2' '-n 10 --csv' '-n 10 --output=bandwidth'; do
		server write_bw
		through=(perl -e 'pipe R, W; close R; open STDOUT, ">&W"; exec @ARGV')
		# shellcheck disable=SC2086 # words
		client write_bw $options --quiet
		through=()
		finish server
		ended server 0
		ended client 141
		silent client.err
	done
	server send_lat
	through=(bash -c 'exec "$@" >/dev/full' bash)
	client send_lat -n 10
	finish server
	says client.err 'writing to stdout: No space left on device. Fix: free some space there, or send stdout elsewhere.'
}

@test "stdout is closed on the server: the client does not mind" {
	through=(bash -c 'exec "$@" >&-' bash)
	server write_bw
	through=()
	client write_bw -n 10 -s 64
	finish server
	ended client 0
	ended server 1
	says server.err stdout
}

@test "an unwritable result file is told before the run" {
	server send_lat
	client send_lat --json=/no/such/folder/c.json
	ended client 1
	says client.err /no/such/folder/c.json
	client send_lat -n 5
	finish server
	ended client 0
}

# bats test_tags=core
@test "no room for a result file: exit 1 names it, the row is there all the same" {
	local option
	for option in --json --csv --out_json_file; do
		server send_lat
		client send_lat -n 10 "$option=/dev/full"
		finish server
		ended client 1
		ended server 0
		says client.err /dev/full 'No space left' 'Fix: '
		row client.out
	done
}

# bats test_tags=rxe
@test "more QPs or deeper queues than the device has: exit 2 on the client, and the limit" {
	server send_bw
	client send_bw -q 65536 -n 1 -s 1
	serves_next send_bw
	((status[client] == 2 || status[client] == 1)) || fail "client: ${status[client]}"
	says client.err 'Fix: '
}

# bats test_tags=rxe
@test "the port is down: exit 1 names it and what to do" {
	throwaway
	ip link set "$NETDEV" down
	start cli send_bw
	finish cli
	ip link set "$NETDEV" up
	# the tests after this one want it up
	timeout "$deadline" sh -c 'until "$RDMARK_BIN/rdmark" list | grep -q "RoCE v2 IPv4"; do :; done'
	ended cli 1
	says cli.err "$DEVICE port 1 is DOWN" "$NETDEV" 'Fix: '
}
