# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# What the tables of `make bench` and of scale have in common: reads a file of facts, then one of samples
# (see tests/bench/pair.bash), knows medians, and ratios with their intervals.

FILENAME ~ /facts$/ {
	key = $1
	sub(/^[^ ]* /, "")
	if (key == "failed")
		failed[++failures] = $0
	else
		fact[key] = $0
	next
}

{
	sample[$1, $2, ++count[$1, $2]] = $4
	# What the two tools did in the same turn is a pair.
	at_turn[$1, $2, $3] = $4
	if (($1, "perftest", $3) in at_turn && ($1, "rdmark", $3) in at_turn && at_turn[$1, "perftest", $3] > 0 &&
	    at_turn[$1, "rdmark", $3] > 0)
		pair_ratio[$1, ++pairs[$1]] = at_turn[$1, "rdmark", $3] / at_turn[$1, "perftest", $3]
}

# Of A[1…N], which it sorts.
function median_of(a, n,    i, j, v) {
	for (i = 2; i <= n; i++) {
		v = a[i]
		for (j = i - 1; j > 0 && a[j] > v; j--)
			a[j + 1] = a[j]
		a[j + 1] = v
	}
	return n % 2 ? a[(n + 1) / 2] : (a[n / 2] + a[n / 2 + 1]) / 2
}

function median(name, tool,    n, i, a) {
	n = count[name, tool]
	if (!n)
		return ""
	for (i = 1; i <= n; i++)
		a[i] = sample[name, tool, i] + 0
	return median_of(a, n)
}

# interval(NAME): sets ratio_of, the median of the pairs' ratios rdmark / perftest, ratio_least and
# ratio_most of them, and ratio_low and ratio_high, between which the true median is with a chance of at
# least 95 % whatever the noise is like: so many of the pairs lie on either side as a coin falls (the sign
# test). Fewer than 6 pairs have no such interval: "". (Drawing 15 pairs anew, the bootstrap, was right in
# only 92 to 93 % of 1,500 tries.)
function interval(name,    n, i, k, a, chance, sum) {
	ratio_of = ratio_low = ratio_high = ""
	n = pairs[name]
	if (!n)
		return
	for (i = 1; i <= n; i++)
		a[i] = pair_ratio[name, i]
	ratio_of = median_of(a, n)
	ratio_least = a[1]
	ratio_most = a[n]
	chance = sum = 0.5 ^ n
	for (k = 0; sum <= 0.025; sum += chance) {
		chance *= (n - k) / (k + 1)
		k++
	}
	if (k == 0)
		return
	ratio_low = a[k]
	ratio_high = a[n + 1 - k]
}

function shown_interval() {
	return ratio_of == "" ? "-" : ratio_low == "" ? sprintf("%.2f", ratio_of) : sprintf("%.2f [%.2f, %.2f]", ratio_of, ratio_low, ratio_high)
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

