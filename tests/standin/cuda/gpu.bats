#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# gpu.h on the stand-in for the driver: every way of not having a GPU, and what one does.

bats_require_minimum_version 1.5.0

setup_file() {
	ROOT=$(cd "$BATS_TEST_DIRNAME/../../.." && pwd)
	BUILD=$(realpath "${BUILD:-$ROOT/build}")
	export ROOT BUILD
}

setup() {
	export RDMARK_SYSFS=$BATS_TEST_TMPDIR/sys
	mkdir -p "$RDMARK_SYSFS"
	unset CUDA_VISIBLE_DEVICES
}

# The actions of gpu_probe, with the library of $DRIVER (cuda, cuda-11.2, …) or none.
probe() {
	LD_LIBRARY_PATH=$BUILD/tests/${DRIVER-cuda} timeout 60 "$BUILD/tests/gpu_probe" "$@"
}

# says STATUS TEXT ACTION…: a fault with that exit status, all of TEXT in it.
says() {
	local code=$1 text=$2
	shift 2
	run probe "$@"
	echo "status $status: $output"
	[ "$status" = "$code" ] && [[ $output == *"$text"* ]]
}

put() {
	mkdir -p "$RDMARK_SYSFS/$(dirname "$1")"
	printf "$2" > "$RDMARK_SYSFS/$1"
}

@test "no driver library" {
	DRIVER=nowhere says 77 "cannot open shared object file: No such file or directory. This machine or container has no NVIDIA driver library" list
	DRIVER=nowhere says 77 "opening the GPU: " open index 0
}
@test "the toolkit's stub" { DRIVER=cuda-stub says 77 "cuda-stub/libcuda.so.1 is the CUDA toolkit's stub" list; }
@test "a driver that is too old" {
	DRIVER=cuda-10.2 says 77 "is the driver for CUDA 10.2. The NVIDIA driver is too old" list
	SIMCUDA_DRIVER=10010 says 77 "is the driver for CUDA 10.1" list
}
@test "a library that is no driver" { DRIVER=cuda-alien says 77 "cuda-alien/libcuda.so.1 has no cu" list; }
@test "no device" {
	SIMCUDA_INIT=100 says 77 "CUDA_ERROR_NO_DEVICE (100). The driver is loaded, but finds no GPU" list
	SIMCUDA_GPUS=' ' says 77 "finds no GPU" list
	CUDA_VISIBLE_DEVICES=7 SIMCUDA_INIT=100 says 77 "CUDA_VISIBLE_DEVICES is '7'" open index 0
}
@test "fabric manager not running" { SIMCUDA_INIT=802 says 77 "the fabric manager has not set up" list; }
@test "kernel module of another version" {
	put module/nvidia/version '535.1\n'
	SIMCUDA_INIT=803 says 77 "The kernel module (535.1) and " list
}
@test "a driver that does not start, and why" {
	SIMCUDA_INIT=999 says 77 "CUDA_ERROR_UNKNOWN (999). The kernel module nvidia is not loaded" list
	put module/nvidia/version '535.1\n'
	SIMCUDA_INIT=999 says 77 "nvidia_uvm is not" list
	put module/nvidia_uvm/initstate 'live\n'
	SIMCUDA_INIT=999 says 77 "although its kernel modules are loaded" list
}

two='name=Tesla_T4 uuid=aa01 pci=0000:3B:00.0 cc=7.5 memory=15g
	name=Tesla_P4 uuid=aa02 pci=10000:AF:00.0 cc=6.1 memory=8g gpudirect=1 dmabuf=0 flush=0 ordering=0'

@test "what is told about GPUs" {
	put bus/pci/devices/0000:3b:00.0/resource '0x00000000b2000000 0x00000000b2ffffff 0x40200\n0x00000000a0000000 0x00000000afffffff 0x14220c\n'
	SIMCUDA_GPUS=$two SIMCUDA_DRIVER=12040 run -0 probe list
	[ "${lines[0]}" = "0|Tesla T4|GPU-aa010000-0000-0000-0000-000000000000|0000:3b:00.0|driver 12040|cc 75|gpudirect 1|dmabuf 1|flush 1|ordering 200|memory 16106127360|bar1 268435456" ]
	[ "${lines[1]}" = "1|Tesla P4|GPU-aa020000-0000-0000-0000-000000000000|10000:af:00.0|driver 12040|cc 61|gpudirect 1|dmabuf 0|flush 0|ordering 0|memory 8589934592|bar1 0" ]
}
@test "BAR1 behind a 64-bit BAR0" {
	put bus/pci/devices/0000:17:00.0/resource '0x1042000000 0x1042ffffff 0x14220c\n0x0 0x0 0x0\n0x1000000000 0x1fffffffff 0x14220c\n'
	run -0 probe list
	[[ $output == *"|bar1 68719476736" ]]
}
@test "a resource file that says nothing" {
	local text
	for text in '' '0x0 0x0 0x0\n' 'junk\njunk\n' '0x0 0x0 0x0\n0x0 0x0 0x0\n0x0 0x0 0x0\n'; do
		put bus/pci/devices/0000:17:00.0/resource "$text"
		run -0 probe list
		[[ $output == *"|bar1 0" ]]
	done
}
@test "what older drivers do not know" {
	DRIVER=cuda-11.2 run -0 probe list
	[[ $output == *"|GPU-513c0000-"*"|driver 11020|cc 90|gpudirect 1|dmabuf 0|flush 0|ordering -1|"* ]]
	SIMCUDA_DRIVER=11040 run -0 probe list
	[[ $output == *"|dmabuf 0|flush 1|ordering 200|"* ]]
	DRIVER=cuda-11.2 run -0 probe export 0 4096
	[ "$output" = "801 CUDA_ERROR_NOT_SUPPORTED fd none offset 0" ]
	DRIVER=cuda-11.2 run -0 probe flush
	[ "$output" = needed ]
	DRIVER=cuda-11.2 says 1 "a copy between GPU and host memory: CUDA_ERROR_INVALID_VALUE" stream
}

