#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck disable=SC2154 # what packages.bash sets
#
# packaging/release, in a repository of its own, where make, lintian and so on are made up.

bats_require_minimum_version 1.5.0
load packages

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	export GIT_AUTHOR_NAME=t GIT_AUTHOR_EMAIL=t@localhost GIT_COMMITTER_NAME=t GIT_COMMITTER_EMAIL=t@localhost
	export CONTACT='A <a@rdmark.test>' HOMEPAGE=https://rdmark.test PATH=$PWD/bin:$PATH
	unset RELEASE MAKEFLAGS
	mkdir bin here here/man
	cp -a "$top"/packaging "$top/Makefile" "$top/NEWS.md" here/
	cp "$top"/man/{rdmark.schema.json.in,rdmark-json.keys,rdmark-json.5.in,rdmark.7.in} here/man/
	sed -i 's/^\.Dd .*/.Dd November 23, 2026/' here/man/*.in
	script make 'echo "make $*" >>../order; mkdir -p build/packages; touch build/packages/a.deb build/packages/a.rpm'
	script lintian 'echo "W: a"'
	script rpmlint 'echo "0 errors"'
	script rpm 'echo URL'
	script dpkg-deb 'mkdir "$3"; echo "Maintainer: $CONTACT" >"$3/control"'
	cd here || return
	echo build >.gitignore
	quietly git init
	save
	git tag "v$version"
}

script() {
	printf '#!/bin/sh\n%s\n' "$2" >"bin/$1"
	chmod +x "bin/$1"
}

save() {
	git add -A
	GIT_COMMITTER_DATE='2026-11-23 12:00:00 +0000' git commit -qm one
}

# not_ok NUMBER TEXT…: --quick finds as many things, these among them.
not_ok() {
	local text
	run packaging/release --quick
	((status == 1 && $(grep -c '^not ok' <<<"$output") == $1))
	for text in "${@:2}"; do [[ $output == *"$text"* ]] || { echo "no $text"; return 1; }; done
}

@test "release: what is ready passes every step; --quick builds nothing and says so" {
	run packaging/release --quick
	[[ $status == 0 && ! -e ../order && $output == *'Left to do:'*'without --quick' ]]
	run packaging/release
	[[ $status == 0 && $output != *'not ok'* && $output != *'Left to do'* ]]
	(($(grep -c '^ok ' <<<"$output") == 12))
	[[ $(<../order) == "make check-all"$'\n'"make dist deb rpm CONTACT=$CONTACT HOMEPAGE=$HOMEPAGE" ]]
}

@test "release: each thing that is not ready is named, with what to do" {
	touch new
	not_ok 1 'not ok the tree is clean' '?? new' 'commit or remove'
	rm new
	CONTACT='A <a@example.com>' not_ok 1 'not ok contact and home' 'is a placeholder'
	HOMEPAGE='' not_ok 1 'not ok contact and home' 'this is a release'
	sed -i 's/^\.Dd .*/.Dd November 20, 2026/' man/rdmark.7.in
	sed -i "s/^## $version/## 0.0.9/" NEWS.md
	sed -i '/^schema_version!/s/\[3\]/[3, 33]/' man/rdmark-json.keys
	save
	not_ok 4 "NEWS.md begins with $version" 'man/rdmark.7.in: .Dd is 2026-11-20, but it was changed on 2026-11-23' \
		'version 33 is not in rdmark-json(5)' "the tag v$version is at" "git tag -s v$version"
	git tag -d "v$version" >tag
	rm tag
	not_ok 4 "there is no tag v$version"
}

@test "release: what lintian, the tests and the packages say counts" {
	cd ..
	script lintian 'echo "E: a"'
	script dpkg-deb 'mkdir "$3"; echo "Maintainer: a@example.com" >"$3/control"'
	cd here
	run packaging/release
	(($(grep -c '^not ok' <<<"$output") == 2))
	[[ $status == 1 && $output == *'not ok lintian'*'E: a'*'not ok no package has a placeholder'*'a@example.com'* ]]
	# One that is not there, or dies, has found nothing.
	printf '#!/bin/sh\nexit 127\n' >../bin/lintian
	printf '#!/bin/sh\necho 0 errors\nkill -SEGV $$\n' >../bin/rpmlint
	run packaging/release
	[[ $status == 1 && $output == *'not ok lintian'*'lintian ended with status 127'*'not ok rpmlint'*'rpmlint ended with status 139'* ]]
	printf '#!/bin/sh\nexit 1\n' >../bin/make
	run packaging/release
	[[ $status == 1 && $output == *'not ok make check-all passes'*'not ok make dist deb rpm'* ]]
}
