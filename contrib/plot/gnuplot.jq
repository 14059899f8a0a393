# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Lines of a script for gnuplot. $o is what was asked for: title, log, text (no picture), width; named: the
# title is the documents'.
#
# A series is {legend, points: [[x, y, low, high]], marked: [[x, y]], dashed, color}: low and high are the ends
# of its whisker; marked are the points that were disturbed; color counts from 0: a series without one has its
# own. A series with a path, [[x, y]], is joined by that.
#
# A disturbed point is hollow. Text has letters for points, and small ones for those.

# gnuplot takes no quoted quote at the start of a text, nor two of them in a row.
def quoted: plain | cut(150) | gsub("'"; "\u2019") | "'\(.)'";
# A tic's text is a format, too, and in double quotes for the sake of its line breaks.
def tic: clean | gsub("[^A-Za-z0-9 ,._/>-]"; "?");
def tenth: . * 10 | round / 10;
def figure: if . == 0 then 0 elif . >= 100 then round elif . >= 10 then tenth
	else pow(10; 2 - (log10 | floor)) as $e | . * $e | round / $e end;
def bytes_text: if . >= 1048576 and . % 1048576 == 0 then "\(. / 1048576)Mi"
	elif . >= 1024 and . % 1024 == 0 then "\(. / 1024)Ki" else tostring end;
def bytes_words: if bytes_text | endswith("i") then "\(bytes_text | .[:-2]) \(bytes_text | .[-2:])B" else "\(.) B" end;
def titled: if . == "" then "notitle" else "title \(quoted)" end;
def plural($word): "\(.) \($word)\(if . == 1 then "" else "s" end)";

# What is said on standard error, too: the shell finds it there.
def note(text): "# note: \(text | plain | gsub("\\\\"; "/"))";

def data($name; rows): "$\($name) << END_OF_DATA",
	(rows | map(if . == null then "NaN" else tostring end) | join(" ")),
	"END_OF_DATA";
def plot(lines): "plot " + ([lines] | join(", \\\n     "));

def palette: ["0072b2", "d55e00", "009e73", "cc79a7", "e69f00", "56b4e9", "8c510a", "444444"];
def color($o): if $o.text then "" else palette[. % 8] | "lc rgb '#\(.)'" end;
def shape: if .dashed then 13 else [7, 5, 9, 11][.color / 8 % 4 | floor] end;
def letter_of: .letter % 26 | [. + 65] | implode;

def sign: "*#$%@&="[. % 7:][:1]; # of text's line types from 1

def disturbed_key: "disturbed (!)";

# --- around the plot ---------------------------------------------------------------------------

# TITLE, and the LINES below it that are not empty.
def prelude($o; $title; lines):
	(if $o.title != "" then $o.title else $title end) as $heading
	| "# title: \($heading | plain | gsub("\\\\"; "/") | @html)",
	  "set encoding utf8",
	  ([$heading, (if $o.named then $title else empty end), (lines | select(. != "")) | cut($o.width / (if $o.text then 1 else 8.5 end) | floor) | quoted]
		| join(".\"\\n\".")
		| if $o.text then "heading = \(.)", "set title heading noenhanced", "unset key"
		  else "set title \(.) noenhanced", "set key below samplen 3 Left reverse noenhanced" end),
	  "set border 3\(if $o.text then " back" else "" end)", "set tics nomirror", # a letter on the axis is seen
	  (if $o.text then "set lmargin 9", "set rmargin 3" else "set grid lc rgb '#dddddd' lt 1", "set lmargin 11", "set rmargin 4" end);

# Text says what each sign is in lines below the title: ENTRIES are "A before".
def text_key($o; entries): [entries | plain | cut($o.width - 1)] as $all
	| if $o.text | not then empty
	  else reduce $all[] as $one ([""]; if .[-1] == "" then .[-1] = $one
			elif (.[-1] + $one | length) + 3 < $o.width then .[-1] += "   " + $one else . + [$one] end)
		| select(. != [""]) | "set title heading.\"\\n\".\(map(quoted) | join(".\"\\n\".")) noenhanced" end;

