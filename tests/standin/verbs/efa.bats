#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The stand-in as an Elastic Fabric Adapter: by the rules (srd.c), and perftest on it.

load pair.bash

export SIMVERBS_DEVICES='efa_0 efa shuffle=4 speed=HDR'

srd() { LD_PRELOAD=$SIM timeout 60 "$ROOT/build/tests/srd" "$1"; }

@test "what it says of itself" { srd device; }
@test "which queue pairs there are, and their states" { srd states; }
@test "requests: all signalled, no order, no GRH" { srd requests; }
@test "a request fails alone" { srd failures; }
@test "what is posted together arrives backwards" { srd order; }

need_srd() { ib_send_bw --help | grep -q SRD || skip 'this perftest has no SRD'; }

@test "perftest: -c SRD" {
	need_srd
	pair ib_send_lat -c SRD -x 0 -n 100
	pair ib_send_bw -c SRD -x 0 -n 500 -s 4096
	pair ib_read_bw -c SRD -x 0 -n 100 -s 65536
}
