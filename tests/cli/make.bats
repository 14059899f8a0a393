#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# bats file_tags=long
# shellcheck disable=SC2016 # $ of another shell
#
# Who installs packages and who does not, on a machine whose package manager is made up; and what
# make and tests/check say of themselves.

bats_require_minimum_version 1.5.0

setup() {
	top=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
	cd "$BATS_TEST_TMPDIR" || return
	export PATH=$PWD/bin:$PATH
	unset MAKEFLAGS MFLAGS MAKELEVEL BUILD
	mkdir bin
	# Everything is installed but what is in lacking; who installs is remembered. Only make asks.
	script dpkg-query 'for package; do :; done; grep -qx "$package" lacking || echo installed'
	script dpkg 'echo amd64'
	script apt-get 'echo "$*" >>installs; [ ! -e offline ]'
	script id 'echo 0'
	: >lacking
	mkdir packaging
	cp "$top/packaging/deps" packaging/
	cp "$top/Makefile" .
}

# script NAME LINE: a command that does that, in this folder.
script() {
	printf '#!/bin/sh\ncd %q && %s\n' "$PWD" "$2" >"bin/$1"
	chmod +x "bin/$1"
}

# A tree of which make check can only say what it would do next.
no_tests() {
	mkdir -p tests
	printf '#!/bin/sh\necho tests ran\n' >tests/check
	chmod +x tests/check
	sed -i 's/^all: .*/all:\n\t@echo built/; s/^\(unit\|sim\|san\):.*/\1:/' Makefile
	sed -i '/^sim:$/,/^$/{/^\t/d}; /^san:$/,/^$/{/^\t/d}' Makefile
}

@test "make check and make check-all install nothing, and go on where tests are only skipped for it" {
	no_tests
	printf 'debootstrap\nqemu-user\n' >lacking
	for target in check check-all; do
		run make $target
		[[ $status == 0 && $output == *'skipped: qemu-user debootstrap'*'built'*'tests ran' ]]
		[[ ! -e installs ]]
	done
}

@test "make check stops before it builds where tests would fail for it" {
	no_tests
	printf 'zsh\nbats\nqemu-user\n' >lacking
	run make check
	[[ $status == 2 && $output == *"not installed here: bats zsh. 'make deps' installs them"*'skipped: qemu-user'*'tests/check TIER'* ]]
	[[ $output != *built* && ! -e installs ]]
}

@test "nothing but make deps and make demo installs packages" {
	[[ $(grep '^[a-z-]*:.* deps\b' Makefile) == 'demo: deps' ]]
	run ! grep -P 'packaging/deps(?! -n)' <(sed '/^deps:/,/^$/d; /^#/d' Makefile)
}

@test "make deps installs what is missing, and once only" {
	printf 'zsh\nqemu-user\n' >lacking
	script apt-get 'echo "$*" >>installs; case "$*" in *install*) : >lacking ;; esac'
	make deps 2>said
	grep -q 'installing zsh' said
	[[ $(grep -c ' install .* zsh *$' installs) == 1 && $(grep -c update installs) == 1 ]]
	rm installs
	make deps
	[[ ! -e installs ]]
}

@test "make deps: what only a few tests want is no failure if it cannot be had, the others are" {
	touch offline
	echo qemu-user >lacking
	make deps
	grep -q qemu-user installs
	echo zsh >lacking
	run ! make deps
}

# ci: .ci/run, with a make that says so.
ci() {
	mkdir -p .ci
	cp "$top/.ci/run" .ci/
	script make 'echo "make $*" >>order; cat said; exit $(cat status)'
	script apt-get 'echo "apt-get $*" >>order; [ ! -e offline ]'
	run bash .ci/run
}

