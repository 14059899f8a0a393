# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# With stats.awk: from what tests/bench/native wrote to its tables and its part of the JSON document;
# -v json=FILE. Exit status 3 if something that must be reached was not.

BEGIN {
	# case, its ideal, text
	variant("one", "one", "")
	variant("inline", "inline", " -I 8")
	variant("qps16", "one", " -q 16")
	variant("list32", "list32", " -l 32")
	variant("qps16_list32", "qps16_list32", " -q 16 -l 32")
	variant("qps1024", "one", " -q 1024")
	variant("duration", "one", " -D")
	variant("counters", "one", " with counters")
	variant("default", "one", " -n 20000 [1]")
	variant("list8", "list8", " -l 8")
	variant("each", "each", " -Q 1")
	variant("footprint", "footprint", " --footprint 1m")
	variant("rate", "rate", " --rate_limit")
	variant("burst32", "burst32", " --rate_limit --burst_size 32")
	variant("rate_list32", "rate_list32", " --rate_limit -l 32")
	variant("xrc", "one", " -c XRC")
	arguments_of["receive1"] = " --recv_post_list 1"

	other("steps.send_lat", "instructions", "send_lat: from arrival to answer")
	other("steps.write_lat", "instructions", "write_lat: from arrival to answer")
	other("steps.read_lat", "instructions", "read_lat: from completion to next post")
	other("steps.atomic_lat", "instructions", "atomic_lat: from completion to next post")
	other("ir.read_lat", "instructions", "read_lat: a whole iteration")
	other("ir.read_lat_events", "instructions", "read_lat -e: a whole iteration")
	other("ir.atomic_lat", "instructions", "atomic_lat: a whole iteration")
	other("ir.send_lat", "instructions", "send_lat: a whole iteration")
	other("cost.hist", "instructions", "histogram: a sample")
	other("cost.peak", "instructions", "peak: a sample")
	other("cost.percentiles_ms", "ms", "percentiles of 10^8 samples")
	other("snapshot.write_bw_ms", "ms", "write_bw -n 1000: snapshots add")
	other("snapshot.write_bw_sweep_ms", "ms", "write_bw -a -n 1000: a size, the same")
	other("write_bw.start_1024_ms", "ms", "write_bw -q 1024 -n 5 -t 5: wall time")
	other("write_bw.sweep_ms", "ms", "write_bw -a -n 5000: wall time")

	split("write_bw send_bw read_bw atomic_bw", program)
	for (p = 1; p in program; p++)
		must_of_sender(program[p])
	for (p = 1; p <= 2; p++)
		must(program[p] " -n 20000: time", "ns." program[p] ".default", "rdmark", "perftest", 0.42)
	must("send_bw server: instructions", "ir.send_bw_server.one", "rdmark*", "perftest*", 0.06)
	for (a = 1; a in api; a++)
		must("send_bw server -q 1024: with the stand-in, " polled_by[a], "ir_all.send_bw_server.qps1024", "rdmark" api[a], "one", 1.15)
	must("read_lat: a whole iteration", "ir.read_lat", "rdmark", "ideal_send", 1.15)
	must("read_lat -e: a whole iteration", "ir.read_lat_events", "rdmark", "ideal_send", 1.2)
	must("atomic_lat: a whole iteration", "ir.atomic_lat", "rdmark", "ideal_send", 1.15)
	must("send_lat: a whole iteration", "ir.send_lat", "rdmark", "ideal_send", 1.15)
	must("send_lat: arrival to answer", "steps.send_lat", "rdmark", "ideal_send", 1.07)
	must("send_lat: arrival to answer", "steps.send_lat", "rdmark", "perftest", 0.15)
	must("write_lat: arrival to answer", "steps.write_lat", "rdmark", "ideal_send", 1.15)
	must("write_lat: arrival to answer", "steps.write_lat", "rdmark", "perftest", 0.25)
	must("read_lat: completion to next post", "steps.read_lat", "rdmark", "ideal_send", 1.07)
	must("read_lat: completion to next post", "steps.read_lat", "rdmark", "perftest", 0.25)
	must("atomic_lat: completion to next post", "steps.atomic_lat", "rdmark", "ideal_send", 1.07)
	must("atomic_lat: completion to next post", "steps.atomic_lat", "rdmark", "perftest", 0.25)
	must("histogram: instructions a sample", "cost.hist", "rdmark", "", 10.5)
	must("peak: instructions a sample", "cost.peak", "rdmark", "", 100)
	must("percentiles of 10^8 samples: ms", "cost.percentiles_ms", "rdmark", "", 1)
	must("write_bw -n 1000: what the snapshots add, ms", "snapshot.write_bw_ms", "rdmark", "", 20)
	must("write_bw -q 1024: start to end", "write_bw.start_1024_ms", "rdmark", "perftest", 0.2)
	must("write_bw -a: start to end", "write_bw.sweep_ms", "rdmark", "perftest", 0.1)
	while ((getline line <"tests/bench/limits") > 0)
		if (line !~ /^#/) {
			split(line, part, /[. ]/)
			must_of_row(part[1], part[2], part[3], substr(line, match(line, /[^ ]*$/)))
		}
	while ((getline line <"tests/bench/budget") > 0)
		if (line !~ /^#/) {
			split(line, part, " ")
			what = line
			sub(/^[^ ]* [^ ]* /, "", what)
			must(what, "start." part[1], "rdmark", "", part[2])
			other("start." part[1], "", what)
		}

	note[1] = "perftest's default measures the peak, up to 20000 messages: it reads the clock twice a message"
}

