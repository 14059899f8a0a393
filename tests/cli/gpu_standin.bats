#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# bats file_tags=standin,san
# shellcheck disable=SC2016,SC2030,SC2031,SC2034,SC2154 # $ of jq; what lib/rdmark.bash sets and reads
#
# Naming a GPU, not having one, not getting at it: what is the same whatever the NIC is.

load ../lib/rdmark
load ../lib/gpu

few=(-n 40 -s 256)

@test "perftest's ways of naming a GPU; a host is no index" {
	driver
	server write_bw
	client write_bw --use_cuda 0 "${few[@]}" --json=c.json
	ended client 0
	json c.json '.ends.client.memory == "gpu"'
	server write_bw
	client write_bw --use_cuda "${few[@]}" --json=c.json
	ended client 0
	json c.json '.ends.client.gpu | startswith("GPU 0")'
	start cli write_bw --gpu 0 --use_cuda=0
	finish cli
	ended cli 2
	start cli write_bw --use_cuda_dmabuf
	finish cli
	ended cli 2
	says cli.err 'needs a GPU' '--gpu'
	start cli send_bw --gpu 0 --gpu-path staged
	finish cli
	ended cli 2
	says cli.err 'give one of auto|dmabuf|peermem|data_direct'
	start cli gdr_bw --use_cuda_dmabuf "$host"
	finish cli
	ended cli 2
	says cli.err 'needs a GPU'
	start cli send_bw --gpu 0 --gpu-path peermem --use_cuda_dmabuf
	finish cli
	ended cli 2
}

@test "--gpu with several: a row for each, over new QPs; a server has one" {
	driver
	export SIMCUDA_GPUS='pci=0000:17:00.0 uuid=aa00;pci=0000:31:00.0 uuid=ab00'
	server write_bw
	client write_bw --gpu 0000:17:00.0,GPU-ab -s 256,512 -n 40 --json=c.json --csv=c.csv
	finish server
	ended client 0
	json c.json '[.results[] | .varied.gpu] == ["0000:17:00.0", "0000:17:00.0", "GPU-ab", "GPU-ab"]
		and [.results[].message_bytes] == [256, 512, 256, 512] and (.ends.client.gpu | startswith("GPU 1")) and (.points | length) == 4'
	[[ $(cut -c1-16 client.out) == $' gpu            \n'*$'\n 0000:17:00.0   \n'*$'\n GPU-ab         ' ]] || fail "columns: $(<client.out)"
	grep -q ',gpu=GPU-ab size=512$' c.csv || fail "$(<c.csv)"
	SIMVERBS_DEVICES='sim0 gid.0=v2/127.0.0.1' start cli reg_lat --gpu 0,1 -s 4k -n 10 --json=r.json
	finish cli
	ended cli 0
	json r.json '([.results[].varied.gpu] | unique) == ["0", "1"]'
	start cli write_bw --gpu 0,7 -p 1 "$host"
	finish cli
	ended cli 2
	says cli.err 'no GPU has index 7. Fix: name one of these' '--gpu 0'
	start cli write_bw --gpu 0,1
	finish cli
	ended cli 2
	says cli.err 'a server uses one GPU. Fix: give several GPUs to the client'
	start cli write_bw --gpu 0, "$host"
	finish cli
	ended cli 2
	start cli write_bw --gpu 0,1 --format=perftest "$host"
	finish cli
	ended cli 2
}

