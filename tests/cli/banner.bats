#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# bats file_tags=standin,san
# shellcheck disable=SC2034,SC2154 # what lib/rdmark.bash sets and reads
#
# What both ends say before the run: three lines, all of it with -v, nothing with --quiet.

load ../lib/rdmark

setup_file() { need_device; }

# Those of FILE that come before the run: up to the one of what both ends have in common. What is
# unusual of this machine (no clock but the kernel's, another node) is none of these tests' matter.
banner() {
	sed -n '/ ready on \|exits if no client/d; /^[a-z_]*: \(client\|server\) \(clock clock_gettime\|CPUs\|NUMA\|link\)/d; p; / messages of /q' "$1"
}

@test "three lines at either end: its own device, the other's, what both have in common" {
	local program
	for program in "${programs[@]}"; do
		pair "$program" -n 20 -s 256
		banner client.err >client.banner
		banner server.err >server.banner
		[[ $(wc -l <client.banner) == 3 && $(wc -l <server.banner) == 3 ]] || fail "$program: not three lines"
		grep -Eq "^[a-z_]*: client [^ ]+: $DEVICE port 1, [0-9.]+ Gb/s \(" <(sed -n 1p client.banner) || fail "client: $(<client.banner)"
		grep -Eq "^[a-z_]*: server [^ ]+: $DEVICE port 1, [0-9.]+ Gb/s \(" <(sed -n 1p server.banner) || fail "server: $(<server.banner)"
		cmp <(sed -n 1p client.banner) <(sed -n 2p server.banner)
		cmp <(sed -n 2p client.banner) <(sed -n 1p server.banner)
		cmp <(sed -n 3p client.banner) <(sed -n 3p server.banner)
		grep -Eq '^[a-z_]*: 1 QP, RC over [A-Z].*, messages of 256 B$' <(sed -n 3p client.banner) || fail "$(<client.banner)"
		says_no client.err ' GID ' ' clock tsc' 'inline' 'posting:'
	done
}

@test "the third line: QPs, threads, transport, MTU, sizes" {
	pair send_bw -n 20 -q 3 --threads 2 -c UD -s 512 -m 1024
	says client.err '6 QPs on 2 threads, UD over ' ', MTU 1024, messages of 512 B'
	pair write_bw -n 5 -a
	says client.err ', messages of 2 B to 8 MiB'
	says server.err ', messages of 2 B to 8 MiB'
}

# bats test_tags=core
@test "-v: all of it, for both ends" {
	server send_bw -v
	client send_bw -n 20 --verbose
	finish server
	ended client 0
	for end in client server; do
		says $end.err "client GID $GID_INDEX: $GID_ADDRESS (RoCE v2 IPv4, " 'server GID ' \
			'client link: Ethernet' 'client clock ' 'server clock ' 'no inline data'
		grep -Eq '^[a-z_]*: client (NUMA node [0-9]+, )?CPUs [0-9,-]+ \(' $end.err || fail "$end: no CPUs"
		grep -Eq '^[a-z_]*: server (NUMA node [0-9]+, )?CPUs [0-9,-]+ \(' $end.err || fail "$end: no CPUs"
	done
	pair send_lat -n 20 -v -I 32
	says client.err 'inline data up to '
}

@test "--quiet: nothing of it, also with -v; nor in perftest's form" {
	server send_lat --quiet
	client send_lat -n 20 --quiet -v
	finish server
	silent client.err
	silent server.err
	pair send_lat -n 20 --format perftest
	says_no client.err ' port 1, ' ', messages of '
}