function variant(name, ideal, arguments) {
	cases[++variants] = name
	ideal_case[name] = ideal
	arguments_of[name] = arguments
	api[1] = "_send"
	api[2] = "_wr"
	by[1] = ", ibv_post_send"
	by[2] = ", ibv_wr_*"
	polled_by[1] = "ibv_poll_cq"
	polled_by[2] = "ibv_start_poll"
}

# A row of tests/bench/limits.
function must_of_row(program, name, call, limit,    a) {
	a = call == "wr" ? 2 : 1
	must(text_of(program) arguments_of[name] ", " (program ~ /server/ ? polled_by[a] : substr(by[a], 3)) ": instructions",
		"ir." program "." name, "rdmark" api[a], "ideal" api[a], limit)
}

# "send_bw_server" as it is shown.
function text_of(program) {
	sub(/_server/, " server", program)
	return program
}

function other(name, u, t) {
	others[++other_count] = name
	unit[name] = u
	text[name] = t
}

function must_of_sender(program,    a, one, list, ns) {
	one = "ir." program ".one"
	# Of a list the program alone does next to nothing: what counts is what it comes to.
	list = "ir_all." program ".list32"
	ns = "ns." program
	for (a = 1; a in api; a++) {
		must(program " -l 32: with the stand-in" by[a], list, "rdmark" api[a], "ideal" api[a], a == 1 ? 1.06 : 1.13)
		must(program " -l 32: with the stand-in" by[a], list, "rdmark" api[a], "perftest" api[a], 0.9)
		must(program " -q 1024: instructions" by[a], "ir." program ".qps1024", "rdmark" api[a], "one", 1.05)
	}
	must(program ": instructions", one, "rdmark*", "perftest*", 0.11)
	must(program ": time", ns ".one", "rdmark", "perftest", 0.72)
}

# THIS of NAME by THAT of it, or by THIS with one QP; or THIS itself.
function must(t, name, this, that, limit) {
	must_text[++musts] = t
	must_name[musts] = name
	must_this[musts] = this
	must_that[musts] = that
	must_limit[musts] = limit
}

# TOOL's median; with a * the least of it in either API.
function value(name, tool,    least, i, v) {
	if (tool ~ /^perftest_wr/)
		tool = "perftest"	# its own choice where there is ibv_wr_*
	if (tool !~ /\*$/)
		return median(name, tool)
	sub(/\*$/, "", tool)
	least = median(name, tool)
	for (i = 1; i in api; i++) {
		v = median(name, tool api[i])
		if (least == "" || (v != "" && v < least))
			least = v
	}
	return least
}

function ratio(v, of) {
	return v == "" || of == "" || of <= 0 ? "" : v / of
}

function must_value(i,    name, of) {
	name = must_name[i]
	if (must_that[i] == "")
		return value(name, must_this[i])
	if (must_that[i] != "one")
		return ratio(value(name, must_this[i]), value(must_that[i] ~ /^ideal_/ ? ideal_name(name) : name, must_that[i]))
	of = name
	sub(/[^.]*$/, "one", of)
	return ratio(value(name, must_this[i]), value(of, must_this[i]))
}

