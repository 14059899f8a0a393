# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Which rows are one curve, and how it is called: what all rows share stands in the title, what tells
# them apart in the legend.

# Those that make rows unlike, whatever else differs; the other options are told only where these do
# not tell rows apart: they may follow from them.
def telling: ["test", "step", "size", "connection", "transport", "bidirectional", "reversed", "qp", "threads", "memory", "direction"];

def short: sub("_(bytes|us|s|per_s)$"; "");

def words($key):
	if $key == "qp" then plural("QP") elif $key == "threads" then plural("thread")
	elif $key == "size" then bytes_words
	elif $key == "mtu_bytes" then "MTU \(. // "?")"
	elif $key == "bidirectional" then if . == true then "both directions" else "one direction" end
	elif $key == "memory" then "\(. // "?") memory"
	elif $key == "direction" then . // "?" | gsub("_to_"; "->")
	elif IN($key; "test", "step", "hosts", "connection", "transport") then . // "?"
	elif . == null or . == false then "no \($key | short)"
	elif . == true then $key else "\($key | short) \(.)" end;

# Of all rows, in a document's order.
def keys_of: reduce (.[].options | keys_unsorted) as $keys ([]; . + ($keys - .));

# The options that are not the same in all rows; those that tell most first.
def varying:
	. as $rows
	| keys_of as $keys
	| telling + ($keys - telling)
	| map(select(. as $key | [$rows[].options[$key]] | unique | length > 1));

# Whether all rows that share the one option share the other, too.
def follows($key; $from): group_by(.options[$from]) | all(.[]; [.[].options[$key]] | unique | length == 1);

# Of the options that vary, those by which rows are told apart, where $x is the axis.
def splitting($x):
	. as $rows
	| (varying - [$x]) as $all
	| reduce ($all - telling)[] as $key ($all - ($all - telling);
		. as $keys | def count($by): [$rows[].options | [.[$by[]]]] | unique | length;
		if ($rows | follows($key; $x)) or count($keys + [$x, $key]) == count($keys + [$x]) then . else . + [$key] end);

# --- the axis ----------------------------------------------------------------------------------

# Where a row lies on it: what was measured rather than what was asked for.
def at($x): if $x == "rate_limit" then .limit else .options[$x] end;

def axis_name($x):
	{size: "message size [bytes]", qp: "QPs", rate_limit: "rate limit [Gb/s]"}[$x]
	// ($x | short) + if $x | test("_bytes$") then " [bytes]" elif $x | test("_us$") then " [us]"
		elif $x | test("_per_s$") then " [1/s]" else "" end;

def sorts($x): [.[] | at($x)] | unique;

# The option that is meant by NAME; "" is the size, or where that is the same everywhere the one number
# that was varied in one file.
def x_axis_of($name):
	. as $rows
	| if $name == "" then
		[group_by(.run)[] | . as $run | varying | map(select(. as $key | all($rows[] | at($key); type == "number")
			and all(($run | varying)[]; . as $other | $run | follows($other; $key)))) | first // empty]
		| if ($rows | sorts("size") | length) > 1 or (unique | length) != 1 then "size" else .[0] end
	  else
		($name | gsub("-"; "_") | {qps: "qp", bytes: "size", thread: "threads", host: "hosts", mtu: "mtu_bytes"}[.] // .) as $wanted
		| ([keys_of[] | select(. == $wanted or short == $wanted)] | first)
		// stop("-x \($name | clean): no document has an option of this name; these differ: "
			+ ($rows | varying | map(short) | if . == [] then "none" else join(", ") end))
	  end;

# --- curves ------------------------------------------------------------------------------------

# The values of equal measurements: [middle, least, most].
def spread(f): map(f | select(. != null)) | sort
	| if . == [] then [null, null, null] else [.[(length - 1) / 2 | floor], .[0], .[-1]] end;

# Of several equal measurements the one in the middle.
def middle(value): sort_by(value) | .[(length - 1) / 2 | floor];

def legend($runs; $keys): # of a row
	. as $row
	| [(if ($runs | length) > 1 then $runs[.run].name else empty end),
		($keys[] | . as $key | $row.options[$key] | words($key))]
	| if . == [] then $runs | map(.label) | join(", ") else join(", ") end;

# [{legend, run, keys, at: [{x, rows}]}], a curve for each run and whatever differs in it.
def curves($runs; $x):
	splitting($x) as $keys
	| group_by([.run, (.options | [.[$keys[]]])])
	| sort_by(.[0].run)
	| map({
		legend: (.[0] | legend($runs; $keys)), run: .[0].run, options: .[0].options,
		at: [group_by(.options[$x])[] | {x: (spread(at($x))[0]), rows: .}] | sort_by(.x)
	});

# --- titles ------------------------------------------------------------------------------------

# What all rows share, but for what is on the axis.
def shared($x):
	. as $rows
	| ([.[].options.hosts | select(. != null)] | unique) as $hosts
	| ([.[] | .day, .last_day | select(. != "" and . != null)] | unique) as $days
	| (["connection", "transport", "bidirectional", "reversed", "qp", "threads", "mtu_bytes", "memory"] - varying - [$x]) as $keys
	| [($rows[0].options as $all | $keys[] | . as $key | $all[$key]
		| select((. == null or . == false or . == "" or ([$key, .] | IN(["threads", 1], ["memory", "host"]))) | not)
		| words($key)),
		(if ($hosts | length) > 3 then "\($hosts | length) pairs of hosts" else $hosts | join("; ") | select(. != "") end),
		(if ($days | length) > 1 then "\($days[0]) to \($days[-1])" else $days[] end)]
	| join(", ");

# "send_bw, 64 KiB" of all that is drawn.
def subject: [([.[].options.test] | unique | join(", ")),
	(sorts("size") | if length == 1 then .[0] // empty | select(. > 0) | bytes_words else empty end)] | join(", ");

# Said where measurements were repeated.
def repeats: [.[].at[].rows | length] | [min, max]
	| if .[1] == 1 then empty else "\(if .[0] == .[1] then .[0] else "\(.[0]) to \(.[1])" end) runs each: median; bars: lowest to highest" end;

# Of both directions and of one: as unlike as they come.
def notes($runs):
	(group_by(.run)[] | select(any(.cut_short)) | note("\($runs[.[0].run].name): a result comes from a run that ended early")),
	(if [.[] | .direction == "both"] | unique | length > 1
	 then note("results of both directions (-b) are drawn next to results of one: their limit is twice as high") else empty end);
