# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# collect: one file's documents to a run, which holds points (a point is a result, with what its
# document says around it) and intervals. picture: runs to a script for gnuplot.
#
# Documents are made by programs that heard from other hosts: nothing in them has the type that it
# should, and no text of theirs reaches gnuplot but in single quotes, where it expands nothing.

# --- reading -----------------------------------------------------------------------------------

# Without what would move a terminal's cursor.
def plain: explode | map(if . < 32 or (. >= 127 and . < 160) then 32 else . end) | implode;
def cut($most): if length > $most then .[:$most - 3] + "..." else . end;
def clean: if type == "string" then plain | cut(70) else "" end;

def stop(text): "rdmark-plot: \(text)\n" | halt_error(2);

def number: if type == "number" and . >= 0 and . < 1e15 then . else null end;
def text: if type == "string" then . else "" end;
def object: if type == "object" then . else {} end;
def array: if type == "array" then . else [] end;

# What a PCIe link carries in packets of 256 bytes (rdmark(7)), from "PCIe 16.0 GT/s x16, trained…".
def pcie_gbps:
	[text | capture("(?<gts>[0-9]{1,3}(\\.[0-9])?) GT/s x(?<width>[0-9]{1,2})")] | first // null
	| if . == null then null
	  else (.gts | tonumber) as $gts | (.width | tonumber) as $width
	  | $gts * $width * (if $gts < 6 then 0.8 * 256 / 280
		elif $gts < 64 then 128 / 130 * 256 / 280 else 242 / 256 * 256 / 272 end)
	  end;

# The lesser of what both ends have, where it is known.
def lesser: map(select(. != null and . > 0)) | min;

