# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# What the tables of both halves of `make bench` have in common: reads a file of facts, then one of
# samples (see tests/bench/pair.bash), and knows medians.

FILENAME ~ /facts$/ {
	key = $1
	sub(/^[^ ]* /, "")
	if (key == "failed")
		failed[++failures] = $0
	else
		fact[key] = $0
	next
}

{ sample[$1, $2, ++count[$1, $2]] = $4 }

function median(name, tool,    n, i, j, v, a) {
	n = count[name, tool]
	if (!n)
		return ""
	for (i = 1; i <= n; i++) {
		v = sample[name, tool, i] + 0
		for (j = i - 1; j > 0 && a[j] > v; j--)
			a[j + 1] = a[j]
		a[j + 1] = v
	}
	return n % 2 ? a[(n + 1) / 2] : (a[n / 2] + a[n / 2 + 1]) / 2
}

function number(v) {
	if (v == "")
		return "-"
	return sprintf(v < 1 ? "%.4f" : v < 100 ? "%.2f" : "%.0f", v)
}

function quoted(s) {
	gsub(/[\\"]/, "\\\\&", s)
	return "\"" s "\""
}

function or_null(v) {
	return v == "" ? "null" : v
}

