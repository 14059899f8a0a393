# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# callgrind's output to "ALONE TOTAL": instructions of all but the stand-in, and of all. Names come
# compressed: "(ID) NAME" once, "(ID)" from then on. A line after "calls=" is what a callee cost,
# which counts where the callee is.
#
# Left out: perftest's calibration, which spins on the time of day for 0.2 s, however many
# instructions that takes: gettimeofday and what calls it. No loop of a message does.

function named(kind, text,    id) {
	id = text
	sub(/\).*/, ")", id)
	if (text ~ /^\([0-9]+\) /)
		name[kind, id] = substr(text, length(id) + 2)
	else if (text !~ /^\([0-9]+\)$/)
		return text
	return name[kind, id]
}

{ text = substr($0, index($0, "=") + 1) }
/^ob=/ { object = named("object", text) }
/^cob=/ { named("object", text) }
/^fn=/ { of = named("function", text) }
/^cfn=/ && named("function", text) ~ /gettimeofday/ { spins[object, of] = 1 }
/^calls=/ { getline; next }
/^[0-9+*-]/ { cost[object, of] += $2; sum += $2 }
/^(totals|summary):/ { totals = $2 }

END {
	for (at in cost) {
		split(at, part, SUBSEP)
		if (at in spins || part[2] ~ /gettimeofday/)
			continue
		total += cost[at]
		if (part[1] !~ /\/libsimverbs\.so$/)
			alone += cost[at]
	}
	if (!sum || sum != totals) {
		printf "bench: callgrind says %d instructions, its lines %d\n", totals, sum >"/dev/stderr"
		exit 1
	}
	printf "%d %d\n", alone, total
}
