#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# bats file_tags=standin,san
# shellcheck disable=SC2016,SC2030,SC2031,SC2034,SC2154 # $ of jq; what lib/rdmark.bash sets and reads
#
# More of gdr_bw: ways to the GPU that are not there or not wanted, forms of output, many QPs.

load ../lib/rdmark
load ../lib/gpu
load ../lib/machine

quick=(-n 20 --windows 3 --within 100)

both_ended() { # CLIENT SERVER
	finish server
	ended client "$1"
	ended server "$2"
}

@test "no direct way to the GPU: host and staged cells, and why; status 77" {
	driver
	export SIMCUDA_GPUS='name=Tesla_P4 dmabuf=0 gpudirect=0'
	unset SIMCUDA_TOUCHABLE
	server gdr_bw
	client gdr_bw "${quick[@]}" --json=c.json
	both_ended 77 0
	says client.out 'FAIL no GPUDirect RDMA: both ends: neither dma-buf nor peermem: ' 'next: use a data-centre' 'Copies through host memory reached '
	cell staged 'client->server' copy
	json c.json '.status == "unavailable" and (.results | map(.cell) | unique) == ["host", "staged"]
		and (.results | map(select(.cell == "staged")) | length == 2 and all(.message_bytes == 1048576 and .of_host > 0))
		and .gpu_ends.client.direct == false and .verdict.cause == "no_route"'
	server gdr_bw
	client gdr_bw "${quick[@]}" --gpu-path peermem
	waits_on
	ended client 77
	says client.err '--gpu-path peermem'
}

@test "--gpu with several: cells and a verdict for each; the worst one is the run's" {
	driver
	export SIMCUDA_GPUS='name=A pci=0000:17:00.0 uuid=aa00;name=B pci=0000:31:00.0 uuid=ab00 dmabuf=0 gpudirect=0;name=C pci=0000:32:00.0 uuid=ac00'
	server gdr_bw
	client gdr_bw "${quick[@]}" --gpu 0,1,GPU-ac --json=c.json
	both_ended 77 0
	[[ $(awk '/^ gpu/, 0 { print $1, $2, $NF }' client.out) == $'gpu verdict cause\n0 PASS none\n1 FAIL no_route\nGPU-ac PASS none' ]] || fail "$(<client.out)"
	says client.err 'at --gpu 1: ' 'the verdict is FAIL'
	json c.json '[.verdicts[] | [.varied.gpu, .level, .exit_status]] == [["0", "PASS", 0], ["1", "FAIL", 77], ["GPU-ac", "PASS", 0]]
		and .verdict.level == "FAIL" and .error.exit_status == 77 and .gpu_ends.client.direct == false
		and ([.results[] | select(.cell == "gdr").varied.gpu] == ["0", "0", "GPU-ac", "GPU-ac"])'
	server gdr_bw
	client gdr_bw "${quick[@]}" --gpu 0,GPU-ac --json=c.json
	both_ended 0 0
	json c.json '[.verdicts[].level] == ["PASS", "PASS"] and .verdict.varied.gpu == "0"'
	# Of failures, wrong data are the worst.
	server gdr_bw
	SIMCUDA_FLIP=in:1 client gdr_bw "${quick[@]}" --gpu 0,1,GPU-ac --json=c.json
	both_ended 5 0
	json c.json '[.verdicts[].exit_status] == [5, 77, 0] and .verdict.cause == "data" and .error.code == "data"'
	says client.err 'at --gpu 0: '
	[[ $(grep -c 'the client shows the results' server.err) == 1 ]] || fail "$(<server.err)"
	start cli gdr_bw --gpu 0,1 -s 64,128 "$host"
	finish cli
	ended cli 2
	says cli.err 'several values of -s/--size cannot be used without --plain'
}

@test "the ends by different routes" {
	driver
	server gdr_bw --gpu-path peermem
	client gdr_bw "${quick[@]}" --json=c.json
	both_ended 0 0
	cell read 'client->server' dmabuf
	cell gdr 'server->client' peermem/dmabuf
	json c.json '.ends.client.gpu_path == "dmabuf" and .ends.server.gpu_path == "peermem" and .ends.client.memory == "host"'
}

@test "a document on stdout instead of the table" {
	driver
	server gdr_bw
	client gdr_bw "${quick[@]}" --json
	both_ended 0 0
	json client.out '.verdict.level == "PASS"'
}

# bats test_tags=core
@test "several QPs" {
	driver
	server gdr_bw
	client gdr_bw "${quick[@]}" -q 3 -s 100 -t 16 --json=c.json
	both_ended 0 0
	json c.json '.results | all(.verified and .message_bytes == if .cell == "staged" then 1048576 else 100 end)'
}

