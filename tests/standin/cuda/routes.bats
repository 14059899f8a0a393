#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Routes from a NIC to GPU memory, on the stand-ins for both: what is there, what is taken, and why
# the others are not.

bats_require_minimum_version 1.5.0

setup_file() {
	ROOT=$(cd "$BATS_TEST_DIRNAME/../../.." && pwd)
	BUILD=$(realpath "${BUILD:-$ROOT/build}")
	export ROOT BUILD
}

setup() {
	export RDMARK_SYSFS=$BATS_TEST_TMPDIR/sys SIMVERBS_DIR=$BATS_TEST_TMPDIR/fabric
	mkdir -p "$RDMARK_SYSFS"
	preload=$BUILD/tests/libsimverbs.so
}

probe() {
	LD_LIBRARY_PATH=$BUILD/tests/${DRIVER-cuda} LD_PRELOAD=$preload timeout 60 "$BUILD/tests/gpu_probe" "$@"
}

nic() { export SIMVERBS_DEVICES="sim0 gid.5=v2/127.0.0.1 $*"; }
gpu() { export SIMCUDA_GPUS="name=Tesla_T4 cc=7.5 $*"; }

put() {
	mkdir -p "$RDMARK_SYSFS/$(dirname "$1")"
	printf "$2" > "$RDMARK_SYSFS/$1"
}

# why ROUTE TEXT: it is not available, and TEXT is in the line that says so.
why() {
	run -0 probe routes
	echo "$output"
	[[ $(grep "^$1|" <<<"$output") == "$1|no"*"$2"* ]]
}

auto() {
	run -0 probe routes
	echo "$output"
	# shellcheck disable=SC2053 # a pattern
	[[ ${lines[-1]} == "auto: "$1 ]]
}

says() {
	local code=$1 text=$2
	shift 2
	run probe "$@"
	echo "status $status: $output"
	[ "$status" = "$code" ] && [[ $output == *"$text"* ]]
}

@test "both direct routes: dma-buf is taken" {
	auto "dma-buf"
	[ "${lines[0]}" = "dmabuf|yes|0||" ]
	[ "${lines[1]}" = "peermem|yes|0||" ]
}
@test "no dma-buf: peermem is taken, and it is said why" {
	nic nodmabuf
	auto "peermem; not dma-buf: The device's driver or library cannot register dma-bufs*ON_DEMAND_PAGING"
}
@test "neither: it is said why for both" {
	nic nodmabuf nopeermem
	auto "none; not dma-buf: *cannot register dma-bufs*; not peermem: nvidia_peermem is not loaded*"
}
@test "a route by name, and one that cannot be had" {
	[ "$(probe choose 0)" = dma-buf ]
	[ "$(probe choose 1)" = dma-buf ]
	[ "$(probe choose 2)" = peermem ]
	nic nodmabuf nopeermem
	says 77 "no direct path to GPU memory. not dma-buf: The device's driver" choose 0
	says 77 "choosing the path to GPU memory: --gpu-path dmabuf: Operation not supported. The device's driver" choose 1
	says 77 "--gpu-path data_direct. Data Direct needs a ConnectX NIC" choose 3
	says 77 "--gpu-path peermem: Bad address. nvidia_peermem is not loaded" choose 2
}

# --- the probe without a dma-buf -----------------------------------------------------------------

@test "dma-buf: the kernel's RDMA stack is too old (93)" {
	SIMVERBS_FAIL=ibv_reg_dmabuf_mr:1:93 why dmabuf "|93|The kernel's RDMA stack is too old to register dma-bufs, which needs Linux 5.12"
}
@test "dma-buf: not supported (95)" {
	SIMVERBS_FAIL=ibv_reg_dmabuf_mr:1:95 why dmabuf "|95|The device's driver or library cannot register"
}

# --- the driver's export -------------------------------------------------------------------------

