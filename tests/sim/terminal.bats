#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck disable=SC2154 # what lib/rdmark.bash sets
#
# On a terminal a long run shows a live line; script(1) makes a terminal.

load ../lib/rdmark

# on_terminal PROGRAM ARG…: a client whose stdout and stderr are a terminal; what was shown is in shown.
on_terminal() {
	command -v script >/dev/null || skip 'script is not here (util-linux)'
	server "$1"
	start client "$(command -v script)" -qefc "$RDMARK_BIN/$1 -p $port ${*:2} $host" shown
	finish client server
	ended client 0
	ended server 0
}

@test "a live line on a terminal, which is gone at the end; the table is whole" {
	local program lines unit
	while read -r program unit; do
		on_terminal "$program" -D 1.3 -s 64
		tr '\r' '\n' <shown | grep -q "^[0-9.]* s: 64 B: .* $unit" || fail "$(cat -v shown)"
		# What stays on the screen: a line that was erased does not.
		sed 's/\r$//; s/.*\r\x1b\[K//' shown >screen
		[[ $(grep -c ' s: 64 B: ' screen) == 0 ]] || fail "$(cat -v screen)"
		[[ $(grep -cE '^ 64 +[0-9]+ ' screen) == 1 ]] || fail "$(cat -v screen)"
	done <<-'END'
		send_bw Gb/s
		write_lat usec
	END
}

# shown_lines PATTERN: what of that the terminal showed, in the order of time.
shown_lines() { tr '\r' '\n' <shown | grep -o "$1"; }

@test "the live line says how much time is left: of the duration, or at the pace so far" {
	on_terminal send_bw -D 2.7 -s 64
	[[ $(shown_lines '[0-9]* s left' | uniq) == $'2 s left\n1 s left'* ]] || fail "$(cat -v shown)"
	# 3000 messages of 1 MiB at 10 Gb/s take 2.5 s.
	export SIMVERBS_GBPS=10
	on_terminal write_bw -n 3000 -s 1M
	[[ $(shown_lines '[0-9]* s left' | uniq) == *$'1 s left'* ]] || fail "$(cat -v shown)"
	on_terminal write_bw -n 100000 -s 1M -D 0.7
	[[ $(shown_lines '[0-9]* s left' | uniq) == '0 s left' ]] || fail "$(cat -v shown)"
}

@test "no live line with --quiet" {
	on_terminal send_bw -D 0.8 -s 64 --quiet
	[[ $(<shown) != *$'\e'* ]] || fail "$(cat -v shown)"
}
