#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck disable=SC2154 # what packages.bash sets
#
# RPMs from packaging/rdmark.spec.in: built in a clone as README says, looked at by
# rpmlint and by us, installed into a root of their own, run and removed.

bats_require_minimum_version 1.5.0
load packages

setup_file() {
	command -v rpmbuild >/dev/null || skip 'rpmbuild is not here (make deps)'
	# The tests that its %check runs have run: in a copy that is no checkout, too (tests/check's tier user).
	echo '%__spec_check_pre exit 0' >"$BATS_FILE_TMPDIR/.rpmmacros"
	in_clone make rpm CONTACT='Tests <tests@rdmark.test>'
}

setup() { cd "$BATS_TEST_TMPDIR" || return; }

rpm_of() { compgen -G "$made/$1-$version-*.rpm" | grep -v '\.src\.rpm$'; }
query() { rpm -qp --nosignature "$@"; }

# Debian's rpm would keep its database in root's home.
in_root() { rpm --root "$PWD/root" --dbpath /var/lib/rpm --nodeps --noscripts --nosignature "$@"; }

@test "make rpm runs its tests" {
	rpmspec -P "$made/rdmark.spec" >spec
	[[ $(sed -n '/^%check$/,/^$/p' spec) == $'%check\ntests/check --quick unit cli' ]]
	run ! grep -q '^+ tests/check' "$BATS_FILE_TMPDIR/built" # only here they do not
}

@test "rpmlint finds no error" {
	command -v rpmlint >/dev/null || skip 'rpmlint is not here (make deps)'
	run rpmlint -c "$top/packaging/rpmlint.toml" "$made"/*.rpm "$made/rdmark.spec"
	echo "$output"
	[[ $output == *' 0 errors'* ]]
}

@test "there is a file for everything, and everything has its place" {
	local program
	query -l "$(rpm_of rdmark)" >list
	for program in "${all_programs[@]}" rdmark rdmark-pairs; do
		grep -qx "/usr/bin/$program" list
		grep -qx "/usr/share/man/man1/$program.1.gz" list
	done
	grep -qx /usr/libexec/rdmark/health-check list
	grep -qx /usr/share/man/man7/rdmark.7.gz list
	grep -qx /usr/share/man/man7/rdmark-scale.7.gz list
	grep -q '/BSD-2-Clause.txt$' list
	run ! grep -vE '^/usr/(bin/|libexec/rdmark|lib/\.build-id|share/(doc|licenses)/rdmark|share/man/|share/rdmark|share/bash-completion)' list
	run ! grep '/ib_' list
	query -l "$(rpm_of rdmark-server)" >list
	grep -qx /etc/rdmark list
	grep -qx /usr/lib/sysusers.d/rdmark.conf list
	(($(grep -c '/systemd/system/rdmark.' list) == 6))
	query -l "$(rpm_of rdmark-perftest-compat)" >list
	(($(grep -c '^/usr/bin/ib_' list) == ${#measuring_programs[@]}))
	(($(grep -c '^/usr/share/man/man1/ib_' list) == ${#measuring_programs[@]}))
	(($(grep -c '^/usr/share/bash-completion/completions/ib_' list) == ${#measuring_programs[@]}))
	query -l "$(rpm_of rdmark-debuginfo)" >list
	(($(grep -c '^/usr/lib/debug/usr/bin/.*\.debug$' list) == ${#all_programs[@]} + 2)) # and rdmark, rdmark-pairs
	query -l "$made"/rdmark-debug*.rpm | grep -q '/src/debug/.*/send_bw.c$'
}

@test "what is required: the verbs, and nothing of CUDA" {
	query --requires "$(rpm_of rdmark)" >requires
	grep -q '^libibverbs\.so\.1' requires
	grep -q '^openssl-libs' requires # opened at run time: no tool finds it
	run ! grep -iE 'cuda|nvidia|mlx5' requires
	query --recommends "$(rpm_of rdmark)" >recommends
	diff <(sort recommends) - <<<$'gnuplot\njq'
	query --requires "$(rpm_of rdmark-server)" | grep -q "^rdmark = $version-"
	query --conflicts "$(rpm_of rdmark-perftest-compat)" | grep -qx perftest
	[[ $(query --qf '%{LICENSE}' "$(rpm_of rdmark)") == 'GPL-2.0-only OR BSD-2-Clause' ]]
}

@test "built without the toolkit, gdr_bw uses GPUs" {
	rpm2cpio "$(rpm_of rdmark)" | cpio --quiet -id
	uses_gpus "$PWD/usr/bin"
}

@test "installed into a root, run, removed without a trace" {
	[[ $(id -u) == 0 ]] || skip 'installing into a root takes root'
	mkdir root
	in_root -i "$(rpm_of rdmark)" "$(rpm_of rdmark-server)" "$(rpm_of rdmark-perftest-compat)"
	smoke "$PWD/root/usr/bin"
	MANPATH=$PWD/root/usr/share/man mandoc -Tascii "$PWD/root/usr/share/man/man7/rdmark.7.gz" >/dev/null
	units_are_right "$(dirname "$(find root -name rdmark@.service)")" "$PWD/root/usr/bin"
	in_root -V rdmark
	in_root -e rdmark rdmark-server rdmark-perftest-compat
	[[ -z $(find root ! -type d ! -path 'root/var/lib/rpm/*') ]]
	[[ -z $(find root -name '*rdmark*') ]]
}
