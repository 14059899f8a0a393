#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The stand-in as a device with XRC: perftest on it, each kind of request, one way and both.

load pair.bash

export SIMVERBS_DEVICES='mlx0 xrc gid.0=v2/127.0.0.1'

# Perftest's XRC domain is a file, whatever TMPDIR is.
need_xrc() {
	local file
	ib_send_bw --help | grep -q XRC || skip 'this perftest has no XRC'
	for file in /tmp/xrc_domain_{server,client}; do
		rm -f "$file" 2>/dev/null || skip "$file is another user's"
	done
}

@test "perftest: -c XRC" {
	need_xrc
	pair ib_send_lat -c XRC -x 0 -n 100
	pair ib_send_bw -c XRC -x 0 -n 100 -b
	pair ib_write_bw -c XRC -x 0 -n 100
	pair ib_read_lat -c XRC -x 0 -n 100
	pair ib_atomic_bw -c XRC -x 0 -n 100
}

@test "a device without it refuses the domain" {
	need_xrc
	SIMVERBS_DEVICES='mlx0 gid.0=v2/127.0.0.1'
	! pair ib_send_lat -c XRC -x 0 -n 10 || false
	grep -q 'Error opening XRC domain' "$SERVER_OUT"
}
