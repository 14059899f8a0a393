#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck disable=SC2016,SC2030,SC2031,SC2034,SC2154 # $ of jq; what lib/rdmark.bash sets and reads
#
# gdr_bw: its cells, its data, its forms, its statuses, with a stand-in for CUDA's driver. What it
# makes of slow cells is in tests/sim/verdict.bats.

load ../lib/rdmark
load ../lib/gpu

setup_file() { need_device; }

# Few and small, and whatever the speed, a pass.
quick=(-n 20 --windows 3 --staged-chunk 64k --within 100)

both_ended() { # CLIENT SERVER
	finish server
	ended client "$1"
	ended server "$2"
}

@test "GPUs at both ends: every cell in both directions, the data right, a verdict" {
	local direction route
	driver
	server gdr_bw
	client gdr_bw "${quick[@]}" --json=c.json
	both_ended 0 0
	for direction in 'client->server' 'server->client'; do
		cell host "$direction" host
		for route in $(routes); do
			for name in read write gdr; do
				cell "$name" "$direction" "$route"
				[[ ${cell[3]} == 65536 && ${cell[9]} == ok ]] || fail "${cell[*]}"
				positive "${cell[@]:4:4}"
			done
		done
		cell staged-sync "$direction" copy
		cell staged-pipe "$direction" copy
		[[ ${cell[9]} == ok ]] || fail "${cell[*]}"
	done
	says client.out 'PASS GPUDirect' 'client: GPU 0 (' 'server: GPU 0 (' 'flush of NIC writes' 'side by side'
	silent server.out
	json c.json '.status == "ok" and .verdict.level == "PASS" and .verdict.ratio > 0 and
		(.results | map(.cell) | unique) == ["gdr", "host", "read", "staged-pipe", "staged-sync", "write"] and
		(.results | all(.windows == 3 and .verified and .wrong_bytes == 0 and .checked_bytes > 65536 and
			.bandwidth_min_gbps <= .bandwidth_gbps and .bandwidth_gbps <= .bandwidth_max_gbps)) and
		(.results | map(select(.cell == "gdr")) | all(.of_host > 0)) and
		.gpu_ends.client.gpu and .gpu_ends.server.copy_in_gbps > 0 and .experiment.windows == 3'
}

@test "a GPU at one end only: its one-sided cells" {
	driver none
	server gdr_bw
	driver
	client gdr_bw "${quick[@]}" --json=c.json
	both_ended 0 0
	says client.out 'server: no GPU' 'libcuda.so.1'
	json c.json '(.results | map(.cell + " " + .direction) | unique) ==
		["host client_to_server", "host server_to_client", "read client_to_server",
		 "staged-pipe client_to_server", "staged-pipe server_to_client", "staged-sync client_to_server",
		 "staged-sync server_to_client", "write server_to_client"] and (.results | all(.verified))'
}

@test "no GPU at all: host memory is measured, and what is missing said; status 77" {
	driver none
	server gdr_bw
	client gdr_bw "${quick[@]}" --json=c.json
	both_ended 77 0
	cell host 'client->server' host
	positive "${cell[@]:4:3}"
	says client.out UNAVAILABLE 'no GPU' 'libcuda.so.1: cannot open'
	json c.json '.status == "unavailable" and (.results | length) == 2 and .verdict.cause == "no_gpu" and
		.error.exit_status == 77'
}

@test "wrong data fail, however fast they came: status 5, the cell and the first wrong byte" {
	# Copies so slow that two of them are enough for a figure; the third is the data of `read`.
	driver none
	server gdr_bw
	driver
	SIMCUDA_H2D_GBPS=0.01 SIMCUDA_FLIP=in:3 client gdr_bw "${quick[@]}" -n 3 --gpu-path peermem --json=c.json
	finish server
	ended server 0
	ended client 5
	says client.out 'FAIL' WRONG
	json c.json '.status == "failed" and .error.exit_status == 5 and .verdict.cause == "data" and
		(.results | map(select(.wrong_bytes > 0)) | length == 1 and .[0].cell == "read" and .[0].wrong_bytes == 1)'
}

@test "perftest's options on the client: one row, as write_bw prints it" {
	driver
	server gdr_bw --use_cuda=0
	client gdr_bw --use_cuda=0 -n 100 --report_gbits --json=c.json
	both_ended 0 0
	row client.out 5
	[[ ${row[0]} == 65536 && ${row[1]} == 100 ]] || fail "${row[*]}"
	says client.out 'BW average[Gb/sec]'
	json c.json '.experiment.plain and (.results | length) == 1 and .ends.server.memory == "gpu"'
	driver none
	server gdr_bw
	client gdr_bw --plain -n 100
	both_ended 0 0
	row client.out 5
}

@test "interrupted: what was measured is shown, status 0; at the server, too" {
	local who
	for who in client server; do
		driver none
		server gdr_bw
		proxy
		driver
		start_client gdr_bw -D 30 --windows 300 --staged-chunk 64k --gpu-path peermem --json=c.json
		until_says client.err 'cells'
		for _ in {1..40}; do await 'client round'; done # into the windows
		kill -INT "${pid[$who]}"
		finish client server proxy
		ended client 0
		says client.out 'host '
		json c.json '.status == "interrupted"'
		rm c.json
	done
}
