#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Programs that know nothing of the stand-in keep it honest.

load pair.bash

need() {
	command -v "$1" > /dev/null || skip "$1 is not installed"
}

# The result row of perftest: field $1 lies between $2 and $3.
row() {
	awk -v f="$1" -v lo="$2" -v hi="$3" '
		/#bytes/ { on = 1; next }
		on && /^ *[0-9]/ { v = $f; n++ }
		END { if (n && v >= lo && v <= hi) exit 0
		      print "field " f " is " v; exit 1 }' "$CLIENT_OUT"
}

latency() {
	need "$1"
	pair "$@" -n 500
	row 3 0.1 1000000	# minimum, microseconds: on a busy machine each waits for the other's time slice
}

bandwidth() {
	need "$1"
	pair "$@" -n 512
	row 5 0.000001 50	# million messages a second
}

pingpong() {
	need "$1"
	pair "$@"
	grep -q 'usec/iter' "$CLIENT_OUT"
	# nothing is left behind
	[ ! -e "$SIMVERBS_DIR" ]
}

@test "ib_send_lat RC" { latency ib_send_lat; }
@test "ib_send_lat UC" { latency ib_send_lat -c UC; }
@test "ib_send_lat UD" { latency ib_send_lat -c UD; }
@test "ib_send_lat RC, events" { latency ib_send_lat -e; }
@test "ib_write_lat RC" { latency ib_write_lat; }
@test "ib_write_lat UC, 4096 bytes" { latency ib_write_lat -c UC -s 4096; }
@test "ib_read_lat" { latency ib_read_lat; }
@test "ib_atomic_lat" { latency ib_atomic_lat; }
@test "ib_send_bw RC" { bandwidth ib_send_bw; }
@test "ib_send_bw RC, both directions" { bandwidth ib_send_bw -b; }
@test "ib_send_bw UD" { bandwidth ib_send_bw -c UD -s 2048; }
@test "ib_send_bw RC, events" { bandwidth ib_send_bw -e; }
@test "ib_send_bw RC, SRQ" { bandwidth ib_send_bw --use-srq; }
@test "ib_write_bw RC" { bandwidth ib_write_bw; }
@test "ib_write_bw RC, 4 QPs, post list" { bandwidth ib_write_bw -q 4 -l 8; }
@test "ib_write_bw UC" { bandwidth ib_write_bw -c UC; }
@test "ib_write_bw RC, inline" { bandwidth ib_write_bw -s 64 -I 64; }
@test "ib_read_bw" { bandwidth ib_read_bw; }
@test "ib_atomic_bw fetch and add" { bandwidth ib_atomic_bw; }
@test "ib_atomic_bw compare and swap" { bandwidth ib_atomic_bw -A CMP_AND_SWAP; }

@test "ib_write_bw, InfiniBand link" {
	export SIMVERBS_DEVICES='ib0 link=ib lid=7 sm_lid=1 speed=NDR'
	bandwidth ib_write_bw
	grep -q 'LID 0x07' "$CLIENT_OUT"
}

@test "ib_write_bw, two InfiniBand ports on one subnet" {
	SERVER_ENV=(SIMVERBS_DEVICES='ib0 link=ib lid=7 sm_lid=1')
	CLIENT_ENV=(SIMVERBS_DEVICES='ib0 link=ib lid=9 sm_lid=1 guid=0x22')
	bandwidth ib_write_bw
}

@test "pingpongs by LID between two InfiniBand ports" {
	SERVER_ENV=(SIMVERBS_DEVICES='ib0 link=ib lid=7 sm_lid=1')
	CLIENT_ENV=(SIMVERBS_DEVICES='ib0 link=ib lid=9 sm_lid=1 guid=0x22')
	pingpong ibv_rc_pingpong
	pingpong ibv_uc_pingpong
	pingpong ibv_ud_pingpong
	pingpong ibv_srq_pingpong
}

@test "a device without extended QPs, CQs, SRQs, atomics, inline" {
	export SIMVERBS_DEVICES='old gid.0=v2/127.0.0.1 nocqex noqpex nodevex nosrq noatomics inline=0'
	bandwidth ib_write_bw -x 0 --use_old_post_send
	latency ib_send_lat -x 0 -I 0 --use_old_post_send
	pingpong ibv_rc_pingpong -g 0
}

@test "ibv_rc_pingpong" { pingpong ibv_rc_pingpong -g 5; }
@test "ibv_rc_pingpong, events" { pingpong ibv_rc_pingpong -g 5 -e; }
@test "ibv_rc_pingpong, extended CQ and QP" { pingpong ibv_rc_pingpong -g 5 -t -N; }
@test "ibv_uc_pingpong" { pingpong ibv_uc_pingpong -g 5; }
@test "ibv_ud_pingpong" { pingpong ibv_ud_pingpong -g 5; }
@test "ibv_srq_pingpong" { pingpong ibv_srq_pingpong -g 5; }
@test "ibv_srq_pingpong, events" { pingpong ibv_srq_pingpong -g 5 -e; }