# Lines across: [{gbps, name, dash, text, sign}]: each is named where it is drawn. Names that would touch stand at
# the other end. In text it is a row of TEXT, which is no sign of a curve; there data would cover a name.
def ceiling_names($o): . as $all
	| sort_by(.gbps)
	| [foreach .[] as $c ({left: false}; {left: (if .last != null and $c.gbps - .last < 0.07 * ([$all[].gbps] | max) then .left | not else true end), last: $c.gbps};
		$c + {left})][]
	| if $o.text then "set label \(.text * $o.width | .[:$o.width - 13] | quoted) at graph 0, first \(.gbps) offset 1,0 back noenhanced"
	  else "set label \(.name | quoted) at graph \(if .left then "0.02, first \(.gbps) left" else "0.98, first \(.gbps) right" end)"
		+ " offset 0,0.6 font ',11' tc rgb '#444444' front noenhanced" end;
def ceiling_keys: .[] | .text + .name;
def dashes: "with lines lw 1.5 dt \(.dash) lc rgb '#666666'";
def ceiling_lines($o): if $o.text then empty else .[] | "\(.gbps) notitle \(dashes)" end;

# A name below tics of so many lines. gnuplot leaves no room for these, nor between it and the legend.
def under($x; $lines): "set xlabel \"\("\\n" * ($lines - 1) // "")\".\($x | quoted).\"\\n \" noenhanced";

# Text has no letters that stand on end: there both names are below.
def axes($o; $x; $y):
	if $o.text then "set xlabel \("\($x)\(if $x == "" then "" else "; " end)upwards: \($y)" | quoted) noenhanced"
	else under($x; 1), "set ylabel \($y | quoted) noenhanced" end;

def tics($axis; list): "set \($axis)tics nomirror (\([list] | join(", ")))", "set m\($axis)tics 1";

# From 0, with room above the highest; or logarithmic.
def y_axis($o; values): [values | select(. != null)] as $all
	| if $o.log then "set logscale y" else "set yrange [0:\(([$all[] | select(. > 0)] | max // 1) * 1.08)]" end;

# How many names fit side by side.
def fitting($o): [$o.width / (if $o.text then 8 else 75 end) | floor, 2] | max;

# Of the numbers given: sizes by powers of two; others, too, where they span much; else linear.
def x_axis($o; $key):
	unique as $all | $all[0] as $low | $all[-1] as $high
	| fitting($o) as $fit
	| def name: if $key == "size" then bytes_text else figure end;
	  if $low > 0 and ($key == "size" or $high / $low >= 8) then
		($low | log2 | floor) as $from | ($high | log2 | ceil) as $to
		| (($to - $from) / $fit | floor + 1) as $step
		| "set logscale x 2", "set xrange [\($low / 1.3):\($high * 1.3)]",
		  tics("x"; if $key != "size" and ($all | length) <= $fit then $all[] else range($from; $to + 1; $step) | pow(2; .) end
			| "'\(name)' \(.)")
	  else
		(if $high > $low then ($high - $low) * 0.04 else 1 end) as $room | "set xrange [\($low - $room):\($high + $room)]",
		if ($all | length) <= $fit and all($all[]; . == floor) then tics("x"; $all[] | "'\(.)' \(.)") else empty end
	  end;

# Each of them in each power of ten.
def powers: [range(-4; 10) as $e | .[] | . * pow(10; $e)][];

# Where tics are in each power of ten: the first of these that has four between the two.
def steps($low; $high):
	def all: [1, 2, 5], [1, 1.5, 2, 3, 4, 5, 7], ((5, 20, 100, 500) as $n | [range($n; 10 * $n) | . / $n]);
	first(all | select([powers | select(. >= $low and . <= $high)] | length >= 4)) // [1, 2, 5];

