#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# bats file_tags=standin,long
# shellcheck disable=SC2016,SC2030,SC2031,SC2034,SC2046,SC2086,SC2154 # $ of jq; a counter; what lib/rdmark.bash sets
#
# gdr_bw's verdicts from machines and links made for them, from what is measured to the exit status; all causes and
# levels of facts that are given are in tests/unit/test_verdict*.c. All speeds are set, and low: a send queue lasts half a
# second (at that of the PCIe link 0.3 s), so ratios are what they should be on a busy machine, too.

load ../lib/rdmark
load ../lib/machine
load ../lib/gpu

gpu='pci=0000:45:00.0'

# judge MACHINE WORD…: gdr_bw with the client on MACHINE, its device described by WORDs. More options
# in ${more[@]}.
judge() {
	driver none
	machine pix
	server gdr_bw
	driver
	machine "$1" "${@:2}"
	client gdr_bw --gpu-path peermem --windows 5 ${time--D 0.5} -t 1024 \
		--expected-gbps "${expected-${gbps-1}}" --json=c.json "${more[@]}"
	finish server
	ended server 0
}

# judged MACHINE STATUS CAUSE [WORD…]: the client ends with STATUS and the verdict with CAUSE, in two of three runs: where
# others take the CPUs for whole windows, that is what the verdict is about. If $also is set, that is true then, too.
judged() {
	export SIMVERBS_GBPS=${gbps-1} SIMCUDA_GPUS=${SIMCUDA_GPUS-$gpu}
	tries 2 3 "(.error.exit_status // 0) == $2 and .verdict.cause == \"$3\" and (${also-true})" judge "$1" "${@:4}"
	ended client "$2"
}

@test "PASS: as fast as host memory, with the nearest GPU" {
	more=()
	SIMCUDA_GPUS='pci=0000:c1:00.0 uuid=aa;pci=0000:81:00.0 uuid=ab;pci=0000:45:00.0 uuid=ac' judged many 0 none
	says client.out 'PASS GPUDirect within 5 % of host memory' 'distance to sim0: PIX' 'one PCIe switch'
	json c.json '.verdict.level == "PASS" and .ends.client.gpu_distance == "PIX" and (.ends.client.gpu | startswith("GPU 2 "))'
}

@test "FAIL: the GPU is far away" {
	more=(--gpu 0000:c1:00.0)
	SIMCUDA_GPUS='pci=0000:c1:00.0 uuid=aa;pci=0000:81:00.0 uuid=ab;pci=0000:45:00.0 uuid=ac' \
		judged many 6 distance gpu_read_mbps=250
	says client.out 'FAIL GPU to host' SYS 'Omit --gpu for the GPU that is nearest'
	says client.err 'the verdict is FAIL'
	json c.json '.status == "below_threshold" and .error.exit_status == 6 and .verdict.ratio < 0.4'
}

# Windows of 100 messages: with its copies the server sends about 218 in a turn of all cells, once more before, and so the
# 1400th of the run in the sixth turn. There it stops itself, so the signal comes after five windows of each cell, or six. A GPU
# that is so slow is so in whatever a busy machine makes of them.
@test "too slow for --within: also if a signal ended the run" {
	local end=$((SECONDS + deadline)) is=
	export SIMVERBS_GBPS=1 SIMCUDA_GPUS=$gpu
	driver none
	machine pix
	through=(env SIMVERBS_FAULT=stop:1400)
	server gdr_bw
	through=()
	driver
	machine pix gpu_read_mbps=100
	start_client gdr_bw --gpu-path peermem --windows 100 -n 100 -t 256 --expected-gbps 1 --within 5 --json=c.json
	until [[ $is == *') T '* ]]; do
		((SECONDS < end)) || fail 'the server does not stop'
		is=$(<"/proc/${pid[server]}/stat")
		read -r -t 0.02 <> <(:) || true
	done
	kill -TERM "${pid[server]}"
	kill -CONT "${pid[server]}"
	finish client server
	ended client 6
	json c.json '.status == "below_threshold" and (.verdict | .level == "FAIL" and (.windows == 5 or .windows == 6))'
}

