# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# With stats.awk: the table of tests/bench/scale. Ratios are rdmark / perftest.

BEGIN {
	figures = split("rate machine client server", figure)
	text["rate"] = "messages a second"
	text["machine"] = "CPU of the machine, us a message"
	text["client"] = "CPU of the client, us a message"
	text["server"] = "CPU of the server, us a message"
	sizes = split("4096 65536", size)
	modes = split("1 4 16 100", mode)
}

function row(name, label) {
	interval(name)
	printf "  %-15s %10s %10s  %-18s %5d\n", label, number(median(name, "perftest")), number(median(name, "rdmark")), shown_interval(), pairs[name]
}

END {
	printf "\nrdmark %s beside perftest %s on %s\n%s; %d s in all\n", fact["rdmark"], fact["perftest"], fact["device"],
		fact["machine"], fact["seconds"]
	print "ratio = rdmark / perftest, the median of the pairs, and where the true one is with a chance of 95 %"
	for (f = 1; f <= figures; f++) {
		printf "\n%s\n%17s %10s %10s  %-18s %5s\n", text[figure[f]], "", "perftest", "rdmark", "ratio", "pairs"
		for (s = 1; s <= sizes; s++)
			for (m = 1; m <= modes; m++)
				row(size[s] "." mode[m] "." figure[f], sprintf("%2d KiB -Q %d", size[s] / 1024, mode[m]))
	}
	for (i = 1; i <= failures; i++)
		printf "failed, then tried again: %s\n", failed[i]
}
