# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# pair - a server and a client of one program on the simulated fabric
#
# Sets up SIM (the library) and a fabric of the test's own.  No fixed sleeps:
# the server is ready when its port listens.

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../.." && pwd)
SIM=${SIM:-$ROOT/build/tests/libsimverbs.so}

# shellcheck source=tests/lib/perftest.bash
. "$ROOT/tests/lib/perftest.bash"

# Is a TCP port in state LISTEN?
listening() {
	local hex
	hex=$(printf ':%04X' "$1")
	awk -v p="$hex" '$4 == "0A" && index($2, p) == length($2) - 4 { f = 1 }
		END { exit !f }' /proc/net/tcp /proc/net/tcp6 2>/dev/null
}

# Claim a port below the ephemeral range that no other test has claimed.
free_port() {
	local dir=${TMPDIR:-/tmp}/rdmark-ports.$UID p
	mkdir -p "$dir"
	while :; do
		p=$((20000 + RANDOM % 12000))
		listening $p && continue
		mkdir "$dir/$p" 2>/dev/null || continue
		echo "$dir/$p" >> "$BATS_TEST_TMPDIR/claimed"
		PORT=$p
		return
	done
}

release_ports() {
	local d
	[ -e "$BATS_TEST_TMPDIR/claimed" ] || return 0
	while read -r d; do rmdir "$d" 2>/dev/null; done \
		< "$BATS_TEST_TMPDIR/claimed"
	return 0
}

wait_listening() {
	local port=$1 pid=$2
	until listening "$port"; do
		kill -0 "$pid" 2>/dev/null || return 1
		read -rt 0.02 <> <(:) || :
	done
}

# pair PROGRAM [ARGS...]: output in $SERVER_OUT and $CLIENT_OUT, both exit 0.
# SERVER_ENV and CLIENT_ENV: arrays of NAME=VALUE for one side.
pair() {
	SERVER_OUT=$BATS_TEST_TMPDIR/server CLIENT_OUT=$BATS_TEST_TMPDIR/client
	calibrated "$SERVER_OUT" "$CLIENT_OUT" pair_once "$@"
}

pair_once() {
	local prog=$1 spid rc=0
	shift
	free_port
	rm -f "$SERVER_OUT" "$CLIENT_OUT"
	env "${SERVER_ENV[@]}" LD_PRELOAD="$SIM" timeout 60 "$prog" -p $PORT \
		"$@" > "$SERVER_OUT" 2>&1 3>&- &
	spid=$!
	if ! wait_listening $PORT $spid; then
		echo "server not ready:"
		cat "$SERVER_OUT"
		kill $spid 2>/dev/null
		return 1
	fi
	env "${CLIENT_ENV[@]}" LD_PRELOAD="$SIM" timeout 60 "$prog" -p $PORT \
		"$@" 127.0.0.1 > "$CLIENT_OUT" 2>&1 3>&- || rc=$?
	CLIENT_RC=$rc SERVER_RC=0
	wait $spid || SERVER_RC=$?
	[ $rc = 0 ] && [ $SERVER_RC = 0 ] && return 0
	echo "client $rc:"; cat "$CLIENT_OUT"
	echo "server $SERVER_RC:"; cat "$SERVER_OUT"
	return 1
}

setup() {
	export SIMVERBS_DIR=$BATS_TEST_TMPDIR/fabric
	SERVER_ENV=() CLIENT_ENV=()
}

teardown() {
	release_ports
	[ ! -e "$SIMVERBS_DIR" ] || ls -l "$SIMVERBS_DIR"
}
