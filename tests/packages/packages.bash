# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=bash
# What the tests of packages share: where things are, and an environment as on somebody else's machine.

top=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
version=$(sed -n 's/^VERSION := //p' "$top/Makefile")
programs=(gdr_bw send_bw send_lat write_bw write_lat)
export top version

# quietly COMMAND…: nothing of what we were told reaches it; what it says is shown if it fails.
quietly() {
	local output
	output=$(env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME="$BATS_FILE_TMPDIR" LC_ALL=C.UTF-8 \
		WITH_CUDA="${WITH_CUDA:-no}" CUDA_HOME="${CUDA_HOME:-/usr/local/cuda}" ${extra:+"$extra"} "$@" </dev/null 2>&1 3>&-) ||
		{ tail -n 60 <<<"$output"; return 1; }
}

# smoke FOLDER: every program in there runs, and so does each of perftest's names.
smoke() {
	local program name
	for program in "${programs[@]}"; do
		for name in "$program" "ib_$program"; do
			[[ $name != ib_gdr_bw ]] || continue
			"$1/$name" --version | grep -q "^$program (rdmark) $version\$\|^Version: " || { echo "$name --version"; return 1; }
			"$1/$name" --list >/dev/null 2>&1 || (($? == 77)) || { echo "$name --list"; return 1; }
		done
	done
}

# unit_is_right FILE BIN: systemd knows every line of it, and what it starts knows its arguments.
unit_is_right() {
	local command
	command=$(sed -n 's/^ExecStart=//p' "$1")
	# shellcheck disable=SC2016 # systemd puts in its value
	[[ $command == '/usr/bin/%i --persistent --max-'*' $RDMARK_OPTIONS' ]]
	"$2/write_bw" --persistent --help >/dev/null
	grep -q '^Type=notify$' "$1"
	command -v systemd-analyze >/dev/null || skip 'systemd-analyze is not here'
	mkdir -p unit
	sed "s|/usr/bin/%i|$2/%i|" "$1" >unit/rdmark@.service
	cp unit/rdmark@.service unit/rdmark@write_bw.service
	local said
	said=$(systemd-analyze verify --man=no "$PWD/unit/rdmark@write_bw.service" 2>&1 | grep -F 'unit/rdmark@' || :)
	[[ -z $said ]] || { echo "$said"; return 1; }
}
