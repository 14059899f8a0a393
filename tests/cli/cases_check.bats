#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# bats file_tags=standin,san
# shellcheck disable=SC2030,SC2031,SC2034,SC2154 # what lib/rdmark.bash sets and reads
#
# Cases from public reports (their numbers are those of the list that they came with) that --check and the
# lists answer from the facts of a host alone.

load ../lib/rdmark

# on DESCRIPTION: those devices, in sysfs, too.
on() {
	export SIMVERBS_DEVICES=${1//$'\n'/;}
	rm -rf sys
	"$root/build/tests/simverbs-sysfs" sys || skip 'no simverbs-sysfs here'
	export RDMARK_SYSFS=$PWD/sys
}

# look PROGRAM ARG…: what it says of this host; its output is in look.out.
look() {
	start look "$@"
	finish look
}

# finds STATUS WORDS…: --check ends so, and says that.
finds() {
	look send_bw --check
	ended look "$1"
	says look.out "${@:2}"
}

@test "case 43: the same note at nine ports is said once, with the counts that differ" {
	local i
	on 'mlx5_ count=9 gid.1=v2/10.0.0.1 mtu=1024 max_mtu=4096'
	for i in {0..8}; do echo $((i + 2)) >"sys/class/infiniband/mlx5_$i/ports/1/counters/symbol_error"; done
	finds 0 $'\nat 9 ports: note: the path MTU is 1 KiB; the port supports 4 KiB [mtu' \
		'at 9 ports: note: the port has counted errors since it was reset: counters/symbol_error 2, 3, 4, 5, 6, 7, 8, 9, 10. Next: ' \
		'9 ports: 0 faults, 0 warnings, '
	[[ $(grep -c path.MTU look.out) == 1 && $(grep -c symbol_error look.out) == 1 ]] || fail 'not once'
	rm sys/class/infiniband/mlx5_3/ports/1/counters/symbol_error
	echo 0 >sys/class/infiniband/mlx5_4/ports/1/counters/symbol_error
	echo 1 >sys/class/infiniband/mlx5_4/ports/1/counters/link_downed
	finds 0 'at 7 ports (mlx5_0 port 1, mlx5_1 port 1, mlx5_2 port 1, mlx5_5 port 1, ' 'symbol_error 2, 3, 4, 7, 8, 9, 10. ' \
		$'\nmlx5_4 port 1: note: the port has counted errors since it was reset: counters/link_downed 1. '
	look send_bw --check --json=-
	[[ $(jq '[.ports[].findings[] | select(.code == "mtu_below_maximum")] | length' look.out) == 9 ]] || fail 'not one per port'
}

@test "case 43: a fault is said of each port" {
	on 'ib0 link=ib state=DOWN; ib1 link=ib state=DOWN'
	finds 6 'ib0 port 1: fault: the port is DOWN' 'ib1 port 1: fault: the port is DOWN' '2 ports: 2 faults, '
}
