#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Every file of the tarball says its licences, or REUSE.toml says them for it.

bats_require_minimum_version 1.5.0

setup() {
	top=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
	[[ ! ${RPM_BUILD_ROOT-} && ! -e $top/debian ]] || skip 'what builds a package puts files of its own there'
	cd "$BATS_TEST_TMPDIR" || return
	tarball=$("$top/packaging/make-dist" 0 .)
	tar -x -f "$tarball"
	cd rdmark-0 || return
}

# unsaid: the files whose head has no licences, and which the last table of REUSE.toml does not have.
unsaid() {
	local patterns
	patterns=$(sed -n '/^path = \[/,/\]/p' REUSE.toml | grep -o '"[^"]*"' | tr -d '"' |
		sed 's/[.]/\\./g; s/[*][*]/.*/g; s/^/^\\.\//; s/$/$/')
	[[ $patterns ]]
	find . -type f ! -path './LICENSES/*' -exec awk '
		FNR == 1 { said = 0; files[FILENAME] }
		FNR > 5 || said { nextfile }
		/SPDX-License-Identifier[:] GPL-2\.0-only OR BSD-2-Clause/ { delete files[FILENAME]; said = 1 }
		END { for (file in files) print file }' {} + | grep -vE "$patterns"
}

@test "licences: every file has a head that says them, or is in REUSE.toml" {
	run ! unsaid
	[[ -z $output ]] || { echo "$output"; return 1; }
}

@test "licences: a file without is found" {
	echo 'int a;' >common/base/a.h
	echo 'text' >packaging/systemd/a.md
	[[ $(unsaid) == ./common/base/a.h ]]
}

@test "licences: reuse lint passes, and finds a file without" {
	local version
	version=$(reuse --version 2>/dev/null | sed -n 's/^reuse.* \([0-9]*\)\..*/\1/p')
	((${version:-0} >= 4)) || skip 'there is no reuse that knows REUSE.toml, 4 or newer (make deps)'
	reuse lint
	echo 'int a;' >common/base/a.h
	run reuse lint
	((status == 1)) && [[ $output == *common/base/a.h* ]]
}
