#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# gpu_check (make gpu-check), which is for real GPUs, on the stand-in: it runs to its end, and finds
# what is wrong.

bats_require_minimum_version 1.5.0

setup() {
	BUILD=$(realpath "${BUILD:-$BATS_TEST_DIRNAME/../../../build}")
	export RDMARK_SYSFS=$BATS_TEST_TMPDIR
}

check() {
	LD_LIBRARY_PATH=$BUILD/tests/${DRIVER-cuda} timeout 120 "$BUILD/tests/gpu_check" --bytes 1048576 --rounds 1 "$@"
}

@test "all of it" {
	export SIMCUDA_REPORT=$BATS_TEST_TMPDIR/report
	SIMCUDA_H2D_GBPS=8 SIMCUDA_D2H_GBPS=8 run -0 check
	echo "$output"
	[ "$(grep -c '^ok - ' <<<"$output")" = 19 ]
	[ "$(grep -cE '^ +[0-9.]+ [KM]iB( +[0-9.]+ [0-9.]+| +-){5}$' <<<"$output")" = 5 ]
	[[ $output == *"default: chunks of "*" in "*" slots, "*$'\n'"all checks passed" ]]
	grep -q '^memory 11/11 streams 4/4 events 64/64 contexts 1/1 host 1/1 ' "$SIMCUDA_REPORT"
}
@test "two slots overlap what one does not" {
	local try
	# One slot never reaches more than half of the rate, in no run. Two do in the best of five: a busy machine makes them
	# slower, never faster.
	for try in 1 2 3 4 5; do
		SIMCUDA_H2D_GBPS=2 SIMCUDA_D2H_GBPS=2 run -0 check
		echo "$try: $output"
		awk '$1 == 64 && $2 == "KiB" { exit !($3 < 1.1) }' <<<"$output"
		awk '$1 == 64 && $2 == "KiB" { exit !($7 > 1.2 * $3) }' <<<"$output" && return
	done
	return 1
}
@test "a driver without export, a GPU that needs flushing" {
	DRIVER=cuda-11.2 run -0 check
	[[ $output == *"all checks passed" ]]
	SIMCUDA_GPUS=ordering=0 run -0 check
	[[ $output == *"flush (needed)"* ]]
}
@test "a wrong bit is found, wherever it gets in" {
	local flip report=$BATS_TEST_TMPDIR/report in out
	SIMCUDA_REPORT=$report check
	read -r in out < <(sed 's/.* in \([0-9]*\) out \([0-9]*\)$/\1 \2/' "$report")
	# the last are the last pass's last chunk, and what it is compared from
	for flip in in:1 out:25 in:$in out:$out; do
		SIMCUDA_FLIP=$flip run -5 check
		echo "$flip: $output"
		[[ $output == *"not ok - "*FAILED ]]
	done
}
@test "no GPU" {
	DRIVER=nowhere run -77 check
	SIMCUDA_GPUS=' ' run -77 check
	run -2 check --gpu 3
	run -2 check --rounds 0
}
@test "a copy that fails" {
	SIMCUDA_FAIL=cuMemcpyDtoHAsync:40:700 run -1 check
	[[ $output == *"a copy of the pipeline: CUDA_ERROR_ILLEGAL_ADDRESS (700)"* ]]
}
