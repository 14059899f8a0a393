#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# bats file_tags=standin,san
# shellcheck disable=SC2016,SC2030,SC2031,SC2034,SC2154 # $ of jq; what lib/rdmark.bash sets and reads
#
# gdr_bw: its cells, its data, its forms, its statuses, with a stand-in for CUDA's driver. What it
# makes of slow cells is in tests/cli/verdict.bats.

load ../lib/rdmark
load ../lib/gpu

setup_file() { need_device; }

# Few and small, and whatever the speed, a pass.
quick=(-n 20 --windows 3 --within 100)

both_ended() { # CLIENT SERVER
	finish server
	ended client "$1"
	ended server "$2"
}

# bats test_tags=core
@test "GPUs at both ends: every cell in both directions, the data right, a verdict" {
	local direction name route
	read -r route _ < <(routes)
	driver
	server gdr_bw
	client gdr_bw "${quick[@]}" --json=c.json
	both_ended 0 0
	for direction in 'client->server' 'server->client'; do
		cell host "$direction" host
		for name in read write gdr; do
			cell "$name" "$direction" "$route"
			[[ ${cell[3]} == 65536 && ${cell[9]} == ok ]] || fail "${cell[*]}"
			positive "${cell[@]:4:4}"
		done
		cell staged "$direction" copy
		[[ ${cell[3]} == 1048576 && ${cell[9]} == ok ]] || fail "${cell[*]}"
		positive "${cell[@]:4:4}"
	done
	says client.out 'PASS GPUDirect' 'client: GPU 0 (' 'server: GPU 0 ('
	silent server.out
	json c.json '.status == "ok" and .verdict.level == "PASS" and .verdict.ratio > 0 and
		(.results | map(.cell) | unique) == ["gdr", "host", "read", "staged", "write"] and
		(.results | all(.windows == 3 and .verified and .wrong_bytes == 0 and .checked_bytes > 65536 and
			.bandwidth_min_gbps <= .bandwidth_gbps and .bandwidth_gbps <= .bandwidth_max_gbps)) and
		(.results | map(select(.cell == "gdr" or .cell == "staged")) | length == 4 and all(.of_host > 0)) and
		.gpu_ends.client.gpu and .gpu_ends.server.direct and .experiment.windows == 3'
}

# bats test_tags=core
@test "a GPU at one end only: its one-sided cells, and copies at that end" {
	driver none
	server gdr_bw
	driver
	client gdr_bw "${quick[@]}" --json=c.json
	both_ended 0 0
	says client.out 'server: no GPU' 'libcuda.so.1'
	json c.json '(.results | map(.cell + " " + .direction) | unique) ==
		["host client_to_server", "host server_to_client", "read client_to_server",
		 "staged client_to_server", "staged server_to_client", "write server_to_client"] and (.results | all(.verified))'
}

@test "no GPU at all: host memory is measured, and what is missing said; status 77" {
	driver none
	server gdr_bw
	client gdr_bw "${quick[@]}" --json=c.json
	both_ended 77 0
	cell host 'client->server' host
	positive "${cell[@]:4:3}"
	says client.out 'UNAVAILABLE no GPU: both ends: libcuda.so.1: cannot open' ' a healthy pair reaches '
	[[ $(cat client.out client.err | grep -c 'cannot open') == 1 ]] || fail 'said twice'
	sed -n '/ messages of /{n; p}' client.err | grep -qx 'gdr_bw: no GPU: only host memory is measured' || fail 'not at first'
	[[ $(grep -c 'Fix: ' client.err) == 1 ]] || fail 'the fix is said twice'
	says client.err 'the verdict is UNAVAILABLE. Fix: install ' 'Host memory reached '
	json c.json '.status == "unavailable" and (.results | length) == 2 and .verdict.cause == "no_gpu" and
		.error.exit_status == 77'
	"$RDMARK_BIN/rdmark-prom" c.json -o c.prom
	grep -q '^rdmark_up{.*} 0$' c.prom || fail "$(<c.prom)"
}

