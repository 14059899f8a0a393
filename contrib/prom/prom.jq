# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# From documents to the text for Prometheus. node_exporter rejects all its files if two series have
# the same name and labels, so each is written once: of documents of the same test, device and peer
# the last one counts, of its results with the same labels the last one, or the median of --repeat.
#
# Documents are made by programs that heard from other hosts: nothing in them has the type that it
# should, and their texts are in labels only, escaped. What is no number has no series.

def object: if type == "object" then . else {} end;
def array: if type == "array" then . else [] end;
def text: if type == "string" then . else "" end;
def number: if type == "number" then . else null end;
def clean: explode | map(if . < 32 or (. >= 127 and . < 160) then 63 else . end) | implode;

def stop(text): "rdmark-prom: \(text)\n" | halt_error(2);

# --- which documents -----------------------------------------------------------------------------

# $file is the name of what is read, and at the end of what is written.

# The device of an end, or its devices; and who the peer is: for a client the host that it was given.
def devices: [., (.more_devices | array | .[] | object)] | map(.device | text) | map(select(. != "")) | join(",");
def about:
	(.ends | object) as $ends
	| ($ends[.role | text] | object | devices) as $devices
	| {test: (.test | text),
	   device: (if $devices != "" then $devices else .device | text end),
	   peer: (if (.peer | text) != "" then .peer elif .role == "server" then $ends.client | object | .host | text else "" end)};

# Keep document $d, in place of those with the same labels. A run that failed before it knew its device
# may have been of any.
def keep($d; $about):
	map(select((.about | .test == $about.test and .peer == $about.peer
		and (.device == $about.device or .device == "" or $about.device == "")) | not))
	+ [{about: $about, document: ($d | del(.intervals))}];

def older($key):
	stop("\($file | clean): \($key) is \(.[$key] | tojson | clean[:40]), which this rdmark-prom does not know. Fix: use the rdmark-prom of the same rdmark");

# "run", "check", "judgement"; "pairs", a line that must be judged first; "interval"; or null.
def kind:
	if type != "object" then null
	elif has("kind") and has("run") then "pairs"
	elif has("interval") then "interval"
	elif has("schema_version") then if .schema_version == 3 then "run" else older("schema_version") end
	elif has("rdmark_pairs") then if .rdmark_pairs == 1 then "judgement" else older("rdmark_pairs") end
	elif has("generator") and (has("host") or has("error")) then "check"
	else null end;

# Add $d of $kind to {seen, cut, pairs, kept}.
def add($d; $kind):
	.seen += 1
	| if $kind == "pairs" then .pairs = true
	  elif $kind == "interval" then .
	  else .kept |= keep($d; if $kind == "run" then $d | about else {test: $kind, device: "", peer: ""} end) end;

def nothing: {seen: 0, cut: 0, pairs: false, kept: []};
def bare: .kept |= map(.document);

# One that was cut short when a disk was full hides no other.
def lines:
	reduce (inputs | select(test("[^ \t\r]"))) as $line (nothing;
		($line | try fromjson catch null) as $d | ($d | kind) as $kind
		| if $kind == null then .cut += 1 else add($d; $kind) end)
	| bare;

def documents:
	reduce inputs as $d (nothing; ($d | kind) as $kind
		| if $kind == null then
			stop("\($file | clean): not a document of rdmark's --json" + ($d | if type == "object" and has("test_info") then "; it is perftest's, of --out_json" else "" end)
				+ ". Fix: name a file that --json, --json-lines or rdmark-pairs wrote")
		  else add($d; $kind) end)
	| if .seen == 0 then stop("\($file | clean): not valid JSON: no text. Fix: name a file that --json, --json-lines or rdmark-pairs wrote")
	  else bare end;

# --- series --------------------------------------------------------------------------------------

# A family has the same text in all files, or node_exporter complains. All are gauges: each run stands
# for itself, so a summary, whose count and sum may only grow, would be wrong.
def families: [
	["up", "1: the last run came to its end, 0: it failed or was interrupted."],
	["exit_status", "Exit status of the last run; absent after a signal."],
	["thresholds_met", "0: the last run missed a threshold that it was given; absent if it had none, or did not come to its end."],
	["last_run_timestamp_seconds", "When the last run ended."],
	["title_info", "The --title of the last run."],
	["check_ok", "0: --check found a fault of this port, or of the host."],
	["link_rate_bytes_per_second", "Rate of the port."],
	["bandwidth_bytes_per_second", "Average bandwidth of the last run."],
	["messages_per_second", "Message rate of the last run."],
	["of_ceiling_ratio", "Bandwidth, as a share of what the link can carry."],
	["latency_seconds", "Latency of the last run, by the percentage of its messages that had no more."],
	["latency_mean_seconds", "Average latency of the last run."],
	["plus_minus_ratio", "Half the 95 % confidence interval of the average, as a share of it."],
	["lost_ratio", "Messages that did not arrive, as a share of all."],
	["disturbed", "1: the last run was disturbed, for this reason."],
	["limited_by", "1: the label limit names what limits the bandwidth, and strength (is, may_be, cannot_tell) how sure that is."],
	["diagnosis", "1: a finding, by its code in rdmark(7), and how sure it is."],
	["pairs_nodes", "Nodes of rdmark-pairs, by what became of them."],
	["pairs_normal_bytes_per_second", "Bandwidth between good nodes."],
	["pairs_bandwidth_bytes_per_second", "Median bandwidth of a node with its good partners."],
	["pairs_of_normal_ratio", "What a node reaches, as a share of what is normal."],
	["pairs_suspect", "A node that is slow or lost, by kind."],
	["pairs_suspects", "How many nodes, rails, groups or pairs are slow or lost."]];