function reached(i,    v) {
	v = must_value(i)
	return v != "" && v <= must_limit[i]
}

# --- tables ----------------------------------------------------------------------------------------

function alone_and_all(name, tool,    v) {
	v = value("ir." name, tool)
	return v == "" ? "-" : sprintf("%.1f (%.1f)", v, value("ir_all." name, tool))
}

function shown(r) {
	return r == "" ? "-" : sprintf("%.3f", r)
}

# The measurement of the ideal loop that NAME's is compared with.
function ideal_name(name,    kind) {
	kind = name
	sub(/.*\./, "", kind)
	if (name ~ /send_bw_server/ && kind != "receive1")
		kind = "one"
	else if (kind in ideal_case)
		kind = ideal_case[kind]
	sub(/[^.]*$/, kind, name)
	return name
}

function instructions_row(name, t,    a, ideal, this, ir) {
	ir = "ir." name
	ideal = ideal_name(ir)
	for (a = 1; a in api; a++) {
		this = value(ir, "rdmark" api[a])
		if (this == "" && value(ir, "perftest" api[a]) == "")
			continue
		printf "%-23s %-14s %13s %13s %15s %8s %10s\n", t, name ~ /server/ ? polled_by[a] : substr(by[a], 3), alone_and_all(substr(ideal, 4), "ideal" api[a]),
			alone_and_all(name, "rdmark" api[a]), alone_and_all(name, "perftest" api[a]),
			shown(ratio(this, value(ideal, "ideal" api[a]))), shown(ratio(this, value(ir, "perftest" api[a])))
		t = ""
	}
}

function instructions(    p, c) {
	print "\nInstructions a message of 8 B: the program alone (with the stand-in), by callgrind"
	printf "%-23s %-14s %13s %13s %15s %8s %10s\n", "", "", "ideal", "rdmark", "perftest -N", "/ ideal", "/ perftest"
	for (p = 1; p in program; p++)
		for (c = 1; c in cases; c++)
			instructions_row(program[p] "." cases[c], program[p] arguments_of[cases[c]])
	instructions_row("send_bw_server.one", "send_bw server")
	instructions_row("send_bw_server.qps16", "send_bw server -q 16")
	instructions_row("send_bw_server.qps1024", "send_bw server -q 1024")
	instructions_row("send_bw_server.receive1", "send_bw server" arguments_of["receive1"])
}

function times(    p, c, name, ideal) {
	printf "\nNanoseconds a message of 8 B, medians of %d rounds in turns; both programs choose ibv_wr_*\n", fact["rounds"]
	printf "%-24s %10s %10s %10s %12s %8s %10s\n", "", "ideal send", "ideal wr", "rdmark", "perftest -N", "/ ideal", "/ perftest"
	for (p = 1; p in program; p++)
		for (c = 1; c in cases; c++) {
			name = "ns." program[p] "." cases[c]
			if (value(name, "rdmark") == "" && value(name, "perftest") == "")
				continue
			ideal = ideal_name(name)
			printf "%-24s %10s %10s %10s %12s %8s %10s\n", program[p] arguments_of[cases[c]],
				number(value(ideal, "ideal_send")), number(value(ideal, "ideal_wr")), number(value(name, "rdmark")),
				number(value(name, "perftest")), shown(ratio(value(name, "rdmark"), value(ideal, "ideal_wr"))),
				shown(ratio(value(name, "rdmark"), value(name, "perftest")))
		}
	if (fact["rounds"] < 3)
		print "fewer than 3 rounds: this machine is busy, do not trust the times"
	for (c = 1; c in note; c++)
		printf "[%d] %s\n", c, note[c]
}

function rest(    i, name) {
	printf "\n%-38s %-13s %10s %10s %10s %8s %10s\n", "", "", "ideal", "rdmark", "perftest", "/ ideal", "/ perftest"
	for (i = 1; i <= other_count; i++) {
		name = others[i]
		printf "%-38s %-13s %10s %10s %10s %8s %10s\n", text[name], unit[name], number(value(name, "ideal*")),
			number(value(name, "rdmark")), number(value(name, "perftest")),
			shown(ratio(value(name, "rdmark"), value(name, "ideal*"))),
			shown(ratio(value(name, "rdmark"), value(name, "perftest")))
	}
	for (i = 1; i <= failures; i++)
		printf "failed or too late, then tried again: %s\n", failed[i]
}