@test "what is for one row is refused with all cells, and the other way round" {
	local option
	for option in --out_json --out_json_file=f --output=bandwidth --interval=1 --warmup=5 --csv --all --report-counters=all; do
		start cli gdr_bw "$option" "$host"
		finish cli
		ended cli 2
		says cli.err "${option%%=*}" --plain
	done
	driver
	server gdr_bw
	client gdr_bw --plain --gpu 0 -n 20 --out_json_file=p.json
	both_ended 0 0
	json p.json '.results.MsgSize == 65536'
	start cli gdr_bw --gpu-path staged "$host"
	finish cli
	ended cli 2
}

# hit SIDE VARIABLE=VALUE: gdr_bw, with that in SIDE's environment, and a --timeout that is longer than it
# may take. $after is what becomes of the server,
# which ends unless that is waits_on.
hit() {
	driver
	if [[ $1 == server ]]; then export "${2?}"; fi
	server gdr_bw --timeout 60
	unset "${2%%=*}"
	if [[ $1 == client ]]; then export "${2?}"; fi
	client gdr_bw "${quick[@]}" -s 4k --timeout 60
	unset "${2%%=*}"
	${after:-finish server}
}

@test "wrong data are wrong, also if two signals ended the run where nothing completed" {
	driver none
	server gdr_bw --timeout 60
	proxy
	driver
	# The first copy in is the data of `read`, whose warm-up then hangs.
	through=(env SIMVERBS_FAULT=delay:150:3600000)
	SIMCUDA_FLIP=in:1 start_client gdr_bw --timeout 60 -n 100 --gpu-path peermem --json=c.json
	through=()
	await 'client round' 'client round' 'client round' 'client round' 'client alive'
	kill -TERM "${pid[client]}"
	await 'client alive' 'client alive'
	kill -TERM "${pid[client]}"
	finish client server proxy
	within client 45 # --timeout is longer
	ended client 143
	says client.out 'FAIL wrong data: '
	says client.err 'the verdict is FAIL'
	json c.json '.error.exit_status == 5 and .verdict.cause == "data"'
}

# bats test_tags=core
@test "a call of CUDA's driver fails, at either end: named, the peer hears of it, nothing hangs" {
	local side other call after ends
	for side in client server; do
		other=client
		[[ $side == server ]] || other=server
		for call in cuMemAlloc:1:2 cuStreamCreate:1:2 cuMemHostRegister:1:712 cuMemcpyDtoHAsync:2:700 \
			cuMemcpyHtoDAsync:2:700 cuEventQuery:3:719 cuMemcpyHtoD:1:700 cuMemcpyDtoH:1:700; do
			after='' ends=3
			if [[ $side-$call == client-@(cuMemAlloc|cuStreamCreate|cuMemHostRegister|cuMemcpyDtoH):* ]]; then
				after=waits_on ends=143 # nothing was measured, and it is the client's
			fi
			hit "$side" "SIMCUDA_FAIL=$call"
			[[ ${status[$side]} == 1 && ${status[$other]} == "$ends" ]] || fail "$side $call"
			says "$side.err" CUDA_ERROR_
			grep -Eq ' (reports|says): .*CUDA_ERROR_' "$other.err" || fail "$other did not hear of it"
			within "$side" 45
		done
	done
}

@test "a completion of the server fails: the client's verdict says how" {
	driver
	through=(env SIMVERBS_FAULT=wc:30:10:81)
	server gdr_bw --timeout 3 --json=s.json
	through=()
	client gdr_bw "${quick[@]}" --timeout 3 --json=c.json
	both_ended 3 1
	says client.out 'GPU to host, server->client: the transfer failed: remote access error, vendor error 0x51'
	json s.json '.error.completion_status == "remote access error" and .error.vendor_error == 81 and (.error.from_peer | not)'
	json c.json '.error.completion_status == "remote access error" and .error.vendor_error == 81 and .error.from_peer'
}

# bats test_tags=core
@test "a process, a port, a device dies in a run of gdr_bw: the other end says so, nothing hangs" {
	local side other n
	for side in client server; do
		other=client
		[[ $side == server ]] || other=server
		for n in 5 25; do
			hit "$side" "SIMVERBS_FAULT=kill:$n"
			[[ ${status[$side]} == 137 && ${status[$other]} == 3 ]] || fail "$side kill:$n"
			hit "$side" "SIMVERBS_FAULT=port_down:$n"
			[[ ${status[$side]} == 1 && ${status[$other]} == 3 ]] || fail "$side port_down:$n"
			says_no client.out PASS
			hit "$side" "SIMVERBS_FAULT=wc:$n:10"
			[[ ${status[$side]} == 1 ]] || fail "$side wc:$n"
			within client 45
		done
	done
}
