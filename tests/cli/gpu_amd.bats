#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# bats file_tags=standin,san
# shellcheck disable=SC2016,SC2030,SC2031,SC2034,SC2154 # $ of jq; what lib/rdmark.bash sets and reads
#
# AMD's GPUs, with a stand-in for HIP and HSA: found beside NVIDIA's, used by every test, each way of not
# having one said, and where the memory really lies.

load ../lib/rdmark
load ../lib/gpu

few=(-n 40 -s 256)

# amd_sysfs [VISIBLE_MIB]: the driver's files of the GPU at 0000:17:00.0, which has 80 GiB; all of it visible, or that much.
amd_sysfs() {
	local dir=sys/bus/pci/devices/0000:17:00.0
	export RDMARK_SYSFS=$PWD/sys
	mkdir -p "$dir" sys/module/amdgpu
	echo $((80 << 30)) >"$dir/mem_info_vram_total"
	echo $((${1:-81920} << 20)) >"$dir/mem_info_vis_vram_total"
	echo $((1 << 30)) >"$dir/mem_info_vram_used"
	echo $((100 << 20)) >"$dir/mem_info_gtt_used"
}

@test "found beside NVIDIA's; an index of its own for each vendor" {
	amd_driver
	LD_LIBRARY_PATH+=:${RDMARK_CUDA:-$root/build/tests}/cuda
	export SIMHIP_GPUS='name=AMD_Instinct_MI300X pci=0000:c1:00.0 memory=192g;name=Radeon_8060S pci=0000:c5:00.0 integrated=1'
	start list rdmark list --json
	finish list
	ended list 0
	json list.out '[.gpus[] | .driver, .index, .integrated] == ["CUDA", 0, false, "HIP", 1, false, "HIP", 2, true] and .gpus[1].dmabuf'
	start list rdmark list
	finish list
	says list.out 'GPU 1  AMD Instinct MI300X, 0000:c1:00.0, 192 GiB, GPUDirect RDMA: yes, by dma-buf' "of the host's memory (an integrated GPU)"
	server write_bw --gpu 0000:c1:00.0
	client write_bw "${few[@]}" --use_rocm=1 --json=c.json
	finish server
	ended client 0
	json c.json '(.ends.server.gpu | startswith("GPU 1 (AMD Instinct")) and (.ends.client.gpu | contains("shares the host'\''s memory"))'
	start cli write_bw --use_rocm=7 "$host"
	finish cli
	ended cli 2
	says cli.err 'no GPU has index 7 of HIP' '1 AMD Instinct MI300X'
	start cli write_bw --use_rocm --use_cuda "$host"
	finish cli
	ended cli 2
}

# bats test_tags=core
@test "its memory in every test, by each release of ROCm" {
	local program kind
	for kind in hip hip-7; do
		amd_driver "$kind"
		for program in "${programs[@]}"; do
			server "$program" --gpu 0
			client "$program" "${few[@]}" --use_rocm --use_rocm_dmabuf --json=c.json
			finish server
			ended client 0
			json c.json '.status == "ok" and (.ends | all(.memory == "gpu" and .gpu_path == "dmabuf"))'
		done
	done
	server write_bw --gpu 0
	client write_bw "${few[@]}" --gpu 0 --verify=20 --json=c.json
	finish server
	ended client 0
	says client.err 'no error'
}

# no_gpu TEXT…: status 77, and TEXT.
no_gpu() {
	start cli send_bw --gpu 0 "$host" -p 1
	finish cli
	ended cli 77
	says cli.err "$@" 'Fix: '
}

@test "no GPU: each way has its own message, where the kernel has AMD's driver" {
	amd_sysfs
	driver none
	no_gpu 'libamdhip64.so.7, .6 or .5' 'no ROCm library' '/opt/rocm/lib'
	amd_driver hip-alien
	no_gpu "is not AMD's library"
	amd_driver
	SIMHIP_GPUS='' no_gpu 'hipErrorNoDevice (100)' '/dev/kfd' 'render'
	SIMHIP_INIT=35 no_gpu 'hipErrorInsufficientDriver' 'amdgpu-dkms'
	HIP_VISIBLE_DEVICES=9 SIMHIP_INIT=100 no_gpu "is '9', which may hide all GPUs"
	rmdir sys/module/amdgpu
	driver none
	no_gpu 'libcuda.so.1'
}