# Microseconds, from one of 1 2 5 of a power of ten to another; where these span much there is a tic at each power.
def us_axis($name; values):
	([values | select(. != null and . > 0)] | [min // 1, max // 1]) as [$low, $high]
	| (if $high / $low < 1000 then [1, 2, 5] else [1] end) as $ends
	| ([$ends | powers | select(. <= $low)] | last // 0.0001) as $from
	| ([$ends | powers | select(. >= $high and . > $from)] | first // 1e9) as $to
	| "set logscale \($name)", "set \($name)range [\($from * 0.999):\($to)]", # at its very end a tic may be lost
	  tics($name; if $ends == [1] then $ends else steps($low; $high) end | powers | select(. >= $from and . <= $to)
		| "'\(if . >= 100 then round else . * 10000 | round / 10000 end)' \(.)");

# --- what is drawn -----------------------------------------------------------------------------

def has_whiskers_at: .[3] != null and .[2] != null and .[3] > .[2];
def has_whiskers: any(.points[]; has_whiskers_at);

def drawn: to_entries | map({color: .key} + .value + {name: "s\(.key)"});

# The points of .marked, hollow: white ones below.
def hollow($o): "$m\(.name) using 1:2 with points pt \(shape) ps 1.4 lc rgb '#ffffff' notitle",
	"$m\(.name) using 1:2 with points pt \(shape - 1) ps 1.1 lw 2 \(.color | color($o)) notitle";
def is_marked: (.marked // []) != [];

def has_disturbed: any(.[]; is_marked);

def line_plots($o; $all):
	if $o.text then ($all[] | "$\(if .path then "p" else "" end)\(.name) using 1:2 with lines lt 0"),
		($all[] | "$\(.name) using 1:2 with points pt '\(letter_of)'"),
		($all[] | select(is_marked) | "$m\(.name) using 1:2 with points pt '\(letter_of | ascii_downcase)'")
	else ($all[] | select(has_whiskers) # of a history faint, as they are many
			| "$\(.name) using 1:2:3:4 with yerrorbars ps 0 lw 1.2 \(.color | palette[. % 8] as $rgb | color($o) | if $all[0].path then "lc rgb '#b0\($rgb)'" else . end) notitle"),
		($all[] | (.color | color($o)) as $color
		| (select(.path) | "$p\(.name) using 1:2 with lines lw 2 \($color) notitle"),
		  "$\(.name) using 1:2 \(.legend | titled) with \(if .path then "points" else "linespoints lw 2" end) ps 0.7 "
			+ "\(if .dashed then "dt (12,8) " else "" end)pt \(shape) \($color)"),
		($all[] | select(is_marked) | hollow($o)),
		if $all | has_disturbed then "NaN title '\(disturbed_key)' with points pt 6 ps 1.1 lw 2 lc rgb '#444444'" else empty end
	end;

# CEILINGS as above. MORE: what else is plotted, and KEYS what text calls it.
def lines($o; $ceilings; more; keys):
	[drawn | to_entries[] | .value + {letter: .key}] as $all
	| ($all[] | data(.name; .points[]), (select(is_marked) | data("m\(.name)"; .marked[])), (select(.path) | data("p\(.name)"; .path[]))),
	  text_key($o; ($all[] | "\(letter_of) \(.legend)"),
		(if $all | has_disturbed then "\([$all[] | select(is_marked) | letter_of | ascii_downcase]
			| if length > 3 then "small letter" else join(" ") end) \(disturbed_key)" else empty end), keys, ($ceilings | ceiling_keys)),
	  ($ceilings | ceiling_names($o)),
	  plot(line_plots($o; $all), ($ceilings | ceiling_lines($o)), more);

# Side by side, over NAMES, of NAME; a point's x counts these, and its fifth number, if any, is a mark. A
# series may have dots, too: [[x, share of the bar's width, y, whether disturbed]].
def bars($o; $name; $names; $ceilings; more; keys):
	drawn as $all
	| (0.8 / ($all | length)) as $w
	# The axis also has room at both sides of the bars.
	| ($o.width * 0.85 / (($names | length) + if $o.text then 0.2 else 0 end)) as $room
	| ([$names[] | if $o.text then join(", ") | length + 1 else .[] | length * 8 end] | max) as $longest
	| ([$names[] | length] | max) as $lines
	| def spot($i): .[0] - 0.4 + $w * ($i + 0.5);
	  def caption: (.[1] | figure | tostring) + if has_whiskers_at then " (\(.[2] | figure)-\(.[3] | figure))" else "" end;
	  def dot($i): [spot($i) + (.[1] - 0.5) * $w * 0.6, .[2]];
	  def dots: .dots // [];
	  def mark($series): .[0] as $x | if $o.text and any($series.marked // [] | .[]; .[0] == $x) then " !" else "" end;
	  def hollow_dots: [dots[] | select(.[3])];
	  "set boxwidth \($w * 0.92)", "set style fill solid 0.8", "set xrange [-0.6:\($names | length - 0.4)]",
	  (if $o.text and $longest <= $room then tics("x"; $names | to_entries[] | "\"\(.value | map(tic) | join(", "))\" \(.key)")
	   else tics("x"; $names | to_entries[] | "\"\(.value | map(tic) | join("\\n"))\" \(.key)"),
		if $o.text then "set xlabel offset 0,\(1 - $lines)", "set bmargin \($lines + 2)"
		else under($name; $lines), if $longest <= $room then empty else "set xtics font ',\(8 | [., (12 * $room / $longest | floor)] | max)'" end end end),
	  ($all | to_entries[] | .key as $i | .value | . as $series
		| data(.name; .points[] | [spot($i), .[1], .[2], .[3], .[4], (.[1:4] | max), "\"\(caption)\(mark($series))\""]),
		(select(is_marked) | data("m\(.name)"; .marked[] | [spot($i), .[1]])),
		(select(dots != []) | data("d\($i)"; dots[] | dot($i))),
		(select(hollow_dots != []) | data("e\($i)"; hollow_dots[] | dot($i)))),
	  text_key($o; ($all[] | select(.legend != "") | "\(.color | sign) \(.legend)"), (if any($all[]; is_marked) then "! disturbed" else empty end), keys, ($ceilings | ceiling_keys)),
	  ($ceilings | ceiling_names($o)),
	  plot(($all[] | "$\(.name) using 1:2 with boxes \(if $o.text then "lt \(.color % 7 + 1)" else .color | color($o) end) "
			+ (.legend | titled)),
		($all[] | select(is_marked) | "$m\(.name) using 1:2 with "
			+ if $o.text then "points pt '!' notitle" else "boxes fs solid 0 border \(.color | color($o)) lw 3 \(.color | color($o)) notitle" end),
		($all[] | select($o.text | not) | select(has_whiskers)
			| "$\(.name) using 1:3:(0):($4 - $3) with vectors heads size graph 0.004,90 lw 1.5 lc rgb '#000000' notitle"),
		($all | to_entries[] | select($o.text | not)
			| (select(.value | dots != []) | "$d\(.key) using 1:2 with points pt 7 ps 0.6 lc rgb '#000000' notitle"),
			  (select(.value | hollow_dots != []) | "$e\(.key) using 1:2 with points pt 7 ps 1.2 lc rgb '#ffffff' notitle",
				"$e\(.key) using 1:2 with points pt 6 ps 0.9 lw 1.5 lc rgb '#000000' notitle")),
		(if ($o.text | not) and any($all[]; is_marked) then "NaN title '\(disturbed_key)' with boxes fs solid 0 border lc rgb '#444444' lw 3 lc rgb '#444444'" else empty end),
		(if [$all[] | . as $series | .points[] | caption + mark($series) | length] | max * (if $o.text then 1 else 9 end) * ($all | length) <= $room
		 then $all[] | "$\(.name) using 1:6:7 with labels offset 0,0.7 notitle" else empty end),
		($ceilings | ceiling_lines($o)), more);
