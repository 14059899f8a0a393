# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=bash
# What the tests of packages share: where things are, and an environment as on somebody else's machine.

top=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
version=$(sed -n 's/^VERSION := //p' "$top/Makefile")
# shellcheck source=tests/lib/programs.bash
. "$top/tests/lib/programs.bash"
# shellcheck source=tests/lib/units.bash
. "$top/tests/lib/units.bash"
export top version

# quietly COMMAND…: nothing of what we were told reaches it; what it says is shown if it fails, and is in
# $said.
quietly() {
	local output
	output=$(env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME="$BATS_FILE_TMPDIR" \
		${extra:+"$extra"} "$@" </dev/null 2>&1 3>&-) ||
		{ tail -n 60 <<<"$output"; return 1; }
	cat <<<"$output" >"${said:-/dev/null}"
}

# in_clone COMMAND…: in a checkout of the last commit in which nothing was built, so that what is
# packed lies within somebody's repository, as README has it. What was said is in $BATS_FILE_TMPDIR/built.
in_clone() {
	clone=$BATS_FILE_TMPDIR/clone made=$clone/build/packages
	export clone made
	mkdir "$clone"
	quietly "$top/packaging/make-dist" "$version" "$BATS_FILE_TMPDIR" || return
	tar -x -C "$clone" --strip-components=1 -f "$BATS_FILE_TMPDIR/rdmark-$version.tar.gz" || return
	quietly git -C "$clone" init || return
	quietly git -C "$clone" add . || return
	quietly git -C "$clone" -c user.name=tests -c user.email=tests@localhost commit -m clone || return
	cd "$clone" && said=$BATS_FILE_TMPDIR/built quietly "$@"
}

# smoke FOLDER: every program in there runs, and so does each of perftest's names.
smoke() {
	local program name
	"$1/rdmark" --version | grep -qx "rdmark $version"
	"$1/rdmark" send_lat --version | grep -qx "send_lat (rdmark) $version"
	for program in "${all_programs[@]}"; do
		for name in "$program" "ib_$program"; do
			[[ $name == "$program" || " ${measuring_programs[*]} " == *" $program "* ]] || continue
			"$1/$name" --version | grep -q "^$program (rdmark) $version\$\|^Version: " || { echo "$name --version"; return 1; }
			"$1/$name" --check >/dev/null 2>&1 || (($? == 6 || $? == 77)) || [[ $program == @(reg|connect)_lat ]] ||
				{ echo "$name --check"; return 1; }
		done
	done
}

# uses_gpus BIN: gdr_bw in there, built without the toolkit, finds GPUs and says what it lacks without,
# on the stand-ins for NVIDIA's driver and the verbs.
uses_gpus() {
	local build=${BUILD:-$top/build}
	[[ -e $build/tests/libsimverbs.so && -e $build/tests/cuda/libcuda.so.1 ]] || skip 'the stand-ins are not built (make sim)'
	grep -q -- ' -c -o build/obj/common/memory/cuda.o ' "$BATS_FILE_TMPDIR/built"
	run ! grep -e -DWITH_CUDA_H "$BATS_FILE_TMPDIR/built"
	said=said quietly env RDMARK_BIN="$1" RDMARK_PRELOAD="$build/tests/libsimverbs.so" RDMARK_CUDA="$build/tests" \
		bats -f '^(GPUs at both ends|a GPU at one end only|no GPU at all): ' "$top/tests/cli/gdr.bats"
	(($(grep -c '^ok ' said) == 3))
	run ! grep skip said
}

