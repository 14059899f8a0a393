# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=bash disable=SC2154 # bats has them
#
# For tests that compare declarations of ours with those of a library's headers.

# differs FILE SED-COMMAND WHAT: with that change to FILE WHAT does not agree any more.
differs() {
	cp "$1" before
	sed -i -E "$2" "$1"
	! cmp -s "$1" before || { echo "no change: $2"; return 1; }
	run "$3"
	((status)) || { echo "not found: $2"; return 1; }
	cp before "$1"
}