def point($d; $run):
	object
	| ($d.ends | object) as $ends
	| [$ends.client, $ends.server | object] as $both
	| {
		run: $run,
		test: ($d.test | clean),
		hosts: [$both[].host | clean],
		by: (.measured_by | text),
		bytes: (.message_bytes | number),
		qps: (.qps | number // 1),
		gbps: (.bandwidth_gbps | number),
		low: (.bandwidth_min_gbps | number),
		high: (.bandwidth_max_gbps | number),
		rate: (.messages_per_s | number),
		cell: (.cell | clean),
		route: (.route | clean),
		direction: (if (.cell | text) != "" then .direction | clean else "" end),
		ceiling: (.ceiling_gbps | number),
		line: ([$both[].rate_gbps | number] | lesser),
		pcie: ([$both[].pcie_link | pcie_gbps] | lesser),
		us: ([.latency_min_us, .latency_p50_us, .latency_p90_us, .latency_p99_us, .latency_p99_9_us,
			.latency_p99_99_us, .latency_max_us] | map(number)),
		classes: (.latency_histogram_us | array
			| map(select(type == "array" and length == 3 and all(.[]; number != null) and .[1] > .[0])))
	};

# Where both ends measured, the client's is what its table shows, or the sum of both directions.
def own_points: if any(.by == "both") then map(select(.by == "both"))
	elif any(.by == "client") then map(select(.by == "client" or .cell != "")) else . end;

def document($file; $run):
	. as $d
	| if .schema_version == null then
		stop("\($file): it is no document of rdmark's --json: schema_version is missing"
			+ if has("test_info") then "; it is perftest's, of --out_json" else "" end)
	  elif .schema_version != 1 then
		stop("\($file): schema_version is \(.schema_version | tojson | clean), and this rdmark-plot knows 1. Fix: use the newer rdmark's")
	  else
		[.results | array | .[] | object | select(.thread == null and .device == null) | point($d; $run) | select(.bytes != null)] | own_points
	  end;

def why_empty: [.[] | select(.status != "ok") | .error | object | .message | text | plain | cut(500) | select(. != "")]
	| if length > 0 then ": \(.[0])" else "" end;

def collect($file; $name; $run):
	($file | clean) as $file
	| [inputs]
	| if length == 0 then stop("\($file): it is empty") else . end
	| if any(type != "object") then stop("\($file): it is no document of rdmark's --json") else . end
	| map(select(has("interval") | not)) as $documents
	| {
		file: $file, name: ($name | clean),
		points: [$documents[] | document($file; $run)[]],
		intervals: [.[] | select(has("interval")) | .interval | object | {
			run: $run, bytes: (.message_bytes | number), s: (.elapsed_s | number),
			gbps: (.bandwidth_gbps | number), us: (.latency_mean_us | number)} | select(.s != null)]
	}
	| if .points == [] and .intervals == [] then stop("\($file): it has no results\($documents | why_empty)") else . end;

# --- writing -----------------------------------------------------------------------------------

def quoted: plain | cut(150) | gsub("'"; "''") | "'\(.)'";
# A tic's text is a format, too, and in double quotes for the sake of its line break.
def tic: clean | gsub("[^A-Za-z0-9 ,._/>-]"; "?");
def tenth: . * 10 | round / 10;
def figure: if . >= 100 then round elif . >= 10 then tenth else . * 100 | round / 100 end;
def bytes_text: if . >= 1048576 and . % 1048576 == 0 then "\(. / 1048576)Mi"
	elif . >= 1024 and . % 1024 == 0 then "\(. / 1024)Ki" else tostring end;
def bytes_words: if bytes_text | endswith("i") then "\(bytes_text | .[:-2]) \(bytes_text | .[-2:])B" else "\(.) B" end;

def data($name; rows): "$\($name) << END_OF_DATA\n" + ([rows | map(if . == null then "NaN" else tostring end) | join(" ")] | join("\n")) + "\nEND_OF_DATA";
def plot(lines): "plot " + ([lines] | join(", \\\n     "));

# Of several equal measurements the one in the middle.
def middle(value): sort_by(value) | .[(length - 1) / 2 | floor];

# One series for each run and whatever differs in it: [{legend, points}].
def series($runs; value):
	map(select(value != null))
	| . as $all
	| def differs(f): [$all[] | f] | unique | length > 1;
	  group_by([.run, .test, .qps, .cell, .route, .direction])
	| map({
		points: (group_by(.bytes) | map(middle(value))),
		legend: (.[0] as $p | [
			(if ($runs | length) > 1 then $runs[$p.run].name else empty end),
			(if differs(.test) then $p.test else empty end),
			(if $p.cell != "" then $p.cell, $p.route, ($p.direction | gsub("_to_"; "->")) else empty end),
			(if differs(.qps) then "\($p.qps) QP\(if $p.qps > 1 then "s" else "" end)" else empty end)
		] | if . == [] then [$runs[$p.run].name] else . end | join(", "))
	});

# "send_bw, a -> b" of all that is drawn.
def about: ([.[].test] | unique | join(", ")) as $tests
	| ([.[].hosts | select(. != ["", ""])] | unique) as $hosts
	| $tests + if ($hosts | length) == 1 then ", \($hosts[0] | join(" -> "))" else "" end;

def palette: ["0072b2", "d55e00", "009e73", "cc79a7", "e69f00", "56b4e9", "8c510a", "444444"];
def color: palette[. % 8] | "lc rgb '#\(.)'";

# Text has no letters that stand on end: there both names are below.
def axes($o; $x; $y):
	if $o.text then "set xlabel \("\($x)\(if $x == "" then "" else "; " end)upwards: \($y)" | quoted)"
	else "set xlabel \($x | quoted)", "set ylabel \($y | quoted)" end;

def prelude($o; $title):
	"set encoding utf8",
	"set title \((if $o.title != "" then $o.title else $title end) | quoted) noenhanced",
	"set key above Left reverse noenhanced \(if $o.text then "width 4 samplen 2" else "samplen 3" end)",
	"set border 3", "set tics nomirror",
	(if $o.text then "set xtics nomirror" else "set grid lc rgb '#dddddd' lt 1", "set lmargin 11", "set rmargin 4" end);

def style($i; $o): if $o.text then "with linespoints" else "with linespoints lw 2 pt \([7, 5, 9, 11, 13][$i / 8 % 5 | floor]) ps 0.7 \($i | color)" end;
def dashed($i; $o): if $o.text then "with lines" else "with lines lw 2 dt (12,8) \($i | color)" end;

# Powers of two between the sizes, not more than fit.
def size_axis($o):
	([.[].points[].bytes | select(. > 0)] | [min, max]) as [$low, $high]
	| ($low | log2 | floor) as $from | ($high | log2 | ceil) as $to
	| ([($o.width / (if $o.text then 8 else 75 end) | floor), 2] | max) as $fit
	| (($to - $from) / $fit | floor + 1) as $step
	| "set logscale x 2",
	  "set xrange [\($low / 1.3):\($high * 1.3)]",
	  "set xtics nomirror (" + ([range($from; $to + 1; $step) | pow(2; .) | "'\(bytes_text)' \(.)"] | join(", ")) + ")",
	  "set mxtics 1";

def ceilings: . as $points
	| [[$points[].line | select(. != null) | tenth] | unique | .[] | {gbps: ., name: "line rate \(.) Gb/s"}]
	+ [[$points[].pcie | select(. != null) | tenth] | unique | .[] | {gbps: ., name: "PCIe link \(.) Gb/s"}]
	| map(select(.gbps > 0)) | .[:6];
def ceiling_lines($o): to_entries[] | "\(.value.gbps) title '\(.value.name)' "
	+ if $o.text then "with lines" else "with lines lw 1.5 dt \(if .value.name | startswith("line") then "(16,6)" else "(4,6)" end) lc rgb '#666666'" end;

# --- kinds -------------------------------------------------------------------------------------

def bandwidth_axis($o; $x; $most):
	axes($o; $x; "bandwidth [Gb/s]"),
	if $o.log then "set logscale y" else "set yrange [0:\($most * 1.08)]" end;

def bandwidth_bars($o; $s; $ceilings):
	"set boxwidth 0.6", "set style fill solid 0.8", "set xrange [-0.7:\($s | length - 0.3)]",
	"set xtics nomirror (\([$s | to_entries[] | "\"\(.value.legend | tic)\" \(.key)"] | join(", ")))",
	data("bars"; $s | to_entries[] | [.key, .value.points[0].gbps, .value.points[0].gbps | tenth]),
	plot("$bars using 1:2 with boxes notitle \(0 | color)",
		"$bars using 1:2:(sprintf('%.1f', $2)) with labels offset 0,0.7 notitle",
		($ceilings | ceiling_lines($o)));

