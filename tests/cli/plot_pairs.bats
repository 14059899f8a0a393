#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck disable=SC2016,SC2154 # $ of jq; what bats sets
#
# rdmark-plot's heat map of the lines of rdmark-pairs: which figure is in which cell, by the data in
# gnuplot's script, and by the characters.

bats_require_minimum_version 1.5.0

load ../lib/pairs

setup() { enter_folder; }

# script ARG…: into picture.gp, without a word on stderr.
script() {
	run --separate-stderr "$bin/rdmark-plot" -o picture.gp "$@"
	((status == 0)) && [[ ! $stderr ]] || { echo "$status: $stderr"; return 1; }
}

# block NAME: the lines of a data block of picture.gp.
block() { sed -n "/^\$$1 <</,/^END_OF_DATA/p" picture.gp | sed '1d;$d'; }

# cell ROW COLUMN: of the heat map, counted from 1, as hundredths of the best.
cell() { block heat | awk -v row="$1" -v column="$2" 'NR == row { print $column == "NaN" ? "NaN" : int($column * 100 + .5) }'; }

@test "a row for each sender: the part of the best, grey for what was not measured, x without a figure" {
	made_pairs 8 'if .from == "n3" then .value *= 0.95 elif .to == "n6" then .value *= 0.6 else . end |
		if .from == "n1" and .to == "n2" then .status = "failed" | del(.value) else . end | select(.from != "n8" or .to != "n4")' >lines
	script lines
	(($(block heat | wc -l) == 8))
	[[ "$(cell 3 1) $(cell 1 6) $(cell 1 7) $(cell 1 1) $(cell 1 2) $(cell 8 4) $(cell 4 8)" == '95 60 100 NaN NaN NaN 100' ]]
	block black | grep -qx '1 0 "x"'
	block white | grep -qx '5 0 "58.[0-9]"'
	run ! grep '^3 7 ' <(block black)
	grep -Eqx 'set cbrange \[0\.(59|6)[0-9]*:1\]' picture.gp # from the worst
	grep -q '^set title .Bandwidth of all pairs of 8 nodes' picture.gp
	run -0 "$bin/rdmark-plot" - <lines
	[[ ${lines[0]} == 'Bandwidth of all pairs of 8 nodes' && ${lines[2]} == 'n1  x...#..' && ${lines[9]} == 'n8 ... .#.' ]]
}

@test "a figure of a thread that lacked its CPU is none: of pairs, and of an incast" {
	made_pairs 8 'if .from == "n3" and .to == "n5" then .value *= 0.3 | .from_cpu_percent = 97.9
		elif .from == "n6" and .to == "n2" then .value *= 0.4 | .to_cpu_percent = 9.5
		elif .value then .from_cpu_percent = 98 | .to_cpu_percent = 100 else . end' >lines
	script lines
	[[ "$(cell 3 5) $(cell 6 2) $(cell 3 4)" == 'NaN NaN 100' ]]
	{ cat lines; grep '"from":"n3","to":"n5"' lines | jq -c '.round = 9 | .value = 97 | .from_cpu_percent = 99'; } >more
	script more
	[[ "$(cell 3 5)" == 100 ]]
	made_incast | jq -c 'if .from == "n2" and .to == "n1" then .to_cpu_percent = 50 else . end' >lines
	script lines
	[[ "$(cell 2 1) $(cell 2 3)" == 'NaN 30' ]]
}

@test "latency: times the least, and of several rounds the worst" {
	made_pairs 8 'if .unit then .unit = "us" elif .value then .value |= (. - 97) / 10 + 2 else . end |
		., (select(.from == "n2" and .to == "n3") | .value *= 1.5 | .round = 9)' >lines
	script lines
	[[ "$(cell 2 3) $(cell 3 2)" == 15[0-9]' 10'[0-9] ]]
	grep -qx 'set cbrange \[1:2.1\]' picture.gp
}

@test "alone counts only where nothing else was measured" {
	made_pairs 4 'if .from == "n2" then .value *= 0.92 else . end | ., (select(.from == "n2") | .alone = true | .value = 97)' >lines
	made_pairs 4 'select(.from == "n1" and .to == "n2") | .alone = true | .value *= 0.91' >alone
	grep -v '"from":"n1","to":"n2"' lines >others
	script others alone
	[[ "$(cell 2 1) $(cell 1 2)" == '92 91' ]]
}

@test "more than 64 nodes: blocks, and one slow pair is seen in its block" {
	made_pairs 130 'if .from == "n70" and .to == "n4" then .value *= 0.5 else . end' >lines
	script lines
	(($(block heat | wc -l) == 44))
	[[ "$(cell 24 2) $(cell 24 3) $(cell 2 24)" == '50 100 100' ]]
	grep -q 'the worst pair of each block of 3' picture.gp
	run ! grep '^\$black' picture.gp
	grep -q '"n4 - n6" 1,' picture.gp
}

@test "rows by group, with a line between groups, and no block in two of them" {
	made_pairs 8 'if .from == "n8" then .value *= 0.95 else . end' >lines
	printf '%s\n' '# racks' 'b n8 n6,n7 n5' 'a n1 n2 n3' >racks
	script --groups racks lines
	[[ $(grep -o '"n[0-9]" [0-9]' picture.gp | head -n 8 | paste -sd' ') == '"n5" 0 "n6" 1 "n7" 2 "n8" 3 "n1" 4 "n2" 5 "n3" 6 "n4" 7' ]]
	[[ $(cell 4 1) == 95 ]]
	[[ $(grep -o 'arrow from [0-9.]*,' picture.gp | paste -sd' ') == 'arrow from 3.5, arrow from 6.5,' ]]
	made_pairs 70 >many
	{ echo "a n"{1..3} | tr '\n' ' '; echo; } >racks
	script -G racks many
	grep -q '"n1 - n2" 0, "n3" 1, "n4 - n5" 2' picture.gp
}

