#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck disable=SC2154 # what packages.bash sets
#
# Debian packages from packaging/debian: built in a clone as README says, looked at by lintian and by us,
# installed into a root of their own with a dpkg database of its own, run and removed. Their own tests
# have run elsewhere, in a copy that is no checkout, too (tests/check's tier user).

bats_require_minimum_version 1.5.0
load packages

setup_file() {
	command -v dh >/dev/null || skip 'debhelper is not here (make deps)'
	extra='DEB_BUILD_OPTIONS=nocheck parallel=2' in_clone make deb CONTACT='Tests <tests@rdmark.test>' HOMEPAGE=https://rdmark.test/rdmark
}

setup() { cd "$BATS_TEST_TMPDIR" || return; }

deb_of() { compgen -G "$made/$1_$version-*.deb"; }

in_root() {
	dpkg --root="$PWD/root" --force-not-root --force-depends --force-script-chrootless --log=/dev/null "$@"
}

@test "make deb runs its tests, unless it is told not to" {
	cd "$made/deb/rdmark-$version"
	unset MAKEFLAGS MAKELEVEL MFLAGS # of the make that runs the tests
	run make -n -f debian/rules override_dh_auto_test
	[[ $output == 'tests/check --quick unit cli' ]]
	DEB_BUILD_OPTIONS=nocheck run make -n -f debian/rules override_dh_auto_test
	[[ $output != *tests/check* ]]
}

@test "the source says where it is cloned from, and by what name to watch for a release" {
	local field place tag
	cd "$made/deb/rdmark-$version/debian"
	for field in Homepage Vcs-Browser Vcs-Git; do
		grep -qx "$field: https://rdmark.test/rdmark" control
	done
	read -r place tag < <(sed -n 's/^  //p' watch)
	[[ $place == https://rdmark.test/rdmark ]]
	[[ $(perl -e 'print "$1" if $ARGV[0] =~ /^$ARGV[1]$/' "refs/tags/v$version" "$tag") == "$version" ]]
}

@test "README: what apt installs is the package" {
	local line
	line=$(sed -n 's/^    apt install \.//p' "$top/README.md")
	[[ $line && $(compgen -G "$clone$line") == "$(deb_of rdmark)" ]]
}

@test "lintian finds no error" {
	command -v lintian >/dev/null || skip 'lintian is not here (make deps)'
	run lintian --allow-root --no-cfg "$made"/*.changes
	echo "$output"
	[[ $output != *E:* ]]
}

@test "there is a file for everything, and everything has its place" {
	local program
	dpkg-deb --fsys-tarfile "$(deb_of rdmark)" | tar -t | grep -v '/$' >list
	for program in "${all_programs[@]}" rdmark rdmark-pairs; do
		grep -qx "./usr/bin/$program" list
		grep -qx "./usr/share/man/man1/$program.1.gz" list
	done
	run ! grep -vE '^\./usr/(bin/|libexec/rdmark/|share/(doc/rdmark/|man/|rdmark|bash-completion/completions/))' list
	grep -qx './usr/libexec/rdmark/health-check' list
	run ! grep -E 'ib_|systemd' list
	(($(stat -c %s "$(deb_of rdmark)") <= 3000000))
	dpkg-deb --fsys-tarfile "$(deb_of rdmark-server)" | tar -t >list
	(($(grep -c '/systemd/system/rdmark.' list) == 6))
	grep -qx './etc/rdmark/' list
	grep -qx './usr/lib/sysusers.d/rdmark.conf' list
	dpkg-deb --fsys-tarfile "$(deb_of rdmark-perftest-compat)" | tar -t >list
	(($(grep -c '/bin/ib_.' list) == ${#measuring_programs[@]}))
	(($(grep -c '/completions/ib_.' list) == ${#measuring_programs[@]}))
	(($(grep -c '/man/man1/ib_.*\.1\.gz$' list) == ${#measuring_programs[@]}))
}

@test "what is required: the verbs, and nothing of CUDA" {
	dpkg-deb -f "$(deb_of rdmark)" Depends Recommends >requires
	grep -q 'libibverbs1' requires
	grep -qE '^Depends: .*libssl[0-9.t]+[0-9]* \(>= ' requires # opened at run time: debian/rules asks for it
	grep -q '^Recommends: gnuplot-nox | gnuplot, .*jq' requires
	run ! grep -iE 'cuda|nvidia' requires
	diff <(dpkg-deb -f "$(deb_of rdmark-perftest-compat)" Conflicts Provides Replaces | sort) - \
		<<<$'Conflicts: perftest\nProvides: perftest\nReplaces: perftest'
}

@test "rdmark-server needs no systemd, and makes its user when that is there" {
	local server none=$PWD/none
	server=$(deb_of rdmark-server)
	[[ $(dpkg-deb -f "$server" Recommends) == systemd ]]
	run ! grep systemd <(dpkg-deb -f "$server" Depends Pre-Depends)
	dpkg-deb -e "$server" control
	mkdir none bin
	grep -qx 'interest-noawait /usr/bin/systemd-sysusers' control/triggers
	printf '#!/bin/sh\necho "made by $*"\n' >bin/systemd-sysusers
	chmod +x bin/systemd-sysusers
	for why in configure triggered; do
		[[ -z $(PATH=$none DPKG_ROOT='' /bin/sh control/postinst $why 2>&1) ]]
		[[ $(PATH=$PWD/bin DPKG_ROOT='' /bin/sh control/postinst $why) == 'made by rdmark.conf' ]]
	done
	# Nothing else is run.
	[[ $(cd control && echo *) == 'control md5sums postinst triggers' ]]
}

@test "built without the toolkit, gdr_bw uses GPUs" {
	dpkg-deb -x "$(deb_of rdmark)" .
	uses_gpus "$PWD/usr/bin"
}

@test "perftest's names have help and pages: those of rdmark's programs" {
	command -v mman >/dev/null || skip 'mandoc is not here (make deps)'
	local program
	dpkg-deb -x "$(deb_of rdmark)" .
	dpkg-deb -x "$(deb_of rdmark-perftest-compat)" .
	for program in "${measuring_programs[@]}"; do
		[[ $(usr/bin/"ib_$program" --help) == "ib_$program: "* ]]
		MANPATH=usr/share/man mman -c "$program" >page
		MANPATH=usr/share/man mman -c "ib_$program" | diff page -
		grep -q "$program" page
	done
}

@test "installed into a root, run, removed without a trace" {
	mkdir -p root/var/lib/dpkg/{info,updates,triggers}
	touch root/var/lib/dpkg/status
	in_root -i "$(deb_of rdmark)" "$(deb_of rdmark-server)" "$(deb_of rdmark-perftest-compat)"
	smoke "$PWD/root/usr/bin"
	units_are_right "$(dirname "$(find root -name rdmark@.service)")" "$PWD/root/usr/bin"
	in_root --purge rdmark-perftest-compat rdmark-server rdmark
	# The user stays, as Debian has it: files may still be its own.
	[[ -z $(find root ! -type d ! -path 'root/var/lib/dpkg/*' ! -path 'root/etc/*passwd*' ! -path 'root/etc/*group*' \
		! -path 'root/etc/*shadow*' ! -path root/etc/.pwd.lock) ]]
	[[ -z $(find root -name '*rdmark*') ]]
}
