# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Lines of `rdmark-pairs run` to "FROM TO VALUE ALONE": a player is HOST or HOST/DEVICE, a VALUE that was
# not measured is "-", and one of a thread without its CPU is none. awk, as jq takes a minute for a million lines. A name has only characters that
# gnuplot, the shell and JSON take as they are; other lines are skipped. A player who only says that it
# is there is "NAME NAME = 0".

function text(key) {
	if (!match($0, "\"" key "\": *\"[A-Za-z0-9._:%@+=-]+\""))
		return ""
	key = substr($0, RSTART, RLENGTH - 1)
	sub(/^"[a-z_]+": *"/, "", key)
	return key
}

function figure(key) { return match($0, "\"" key "\": *[0-9][0-9.eE+-]*") ? substr($0, RSTART + length(key) + 3, RLENGTH - length(key) - 3) + 0 : 0 }

# An end's thread had less than 98 % of its CPU.
function lacked(key) { return match($0, "\"" key "_cpu_percent\": *[0-9]") && substr($0, RSTART + RLENGTH - 1) + 0 < 98 }

function player(host, rail) { return host == "" || rail == "" ? host : host "/" rail }

/"kind": *"player"/ {
	from = player(text("host"), text("rail"))
	if (from != "")
		print from, from, "=", 0
}

/"kind": *"pair"/ {
	if (lacked("from") || lacked("to"))
		next
	from = player(text("from"), text("from_rail"))
	to = player(text("to"), text("to_rail"))
	value = "-"
	if (match($0, /"value": *[0-9][0-9.eE+-]*/)) {
		value = substr($0, RSTART + 8, RLENGTH - 8) + 0
		if (value <= 0 || value >= 1e15)
			next
	} else if ($0 !~ /"status": *"failed"/)
		next
	if (from != "" && to != "" && from != to)
		print from, to, value, ($0 ~ /"alone": *true/)
}
