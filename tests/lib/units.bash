# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=bash
# shellcheck disable=SC2016 # systemd puts in its value
# What is asked of the units for systemd, in packages and as they are in the tree.

# line UNIT NAME: the value of NAME= there.
line() { sed -n "s/^$2=//p" "$1"; }

# units_are_right FOLDER BIN: systemd knows every line of the units there, which were made for /usr and
# /etc, and what they start knows its arguments.
units_are_right() {
	local unit
	[[ $(cd "$1" && echo *) == 'rdmark-check.service rdmark-check.timer rdmark-check@.service rdmark-check@.timer rdmark-server.service rdmark@.service' ]]
	[[ $(line "$1/rdmark@.service" ExecStart) == '/usr/bin/%i --persistent --max-'*' $RDMARK_OPTIONS' ]]
	[[ $(line "$1/rdmark-server.service" ExecStart) == '/usr/bin/rdmark server --max-'*' $RDMARK_OPTIONS' ]]
	[[ $(line "$1/rdmark@.service" EnvironmentFile) == -/etc/rdmark/%i.conf ]]
	[[ $(line "$1/rdmark-server.service" EnvironmentFile) == -/etc/rdmark/server.conf ]]
	[[ $(line "$1/rdmark-check.service" EnvironmentFile) == -/etc/rdmark/check.conf ]]
	"$2/write_bw" --persistent --help >/dev/null
	"$2/rdmark" server --help >/dev/null
	for unit in "$1"/rdmark{@,-server}.service; do [[ $(line "$unit" Type) == notify ]]; done
	# A check that hangs ends, and a thousand hosts do not come at once.
	for unit in "$1"/rdmark-check{,@}.service; do [[ $(line "$unit" Type) == oneshot && $(line "$unit" TimeoutStartSec) == [1-9]* ]]; done
	for unit in "$1"/rdmark-check{,@}.timer; do [[ $(line "$unit" RandomizedDelaySec) == 1* && $(line "$unit" FixedRandomDelay) == yes ]]; done
	# A user that the other end can name, and that the package makes.
	for unit in "$1"/*.service; do [[ $(line "$unit" User) == rdmark ]]; done
	grep -q '^u rdmark - ' "$1/../../sysusers.d/rdmark.conf"
	# Monitoring reads the files of checks.
	for unit in "$1"/rdmark-check{,@}.service; do
		[[ $(line "$unit" UMask | tail -n 1) == 0022 ]]
		[[ $(line "$unit" ExecStopPost) == "-/usr/bin/rdmark-prom "*" -o %S/$(line "$unit" StateDirectory)/"*.prom ]]
	done
	! grep -r @ "$1" | grep -vE 'rdmark(-check)?@[A-Z.a-z]|SystemCallFilter=~?@[a-z-]+$|: *#.* @resources ' || return 1
	! grep '%[^S]' "$1"/rdmark-{server,check}.service || return 1
	verified "$@"
}

verified() {
	local said unit
	command -v systemd-analyze >/dev/null || skip 'systemd-analyze is not here'
	mkdir -p unit
	for unit in "$1"/*; do sed -E "s|^(Exec[A-Za-z]*=-?)/usr/bin|\1$2|" "$unit" >"unit/${unit##*/}"; done
	for unit in rdmark@write_bw.service rdmark-check@node-1.{service,timer}; do cp "unit/${unit/@*./@.}" "unit/$unit"; done
	said=$(systemd-analyze verify --man=no "$PWD"/unit/*@?*.{service,timer} "$PWD"/unit/rdmark-*[a-z].{service,timer} 2>&1 |
		grep -E '(^| |/)rdmark[^ ]*[:]' || :)
	[[ -z $said ]] || { echo "$said"; return 1; }
	systemd-analyze security --help | grep -q offline || return 0 # before systemd 250
	for unit in rdmark{@write_bw,-server,-check,-check@node-1}.service; do
		systemd-analyze security --no-pager --offline=true --threshold=16 "unit/$unit" >said || { grep '✗' said; tail -n 1 said; return 1; }
	done
}
