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
	grep -q "^Version: *$version\$" "$top/packaging/rdmark.spec.in"
	[[ $(grep -m 1 '^\* ' <(sed '1,/^%changelog/d' "$top/packaging/rdmark.spec.in")) == *" $version-"* ]]
	[[ $(grep -m 1 '^## ' "$top/NEWS.md") == "## $version" ]]
	grep -q "^rdmark ($version-" "$top/packaging/debian/changelog"
}

# fill [NAME=VALUE…]: what make rpm and make deb ask before they do anything, in a checkout of its own.
fill() { run env -u RELEASE CONTACT="$contact" HOMEPAGE="$homepage" "$@" here/packaging/fill "$version"; }

@test "a release carries no placeholder, a snapshot may" {
	local contact homepage
	contact=$(sed -n 's/^CONTACT.*:= //p' "$top/Makefile") homepage=$(sed -n 's/^HOMEPAGE.*:= //p' "$top/Makefile")
	[[ $contact == *@* && $homepage == https://* ]]
	mkdir -p here/packaging
	cp "$top/packaging/fill" here/packaging/
	fill
	((status == 0))
	contact='A <a@example.org>' homepage=https://rdmark.test fill RELEASE=1
	[[ $status == 1 && $output == *'RELEASE=1'*'a@example.org'*CONTACT* ]]
	contact='A <a@rdmark.test>' homepage=https://www.example.net/x fill RELEASE=1
	((status == 1))
	contact='A <a@rdmark.test>' homepage=https://rdmark.test fill RELEASE=1
	((status == 0))
	quietly git -C here init
	quietly git -C here -c user.name=tests -c user.email=tests@localhost commit --allow-empty -m one
	quietly git -C here tag "v$version"
	contact='A <a@example.com>' homepage=https://rdmark.test fill
	[[ $status == 1 && $output == *"the tag v$version"* ]]
	contact='A <a@rdmark.test>' homepage=https://rdmark.test fill
	((status == 0))
	quietly git -C here -c user.name=tests -c user.email=tests@localhost commit --allow-empty -m two
	contact='A <a@example.com>' homepage=https://rdmark.test fill
	((status == 0))
}

@test "make rpm and make deb refuse a release with a placeholder, before they build" {
	local kind
	for kind in rpm deb; do
		run ! make -C "$top" --no-print-directory "$kind" BUILD="$PWD/none" RELEASE=1 CONTACT='A <a@example.com>'
		[[ $output == *'a@example.com'*'Set CONTACT and HOMEPAGE'* ]]
		[[ ! -e none ]]
	done
}

@test "contact and home are put in wherever they belong, whatever they have in them" {
	cp "$top"/packaging/{rdmark.spec.in,debian/control,debian/changelog,debian/copyright} .
	CONTACT="A & B \\| O'C <a@rdmark.test>" HOMEPAGE='https://rdmark.test/a&b' "$top/packaging/fill" "$version" rdmark.spec.in control changelog copyright
	run ! grep -E '@(CONTACT|HOMEPAGE)@|example\.com' rdmark.spec.in control changelog copyright
	(($(grep -cF "A & B \\| O'C <a@rdmark.test>" rdmark.spec.in) == 1))
	grep -qxF "Maintainer: A & B \\| O'C <a@rdmark.test>" control
	grep -qxF 'Homepage: https://rdmark.test/a&b' control
	grep -qx 'URL: *https://rdmark.test/a&b' rdmark.spec.in
}