@test "rails are players of their own; a node that nothing was measured with has its row" {
	made_pairs 4 'if .host then .rail = "mlx5_0" else .from_rail = "mlx5_0" | .to_rail = "mlx5_0" end |
		select(.from != "n2" and .to != "n2")' >lines
	script lines
	grep -q 'of 4 rails' picture.gp
	grep -q '"n2/mlx5_0" 1' picture.gp
	[[ "$(cell 2 1) $(cell 1 2) $(cell 1 3)" == 'NaN NaN 100' ]]
}

@test "prefixes of a launcher and other text are skipped; names that are none reach nobody" {
	{
		echo 'slurmstepd: error: cancelled'
		made_pairs 4 | sed 's/^/2: /'
		made_pairs 4 'select(.from == "n1" and .to == "n2") | .to = "n9`touch here`"'
		made_pairs 4 'select(.from == "n1" and .to == "n2") | .value = "1; exit"'
	} >lines
	script lines
	(($(block heat | wc -l) == 4))
	[[ ! -e here ]]
}

@test "an incast: the share of each sender in the round of each receiver" {
	made_incast >lines
	script lines
	[[ "$(cell 1 3) $(cell 2 1) $(cell 2 3) $(cell 3 2) $(cell 1 1)" == '154 30 30 100 NaN' ]]
	grep -qx 'set cbrange \[0.3:1\]' picture.gp
	grep -q '^set title .Shares of the senders of an incast' picture.gp
	run -0 "$bin/rdmark-plot" lines
	[[ ${lines[2]} == 'n1  ...' && ${lines[3]} == 'n2 3 33' ]]
	script --kind pairs lines
	[[ "$(cell 2 1) $(cell 1 2)" == '30 100' ]]
}

# tested [EDIT]: a screen of eight nodes, and the test of n3 and n7 with controls: n3 sends at six tenths, n7 is good.
tested() {
	made_pairs 8
	made_plan 8 '--plan lines:0,n3,n1,test+0,n7,n2,test+0,n4,n5,control+1,n3,n2,test+1,n7,n1,test+1,n6,n8,control+2,n3,n4,test+2,n1,n5,control --start=1790000100 --for=60' \
		"if .from == \"n3\" then .value *= 0.6 else . end | ${1:-.}"
}

@test "tests: who was tested, the worst first, next to the controls of the same slots" {
	tested >lines
	script -k tests lines
	[[ $(grep '^set xtics' picture.gp) == *'("n3\nsends" 0, "n'*' 3)'* ]]
	(($(block d0 | wc -l) == 10 && $(block d1 | wc -l) == 20)) # n3: 3 and 3, n7: 2 and 2, of one value each; controls
	read -r _ low <<<"$(block s0 | cut -d ' ' -f 1,2 | head -n 1)"
	read -r _ normal <<<"$(block s1 | cut -d ' ' -f 1,2 | head -n 1)"
	[[ ${low%.*} == 58 && ${normal%.*} == 97 ]]
	run -0 "$bin/rdmark-plot" -k tests lines
	[[ $output == *'* tested   # controls'* && $output == *'n3, sends'*'Gb/s'* ]]
	tested 'if .unit then .unit = "us" else . end' >lines
	script -k tests lines
	[[ $(grep '^set xtics' picture.gp) == *'"n3" '* && $(grep '^set ylabel' picture.gp) == *'latency [us]'* ]]
}

@test "tests: a figure without its CPU is none, and who is a control is not tested; what has no place is said" {
	local i plan=
	tested 'if .from == "n3" and .to == "n4" then .from_cpu_percent = 50 else . end' >lines
	script -k tests lines
	(($(block d0 | wc -l) == 9))
	for ((i = 0; i < 8; i++)); do plan+="$i,n$((i + 1)),n20,test+$i,n21,n22,control+"; done
	made_plan 22 "--plan lines:${plan%+} --start=1790000100 --for=60" >lines
	run --separate-stderr "$bin/rdmark-plot" -k tests -o picture.gp lines
	[[ $status == 0 && $stderr == 'rdmark-plot: 4 of 16 are not drawn: they are nearer to their controls' ]]
	run ! grep -q '"n21' picture.gp
}

@test "what has no pairs is refused" {
	local file
	made_pairs 4 'select(.kind == "player")' >players
	echo '{}' >document
	for file in 'players' '-k pairs document' '-k pairs nowhere' 'players --groups nowhere' '-k latency players' '-k tests players'; do
		# shellcheck disable=SC2086 # several words
		run --separate-stderr "$bin/rdmark-plot" $file
		((status == 2)) && [[ $stderr == 'rdmark-plot: '* ]] || { echo "$file: $status $stderr"; return 1; }
	done
}

@test "files whose names awk would take for assignments" {
	made_pairs 4 >best=1.jsonl
	script best=1.jsonl
	(($(block heat | wc -l) == 4))
}

@test "gnuplot draws it, without a word" {
	command -v gnuplot >/dev/null || skip 'gnuplot is not here (make deps)'
	made_pairs 8 >lines
	for name in p.svg p.png; do
		run --separate-stderr "$bin/rdmark-plot" -o "$name" lines
		((status == 0)) && [[ ! $stderr && -s $name ]]
	done
	grep -q '<title>Bandwidth of all pairs of 8 nodes</title>' p.svg
}
