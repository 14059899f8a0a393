#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# bats file_tags=standin
# shellcheck disable=SC2154 # what lib/rdmark.bash sets
#
# perftest's habit is the same command line at both ends: each option of cli/perftest_options.txt
# that rdmark has, given at both, must run, and given at the client alone.

load ../lib/rdmark

setup_file() { need_device; }

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
	done <"$BATS_TEST_DIRNAME/../cli/perftest_options.txt"
	((runs > 40)) || fail "only $runs"
}

@test "what users type for ib_write_bw, at both ends" {
	both write_bw -a -F --report_gbits -q 2 -n 3 -d "$DEVICE"
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
