#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# What common/memory/cuda_abi.h says of the driver's library is what the toolkit's cuda.h says: every
# type, constant, prototype and name of a symbol. The compiler is asked, with assertions that are made
# from our own files; what we declare goes by another name then, xCUresult for CUresult.

bats_require_minimum_version 1.5.0

load ../../lib/abi

setup() {
	top=$(cd "$BATS_TEST_DIRNAME/../../.." && pwd)
	cc=(cc -std=gnu11 -Wall -Wextra -Werror -Icommon -fsyntax-only)
	cuda=${CUDA_HOME-/usr/local/cuda}
	[[ ! -e $cuda/include/cuda.h ]] || cc+=(-isystem "$cuda/include")
	cd "$BATS_TEST_TMPDIR" || return
	mkdir -p common/memory
	cp "$top"/common/memory/cuda*.[ch] common/memory/
	# Its two parts, each to be compared by itself: our own types, and the calls.
	sed -n '/^#else/,/^#endif/p' "$top/common/memory/cuda_abi.h" | sed '1d;$d' >common/memory/cuda_abi_types.h
	sed '1,/^#endif/d' "$top/common/memory/cuda_abi.h" >common/memory/cuda_abi_calls.h
}

need_cuda_h() {
	echo '#include <cuda.h>' >probe.c
	if [[ ! $cuda ]] || ! "${cc[@]}" probe.c 2>/dev/null; then
		skip 'there is no cuda.h to compare with (CUDA_HOME, /usr/local/cuda; any toolkit from 11.7 on has it)'
	fi
	printf '#include <cuda.h>\n_Static_assert(CUDA_VERSION >= 11070, "");\n' >probe.c
	"${cc[@]}" probe.c || skip 'the cuda.h here is older than 11.7'
}

names() { grep -oE "$1" "common/memory/${2:-cuda_abi_types.h}" | sort -u; }
# Not the tags of structs and enums: nobody uses those.
types() { sed -nE 's/^(typedef .*[ *]|\} )(CU[A-Za-z_]+);.*/\2/p' common/memory/cuda_abi_types.h; }
calls() { names '\bcu[A-Z][A-Za-z0-9_]*' cuda_abi_calls.h; }

claim() { printf '_Static_assert(%s, "%s");\n' "$1" "$2"; }

# Everything that types.h says, beside cuda.h.
types_agree() {
	local name value
	sed -E 's/\b(CU|cudaError)(\w+)/x\1\2/g' common/memory/cuda_abi_types.h >types.h
	{
		printf '#include <%s>\n' cuda.h stddef.h types.h
		for name in $(types); do
			claim "sizeof($name) == sizeof(x$name)" "size of $name"
			claim "_Alignof($name) == _Alignof(x$name)" "alignment of $name"
			# a number, a pointer, a struct
			claim "__builtin_classify_type(*($name *)0) == __builtin_classify_type(*(x$name *)0)" "kind of $name"
		done
		for name in $(types | grep -vxE 'CU(uuid|context|stream|event)'); do
			claim "(($name)-1 < ($name)1) == ((x$name)-1 < (x$name)1)" "sign of $name"
		done
		for name in $(names '\bCU(DA)?_[A-Z0-9_]+'); do claim "(long)$name == (long)x$name" "$name"; done
		claim 'offsetof(CUuuid, bytes) == offsetof(xCUuuid, bytes)' bytes
		claim 'sizeof(((CUuuid *)0)->bytes) == sizeof(((xCUuuid *)0)->bytes)' bytes
		# What is known by its number alone.
		sed -nE 's/.*\bROW\(([0-9]+), ([A-Z_]+)\).*/CUDA_ERROR_\2 \1/p' common/memory/cuda_why.c >rows
		while read -r name value; do claim "$name == $value" "$name"; done <rows
		value=$(sed -nE 's/^#define EXPORT_PCIE +([0-9]+)u .*/\1/p' common/memory/cuda.c)
		echo '#if CUDA_VERSION >= 12080'
		claim "CU_MEM_RANGE_FLAG_DMA_BUF_MAPPING_TYPE_PCIE == $value" EXPORT_PCIE
		echo '#endif'
	} >types.c
	"${cc[@]}" -I. types.c
}