@test "no GPU at all, and nobody said for how long: nothing is measured, and what is missing said once" {
	driver none
	server gdr_bw
	client gdr_bw --json=c.json
	both_ended 77 0
	[[ $(wc -l <client.out) == 1 ]] || fail "$(<client.out)"
	says client.out 'UNAVAILABLE no GPU: both ends: libcuda.so.1: cannot open'
	says_no client.err 'cannot open'
	says client.err 'Fix: install ' '(-D 2)'
	json c.json '.status == "unavailable" and .results == [] and .verdict.cause == "no_gpu" and .error.exit_status == 77'
	server gdr_bw
	client gdr_bw --json
	both_ended 77 0
	[[ $(grep -c 'cannot open' client.err) == 1 ]] || fail 'not once'
}

# bats test_tags=core
@test "wrong data fail, however fast they came: status 5, the cell and the first wrong byte" {
	local copy; local -x cell
	# Copies in: the data of `read`, the poison of `write`, the data and the poison of `staged`, and what `staged` brings.
	for copy in 1:read 5:staged; do
		cell=${copy#*:}
		driver none
		server gdr_bw
		driver
		SIMCUDA_FLIP=in:${copy%:*} client gdr_bw "${quick[@]}" -n 3 --gpu-path peermem --json=c.json
		finish server
		ended server 0
		ended client 5
		says client.out 'FAIL' WRONG
		json c.json '.status == "failed" and .error.exit_status == 5 and .verdict.cause == "data" and
			(.results | map(select(.wrong_bytes > 0)) | length == 1 and .[0].cell == $ENV.cell and .[0].wrong_bytes == 1)'
	done
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

# signalled WHO SIGNAL TURNS ARG…: to whom, when every cell has had so many windows, or none but the first, a second of it.
signalled() {
	local cells i
	driver none
	server gdr_bw
	proxy
	driver
	start_client gdr_bw --within 100 --gpu-path peermem --json=c.json "${@:4}"
	until_says client.err ' cells, '
	cells=$(sed -n 's/.*: \([0-9]*\) cells, .*/\1/p' client.err)
	# Two rounds of each cell before its windows: the check and the warm-up.
	for ((i = 0; i <= (2 + $3) * cells; i++)); do await 'client round'; done
	(($3)) || await 'client alive'
	kill -"$2" "${pid[$1]}"
	finish client server proxy
	says client.out 'host '
}

@test "interrupted when every cell was measured: there is a verdict, but only a whole run has the status of a PASS" {
	local signal
	for signal in TERM INT; do
		signalled client $signal 2 -D 30 --windows 300
		ended client $((128 + $(kill -l $signal)))
		says client.out 'PASS GPUDirect within 100 % of host memory'
		json c.json '.status == "interrupted" and .verdict.level == "PASS"'
		rm c.json
	done
	signalled server TERM 2 -D 30 --windows 300
	ended client 3
	grep -Eq '^[a-z_]*: interrupted by the server( after [0-9]+ of 300 windows)?$|interrupted by SIGTERM' client.err || fail 'by whom?'
	says client.out 'PASS GPUDirect within 100 % of host memory'
	says client.err 'The part that was measured meets --within, but only a whole run can pass'
	json c.json '.error.exit_status == 3 and .verdict.level == "PASS"'
}

@test "interrupted while it is undecided: after how many windows of the cells that decide" {
	signalled client INT 2 -D 1 --windows 1 --within 5
	ended client 130
	grep -Eq '^gdr_bw: interrupted( after [2-8] windows of the cells that decide the verdict)?$' client.err || fail 'not said'
}

# bats test_tags=core
@test "interrupted before: what was measured is shown, but no verdict is no success" {
	signalled client TERM 0 -D 100 --windows 2
	ended client 143
	says client.out 'UNAVAILABLE no verdict: the run did not finish'
	json c.json '.status == "interrupted" and .error.exit_status == 143 and .verdict.level == "UNAVAILABLE"'
	signalled server TERM 0 -D 100 --windows 2
	ended client 3
	says client.out 'UNAVAILABLE no verdict: the run did not finish'
	# A server that was busy may have found the signal before the end of the warm-up's exchange.
	grep -Eq 'measuring: the server was interrupted|reports: (exchanging the results|waiting for the client.s next round): interrupted by SIGTERM' client.err ||
		fail "$(<client.err)"
	json c.json '.status == "failed" and .error.exit_status == 3 and .verdict.cause == "not_measured"'
}
