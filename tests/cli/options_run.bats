#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# bats file_tags=standin,san
# shellcheck disable=SC2016,SC2030,SC2031,SC2034,SC2154 # $ of jq; what lib/rdmark.bash sets and reads
#
# What the options do to a run; their reading is in options.bats. What came out of them stands in the
# JSON document, for both ends. perftest's habit is the same command line at both ends: each option of
# perftest_options.txt that rdmark has, given at both, must run, and given at the client alone.

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

# --- perftest's options ---------------------------------------------------------------------------
# bats file_tags=standin,san,plain

# Options that no pair is run with here: they print and exit, want a GPU, never end, are the test's
# own (-p), are not for this link layer, or want memory that may not be here; those have tests elsewhere.
elsewhere=' help version use_cuda use_cuda_bus_id use_cuda_dmabuf use_rocm use_rocm_dmabuf use_data_direct use_cuda_pcie_mapping run_infinitely port dlid force-link ipv6 ipv6-addr '
elsewhere+='rdma_cm use_hugepages odp mmap mmap-offset '

# both PROGRAM OPTION…: the pair runs with the options at both ends, then at the client alone.
both() {
	local at=(-n 20 -s 64 "${@:2}")
	[[ $1 != atomic_* ]] || at=(-n 20 "${@:2}") # their messages have one size
	server "$1" "${at[@]}"
	client "$1" "${at[@]}"
	finish server
	[[ ${status[client]}${status[server]} == 00 ]] || fail "$* at both ends"
	pair "$1" "${at[@]}"
}

@test "every supported option at both ends, and at the client alone" {
	local name value among what program runs=0
	while read -r name _ value among what; do
		[[ $name && $name != \#* && $what == supported && $elsewhere != *" $name "* ]] || continue
		case $value in
		-) value='' ;;
		@host) value="=$host" ;;
		@device) value="=$DEVICE" ;;
		@gid) [[ ${GID_INDEX-} ]] || continue; value="=$GID_INDEX" ;;
		all) [[ -d ${RDMARK_SYSFS:-/sys}/class/infiniband/$DEVICE/ports/1/counters ]] || continue; value="=all" ;;
		*) value="=$value" ;;
		esac
		for program in ${among//,/ }; do
			both "$program" "--$name$value"
			((runs += 1))
		done
	done <"$BATS_TEST_DIRNAME/perftest_options.txt"
	((runs > 40)) || fail "only $runs"
}

