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

@test "the version stands in the Makefile, and at the head of NEWS" {
	[[ $(grep -m 1 '^## ' "$top/NEWS.md") == "## $version" ]]
	run ! grep -rnF "$version" "$top/packaging" --exclude=README.md
}

# fill [NAME=VALUE…]: what make rpm and make deb ask before they do anything, in a checkout of its own.
fill() { run env -u RELEASE -u DEBFULLNAME -u DEBEMAIL HOME="$PWD" GIT_CONFIG_NOSYSTEM=1 CONTACT="${contact-}" HOMEPAGE="${homepage-}" "$@" here/packaging/fill "$version"; }

# warns TEXT: the package is made, and it is said that nobody else should have it.
warns() { [[ $status == 0 && $output == *"fill: warning: "*"$1"*'for private use'*"Set CONTACT='Name <address>'"* ]]; }

@test "who builds a package answers for it; a release needs a contact and a home that are no placeholders" {
	local contact homepage
	mkdir -p here/packaging
	cp "$top/packaging/fill" here/packaging/
	fill
	warns 'no CONTACT'
	fill DEBFULLNAME=A DEBEMAIL=a@rdmark.test
	[[ $status == 0 && ! $output ]]
	quietly git -C here init
	quietly git -C here -c user.name=tests -c user.email=tests@localhost commit --allow-empty -m one
	fill
	warns 'no user of git'
	git -C here config user.name B
	git -C here config user.email b@rdmark.test
	fill
	[[ $status == 0 && ! $output ]]
	fill RELEASE=1
	[[ $status == 1 && $output == *'this is a release (RELEASE=1), and CONTACT is not set'* ]]
	contact='A <a@example.org>' fill
	warns "'A <a@example.org>' is a placeholder"
	contact='A <a@rdmark.test>' homepage=https://www.example.net/x fill
	warns "'https://www.example.net/x' is a placeholder"
	contact='A <a@rdmark.test>' homepage=https://www.example.net/x fill RELEASE=1
	[[ $status == 1 && $output == *"'https://www.example.net/x' is a placeholder"* ]]
	contact='A <a@rdmark.test>' fill RELEASE=1
	[[ $status == 1 && $output == *'HOMEPAGE is not set'* ]]
	contact='A <a@rdmark.test>' homepage=https://rdmark.test fill RELEASE=1
	[[ $status == 0 && ! $output ]]
	quietly git -C here tag "v$version"
	fill
	[[ $status == 1 && $output == *"the tag v$version"* ]]
	contact='A <a@rdmark.test>' homepage=https://rdmark.test fill
	((status == 0))
}

@test "make rpm and make deb refuse a release with a placeholder, before they build" {
	local kind
	for kind in rpm deb; do
		run ! make -C "$top" --no-print-directory "$kind" BUILD="$PWD/none" RELEASE=1 CONTACT='A <a@example.com>' HOMEPAGE=https://rdmark.test
		[[ $output == *'a@example.com'*'Set CONTACT='* ]]
		[[ ! -e none ]]
	done
}

# filled [NAME=VALUE…]: the files of a package, here.
filled() {
	cp "$top"/packaging/{rdmark.spec.in,debian/control,debian/changelog,debian/copyright} .
	env SOURCE_DATE_EPOCH=86400 "$@" "$top/packaging/fill" "$version" rdmark.spec.in control changelog copyright
	run ! grep -E '@[A-Z_]+@|example\.com' rdmark.spec.in control changelog copyright
	((status == 1))
}

@test "version, date, contact and home are put in wherever they belong, whatever they have in them" {
	filled CONTACT="A & B \\| O'C <a@rdmark.test>" HOMEPAGE='https://rdmark.test/a&b'
	grep -qx "Version: *$version" rdmark.spec.in
	grep -qxF "* Fri Jan 02 1970 A & B \\| O'C <a@rdmark.test> - $version-1" rdmark.spec.in
	grep -qxF "Maintainer: A & B \\| O'C <a@rdmark.test>" control
	grep -qxF 'Homepage: https://rdmark.test/a&b' control
	grep -qx 'URL: *https://rdmark.test/a&b' rdmark.spec.in
	grep -qxF "rdmark ($version-1) unstable; urgency=medium" changelog
	grep -qxF " -- A & B \\| O'C <a@rdmark.test>  Fri, 02 Jan 1970 00:00:00 +0000" changelog
}

@test "without a home no line names one" {
	filled CONTACT='A <a@rdmark.test>' HOMEPAGE=
	run ! grep -E '^(URL|Homepage|Vcs-|Source: *$)' rdmark.spec.in control copyright
	grep -qx 'Source: rdmark' control
}