# bats test_tags=core
@test "Data Direct where it is asked for, in every test; else it says what it needs" {
	local program
	driver
	server send_bw
	client send_bw --use_cuda=0 --use_cuda_dmabuf --use_data_direct "${few[@]}"
	ended client 77
	says client.err '--gpu-path data_direct' 'rdma-core 54 or newer' 'Fix: '
	waits_on
	[[ ${RDMARK_PRELOAD-} ]] || skip 'there is no stand-in for libmlx5 on another device'
	RDMARK_PRELOAD+=" ${RDMARK_CUDA:-$root/build/tests}/mlx5/libmlx5.so.1"
	export SIMMLX5_PATH=/sys/devices/x SIMCUDA_GPUS=c2c=1 SIMCUDA_REPORT=$PWD/report
	for program in "${programs[@]}"; do
		server "$program" --gpu 0 --gpu-path data_direct
		client "$program" --use_cuda=0 --use_cuda_dmabuf --use_data_direct --use_cuda_pcie_mapping "${few[@]}" --verify=20 --json=c.json
		finish server
		ended client 0
		json c.json '(.ends | all(.gpu_path == "data_direct")) and .results[-1].verification.errors == 0'
	done
	grep -q 'flushes [1-9]' report || fail "no flush: $(<report)"
}

# no_gpu TEXT…: whatever end names a GPU ends with 77 and says TEXT, without the other one.
no_gpu() {
	start cli send_bw --gpu 0 "${few[@]}" -p 1 --connect-timeout 60 "$host"
	finish cli
	ended cli 77
	says cli.err "$@" 'Fix: '
	start cli send_bw --gpu 0
	finish cli
	ended cli 77
	says cli.err "$@"
}

@test "no GPU: each way has its own message, and status 77" {
	driver none
	no_gpu 'libcuda.so.1: cannot open' 'driver'
	driver cuda-stub
	no_gpu 'stub'
	driver cuda-10.2
	no_gpu '10.2' 'too old'
	driver
	export SIMCUDA_INIT=100
	no_gpu 'no GPU'
	unset SIMCUDA_INIT
	export SIMCUDA_INIT=802
	no_gpu 'fabric'
	unset SIMCUDA_INIT
	export SIMCUDA_GPUS=' '
	no_gpu 'no GPU'
}

# bats test_tags=core
@test "never another GPU than the one that is named" {
	local wish
	driver
	export SIMCUDA_GPUS='pci=0000:17:00.0 uuid=aa00;pci=0000:31:00.0 uuid=ab00'
	for wish in 2 0000:18:00.0 GPU-77 GPU-a nonsense; do
		start cli write_bw --gpu "$wish"
		finish cli
		ended cli 2
		says cli.err 'GPU' 'Fix: ' 0000:17:00.0 0000:31:00.0
	done
	server write_bw
	client write_bw --gpu 31:00.0 "${few[@]}" --json=c.json
	ended client 0
	json c.json '.ends.client.gpu | startswith("GPU 1") and contains("0000:31:00.0")'
}

@test "a GPU without GPUDirect, or a way that is asked for and not there: 77, why, and the fix" {
	driver
	export SIMCUDA_GPUS='name=GeForce gpudirect=0 dmabuf=0'
	unset SIMCUDA_TOUCHABLE
	server send_bw
	client send_bw --gpu 0 "${few[@]}"
	ended client 77
	says client.err GPUDirect 'Fix: '
	waits_on
	export SIMCUDA_GPUS='dmabuf=0'
	server send_bw
	client send_bw --gpu 0 --gpu-path dmabuf "${few[@]}"
	ended client 77
	says client.err dma-buf 'Fix: '
	waits_on
}

# bats test_tags=core
@test "a copy that fails, memory that runs out: the call and its result" {
	driver
	export SIMCUDA_FAIL=cuDeviceGetCount:1+:999
	start cli write_bw --gpu 0 "${few[@]}" -p 1 --connect-timeout 60 "$host"
	finish cli
	ended cli 1
	says cli.err cuDeviceGetCount CUDA_ERROR_UNKNOWN
	export SIMCUDA_FAIL=cuMemAlloc:1+:2
	server write_bw
	client write_bw --gpu 0 "${few[@]}"
	waits_on
	ended client 1
	says client.err cuMemAlloc CUDA_ERROR_OUT_OF_MEMORY
}