@test ".ci/run installs, then runs what README says, and ends with its count" {
	echo bats >lacking
	printf 'ok 1 one\n7 passed, 0 failed, 2 skipped\n' >said
	echo 0 >status
	ci
	[[ $status == 0 && ${lines[-1]} == '7 passed, 0 failed, 2 skipped' ]]
	[[ $(tail -n 1 order) == 'make check-all' && $(head -n 1 order) == apt-get*update ]]
	[[ $(grep -c ' install .*bats' order) == 1 && $(grep -c '^make' order) == 1 ]]
	grep -q "^    $(tail -n 1 order)\( \|\$\)" "$top/README.md"
}

@test ".ci/run fails with what it runs, whose count is its last line" {
	printf '7 passed, 1 failed, 2 skipped\nmake: *** [Makefile:1: check] Error 1\n' >said
	echo 2 >status
	ci
	[[ $status == 2 && ${lines[-1]} == '7 passed, 1 failed, 2 skipped' ]]
}

@test ".ci/run ends with a count, too, where nothing could be built" {
	printf 'make: *** [Makefile:1: all] Error 1\n' >said
	echo 2 >status
	ci
	[[ $status == 2 && ${lines[-1]} == '0 passed, 1 failed, 0 skipped' ]]
}

@test ".ci/run fails where packages cannot be had, and runs nothing" {
	echo bats >lacking
	touch offline
	ci
	[[ $status == 1 && ${lines[-1]} == '0 passed, 1 failed, 0 skipped' ]]
	run ! grep '^make' order
}

@test "make san builds the programs, at -O1, and no pages" {
	cd "$top"
	run make -n san BUILD="$BATS_TEST_TMPDIR/none"
	((status == 0))
	[[ $output == *'-fsanitize=address,undefined'*'-O1 -g'*'none/asan/bin/write_bw'*'-fsanitize=thread'*'none/tsan/bin/write_bw'* ]]
	[[ $output != *man/gen* && $output != *completion/gen* && $output != *' -O2 '* ]]
}

@test "make help names every target that README and CONTRIBUTING name, and each is there" {
	local target
	make -s -C "$top" help >said
	while read -r target; do
		grep -q "^[a-z -]*\b$target\b[a-z -]*:" "$top/Makefile" || { echo "no target $target"; return 1; }
		grep -q "make \(.*make \)\?$target\b" said || { echo "make help does not know $target"; return 1; }
	done < <(grep -hoP '(^    |`|^  )make \K[a-z-]+' "$top/README.md" "$top/CONTRIBUTING.md" said)
	grep -q '^Contact: .' said
	make -s -C "$top" help CONTACT="O'C <a@rdmark.test>" HOMEPAGE=https://rdmark.test | grep -qxF "Contact: O'C <a@rdmark.test> https://rdmark.test"
}

@test "CONTRIBUTING: every file and folder that it names is there" {
	local name names=0
	while read -r name; do
		for name in $(eval "printf '%s\\n' $name"); do
			compgen -G "$top/$name" >/dev/null || { echo "$name"; return 1; }
			((names += 1))
		done
	done < <(grep -oP '(?<=[\` ]|^)(common|contrib|man|packaging|tests)/[A-Za-z0-9_.{},\/*-]*' "$top/CONTRIBUTING.md" |
		grep -v -e 'NAME' -e test_x | sed 's/[.,]$//' | sort -u)
	((names > 40))
}

@test "tests/check --help names every tier, and how to run one file" {
	local tier tiers
	"$top/tests/check" --help >help
	tiers=$(sed -n 's/^tiers=(\(.*\))$/\1/p' "$top/tests/check")
	for tier in $tiers; do grep -q "^  $tier  *[^ ]" help || { echo "$tier"; return 1; }; done
	grep -q '^  bats tests/cli/man.bats' help
	run ! "$top/tests/check" --nonsense
}

