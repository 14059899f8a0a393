# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=bash disable=SC2034,SC2154 # variables of the script that sources this
#
# The kinds of runs: what each boots, prints and returns. Each sets $status. Sourced by
# tests/softroce.

wanted() { [[ ! ${SOFTROCE_USE-} || $SOFTROCE_USE == "$1" ]]; }

# run_one COMMAND…: wherever RDMA is had first.
run_one() {
	if wanted device && local_device >/dev/null; then
		local_run "$@"
	elif wanted rxe && local_rxe_possible && local_rxe_add; then
		local_run "$@"
	elif wanted machine; then
		run_machine "$@"
	else
		run_nothing
	fi
}

run_where() {
	local device
	if wanted device && device=$(local_device); then
		echo "device: $device"
	elif wanted rxe && local_rxe_possible; then
		echo "rxe: soft-RoCE on this machine's lo"
	elif wanted machine; then
		tools_check
		echo "machine: soft-RoCE in a throwaway QEMU machine"
	else
		run_nothing
		return
	fi
	status=0
}

run_nothing() {
	say "no RDMA here with SOFTROCE_USE=$SOFTROCE_USE"
	status=77
}

run_machine() {
	prepare
	machine_describe softroce 1 lo '' "$@"
	machine_start softroce
	finish softroce
}

# run_numa COMMAND…: a card of which Linux knows the NUMA node (a virtio one has none of its own).
run_numa() {
	local half=$((${SOFTROCE_CPUS:-2} / 2)) bytes
	bytes=$(numfmt --from=iec "${SOFTROCE_MEM:-3G}") || exit 2
	((half > 0)) || { say "--numa needs SOFTROCE_CPUS=2 or more"; exit 2; }
	prepare
	machine_describe softroce 1 eth0 '' "$@"
	machine_start softroce -M q35 \
		-object "memory-backend-ram,id=m0,size=$((bytes / 2))" \
		-object "memory-backend-ram,id=m1,size=$((bytes / 2))" \
		-numa "node,nodeid=0,memdev=m0,cpus=0-$((half - 1))" \
		-numa "node,nodeid=1,memdev=m1,cpus=$half-$((2 * half - 1))" \
		-device pxb-pcie,id=pxb,bus=pcie.0,bus_nr=128,numa_node=1 \
		-device pcie-root-port,id=rootport,bus=pxb,chassis=1 \
		-netdev hubport,id=wire,hubid=0 -device vmxnet3,bus=rootport,netdev=wire
	finish softroce
}

# run_pair LINE…: machines on one wire, which is a hub in the first. QEMU greets once it listens.
run_pair() {
	local names=(a b c d e f g h) all=() i
	prepare
	for ((i = 1; i <= $#; i++)); do
		all+=("192.168.77.$i")
	done
	for ((i = 1; i <= $#; i++)); do
		machine_describe "${names[i - 1]}" $i eth0 "${all[*]}" sh -c "${!i}"
	done
	local hub=(-netdev hubport,id=wire,hubid=0)
	for ((i = 2; i <= $#; i++)); do
		choose_wire $i
		hub+=(-netdev "${wire_listen[i]}" -netdev "hubport,id=port$i,hubid=0,netdev=wire$i")
	done
	machine_start a "${hub[@]}" -device "$(card 1 wire)"
	machine_expect_boot a '{"QMP"' || return
	for ((i = 2; i <= $#; i++)); do
		machine_start "${names[i - 1]}" -netdev "${wire_connect[i]}" -device "$(card $i "wire$i")"
	done
	finish "${names[@]:0:$#}"
}

card() { echo "virtio-net-pci,netdev=$2,mac=52:54:00:77:00:0$1"; }

# choose_wire NUMBER: a Unix socket in $run, or a TCP port for a QEMU before 7.2.
choose_wire() {
	local unix="addr.type=unix,addr.path=${run//,/,,}/wire$1" tcp=127.0.0.1:$((RANDOM % 16384 + 32768))
	wire_listen[$1]=stream,id=wire$1,server=on,$unix
	wire_connect[$1]=stream,id=wire$1,server=off,$unix
	"$qemu" -netdev help 2>/dev/null | grep -qx stream && return
	wire_listen[$1]=socket,id=wire$1,listen=$tcp
	wire_connect[$1]=socket,id=wire$1,connect=$tcp
}

# finish NAME…: from booting to the last byte printed. $status becomes the first that is not 0.
finish() {
	local name late='' first=0
	for name; do
		machine_expect_boot "$name" up || return
	done
	for name; do
		print_streams "$name"
	done
	for name; do
		machine_expect "$name" 'done' $((time_limit - SECONDS))
		(($? < 2)) || { late=1; machine_late "$name"; }
	done
	for name; do
		machine_end "$name"
	done
	wait "${machine_printers[@]}"
	if [[ $late ]]; then
		say "stopped after SOFTROCE_TIMEOUT=$time_limit s"
		status=124
		return
	fi
	for name; do
		status=$(machine_status "$name")
		((first != 0)) || first=$status
	done
	status=$first
}

print_streams() {
	if [[ $mode != pair ]]; then
		machine_print "$1" stdout ''
		machine_print "$1" stderr '' >&2
	elif [[ ${SOFTROCE_PAIR_OUT-} ]]; then
		machine_print "$1" stdout '' >"$SOFTROCE_PAIR_OUT/$1.stdout"
		machine_print "$1" stderr '' >"$SOFTROCE_PAIR_OUT/$1.stderr"
	else
		machine_print "$1" stdout "$1| "
		machine_print "$1" stderr "$1| " >&2
	fi
}

# runs_end: whatever still runs ends now; printers follow their machine within their 0.1 s unless
# nobody reads them.
runs_end() {
	local name printer
	for name in "${!machine_pid[@]}"; do
		machine_end "$name"
	done
	for printer in "${machine_printers[@]}"; do
		timeout 1 tail -s 0.05 -f --pid="$printer" /dev/null
	done
}

# prepare: everything machines have in common.
prepare() {
	tools_check
	kernel_get || exit 77
	[[ $provider != siw ]] || siw_get || exit 77
	initramfs_get || exit
	machine_choose_accel
}

# tools_check: exits with 77 and the package's name when something is missing.
tools_check() {
	local tool apt dnf
	while read -r tool apt dnf; do
		have "$tool" && continue
		say "no RDMA device here, and a throwaway machine needs $tool:" \
			"package $apt (with dnf: $dnf), or make deps"
		exit 77
	done <<-'END'
		qemu-system-x86_64 qemu-system-x86 qemu-system-x86-core
		busybox busybox-static busybox
		modprobe kmod kmod
		cpio cpio cpio
		xz xz-utils xz
		zstd zstd zstd
		rdma iproute2 iproute
		setpriv util-linux util-linux
	END
	qemu=$(type -P qemu-system-x86_64)
	busybox=$(type -P busybox)
	if ldd "$busybox" 2>/dev/null | grep -q '=>'; then
		say "$busybox is not static: package busybox-static (with dnf: busybox), or make deps"
		exit 77
	fi
	if [[ $(uname -m) != x86_64 ]]; then
		say "no RDMA device here, and throwaway machines are made on x86_64 only"
		exit 77
	fi
}
