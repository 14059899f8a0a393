# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# From the lines of trend_of (read.jq) to as many points as WIDTH can show: a curve of more than twice
# as many runs has one for each step of time, with the mean of its runs, the least and the most. First
# the numbers of lines that are no document, and of all; then a JSON array for each point.

BEGIN { FS = "\t" }

# N runs of curve C in its step B, BAD of them disturbed.
function add(c, b, n, y, low, high, from, to, bad) {
	if (!((c, b) in count)) {
		step[c, ++steps[c]] = b
		least[c, b] = low
		most[c, b] = high
		first[c, b] = from
		last[c, b] = to
	}
	count[c, b] += n
	sum[c, b] += y
	disturbed[c, b] += bad
	if (low < least[c, b]) least[c, b] = low
	if (high > most[c, b]) most[c, b] = high
	if (from < first[c, b]) first[c, b] = from
	if (to > last[c, b]) last[c, b] = to
}

# Longer steps for curve C.
function widen(c,    i, b, n, from, to) {
	n = steps[c]
	for (i = 1; i <= n; i++) {
		b = step[c, i]
		if (i == 1 || first[c, b] < from) from = first[c, b]
		if (i == 1 || last[c, b] > to) to = last[c, b]
		kept[i] = count[c, b] " " sum[c, b] " " least[c, b] " " most[c, b] " " first[c, b] " " last[c, b] " " disturbed[c, b]
		delete count[c, b]
		delete sum[c, b]
		delete disturbed[c, b]
	}
	long[c] = (to - from) / width > 1 ? (to - from) / width : 1
	steps[c] = 0
	for (i = 1; i <= n; i++) {
		split(kept[i], v, " ")
		add(c, int(v[5] / long[c]), v[1] + 0, v[2] + 0, v[3] + 0, v[4] + 0, v[5] + 0, v[6] + 0, v[7] + 0)
	}
}

$1 == "other" { others++; next }
$1 == "line" { lines++; next }
$1 == "why" { if (why == "") why = $2; next }
$1 == "untimed" { untimed = $2; next }
{
	if (!($3 in curve)) {
		curve[$3] = ++curves
		key[curves] = $3
	}
	c = curve[$3]
	add(c, long[c] ? int($1 / long[c]) : ++runs, 1, $2 + 0, $2 + 0, $2 + 0, $1 + 0, $1 + 0, $4 + 0)
	if (steps[c] > 2 * width) widen(c)
}

END {
	printf "%d %d\n", others, others + lines
	if (why != "") print why
	if (untimed != "" && !curves) print "[0, null, null, null, null, null, " untimed ", 0]"
	for (c = 1; c <= curves; c++)
		for (i = 1; i <= steps[c]; i++) {
			b = step[c, i]
			printf "[%d, %.15g, %.15g, %.15g, %.15g, %.15g, %s, %d]\n", count[c, b], first[c, b], last[c, b], sum[c, b] / count[c, b],
				least[c, b], most[c, b], key[c], disturbed[c, b]
		}
}
