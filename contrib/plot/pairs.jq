# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# A heat map of all pairs: rows send, columns receive, in blocks as blocks.awk has made them. $o.share: the
# values are shares of an incast.

# The part of the best: 1 is the best, less is worse; of latency how many times the least. null: not
# measured; -1: tried without a figure.
def part($p): if . == null or . < 0 then . else . / $p.best end;

def unit($p): if $p.us then "us" else "Gb/s" end;
def heat_title($o; $p): (if $o.share then "Shares of the senders of an incast, of" elif $p.us then "Latency of all pairs of" else "Bandwidth of all pairs of" end)
	+ " \($p.players) \(if any($p.labels[]; contains("/")) then "rails" else "nodes" end)";
def heat_how($p): "rows send, columns receive" + if $p.block > 1 then "; the worst pair of each block of \($p.block)" else "" end;

# In the middle of the range white letters are no better than black ones.
def is_dark($o; $p): if $o.share then . < 0.4 elif $p.us then . > 1.7 else . < 0.925 end;
# From the worst part, if it is beyond the usual scale, to the best.
def palette($o; $p; $worst):
	if $o.share then (if $worst < 0.3 then "\($worst) '#1a0000', " else "" end) + "0.3 '#7f0000', 0.5 '#ef6548', 0.8 '#fdd49e', 1 '#f7fbff'"
	elif $p.us then "1 '#f7fbff', 1.3 '#fdd49e', 1.6 '#ef6548', 2.1 '#7f0000'" + if $worst > 2.1 then ", \($worst) '#1a0000'" else "" end
	else (if $worst < 0.9 then "\($worst) '#1a0000', " else "" end) + "0.9 '#7f0000', 0.93 '#ef6548', 0.96 '#fdd49e', 1 '#f7fbff'" end;
def colours($o; $p; $worst):
	if $o.share then "\([$worst, 0.3] | min):1" elif $p.us then "1:\([$worst, 2.1] | max)" else "\([$worst, 0.9] | min):1" end;
def scale($o; $p):
	(if $o.share then "part of what the others send in the median"
	else "\(if $p.us then "times the least" else "part of the best" end), \($p.best | figure) \(unit($p))" end)
	+ "; grey: not measured, x: no figure";
# Where cells are narrow, whole numbers: 97.
def cell_text($n): if . < 0 then "x" elif $n > 20 and . >= 10 then round | tostring else figure | tostring end;

def heat($o; $p):
	($p.labels | length) as $n
	| [$p.rows | to_entries[] | .key as $y | .value | to_entries[] | {x: .key, y: $y, v: .value, part: (.value | part($p))}] as $cells
	| (if $n <= 64 and $p.block == 1 then [$cells[] | select(.v != null)] else [] end) as $numbers
	| ([$cells[].part | select(. != null and . >= 0)] | if $p.us then max else min end // 1) as $worst
	| prelude($o; heat_title($o; $p); heat_how($p)),
	  "unset key", "unset grid", "set border 0", "set lmargin at screen \($o.left)", "set rmargin at screen \($o.right)",
	  "set tmargin at screen \($o.top)", "set bmargin at screen \($o.bottom)",
	  "set xrange [-0.5:\($n - 0.5)]", "set yrange [\($n - 0.5):-0.5]",
	  "set palette defined (\(palette($o; $p; $worst)))",
	  "set cbrange [\(colours($o; $p; $worst))]",
	  "set cblabel \(scale($o; $p) | quoted) noenhanced",
	  "set colorbox user origin \($o.right + 20 / $o.width),\($o.bottom) size \(20 / $o.width),\($o.top - $o.bottom)",
	  "set object 1 rectangle from graph 0,0 to graph 1,1 behind fillcolor rgb '#bbbbbb' fillstyle solid noborder",
	  ($p.edges[] | "set arrow from \(. - 0.5),-0.5 to \(. - 0.5),\($n - 0.5) nohead front lw 1.5 lc rgb '#333333'",
		"set arrow from -0.5,\(. - 0.5) to \($n - 0.5),\(. - 0.5) nohead front lw 1.5 lc rgb '#333333'"),
	  "set xtics rotate by 90 right scale 0 font ',\($o.font)' (\([$p.labels | to_entries[] | "\"\(.value | tic)\" \(.key)"] | join(", ")))",
	  "set ytics scale 0 font ',\($o.font)' (\([$p.labels | to_entries[] | "\"\(.value | tic)\" \(.key)"] | join(", ")))",
	  data("heat"; range($n) as $y | [range($n) as $x | $cells[$y * $n + $x].part | if . == null or . < 0 then null else . end]),
	  (if $numbers == [] then empty else data("black"; ($numbers[] | select(.part | is_dark($o; $p) and . >= 0 | not) | [.x, .y, "\"\(.v | cell_text($n))\""]), [-9, -9, "\"\""]),
		data("white"; ($numbers[] | select(.part | is_dark($o; $p) and . >= 0) | [.x, .y, "\"\(.v | cell_text($n))\""]), [-9, -9, "\"\""]) end),
	  plot("$heat matrix with image pixels notitle",
		(if $numbers == [] then empty else "$black using 1:2:3 with labels font ',\($o.font)' tc rgb '#000000' notitle",
			"$white using 1:2:3 with labels font ',\($o.font)' tc rgb '#ffffff' notitle" end));