def bandwidth($runs; $o):
	series($runs; .gbps) as $s
	| ([$s[].points[]]) as $points
	| ($points | ceilings) as $ceilings
	| ([$points[].bytes] | unique) as $sizes
	| prelude($o; "Bandwidth: \($points | about)\(if ($sizes | length) == 1 then ", \($sizes[0] | bytes_words)" else "" end)"),
	  bandwidth_axis($o; if ($sizes | length) == 1 then "" else "message size [bytes]" end; [$points[].gbps, $ceilings[].gbps] | max),
	  if ($sizes | length) == 1 then bandwidth_bars($o; $s; $ceilings)
	  else
		($s | size_axis($o)),
		($s | to_entries[] | data("s\(.key)"; .value.points[] | [.bytes, .gbps])),
		plot(($s | to_entries[] | "$s\(.key) using 1:2 title \(.value.legend | quoted) \(style(.key; $o))"),
			($ceilings | ceiling_lines($o)))
	  end;

def quantiles: [
	{at: 0, name: "min"}, {at: 1, name: "p50"}, {at: 2, name: "p90"}, {at: 3, name: "p99"},
	{at: 4, name: "p99.9"}, {at: 5, name: "p99.99"}, {at: 6, name: "max"}];

# Microseconds; a tic at 1 2 5 of each power of ten, as far as they are needed.
def us_axis($name; $values):
	($values | map(select(. > 0)) | [min, max]) as [$low, $high]
	| ([range(-4; 10) as $e | 1, 2, 5 | . * pow(10; $e)]) as $all
	| ([$all[] | select(. <= $low)] | last // 0.0001) as $from
	| ([$all[] | select(. >= $high)] | first // 1e9) as $to
	| "set logscale \($name)", "set \($name)range [\($from):\($to)]",
	  "set \($name)tics nomirror (" + ([$all[] | select(. >= $from and . <= $to)
		| select(($to / $from) < 5000 or (log10 | . - floor | fabs) < 0.01)
		| "'\(if . >= 1 then round else . * 10000 | round / 10000 end)' \(.)"] | join(", ")) + ")",
	  "set m\($name)tics 1";

def latency($runs; $o):
	series($runs; .us[1]) as $s
	| ([$s[].points[]]) as $points
	| (if ($s | length) > 1 then [1, 3] else [0, 1, 3, 4, 6] end) as $which
	| [$s | to_entries[] | . as $e | $which | to_entries[] | {
		i: (if ($s | length) > 1 then $e.key else .key end), key: $e.key, at: .value,
		dashed: (($s | length) > 1 and .key > 0),
		legend: (quantiles[.value].name as $q | if ($s | length) > 1 then "\($e.value.legend), \($q)" else $q end)}] as $lines
	| prelude($o; "Latency, half round trip: \($points | about)"),
	  ($s | size_axis($o)),
	  axes($o; "message size [bytes]"; "latency [us]"), us_axis("y"; [$points[].us[$which[]] | select(. != null)]),
	  ($s | to_entries[] | data("s\(.key)"; .value.points[] | [.bytes] + .us)),
	  plot($lines[] | "$s\(.key) using 1:\(.at + 2) title \(.legend | quoted) "
		+ if .dashed then dashed(.i; $o) else style(.i; $o) end);

# One message size: the one asked for, else that which most runs have.
def one_size: group_by(.bytes) | max_by([.[].run] | unique | length);

def percentiles($runs; $o):
	(map(select(.us[1] != null)) | one_size | series($runs; .us[1])) as $s
	| ([$s[].points[0]]) as $points
	| prelude($o; "Latency percentiles, half round trip: \($points | about), \($points[0].bytes | bytes_words)"),
	  "set xrange [-0.3:6.3]",
	  "set xtics nomirror (" + ([quantiles[] | "'\(.name)' \(.at)"] | join(", ")) + ")",
	  axes($o; "share of messages that took no longer"; "latency [us]"), us_axis("y"; [$points[].us[] | select(. != null)]),
	  ($s | to_entries[] | data("s\(.key)"; .value.points[0].us | to_entries[] | [.key, .value])),
	  plot($s | to_entries[] | "$s\(.key) using 1:2 title \(.value.legend | quoted) \(style(.key; $o))");

# The classes of a histogram, thousands of them, into COUNT wider ones.
def wider($from; $ratio; $count):
	reduce .[] as [$low, $high, $n] ([range($count) | 0];
		(((($low * $high) | sqrt) / $from | log) / ($ratio | log) | floor | if . < 0 then 0 elif . >= $count then $count - 1 else . end) as $i
		| .[$i] += $n);

def histogram($runs; $o):
	(map(select(.classes != [])) | one_size | series($runs; .classes[0])) as $s
	| ([$s[].points[0]]) as $points
	| ($points | [.[].classes[][0] | select(. > 0)] | min) as $low
	| ($points | [.[].classes[][1]] | max) as $high
	| (if $o.text then [$o.width - 20, 10] | max else 120 end) as $count
	| pow($high / $low * 1.0001; 1 / $count) as $ratio
	| prelude($o; "Latency histogram, half round trip: \($points | about), \($points[0].bytes | bytes_words)"),
	  "set style fill solid \(if ($s | length) > 1 then 0.4 else 0.8 end) noborder",
	  axes($o; "latency [us]"; "messages"), us_axis("x"; [$low, $high]), "set xrange [\($low / 1.02):\($high * 1.02)]",
	  "set logscale y", "set yrange [0.5:*]", "set format y '10^{%T}'",
	  (if $o.text then "set format y '%.0f'" else empty end),
	  ($s | to_entries[] | data("s\(.key)"; .value.points[0].classes | wider($low; $ratio; $count) | to_entries[]
		| select(.value > 0) | [$low * pow($ratio; .key + 0.5), .value, $low * pow($ratio; .key), $low * pow($ratio; .key + 1)])),
	  ($s | to_entries[] | if ($s | length) == 1 then
		.value.points[0].us as $us | [1, 3, 4][] | select($us[.] != null)
		| "set arrow from \($us[.]), graph 0 to \($us[.]), graph 1 nohead \(if $o.text then "" else "dt (6,6) lc rgb '#\(palette[.])' lw 1.5" end)"
	  else empty end),
	  plot(($s | to_entries[] | "$s\(.key) using 1:2:3:4:(0.5):2 with boxxyerror title \(.value.legend | quoted) \(if $o.text then "" else .key | color end)"),
		(if ($s | length) == 1 then $points[0].us as $us | [1, 3, 4][] | select($us[.] != null)
		 | "NaN title '\(quantiles[.].name) \($us[.] | figure) us' with lines \(if $o.text then "" else "dt (6,6) lw 1.5 lc rgb '#\(palette[.])'" end)" else empty end));

def cell_tic: .[0] as $cell
	| if .[1] == "host" then $cell | tic elif .[1] == "copy" then $cell | tic | gsub("-"; "\\n")
	  else "\($cell | tic)\\n\(.[1] | tic)" end;

# Of gdr_bw: bars by cell, a color for each run and direction, with the range of the windows.
def cells($runs; $o):
	map(select(.cell != "" and .gbps != null)) as $all
	| ($all | map(select(.route != "copy")) | [.[].bytes] | max) as $bytes
	| ($all | map(select(.route == "copy" or .bytes == $bytes))) as $points
	| (reduce $points[] as $p ([]; [$p.cell, $p.route] as $k | if index([$k]) then . else . + [$k] end)) as $names
	| ([$points | group_by([.run, .direction])[] | {
		legend: ([(if ($runs | length) > 1 then $runs[.[0].run].name else empty end), (.[0].direction | gsub("_to_"; "->"))] | join(", ")),
		host: ([.[] | select(.cell == "host").gbps] | last),
		points: .}]) as $s
	| (0.8 / ($s | length)) as $w
	| def rows: to_entries[] | .key as $i | .value.points | group_by([.cell, .route])[] | last
		| . as $p | ([$p.cell, $p.route] as $k | $names | index([$k])) as $at
		| [$at - 0.4 + $w * ($i + 0.5), $p.gbps, $p.low, $p.high, $p.ceiling, $i];
	  prelude($o; "GPU memory beside host memory: \($points | about), \($bytes | bytes_words)"),
	  "set boxwidth \($w * 0.92)", "set style fill solid 0.8", "set xrange [-0.6:\($names | length - 0.4)]",
	  "set yrange [0:\([$points[] | .gbps, .high, .ceiling | select(. != null)] | max * 1.08)]",
	  "set xtics nomirror (" + ([$names | to_entries[] | "\"\(.value | cell_tic)\" \(.key)"] | join(", ")) + ")"
		+ (if $o.text or $o.width / ($names | length) > 95 then "" else " font ',\(8 | [., ($o.width / ($names | length) / 9 | floor)] | max)'" end),
	  axes($o; "cell and route to GPU memory"; "bandwidth [Gb/s]"), "set xlabel offset 0,\(if $o.text then -1 else -0.7 end)", "set bmargin \(if $o.text then 4 else 5 end)",
	  ([$s | rows] as $rows | $s | to_entries[] | .key as $i | data("s\($i)"; $rows[] | select(.[5] == $i))),
	  plot(($s | to_entries[] | "$s\(.key) using 1:2 with boxes title \(.value.legend | quoted) \(if $o.text then "" else .key | color end)"),
		(if $o.text then empty else $s | to_entries[] | "$s\(.key) using 1:3:(0):($4 - $3) with vectors heads size graph 0.004,90 lw 1.5 lc rgb '#000000' notitle" end),
		($s | to_entries[] | select(.value.host != null and ($s | length) <= 2) | "\(.value.host) title \("host memory, \(.value.legend): \(.value.host | figure) Gb/s" | quoted) \(dashed(.key; $o))"),
		($s | to_entries[] | "$s\(.key) using ($1 - \($w / 2)):5:(\($w)):(0) with vectors nohead \(if $o.text then "lt 7" else "lw 2.5 lc rgb '#b00020'" end) \(if .key == 0 then "title 'ceiling: link or PCIe'" else "notitle" end)"));

def over_time($runs; $o):
	map(select(.gbps != null or .us != null)) as $all
	| any($all[]; .gbps != null) as $is_bandwidth
	| ($all | map(select((.gbps != null) == $is_bandwidth)) | group_by([.run, .bytes])) as $s
	| prelude($o; if $is_bandwidth then "Bandwidth over time" else "Mean latency over time" end),
	  axes($o; "time since the start [s]"; if $is_bandwidth then "bandwidth [Gb/s]" else "mean latency [us]" end),
	  (if $o.log then "set logscale y" else "set yrange [0:*]" end), "set xrange [0:*]",
	  ($s | to_entries[] | data("s\(.key)"; .value[] | [.s, if $is_bandwidth then .gbps else .us end])),
	  plot($s | to_entries[] | "$s\(.key) using 1:2 title \("\($runs[.value[0].run].name), \(.value[0].bytes // 0 | bytes_words)" | quoted) \(style(.key; $o))");

def kind_of: .[0] as $p
	| if $p.cell != "" then "cells"
	  elif $p.gbps != null then "bandwidth"
	  elif $p.us[1] == null then "none"
	  elif ([.[].bytes] | unique | length) > 1 then "latency"
	  elif all(.[]; .classes != []) then "histogram"
	  else "percentiles" end;

def has_kind($kind): {
	bandwidth: (.gbps != null), latency: (.us[1] != null), percentiles: (.us[1] != null),
	histogram: (.classes != []), cells: (.cell != "" and .gbps != null), time: false}[$kind];

def missing($kind): stop("there is nothing for --kind \($kind) in \([.[].file] | join(", "))"
	+ ({histogram: ": make the documents with -H", cells: ": that is for gdr_bw's", time: ": make them with --json --interval"}[$kind] // ""));

# O: kind ("": as it comes), title, bytes (0: all), log, text, width.
def picture($o):
	. as $runs
	| [.[].points[] | select($o.bytes == 0 or .bytes == $o.bytes)] as $points
	| [.[].intervals[] | select($o.bytes == 0 or .bytes == $o.bytes)] as $intervals
	| (if $o.kind != "" then $o.kind elif $points == [] and $intervals != [] then "time"
	   elif $points == [] then stop("no result is of \($o.bytes) bytes") else $points | kind_of end) as $kind
	| (if $kind == "time" then $intervals else $points | map(select(has_kind($kind))) end) as $drawn
	| if $drawn == [] then missing($kind)
	  elif $kind == "bandwidth" then $drawn | bandwidth($runs; $o)
	  elif $kind == "latency" then $drawn | latency($runs; $o)
	  elif $kind == "percentiles" then $drawn | percentiles($runs; $o)
	  elif $kind == "histogram" then $drawn | histogram($runs; $o)
	  elif $kind == "cells" then $drawn | cells($runs; $o)
	  else $drawn | over_time($runs; $o) end;
