# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# What cells.awk, whose text follows, would print of an incast as rates of pairs, as shares: "FROM TO SHARE 0".
# A share is a part of the median rate of the round's other senders.

# The median of the N rates of a round but number I.
function middle(all, n, i,    k, at, v, count) {
	for (k = 1; k <= n; k++) {
		if (k == i)
			continue
		for (at = count++; at > 0 && v[at] > all[k] + 0; at--)
			v[at + 1] = v[at]
		v[at + 1] = all[k] + 0
	}
	return count ? (v[int((count + 1) / 2)] + v[int(count / 2) + 1]) / 2 : 0
}

/"kind": *"pair"/ {
	at = text("run") " " figure("round")
	value = figure("value")
	from = player(text("from"), text("from_rail"))
	to = player(text("to"), text("to_rail"))
	if (from == "" || to == "" || from == to || text("client") != text("from") || $0 ~ /"alone": *true/ || lacked("from") || lacked("to"))
		next
	if (value > 0) {
		senders[at " " to] = senders[at " " to] " " from
		rates[at " " to] = rates[at " " to] " " value
	} else
		print from, to, "-", 0
	next
}

END {
	for (at in senders) {
		n = split(senders[at], sender, " ")
		split(rates[at], rate, " ")
		split(at, word, " ")
		for (i = 1; i <= n; i++)
			if ((of = middle(rate, n, i)) > 0)
				print sender[i], word[3], rate[i] / of, 0
	}
}
