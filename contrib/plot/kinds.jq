# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The kinds of pictures, and which one is drawn. picture: runs to a script for gnuplot.

# --- against the axis --------------------------------------------------------------------------

def samples: if all(.[]; .step != "") then "calls" else "messages" end;

# A rate is not less than 0, however unsure.
def low_end($v; $w): [0, $v * (1 - $w)] | max;

# Of curves: a series for each and each of NAMES, whose values are in .v of the rows, in that order.
def series($names):
	length as $curves
	| [to_entries[] | .key as $i | .value as $curve | $names | to_entries[] | .key as $q | .value as $name
		| {
			legend: (if $names == [""] then $curve.legend elif $curves == 1 then $name else "\($curve.legend), \($name)" end),
			color: (if $curves == 1 then $q else $i end), dashed: ($curves > 1 and $q > 0),
			marked: [$curve.at[] | select(any(.rows[]; .disturbed and .v[$q] != null)) | [.x, (.rows | spread(.v[$q])[0])]],
			points: [$curve.at[] | [.x] + (.rows | if length == 1 and .[0].whisker then .[0] as {v: [$v], whisker: $w} | [$v, low_end($v; $w), $v * (1 + $w)]
				else spread(.v[$q]) end) | select(.[1] != null)],
			dots: [$curve.at[] | .x as $x | .rows | select(length > 1) | length as $n
				| to_entries[] | [$x, .key / ($n - 1), .value.v[$q], .value.disturbed] | select(.[2] != null)]
		} | select(.points != [])];

# Bars: those that share an x beside each other; or, all at one x, each with its legend below it.
def grouped_bars($o; $x; $values; $ceilings):
	if ($values | length) == 1 then
		[.[].legend | if . != "" then split(", ") else [$values[0] | if type == "array" then .[] | tostring else words($x) end] end] as $names
		| [{legend: "", points: [to_entries[] | [.key] + .value.points[0][1:]],
			marked: [to_entries[] | .key as $i | .value.marked[] | [$i, .[1]]],
			dots: [to_entries[] | .key as $i | .value.dots[] | [$i, .[1:][]]]}]
		| bars($o; ""; $names; $ceilings; empty; empty)
	else
		map((.points[], .marked[], .dots[])[0] |= (. as $x | $values | index([$x])))
		| bars($o; axis_name($x); [$values[] | if type == "array" then map(tostring) else [words($x)] end]; $ceilings; empty; empty)
	end;

# Rows with .v: NAMES[i] is that of .v[i]. WHAT and UNIT are for title and axis, and so is ASIDE, if any; AXIS
# sets the y axis. CEILINGS go across; MORE and KEYS as of lines.
def against($runs; $o; $x; $names; what; aside; unit; axis; $ceilings; more; keys):
	curves($runs; $x) as $curves
	| sorts($x) as $values
	| ($curves | series($names)) as $series
	| notes($runs),
	  prelude($o; "\(what): \(subject)"; shared($x), ([($curves | repeats), aside] | join("; "))),
	  axes($o; if ($values | length) == 1 then "" elif $x == "size" and samples == "calls" then "size of the memory region [bytes]" else axis_name($x) end; unit), axis,
	  if any($curves[]; .at | length > 1) and all($values[]; type == "number") then
		([$curves[].at[].x] | x_axis($o; $x)), ($series | lines($o; $ceilings; more; keys))
	  else $series | grouped_bars($o; $x; $values; $ceilings) end;

# What the link and PCIe carry; both directions, twice that: ceilings.
def ceilings:
	[.[] | (.direction == "both") as $both
		| {rate: .line, name: "line rate", dash: ["(16,6)", "(16,5,3,5)"], text: ["- ", "-- "], sign: "-="},
		  {rate: .pcie, name: "PCIe link", dash: ["(4,6)", "(4,4,4,12)"], text: ["= ", "== "], sign: "~^"}
		| select(.rate != null and .rate > 0) | (.rate * if $both then 2 else 1 end | tenth) as $gbps
		| {gbps: $gbps, name: "\(.name)\(if $both then ", both directions" else "" end) \($gbps) Gb/s",
			dash: .dash[if $both then 1 else 0 end], text: .text[if $both then 1 else 0 end], sign: .sign[if $both then 1 else 0 end:][:1]}]
	| unique | sort_by(.dash, .gbps) | .[:6];

