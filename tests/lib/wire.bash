# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # what rdmark.bash and the tests set and read
#
# After rdmark.bash, in a machine of tests/softroce: devices and namespaces of a test's own.
#
#   wire     rdA on netdev wA, 10.77.0.1, and rdB on wB, 10.77.0.2: soft-RoCE in this namespace, and a
#            wire between; each test has new ones. fd77::1 and fd77::2, too
#   pods KIND    namespaces a and b, and between them the same with veth; KIND of device: rxe, siw
#   unwire   takes all of it away

# In setup_file.
need_machine() { [[ -d /run/softroce && ! ${RDMARK_PRELOAD-} ]] || skip_file 'only in a machine of tests/softroce'; }


await_active() {
	local end=$((SECONDS + deadline))
	until grep -q ACTIVE /sys/class/infiniband/"$1"/ports/1/state; do ((SECONDS < end)) || fail "$1 is not active"; done
}

unwire() {
	local namespace device
	for device in rdA rdB; do
		[[ ! -e /sys/class/infiniband/$device ]] || timeout "$deadline" rdma link delete $device || true
	done
	for namespace in a b c; do
		[[ ! -e /run/netns/$namespace ]] || ip netns delete $namespace
	done
	[[ ! -e /sys/class/net/wire ]] || ip link delete wire
	for device in wA wB; do # what is being taken away may still be here
		until [[ ! -e /sys/class/net/$device ]]; do ip link delete $device 2>/dev/null || true; done
	done
	until [[ ! -e /sys/class/infiniband/rdA && ! -e /sys/class/infiniband/rdB ]]; do :; done
}

wire() {
	local end number=0
	unwire
	modprobe -a dummy macvlan
	ip link add wire type dummy && ip link set wire up
	for end in A B; do
		((number += 1))
		ip link add w$end link wire address 02:00:00:00:00:0$number type macvlan mode bridge
		# both ends are this host's: the kernel would drop what comes from an address of its own
		echo 1 >/proc/sys/net/ipv4/conf/w$end/accept_local
		ip address add 10.77.0.$number/24 dev w$end
		ip address add fd77::$number/64 dev w$end nodad
		ip link set w$end up
		ip neighbour add 10.77.0.$((3 - number)) lladdr 02:00:00:00:00:0$((3 - number)) dev w$end nud permanent
		ip neighbour add fd77::$((3 - number)) lladdr 02:00:00:00:00:0$((3 - number)) dev w$end nud permanent
		rdma link add rd$end type rxe netdev w$end
		await_active rd$end
	done
}

pods() {
	local end namespace number=0
	unwire
	modprobe -a veth
	ip netns add a && ip netns add b
	ip link add wA netns a type veth peer name wB netns b
	for end in A B; do
		((number += 1))
		namespace=${end,}
		ip -n $namespace address add 10.77.0.$number/24 dev w$end
		ip -n $namespace link set lo up
		ip -n $namespace link set w$end up
	done
	for end in A B; do # each has a carrier when both are up
		ip netns exec ${end,} rdma link add rd$end type "$1" netdev w$end
		await_active rd$end
	done
}