# bats test_tags=core
@test "a route that does not work says why, and another is used" {
	amd_driver hip-old
	server write_bw
	client write_bw "${few[@]}" --gpu 0 --json=c.json
	finish server
	ended client 0
	json c.json '.ends.client.gpu_path == "peermem" and (.ends.client.gpu_chosen | contains("ROCm 5.6"))'
	amd_driver hip-nohsa
	server write_bw
	client write_bw --gpu 0 --gpu-path dmabuf "${few[@]}"
	ended client 77
	says client.err "HSA's library is missing"
	amd_driver
	export SIMVERBS_DEVICES='sim0 nopeermem gid.0=v2/127.0.0.1'
	server write_bw
	SIMHIP_GPUS='dmabuf=0' client write_bw --gpu 0 "${few[@]}"
	ended client 77
	says client.err 'no direct path' 'cannot export dma-bufs'
}

# bats test_tags=core
@test "memory that the driver moved to the host's is no GPU memory" {
	amd_driver
	amd_sysfs
	server write_bw
	client write_bw "${few[@]}" --gpu 0 --json=c.json
	finish server
	ended client 0
	json c.json '.ends.client.gpu_path == "dmabuf"'
	amd_sysfs
	export SIMHIP_GPUS='gtt=1'
	server write_bw
	client write_bw "${few[@]}" --gpu 0 --json=c.json
	finish server
	ended client 0
	json c.json '.ends.client.gpu_path == "peermem" and (.ends.client.gpu_chosen | contains("moved the buffer to host memory"))'
	# an APU's memory is the host's: nothing to move, nothing to find
	amd_sysfs
	SIMHIP_GPUS='gtt=1 integrated=1' server write_bw
	SIMHIP_GPUS='gtt=1 integrated=1' client write_bw "${few[@]}" --gpu 0 --json=c.json
	finish server
	ended client 0
	json c.json '.ends.client.gpu_path == "dmabuf"'
}

@test "without a large BAR most of the memory is out of reach, and the size of the window is said" {
	amd_driver
	amd_sysfs 256
	server write_bw
	client write_bw -n 4 -s 256m --gpu 0
	ended client 1
	says client.err '256 MiB' 'Resizable BAR'
}

@test "gdr_bw: every cell, and copies through the host" {
	amd_driver
	server gdr_bw
	client gdr_bw -n 60 -s 64k --windows 3 --within 100 --expected-gbps 0 --json=c.json
	finish server
	json c.json '[.cells[]?.cell, .results[]?.cell] | map(select(. != null)) | index("gdr") != null and index("staged") != null'
}

@test "gdr_bw: an integrated GPU shares the host's memory, so there is no GPUDirect to judge; NVIDIA's likewise" {
	local cells=(-n 60 -s 64k --windows 3 --expected-gbps 0 --json=c.json)
	amd_driver
	export SIMHIP_GPUS='name=Radeon_8060S integrated=1'
	server gdr_bw
	client gdr_bw "${cells[@]}"
	finish server
	ended client 0
	says client.out "UNAVAILABLE the GPU of both ends shares the host's memory: there is no GPUDirect to judge; " "% of host memory's" \
		"Radeon 8060S, 0000:17:00.0, shares the host's memory"
	json c.json '.verdict.cause == "shared_memory" and .verdict.ratio > 0 and (.gpu_ends | all(.integrated))'
	server gdr_bw
	client gdr_bw "${cells[@]}" --within 5
	finish server
	ended client 77
	driver none
	server gdr_bw
	driver
	SIMCUDA_GPUS='name=GB10 integrated=1 gpudirect=0 dmabuf=0' SIMVERBS_DEVICES='sim0 nopeermem gid.0=v2/127.0.0.1' client gdr_bw "${cells[@]}"
	finish server
	ended client 0
	says client.out "UNAVAILABLE the GPU of the client shares the host's memory"
	json c.json '.verdict.cause == "shared_memory" and .verdict.ratio == 0 and .gpu_ends.client.integrated'
	SIMCUDA_GPUS='integrated=1' start list rdmark list
	finish list
	says list.out "80 GiB of the host's memory (an integrated GPU)"
}