# One character a block: the digit of 0.90 to 0.99; of a share that of the tenths.
def letter($o; $p): part($p)
	| if . == null then " " elif . < 0 then "x"
	elif $o.share then if . >= 0.95 then "." else . * 10 | floor | tostring end
	elif $p.us then if . < 1.2 then "." elif . > 9 then "9" else floor | tostring end
	elif . >= 0.99 then "." elif . < 0.9 then "#" else . * 100 | floor - 90 | tostring end;

def heat_text($o; $p):
	$p.longest as $wide
	| (if $o.title != "" then $o.title else heat_title($o; $p) end | plain),
	  (if $o.named then heat_title($o; $p) else empty end), heat_how($p), "",
	  ($p.rows | to_entries[] | ($p.labels[.key] | . + " " * ($wide - length + 1)) + ([.value[] | letter($o; $p)] | join(""))),
	  "",
	  if $o.share then ". 0.95 of what the others send in the median or more, 0 to 9 are tenths of it, x no figure, blank not measured"
	  elif $p.us then ". below 1.2 times the least (\($p.best | figure) us), 1 to 9 that number of times, x no figure, blank not measured"
	  else ". 0.99 of the best (\($p.best | figure) Gb/s) or more, 0 to 8 are 0.90 to 0.98, # less, x no figure, blank not measured" end;

# Of the lines of tests.awk: who was tested, the worst first, next to the controls of the same slots. A bar is the median,
# its whisker goes from least to most, and each figure is a dot. $us: latencies, of which more is worse.
def tests($o; $us):
	[inputs / " " | {part: .[0], slot: .[1:3], client: .[3], sends: .[4], receives: .[5], v: (.[6] | tonumber)}] as $all
	| def of($part): map(select(.part == $part));
	  [$all | group_by(.slot[0])[] | [of("test")[].client] - [of("control")[] | .sends, .receives] | .[]] | unique
	| [.[] as $who | ("sends", "receives") as $way | [$all | of("test")[] | select(.[$way] == $who)] | select(. != [])
		| ([.[].slot] | unique) as $slots
		| {name: (if $us then [$who] else [$who, $way] end), tests: ., controls: [$all | of("control")[] | select(.slot | IN($slots[]))]}
		| .part = ((.tests | spread(.v)[0]) / ((.controls | spread(.v)[0]) // infinite))]
	| if . == [] then stop("no data for --kind tests: that is for what sweep, or run --plan, has tested") else . end
	| sort_by(if $us then -.part else .part end)
	| length as $n | .[:fitting($o)]
	| (if length < $n then note("\($n - length) of \($n) are not drawn: they are nearer to their controls") else empty end),
	  prelude($o; "Tests next to controls"; "each with references, and in the same slots references with each other", "median; bars: lowest to highest"),
	  axes($o; ""; if $us then "latency [us]" else "bandwidth [Gb/s]" end), y_axis($o; .[] | (.tests, .controls)[].v),
	  (. as $shown | ["tests", "controls"] | map(. as $of | {legend: (if . == "tests" then "tested" else . end), marked: [],
			points: [$shown | to_entries[] | select(.value[$of] != []) | [.key] + (.value[$of] | spread(.v))],
			dots: [$shown | to_entries[] | .key as $x | .value[$of] | length as $m
				| to_entries[] | [$x, (if $m == 1 then 0.5 else .key / ($m - 1) end), .value.v, false]]})
		| bars($o; ""; [$shown[].name]; []; empty; empty));
