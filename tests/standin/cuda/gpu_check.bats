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
	LD_LIBRARY_PATH=$BUILD/tests/${DRIVER-cuda} timeout 120 "$BUILD/tests/gpu_check" "$@"
}

@test "all of it" {
	export SIMCUDA_REPORT=$BATS_TEST_TMPDIR/report
	SIMCUDA_H2D_GBPS=8 SIMCUDA_D2H_GBPS=8 run -0 check
	echo "$output"
	[ "$(grep -c '^ok - ' <<<"$output")" = 19 ]
	[[ $output == *"all checks passed" ]]
	grep -q '^memory 9/9 .* contexts 1/1 ' "$SIMCUDA_REPORT"
}
@test "a driver without export, a GPU that needs flushing" {
	DRIVER=cuda-11.2 run -0 check
	[[ $output == *"all checks passed" ]]
	SIMCUDA_GPUS=ordering=0 run -0 check
	[[ $output == *"flush (needed)"* ]]
}
@test "a wrong bit is found, wherever it gets in" {
	local flip
	for flip in in:1 out:5; do
		SIMCUDA_FLIP=$flip run -5 check
		echo "$flip: $output"
		[[ $output == *"not ok - "*FAILED ]]
	done
}
@test "no GPU" {
	DRIVER=nowhere run -77 check
	SIMCUDA_GPUS=' ' run -77 check
	run -2 check --gpu 3
}
@test "a copy that fails" {
	SIMCUDA_FAIL=cuMemcpyDtoH:3:700 run -1 check
	[[ $output == *"CUDA_ERROR_ILLEGAL_ADDRESS (700)"* ]]
}
