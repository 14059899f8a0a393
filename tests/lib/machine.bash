# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=bash
# shellcheck disable=SC2154 # what rdmark.bash sets
#
# After rdmark.bash, on the verbs stand-in: the made-up machines of tests/standin/topologies.
#
#   machine NAME [WORD…]    what is started from now on runs on machine NAME: its NIC is sim0 at
#                           0000:41:00.0, described to the stand-in by WORDs, too. Its files are in
#                           ./NAME, where a test may change them. Call it for each end if they differ.

machine() {
	local dir=$PWD/$1
	export SIMVERBS_DEVICES="sim0 pci=0000:41:00.0 gid.0=v1/127.0.0.1 gid.1=v2/127.0.0.1 ${*:2}"
	"${RDMARK_PRELOAD%/*}/simverbs-sysfs" "$dir/sys"
	"$root/tests/standin/topologies/make" "$1" "$dir"
	export HWLOC_XMLFILE=$dir/topology.xml RDMARK_SYSFS=$dir/sys
	unset HWLOC_THISSYSTEM
}
