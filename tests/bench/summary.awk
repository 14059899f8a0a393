# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# With stats.awk: from what tests/bench/inside wrote to the table and the JSON document. -v where=TEXT,
# wanted=ROUNDS and json=FILE. Exit status 3 if something that must be reached was not.

BEGIN {
	# name, unit, which is better, text
	measure("send_lat.typical_us", "us", "lower", "send_lat: 2 B, typical latency")
	measure("send_lat.p99_us", "us", "lower", "send_lat: 2 B, 99 % latency")
	measure("write_lat.typical_us", "us", "lower", "write_lat: 2 B, typical latency")
	measure("write_lat.p99_us", "us", "lower", "write_lat: 2 B, 99 % latency")
	measure("read_lat.typical_us", "us", "lower", "read_lat: 2 B, typical latency")
	measure("read_lat.p99_us", "us", "lower", "read_lat: 2 B, 99 % latency")
	measure("atomic_lat.typical_us", "us", "lower", "atomic_lat: typical latency")
	measure("atomic_lat.p99_us", "us", "lower", "atomic_lat: 99 % latency")
	measure("send_bw.rate_mpps", "M/s", "higher", "send_bw: 64 B, message rate")
	measure("write_bw.rate_mpps", "M/s", "higher", "write_bw: 64 B, message rate")
	measure("read_bw.rate_mpps", "M/s", "higher", "read_bw: 64 B, message rate")
	measure("atomic_bw.rate_mpps", "M/s", "higher", "atomic_bw: message rate")
	measure("send_bw.bandwidth_mibps", "MiB/s", "higher", "send_bw: 64 KiB, bandwidth")
	measure("write_bw.bandwidth_mibps", "MiB/s", "higher", "write_bw: 64 KiB, bandwidth")
	measure("read_bw.bandwidth_mibps", "MiB/s", "higher", "read_bw: 64 KiB, bandwidth")
	measure("send_bw.uc_mibps", "MiB/s", "higher", "send_bw -c UC: 4 KiB")
	measure("send_bw.ud_mibps", "MiB/s", "higher", "send_bw -c UD: 2 KiB")
	measure("send_bw.both_mibps", "MiB/s", "higher", "send_bw -b: 64 KiB, both ways")
	measure("send_bw.events_mibps", "MiB/s", "higher", "send_bw -e: 4 KiB")
	measure("send_bw.list_mpps", "M/s", "higher", "send_bw -l 16: 64 B")
	measure("send_bw.qps_mpps", "M/s", "higher", "send_bw -q 16: 64 B")
	measure("send_bw.inline_mpps", "M/s", "higher", "send_bw -I 64: 64 B")
	measure("write_bw.uc_mibps", "MiB/s", "higher", "write_bw -c UC: 4 KiB")
	measure("write_bw.both_mibps", "MiB/s", "higher", "write_bw -b: 64 KiB, both ways")
	measure("write_bw.list_mpps", "M/s", "higher", "write_bw -l 16: 64 B")
	measure("write_bw.qps_mpps", "M/s", "higher", "write_bw -q 16: 64 B")
	measure("write_bw.inline_mpps", "M/s", "higher", "write_bw -I 64: 64 B")
	measure("send_lat.uc_us", "us", "lower", "send_lat -c UC: 2 B, typical")
	measure("send_lat.ud_us", "us", "lower", "send_lat -c UD: 2 B, typical")
	measure("send_lat.events_us", "us", "lower", "send_lat -e: 2 B, typical")
	measure("write_lat.uc_us", "us", "lower", "write_lat -c UC: 2 B, typical")
	measure("read_bw.both_mibps", "MiB/s", "higher", "read_bw -b: 64 KiB, both ways")
	measure("read_bw.one_mpps", "M/s", "higher", "read_bw -o 1: 64 B")
	measure("read_bw.qps_mpps", "M/s", "higher", "read_bw -q 16: 64 B")
	measure("atomic_bw.swap_mpps", "M/s", "higher", "atomic_bw -A CMP_AND_SWAP")
	measure("atomic_lat.swap_us", "us", "lower", "atomic_lat -A CMP_AND_SWAP: typical")
	measure("write_bw.start_1_ms", "ms", "lower", "write_bw: start, 1 QP [1]")
	measure("write_bw.start_64_ms", "ms", "lower", "write_bw: start, 64 QPs [1]")
	measure("write_bw.start_512_ms", "ms", "lower", "write_bw: start, 512 QPs [1]")
	measure("write_bw.sweep_ms", "ms", "lower", "write_bw -a -n 20: wall time [2]")
	measure("send_lat.sweep_ms", "ms", "lower", "send_lat -a -n 20: wall time [2]")
	measure("write_lat.memory_kib", "KiB", "lower", "write_lat: memory growth [3]")

	# name, comparison, limit: of the ratio, or of our median in its unit
	must("send_lat.typical_us", "ratio", "<=", 1.02)
	must("write_lat.typical_us", "ratio", "<=", 1.02)
	must("read_lat.typical_us", "ratio", "<=", 1.02)
	must("atomic_lat.typical_us", "ratio", "<=", 1.02)
	must("atomic_lat.swap_us", "ratio", "<=", 1.02)
	must("read_bw.rate_mpps", "ratio", ">=", 0.98)
	must("read_bw.bandwidth_mibps", "ratio", ">=", 0.98)
	must("read_bw.both_mibps", "ratio", ">=", 0.98)
	must("read_bw.one_mpps", "ratio", ">=", 0.98)
	must("read_bw.qps_mpps", "ratio", ">=", 0.98)
	must("atomic_bw.rate_mpps", "ratio", ">=", 0.98)
	must("atomic_bw.swap_mpps", "ratio", ">=", 0.98)
	must("send_bw.rate_mpps", "ratio", ">=", 0.98)
	must("write_bw.rate_mpps", "ratio", ">=", 0.98)
	must("send_bw.bandwidth_mibps", "ratio", ">=", 0.98)
	must("write_bw.bandwidth_mibps", "ratio", ">=", 0.98)
	must("send_bw.uc_mibps", "ratio", ">=", 0.98)
	must("send_bw.ud_mibps", "ratio", ">=", 0.98)
	must("send_bw.both_mibps", "ratio", ">=", 0.98)
	must("send_bw.events_mibps", "ratio", ">=", 0.98)
	must("send_bw.list_mpps", "ratio", ">=", 0.98)
	must("send_bw.qps_mpps", "ratio", ">=", 0.98)
	must("send_bw.inline_mpps", "ratio", ">=", 0.98)
	must("write_bw.uc_mibps", "ratio", ">=", 0.98)
	must("write_bw.both_mibps", "ratio", ">=", 0.98)
	must("write_bw.list_mpps", "ratio", ">=", 0.98)
	must("write_bw.qps_mpps", "ratio", ">=", 0.98)
	must("write_bw.inline_mpps", "ratio", ">=", 0.98)
	must("send_lat.uc_us", "ratio", "<=", 1.02)
	must("send_lat.ud_us", "ratio", "<=", 1.02)
	must("send_lat.events_us", "ratio", "<=", 1.02)
	must("write_lat.uc_us", "ratio", "<=", 1.02)
	must("write_bw.sweep_ms", "ratio", "<=", 0.5)
	must("send_lat.sweep_ms", "ratio", "<=", 0.5)
	must("write_bw.start_512_ms", "ratio", "<=", 1)
	must("write_lat.memory_kib", "rdmark", "<=", 1024)

	note[1] = "the client's wall time for 5 writes of 8 B on each QP, queues 5 deep: all that a user waits for"
	note[2] = "the client's wall time"
	note[3] = "the client's peak resident memory (VmHWM, read every 20 ms) with -n 300000, less that with -n 1000"
}

