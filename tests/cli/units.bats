#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# bats file_tags=standin
# shellcheck disable=SC2034,SC2154 # what lib/rdmark.bash reads and sets
#
# The units for systemd: what they say, and what the checks start, run here.

load ../lib/rdmark
load ../lib/units

setup_file() {
	need_device
	make -s -C "$root" install-units DESTDIR="$BATS_FILE_TMPDIR" PREFIX=/usr BUILD="$BATS_FILE_TMPDIR/none"
	[[ ! -e $BATS_FILE_TMPDIR/none ]] || fail 'install-units builds something'
	export units=$BATS_FILE_TMPDIR/usr/lib/systemd/system
}

# words UNIT KEY [INSTANCE [OPTION…]]: the command of KEY= there, with these for the variable, in $words.
words() { read -ra words <<<"$(line "$units/$1" "$2" | sed "s|^-||; s|^/usr/bin/||; s|\$RDMARK_[A-Z_]*|${*:4}|; s|%i|${3-}|g; s|%S|$PWD|g")"; }

# begun UNIT [INSTANCE [OPTION…]]: what it starts, from ExecStartPre= to ExecStopPost=. Its StateDirectory is
# here, with the umask that it has.
begun() {
	local words
	mkdir -p "$(line "$units/$1" StateDirectory)"
	umask "$(line "$units/$1" UMask | tail -n 1)"
	words "$1" ExecStartPre
	"${words[@]}"
	words "$1" ExecStart "${@:2}"
	start unit "${words[@]}"
	finish unit
	words "$1" ExecStopPost "${@:2}"
	"$RDMARK_BIN/${words[0]}" "${words[@]:1}"
}

@test "systemd knows every line, they are sandboxed, and they start what there is" {
	units_are_right "$units" "$RDMARK_BIN"
}

@test "what is wrong in a unit is found" {
	mkdir broken
	cp "$units"/* broken
	sed -i 's/^TimeoutStartSec=.*/&x/' broken/rdmark-check@.service
	command -v systemd-analyze >/dev/null || skip 'systemd-analyze is not here'
	run verified broken "$RDMARK_BIN"
	[[ $status == 1 && $output == *TimeoutStartSec* ]]
	sed '/^SystemCall/d; /^Protect/d' "$units/rdmark-check.service" >broken/rdmark-check.service
	cp "$units/rdmark-check@.service" broken
	run verified broken "$RDMARK_BIN"
	[[ $status == 1 && $output == *'exposure level for rdmark-check.service'* ]]
}

@test "rdmark-check: a line for each port, and for each finding; no device is a failure" {
	begun rdmark-check.service
	[[ ${status[unit]} == [06] ]] || ended unit 0
	says unit.out ' port 1: ' ' faults, '
	says rdmark-check/check.prom 'rdmark_check_ok{file="check.prom"}'
	[[ $(stat -c %a rdmark-check/check.prom) == 644 ]] || fail 'node_exporter cannot read it'
	begun rdmark-check.service '' -d no_such
	ended unit 2
	says unit.err "there is no RDMA device 'no_such'"
	says rdmark-check/check.prom 'rdmark_up{file="check.prom"} 0'
}

@test "rdmark-check@PEER: measures for a second; too slow and nobody there are failures" {
	local deadline=200
	export SIMVERBS_CPU=200 # a run that lacked its CPU misses nothing
	start_server stays write_bw --persistent
	begun rdmark-check@.service "$host" -p "$port"
	ended unit 0
	says unit.out 'BW average'
	says "rdmark-peer/$host.prom" 'rdmark_bandwidth_bytes_per_second{'
	begun rdmark-check@.service "$host" -p "$port" --min-bw 100000
	ended unit 6
	begun rdmark-check@.service "$host" -p 1 --connect-timeout 0
	ended unit 4
	says "rdmark-peer/$host.prom" 'rdmark_exit_status{' '"} 4'
	[[ $(stat -c %a "rdmark-peer/$host.prom") == 644 ]] || fail 'node_exporter cannot read it'
	json "rdmark-peer/$host.jsonl" 'map(.status) == ["ok", "below_threshold", "failed"]' -s
}
