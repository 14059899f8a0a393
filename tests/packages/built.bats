#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# How the programs that `make` built are made: hardened as distributions want it, and without anything
# that is looked for in the current directory.

bats_require_minimum_version 1.5.0

setup_file() {
	top=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
	bin=$(cd "${RDMARK_BIN:-$top/build/bin}" && pwd)
	export top bin
}

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	all_programs=("$bin"/*_lat "$bin"/*_bw)
}

# A function of a library with a lookout for too long copies: __memcpy_chk and so on.
symbols() { readelf --wide --dyn-syms "$1"; }

hardened() {
	local headers dynamic
	headers=$(readelf --wide --file-header --program-headers "$1")
	dynamic=$(readelf --wide --dynamic "$1")
	grep -Eq '^ *Type: +DYN' <<<"$headers" || { echo "$1: not position independent"; return 1; }
	grep -Eq '^ *GNU_STACK .* RW +0x' <<<"$headers" || { echo "$1: executable stack"; return 1; }
	grep -Eq '^ *GNU_RELRO ' <<<"$headers" || { echo "$1: no RELRO"; return 1; }
	grep -Eq 'FLAGS_1.* NOW' <<<"$dynamic" || { echo "$1: not all bound at the start"; return 1; }
	grep -Eq '^ *LOAD .* RWE ' <<<"$headers" && { echo "$1: writable code"; return 1; }
	symbols "$1" | grep -q ' __stack_chk_fail@' || { echo "$1: no stack protector"; return 1; }
	symbols "$1" | grep -q '_chk@' || { echo "$1: not fortified"; return 1; }
}

@test "every program is hardened" {
	local program
	((${#all_programs[@]} >= 9))
	for program in "${all_programs[@]}" "$bin/rdmark" "$bin/rdmark-pairs"; do
		hardened "$program"
	done
}

@test "what is not hardened is found" {
	printf 'int main(void) { return 0; }\n' >plain.c
	cc -no-pie -z norelro -o plain plain.c
	run ! hardened ./plain
	[[ $output == *'not position independent'* ]]
	cc -pie -fPIE -z execstack -o plain plain.c
	run ! hardened ./plain
	[[ $output == *'executable stack'* ]]
}

@test "a distribution's flags come last, and sanitizers come alone" {
	local flags
	flags=$(make -C "$top" -n -B BUILD="$PWD/b" CFLAGS='-O2 -g -D_FORTIFY_SOURCE=3 -fno-pie' LDFLAGS=-no-pie all)
	[[ $flags == *-fPIE*-fno-pie* && $flags == *-pie*-no-pie* && $flags != *_FORTIFY_SOURCE=2* ]]
	flags=$(make -C "$top" -n -B BUILD="$PWD/b" SAN=address all)
	[[ $flags == *-fsanitize=address* && $flags != *-fstack-protector* && $flags != *-z,relro* && $flags != *_FORTIFY* ]]
}

# What a program takes without what only debuggers read. The limits are a twentieth above what gcc 12 makes.
@test "programs are small" {
	local program bytes most
	for program in "${all_programs[@]}" "$bin/rdmark"; do
		strip -o stripped "$program"
		bytes=$(stat -c %s stripped)
		case $program in */rdmark) most=870000 ;; */send_bw) most=625000 ;; *) most=750000 ;; esac
		((bytes <= most)) || { echo "$program has $bytes bytes, of $most"; return 1; }
	done
}

@test "a distribution says itself what is made small" {
	local flags
	flags=$(make -C "$top" -n -B BUILD="$PWD/b" all)
	grep -q -- '-Os.* common/session/session.c$' <<<"$flags"
	run ! grep -e '-Os.* common/loop/stream.c$' <<<"$flags"
	for off in SMALL= CFLAGS=-O1; do
		flags=$(make -C "$top" -n -B BUILD="$PWD/b" "$off" all)
		run ! grep -e '-Os' <<<"$flags"
	done
}

@test "no program names a path to a library, and each library by its SONAME" {
	local program dynamic
	for program in "${all_programs[@]}"; do
		dynamic=$(readelf --wide --dynamic "$program")
		[[ $dynamic != *RPATH* && $dynamic != *RUNPATH* ]]
		grep -q 'NEEDED.*libibverbs.so.1' <<<"$dynamic"
		grep -q 'NEEDED.*librdmacm.so.1' <<<"$dynamic"
		run ! grep -E 'NEEDED.*(\[.*/|cuda|nvidia|mlx5)' <<<"$dynamic"
	done
	# What is opened later: a macro, which is the name of a library and no path.
	run ! grep -rnE '= *dlopen\((NULL|"|[a-z])' "$top"/common "$top"/*_bw "$top"/*_lat --include='*.c'
	run -0 grep -rhE '^#define [A-Z0-9]*_LIBRARY ' "$top/common"
	run ! grep -vE ' "lib[a-z0-9-]+\.so\.[0-9.]+"$' <<<"$output"
}

@test "nothing is loaded from the current directory" {
	local program library
	printf '%s\n' '#include <unistd.h>' '#include <fcntl.h>' \
		'__attribute__((constructor)) static void loaded(void) { close(open("loaded", O_CREAT | O_WRONLY, 0600)); }' >evil.c
	for library in libibverbs.so.1 librdmacm.so.1 libcuda.so.1 libmlx5.so.1 libnuma.so.1 libhwloc.so.15 libjansson.so.4; do
		cc -shared -fPIC -o "$library" evil.c
	done
	for program in "${all_programs[@]}"; do
		env -u LD_LIBRARY_PATH -u LD_PRELOAD "$program" --check || (($? == 6 || $? == 77 || $? == 2)) # some have no --check
		env -u LD_LIBRARY_PATH -u LD_PRELOAD "$program" --use_cuda=0 -p 1 --connect-timeout 0 localhost && return 1
	done
	[[ ! -e loaded ]]
	# It would be seen.
	LD_PRELOAD=$PWD/libcuda.so.1 "${all_programs[0]}" --version
	[[ -e loaded ]]
}
