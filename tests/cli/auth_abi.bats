#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# What common/trust/munge_abi.h says of libmunge, which --auth opens, is what its own header says, and
# every name that is looked up is declared there. The compiler is asked. (OpenSSL's own headers are used.)

bats_require_minimum_version 1.5.0

load ../lib/abi

setup() {
	top=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
	cc=(cc -std=gnu11 -Wall -Wextra -Werror -iquote . -fsyntax-only)
	cd "$BATS_TEST_TMPDIR" || return
	cp "$top"/common/trust/munge{,_abi}.h .
}

need() {
	printf '#include <%s>\n' "$@" >probe.c
	"${cc[@]}" probe.c 2>/dev/null || skip "there is no $1 to compare with (make deps)"
}

constants() { grep -oE '\bE?MUNGE_[A-Z0-9_]+' munge_abi.h | grep -v MUNGE_H | sort -u; }

# Our types and constants go by another name, xmunge_err_t for munge_err_t; the calls by their own.
munge_agrees() {
	local name
	sed '/^\/\* calls \*\/$/,$d' munge_abi.h | sed -E 's/\b(E?MUNGE_|munge_)(\w+)/x\1\2/g' >types.h
	sed '1,/^\/\* calls \*\/$/d' munge_abi.h >calls.h
	{
		printf '#include <munge.h>\n#include "types.h"\n#include "calls.h"\n'
		for name in $(constants); do printf '_Static_assert((int)%s == (int)x%s, "");\n' "$name" "$name"; done
		for name in munge_ctx_t munge_opt_t munge_err_t; do
			printf '_Static_assert(sizeof(%s) == sizeof(x%s), "");\n' "$name" "$name"
		done
	} >compare.c
	"${cc[@]}" compare.c
}

looked_up() { sed -n "/^#define $1_ENTRIES/,/[^\\\\]\$/p" "$2.h" | grep -oE '\((\w+)\)' | tr -d '()' | grep -vx X | sort; }

@test "libmunge: every constant and call is munge.h's" {
	need munge.h
	munge_agrees
	(($(constants | wc -l) == 16))
	differs munge_abi.h 's/EMUNGE_CRED_EXPIRED = 15/EMUNGE_CRED_EXPIRED = 14/' munge_agrees
	differs munge_abi.h 's/MUNGE_OPT_SOCKET = 8/MUNGE_OPT_SOCKET = 9/' munge_agrees
	differs munge_abi.h 's/const void \*buf, int len/const void *buf, size_t len/' munge_agrees
	differs munge_abi.h 's/void munge_ctx_destroy/int munge_ctx_destroy/' munge_agrees
}

@test "nothing is looked up without being declared" {
	diff <(looked_up MUNGE munge) <(sed '1,/^\/\* calls/d' munge_abi.h | grep -oE '\bmunge_\w+\(' | tr -d '(' | sort)
	(($(looked_up MUNGE munge | wc -l) == 8))
}
