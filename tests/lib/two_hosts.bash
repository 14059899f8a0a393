# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # what rdmark.bash and the tests set and read
#
# After rdmark.bash, on machine a of a pair (192.168.77.1): what a test does on machine b
# (192.168.77.2) goes through tests/lib/agent.

b=192.168.77.2

# there NAME PROGRAM [ARG…]: start it on b; NAME.out will have its stdout and stderr.
there() {
	local path=$2
	[[ $path == */* ]] || path=$RDMARK_BIN/$path
	start "$1" "$lib/agent" ask "$b" "exec $path ${*:3}"
}

# with_b PROGRAM [ARG…]: a server on b, for which the client here waits; a port of its own for each.
next_port=21000
with_b() {
	port=$((next_port += 1))
	there server "$1" -p "$port"
	host=${host_of_b:-$b} client "$@"
	finish server
}

# The same, and the client fails, for which the server does not end.
refused_by_b() {
	port=$((next_port += 1))
	there server "$1" -p "$port"
	host=${host_of_b:-$b} client "$@"
	until_says server.out 'not served, still waiting'
	kill "${pid[server]}" # the agent's end of it; the server goes with that
	finish server
}

pair_with_b() {
	with_b "$@"
	ended client 0
	ended server 0
}
