# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# From documents to rows: a row is a result, with what its document says around it. collect makes of
# a file's documents a run: rows, parts (the rows of one thread or device alone) and intervals.
#
# Documents are made by programs that heard from other hosts: nothing in them has the type that it
# should, and no text of theirs reaches gnuplot but in single quotes, where it expands nothing.

# Without what would move a terminal's cursor.
def plain: explode | map(if . < 32 or (. >= 127 and . < 160) then 32 else . end) | implode;
def cut($most): if length > $most then .[:$most - 3] + "..." else . end;
def clean: if type == "string" then plain | cut(70) else "" end;

def stop(text): "rdmark-plot: \(text)\n" | halt_error(2);

def number: if type == "number" and . >= 0 and . < 1e15 then . else null end;
def text: if type == "string" then . else "" end;
def object: if type == "object" then . else {} end;
def array: if type == "array" then . else [] end;
def scalar: if type == "string" then clean elif type == "boolean" then . else number end;

# What a PCIe link carries in packets of 256 bytes (rdmark(7)), from "PCIe 16.0 GT/s x16, trained…".
def pcie_gbps:
	[text | capture("(?<gts>[0-9]{1,3}(\\.[0-9])?) GT/s x(?<width>[0-9]{1,2})")] | first // null
	| if . == null then null
	  else (.gts | tonumber) as $gts | (.width | tonumber) as $width
	  | $gts * $width * (if $gts < 6 then 0.8 * 256 / 280
		elif $gts < 64 then 128 / 130 * 256 / 280 else 242 / 256 * 256 / 272 end)
	  end;

# The lesser of what both ends have, where it is known, all their devices together.
def lesser(rate):
	[.[] | [., (.more_devices | array | .[] | object)] | map(rate | number) | if all(. != null and . > 0) then add else null end]
	| map(select(. != null)) | min;

# The options that make a row another measurement: not how long it was, nor what is said elsewhere.
def asked: object | . as $asked
	| reduce (keys_unsorted[] | select(test("^[a-z_]{1,40}$"))
		| select(IN("size_bytes", "all", "iters", "duration_s", "reconnect", "warmup", "verify", "rate_units", "rate_limit_type") | not)) as $key
		({}; .[$key] = ($asked[$key] | scalar));