@test "a test that the sanitizers cannot run has the tag plain: so check-all runs it without them" {
	local untagged
	untagged='
		FNR == 1 { san = 0 }
		/^# bats file_tags=/ { san = /san/; core = /core/ }
		/^# bats test_tags=/ { plain = /plain/ && !core && !/core/ }
		/^}/ { plain = 0 }
		san && !plain && /^\tnot_sanitized / { print FILENAME ": " FNR }'
	[[ ! $(awk "$untagged" "$top"/tests/cli/*.bats) ]] || fail "$(awk "$untagged" "$top"/tests/cli/*.bats)"
	sed '/^# bats test_tags=/d' "$top/tests/cli/quality.bats" >quality.bats
	[[ $(awk "$untagged" quality.bats | wc -l) == 3 ]]
}

@test "after CHECK_UNTIL tests/check begins nothing more, and counts that as skipped" {
	mkdir build
	BUILD=$PWD/build CHECK_UNTIL=1 run "$top/tests/check" unit cli rxe
	[[ $status == 0 && ${lines[-1]} == '0 passed, 0 failed, 3 skipped' && $output == *'skipped: rxe: all of it: CHECK_UNTIL had passed'* ]]
	# What may be left out keeps from the last 20 minutes before it.
	BUILD=$PWD/build CHECK_UNTIL=$((EPOCHSECONDS + 1190)) run "$top/tests/check" rest
	[[ $status == 0 && ${lines[-1]} == '0 passed, 0 failed, 1 skipped' && $output == *'all of it: there is no time for it'* ]]
	CHECK_UNTIL=1 run "$top/tests/lib/files" "$top/tests/cli/make.bats"
	[[ $status == 0 && $output == *'ok 1 '*'/make.bats # skip CHECK_UNTIL had passed' ]]
}

@test "at CHECK_END a file of tests is ended: its results stay, the rest of it is skipped" {
	mkfifo never
	printf '@test "one" { true; }\n@test "two" { read -r <>%q/never; }\n@test "three" { true; }\n' "$PWD" >slow.bats
	CHECK_END=$((EPOCHSECONDS + 10)) run "$top/tests/lib/files" slow.bats
	((status == 0))
	# On a busy machine not even the first is over by then.
	[[ $(grep -c '^ok ' <<<"$output") == 3 && $output == *'1..3'*'ok 1 '@(one|slow.bats)*'ok 2 slow.bats # skip CHECK_END had passed'* ]]
	[[ $output == *'ok 3 slow.bats # skip'* ]]
}

@test "a unit program that is stopped says so, and how many tests have no result" {
	mkdir -p build/tests/unit
	cat >build/tests/unit/test_clusters <<-'END'
		#!/bin/sh
		printf '1..3\nok 1 - one\n' >&2
		while :; do :; done
	END
	chmod +x build/tests/unit/test_clusters
	UNIT_CPU_S=1 BUILD=$PWD/build run "$top/tests/check" unit
	[[ $status == 1 && $output == *'ok '+([0-9])' unit: one'* ]]
	[[ $output == *'unit: test_clusters: was stopped after 1 s of CPU time; 2 of its 3 tests have no result'* && $output != *'runner'* ]]
}

@test "a folder that make cannot build in is refused at once" {
	mkdir 'a b'
	cp Makefile 'a b/'
	run make -C 'a b'
	[[ $status == 2 && $output == *'The name of this folder has a blank, '*' Fix: build in another folder.'* ]]
}

@test "a folder that was copied with its build is not built again, nor for another program; with another flag it is" {
	unset FILE_PREFIX_MAP
	mkdir -p 'tree/common/base' tree/common/memory
	cp Makefile tree/
	printf 'int one;\n' >tree/common/base/one.c
	: >tree/common/memory/cuda_abi.h
	one() { make -C "$1" CUDA_HOME= "${@:2}" build/obj/common/base/one.o; }
	run one tree
	[[ $status == 0 && $output == *'CC      common/base/one.c'* ]]
	cp -a tree copy
	run one copy
	[[ $status == 0 && $output != *CC* ]]
	mkdir copy/new_lat
	: >copy/new_lat/new_lat.c
	run one copy
	[[ $status == 0 && $output != *CC* ]]
	run one copy CFLAGS=-O1
	[[ $status == 0 && $output == *'CC      common/base/one.c'* ]]
}
