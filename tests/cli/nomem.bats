#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# bats file_tags=standin,long
# shellcheck disable=SC2016,SC2030,SC2031,SC2034,SC2154 # $ of jq; what lib/rdmark.bash sets and reads
#
# A malloc() that fails is a fault of this end, wherever it is: the peer is not blamed, and no document
# lacks a key.

load ../lib/rdmark

setup_file() {
	need_device
	command -v cc >/dev/null || { skip_file 'no cc'; return; }
	cc -O1 -shared -fPIC -o "$BATS_FILE_TMPDIR/nomem.so" "${BATS_TEST_DIRNAME}/../lib/nomem.c"
}

# True if $1 ended by an assertion of jansson's parser, whose buffer could not grow (2.14 has it).
jansson_aborts() {
	((status[$1] == 134)) && grep -q ': load[.]c:[0-9]*: lex_.* Assertion ' "$1.err"
}

# A pair whose client lacks memory once; both ends have OPTIONs.
starved_pair() {
	rm -f c.json
	server send_lat --timeout 10 "${@:2}"
	through=(env "$1" bash -c 'export LD_PRELOAD=$0:$LD_PRELOAD; exec "$@"' "$BATS_FILE_TMPDIR/nomem.so")
	client send_lat -n 5 --json=c.json "${@:2}"
	through=()
	kill -TERM "${pid[server]}" 2>/dev/null || true
	finish server
}

# The command $2... ends with status $1; with one malloc() less it says so, or prints the same.
starved_command() {
	local want=$1 calls at starved=0
	shift
	through=(env NOMEM_COUNT=calls bash -c 'export LD_PRELOAD=$0:$LD_PRELOAD; exec "$@"' "$BATS_FILE_TMPDIR/nomem.so")
	start once "$@"
	finish once
	ended once "$want"
	cp once.out whole
	calls=$(<calls)
	((calls > 60)) || fail "$calls calls"
	for ((at = 3; at < calls; at += (calls + 59) / 60)); do
		through[1]=NOMEM_AT=$at
		start once "$@"
		finish once
		! jansson_aborts once || continue
		((status[once] < 128)) || fail "malloc() $at: ended with ${status[once]}"
		if grep -q 'Cannot allocate memory' once.err; then
			ended once 1
			((starved += 1))
		else
			cmp once.out whole || fail "malloc() $at: printed otherwise"
		fi
	done
	((starved > 20)) || fail "only $starved of them failed"
}

@test "the Nth malloc() of rdmark compare fails: it says so, or compares the same" {
	not_sanitized 'it has an allocator of its own'
	pair send_lat -n 500 --json=a.json
	pair send_lat -n 500 --json=b.json
	starved_command 0 rdmark compare a.json b.json
	starved_command 0 rdmark compare --json a.json b.json
}

@test "the Nth malloc() of rdmark-pairs judge fails: it says so, or judges the same" {
	local said=$BATS_TEST_DIRNAME/pairs_lines.jsonl
	not_sanitized 'it has an allocator of its own'
	starved_command 3 rdmark-pairs judge --prom=judge.prom "$said"
	starved_command 3 rdmark-pairs judge --json --baseline="$said" "$said"
	sed 's/"gbps"/"us"/; s/"write_bw"/"write_lat"/' "$said" >latency
	starved_command 3 rdmark-pairs judge latency
}

# About 120 of a client's calls of malloc() fail, one in each run; both ends have the OPTIONs. The first
# FRAGILE ones may end it by a signal.
starved_clients() {
	local calls at keys starved=0 fragile=$1
	shift
	starved_pair NOMEM_COUNT=calls "$@"
	ended client 0
	calls=$(<calls)
	((calls > 60)) || fail "$calls calls"
	# The peer may know more of itself than this end heard; a counter may not have moved.
	keys='[paths | map(select(type == "string")) | join(".")] | unique
		| map(select(test("^ends|^effective|^experiment|^results[.](quality|seconds|latency)")))'
	jq "$keys" c.json >whole.json
	# The document alone is made with hundreds of calls.
	for ((at = 7; at < calls; at += calls / 120)); do
		starved_pair "NOMEM_AT=$at" "$@"
		! jansson_aborts client || continue
		((status[client] != 139 || at > fragile)) || continue
		((status[client] < 128)) || fail "malloc() $at: ended with ${status[client]}"
		says_no client.err 'has no valid' 'not a JSON object'
		says_no server.err 'has no valid' 'not a JSON object'
		if ((status[client])); then
			grep -qE 'Cannot allocate memory|too little memory' client.err || says client.err 'Cannot allocate memory'
			((starved += 1))
			continue
		fi
		[[ -s c.json ]] || fail "malloc() $at: there is no document"
		jq -e --slurpfile whole whole.json "($keys) as \$here | \$whole[0] - \$here == []" c.json >/dev/null ||
			fail "malloc() $at: keys are missing: $(jq -c --slurpfile whole whole.json "\$whole[0] - ($keys)" c.json)"
	done
	((starved > 20)) || fail "only $starved of them failed"
}

@test "the Nth malloc() of a client fails: it says so, or nothing is missing" {
	not_sanitized 'it has an allocator of its own'
	starved_clients 0
}

# libcrypto 3.0 has calls of its own that crash without memory, when it is used for the first time. That is
# before the client connects. TLS does not always say that memory is what it lacks.
@test "the Nth malloc() of a client with --auth=key fails: it says so, or nothing is missing" {
	not_sanitized 'it has an allocator of its own'
	(umask 077 && head -c 32 /dev/urandom >key)
	through=(env NOMEM_COUNT=opened bash -c 'export LD_PRELOAD=$0:$LD_PRELOAD; exec "$@"' "$BATS_FILE_TMPDIR/nomem.so")
	start client send_lat -p 1 --connect-timeout 0 --auth=key:key "$host"
	through=()
	finish client
	ended client 4
	starved_clients "$(<opened)" --auth=key:key
}
