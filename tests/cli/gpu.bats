#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# bats file_tags=standin,san
# shellcheck disable=SC2016,SC2030,SC2031,SC2034,SC2154 # $ of jq; what lib/rdmark.bash sets and reads
#
# GPU memory in the tests that have one kind of round, with a stand-in for CUDA's driver.

load ../lib/rdmark
load ../lib/gpu

setup_file() { need_device; }

few=(-n 40 -s 256)

# bats test_tags=core
@test "GPU memory at either end or both, in every test; the document says where and by which way" {
	local program best
	read -r best _ < <(routes)
	driver
	for program in "${programs[@]}"; do
		server "$program" --gpu 0
		client "$program" "${few[@]}" --use_cuda=0 --json=c.json
		finish server
		ended client 0
		ended server 0
		json c.json '.status == "ok" and (.ends | all(.memory == "gpu" and (.gpu | startswith("GPU 0 (")) and
			.gpu_path == $path)) and .results[0].messages == 40' --arg path "$best"
		server "$program"
		client "$program" "${few[@]}" --use_cuda_bus_id=17:00.0 --json=c.json
		finish server
		ended client 0
		json c.json '.ends.client.memory == "gpu" and .ends.server.memory == "host"'
		server "$program" --gpu GPU-51
		client "$program" "${few[@]}" -v --json=c.json
		finish server
		ended client 0
		json c.json '.ends.client.memory == "host" and .ends.server.memory == "gpu"'
		says client.err 'server GPU 0 (' "memory by ${best/dmabuf/dma-buf}"
	done
}

@test "a sweep with GPU memory, and one with many QPs" {
	driver
	server write_bw --gpu 0
	client write_bw --gpu 0 -a -n 5 -t 5
	ended client 0
	rows client.out
	((${#rows[@]} == 23)) || fail "${#rows[@]} rows"
	server send_bw --gpu 0
	client send_bw --gpu 0 -q 8 "${few[@]}" -I 64
	ended client 0
	row client.out
	[[ ${row[1]} == 320 ]] || fail "${row[*]}"
}

@test "nothing of the GPU is left over" {
	local line
	driver
	export SIMCUDA_REPORT=$PWD/report
	server write_bw --gpu 0
	client write_bw --gpu 0 "${few[@]}"
	finish server
	ended client 0
	(($(wc -l <report) == 2)) || fail "$(<report)"
	while IFS= read -r line; do
		awk '{ for (i = 1; i <= NF; i++) if (split($i, n, "[=/]") == 3 && n[2] != n[3]) exit 1 }' <<<"$line" || fail "$line"
	done <report
}

# bats test_tags=core
@test "--verify copies GPU memory out, and compares it" {
	local program
	driver
	for program in "${programs[@]}"; do
		server "$program" --gpu 0
		client "$program" --gpu 0 "${few[@]}" --verify=2000 --json=c.json
		finish server
		ended client 0
		ended server 0
		json c.json '.results[-1].verification | .messages > 0 and .errors == 0'
	done
	server send_bw --gpu 0
	client send_bw -b --threads 2 -q 2 "${few[@]}" --verify=2000 --json=c.json
	ended client 0
	json c.json '.results[0] | select(.direction == "both").verification | .messages > 0 and .errors == 0'
}
