#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# What README says of building and installing, in a copy of the tree.

shopt -s extglob

setup_file() {
	local file
	top=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
	copy=$BATS_FILE_TMPDIR/rdmark
	export top copy
	mkdir "$copy"
	# What git knows, as it is now; without git, all but what was built.
	cd "$top" || return
	if git rev-parse --git-dir >/dev/null 2>&1; then
		git ls-files -z | while IFS= read -r -d '' file; do [[ ! -e $file ]] || printf '%s\0' "$file"; done |
			tar --null -T - -cf - | tar -C "$copy" -xf -
	else
		tar --exclude=./build -cf - . | tar -C "$copy" -xf -
	fi
}

# README's line that begins so, as it stands.
shown() { sed -n "s/^    \($1[^#]*\).*/\1/p" "$top/README.md" | head -n 1; }

@test "README: make, and make install into a staging folder" {
	local line name
	cd "$copy"
	line=$(shown 'make  ')
	[[ ${line%%+([[:blank:]])} == make* ]]
	eval "${line:-false} -j2" >make.out 2>&1 || { tail make.out; return 1; }
	line=$(shown 'make install')
	[[ $line == *DESTDIR=* ]]
	stage=$BATS_TEST_TMPDIR/stage
	eval "${line//\/tmp\/stage/$stage}" >make.out 2>&1 || { tail make.out; return 1; }
	for name in send_lat send_bw write_lat write_bw gdr_bw rdmark-plot; do
		[[ $("$stage/usr/bin/$name" --version) == *"$(sed -n 's/^VERSION := //p' Makefile)"* ]]
		[[ -s $stage/usr/share/man/man1/$name.1 ]]
	done
	for name in examples/*; do
		cmp "$name" "$stage/usr/share/doc/rdmark/$name"
		[[ -x $stage/usr/share/doc/rdmark/$name ]]
	done
	# No folder of the build is in what was installed, and it needs none.
	! grep -rqF "$copy" "$stage/usr/share" "$stage/usr/bin/rdmark-plot"
}
