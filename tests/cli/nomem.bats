#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# bats file_tags=standin,long
# shellcheck disable=SC2016,SC2030,SC2031,SC2034,SC2154 # $ of jq; what lib/rdmark.bash sets and reads
#
# An allocation that fails (tests/lib/nomem.c), alone or with all that follow, is a fault of this end, wherever it
# is: the program says so and ends with status 1, the peer is not blamed, and what is written is whole.

load ../lib/rdmark
load ../lib/gpu

setup_file() {
	need_device
	command -v cc >/dev/null || { skip_file 'no cc'; return; }
	cc -O1 -shared -fPIC -o "$BATS_FILE_TMPDIR/nomem.so" "${BATS_TEST_DIRNAME}/../lib/nomem.c"
}

# What is started from now on has WORDs (NAME=VALUE) in its environment, and the allocators of nomem.c.
hungry() {
	through=(env "$@" bash -c 'export LD_PRELOAD=$0:$LD_PRELOAD; exec "$@"' "$BATS_FILE_TMPDIR/nomem.so")
}

# points RUNS FIRST: sets points to that many "NOMEM_AT=N" and as many "NOMEM_AT=N NOMEM_FROM=on", evenly among the
# allocations after FIRST that the file `calls` counts, and calls to their number.
points() {
	local at
	points=()
	calls=$(<calls)
	for ((at = $2 + 1; at <= calls; at += (calls - $2 + $1 - 1) / $1)); do
		points+=("NOMEM_AT=$at" "NOMEM_AT=$at NOMEM_FROM=on")
	done
}

# NAME ended by itself, not by a signal.
no_crash() {
	((status[$1] < 128)) || fail "$1 ($point): ended with ${status[$1]}"
}

# NAME ended with STATUS and said that it had no memory. OpenSSL does not say that of all that failed for it.
starved() {
	local said
	contents "$1.err" said
	[[ ! $said =~ ': TLS: '[^$'\n']*' failed' ]] || { ended_with_any "$1" "$2" 3; return; }
	ended "$1" "$2"
	[[ $said =~ 'Cannot allocate memory'|too\ little\ (free\ )?memory|pthread_create.*'Resource temporarily' ]] || fail "$point: not said"
}

# once WORDS PROGRAM ARG…: with what hungry() gives it, but not by start(), which is slower.
once() {
	status[once]=0
	# shellcheck disable=SC2086 # one or two words
	timeout "$deadline" env $1 LD_PRELOAD="$BATS_FILE_TMPDIR/nomem.so:$RDMARK_PRELOAD" "$RDMARK_BIN/$2" "${@:3}" >once.out 2>once.err </dev/null ||
		status[once]=$?
}

# The command $4... ends with status $1. In $2 runs it lacks memory, and says so $3 times or prints the same.
starved_command() {
	local want=$1 runs=$2 least=$3 point whole said starved=0
	shift 3
	once NOMEM_COUNT=calls "$@"
	ended once "$want"
	contents once.out whole
	points "$runs" 0
	for point in "${points[@]}"; do
		once "$point" "$@"
		no_crash once
		if [[ ${status[once]} == "$want" ]]; then
			contents once.out said
			[[ $said == "$whole" ]] || fail "$point: printed otherwise"
		else
			starved once 1
			((starved += 1))
		fi
	done
	((starved >= least)) || fail "only $starved of ${#points[@]} failed"
}

@test "rdmark compare has no memory: it says so, or compares the same" {
	not_sanitized 'it has an allocator of its own'
	pair send_lat -n 500 --json=a.json
	pair send_lat -n 500 --json=b.json
	starved_command 0 15 20 rdmark compare a.json b.json
	starved_command 0 15 20 rdmark compare --json a.json b.json
}

@test "rdmark-pairs judge has no memory: it says so, or judges the same" {
	local said=$BATS_TEST_DIRNAME/pairs_lines.jsonl
	not_sanitized 'it has an allocator of its own'
	starved_command 3 12 15 rdmark-pairs judge --json --baseline="$said" "$said"
	starved_command 3 12 15 rdmark-pairs judge --matrix=matrix --suspects=suspects "$said"
	sed 's/"gbps"/"us"/; s/"write_bw"/"write_lat"/' "$said" >latency
	starved_command 3 12 15 rdmark-pairs judge latency
}

# Each allocation fails: no device, no GPU and no driver is missing for want of memory.
@test "rdmark list and check have no memory: they say so, or print the same" {
	not_sanitized 'it has an allocator of its own'
	driver
	starved_command 0 1000 20 rdmark list
	starved_command 0 30 20 rdmark list --json
	driver none
	starved_command 0 1000 20 rdmark check
	SIMVERBS_FAIL=ibv_get_device_list:1:ENOMEM start once rdmark list
	finish once
	starved once 1
	says_no once.err 'no RDMA' Fix:
	SIMVERBS_FAIL=ibv_open_device:1:ENOMEM start once rdmark list
	finish once
	starved once 1
}

# A pair of send_lat whose client has WORDs in its environment; both ends have the OPTIONs in $options.
starved_client() {
	rm -f c.json
	server send_lat --timeout 10 "${options[@]}"
	hungry "$@"
	client send_lat -n 5 --json=c.json "${options[@]}"
	through=()
	kill -TERM "${pid[server]}" 2>/dev/null || true
	finish server
}