@test "what users of perftest type, at both ends" {
	both write_bw -a -F --report_gbits -q 2 -n 2 -d "$DEVICE"
	says client.out 'Gb/sec'
	rows client.out
	((${#rows[@]} == 23)) || fail 'not 23 rows'
	both write_bw -d "$DEVICE" -i 1 -F --report_gbits -D 0.2 -f 1 --perform_warm_up --dont_xchg_versions
	both send_bw -F -s 4K -t 32 -r 64 --recv_post_list=8 -l 4 --use_old_post_send --tclass=104 -u 15 --retry_count=3
	both write_lat -F --write_with_imm --latency_gap=10 -I 32 --disable_numa
}

@test "--send_with_imm: every transport, either way to post, verified" {
	local way
	for way in '' '-c UC' '-c UD' '--post-api wr' '-c UD --post-api wr -I 64' '-q 3 -l 4 -b'; do
		read -ra way <<<"$way"
		pair send_bw --send_with_imm "${way[@]}" -n 300 -s 64 -r 512 --verify=100 --json=c.json
		json c.json '.experiment.send_with_imm and (.results[0].verification | .messages > 0 and .errors == 0)'
	done
	for way in RC UC UD; do
		pair send_lat --send_with_imm -c "$way" -n 50 --verify=20 --json=c.json
		json c.json '.experiment.send_with_imm and .results[0].messages == 50 and .results[0].verification.errors == 0'
	done
}

@test "--write_with_imm: the server receives, counts and reports" {
	pair write_bw --write_with_imm -n 300 -q 3 -s 64 --json=c.json
	json c.json '.experiment.write_with_imm and ([.results[] | ends.measured_by] | sort == ["client", "server"])
		and ([.results[] | ends.messages] | unique == [900])'
	pair write_lat --write_with_imm -n 50 --json=c.json
	json c.json '.effective.rx_depth > 0 and .results[0].messages == 50'
}

@test "--recv_post_list: in whole posts, also where it is no divisor; longer than the queue is refused" {
	pair send_bw --recv_post_list 7 -r 64 -n 1000 -s 64 --json=c.json
	json c.json '.experiment.recv_post_list == 7 and .results[0].messages == 1000'
	pair send_bw --recv_post_list 64 -r 64 -n 1000 -s 64
	pair write_bw --write_with_imm --recv_post_list 1 -r 1 -n 200 -s 64
	server send_bw
	client send_bw --recv_post_list 65 -r 64
	serves_next send_bw
	says server.err '--recv_post_list 65' 64 'Fix: '
	says client.err '--recv_post_list 65' 64
}

@test "--latency_gap: the pauses are in no sample, and make the run longer" {
	local program
	for program in "${latency_programs[@]}"; do
		pair "$program" -n 20 --warmup 0 --latency_gap 20000 --json=c.json
		# 19 pauses of 20 ms, of which the fastest sample has nothing.
		json c.json '.results[0] | .messages == 20 and .seconds >= 0.38 and .latency_min_us < 10000'
	done
	pair write_lat -n 20 --warmup 0 --latency_gap 1000 -U
	(($(grep -c '^[0-9]*, [0-9.]*$' client.out) == 20)) || fail 'not every sample'
	# There is none in the warm-up, which would take 10 s.
	pair send_lat -D 0.3 --latency_gap 100000 --json=c.json
	within client 9
	json c.json '.results[0] | .messages <= .seconds * 10 + 2'
}

@test "--run_infinitely: rows until Ctrl-C, then one for the whole" {
	local _
	server write_bw --run_infinitely
	exec {rows_of}< <(become write_bw -p "$port" -s 64 --run_infinitely --interval 0.1 "$host" 2>client.err </dev/null &
		echo $! >client.pid; wait $!; echo "end $?")
	for _ in 1 2 3 4; do
		read -r -t "$deadline" row <&"$rows_of"
	done
	[[ $row =~ ^64\ +[0-9]+\ +-\ +[0-9.]+\ +[0-9.]+ ]] || fail "no row: $row"
	kill -INT "$(<client.pid)"
	while [[ $row != end* ]]; do
		last=$row
		read -r -t "$deadline" row <&"$rows_of"
	done
	exec {rows_of}<&-
	grep -Eq '^[a-z_]*: the last row covers the whole run, [0-9]+\.[0-9] s$' client.err || fail 'the last row is not marked'
	[[ $(grep -c 'the last row' client.err) == 1 ]]
	[[ $row == 'end 0' && $last =~ ^64\ +[0-9]+\ +[0-9.]*[1-9][0-9.]*\ +[0-9.]+ ]] || fail "not the end: $last, $row"
	finish server
	ended server 0
}

@test "--run_infinitely in perftest's form: what is said of the rows stands below the closing rule" {
	ln -s "$RDMARK_BIN/write_bw" ib_write_bw
	server "$PWD/ib_write_bw" --run_infinitely
	through=(bash -c 'exec "$@" 2>&1' -)
	start_client "$PWD/ib_write_bw" -s 64 --run_infinitely --interval 0.1
	through=()
	until (($(grep -c '^ 64 ' client.out) > 2)); do
		kill -0 "${pid[client]}"
	done
	kill -INT "${pid[client]}"
	finish client server
	ended client 0
	[[ $(tail -n 2 client.out) == ------*$'\nib_write_bw: 64 B: worst of '*' intervals: '* ]] || fail "$(<client.out)"
	[[ $(grep -c -- ^------ client.out) == 4 ]] || fail 'another rule'
}

@test "--bind_source_ip: the server listens there only; one that is not ours is refused at once" {
	[[ $host == 127.0.0.1 ]] || skip 'for one machine'
	server send_lat --bind_source_ip 127.0.0.1
	client send_lat -n 5 --bind_source_ip 127.0.0.1
	finish server
	ended client 0
	says server.err "ready on 127.0.0.1:$port"
	start cli send_lat --source_ip 192.0.2.77 --connect-timeout 60 127.0.0.1
	finish cli
	ended cli 2
	within cli 45
	says cli.err --bind_source_ip 192.0.2.77 'Fix: '
	start cli send_lat --bind_source_ip 192.0.2.77
	finish cli
	ended cli 2
	start cli send_lat --bind_source_ip eth0
	finish cli
	ended cli 2
	says cli.err eth0 'IP address'
}

@test "--ipv6-addr: TCP over IPv6, and nothing else" {
	[[ $host == 127.0.0.1 && -e /proc/net/if_inet6 && $(</proc/net/if_inet6) == *' lo'* ]] || skip 'no ::1'
	server send_lat
	start client send_lat -p "$port" -n 5 --ipv6-addr ::1
	finish client server
	ended client 0
	ended server 0
	start cli send_lat --ipv6-addr 127.0.0.1
	finish cli
	ended cli 2
	says cli.err 127.0.0.1
}

@test "--output=all: the table" {
	pair send_bw -n 20 -s 64 --output=bandwidth --output=all
	[[ $(wc -l <client.out) == 2 ]]
}

@test "--wait_destroy: both stay that long, and a signal ends it" {
	server write_bw --wait_destroy 0.4
	client write_bw -n 5 -s 64 --wait_destroy 0.4
	finish server
	ended client 0
	ended server 0
	((took_ms[client] >= 400 && took_ms[server] >= 400)) || fail "gone after ${took_ms[client]} ms"
	server write_bw
	start_client write_bw -n 5 -s 64 --wait_destroy 3600
	finish server
	kill -TERM "${pid[client]}"
	finish client
	ended client 143
	row client.out
}