# Every prototype, and that cuda.h has such a call: by the plain name it means the symbol that we look up.
calls_agree() {
	local name plain
	{
		echo '#define TEXT(x) #x'
		echo '#define EXPANDED(x) TEXT(x)'
		echo '#include <cuda.h>'
		for name in $(calls); do
			plain=${name%_v[0-9]}
			echo "void *declared_$name(void);"
			echo "void *declared_$name(void) { return (void *)$name; }"
			[[ $plain != cuDeviceGetUuid ]] || echo '#if CUDA_VERSION >= 13000'
			claim "__builtin_strcmp(EXPANDED($plain), \"$name\") == 0" "the symbol of $plain"
			[[ $plain != cuDeviceGetUuid ]] || echo '#endif'
		done
		echo '#include "memory/cuda_abi_calls.h"'
	} >calls.c
	"${cc[@]}" calls.c
}

@test "every type and constant is cuda.h's" {
	need_cuda_h
	types_agree
	(($(types | wc -l) == 13 && $(names '\bCU(DA)?_[A-Z0-9_]+' | wc -l) > 30 && $(wc -l <rows) > 20))
	# The fields of a struct are compared by hand above.
	(($(grep -c '^typedef struct .* {$' common/memory/cuda_abi_types.h) == 1))
}

@test "every prototype is cuda.h's, and every symbol the one that it takes" {
	need_cuda_h
	calls_agree
	(($(calls | wc -l) == 32))
	# And there is nothing that is looked up without being declared there.
	diff <(calls) <(grep -oE '\bcu[A-Z][A-Za-z0-9_]*\)' common/memory/cuda.h | tr -d ')' | sort -u)
}

@test "what is different is found" {
	need_cuda_h
	types_agree
	calls_agree
	differs common/memory/cuda_abi_types.h 's/^typedef unsigned long long CUdeviceptr/typedef unsigned CUdeviceptr/' types_agree
	differs common/memory/cuda_abi_types.h 's/^typedef unsigned long long CUdeviceptr/typedef long long CUdeviceptr/' types_agree
	differs common/memory/cuda_abi_types.h 's/^typedef int CUdevice/typedef unsigned CUdevice/' types_agree
	differs common/memory/cuda_abi_types.h 's/^typedef struct CUctx_st \*CUcontext/typedef unsigned long CUcontext/' types_agree
	differs common/memory/cuda_abi_types.h 's/bytes\[16\]/bytes[12]/' types_agree
	differs common/memory/cuda_abi_types.h 's/bytes\[16\]/bytes[16], more/' types_agree
	differs common/memory/cuda_abi_types.h 's/DMA_BUF_SUPPORTED = 124/DMA_BUF_SUPPORTED = 125/' types_agree
	differs common/memory/cuda_abi_types.h 's/CUDA_SUCCESS = 0/CUDA_SUCCESS = 0, CUDA_ERROR_MADE_UP = -1/' types_agree
	differs common/memory/cuda_why.c 's/ROW\(802/ROW(805/' types_agree
	differs common/memory/cuda_abi_calls.h 's/cuMemFree_v2\(CUdeviceptr/cuMemFree_v2(CUdevice/' calls_agree
	differs common/memory/cuda_abi_calls.h 's/cuCtxSynchronize\(void/cuCtxSynchronize(int flags/' calls_agree
	differs common/memory/cuda_abi_calls.h 's/cuMemAlloc_v2/cuMemAlloc/' calls_agree
	differs common/memory/cuda_abi_calls.h 's/cuEventQuery/cuEventQuery_v2/' calls_agree
}

@test "a cuda.h that is too old, or that declares a call otherwise, is left alone" {
	mkdir -p toolkit/include
	chosen() { make -C "$top" -n -B BUILD="$PWD/b" CUDA_HOME="$1" build/libcommon.a all | grep -c -- -DWITH_CUDA_H || :; }
	(($(chosen '') == 0))
	{
		echo '#include <stddef.h>'
		cat common/memory/cuda_abi_{types,calls}.h
	} >toolkit/include/cuda.h
	(($(chosen "$PWD/toolkit") > 10))
	sed -i 's/cuCtxSynchronize(void)/cuCtxSynchronize(CUcontext context)/' toolkit/include/cuda.h
	(($(chosen "$PWD/toolkit") == 0))
}