def suspects: ["never_came", "ended_early", "device", "data", "clock", "unreachable", "lost", "node_fails", "node_slow",
	"rail_slow", "latency_high", "port_slow", "node_falls", "node_unsteady", "group_slow", "sender_starves",
	"receiver_low", "worse", "pair_lost"];

# Labels are pairs of name and value. Set one, unless the value is empty.
def set($name; $value):
	($value | if . == null then "" elif type == "string" then . else tojson end) as $value
	| if $value == "" then .
	  elif any(.[]; .[0] == $name) then map(if .[0] == $name then [$name, $value] else . end)
	  else . + [[$name, $value]] end;

def escaped: split("\n") | map(clean | gsub("(?<c>[\\\\\"])"; "\\\(.c)")) | join("\\n");
def braces: if . == [] then "" else "{" + (map("\(.[0])=\"\(.[1] | escaped)\"") | join(",")) + "}" end;

def series($family; $labels; value): value | number | select(. != null) | {$family, labels: ($labels | braces), value: .};

def per_second: number | if . == null then null else . * 1e9 / 8 end;
def seconds: number | if . == null then null else . / 1e6 end;
def over($whole): number as $part | ($whole | number) as $whole
	| if $part == null or $whole == null or $whole <= 0 then null else $part / $whole end;
def epoch: text | try fromdateiso8601 catch null;

def outcome($labels; $up; $status): . as $d
	| (($d.title | text) | select(. != "") as $title | series("title_info"; $labels | set("title"; $title); 1)),
	  series("up"; $labels; if $up then 1 else 0 end),
	  series("exit_status"; $labels; $status),
	  series("last_run_timestamp_seconds"; $labels; $d.finished_utc | epoch);

def findings($labels): array | .[] | object | . as $one
	| series("diagnosis"; reduce ("end", "level", "strength", "code") as $key ($labels; set($key; $one[$key])); 1);

# --- a run ---------------------------------------------------------------------------------------

def percentiles: [["0", "latency_min_us"], ["50", "latency_p50_us"], ["90", "latency_p90_us"], ["99", "latency_p99_us"],
	["99.9", "latency_p99_9_us"], ["99.99", "latency_p99_99_us"], ["100", "latency_max_us"]];

def labels_of($labels; $here): . as $r
	| $labels | set("port"; $here.port) | set("message_bytes"; $r.message_bytes)
	| set("direction"; $r.direction | if IN("ping_pong", "none") then null else . end)
	| set("cell"; $r.cell) | set("route"; $r.route) | set("step"; $r.step)
	| reduce ($r.varied | object | to_entries[]
		| select(.key != "size_bytes" and (.key | test("^[a-zA-Z_][a-zA-Z0-9_]*$")))) as $varied
		(.; if any(.[]; .[0] == $varied.key) then . else set($varied.key; $varied.value) end);

# Of repeated runs only the median one is shown.
def shown($d): . as $r
	| [$d.summaries | array | .[] | object | select($r.run != null and .median_run != null
		and .message_bytes == $r.message_bytes and .varied == $r.varied)]
	| . == [] or .[0].median_run == $r.run;