function measure(name, u, better, t) {
	order[++measures] = name
	unit[name] = u
	direction[name] = better
	text[name] = t
}

function must(name, of, compare, limit) {
	must_name[++musts] = name
	must_of[musts] = of
	must_compare[musts] = compare
	must_limit[musts] = limit
}

# What the interval of the last call says, in words.
function meaning(name,    gain) {
	if (ratio_of == "")
		return "not measured"
	if (ratio_low == "")
		return "too few pairs to tell"
	if (ratio_low <= 1 && ratio_high >= 1)
		return "no difference to be seen"
	gain = direction[name] == "higher" ? ratio_of > 1 : ratio_of < 1
	return direction[name] == "higher" ? (gain ? "more, better" : "less, worse") : (gain ? "less, better" : "more, worse")
}

function table(    i, name) {
	printf "\nrdmark %s beside perftest %s on %s\n", fact["rdmark"], fact["perftest"], fact["device"]
	printf "%s; %s\n", where, fact["machine"]
	printf "medians of %d rounds in turns, %d s in all; ratio = rdmark / perftest, the median of the pairs, and where\n",
		fact["rounds"], fact["seconds"]
	print "the true one is with a chance of 95 %, whatever the noise is like"
	if (fact["rounds"] < wanted)
		printf "fewer than %d rounds: this machine is busy, do not trust the figures\n", wanted
	print ""
	printf "%-34s %-6s %10s %10s %-18s %5s\n", "", "", "perftest", "rdmark", " ratio", "pairs"
	for (i = 1; i <= measures; i++) {
		name = order[i]
		interval(name)
		printf "%-34s %-6s %10s %10s  %-17s %5d  %s\n", text[name], unit[name], number(median(name, "perftest")),
			number(median(name, "rdmark")), shown_interval(), pairs[name], meaning(name)
	}
	print ""
	for (i = 1; i in note; i++)
		printf "[%d] %s\n", i, note[i]
	for (i = 1; i <= failures; i++)
		printf "failed or too late, then tried again: %s\n", failed[i]
}