@test "a GPU by index, UUID and PCI address" {
	export SIMCUDA_GPUS=$two
	local wish
	for wish in 'index 1' 'uuid GPU-aa020000-0000-0000-0000-000000000000' 'uuid gpu-AA02' 'uuid aa02' \
		'pci 10000:af:00.0' 'pci 00010000:AF:00.0' 'pci 10000:af:00'; do
		run -0 probe open $wish
		[[ $output == "1|Tesla P4|"* ]]
	done
	for wish in 'index 0' 'pci 3b:00.0' 'pci 3B:00' 'pci 0000:3b:00.0' 'pci 00000000:3B:00.0'; do
		run -0 probe open $wish
		[[ $output == "0|Tesla T4|"* ]]
	done
}
@test "never another GPU" {
	export SIMCUDA_GPUS=$two
	local all="Fix: name one of these by index, PCI address or UUID: 0 Tesla T4 0000:3b:00.0 GPU-aa010000, 1 Tesla P4 10000:af:00.0 GPU-aa020000"
	says 2 "no GPU has index 2. $all" open index 2
	says 2 "no GPU has PCI address 'af:00.0'. $all" open pci af:00.0
	says 2 "'0000:3b' is not a PCI address. $all" open pci 0000:3b
	says 2 "'nonsense' is not a PCI address" open pci nonsense
	says 2 "2 GPUs have a UUID 'GPU-aa'. $all" open uuid GPU-aa
	says 2 "no GPU has UUID 'GPU-bb'" open uuid GPU-bb
	says 2 "no GPU has UUID 'GPU-'" open uuid GPU-
	says 2 "no GPU has UUID ''" open uuid ''
	says 2 "exactly one of these" open index 0 pci 3b:00.0
	says 2 "exactly one of these" open
	CUDA_VISIBLE_DEVICES=0 says 2 "CUDA_VISIBLE_DEVICES is '0', which may hide GPUs" open index 2
}

@test "memory is aligned and zero, and all of it given back" {
	export SIMCUDA_REPORT=$BATS_TEST_TMPDIR/report
	probe alloc 1 100000 3000000 65536
	SIMCUDA_MISALIGN=4096 probe alloc 1 100000 3000000
	while read -r _ blocks _ _ _ _ _ contexts _; do
		[ "${blocks%/*}" = "${blocks#*/}" ]
		[ "$contexts" = 1/1 ]
	done < "$SIMCUDA_REPORT"
	[ "$(wc -l < "$SIMCUDA_REPORT")" = 2 ]
}
@test "memory that cannot be had" {
	SIMCUDA_GPUS='memory=16m' says 1 "cuMemAlloc(32 MiB): CUDA_ERROR_OUT_OF_MEMORY (2). The GPU has too little free memory" alloc 33000000
	SIMCUDA_FAIL=cuMemAlloc:2:2 says 1 "OUT_OF_MEMORY" alloc 1 1
	SIMCUDA_FAIL=cuPointerSetAttribute:1:1 says 1 "preparing 2 MiB of GPU memory: CUDA_ERROR_INVALID_VALUE" alloc 1
	SIMCUDA_FAIL=cuPointerSetAttribute:1:801 probe alloc 1
	SIMCUDA_FAIL=cuMemsetD8:1:700 says 1 "ILLEGAL_ADDRESS (700). The GPU reported an error that destroyed its context" alloc 1
	SIMCUDA_FAIL=cuDevicePrimaryCtxRetain:1:46 says 1 "exclusive mode" alloc 1
}
@test "the CPU cannot touch it" {
	run probe touch # SIGSEGV, or what a sanitizer makes of it
	[ "$status" = 139 ] || [[ $output == *"SEGV"* ]]
}
@test "but if it is asked for, as a NIC without peer memory needs it" {
	SIMCUDA_TOUCHABLE=1 run -0 probe touch
	[ "$output" = 0 ]
}
@test "copies" {
	says 1 "copying to GPU memory: cuMemcpyHtoD(11 bytes): CUDA_ERROR_INVALID_VALUE" copies
	SIMCUDA_FAIL=cuMemcpyDtoH:1:700 says 1 "copying from GPU memory: cuMemcpyDtoH(300000 bytes): CUDA_ERROR_ILLEGAL_ADDRESS" copies
}
@test "a planted bit flip" {
	SIMCUDA_FLIP=in:2,out:3 run -0 probe flips 4
	[ "$output" = "round 2 byte 2048: 10"$'\n'"round 3 byte 2048: 10" ]
}

