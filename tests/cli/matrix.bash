# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # what lib/rdmark.bash sets and reads
#
# Every fault that the stand-in can make, in every program, on each side: the side that has it names
# the phase, the call and the cause; the other one shows the same text as the peer's; both end with
# the right status, within the deadline. One test is a fault; the programs and sides are a loop.

setup_file() { need_device; }

# run PROGRAM SIDE VARIABLE=VALUE: a pair of which one side has that environment. It waits for
# 3 seconds where nothing moves.
run() {
	begin "$@"
	finish client server
}

begin() {
	local program=$1 side=$2 fault=$3
	through=()
	[[ $side != server ]] || through=(env "$fault")
	server "$program" --timeout 3
	through=()
	[[ $side != client ]] || through=(env "$fault")
	start_client "$program" --timeout 3 -n 300 -s 64
	through=()
}

other() { if [[ $1 == client ]]; then echo server; else echo client; fi; }

# told PROGRAM SIDE FAULT STATUS TEXT…: SIDE ends with STATUS and says TEXT, the other with 3 and says it, too.
told() {
	local program=$1 side=$2 fault=$3 code=$4
	local peer
	peer=$(other "$side")
	run "$program" "$side" "$fault"
	[[ ${status[$side]} == "$code" ]] || fail "$program, $side has $fault: it ended with ${status[$side]}, not $code"
	[[ ${status[$peer]} == 3 ]] || fail "$program, $side has $fault: the $peer ended with ${status[$peer]}, not 3"
	says "$side.err" "$program: " "${@:5}" 'Fix: '
	says "$peer.err" "$program: the " " reports: " "${@:5}"
}

# early …: the same, but nothing was measured yet: a server says so and waits for another client.
early() {
	local program=$1 side=$2 fault=$3 code=$4 who=
	begin "$program" "$side" "$fault"
	finish client
	if [[ $side == client ]]; then
		ended client "$code"
		says client.err "$program: " "${@:5}" "${fix-Fix: }"
		who='; it says: '
	else
		ended client 3
		says client.err "$program: the server (" ') reports: ' "${@:5}"
	fi
	waits_on
	says server.err "$program: client " "not served, still waiting$who" "${@:5}" "${fix-Fix: }"
}

everywhere() {
	local program side
	for program in "${programs[@]}"; do
		for side in client server; do
			early "$program" "$side" "$@"
		done
	done
}

# Who takes part in the data path of a program: of a bandwidth test only the client sends.
senders() {
	local program
	for program in "${programs[@]}"; do
		told "$program" client "$@"
		[[ $program == *_bw ]] || told "$program" server "$@"
	done
}