@test "FAIL: the PCIe link is the limit" {
	more=()
	gbps=4 judged gen1 6 pcie_ceiling gpu_read_mbps=1800 gpu_write_mbps=1800
	says client.out 'PCIe' 'gen1 x1' '0000:45:00.0'
	json c.json '.results | map(select(.cell == "read")) | all(.of_ceiling > 0.85 and .of_ceiling < 1.1)'
}

@test "FAIL: the IOMMU translates" {
	more=()
	judged iommu 6 iommu gpu_write_mbps=250
	says client.out 'host to GPU' 'IOMMU DMA-FQ' 'iommu=pt'
}

@test "FAIL: one end has a GPU without a direct way, however fast the other one is" {
	more=()
	export SIMVERBS_GBPS=1 SIMCUDA_GPUS=$gpu
	driver
	machine pix
	server gdr_bw
	SIMCUDA_GPUS="$gpu dmabuf=0 gpudirect=0"
	client gdr_bw --windows 3 -D 0.15 -t 256 --json=c.json
	finish server
	ended client 77
	says client.out 'FAIL no GPUDirect RDMA: client:'
	json c.json '.verdict.cause == "no_route"'
}

@test "WARN: GPU memory is as fast as host memory, and both are slow" {
	more=()
	expected=95 judged pix 0 host_low
	says client.out 'WARN host memory itself is slow' ', expected: 95.0 (--expected-gbps); GPU memory reaches ' 'the GPU is not the cause'
	json c.json '.verdict.level == "WARN" and .verdict.ratio > 0.95'
}

# Windows of 100 messages of 256 KiB; before them GPU memory is read by one and by 100.
fall_after() { # WINDOWS [MBPS]
	echo gpu_read_mbps=1000 gpu_fall_mbps=${2-700} gpu_fall_kb=$((262144 * (101 + 100 * $1) / 1000 + 80))
}

@test "WARN: the GPU falls to 70 % after five windows, and host memory does not: from when" {
	local time=
	more=(--windows 14 -n 100 -s 256k)
	judged pix 0 fell $(fall_after 5)
	says client.out 'WARN GPU to host, client->server: ' '% from window 6 on, and host memory did not' throttling
	json c.json '.verdict.level == "WARN" and .verdict.fell_from_window == 6'
}

# One window at 100 %, and seven at 92 %: two that are alike would tell.
@test "INCONCLUSIVE: too few windows to tell; with --within that is 77" {
	local time=
	more=(--windows 1 -n 100 -s 256k --within 5)
	judged pix 77 noise $(fall_after 1 920)
	says client.out 'INCONCLUSIVE ' 'too noisy to tell whether that is within 5 %' --windows
	says_no client.out PASS
	says client.err 'undecided after 4 windows' 'the verdict is INCONCLUSIVE'
	says_no client.err 'inf %'
	json c.json '.status == "cannot_tell" and .verdict.level == "INCONCLUSIVE" and .verdict.windows == 8'
}

@test "too few windows to tell: more of them, of the cells that it is about, and a verdict" {
	more=(--windows 1 --within 30)
	judged pix 0 none
	says client.err 'more windows of the cells that decide the verdict' 'undecided after 1 window:' 'of host memory (no interval); ' \
		'more windows of 4 cells'
	json c.json '.verdict.level == "PASS" and .verdict.windows > 1 and (.verdict.ratio_low > 0.7) and
		.verdict.ratio_low <= .verdict.ratio and .verdict.ratio <= .verdict.ratio_high and
		(.results | map(select(.cell == "staged")) | length == 2 and all(.windows == 1)) and
		(.results | map(select(.cell == "host")) | all(.windows > 1))'
}

@test "FAIL: the NIC does not get at the memory that it registered" {
	more=()
	export SIMVERBS_GBPS=1 SIMCUDA_GPUS=$gpu
	driver none
	machine pix
	server gdr_bw
	driver
	machine pix gpublocked
	client gdr_bw --gpu-path peermem --windows 3 -D 0.3 --json=c.json
	finish server
	ended client 1
	ended server 3
	says client.out 'FAIL' 'the transfer failed'
	json c.json '.verdict.cause == "transfer" and .status == "failed"'
}