@test "dma-buf: the NVIDIA driver is too old" {
	DRIVER=cuda-11.2 why dmabuf "The NVIDIA driver (CUDA 11.2) is too old to export dma-bufs, which needs CUDA 11.7|install NVIDIA driver 515"
	SIMCUDA_DRIVER=11060 why dmabuf "(CUDA 11.6)"
}
@test "dma-buf: closed kernel modules" {
	gpu dmabuf=0
	why dmabuf "Tesla T4 cannot export dma-bufs (attribute 124 is 0)"
	auto "peermem; not dma-buf: *"
}
@test "dma-buf: the export fails" {
	SIMCUDA_FAIL=cuMemGetHandleForAddressRange:1:801 why dmabuf "does not export this memory: CUDA_ERROR_NOT_SUPPORTED (801)"
	SIMCUDA_FAIL=cuMemGetHandleForAddressRange:1:1 why dmabuf "rejects this address range for an export (CUDA_ERROR_INVALID_VALUE)"
}

# --- the registration ----------------------------------------------------------------------------

@test "dma-buf: the chipset does not pass PCIe transfers between them (524)" {
	SIMVERBS_FAIL=ibv_reg_dmabuf_mr:2:524 why dmabuf "|524|The NVIDIA driver refuses the NIC as a peer of Simulated GPU: the chipset"
	SIMVERBS_FAIL=ibv_reg_dmabuf_mr:2:524 says 1 "ibv_reg_dmabuf_mr(64 KiB of GPU memory): Operation is not supported by the kernel (524). The NVIDIA driver refuses" register 0 65536
}
@test "dma-buf: no room in BAR1 or the IOMMU" {
	put bus/pci/devices/0000:17:00.0/resource '0x0 0x1 0x0\n0xa0000000 0xafffffff 0x0\n'
	SIMVERBS_FAIL=ibv_reg_dmabuf_mr:2:ENOMEM why dmabuf "|12|64 KiB of GPU memory could not be mapped for the NIC: BAR1 (256 MiB) or the IOMMU's address space is full; RLIMIT_MEMLOCK does not matter"
}
@test "dma-buf: the range is refused" {
	SIMVERBS_FAIL=ibv_reg_dmabuf_mr:2:EINVAL why dmabuf "|22|The NIC's driver rejects the offset, the length or the page size"
	SIMVERBS_FAIL=ibv_reg_dmabuf_mr:2:EIO why dmabuf "|5|The exported memory could not be registered: Input/output error"
}
@test "peermem: in-box RDMA" {
	nic nopeermem
	why peermem "|14|nvidia_peermem is not loaded, and the kernel's own RDMA stack does not support it: modprobe would fail with \"Invalid argument\"|use dma-buf"
}
@test "peermem: a P4 and in-box RDMA have no direct route at all" {
	nic nopeermem
	export SIMCUDA_GPUS='name=Tesla_P4 cc=6.1 dmabuf=0'
	why dmabuf "Tesla P4 (compute capability 6.1) cannot export dma-bufs: that needs NVIDIA's open kernel modules, which run on Turing (7.5) and newer|use nvidia_peermem with"
	why peermem "Tesla P4 is older than Turing and cannot export dma-bufs either: without MLNX_OFED or DOCA-OFED there is no direct route|install MLNX_OFED"
	auto "none; *"
}
@test "peermem: MLNX_OFED is there, the module is not loaded" {
	nic nopeermem
	put module/mlx_compat/initstate 'live\n'
	why peermem "|14|nvidia_peermem is not loaded|modprobe nvidia_peermem"
}
@test "peermem: loaded, and the memory is not its own" {
	local file
	nic nopeermem
	for file in module/nvidia_peermem/version module/nv_peer_mem/version kernel/mm/memory_peers/nv_mem/version \
		kernel/mm/memory_peers/nv_mem_nc/version; do
		rm -rf "${RDMARK_SYSFS:?}"/*
		put $file '1.3\n'
		why peermem "|14|nvidia_peermem is loaded, but does not accept the memory: BAR1 (size unknown) is full"
	done
}
@test "peermem: other failures" {
	SIMVERBS_FAIL=ibv_reg_mr:3:ENOMEM why peermem "|12|64 KiB of GPU memory could not be mapped"
	SIMVERBS_FAIL=ibv_reg_mr:3:EPERM why peermem "|1|The device address could not be registered: Operation not permitted"
}
@test "a GPU without GPUDirect RDMA" {
	gpu gpudirect=0 dmabuf=0
	why dmabuf "Tesla T4 does not support GPUDirect RDMA (attribute 116 is 0); GeForce cards do not"
	why peermem "Tesla T4 does not support GPUDirect RDMA (attribute 116 is 0)"
	auto "none; *"
}
@test "attempts tell the truth, not attributes" {
	gpu gpudirect=0
	auto "dma-buf"
}

# --- Data Direct ---------------------------------------------------------------------------------

@test "Data Direct: a library without it, a NIC without it, a GPU without it" {
	why data_direct "Data Direct needs a ConnectX NIC with mlx5, and rdma-core 54 or newer"
	preload="$preload $BUILD/tests/mlx5/libmlx5.so.1"
	why data_direct "|19|The NIC has no Data Direct function"
	export SIMMLX5_PATH=/sys/devices/x
	why data_direct "does not map Simulated GPU's memory for Data Direct: CUDA_ERROR_NOT_SUPPORTED (801)"
}
@test "Data Direct: it works, and is not taken before dma-buf" {
	export SIMMLX5_PATH=/sys/devices/x SIMCUDA_GPUS=c2c=1
	preload="$preload $BUILD/tests/mlx5/libmlx5.so.1"
	auto "dma-buf"
	[ "${lines[2]}" = "data_direct|yes|0||" ]
	SIMVERBS_FAIL=ibv_reg_dmabuf_mr:1:95 nic nopeermem
	[ "$(probe register 2 65536)" = registered ]
	says 1 "mlx5dv_reg_dmabuf_mr(64 KiB of GPU memory): Operation not supported" register 2 65536 100
}

# --- registering and moving ----------------------------------------------------------------------

@test "ranges of any alignment" {
	local route
	for route in 0 1; do
		[ "$(probe register $route 65536)" = registered ]
		[ "$(probe register $route 1 4095)" = registered ]
		[ "$(probe register $route 1000000 12345)" = registered ]
	done
}
@test "relaxed ordering, and a device that refuses it" {
	[ "$(probe register 0 65536 0 0x100000)" = "registered, relaxed" ]
	[ "$(probe register 1 65536 0 0x100000)" = "registered, relaxed" ]
	[ "$(SIMVERBS_FAIL=ibv_reg_dmabuf_mr:2:EINVAL probe register 0 65536 0 0x100000)" = registered ]
}
@test "more than half of BAR1 is refused" {
	put bus/pci/devices/0000:17:00.0/resource '0x0 0x1 0x0\n0xa0000000 0xafffffff 0x0\n'
	[ "$(probe register 0 134217728)" = registered ]
	says 1 "registering GPU memory: 130 MiB of GPU memory. The PCIe window to the memory of Simulated GPU (BAR1) is 256 MiB, and rdmark uses at most half" register 0 136314880
}
@test "transfers over both routes" {
	local route
	for route in 0 1; do
		run -0 probe move $route
		[ "${lines[*]}" = "host to GPU: status 0 vendor 0x0 GPU to GPU: status 0" ]
	done
}
@test "GPU memory slower than host memory" {
	nic gpu_read_mbps=1000 gpu_write_mbps=2000 # 20000 bytes each
	WRITE_NS=80000 READ_NS=160000 probe move 0
	WRITE_NS=80000 READ_NS=160000 probe move 1
}
@test "from process to process, and GPU memory of the peer slower than host memory" {
	local route
	for route in 0 1; do
		run -0 probe pair $route
		[[ $output == *"wrong 0"* ]]
	done
	nic gpu_read_mbps=2000 gpu_write_mbps=4000 # 50000 bytes: 200 and 100 us
	run -0 probe pair 0
	echo "$output"
	[[ $output =~ "write "([0-9]+)" us, read "([0-9]+)" us" ]]
	((BASH_REMATCH[1] >= 100 && BASH_REMATCH[2] >= 200))
}
@test "registered, and yet out of reach" {
	nic gpublocked
	run -0 probe move 0
	[ "$output" = "host to GPU: status 10 vendor 0x88" ]
}
@test "all is given back" {
	export SIMCUDA_REPORT=$BATS_TEST_TMPDIR/report
	probe routes
	probe move 0
	grep -q '^memory 4/4 .* contexts 1/1' "$SIMCUDA_REPORT" # a buffer for each route, and auto's
	grep -q '^memory 1/1 .* contexts 1/1' "$SIMCUDA_REPORT"
	[ ! -e "$SIMVERBS_DIR" ]
}