# reached(I): "PASS" if the whole interval of a ratio is on the right side of the limit, or a median in its unit;
# "below" if none of it is; else "cannot tell". Of 3 to 5 pairs, which have no interval, all on the right side are a PASS.
function reached(i,    v, beyond, within) {
	v = must_value(i)
	if (v == "")
		return "not measured"
	if (must_of[i] != "ratio")
		beyond = within = v
	else if (pairs[must_name[i]] < 3)
		return "cannot tell"
	else if (must_compare[i] == "<=") {
		within = ratio_low == "" ? ratio_most : ratio_high
		beyond = ratio_low
	} else {
		within = ratio_low == "" ? ratio_least : ratio_low
		beyond = ratio_high
	}
	if (must_compare[i] == "<=" ? within <= must_limit[i] : within >= must_limit[i])
		return "PASS"
	if (must_of[i] == "ratio" && ratio_low == "")
		return "cannot tell"
	return (must_compare[i] == "<=" ? beyond > must_limit[i] : beyond < must_limit[i]) ? "below" : "cannot tell"
}

# Sets ratio_of, ratio_low and ratio_high, too.
function must_value(i) {
	interval(must_name[i])
	return must_of[i] == "ratio" ? ratio_of : median(must_name[i], "rdmark")
}

function verdict(    i, v, what) {
	print "\nMust reach:"
	for (i = 1; i <= musts; i++) {
		v = must_value(i)
		what = must_of[i] == "ratio" ? "ratio" : unit[must_name[i]]
		printf "%-12s %-34s %s %s, wanted %s %g\n", reached(i), text[must_name[i]], what,
			v == "" ? "not measured" : must_of[i] == "ratio" ? shown_interval() : number(v),
			must_compare[i], must_limit[i]
	}
	print "(that the number of control messages does not grow with -q is a test of `make check`)"
}

function tool_json(name, tool,    i, list) {
	for (i = 1; i <= count[name, tool]; i++)
		list = list (i > 1 ? ", " : "") (sample[name, tool, i] + 0)
	return sprintf("{\"median\": %s, \"samples\": [%s]}", or_null(median(name, tool)), list)
}

function document(    i, name, list) {
	printf "{\n  \"schema_version\": 1,\n  \"where\": %s,\n  \"device\": %s,\n  \"machine\": %s,\n", quoted(where),
		quoted(fact["device"]), quoted(fact["machine"]) >json
	printf "  \"rdmark_version\": %s,\n  \"perftest_version\": %s,\n  \"rounds\": %d,\n  \"seconds\": %d,\n",
		quoted(fact["rdmark"]), quoted(fact["perftest"]), fact["rounds"], fact["seconds"] >json
	printf "  \"measurements\": [\n" >json
	for (i = 1; i <= measures; i++) {
		name = order[i]
		list = text[name]
		if (match(list, / \[[0-9]\]$/))
			list = substr(list, 1, RSTART - 1) "; " note[substr(list, RSTART + 2, 1)]
		printf "    {\"name\": %s, \"unit\": %s, \"better\": %s, \"definition\": %s,\n", quoted(name),
			quoted(unit[name]), quoted(direction[name]), quoted(list) >json
		interval(name)
		printf "     \"perftest\": %s,\n     \"rdmark\": %s,\n     \"pairs\": %d, \"ratio\": %s, \"ratio_low\": %s, \"ratio_high\": %s}%s\n",
			tool_json(name, "perftest"), tool_json(name, "rdmark"), pairs[name], or_null(ratio_of),
			or_null(ratio_low), or_null(ratio_high), (i < measures ? "," : "") >json
	}
	printf "  ],\n  \"must_reach\": [\n" >json
	for (i = 1; i <= musts; i++)
		printf "    {\"name\": %s, \"of\": %s, \"value\": %s, \"comparison\": %s, \"limit\": %s, \"reached\": %s}%s\n",
			quoted(must_name[i]), quoted(must_of[i]), or_null(must_value(i)), quoted(must_compare[i]), must_limit[i],
			(reached(i) == "PASS" ? "true" : reached(i) == "below" ? "false" : "null"), (i < musts ? "," : "") >json
	printf "  ],\n  \"failed_runs\": [" >json
	for (i = 1; i <= failures; i++)
		printf "%s%s", (i > 1 ? ", " : ""), quoted(failed[i]) >json
	printf "]\n}\n" >json
	close(json)
}

END {
	table()
	verdict()
	document()
	for (i = 1; i <= musts; i++)
		if (reached(i) == "below" || reached(i) == "not measured")
			exit 3
}
