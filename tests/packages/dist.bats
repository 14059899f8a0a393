#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck disable=SC2154 # what packages.bash sets
#
# The same sources give the same bytes: the tarball, wherever and whenever it is made, and the
# programs and pages, in whatever folder they are built.

bats_require_minimum_version 1.5.0
load packages

setup() { cd "$BATS_TEST_TMPDIR" || return; }

@test "the tarball is the same from git and from the tarball, and names nobody" {
	quietly "$top/packaging/make-dist" "$version" "$PWD/one"
	mkdir -p other/folder
	tar -x -C other/folder -f "one/rdmark-$version.tar.gz"
	[[ $(ls other/folder) == "rdmark-$version" ]]
	extra=TZ=Asia/Tokyo quietly "other/folder/rdmark-$version/packaging/make-dist" "$version" "$PWD/two"
	cmp "one/rdmark-$version.tar.gz" "two/rdmark-$version.tar.gz"
	tar --numeric-owner -tvf "one/rdmark-$version.tar.gz" >list
	run ! grep -v ' 0/0 ' list
	run ! grep -vE '^(drwxr-xr-x|-rw-r--r--|-rwxr-xr-x) ' list
	[[ $(awk '{ print $4, $5 }' list | sort -u | wc -l) == 1 ]]
	LC_ALL=C sort -c <(awk '{ print $6 }' list)
}

@test "SOURCE_DATE_EPOCH is the time of the tarball" {
	extra=SOURCE_DATE_EPOCH=86400 quietly "$top/packaging/make-dist" "$version" "$PWD/one"
	[[ $(TZ=UTC tar -tvf "one/rdmark-$version.tar.gz" | awk '{ print $4 }' | sort -u) == 1970-01-02 ]]
}

@test "two builds in two folders are the same" {
	local folder
	quietly "$top/packaging/make-dist" "$version" "$PWD"
	for folder in one another/one/deeper; do
		mkdir -p "$folder"
		tar -x -C "$folder" --strip-components=1 -f "rdmark-$version.tar.gz"
	done
	quietly make -C one -j2
	(umask 077; extra=TZ=Asia/Tokyo quietly make -C another/one/deeper -j1)
	(($(find one/build/bin one/build/man -type f | wc -l) >= 11))
	diff -r one/build/bin another/one/deeper/build/bin
	diff -r one/build/man another/one/deeper/build/man
	run ! grep -rlF "$PWD" one/build/bin
}

@test "the version is the same wherever it stands" {
	grep -q "^Version: *$version\$" "$top/packaging/rdmark.spec"
	grep -q "^rdmark ($version-" "$top/packaging/debian/changelog"
}