def options($d; $ends):
	def here(f): [$ends[] | f | clean] | if . as $all | all(. == $all[0]) then .[0] else join(" -> ") end;
	($d.experiment | asked)
	| .mtu_bytes = (.mtu_bytes // ($d.effective | object | .mtu_bytes | number))
	| .test = ($d.test | clean)
	| .hosts = ([$ends[].host | clean] | if all(. == "") then null else join(" -> ") end)
	| .transport = here(.transport // .link_layer)
	| .memory = here(.memory)
	| if $ends | length == 1 then del(.connection, .qp) else . end; # of no peer

# What is the same for all rows of a document.
def about($run):
	. as $d
	| ([$d.ends | object | .client, .server | objects]) as $ends
	| {
		run: $run,
		title: ($d.title | text | plain),
		options: options($d; $ends),
		day: ([$d.started_utc | text | match("^[0-9]{4}-[0-9]{2}-[0-9]{2}").string] | first // ""),
		when: ([$d.started_utc | text | try fromdateiso8601 catch empty] | first // null),
		line: ($ends | lesser(.rate_gbps)),
		pcie: ($ends | lesser(.pcie_link | pcie_gbps))
	};

def is_disturbed: .quality | object | .disturbed == true;

def row($about):
	(.varied | asked) as $varied
	| $about + {
		by: (.measured_by | text),
		direction: (.direction | clean),
		repeat: (.run | number),
		cut_short: (.interrupted == true),
		bytes: (.message_bytes | number),
		gbps: (if .step then null else .bandwidth_gbps | number end), # of calls: not what a link carries
		low: (.bandwidth_min_gbps | number),
		high: (.bandwidth_max_gbps | number),
		half: (.plus_minus_percent | number), # of gbps, 95 %
		disturbed: is_disturbed,
		rate: (.messages_per_s | number),
		limit: (.rate_limit_gbps | number),
		cell: (.cell | clean),
		route: (.route | clean),
		step: (.step | clean), # of a test that times calls
		ceiling: (.ceiling_gbps | number),
		thread: (.thread | number),
		device: (.device | clean),
		us: ([.latency_min_us, .latency_p50_us, .latency_p90_us, .latency_p99_us, .latency_p99_9_us,
			.latency_p99_99_us, .latency_max_us] | map(number)),
		classes: (.latency_histogram_us | array
			| map(select(type == "array" and length == 3 and all(.[]; number != null) and .[1] > .[0] and .[2] > 0)) | sort)
	}
	| .options += $varied + {size: .bytes} + (if .step == "" then {} else {step} end)
	| select(.bytes != null);

# Of parts: where both ends measured, the client's is what its table shows, or the sum of both directions.
def own: if any(.by == "both") then map(select(.by == "both"))
	elif any(.by == "client") then map(select(.by == "client" or .cell != "")) else . end;

def is_part: .thread != null or .device != null;

# A document to {rows, parts}.
def results($about):
	[.results | array | .[] | object | ., ((.by_thread, .by_device) | array | .[] | object)] as $all
	| {
		rows: [$all[] | select(is_part | not) | row($about)],
		parts: [$all[] | select(is_part) | row($about)] | group_by(.direction) | map(own[])
	};

# RESULTS are its document's: an interval itself does not say whether it was disturbed.
def interval($about; $results):
	def whose: [.message_bytes, .varied, .run];
	object | select(.partial != true)
	| (.varied | asked) as $varied
	| whose as $whose
	| $about + {bytes: (.message_bytes | number), s: (.elapsed_s | number),
		disturbed: any($results | array | .[] | object; is_disturbed and whose == $whose),
		gbps: (.bandwidth_gbps | number), mean: (.latency_mean_us | number)}
	| .options += $varied + {size: .bytes}
	| select(.s != null);

def check($file):
	if .schema_version == null then
		stop("\($file): not a document of rdmark's --json: schema_version is missing"
			+ if has("test_info") then "; it is perftest's, of --out_json" else "" end)
	elif .schema_version != 3 then
		stop("\($file): schema_version is \(.schema_version | tojson | clean), but this rdmark-plot supports 3. Fix: use the rdmark-plot of the same rdmark")
	else . end;

def why_empty: [.[] | select(.status != "ok") | .error | object | .message | text | plain | cut(500) | select(. != "")]
	| if length > 0 then ": \(.[0])" else "" end;

# --- trend: a history is too long to be kept ---------------------------------------------------

# A document to lines of words with tabs between them: "TIME FIGURE CURVE DISTURBED" for each result, and for a
# run that failed, or could not begin. That it cannot be told whether a figure is good enough is no failure.
def trend_of($file):
	if type != "object" then stop("\($file | clean): not a document of rdmark's --json")
	elif has("interval") then empty
	else check($file | clean) | about(0) as $about
	| ([.results | array | .[] | object | select(is_part | not) | row($about)] as $rows
	| if $rows == [] then "why\t\([.] | why_empty | tojson)" else $rows[] end,
	  (select(.status | IN("failed", "unavailable")) | $about.when // empty | "\(.)\t0\t{\"failed\":true}\t0"))
	| if type == "string" then .
	  else (.gbps // .us[1]) as $y | .when as $when
	  | ({options, bytes, direction, cut_short, cell, line, pcie, rate: (.gbps != null)} | tojson) as $curve
	  | if $y != null and $when != null then "\($when)\t\($y)\t\($curve)\t\(if .disturbed then 1 else 0 end)" else "untimed\t\($curve)" end end end;

# A line, in which a document may be, or not: "line" and that, or "other".
def trend_line($file):
	(fromjson? // null) as $d
	| if $d | type == "object" and (has("schema_version") or has("interval")) then "line", ($d | trend_of($file))
	  elif test("[^[:space:]]") then "other" else empty end;

# What trend.awk makes of those, an array, to a run.
def trend_run($file; $name; $run):
	def day: if . == null then "" else todate[:10] end;
	{file: ($file | clean), name: ($name | clean), parts: [], intervals: [], why: (map(strings) | first), rows: [.[] | arrays
		| . as [$n, $first, $last, $mean, $low, $high, $curve, $bad]
		| $curve + {run: $run, n: $n, bad: $bad, disturbed: ($bad > 0 and $bad * 2 >= $n), when: (if $n > 0 then ($first + $last) / 2 else null end), day: ($first | day), last_day: ($last | day),
			low: $low, high: $high, gbps: (if $curve.rate then $mean else null end), us: [null, $mean]}]}
	| if all(.rows[]; .failed) then stop("\(.file): no results\(.why // "")") else . end;

# Lines of intervals stand before the document that they are of.
def collect($file; $name; $run):
	($file | clean) as $file
	| [inputs]
	| if length == 0 then stop("\($file): the file is empty") else . end
	| if any(type != "object") then stop("\($file): not a document of rdmark's --json") else . end
	| map(select(has("interval") | not)) as $documents
	| reduce .[] as $d ({rows: [], parts: [], intervals: [], lines: []};
		if $d | has("interval") then .lines += [$d.interval]
		else ($d | check($file) | about($run)) as $about | ($d | results($about)) as $new
		| .rows += $new.rows | .parts += $new.parts
		| .intervals += [(.lines, ($d.intervals | array)) | .[] | interval($about; $d.results)] | .lines = [] end)
	| .intervals += [.lines[] | interval({} | about($run); [])]
	| del(.lines)
	| . + {file: $file, name: ($name | clean)}
	| if .rows == [] and .intervals == [] then stop("\($file): no results\($documents | why_empty)") else . end;