# $1 times a client lacks memory, alone and with all that follows, after its first FRAGILE allocations.
starved_clients() {
	local keys point starved=0 options=("${@:3}")
	starved_client NOMEM_COUNT=calls
	ended client 0
	points "$1" "$2"
	# The peer may know more of itself than this end heard; a counter may not have moved.
	keys='[paths | map(select(type == "string")) | join(".")] | unique
		| map(select(test("^ends|^effective|^experiment|^results[.](quality|seconds|latency)")))'
	jq "$keys" c.json >whole.json
	for point in "${points[@]}"; do
		# shellcheck disable=SC2086 # two words
		starved_client $point
		no_crash client
		says_no client.err 'has no valid' 'not a JSON object'
		says_no server.err 'has no valid' 'not a JSON object'
		if ((status[client])); then
			starved client 1
			((starved += 1))
			continue
		fi
		[[ -s c.json ]] || fail "$point: there is no document"
		jq -e --slurpfile whole whole.json "($keys) as \$here | \$whole[0] - \$here == []" c.json >/dev/null ||
			fail "$point: keys are missing: $(jq -c --slurpfile whole whole.json "\$whole[0] - ($keys)" c.json)"
	done
	((starved > 20)) || fail "only $starved of ${#points[@]} failed"
}

@test "a client has no memory: it says so, or nothing is missing" {
	not_sanitized 'it has an allocator of its own'
	starved_clients 30 0
}

# libcrypto 3.0 has calls of its own that crash without memory, when it is used for the first time. That is
# before the client connects. TLS does not always say that memory is what it lacks.
@test "a client with --auth=key has no memory: it says so, or nothing is missing" {
	not_sanitized 'it has an allocator of its own'
	(umask 077 && head -c 32 /dev/urandom >key)
	hungry NOMEM_COUNT=opened
	start client send_lat -p 1 --connect-timeout 0 --auth=key:key "$host"
	through=()
	finish client
	ended client 4
	starved_clients 20 "$(<opened)" --auth=key:key
}

# A server PROGRAM OPTION... that has WORDs ($point) in its environment. port is "" if it ends before it listens.
starved_server() {
	local program=$1
	# shellcheck disable=SC2086 # two words
	hungry $point
	fresh server
	become "$program" -p 0 --ready-fd 9 --timeout 10 "${@:2}" >server.out 2>server.err </dev/null 9>ready &
	pid[server]=$!
	through=()
	port=
	read -r -t "$deadline" port <ready || true
}

end_server() {
	kill -TERM "${pid[server]}" 2>/dev/null || true
	finish server
	((status[server] < 128 || status[server] == 143)) || fail "server ($point): ended with ${status[server]}"
}

@test "a server has no memory: both ends say so" {
	local point=NOMEM_COUNT=calls starved=0
	not_sanitized 'it has an allocator of its own'
	starved_server send_bw --json=s.json
	client send_bw -n 5
	finish server
	ended server 0
	points 25 0
	for point in "${points[@]}"; do
		starved_server send_bw --json=s.json
		if [[ ! $port ]]; then
			finish server
			starved server 1
			continue
		fi
		client send_bw -n 5 --connect-timeout 5
		[[ ${status[client]} == 0 ]] || starved client 3
		end_server
		if ((status[client])); then
			starved server "${status[server]}"
			says client.err 'reports: '
			((starved += 1))
		elif ((status[server])); then
			starved server 1
		fi
	done
	((starved > 10)) || fail "only $starved of ${#points[@]} failed"
}

# OpenSSL makes what all connections need in the first one.
@test "a server with --auth=key has no memory in its first handshake: all clients are served, or it is not ready" {
	local point=NOMEM_COUNT=calls
	not_sanitized 'it has an allocator of its own'
	(umask 077 && head -c 32 /dev/urandom >key)
	hungry NOMEM_COUNT=opened
	start client send_lat -p 1 --connect-timeout 0 --auth=key:key "$host"
	through=()
	finish client
	starved_server send_lat --persistent --auth=key:key
	end_server
	points 12 "$(<opened)"
	for point in "${points[@]}"; do
		starved_server send_lat --persistent --auth=key:key
		[[ $port ]] || { finish server; starved server 1; continue; }
		[[ $point != *FROM* ]] || { end_server; continue; }
		client send_lat -n 5 --auth=key:key
		ended client 0
		end_server
	done
}

@test "a server that stays has no memory once: it serves the next client" {
	local point=NOMEM_COUNT=calls failed n starved=0
	not_sanitized 'it has an allocator of its own'
	starved_server send_lat --persistent --json-lines=lines
	for n in 1 2 3; do
		client send_lat -n 5
		ended client 0
	done
	end_server
	ended server 0
	points 40 0
	for point in "${points[@]}"; do
		[[ $point != *FROM* ]] || continue
		failed=0
		starved_server send_lat --persistent --json-lines=lines
		[[ $port ]] || { finish server; starved server 1; continue; }
		for n in 1 2 3; do
			client send_lat -n 5
			[[ ${status[client]} != 0 ]] || continue
			starved client 3
			((failed += 1))
		done
		end_server
		((failed < 2 || status[server] == 1)) || fail "$point: $failed of three clients were not served"
		((starved += failed))
	done
	((starved > 3)) || fail "only $starved clients were not served"
}

@test "gdr_bw has no memory: it says so, and not that there is no GPU" {
	local point options=(--windows 3 -n 20 --within 100)
	not_sanitized 'it has an allocator of its own'
	driver
	server gdr_bw
	hungry NOMEM_COUNT=calls
	client gdr_bw "${options[@]}"
	finish server
	ended client 0
	echo 600 >calls # the rest is the stand-in's
	points 15 0
	for point in "${points[@]}"; do
		through=()
		server gdr_bw
		# shellcheck disable=SC2086 # two words
		hungry $point
		client gdr_bw "${options[@]}"
		through=()
		end_server
		no_crash client
		[[ ${status[client]} == 0 ]] || starved client 1
		says_no client.err 'has no valid' 'unknown task'
	done
}