function compared(i) {
	if (must_that[i] == "")
		return ""
	return " / " (must_that[i] == "one" ? "one QP" : substr(must_that[i], 1, match(must_that[i], /(_|\*|$)/) - 1))
}

function verdict(    i, v) {
	print "\nMust reach:"
	for (i = 1; i <= musts; i++) {
		v = must_value(i)
		printf "%-12s %-65s %s, wanted <= %g\n", v == "" ? "not measured" : reached(i) ? "PASS" : "below",
			must_text[i] compared(i), v == "" ? "-" : sprintf("%.3f", v), must_limit[i]
	}
}

# --- JSON ------------------------------------------------------------------------------------------

function tool_json(name, tool,    i, list) {
	for (i = 1; i <= count[name, tool]; i++)
		list = list (i > 1 ? ", " : "") (sample[name, tool, i] + 0)
	return sprintf("{\"median\": %s, \"samples\": [%s]}", median(name, tool), list)
}

function measurement(name, u, definition,    i, n, tools, list) {
	n = split("ideal_send ideal_wr rdmark rdmark_send rdmark_wr perftest perftest_send", tools)
	for (i = 1; i <= n; i++)
		if (count[name, tools[i]])
			list = list (list ? ", " : "") quoted(tools[i]) ": " tool_json(name, tools[i])
	if (list)
		printf "%s    {\"name\": %s, \"unit\": %s, \"definition\": %s,\n     \"tools\": {%s}}", measurements++ ? ",\n" : "",
			quoted(name), quoted(u), quoted(definition), list >json
}

function measurements_of(program, t,    c, what) {
	for (c = 1; c in cases; c++) {
		what = t arguments_of[cases[c]] ", 8 B"
		sub(/ \[1\]/, "", what)
		measurement("ir." program "." cases[c], "instructions", what ": a message, the program alone")
		measurement("ir_all." program "." cases[c], "instructions", what ": a message, with the stand-in")
		measurement("ns." program "." cases[c], "ns", what ": a message")
	}
}

function document(    i, v) {
	printf "{\n  \"machine\": %s,\n  \"rdmark_version\": %s,\n  \"perftest_version\": %s,\n", quoted(fact["machine"]),
		quoted(fact["rdmark"]), quoted(fact["perftest"]) >json
	printf "  \"rounds\": %d,\n  \"seconds\": %d,\n  \"measurements\": [\n", fact["rounds"], fact["seconds"] >json
	measurements_of("write_bw", "write_bw, the client")
	measurements_of("send_bw", "send_bw, the client")
	measurements_of("read_bw", "read_bw, the client")
	measurements_of("atomic_bw", "atomic_bw, the client")
	measurements_of("send_bw_server", "send_bw, the server")
	for (i = 1; i <= other_count; i++)
		measurement(others[i], unit[others[i]], text[others[i]])
	printf "\n  ],\n  \"must_reach\": [\n" >json
	for (i = 1; i <= musts; i++) {
		v = must_value(i)
		printf "    {\"text\": %s, \"name\": %s, \"value\": %s, \"comparison\": \"<=\", \"limit\": %s, \"reached\": %s}%s\n",
			quoted(must_text[i] compared(i)), quoted(must_name[i]), or_null(v), must_limit[i],
			v == "" ? "null" : reached(i) ? "true" : "false", i < musts ? "," : "" >json
	}
	printf "  ],\n  \"failed_runs\": [" >json
	for (i = 1; i <= failures; i++)
		printf "%s%s", (i > 1 ? ", " : ""), quoted(failed[i]) >json
	printf "]\n}\n" >json
	close(json)
}

END {
	printf "\nOn the null stand-in for libibverbs: rdmark %s beside perftest %s; %s\n", fact["rdmark"], fact["perftest"], fact["machine"]
	instructions()
	times()
	rest()
	verdict()
	document()
	for (i = 1; i <= musts; i++)
		if (!reached(i))
			exit 3
}
