#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The top level, and what README says of building and installing, in a copy of the tree. That all is built from
# what git knows is in tests/packages.

shopt -s extglob
# shellcheck source=tests/lib/programs.bash
. "$BATS_TEST_DIRNAME/../lib/programs.bash"

setup_file() {
	local file
	top=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
	copy=$BATS_FILE_TMPDIR/rdmark
	export top copy
	mkdir "$copy"
	# What git knows, as it is now; without git, all but what was built. A repository of someone
	# above us, as of the checkout in which a package is built, knows nothing of us.
	cd "$top" || return
	if [[ -e .git ]]; then
		git ls-files -z | while IFS= read -r -d '' file; do [[ ! -e $file ]] || printf '%s\0' "$file"; done |
			tar --null -T - -cf - | tar -C "$copy" -xf -
	else
		tar --exclude=./build -cf - . | tar -C "$copy" -xf -
	fi
}

# README's line that begins so, as it stands.
shown() { sed -n "s/^    \($1[^#]*\).*/\1/p" "$top/README.md" | head -n 1; }

# The first test: what is built later is in the copy, too.
@test "the top level is the programs and a few names more" {
	[[ -e $top/.git ]] || skip 'what builds a package puts files of its own there'
	local name others='COPYING CONTRIBUTING.md LICENSES Makefile NEWS.md README.md REUSE.toml SECURITY.md common contrib rdmark pairs man packaging tests'
	cd "$copy"
	for name in $others; do [[ -e $name ]]; done
	for name in *; do
		[[ " $others " == *" $name "* || $name == *_@(lat|bw) && -e $name/$name.c ]] || { echo "$name: what is it here?"; return 1; }
	done
}

@test "README: make, and make install into a staging folder" {
	local line name built same_flags='-o build/flags -o FORCE'
	built=$(realpath "${BUILD:-${RDMARK_BIN:-$top/build/bin}/..}")
	[[ -d $built/obj && -e $built/flags ]] || skip 'no objects next to the programs'
	cd "$copy"
	mkdir build
	cp -a "$built"/{obj,gen,bin,man,completions,flags,*.a} build/
	line=$(shown 'make  ')
	[[ ${line%%+([[:blank:]])} == make* ]]
	# What is older than its sources is made again, and not what has other flags only.
	eval "${line:-false} -j2 $same_flags" >make.out 2>&1 || { tail make.out; return 1; }
	line=$(shown 'make install')
	[[ $line == *PREFIX=/usr/local* ]]
	stage=$BATS_TEST_TMPDIR/stage
	eval "$line DESTDIR=$stage $same_flags" >make.out 2>&1 || { tail make.out; return 1; }
	for name in "${all_programs[@]}" rdmark rdmark-plot rdmark-prom rdmark-pairs; do
		[[ $("$stage/usr/local/bin/$name" --version) == *"$(sed -n 's/^VERSION := //p' Makefile)"* ]]
		[[ -s $stage/usr/local/share/man/man1/$name.1 ]]
		[[ -s $stage/usr/local/share/bash-completion/completions/$name ]]
	done
	for name in contrib/examples/*; do
		cmp "$name" "$stage/usr/local/share/doc/rdmark/${name#contrib/}"
		[[ -x $stage/usr/local/share/doc/rdmark/${name#contrib/} ]]
	done
	# Checks are where no image leaves them out; documentation has links to them, which hold wherever DESTDIR is.
	for name in check_rdmark gpu-check health-check rdmark.nhc slurm-check; do
		[[ -f $stage/usr/local/libexec/rdmark/$name && ! -L $stage/usr/local/libexec/rdmark/$name ]]
		[[ $(readlink "$stage/usr/local/share/doc/rdmark/examples/$name") == "../../../../libexec/rdmark/$name" ]]
	done
	# No folder of the build is in what was installed, and it needs none.
	! grep -rqF "$copy" "$stage/usr/local/share" "$stage/usr/local/bin/rdmark-plot" "$stage/usr/local/bin/rdmark-prom"
}
