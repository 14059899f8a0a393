# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=bash
#
# For tests that run the installed perftest.

# calibrated SERVER-FILE CLIENT-FILE COMMAND ARG…: COMMAND runs both ends of perftest, whose stderr goes into these
# files. On a busy host perftest may find its cycle counter uneven, and then reports nothing: it runs again, up to
# 5 times in all. Returns what the last one did.
calibrated() {
	local try code
	for try in 1 2 3 4 5; do
		code=0
		"${@:3}" || code=$?
		grep -qs '^Correlation coefficient' "$1" "$2" || break
		echo "try $try: perftest could not measure the rate of its cycle counter"
	done
	return $code
}

# hasty DIR: sets hasty to what env preloads into perftest, behind the stand-in, so that it does not wait (tests/lib/hasty.c, built
# in DIR); to nothing where that is not for this machine.
hasty() {
	hasty=
	[[ $(uname -m) != x86_64 ]] || { cc -shared -fPIC -O2 -o "$1/hasty.so" "${BASH_SOURCE[0]%/*}/hasty.c" && hasty=:$1/hasty.so; }
}

# Not line by line: bash reads files of the kernel byte by byte, and there may be hundreds of lines.
listening() {
	local hex
	printf -v hex %04X "$1"
	grep -Eqs ": [0-9A-F]+:$hex [0-9A-F]+:[0-9A-F]+ 0A " /proc/net/tcp /proc/net/tcp6
}

# until_listening NAME: NAME listens on $port, or has ended.
until_listening() {
	local end=$((SECONDS + deadline))
	until listening "$port"; do
		kill -0 "${pid[$1]}" 2>/dev/null && ((SECONDS < end)) || return 0
		read -r -t 0.02 <> <(:) || true
	done
}
