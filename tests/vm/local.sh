# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=bash disable=SC2034,SC2154 # variables of the script that sources this
#
# RDMA on this very machine: a device that is there, or soft-RoCE on its loopback interface while
# the command runs. Sourced by tests/softroce.

readonly local_link=softroce0

# local_device: prints the first device with an active port that programs here can open. The
# throwaway device of another run does not count: it goes away under us.
local_device() {
	local state device
	for state in /sys/class/infiniband/*/ports/*/state; do
		grep -qs ACTIVE "$state" || continue
		device=${state#/sys/class/infiniband/}
		device=${device%%/*}
		if [[ $device != "$local_link" ]] && local_opens "$device"; then
			echo "$device"
			return
		fi
	done
	return 1
}

# A container sees sysfs but may not have the device file.
local_opens() {
	local verbs node
	for verbs in /sys/class/infiniband_verbs/uverbs*; do
		[[ $(cat "$verbs/ibdev" 2>/dev/null) == "$1" ]] || continue
		node=/dev/infiniband/${verbs##*/}
		[[ -r $node && -w $node ]] && return
	done
	return 1
}

# local_rxe_possible: whether local_rxe_add is worth trying.
local_rxe_possible() {
	((EUID == 0)) && have rdma && have modprobe || return
	[[ -d /sys/module/rdma_rxe ]] || modprobe -nq rdma_rxe
}

# local_rxe_add: adds the device, or fails and leaves nothing. One run at a time has it, until its
# script ends.
local_lock=
local_undo=
local_modules=
local_rxe_add() {
	local module
	exec {local_lock}>/run/lock/rdmark-softroce || return
	flock -w "$time_limit" "$local_lock" || { say "another run has $local_link"; return 1; }
	local_undo=1
	local_modules=$(cut -d ' ' -f 1 /proc/modules)
	for module in crc32_generic ib_uverbs rdma_rxe rdma_ucm; do
		modprobe -q "$module"
	done
	[[ ! -e /sys/class/infiniband/$local_link ]] || rdma link delete "$local_link"
	rdma link add "$local_link" type rxe netdev lo && local_opens "$local_link" && return
	local_end
	return 1
}

# local_run COMMAND…: sets $status.
local_pid=
local_run() {
	(
		[[ ! $local_lock ]] || exec {local_lock}>&-
		exec timeout --kill-after=5 "$time_limit" "$@"
	) &
	local_pid=$!
	wait "$local_pid"
	status=$?
	local_pid=
}

# local_end: ends the command if it still runs, then takes away what local_rxe_add added.
local_end() {
	local module
	if [[ $local_pid ]]; then
		kill "$local_pid" 2>/dev/null
		wait "$local_pid" 2>/dev/null
	fi
	[[ $local_undo ]] || return 0
	local_undo=
	rdma link delete "$local_link" 2>/dev/null
	# Newest first, so each is free when its turn comes.
	cut -d ' ' -f 1 /proc/modules | grep -vxF "$local_modules" | while read -r module; do
		rmmod "$module" 2>/dev/null
	done
}
