#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# bats file_tags=standin,san
# shellcheck disable=SC2154 # what lib/rdmark.bash sets
#
# The made-up machines of tests/standin/topologies, as the programs see them.

bats_require_minimum_version 1.5.0
load ../lib/rdmark
load ../lib/machine

# What `rdmark list` says about sim0: NUMA node, PCI address, link.
list() {
	start list rdmark list
	finish list
	((status[list] == 0)) || return
	sed 's/, firmware .*//' list.out | awk '$1 == "sim0" { printf "%s %s", $8, $9 } $1 == "PCIe" { sub(/^ */, " "); print }'
}

@test "machines: each has its NIC on node 0" {
	local tree name want
	for tree in "$root"/tests/standin/topologies/*.tree; do
		name=${tree##*/} name=${name%.tree} want=0
		machine "$name"
		[[ $name != everywhere ]] || want='?'
		[[ $(list) == "$want 0000:41:00.0 PCIe "* ]]
	done
}

@test "machines: a NIC at half speed" {
	machine nic-half-speed
	[[ $(list) == '0 0000:41:00.0 PCIe 16.0 GT/s x16, trained below its 32.0 GT/s x16' ]]
}

@test "machines: two ends on different ones" {
	machine sys
	server write_bw
	machine pix speed=NDR
	client write_bw -n 100
	finish server
	((status[client] == 0 && status[server] == 0))
}

# bats test_tags=core
@test "machines: one that does not exist, and a line that means nothing" {
	run -2 "$root/tests/standin/topologies/make" nowhere here
	[[ $output == *"NAME is one of"*" pix "* ]]
	[[ ! -e here ]]
	mkdir made
	cp "$root"/tests/standin/topologies/{make,machine.awk} made
	printf 'node 0\n\thost 0000:40\n\t\tbridge 0000:40:01.0\n' >made/bad.tree
	run -1 made/make bad here
	[[ $output == *'bad.tree:3: what is "bridge"?'* ]]
	printf 'node 0\n\t\thost 0000:40\n' >made/bad.tree
	run -1 made/make bad here
	[[ $output == *'bad.tree:2: nothing is above this'* ]]
}