def bandwidth($runs; $o; $x):
	ceilings as $ceilings
	| map(.v = [.gbps])
	| against($runs; $o; $x; [""]; "Bandwidth"; empty; "bandwidth [Gb/s]"; y_axis($o; .[].gbps, $ceilings[].gbps);
		$ceilings; empty; empty);

# In thousands or millions a second; what the link carries is a curve over size.
def rate($runs; $o; $x):
	([.[].rate] | max) as $most
	| (if $most >= 1e6 then [1e6, "millions"] else [1e3, "thousands"] end) as [$unit, $word]
	| (if $x == "size" and (sorts("size") | length > 1) then ceilings else [] end) as $ceilings
	| map(.v = [.rate / $unit])
	| against($runs; $o; $x; [""]; "Message rate"; empty; "messages a second [\($word)]"; y_axis($o; .[].v[0]); [];
		$ceilings[] | "\(.gbps * 1e9 / 8 / $unit) / x " + if $o.text then "with points pt '\(.sign)'" else "title '\(.name)' \(dashes)" end;
		$ceilings[] | "\(.sign) \(.name)");

def quantiles: ["min", "median", "p90", "p99", "p99.9", "p99.99", "max"];

def trip: if all(.[]; .step != "") then "each call" else [.[].options.test // "" | test("^(read|atomic)_")] | unique
	| if . == [false] then "half round trip" elif . == [true] then "whole round trip" else "half round trip, of READs and atomics whole ones" end end;

# Those of the quantiles that too few messages were measured for.
def too_few($which):
	. as $rows | [$which[] | . as $q | select(all($rows[]; .us[$q] == null)) | quantiles[.]]
	| if . == [] then empty else "\(join(", ")): too few \($rows | samples)" end;

def latency($runs; $o; $x):
	(if curves($runs; $x) | length > 1 then [1, 3] else [0, 1, 3, 4, 6] end) as $which
	| map(.v = [.us[$which[]]])
	| against($runs; $o; $x; [$which[] | quantiles[.]]; "Latency, \(trip)"; too_few($which); "latency [us]";
		us_axis("y"; .[].v[]); []; empty; empty);

# --- threads, devices --------------------------------------------------------------------------

# One message size: the largest that all runs have, or if there is none the largest of each.
def one_size:
	([.[].run] | unique | length) as $runs
	| ([group_by(.bytes)[] | select([.[].run] | unique | length == $runs)] | last)
	// [group_by(.run)[] | group_by(.bytes)[-1][]];

# WHAT: "thread" or "device".
def parts($runs; $o; $what):
	any(.[]; .gbps != null) as $is_bandwidth
	| ([.[].device] | unique | length > 1) as $devices
	| one_size
	| map(.options.direction = .direction
		| .options[$what] = (if $what == "device" then [.device] elif $devices then [.thread, .device] else [.thread] end)
		| .v = if $is_bandwidth then [.gbps] else [.us[1, 3]] end)
	| against($runs; $o; $what; if $is_bandwidth then [""] else ["median", "p99"] end;
		if $is_bandwidth then "Bandwidth of each \($what)" else "Latency of each \($what), \(trip)" end;
		empty; if $is_bandwidth then "bandwidth [Gb/s]" else "latency [us]" end;
		if $is_bandwidth then y_axis($o; .[].v[]) else us_axis("y"; .[].v[]) end; []; empty; empty);

# --- runs beside the first ---------------------------------------------------------------------

# How runs differ, but for what is on the axis or makes curves within a run: "qp (1 QP, 2 QPs)". An option that
# one test has not is no difference of its own.
def unlike($keys; $x):
	. as $rows
	| [(varying - $keys - [$x])[] | . as $key | [$rows[].options | select(has($key)) | .[$key]] | unique | map(words($key))
		| reduce .[] as $one ([]; . + ([$one] - .)) | select(length > 1) | "\($key | short) (\(join(", ")))"] | join(", ");

# .v of the rows by the middle of that of the first run's rows that are alike, where there are any; and of
# bandwidths that were measured once the whisker, a fraction: the interval of both.
def by_first($keys; $x):
	def like: [.options[$keys[], $x]] | tojson;
	(map(select(.run == 0)) | group_by(like)
		| map({key: (.[0] | like), value: {v: [range(.[0].v | length) as $q | spread(.v[$q])[0]], half: (if length == 1 then .[0].half else null end),
			disturbed: any(.[]; .disturbed)}})
		| from_entries) as $first
	| map($first[like] as {v: $of, half: $half, disturbed: $disturbed} | select($of != null)
		| .disturbed = (.disturbed or $disturbed)
		| .whisker = (if .gbps == null or .half == null or $half == null then null
			elif .run == 0 then .half / 100 else ([.half, $half] | map(. * .) | add | sqrt) / 100 end)
		| .v |= [. as $v | range(length) as $q | if $v[$q] != null and $of[$q] != null and $of[$q] > 0 then $v[$q] / $of[$q] else null end]
			| select(any(.v[]; . != null)));

def ratio($runs; $o; $x):
	if [.[].run] | unique | length < 2 then stop("--kind ratio: it needs at least two files with results; each is divided by the first") else . end
	| if [.[] | .direction == "both"] | unique | length > 1
	  then stop("--kind ratio: some results are of both directions (-b), some of one. Fix: compare runs of the same kind") else . end
	| (if all(.[]; .gbps != null) then [[""], "Bandwidth"]
	   elif any(.[]; .gbps != null) then stop("--kind ratio: some results are bandwidth, some latency. Fix: compare runs of the same kind")
	   elif any(.[]; .run != 0 and .us[3] != null) then [["median", "p99"], "Latency"] else [["median"], "Latency"] end) as [$names, $what]
	| ([group_by(.run)[] | splitting($x)[]] | unique) as $keys
	| map(.v = if $what == "Bandwidth" then [.gbps] else [.us[1, 3]][:$names | length] end)
	| . as $all
	| by_first($keys; $x) as $drawn
	| (unlike($keys; $x)) as $differ
	| if [$drawn[].run] | unique | length < 2
	  then stop("--kind ratio: no result of \($runs[1].name) matches one of \($runs[0].name)\($all | unlike([]; "") | if . == "" then "" else "; they differ in \(.)" end)") else $drawn end
	| (if $differ == "" then empty else note("the runs differ in \($differ)") end),
	  against($runs; $o; $x; $names; "\($what) relative to \($runs[0].name)"; empty; "\($what | ascii_downcase) relative to \($runs[0].name)\(if any(.[]; .whisker) then "; bars: ± 95 %" else "" end)";
		def ends: .whisker as $w | .v[] | select(. != null) | if $w then low_end(.; $w), . * (1 + $w) else . end;
		if $o.log or (sorts($x) | length == 1) then y_axis($o; .[] | ends)
		else [.[] | ends] | ([0.02, (max - min) * 0.08] | max) as $room
			| "set yrange [\(min - $room):\(max + $room)]" end;
		[]; empty; empty);

# --- distributions -----------------------------------------------------------------------------

def percentiles($runs; $o):
	one_size
	| . as $rows
	| curves($runs; "") as $curves
	| notes($runs),
	  prelude($o; "Latency percentiles, \(trip): \(subject)"; shared(""), ([($curves | repeats), too_few([range(7)])] | join("; "))),
	  "set xrange [-0.3:6.3]", tics("x"; quantiles | to_entries[] | "'\(.value)' \(.key)"),
	  axes($o; "share of \(samples) that took no longer"; "latency [us]"),
	  us_axis("y"; $rows[].us[]),
	  ([$curves[] | .at[0].rows as $of
		| {legend, points: [range(7) as $q | [$q] + ($of | spread(.us[$q])) | select(.[1] != null)]}
		| .marked = (if any($of[]; .disturbed) then [.points[][:2]] else [] end)]
		| lines($o; []; empty; empty));

# Of each curve the row in the middle: [{legend, row}].
def middles($runs): [one_size | curves($runs; "")[] | {legend, row: (.at[0].rows | middle(.us[1]))}];

# The classes of a histogram, thousands of them, into COUNT wider ones.
def wider($from; $ratio; $count):
	reduce .[] as [$low, $high, $n] ([range($count) | 0];
		(((($low * $high) | sqrt) / $from | log) / ($ratio | log) | floor | if . < 0 then 0 elif . >= $count then $count - 1 else . end) as $i
		| .[$i] += $n);

def worded: [.legend, if .row.disturbed then disturbed_key else "" end | select(. != "")] | join(", ");

def histogram($runs; $o):
	middles($runs) as $s
	| [$s[].row] as $rows
	| ([$rows[].classes[][1]] | max) as $high
	| ([$rows[].classes[][0] | select(. > 0)] | min // $high / 2) as $low
	| (if $o.text then [$o.width - 20, 10] | max else 120 end) as $count
	| pow($high / $low * 1.0001; 1 / $count) as $ratio
	| [if ($s | length) == 1 then $rows[0].us as $us | [1, 3, 4][] | select($us[.] != null)
		| {us: $us[.], name: "\(quantiles[.]) \($us[.] | figure) us\(if $us[.] > $high * 1.02 then " (not in the picture)" else "" end)", style: (if $o.text then "" else "dt (6,6) lw 1.5 lc rgb '#\(palette[.])'" end)} else empty end] as $marks
	| prelude($o; "Latency histogram, \($rows | trip): \($rows | subject)"; $rows | shared("")),
	  axes($o; "latency [us]"; "messages"), us_axis("x"; $low, $high), "set xrange [\($low / 1.02):\($high * 1.02)]",
	  "set logscale y", "set yrange [0.5:*]", "set format y '\(if $o.text then "%.0f" else "10^{%T}" end)'",
	  ($s | to_entries[] | data("s\(.key)"; .value.row.classes | wider($low; $ratio; $count) | to_entries[]
		| select(.value > 0) | [$low * pow($ratio; .key + 0.5), .value, $low * pow($ratio; .key), $low * pow($ratio; .key + 1)])),
	  ($marks[] | "set arrow from \(.us), graph 0 to \(.us), graph \(if $o.text then 0.95 else 1 end) nohead front \(.style)"),
	  text_key($o; ($s | to_entries[] | "\(.key | sign) \(.value | worded)"), ($marks[] | "| \(.name)")),
	  plot(($s | to_entries[] | (.value.row.disturbed and ($o.text | not)) as $hollow
			| "$s\(.key) using 1:2:3:4:(0.5):2 with boxxyerror \(.value | worded | titled) "
			+ if $o.text then "lt \(.key % 7 + 1)" elif $hollow then "fs solid 0 border \(.key | color($o)) lw 1.5 \(.key | color($o))"
				elif ($s | length) > 1 then "fs transparent solid 0.5 noborder \(.key | color($o))" else "fs solid 0.8 noborder \(.key | color($o))" end),
		($marks[] | select($o.text | not) | "NaN title '\(.name)' with lines \(.style)"));

# Of classes to [[nines, us]]: 1 is 90 %, 2 is 99 %. It ends where one message is left.
def nines:
	(map(.[2]) | add) as $all
	| [foreach .[] as [$low, $high, $n] ([0, 0, 0]; [.[0] + $n, $high, .[0]];
		[((if .[0] >= $all then 1 else $all - .[0] end) / $all | -log10), .[1], $all - .[2]])];

# Latency against nines. Where fewer than ten messages are beyond, it is not drawn as sure.
def ccdf($runs; $o):
	middles($runs) as $s
	| [$s[].row] as $rows
	| [$s[] | {legend: worded, disturbed: .row.disturbed, steps: (.row.classes | nines)}] as $curves
	| ([$curves[].steps[][0], 1] | max | ceil) as $most
	| prelude($o; "Latency by share of messages, \($rows | trip): \($rows | subject)"; $rows | shared("")),
	  axes($o; "share of messages that took no longer; dashed: fewer than 10 beyond"; "latency [us]"),
	  us_axis("y"; $curves[].steps[][1]), "set xrange [0:\($most * 1.02)]",
	  tics("x"; "'0 %%' 0", (if $o.text then empty else "'50 %%' 0.30103" end),
		(range(1; $most + 1) | "'\(if . < 3 then 100 - pow(10; 2 - .) else "99.\("9" * (. - 2))" end) %%' \(.)")),
	  ($curves | to_entries[] | .value.steps as $steps | ([$steps[] | select(.[2] >= 10)] | length) as $sure
		| data("s\(.key)"; [0, $steps[0][1]], $steps[:$sure][][:2]), data("d\(.key)"; $steps[[$sure - 1, 0] | max:][][:2]),
		  (select(.value.disturbed) | data("ms\(.key)"; range(0; $most * 2) as $half | first($steps[] | select(.[0] >= $half / 2)) | [$half / 2, .[1]]))),
	  text_key($o; $curves | to_entries[] | "\(.key | sign) \(.value.legend)"),
	  plot($curves | to_entries[] | (if $o.text then "lt \(.key % 7 + 1)" else .key | color($o) end) as $color
		| "$s\(.key) using 1:2 with fsteps \($color) lw 2 \(.value.legend | titled)",
		"$d\(.key) using 1:2 with fsteps \($color) lw 1.5 \(if $o.text then "" else "dt (4,4)" end) notitle",
		(select(.value.disturbed and ($o.text | not)) | {name: "s\(.key)", color: .key} | hollow($o)));

# --- gdr_bw ------------------------------------------------------------------------------------

# Bars by cell, a color for each run and direction, with the range of the windows.
def cells($runs; $o):
	. as $rows
	| (reduce $rows[] as $p ([]; [$p.cell, $p.route] as $k | if index([$k]) then . else . + [$k] end)) as $names
	| ([$rows | group_by([.run, .direction])[] | {
		legend: ([(if ($runs | length) > 1 then $runs[.[0].run].name else empty end), (.[0].direction | words("direction"))] | join(", ")),
		host: ([.[] | select(.cell == "host").gbps] | last),
		at: [group_by([.cell, .route])[] | middle(.gbps)
			| {disturbed, point: [([.cell, .route] as $k | $names | index([$k])), .gbps, .low, .high, .ceiling]}]
		}
		| .points = [.at[].point] | .marked = [.at[] | select(.disturbed).point]]) as $s
	| (0.4 / ($s | length)) as $half
	| "ceiling: link or PCIe" as $ceiling
	| [$s | to_entries[] | select(.value.host != null and ($s | length) <= 2)
		| {gbps: .value.host, name: "host memory, \(.value.legend): \(.value.host | figure) Gb/s", key}] as $hosts
	| prelude($o; "GPU memory compared with host memory: \($rows | map(select(.cell != "staged")) | subject)"; ($rows | shared("")),
		"median of the windows\(if $o.text then " (lowest-highest)" else "; whiskers: lowest to highest" end)"),
	  y_axis($o; $rows[] | .gbps, .high, .ceiling), axes($o; "cell and route to GPU memory"; "bandwidth [Gb/s]"),
	  ($s | bars($o; "cell and route to GPU memory"; [$names[] | if .[1] == "host" or .[1] == "copy" then [.[0]]
			else map(select(. != "")) end]; [];
		($hosts[] | select($o.text | not) | "\(.gbps) title \(.name | quoted) with lines lw 2 dt (12,8) \(.key | color($o))"),
		(to_entries[] | "$s\(.key) using ($1 - \($half)):5:(\($half * 2)):(0) with vectors nohead "
			+ "\(if $o.text then "lt 7" else "lw 2.5 lc rgb '#b00020'" end) \(if .key == 0 then "title '\($ceiling)'" else "notitle" end)");
		("- \($ceiling)", $hosts[].name)));

# --- time --------------------------------------------------------------------------------------

# A line breaks where another run of the same starts at 0 again. An interval is of what this end sends.
def over_time($runs; $o):
	any(.[]; .gbps != null) as $is_bandwidth
	| map(.y = if $is_bandwidth then .gbps else .mean end | select(.y != null))
	| ([.[].s] | max) as $last
	| (if $is_bandwidth then ceilings else [] end) as $ceilings
	| prelude($o; "\(if $is_bandwidth then "Bandwidth" else "Mean latency" end) over time: \(subject)"; shared("")),
	  axes($o; "time since the start [s]"; if $is_bandwidth then "bandwidth [Gb/s]" else "mean latency [us]" end),
	  y_axis($o; .[].y, $ceilings[].gbps), "set xrange [0:\($last * 1.02)]",
	  ([curves($runs; "")[] | {legend, marked: [.at[0].rows[] | select(.disturbed) | [.s, .y]], points: [foreach .at[0].rows[] as $row ([0, 0]; [$row.s, .[0]];
		(if .[0] < .[1] then [null, null] else empty end), [$row.s, $row.y])]}] | lines($o; $ceilings; empty; empty));

# --- trend --------------------------------------------------------------------------------------

# The clock of documents counts seconds: runs of the same second follow each other within it.
def spread_out: [group_by(.when)[] | length as $n | to_entries[] | .key as $i | .value | .when += if .n == 1 then $i / $n else 0 end];

# What joins points: those nearer to each other than WIDTH would be one stroke, so it goes through their mean.
def joined($width): reduce .[] as [$x, $y] ([]; if . != [] and $x - .[-1][0][0] < $width then .[-1] += [[$x, $y]] else . + [[[$x, $y]]] end)
	| map(transpose | map(add / length));

def time_axis($o; $from; $to):
	([($to - $from) * 0.04, if $from == $to then 60 else 1 end] | max) as $room
	| "set xrange [\($from - $room):\($to + $room)]",
	  "set xtics \(($to - $from + 2 * $room) / fitting($o) | . as $step
		| (if $step > 43200 then 86400 elif $step > 1800 then 3600 elif $step > 20 then 60 else 1 end) as $unit | ($step / $unit | ceil) * $unit)",
	  "set format x '\(if $to - $from < 240 then "%H:%M:%S" elif $to - $from < 86400 then "%H:%M" elif $to - $from < 30000000 then "%m-%d" else "%Y-%m" end)' timedate";

# Bandwidth, or the median of latency, of each run at the time that it began, as days or as hours; runs that
# failed at the bottom.
def trend($runs; $o):
	[.[] | select(.failed)] as $failed
	| map(select(.failed | not))
	| any(.[]; .gbps != null) as $is_bandwidth
	| map(.y = if $is_bandwidth then .gbps else .us[1] end | select(.y != null and .when != null))
	| if . == [] then stop("--kind trend: no result says when it was measured") else . end
	| ([.[].when, $failed[].when] | [min, max]) as [$from, $to]
	| (if $is_bandwidth then ceilings else [] end) as $ceilings
	| "failed: \([$failed[].n] | add // 0 | plural("run"))" as $said
	| notes($runs),
	  prelude($o; "\(if $is_bandwidth then "Bandwidth" else "Median latency, \(trip)" end) of each run: \(subject)"; shared(""),
		([([.[].bad] | add | select(. > 0) | "\(.) of") + " " + ([.[].n] | add | plural("run")) + " disturbed",
			([.[].n] | max | select(. > 1) | "mean of up to \(.) runs a point; bars: lowest to highest")] | join("; "))),
	  axes($o; "start of the run (UTC)"; if $is_bandwidth then "bandwidth [Gb/s]" else "latency [us]" end),
	  y_axis($o; .[].y, (.[] | select(.n > 1).high), $ceilings[].gbps), time_axis($o; $from; $to),
	  (if $failed == [] then empty else "set y2range [0:1]", data("failed"; $failed[] | [.when, 0.02]) end),
	  ([curves($runs; "")[] | (.at[0].rows | spread_out) as $rows
		| {legend, points: [$rows[] | [.when, .y] + if .n > 1 then [.low, .high] else [] end], marked: [$rows[] | select(.disturbed) | [.when, .y]]}
		| .path = (.points | joined(($to - $from) / $o.width * if $o.text then 1 else 12 end))]
		| lines($o; $ceilings;
			if $failed == [] then empty elif $o.text then "$failed using 1:2 axes x1y2 with points pt 'x'"
			else "$failed using 1:2 axes x1y2 with points pt 2 ps 1.2 lw 2.5 lc rgb '#b00020' title '\($said)'" end;
			if $failed == [] then empty else "x \($said)" end));

# --- which ---------------------------------------------------------------------------------------

def has_kind($kind): {
	bandwidth: (.gbps != null and .cell == ""), rate: (.rate != null), latency: (.us[1] != null), percentiles: (.us[1] != null),
	histogram: (.classes != []), ccdf: (.classes != []), ratio: (.cell == "" and (.gbps != null or .us[1] != null)),
	cells: (.cell != "" and .gbps != null), threads: (.thread != null), devices: (.thread == null or .options.threads == 1), trend: (.failed or .cell == ""), time: (.s != null)}[$kind];

def missing($kind): stop("no data for --kind \($kind) in \([.[].file] | join(", "))"
	+ ({histogram: ": make the documents with -H", ccdf: ": make the documents with -H", cells: ": that kind is for gdr_bw",
		time: ": make the documents with --interval", threads: ": make the documents with --threads",
		devices: ": make the documents with several devices (-d A,B)", bandwidth: ": that kind is for bandwidth tests",
		latency: ": that kind is for latency tests", percentiles: ": that kind is for latency tests"}[$kind] // ""));

# The kind of rows, where none is asked for: that of the first one with a figure.
def kind_of($x):
	(map(select(.gbps != null or .us[1] != null))[0] // .[0]) as $first
	| if $first.cell != "" then "cells"
	elif $first.gbps != null then "bandwidth"
	elif $first.us[1] == null then stop("no result has a bandwidth or a median")
	elif any(curves([]; $x)[]; .at | length > 1) then "latency"
	elif all(.[]; .classes != []) then "histogram"
	else "percentiles" end;

def over_x: IN("bandwidth", "rate", "latency", "ratio");

def draw($kind; $runs; $o):
	(if $kind | over_x then x_axis_of($o.x) else "" end) as $x
	| if $kind == "bandwidth" then bandwidth($runs; $o; $x)
	  elif $kind == "rate" then rate($runs; $o; $x)
	  elif $kind == "latency" then latency($runs; $o; $x)
	  elif $kind == "ratio" then ratio($runs; $o; $x)
	  elif $kind == "threads" then parts($runs; $o; "thread")
	  elif $kind == "devices" then parts($runs; $o; "device")
	  elif $kind == "percentiles" then percentiles($runs; $o)
	  elif $kind == "histogram" then histogram($runs; $o)
	  elif $kind == "ccdf" then ccdf($runs; $o)
	  elif $kind == "cells" then cells($runs; $o)
	  elif $kind == "trend" then trend($runs; $o)
	  else over_time($runs; $o) end;

# Of a few documents, those that a picture of this KIND shows nothing of.
def absent($kind; $runs): [.[].run] as $drawn
	| range([$runs | length, 50] | min) as $i | select(($runs | length <= 50) and ($drawn | index($i) | not))
	| note("\($runs[$i].name): no figure for --kind \($kind), not drawn");

# O: kind and x ("": as it comes), title, bytes (0: all), log, text, width.
def picture($o):
	def asked_for: select($o.bytes == 0 or .bytes == $o.bytes or .failed);
	# A curve alone in a picture needs no name, unless it was given one; letters of text do.
	map(.label = if $o.labelled or $o.text then .name else "" end) as $runs
	| [.[].rows[] | asked_for] as $rows
	| [.[].intervals[] | asked_for] as $intervals
	| (if $o.kind != "" then $o.kind elif $rows != [] then $rows | kind_of(x_axis_of($o.x)) elif $intervals != [] then "time"
	   else stop("no result has messages of \($o.bytes) bytes") end) as $kind
	| (if $kind == "time" then $intervals elif $kind | IN("threads", "devices") then [.[].parts[] | asked_for] else $rows end
		| map(select(has_kind($kind)))) as $drawn
	| (reduce ($drawn[].title | select(. != null)) as $title ([]; . + ([$title] - . - [""])) | join("; ")) as $titles
	| (if $o.title == "" and $titles != "" then $o + {title: $titles, named: true} else $o end) as $o
	| if $o.x != "" and ($kind | over_x | not) then stop("-x: --kind \($kind) has an axis of its own")
	  elif $drawn == [] then missing($kind) else ($drawn | absent($kind; $runs)), ($drawn | draw($kind; $runs; $o)) end;