@test "results by name" {
	[ "$(probe names 801)" = CUDA_ERROR_NOT_SUPPORTED ]
	[ "$(probe names 12345)" = "unknown error" ]
}
@test "export, aligned and not" {
	[ "$(probe export 0 65536)" = "0 CUDA_SUCCESS fd open offset 0" ]
	[ "$(probe export 100 1)" = "0 CUDA_SUCCESS fd open offset 100" ]
	[ "$(probe export 8192 4186112)" = "0 CUDA_SUCCESS fd open offset 0" ]
	[ "$(probe export 8193 4186112)" = "1 CUDA_ERROR_INVALID_VALUE fd none offset 1" ]
}
@test "export that is not supported" {
	[[ $(SIMCUDA_GPUS=dmabuf=0 probe export 0 4096) == "801 "* ]]
	[[ $(SIMCUDA_FAIL=cuMemGetHandleForAddressRange:1:304 probe export 0 4096) == "304 CUDA_ERROR_OPERATING_SYSTEM fd none"* ]]
	[[ $(probe export 0 4096 pcie) == "801 "* ]]
	[[ $(SIMCUDA_GPUS=c2c=1 SIMCUDA_DRIVER=12070 probe export 0 4096 pcie) == "801 "* ]]
	[[ $(SIMCUDA_GPUS=c2c=1 SIMCUDA_DRIVER=12080 probe export 0 4096 pcie) == "0 "* ]]
}
@test "flush, where it is needed and can be had" {
	export SIMCUDA_REPORT=$BATS_TEST_TMPDIR/report
	[ "$(probe flush)" = "not needed" ]
	[ "$(SIMCUDA_GPUS=ordering=100 probe flush)" = "not needed" ]
	[ "$(SIMCUDA_GPUS='ordering=0 flush=2' probe flush)" = needed ]
	[ "$(grep -o 'flushes [0-9]*' "$SIMCUDA_REPORT" | sort -u)" = "flushes 0" ]
	[ "$(SIMCUDA_GPUS=ordering=0 probe flush)" = needed ]
	grep -q 'flushes 1' "$SIMCUDA_REPORT"
	[ "$(probe flush direct)" = needed ]
	[ "$(grep -c 'flushes 1' "$SIMCUDA_REPORT")" = 2 ]
	[ "$(SIMCUDA_GPUS=flush=0 probe flush direct)" = needed ]
	[ "$(grep -c 'flushes 1' "$SIMCUDA_REPORT")" = 2 ]
	SIMCUDA_GPUS=ordering=0 SIMCUDA_FAIL=cuFlushGPUDirectRDMAWrites:1:999 says 1 "cuFlushGPUDirectRDMAWrites: CUDA_ERROR_UNKNOWN" flush
}

@test "streams and events" {
	export SIMCUDA_REPORT=$BATS_TEST_TMPDIR/report
	says 1 "a copy between GPU and host memory: CUDA_ERROR_INVALID_VALUE" stream
	grep -q '^memory 1/1 streams 1/1 events 8/8 contexts 1/1 host 1/1 ' "$SIMCUDA_REPORT"
	probe threads
}
@test "copies in flight: in order, in time, and not before" {
	local took
	took=$(SIMCUDA_D2H_GBPS=0.5 probe order)
	echo "$took"
	((${took% us} >= 8388)) # 512 KiB at 0.5 Gb/s
}
@test "calls of a stream that fail" {
	SIMCUDA_FAIL=cuStreamCreate:1:2 says 1 "a CUDA stream for 524288 bytes: CUDA_ERROR_OUT_OF_MEMORY" stream
	SIMCUDA_FAIL=cuEventCreate:5:2 says 1 "a CUDA stream for 524288 bytes: CUDA_ERROR_OUT_OF_MEMORY" stream
	SIMCUDA_FAIL=cuMemHostRegister:1:712 says 1 "a CUDA stream for 524288 bytes: CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED" stream
	SIMCUDA_FAIL=cuEventQuery:2+:700 says 5 "rc == 1" stream
}
@test "a library for each process that links nothing" {
	run ! bash -c "ldd '$BUILD/tests/gpu_probe' | grep cuda"
	run ! bash -c "readelf -d '$BUILD/tests/gpu_probe' | grep -E 'RPATH|RUNPATH'"
}
