#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# bats file_tags=standin,san
# shellcheck disable=SC2154 # what lib/rdmark.bash sets
#
# An end that lies about one number of what it says. The other one refuses it by its name or uses it: no
# document of either breaks the schema, none of them crashes or waits, and the server serves on.

load ../lib/rdmark

setup_file() { need_device; }

# lies VALUE PROGRAM [ARG…]: a session for each number that its ends say, with VALUE in its place.
lies() {
	local value=$1 n=0 real said
	deadline=900 # for all of the sessions
	server "$2" --persistent --auth=none --timeout=2 --json=server.json
	real=$port
	while :; do
		port=$real
		proxy "lie=$((++n)):$value"
		start_client "${@:2}" -n 5 --timeout=2 --json=client.json
		finish client
		await_end
		finish proxy
		ended_with_any client 0 1 2 3 4 5 77
		cat client.json >>all.json
		grep -q '^lied ' proxy.out || break # there were no more
	done
	port=$real
	client "${@:2}" -n 5
	ended client 0
	kill -TERM "${pid[server]}"
	finish server
	ended server 0
	cat server.json >>all.json
	said=$("$lib/schema" all.json) || (($? == 77)) || fail "${*:2}: $said"
	echo "# ${*:2}: $n numbers; $said" >&3
}

# bats test_tags=core
@test "a bandwidth test: numbers that are too low" { lies -9000000000000000000 send_bw; }

# bats test_tags=long
@test "a bandwidth test: numbers that are too high" { lies 9000000000000000000 send_bw -b -q 2; }

# bats test_tags=long
@test "a latency test: numbers that are too low" { lies -1 send_lat; }

# bats test_tags=long
@test "a latency test: numbers that are too high" { lies 9000000000000000000 write_lat; }

# bats test_tags=long
@test "a bandwidth test that loses messages: zeros" { lies 0 send_bw -c UD; }
