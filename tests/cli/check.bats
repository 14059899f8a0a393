#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# bats file_tags=standin,san
# shellcheck disable=SC2030,SC2031,SC2034,SC2154 # what lib/rdmark.bash sets and reads
#
# What --check finds on machines that nobody has at hand, and what it leaves alone.

load ../lib/rdmark
load ../lib/machine

# Those DEVICES, in sysfs, too.
on() {
	export SIMVERBS_DEVICES=$1
	rm -rf sys dev
	"$root/build/tests/simverbs-sysfs" sys || skip 'no simverbs-sysfs here'
	export RDMARK_SYSFS=$PWD/sys
}

check() {
	start check "$@"
	finish check
}

# found FINDINGS: "DEVICE LEVEL CODE, …", of each finding of a port; their words are in golden_words/check.txt.
found() {
	json check.out '[.ports[] | "\(.device)" as $port | .findings[] | "\($port) \(.level) \(.code)"] | join(", ") == $all' --arg all "$1"
}

@test "--check: a healthy port has one line, exit status 0" {
	on 'mlx5_0 link=ib speed=NDR width=4 lid=1 sm_lid=1 pcie_gts=32 pcie_width=16'
	check send_bw --check
	ended check 0
	silent check.err
	grep -q '^mlx5_0 port 1: ok: ACTIVE, InfiniBand, 400 Gb/s, MTU 4096' check.out || fail 'no such line'
	grep -q '^1 port: 0 faults, ' check.out || fail 'no sum'
}

# bats test_tags=core
@test "--check: MaxPayload and MaxReadReq, to who may read them" {
	on 'mlx5_0 link=ib speed=NDR width=4 lid=1 sm_lid=1 pcie_gts=32 pcie_width=16'
	local config=$RDMARK_SYSFS/bus/pci/devices/$(basename "$(readlink -f sys/class/infiniband/mlx5_0/device)")/config
	check send_bw --check
	says check.out 'PCIe 32.0 GT/s x16, MaxPayload -, MaxReadReq -'
	check send_bw --check --json
	json check.out '.ports[0] | has("max_payload_bytes") or has("max_read_request_bytes") | not'
	# the capability PCI Express at 0x60, its control at 0x68: 256 and 4096 bytes
	perl -e '$c = "\0" x 256; substr($c, $$_[0], 1) = chr $$_[1] for [6, 16], [0x34, 0x60], [0x60, 16], [0x68, 0x3f], [0x69, 0x5f]; print $c' >"$config"
	check send_bw --check
	says check.out 'PCIe 32.0 GT/s x16, MaxPayload 256, MaxReadReq 4096'
	check send_bw --check --json
	json check.out '.ports[0] | [.max_payload_bytes, .max_read_request_bytes] == [256, 4096]'
}

@test "--check: each finding on its port, a fault is exit status 6" {
	on 'ib0 link=ib sm_lid=1 speed=EDR width=4; ib1 link=ib sm_lid=1 speed=QDR width=4; ib2 link=ib speed=EDR state=INIT'
	echo 3 >sys/class/infiniband/ib0/ports/1/counters/symbol_error
	echo 255 >sys/class/infiniband/ib0/ports/1/counters/link_downed
	check send_lat --check --json
	ended check 6
	found 'ib0 warn counter_saturated, ib0 note errors_before, ib1 warn link_below_siblings, ib2 fault port_not_active'
	check send_lat --check --json -d ib0,ib1
	ended check 0
	json check.out '[.ports[].device] == ["ib0", "ib1"]'
	check gdr_bw --check -d ib9
	ended check 2
	says check.err "ib9" 'Fix: '
}

@test "--check: an active port without a subnet manager, a GPU far away or without a route" {
	on 'ib0 link=ib; roce0 gid.0=v2/127.0.0.1/lo; ib1 link=ib state=INIT'
	check send_lat --check --json
	ended check 6
	found 'ib0 warn no_subnet_manager, ib1 fault port_not_active'
	machine node
	mkdir -p "$RDMARK_SYSFS"/bus/pci/drivers/nvidia/0000:45:00.0 "$RDMARK_SYSFS"/module/nvidia
	echo POE >"$RDMARK_SYSFS"/module/nvidia/taint
	check send_lat --check
	ended check 0
	says check.out 'host: note: nvidia_peermem is not loaded, and ' '[no_gpu_route]'
	[[ $(uname -m) != aarch64 ]] || return 0
	says check.out 'host: note: the GPU is farther than PXB from every active port: 0000:45:00.0 and sim0 are connected between two PCIe host bridges of one NUMA node (NODE). '
}

# bats test_tags=core
@test "--check: as a document, to stdout and to a file" {
	on 'ib0 link=ib speed=EDR state=DOWN'
	check write_bw --check --json
	ended check 6
	[[ $(jq -c '[.ports[] | .device, .port, (.findings[] | .code, .level)]' check.out) == \
		'["ib0",1,"port_not_active","fault"]' ]] || fail 'not that document'
	[[ $(jq -r '.ports[0].findings[0] | .port, .text' check.out) == $'ib0 port 1\nthe port is DOWN' ]] || fail 'not that port and text'
	PATH=$RDMARK_BIN:$PATH check "$root/contrib/examples/check_rdmark"
	ended check 2
	says check.out 'RDMARK CRITICAL - ib0 port 1: the port is DOWN'
	check write_bw --check --json
	mv check.out first.json
	check write_bw --check --json=second.json
	ended check 6
	silent check.out
	diff <(jq 'del(.finished_utc)' first.json) <(jq 'del(.finished_utc)' second.json)
	check write_bw --check --json=/nonexistent/x
	ended check 1
	says check.err /nonexistent/x 'No such file'
}

@test "--check: a host and --csv are refused" {
	on 'ib0 link=ib'
	check send_bw --check host
	ended check 2
	says check.err "a check looks at this host only, and 'host' is no option. Fix: omit it; run the check on that host, too"
	start check rdmark check node1
	finish check
	ended check 2
	says check.err "rdmark check: a check looks at this host only, and 'node1' is no option"
	says_no check.err write_bw
	check send_bw --check --csv
	ended check 2
}
