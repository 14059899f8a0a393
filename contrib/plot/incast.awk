# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# What cells.awk, whose text follows, would print of an incast as rates of pairs, as shares: "FROM TO SHARE 0".
# A share is a part of the median rate of the round's other senders. want=victim: nothing but lines "NUMBER
# SIDE P50 P99": the victim's latency in microseconds, 0 if unknown, in the order of rounds; SIDE is 1 during
# the incast and 0 without it.

function figure(key) { return match($0, "\"" key "\": *[0-9][0-9.eE+-]*") ? substr($0, RSTART + length(key) + 3, RLENGTH - length(key) - 3) + 0 : 0 }

# As rdmark-pairs judges: what the END's thread lacked is in the latency then.
function lacked_cpu(end,    key) { key = end "_cpu_percent"; return $0 ~ "\"" key "\": *[0-9]" && figure(key) < 98 }

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

want == "victim" && /"kind": *"player"/ { next }

/"kind": *"pair"/ {
	at = text("run") " " figure("round")
	value = figure("value")
	if ($0 ~ /"victim": *true/) {
		if (value > 0 && !lacked_cpu("from") && !lacked_cpu("to")) {
			victims[++victim] = at
			p50[victim] = value
			p99[victim] = figure("p99")
		}
		next
	}
	from = player(text("from"), text("from_rail"))
	to = player(text("to"), text("to_rail"))
	if (from == "" || to == "" || from == to || text("client") != text("from") || $0 ~ /"alone": *true/)
		next
	tried[at]++
	if (value > 0) {
		measured[at]++
		senders[at " " to] = senders[at " " to] " " from
		rates[at " " to] = rates[at " " to] " " value
	} else if (want != "victim")
		print from, to, "-", 0
	next
}

END {
	for (at in senders) {
		n = split(senders[at], sender, " ")
		split(rates[at], rate, " ")
		split(at, word, " ")
		for (i = 1; i <= n && want != "victim"; i++)
			if ((of = middle(rate, n, i)) > 0)
				print sender[i], word[3], rate[i] / of, 0
	}
	for (i = 1; i <= victim && want == "victim"; i++)
		if (!tried[victims[i]] || 2 * measured[victims[i]] > tried[victims[i]])
			print victims[i], (tried[victims[i]] ? 1 : 0), p50[i], p99[i]
}

