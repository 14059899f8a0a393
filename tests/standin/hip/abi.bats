#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# What common/memory/hip_abi.h says of AMD's libraries is what their headers say: with their types for
# HIP_RESULT and the others, a function that they declare otherwise does not compile. The headers are those
# of Debian's packages libamdhip64-dev and libhsa-runtime-dev, installed or only fetched and unpacked.

bats_require_minimum_version 1.5.0

setup_file() {
	top=$(cd "$BATS_TEST_DIRNAME/../../.." && pwd)
	headers=$BATS_FILE_TMPDIR
	if [[ -e /usr/include/hip/hip_runtime_api.h && -e /usr/include/hsa/hsa.h ]]; then
		headers=/
	elif (cd "$headers" && timeout 60 apt-get -qq download libamdhip64-dev libhsa-runtime-dev) >/dev/null 2>&1; then
		for package in "$headers"/*.deb; do dpkg-deb -x "$package" "$headers"; done
	fi
	export top headers
}

setup() {
	[[ -e $headers/usr/include/hip/hip_runtime_api.h ]] || skip "AMD's headers can neither be found nor fetched"
	cd "$BATS_TEST_TMPDIR" || return
}

types='#define HIP_RESULT hipError_t
#define HIP_STREAM hipStream_t
#define HIP_EVENT hipEvent_t
#define HIP_ATTRIBUTE hipDeviceAttribute_t
#define HIP_POINTER hipDeviceptr_t
#define HIP_UUID hipUUID
#define HSA_RESULT hsa_status_t
#define HSA_INFO hsa_system_info_t'

# compiles FILE: that declarations, beside theirs
compiles() {
	printf '%s\n' '#include <hip/hip_runtime_api.h>' '#include <hsa/hsa.h>' "$types" "#include \"$1\"" "${@:2}" >both.c
	cc -std=gnu11 -D__HIP_PLATFORM_AMD__=1 -D__HIP_PLATFORM_HCC__=1 -isystem "$headers/usr/include" -Wall -Wextra -Werror -Wno-enum-compare -fsyntax-only both.c
}

@test "functions and constants are declared as AMD's headers declare them" {
	compiles "$top/common/memory/hip_abi.h" \
		'_Static_assert(HIP_ATTRIBUTE_INTEGRATED == hipDeviceAttributeIntegrated, "");' \
		'_Static_assert(HIP_ATTRIBUTE_LARGE_BAR == hipDeviceAttributeIsLargeBar, "");' \
		'_Static_assert(HIP_STREAM_NON_BLOCKING == hipStreamNonBlocking, "");' \
		'_Static_assert(HIP_EVENT_NO_TIMING == hipEventDisableTiming, "");' \
		'_Static_assert(HIP_OUT_OF_MEMORY == hipErrorOutOfMemory, "");' \
		'_Static_assert(HIP_OLD_DRIVER == hipErrorInsufficientDriver, "");' \
		'_Static_assert(HIP_NO_DEVICE == hipErrorNoDevice, "");' \
		'_Static_assert(HIP_NOT_READY == hipErrorNotReady, "");' \
		'_Static_assert(HIP_NOT_SUPPORTED == hipErrorNotSupported, "");' \
		'_Static_assert(sizeof(hipError_t) == sizeof(int) && sizeof(hipStream_t) == sizeof(void *), "");' \
		'_Static_assert(sizeof(hipDeviceAttribute_t) == sizeof(int) && sizeof(hipUUID) == 16, "");' \
		'_Static_assert(sizeof(hsa_status_t) == sizeof(int) && sizeof(hsa_system_info_t) == sizeof(int), "");'
}

@test "a function with other parameters is found" {
	sed 's/hipMalloc(void \*\*addr, size_t bytes)/hipMalloc(void **addr, int bytes)/' "$top/common/memory/hip_abi.h" >other.h
	run ! compiles "$PWD/other.h"
	[[ $output == *hipMalloc* ]]
}

@test "names of errors have AMD's numbers" {
	sed -nE 's/^\t\t\{([0-9]+), "(hip[A-Za-z]+)"\},$/_Static_assert(\1 == \2, "\2");/p' "$top/common/memory/hip_why.c" >rows
	(($(wc -l <rows) > 6))
	compiles "$top/common/memory/hip_abi.h" "$(<rows)"
}