def result($run; $labels): . as $r | (.limit | object) as $limit | (.quality | object) as $quality
	| series("bandwidth_bytes_per_second"; $labels; if .step then null else .bandwidth_gbps end | per_second), # no link carries calls
	  series("messages_per_second"; $labels; .messages_per_s),
	  series("of_ceiling_ratio"; $labels; .of_ceiling | number // ($r.bandwidth_gbps | over($limit.ceilings | object | .link_gbps))),
	  series("latency_mean_seconds"; $labels; .latency_mean_us | seconds),
	  (select((.latency_mean_us | number) != null) | percentiles[] as [$percentile, $key]
		| series("latency_seconds"; $labels | set("percentile"; $percentile); $r[$key] | seconds)),
	  series("plus_minus_ratio"; $labels; .plus_minus_percent | over(100)),
	  series("lost_ratio"; $labels; .lost | over($r.messages)),
	  (select($quality.disturbed == true) | $quality.reasons | array | .[] | text | select(. != "") as $reason
		| series("disturbed"; $labels | set("reason"; $reason); 1)),
	  ($limit.bound_by | text | select(. != "") as $limited
		| series("limited_by"; $labels | set("strength"; $limit.strength) | set("limit"; $limited); 1)),
	  (.diagnosis | findings($run));

# Both directions, and each of them as the end that sent saw it.
def directions($run; $labels): result($run; $labels),
	(.by_end | object | .[] | object | . as $one | ($labels | set("direction"; $one.direction)) as $own
		| select($own != $labels) | result($run; $own));

def run: . as $d | about as $about | (.ends | object | .[$d.role | text] | object) as $here | (.error | object) as $error
	| ([["file", $file]] | set("test"; $about.test) | set("device"; $about.device) | set("peer"; $about.peer)) as $labels
	| (.status == "ok") as $ok | (.status == "cannot_tell") as $untold
	| ($ok or $untold or .status == "below_threshold") as $whole
	| outcome($labels; $whole; if $ok then 0 else $error.exit_status end),
	  (select($whole and ($untold | not) and (.threshold | text) != "") | series("thresholds_met"; $labels; if $ok then 1 else 0 end)),
	  ($here | ., (.more_devices | array | .[] | object) | . as $one | select((.rate_gbps | number // 0) > 0)
		| series("link_rate_bytes_per_second"; $labels | set("device"; $one.device) | set("port"; $one.port); .rate_gbps | per_second)),
	  # what was measured before a failure is no result
	  (reduce (.results | array | .[] | object | select(shown($d) and (($d.status == "failed" and .interrupted == true) | not))) as $r
		({}; ($r | labels_of($labels; $here)) as $own | .[$own | tojson] = [$r, $own])
	   | .[] as [$r, $own] | $r | directions($labels; $own));

# --- a check, and a judgement --------------------------------------------------------------------

def checked($labels): . as $one | ($labels | set("device"; $one.device) | set("port"; $one.port)) as $labels
	| series("check_ok"; $labels; if any($one.findings | array | .[]; object.level == "fault") then 0 else 1 end),
	  (.findings | findings($labels));

def check: [["file", $file]] as $labels | (.error | object) as $error
	| [.host, (.ports | array | .[]) | object] as $all
	| any($all[].findings | array | .[]; object.level == "fault") as $fault
	| outcome($labels; $error == {}; if $error != {} then $error.exit_status elif $fault then 6 else 0 end),
	  (select($error == {}) | $all[] | checked($labels));

# A name is HOST or HOST/DEVICE.
def name_labels($labels): text as $name | ($name | split("/")) as $part
	| $labels | set("node"; $part[0]) | set("device"; $part[1:] | join("/"));

def player($labels; $latency): . as $p | (.name | name_labels($labels)) as $own
	| if $latency then series("pairs_of_normal_ratio"; $own; .sends)
	  else (["send", .sends], ["receive", .receives]) as [$way, $part]
		| series("pairs_of_normal_ratio"; $own | set("direction"; $way); $part),
		  ([$part, $p.normal | number] | select(all(.[]; . != null))
			| series("pairs_bandwidth_bytes_per_second"; $own | set("direction"; $way); .[0] * .[1] | per_second))
	  end;

def judgement: . as $j | [["file", $file]] as $labels | [.suspects | array | .[] | object] as $suspects
	# "proof" is of slow ones: those without it are lost, and so is what they reached before
	| [$suspects[] | select(.proof == null and .from == null) | .name | text] as $lost
	| outcome($labels; true; .exit_status),
	  ({good, undecided, suspect: ([.nodes, .good, .undecided, .lost] | map(number // 0) | .[0] - .[1] - .[2] - .[3]), lost} | to_entries[] as $is
		| series("pairs_nodes"; $labels | set("state"; $is.key); $is.value)),
	  (select(.unit != "us") | series("pairs_normal_bytes_per_second"; $labels; .normal | per_second)),
	  (.players | array | .[] | object | select(.name as $name | any($lost[]; . == $name or . == ($name | text | split("/")[0])) | not) | player($labels; $j.unit == "us")),
	  ($suspects[] | select(.from == null and .host != null) as $s | $s.name | name_labels($labels)
		| set("kind"; $s.kind) | series("pairs_suspect"; .; 1)),
	  (suspects[] as $kind | series("pairs_suspects"; $labels | set("kind"; $kind); [$suspects[] | select(.kind == $kind)] | length));

# --- all -----------------------------------------------------------------------------------------

def written:
	reduce (reduce inputs as $d (nothing; add($d; $d | kind)) | .kept[].document
		| if has("schema_version") then run elif has("rdmark_pairs") then judgement else check end) as $one
		({}; .[$one.family][$one.labels] = $one.value)
	| . as $all | families[] as [$name, $help] | select($all[$name])
	| "# HELP rdmark_\($name) \($help)\n# TYPE rdmark_\($name) gauge",
	  ($all[$name] | keys[] as $labels | "rdmark_\($name)\($labels) \(.[$labels])");
